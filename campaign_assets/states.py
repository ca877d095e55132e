"""The states of a unit and the one table of legal moves.

The WHERE clauses of the ledger, its CHECK constraint, the README's diagram and the exhaustive test derive from
`TRANSITIONS`. A move that is not listed here cannot be written: the ledger builds each state change from
`sources(event, target, stage)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """The eight stages in their order; the values are the asset keys."""

    DISCOVERY = "discovery"
    SCORING = "scoring"
    FORM_MAPPING = "form_mapping"
    CONTENT = "content"
    PREFLIGHT = "preflight"
    SUBMISSION = "submission"
    CONFIRMATION = "confirmation"
    MONITORING = "monitoring"

    @property
    def upstream(self) -> Stage | None:
        """The stage whose result this one consumes; None for discovery."""
        order = list(Stage)
        position = order.index(self)
        return order[position - 1] if position else None

    @property
    def downstream(self) -> Stage | None:
        order = list(Stage)
        position = order.index(self) + 1
        return order[position] if position < len(order) else None


class State(StrEnum):
    """Where a unit stands. `none`: not reached (or withdrawn); its row exists, nobody works on it."""

    NONE = "none"
    READY = "ready"
    RUNNING = "running"
    SUBMITTING = "submitting"
    SUCCEEDED = "succeeded"
    REJECTED = "rejected"
    FAILED = "failed"
    HELD = "held"
    UNRESOLVED = "unresolved"


SETTLED = frozenset({State.SUCCEEDED, State.REJECTED, State.FAILED, State.HELD, State.UNRESOLVED})
ATTENTION = frozenset({State.FAILED, State.HELD, State.UNRESOLVED})
MATERIALIZED = frozenset({State.SUCCEEDED, State.REJECTED})
IN_WORK = frozenset({State.RUNNING, State.SUBMITTING})


class Event(StrEnum):
    """What can happen to a unit."""

    PROMOTE = "promote"
    WITHDRAW = "withdraw"
    CLAIM = "claim"
    RERUN = "rerun"
    SUCCEED = "succeed"
    REJECT = "reject"
    FAIL = "fail"
    HOLD = "hold"
    RETRY = "retry"
    WAIT = "wait"
    RELEASE = "release"
    EXPIRE = "expire"
    FACT = "fact"
    ADOPT = "adopt"
    DECIDE = "decide"


class Verdict(StrEnum):
    """What became of a filing. None in the ledger means: claimed, and nothing is known yet."""

    ACCEPTED = "accepted"
    PENDING = "pending"
    NEEDS_EMAIL = "needs_email"
    ALREADY_LISTED = "already_listed"
    REFUSED = "refused"
    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"


FREES_THE_TARGET = frozenset({Verdict.REFUSED, Verdict.NOT_SENT})
FILED = frozenset({Verdict.ACCEPTED, Verdict.PENDING, Verdict.NEEDS_EMAIL, Verdict.ALREADY_LISTED})


@dataclass(frozen=True)
class Transition:
    """One legal move: `event` takes a unit from any of `sources` to `target`, by the hand of `who`.

    `stages` names the stages it exists for; `guard` says in words what else must hold (the SQL beside it does).
    """

    event: Event
    sources: frozenset[State]
    target: State
    who: str
    stages: frozenset[Stage] = frozenset(Stage)
    guard: str = ""


_SUBMISSION = frozenset({Stage.SUBMISSION})
_OTHERS = frozenset(Stage) - _SUBMISSION
_WORK = frozenset({State.RUNNING})
_FILING = frozenset({State.SUBMITTING})
_FACTS = frozenset({State.SUBMITTING, State.UNRESOLVED})

TRANSITIONS: tuple[Transition, ...] = (
    Transition(
        Event.PROMOTE,
        frozenset({State.NONE}) | (SETTLED - {State.UNRESOLVED}),
        State.READY,
        "scheduler",
        _OTHERS,
        "upstream succeeded and current; a settled unit only where it is not current, or monitoring is due again",
    ),
    Transition(
        Event.PROMOTE,
        frozenset({State.NONE, State.SUCCEEDED, State.REJECTED, State.FAILED, State.HELD}),
        State.READY,
        "scheduler",
        _SUBMISSION,
        "preflight succeeded and current; refused: only after a correction; "
        "a standing filing is adopted in the same transaction",
    ),
    Transition(
        Event.WITHDRAW,
        frozenset({State.READY}),
        State.NONE,
        "scheduler",
        guard="upstream no longer succeeded and current",
    ),
    Transition(Event.CLAIM, frozenset({State.READY}), State.RUNNING, "run", _OTHERS, "due; intent run"),
    Transition(
        Event.CLAIM,
        frozenset({State.READY}),
        State.SUBMITTING,
        "run",
        _SUBMISSION,
        "due; intent run; opens the filing",
    ),
    Transition(
        Event.RERUN,
        frozenset({State.SUCCEEDED, State.REJECTED, State.FAILED, State.HELD}),
        State.READY,
        "operator",
        _OTHERS,
    ),
    Transition(Event.RERUN, frozenset({State.FAILED}), State.READY, "operator", _SUBMISSION, "never armed"),
    Transition(Event.SUCCEED, _WORK, State.SUCCEEDED, "run", _OTHERS, "fenced"),
    Transition(Event.REJECT, _WORK, State.REJECTED, "run", _OTHERS, "fenced"),
    Transition(Event.FAIL, _WORK, State.FAILED, "run", _OTHERS, "fenced"),
    Transition(Event.FAIL, _FILING, State.FAILED, "run", _SUBMISSION, "fenced; nothing was sent"),
    Transition(Event.HOLD, _WORK, State.HELD, "run", _OTHERS, "fenced"),
    Transition(Event.HOLD, _FILING, State.HELD, "run", _SUBMISSION, "fenced; nothing was sent"),
    Transition(Event.RETRY, _WORK, State.READY, "run", _OTHERS, "fenced; an attempt is charged"),
    Transition(
        Event.RETRY,
        _FILING,
        State.READY,
        "run",
        _SUBMISSION,
        "fenced; nothing was sent; an attempt is charged",
    ),
    Transition(Event.WAIT, _WORK, State.READY, "run", _OTHERS, "fenced; nothing is charged; bounded"),
    Transition(Event.RELEASE, _WORK, State.READY, "stop, restart", _OTHERS, "nothing is charged"),
    Transition(Event.RELEASE, _FILING, State.READY, "stop", _SUBMISSION, "its own worker, before arming"),
    Transition(Event.EXPIRE, _WORK, State.READY, "reaper", _OTHERS, "claimed alone the next time"),
    Transition(
        Event.EXPIRE, _WORK, State.FAILED, "reaper", _OTHERS, "died while claimed alone, no attempt left"
    ),
    Transition(Event.EXPIRE, _FILING, State.UNRESOLVED, "reaper", _SUBMISSION),
    Transition(
        Event.FACT,
        _FACTS,
        State.SUCCEEDED,
        "verdict",
        _SUBMISSION,
        "accepted, pending, needs_email, already_listed",
    ),
    Transition(Event.FACT, _FACTS, State.HELD, "verdict", _SUBMISSION, "refused: a value"),
    Transition(Event.FACT, _FACTS, State.REJECTED, "verdict", _SUBMISSION, "refused: the site"),
    Transition(Event.FACT, _FACTS, State.UNRESOLVED, "verdict", _SUBMISSION, "unknown"),
    Transition(
        Event.ADOPT,
        frozenset({State.NONE, State.READY}),
        State.SUCCEEDED,
        "scheduler",
        _SUBMISSION,
        "a filing stands",
    ),
    Transition(
        Event.ADOPT,
        frozenset({State.NONE, State.READY}),
        State.UNRESOLVED,
        "scheduler",
        _SUBMISSION,
        "its verdict is unknown",
    ),
    Transition(
        Event.ADOPT,
        frozenset({State.NONE, State.READY}),
        State.HELD,
        "scheduler",
        _SUBMISSION,
        "a value was refused, and not corrected since",
    ),
    Transition(
        Event.ADOPT,
        frozenset({State.NONE, State.READY}),
        State.REJECTED,
        "scheduler",
        _SUBMISSION,
        "the site refused it, and no human has corrected since",
    ),
    Transition(Event.DECIDE, frozenset({State.HELD}), State.READY, "human"),
    Transition(Event.DECIDE, frozenset({State.HELD}), State.REJECTED, "human"),
    Transition(Event.DECIDE, frozenset({State.HELD}), State.SUCCEEDED, "human"),
    Transition(Event.DECIDE, frozenset({State.UNRESOLVED}), State.SUCCEEDED, "human", _SUBMISSION, "filed"),
    Transition(Event.DECIDE, frozenset({State.UNRESOLVED}), State.READY, "human", _SUBMISSION, "not filed"),
)


def sources(event: Event, target: State, stage: Stage) -> tuple[State, ...]:
    """The states from which `event` may take a unit of `stage` to `target`; empty where the move is illegal."""
    found: set[State] = set()
    for row in TRANSITIONS:
        if row.event is event and row.target is target and stage in row.stages:
            found |= row.sources
    return tuple(sorted(found))
