"""The retry policy of each stage: one row of one table, from which all that has to do with time or tries derives.

A row gives: attempts and back-off, the deadline of one unit, the page's limit (from a unit's claim to its commit),
the run's backstop, the reaper's bound, page size, concurrency and pool. Rules between them are checked when this
module loads. All durations are seconds. A named `Profile` scales the times; nothing else does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from campaign_assets.model import Outcome, OutcomeKind
from campaign_assets.states import Event, Stage

SENSOR_PERIOD = 5.0
"""How often scheduler and reaper tick; Dagster's sensor loop has a floor of 5 s."""

REAPER_GRACE = 30.0
"""The reaper skips one round where its own last one is older than this: the machine slept, workers deserve a moment."""

COMMIT_EVERY = 2.0
"""A run commits what is finished when a page is full or this old."""

BEAT_EVERY = 4.0
"""A run's worker says so often, on the database's clock, that it lives."""

RUN_SILENCE = 20.0
"""A run that has not been heard of for so long is over: its units come back at once, whatever Dagster says of it."""

RESULT_PATIENCE = 14
"""How many re-checks a wait for moderation is given before it fails."""


@dataclass(frozen=True)
class Policy:
    """What one stage may cost in tries and in time."""

    stage: Stage
    attempts: int
    backoff: float
    """Pause before the second attempt; doubles with each further one."""
    backoff_cap: float
    deadline: float
    """The internal timeout of one unit, by our own clock."""
    page_limit: float
    """From a unit's claim to its commit, enforced in the worker."""
    soft_limit: float
    """A run claims no more units when it is this old; it ends when those in flight have ended."""
    reap_after: float
    """A unit in work for longer than this is taken from its worker by the reaper, by age alone."""
    max_runtime: float
    """The backstop: Dagster ends a run that is older."""
    stop_grace: float
    """How long a stop may take: to finish or release what is in work (from arming to verdict: the deadline)."""
    page_size: int
    concurrency: int
    """Units in flight in one run."""
    run_size: int
    """Units one run takes at most."""
    runs: int
    """Runs of this stage in flight for one campaign."""
    pool: str | None = None
    """Dagster's concurrency pool: `browser` or `submission`."""
    op_retries: int = 2
    """Dagster's own retries of the step, for infrastructure errors only; 0 where a retry could file a form."""
    recheck: float = 0.0
    """The wait between two looks at something that only time changes: moderation, a monitored link."""


# fmt: off
_PRODUCTION: tuple[Policy, ...] = (
    # attempts, backoff, cap | deadline, page limit, soft limit, reap after, backstop, grace | page, flight, run, runs
    Policy(Stage.DISCOVERY,    3,  30,  600,   90, 120, 1500, 180, 3600, 10,   25, 24,  500, 2, recheck=3600),
    Policy(Stage.SCORING,      3,  30,  600,   60,  90, 1500, 150, 3600, 10,   25,  8,  500, 2, recheck=3600),
    Policy(Stage.FORM_MAPPING, 3,  60, 1800,  120, 150, 1500, 210, 3600, 10,   10,  8,  200, 1, "browser", 2, 3600),
    Policy(Stage.CONTENT,      2,  30,  600,   30,  60, 1500, 120, 3600, 10,   50,  4, 1000, 1),
    Policy(Stage.PREFLIGHT,    3,  60, 1800,   90, 120, 1500, 180, 3600, 10,   25, 12,  500, 1, recheck=3600),
    Policy(Stage.SUBMISSION,   3, 120, 3600,  240, 270, 1500, 360, 3600, 10,    1,  6,  100, 1, "submission", 0, 600),
    Policy(Stage.CONFIRMATION, 3,  60, 3600,   90, 120, 1500, 180, 3600, 10,   25, 12,  500, 1, recheck=86400),
    Policy(Stage.MONITORING,   3,  60, 3600,   90, 120, 1500, 180, 3600, 10,   25, 12,  500, 1, recheck=7 * 86400),
)
# fmt: on


@dataclass(frozen=True)
class Profile:
    """A named scale of the table: `work` for back-off, deadlines and limits, `patience` for what only time changes."""

    name: str
    work: float
    patience: float


PROFILES = {p.name: p for p in (Profile("production", 1.0, 1.0), Profile("sandbox", 0.5, 1 / 2880))}


def policies(profile: str) -> dict[Stage, Policy]:
    """The table under a named profile. KeyError for an unknown name (settings check it first)."""
    scale = PROFILES[profile]
    return {row.stage: _scaled(row, scale) for row in _PRODUCTION}


def _scaled(row: Policy, scale: Profile) -> Policy:
    work, patience = scale.work, scale.patience
    return replace(
        row,
        backoff=row.backoff * (work if work == 1 else work / 10),
        backoff_cap=row.backoff_cap * (work if work == 1 else work / 10),
        deadline=row.deadline * work,
        page_limit=row.page_limit * work,
        reap_after=row.reap_after * work,
        stop_grace=row.stop_grace * work,
        recheck=max(row.recheck * patience, SENSOR_PERIOD),
    )


@dataclass(frozen=True)
class Decision:
    """What the policy makes of an outcome: the event to write; for a retry or a wait, due after how many seconds."""

    event: Event
    after: float | None = None
    reason: str | None = None
    detail: str | None = None


_PLAIN = {
    OutcomeKind.SUCCEED: Event.SUCCEED,
    OutcomeKind.REJECT: Event.REJECT,
    OutcomeKind.HOLD: Event.HOLD,
    OutcomeKind.FAIL: Event.FAIL,
    OutcomeKind.FACT: Event.FACT,
    OutcomeKind.RELEASE: Event.RELEASE,
}


def decide(policy: Policy, outcome: Outcome, attempts: int, waits: int) -> Decision:
    """The event for `outcome` of a unit that has been charged `attempts` before this try and has waited `waits` times.

    A retry becomes a failure when the stage's attempts are used up; a wait becomes one after `RESULT_PATIENCE` rounds.
    """
    if outcome.kind is OutcomeKind.RETRY:
        if attempts + 1 >= policy.attempts:
            return Decision(Event.FAIL)
        pause = min(policy.backoff * 2**attempts, policy.backoff_cap)
        return Decision(Event.RETRY, max(pause, outcome.after or 0.0))
    if outcome.kind is OutcomeKind.WAIT:
        if waits >= RESULT_PATIENCE:
            return Decision(Event.FAIL, detail=f"{outcome.detail} (still so after {waits} looks)")
        return Decision(Event.WAIT, outcome.after or policy.recheck)
    if outcome.kind is OutcomeKind.SUCCEED and policy.stage is Stage.MONITORING:
        return Decision(Event.SUCCEED, policy.recheck)
    return Decision(_PLAIN[outcome.kind])


def _check() -> None:
    """The rules between a row's numbers (R3), for every profile."""
    for profile in PROFILES:
        for row in policies(profile).values():
            if not row.deadline < row.page_limit < row.reap_after < row.max_runtime:
                raise AssertionError(
                    f"{profile}/{row.stage}: deadline < page limit < reap after < max runtime does not hold"
                )
            if row.soft_limit + row.page_limit >= row.max_runtime:
                raise AssertionError(
                    f"{profile}/{row.stage}: a run's soft limit and one page must fit below max_runtime"
                )
            if row.pool == "submission" and row.op_retries:
                raise AssertionError("nothing that files a form may be retried by Dagster")
    if not 2 * SENSOR_PERIOD < REAPER_GRACE:
        raise AssertionError("2 x reaper period < shortest grace does not hold")


_check()
