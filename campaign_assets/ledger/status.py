"""A campaign's status: one sentence and one word, derived from what was read this moment (rule R4). Pure: no SQL.

It tells *running, 3 need attention* from *nothing is moving*, since when and why. No code path writes a status.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from campaign_assets.states import ATTENTION, IN_WORK, Stage, State

SENSOR_SILENCE = timedelta(seconds=60)
"""A sensor that has not ticked for this long is not running: its period is a few seconds."""

BARREN = 2
"""Runs in a row without a committed page that are no longer an accident."""


@dataclass(frozen=True)
class Wait:
    """Units that wait for a moment, for one reason (None: their first turn)."""

    reason: str | None
    units: int
    until: datetime
    """When the first of them is due."""


@dataclass(frozen=True)
class Facts:
    """All that a status is derived from, read in one transaction."""

    now: datetime
    intent: str
    stages: Mapping[Stage, Mapping[State, int]]
    """Counted units, by stage and state."""
    waits: tuple[Wait, ...]
    pending: bool
    """Something changed that the scheduler has not looked at, or a source is not read to its end."""
    barren_runs: Mapping[Stage, int]
    """Runs in a row that ended without a committed page, by stage; stopped ones aside."""
    ticks: Mapping[str, datetime]
    """When each sensor last ran."""
    last_progress_at: datetime | None

    def count(self, *states: State) -> int:
        return sum(counts.get(state, 0) for counts in self.stages.values() for state in states)

    @property
    def in_work(self) -> int:
        return self.count(*IN_WORK)

    @property
    def attention(self) -> int:
        return self.count(*ATTENTION)

    @property
    def due(self) -> int:
        return self.count(State.READY) - sum(wait.units for wait in self.waits)

    @property
    def done(self) -> bool:
        """Every unit is settled, not reached, or waits only for monitoring's next look."""
        return bool(self.count(*State)) and not (self.pending or self.in_work or self.count(State.READY))

    @property
    def scheduler_silent(self) -> bool:
        last = self.ticks.get("scheduler")
        return last is None or self.now - last > SENSOR_SILENCE


def judge(facts: Facts) -> tuple[str, str]:
    """(status, sentence). The word is one of archived, paused, running, waiting, stalled, done, empty."""
    status, words = _judge(facts)
    attention = facts.attention
    if attention:
        words += f", {attention} need{'s' if attention == 1 else ''} attention"
    return status, words


def _judge(facts: Facts) -> tuple[str, str]:
    if facts.intent != "run":
        word = "archived" if facts.intent == "archive" else "paused"
        still = f", {facts.in_work} still in work" if facts.in_work else ""
        return word, word + still
    if facts.in_work:
        return "running", "running" + _but(facts)
    if facts.due or facts.pending:
        why = _why_stalled(facts)
        return ("stalled", f"nothing is moving{_since(facts)}: {why}") if why else ("running", "running")
    if facts.waits:
        return (
            "waiting",
            f"nothing is moving until {_moment(min(wait.until for wait in facts.waits))}: {_reasons(facts)}",
        )
    if facts.done:
        return "done", "done"
    return "empty", "no publishers yet"


def _but(facts: Facts) -> str:
    why = _why_stalled(facts)
    return f", but {why}" if why else ""


def _why_stalled(facts: Facts) -> str | None:
    """What keeps due units from being worked on; None where they will be within moments."""
    worst = max(facts.barren_runs.items(), key=lambda item: item[1], default=None)
    if worst is not None and worst[1] >= BARREN:
        return f"{worst[1]} runs in a row of {worst[0]} ended without a committed page"
    if facts.scheduler_silent:
        last = facts.ticks.get("scheduler")
        return (
            f"the scheduler last ran at {_moment(last)}"
            if last
            else "the scheduler has never run (`campaign up` runs it)"
        )
    return None


def _since(facts: Facts) -> str:
    return f" since {_moment(facts.last_progress_at)}" if facts.last_progress_at else ""


def _reasons(facts: Facts) -> str:
    return ", ".join(
        f"{wait.units} {'waits' if wait.units == 1 else 'wait'} for {(wait.reason or 'their turn').replace('_', ' ')}"
        for wait in sorted(facts.waits, key=lambda wait: wait.until)
    )


def _moment(value: datetime) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S UTC")
