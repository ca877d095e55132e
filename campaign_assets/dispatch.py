"""Which runs to request next: a pure decision over what is due and what is in flight.

Fair between tenants, then campaigns, then stages: each choice goes to who was served longest ago. A place is
taken by a run that moves; a run that only waits for slow sites holds a place of a second row, so that a slow
stage never keeps the others, or other campaigns, from going on. Refuses: clocks, databases, Dagster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from campaign_assets.policy import SENSOR_PERIOD, Policy
from campaign_assets.states import Stage

WAITING_AFTER = 10.0
"""A run that has committed nothing for so long waits for slow sites: its place may be used by another."""

WAITING_ROOM = 2
"""Runs in flight at most, waiting ones included, as a multiple of the places."""

POOL_SLOTS = {"browser": 3, "submission": 2}
"""Runs at once that drive a browser; `dagster.yaml` gives Dagster's pools no less."""

BARREN_PAUSE = 10.0
BARREN_PAUSE_CAP = 300.0


@dataclass(frozen=True)
class Due:
    """Work of one stage of one campaign. `due` units are ready now; `alone` ones lost their worker and are
    tried one by one.
    """

    tenant: str
    campaign: str
    campaign_id: UUID
    stage: Stage
    due: int
    oldest: float
    """Seconds the oldest due unit has been due."""
    alone: int = 0
    unread: bool = False
    """Discovery: a source has pages left."""
    barren: int = 0
    """Runs in a row that ended without a committed page."""
    rested: float | None = None
    """Seconds since the last of them ended."""


@dataclass(frozen=True)
class InFlight:
    """A run that Dagster holds for not ended. `quiet`: seconds since its last commit; 0 where it has not
    begun.
    """

    campaign_id: UUID
    stage: Stage
    quarantine: bool
    quiet: float
    lost: bool = False
    """Its worker should have spoken long ago: nothing is expected of it, and another run may take its place."""


@dataclass(frozen=True)
class Choice:
    """One run to request."""

    work: Due
    quarantine: bool = False


def choose(
    work: Iterable[Due],
    in_flight: Sequence[InFlight],
    served: Mapping[str, int],
    policies: Mapping[Stage, Policy],
    places: int,
) -> tuple[list[Choice], dict[str, int]]:
    """The runs to request now, and `served` for the next time (a counter by tenant, campaign and stage of
    those with work).
    """
    candidates = [choice for due in work for choice in _wanted(due, in_flight, policies[due.stage])]
    names = {name for choice in candidates for name in _names(choice)}
    served = {name: count for name, count in served.items() if name in names}
    turn = max(served.values(), default=0)
    moving = sum(run.quiet < WAITING_AFTER and not run.lost for run in in_flight)
    free = min(places - moving, WAITING_ROOM * places - len(in_flight))
    pools = Counter(policies[run.stage].pool for run in in_flight)
    chosen: list[Choice] = []
    while free > 0 and candidates:
        choice = min(candidates, key=lambda c: [served.get(name, 0) for name in _names(c)])
        candidates.remove(choice)
        pool = policies[choice.work.stage].pool
        if pool is not None and pools[pool] >= POOL_SLOTS[pool]:
            continue
        pools[pool] += 1
        free -= 1
        turn += 1
        served |= dict.fromkeys(_names(choice), turn)
        chosen.append(choice)
    return chosen, served


def _names(choice: Choice) -> tuple[str, str, str]:
    """Who is served by a choice, from the widest to the narrowest."""
    due = choice.work
    kind = "alone" if choice.quarantine else "due"
    return due.tenant, f"{due.tenant}/{due.campaign}", f"{due.tenant}/{due.campaign}/{due.stage}/{kind}"


def _wanted(due: Due, in_flight: Sequence[InFlight], policy: Policy) -> list[Choice]:
    """The runs this work could use now: an ordinary one, and one for the units that are tried alone."""
    if due.rested is not None and due.rested < _pause(due.barren):
        return []
    mine = [
        run
        for run in in_flight
        if (run.campaign_id, run.stage, run.lost) == (due.campaign_id, due.stage, False)
    ]
    ordinary = [run for run in mine if not run.quarantine]
    wanted = []
    if due.alone and not any(run.quarantine for run in mine):
        wanted.append(Choice(due, quarantine=True))
    if len(ordinary) < policy.runs and _worth_a_run(due, policy, ordinary):
        wanted.append(Choice(due))
    return wanted


def _worth_a_run(due: Due, policy: Policy, ordinary: Sequence[InFlight]) -> bool:
    """A page's worth, or work that has waited a tick. A further run only where those in flight are full or
    all wait.
    """
    if ordinary:
        all_wait = all(run.quiet >= WAITING_AFTER for run in ordinary)
        return due.due > len(ordinary) * policy.run_size or (all_wait and due.oldest >= WAITING_AFTER)
    return due.unread or due.due >= policy.page_size or (due.due > 0 and due.oldest >= SENSOR_PERIOD)


def _pause(barren: int) -> float:
    """How long to leave a stage alone whose last runs achieved nothing. A single one is followed up at once: a kill."""
    return min(BARREN_PAUSE * 2 ** (barren - 2), BARREN_PAUSE_CAP) if barren > 1 else 0.0
