"""The one place that writes a unit's state.

Every operation that changes states builds a relation named `input`, one row a move, and appends `MOVES`: an UPDATE that
lets a move happen only from the states that `states.sources(event, target, stage)` lists, and only where the row's own
fences (claim token, epoch) still hold. What it did not let happen is simply missing from the relation `moved`.

`input` has the columns of `COLUMNS`. `from_moves()` fills it from Python, `columns()` from a SELECT.
Refuses: deciding *whether* a unit should move; that is the caller's WHERE.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from sqlalchemy import Connection

from campaign_assets.ledger.sql import fragment, statement, storable
from campaign_assets.states import Event, Stage, State, sources

COLUMNS: Mapping[str, tuple[str, str]] = {
    "unit_id": ("bigint", "null"),
    "event": ("text", "null"),
    "target": ("text", "null"),
    "sources": ("text", "''"),  # comma-separated
    "claim": ("uuid", "null"),  # fence: the claim that must still stand
    "fence": ("integer", "null"),  # fence: the epoch that unit and campaign must both have
    "reason": ("text", "null"),
    "detail": ("text", "''"),
    "due": ("float8", "null"),  # seconds from now; only kept where a unit of that state can be due
    "charge": ("integer", "0"),  # attempts charged by this move
    "wait": ("integer", "0"),
    "fresh": ("boolean", "false"),  # start counting attempts and waits anew
    "token": ("uuid", "null"),  # the new claim; every other move ends the claim
    "run_id": ("text", "null"),  # null keeps: who worked on it last
    "stored": ("integer", "0"),  # results stored with this move
    "consumed": ("integer", "null"),
    "epoch": ("integer", "null"),
    "alone": ("boolean", "null"),
    "touched": ("boolean", "true"),  # the scheduler has to look
}
"""Name → (SQL type, default) of `input`. Null in consumed, epoch, alone and run_id keeps what the unit has."""

MOVES = """
locked as materialized (
    select i.* from input i join units u on u.id = i.unit_id order by u.id for update of u
), moved as (
    update units u set
        state = i.target,
        reason = i.reason,
        detail = i.detail,
        since = now(),
        revision = u.revision + 1,
        touched = i.touched,
        earlier = false,
        due_at = case
            when i.target = 'ready' then now() + coalesce(i.due, 0) * interval '1 second'
            when i.target = 'succeeded' and u.stage = 'monitoring' then now() + i.due * interval '1 second' end,
        claim = i.token,
        claimed_at = case when i.token is null then u.claimed_at else now() end,
        run_id = coalesce(i.run_id, u.run_id),
        attempts = case when i.fresh then 0 else u.attempts + i.charge end,
        waits = case when i.fresh then 0 else u.waits + i.wait end,
        version = u.version + i.stored,
        consumed = coalesce(i.consumed, u.consumed),
        epoch = coalesce(i.epoch, u.epoch),
        alone = coalesce(i.alone, u.alone)
    from locked i cross join campaigns c
    where u.id = i.unit_id and c.id = u.campaign_id
      and u.state = any (string_to_array(i.sources, ','))
      and (i.claim is null or u.claim = i.claim)
      and (i.fence is null or (u.epoch = i.fence and c.epoch = i.fence))
    returning u.*, i.event
)
"""
"""To be appended to `with input as (…),`: the guarded UPDATE. `moved` holds the units as they are now, and the
event.
"""


@dataclass(frozen=True)
class Move:
    """One wished move of one unit, as Python builds it; the fields are the columns of `input`."""

    unit_id: int
    event: Event
    target: State
    sources: str
    claim: UUID | None = None
    fence: int | None = None
    reason: str | None = None
    detail: str = ""
    due: float | None = None
    charge: int = 0
    wait: int = 0
    fresh: bool = False
    token: UUID | None = None
    run_id: str | None = None
    stored: int = 0
    consumed: int | None = None
    epoch: int | None = None
    alone: bool | None = None
    touched: bool = True


def make_moves(tx: Connection, moves: Iterable[Move]) -> set[int]:
    """Let these moves happen where they may, and nothing else be written; the units that moved."""
    return set(tx.execute(_MOVE, {"moves": from_moves(moves)}).scalars())


@cache
def legal(event: Event, target: State, stage: Stage) -> str:
    """The states this move may start from, as `input.sources` wants them; empty where the move is illegal."""
    return ",".join(sources(event, target, stage))


def from_moves(moves: Iterable[Move], extras: Iterable[Mapping[str, object]] | None = None) -> str:
    """The JSON for the parameter `:moves`; `extras` adds further fields to each row, for an operation's own columns."""
    rows = [vars(move) | {"detail": storable(move.detail)} for move in moves]
    if extras is not None:
        for row, extra in zip(rows, extras, strict=True):
            row.update(extra)
    return json.dumps(rows, default=str)


def recordset(extra: str = "") -> str:
    """The SELECT that turns `:moves` into `input`; `extra` declares the operation's own columns."""
    names = ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
    return fragment(
        "select * from json_to_recordset(cast(:moves as json)) as i($names$extra)", names=names, extra=extra
    )


def columns(event: Event, target: State, /, **expressions: str) -> str:
    """The select list of `input` for one event over units `u`: an SQL expression for some columns, else the default.

    The sources follow from each unit's own stage.
    """
    given = {
        "unit_id": "u.id",
        "event": f"'{event}'",
        "target": f"'{target}'",
        "sources": _sources_by_stage(event, target),
    } | expressions
    unknown = set(given) - set(COLUMNS)
    if unknown:
        raise ValueError(f"no such column of a move: {unknown}")
    return ", ".join(
        f"cast({given.get(name, default)} as {kind}) as {name}" for name, (kind, default) in COLUMNS.items()
    )


def _sources_by_stage(event: Event, target: State) -> str:
    by_sources: dict[str, list[Stage]] = {}
    for stage in Stage:
        by_sources.setdefault(legal(event, target, stage), []).append(stage)
    branches = " ".join(
        f"when u.stage in ({', '.join(repr(str(stage)) for stage in stages)}) then '{states}'"
        for states, stages in by_sources.items()
        if states
    )
    return f"case {branches} else '' end"


_MOVE = statement(
    "with input as materialized ($recordset), $moves select id from moved", recordset=recordset(), moves=MOVES
)
