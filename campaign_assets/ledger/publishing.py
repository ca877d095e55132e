"""What Dagster has been told: which settled units it does not know yet in their present revision, and the marker runs.

Dagster's events are the ledger's public face: written first, then marked here, so that a crash between the two is
repaired by telling it again. Refuses: speaking to Dagster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.loading import parse_result
from campaign_assets.ledger.rows import UNIT_ROWS, unit_row
from campaign_assets.ledger.sql import quoted, statement
from campaign_assets.model import Evidence, StageResult, UnitRow
from campaign_assets.states import ATTENTION, SETTLED, Stage


@dataclass(frozen=True)
class Publication:
    """One unit in a revision that Dagster has not been told: settled, or no longer in attention."""

    unit: UnitRow
    result: StageResult | None
    """The latest one, where the stage has one."""
    version: int
    run_id: str | None
    """The run that worked on it last."""
    was_attention: bool
    """Dagster was last told that it needs attention."""
    evidence: tuple[Evidence, ...]
    """Of the last try."""
    page_no: int | None
    memory: int | None
    """Bytes of the run's process when that page was committed."""
    memory_growth: int | None
    """Bytes since the page before."""
    campaign_id: UUID
    earlier: bool
    """It is left over from an earlier pass: its upstream is rejected now, and it is outside every count."""


_UNPUBLISHED = statement(
    """
with waiting as (
    $unit_rows
    where u.revision <> u.published_revision and (u.state in ($settled) or u.published_attention)
      and (cast(:campaign as uuid) is null or u.campaign_id = :campaign)
      and (cast(:stage as text) is null or u.stage = :stage)
    order by u.id limit :limit
)
select w.*, cast(r.value as text) as value, a.page_no, a.claim as last_claim, g.memory, g.memory_growth
from waiting w
left join results r on r.unit_id = w.id and r.version = w.version
left join lateral (
    select page_no, claim, run_id from attempts a where a.unit_id = w.id and a.applied order by a.id desc limit 1
) a on true
left join lateral (
    select memory, memory_growth from page_commits g where g.run_id = a.run_id and g.page_no = a.page_no order
        by g.id desc limit 1
) g on true
order by w.id
""",
    unit_rows=UNIT_ROWS,
    settled=quoted(SETTLED),
)
_EVIDENCE = text("""
select unit_id, kind, path, media_type, sha256, size from evidence
where claim = any(cast(:claims as uuid[])) and unit_id = any(cast(:units as bigint[])) order by id
""")


def unpublished(tx: Tx, campaign_id: UUID | None, stage: Stage | None, limit: int) -> list[Publication]:
    """Units that are settled, or were told as attention, whose revision is not the published one: of one campaign and
    stage or of all, oldest id first."""
    rows = tx.execute(_UNPUBLISHED, {"campaign": campaign_id, "stage": stage, "limit": limit}).all()
    evidence = _evidence(tx, rows)
    return [_publication(row, tuple(evidence.get(row.id, ()))) for row in rows]


def _evidence(tx: Tx, rows: Sequence[Row[Any]]) -> dict[int, list[Evidence]]:
    parameters = {
        "claims": [row.last_claim for row in rows if row.last_claim],
        "units": [row.id for row in rows],
    }
    found: dict[int, list[Evidence]] = {}
    if parameters["claims"]:
        for row in tx.execute(_EVIDENCE, parameters):
            values = dict(row._mapping)
            found.setdefault(values.pop("unit_id"), []).append(Evidence(**values))
    return found


def _publication(row: Row[Any], evidence: tuple[Evidence, ...]) -> Publication:
    return Publication(
        unit=unit_row(row),
        result=parse_result(Stage(row.stage), row.value) if row.value else None,
        version=row.version,
        run_id=row.run_id,
        was_attention=row.published_attention,
        evidence=evidence,
        page_no=row.page_no,
        memory=row.memory,
        memory_growth=row.memory_growth,
        campaign_id=row.campaign_id,
        earlier=row.earlier,
    )


def mark_published(tx: Tx, published: Sequence[tuple[int, int]]) -> None:
    """Note (unit id, revision) as told last. A unit that has moved on meanwhile stays, or becomes again, unpublished.

    Written plainly: where two tell at once and the older word comes last, the unit must be told once more.
    """
    tx.execute(
        _MARK,
        {"ids": [unit_id for unit_id, _ in published], "revisions": [revision for _, revision in published]},
    )


def forget(tx: Tx, campaign_id: UUID, stage: Stage, sites: Sequence[str]) -> None:
    """Have these publishers told once more: Dagster shows something else, as after a run that was refused."""
    tx.execute(_FORGET, {"campaign": campaign_id, "stage": stage, "sites": list(sites)})


_FORGET = text("""
with locked as materialized (
    select u.id from units u join publishers p on p.id = u.publisher_id
    where u.campaign_id = :campaign and u.stage = :stage and p.site = any(cast(:sites as text[]))
    order by u.id for update of u
)
update units u set published_revision = -1, published_attention = true from locked l where u.id = l.id
""")
_MARK = statement(
    """
with told as (select * from unnest(cast(:ids as bigint[]), cast(:revisions as integer[])) as t(id, revision)),
locked as materialized (select t.* from told t join units u on u.id = t.id order by u.id for update of u)
update units u set published_revision = t.revision,
    -- What it was when it was told is no longer known where it has moved on: then one event
    -- too many is the smaller harm.
    published_attention = u.revision <> t.revision or u.state in ($attention)
from locked t where u.id = t.id and u.published_revision <> t.revision
""",
    attention=quoted(ATTENTION),
)


def marker_run(tx: Tx, campaign_id: UUID, stage: Stage) -> str | None:
    """The failed run that carries this campaign's and stage's failed publishers in Dagster, where there is one."""
    return tx.execute(
        text("select run_id from markers where campaign_id = :campaign and stage = :stage"),
        {"campaign": campaign_id, "stage": stage},
    ).scalar()


def set_marker_run(tx: Tx, campaign_id: UUID, stage: Stage, run_id: str, instead_of: str | None) -> str:
    """Note the marker run, the first or in place of one that Dagster has lost; returns the one that stands."""
    tx.execute(
        text("insert into markers as m (campaign_id, stage, run_id) values (:campaign, :stage, :run_id) "
             "on conflict (tenant_id, campaign_id, stage) do update set run_id = excluded.run_id "
             "where m.run_id = :instead_of"),
        {"campaign": campaign_id, "stage": stage, "run_id": run_id, "instead_of": instead_of},
    )  # fmt: skip
    return str(marker_run(tx, campaign_id, stage))
