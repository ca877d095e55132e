"""The end of tries: their moves, their attempts, results and evidence, and the page they came in, in one statement.

`work`, `filings` and `scheduling` decide what became of a try; here it is written, fenced by the move's own columns.
A try whose fence no longer holds is recorded as superseded (an attempt that was not applied) and changes nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.sql import statement, storable
from campaign_assets.ledger.transitions import MOVES, Move, from_moves, recordset
from campaign_assets.model import Evidence, StageResult
from campaign_assets.states import Stage, State


@dataclass(frozen=True)
class Try:
    """One finished try: the move it wishes for, and what is to be kept of it."""

    move: Move
    claim: UUID
    epoch: int
    run_id: str | None
    result: StageResult | None = None
    held: bool = False
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Page:
    """The units a run commits together, and what its process weighed then (bytes)."""

    run_id: str
    campaign_id: UUID
    stage: Stage
    number: int
    memory: int
    memory_growth: int


@dataclass(frozen=True)
class Written:
    """What became of one try: the unit as it is now, and whether the try is why."""

    unit_id: int
    state: State
    revision: int
    applied: bool


_RECORD = statement(
    """
with input as materialized ($recordset),
$moves,
stored as (
    insert into results (unit_id, version, epoch, run_id, held, value)
    select m.id, m.version, m.epoch, i.try_run, i.held, cast(i.result as json)
    from moved m join input i on i.unit_id = m.id where i.result is not null
), tried as (
    insert into attempts (unit_id, claim, epoch, run_id, page_no, event, reason, detail, charged, applied, claimed_at)
    select i.unit_id, i.try_claim, i.try_epoch, i.try_run, cast(:page_no as integer), i.event, i.reason, i.detail,
        i.charge > 0 and m.id is not null, m.id is not null, m.claimed_at
    from input i left join moved m on m.id = i.unit_id
), paged as (
    insert into page_commits (run_id, campaign_id, stage, page_no, units, applied, memory, memory_growth)
    select :run_id, :campaign_id, :stage, :page_no, count(*), count(m.id), :memory, :memory_growth
    from input i left join moved m on m.id = i.unit_id where cast(:page_no as integer) is not null having count(*) > 0
)
select i.unit_id, coalesce(m.state, u.state) as state, coalesce(m.revision, u.revision) as revision, m.id is
    not null as applied
from input i join units u on u.id = i.unit_id left join moved m on m.id = i.unit_id
""",
    recordset=recordset(", try_claim uuid, try_epoch integer, try_run text, result text, held boolean"),
    moves=MOVES,
)
_NO_PAGE = dict.fromkeys(("run_id", "campaign_id", "stage", "page_no", "memory", "memory_growth"))
_KEEP_EVIDENCE = text("""
insert into evidence (unit_id, claim, kind, path, media_type, sha256, size)
select i.unit_id, i.claim, i.kind, i.path, i.media_type, i.sha256, i.size
from json_to_recordset(cast(:evidence as json))
    as i(unit_id bigint, claim uuid, kind text, path text, media_type text, sha256 text, size bigint)
""")


def record(tx: Tx, tries: Sequence[Try], page: Page | None = None) -> dict[int, Written]:
    """Write the tries (one unit each) and, where given, their page. The caller holds the campaigns' share locks."""
    if not tries:
        return {}
    moves = from_moves(
        (each.move for each in tries),
        (
            {
                "try_claim": each.claim,
                "try_epoch": each.epoch,
                "try_run": each.run_id,
                "result": each.result.model_dump_json() if each.result is not None else None,
                "held": each.held,
            }
            for each in tries
        ),
    )
    written = {
        row.unit_id: Written(row.unit_id, State(row.state), row.revision, row.applied)
        for row in tx.execute(_RECORD, {"moves": moves, **_page_parameters(page)})
    }
    _keep_evidence(tx, tries)
    return written


def _page_parameters(page: Page | None) -> dict[str, object]:
    if page is None:
        return dict(_NO_PAGE)
    return {
        "run_id": page.run_id,
        "campaign_id": page.campaign_id,
        "stage": page.stage,
        "page_no": page.number,
        "memory": page.memory,
        "memory_growth": page.memory_growth,
    }


def _keep_evidence(tx: Tx, tries: Sequence[Try]) -> None:
    """Evidence of superseded tries is kept too: it shows what happened."""
    rows = [
        {"unit_id": each.move.unit_id, "claim": str(each.claim)}
        | {name: _clean(value) for name, value in item}
        for each in tries
        for item in each.evidence
    ]
    if rows:
        tx.execute(_KEEP_EVIDENCE, {"evidence": json.dumps(rows)})


def _clean(value: object) -> object:
    return storable(value) if isinstance(value, str) else value
