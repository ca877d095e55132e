"""How far a campaign has come, judged from its units alone: what still moves, what waits, what is over.

Pure: rows in, an answer out. A unit whose upstream has just succeeded counts as moving, though its row still says
`none`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from campaign_assets.model import Reason
from campaign_assets.states import IN_WORK, Stage, State

Rows = Sequence[Mapping[str, Any]]
PATIENT = frozenset({Reason.MODERATION, Reason.EMAIL_CONFIRMATION})
"""Waits that may last for ever: somebody else has to do something."""


@dataclass
class Course:
    """Follows one campaign; show it all its units now and then."""

    patience: float
    """Seconds for which each patient wait is watched before it counts as over."""
    waiting_since: dict[tuple[str, str], float] = field(default_factory=dict)
    """When each unit was first seen to wait for others; looking again in between does not start it anew."""
    watched: set[str] = field(default_factory=set)
    """Publishers whose link was looked at once: monitoring them again is not the demo's matter."""

    def still_moving(self, units: Rows, now: float) -> list[Mapping[str, Any]]:
        """The units that have not come to an end at `now` (a monotonic clock)."""
        for unit in units:
            if waits_for_others(unit):
                self.waiting_since.setdefault((unit["key"], unit["stage"]), now)
        self.watched |= {
            u["key"] for u in units if u["stage"] == Stage.MONITORING and u["state"] == State.SUCCEEDED
        }
        state = {(unit["key"], unit["stage"]): unit["state"] for unit in units}
        return [unit for unit in units if self._moves(unit, state, now)]

    def _moves(self, unit: Mapping[str, Any], state: Mapping[tuple[str, str], str], now: float) -> bool:
        if unit["state"] in IN_WORK:
            return True
        if waits_for_others(unit):
            due = unit["due_at"] <= datetime.now(UTC)  # it is looked at again this moment
            return due or now - self.waiting_since[unit["key"], unit["stage"]] < self.patience
        if unit["state"] == State.READY:
            return not (unit["stage"] == Stage.MONITORING and unit["key"] in self.watched)
        upstream = Stage(unit["stage"]).upstream
        return (
            unit["state"] == State.NONE
            and upstream is not None
            and state.get((unit["key"], upstream)) == State.SUCCEEDED
        )


def waits_for_others(unit: Mapping[str, Any]) -> bool:
    """Whether the unit waits, until a stated moment, for what only somebody else can do."""
    return bool(unit["state"] == State.READY and unit["reason"] in PATIENT and unit["due_at"])
