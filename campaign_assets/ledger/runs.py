"""Runs as the ledger knows them: begun, last heard of, over, and whether they committed anything.

Dagster's word for a run is *status* and is never believed here; a run is over for the ledger when its row has an end.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.sql import fragment, statement
from campaign_assets.states import Stage

BARREN_REMEMBERED = 20
"""Runs of a stage that are looked back on; that many barren ones in a row are as good as any number."""


@dataclass(frozen=True)
class RunRow:
    """A run that has no end in the ledger."""

    run_id: str
    campaign_id: UUID
    campaign: str
    stage: Stage
    operator: bool
    started_at: datetime
    last_commit_at: datetime | None
    last_progress_seconds: float
    """Since its last page commit, or since its start."""
    silent_seconds: float
    """Since its worker was last heard of."""
    pages: int
    in_work: int


_START = text("""
insert into runs (run_id, campaign_id, stage, operator) values (:run_id, :campaign, :stage, :operator)
on conflict (tenant_id, run_id, campaign_id, stage) do update set ended_at = null, how = null, beat_at = now()
""")


def start_run(tx: Tx, run_id: str, campaign_id: UUID, stage: Stage, operator: bool) -> None:
    """Note that a run works on this stage of this campaign. The same again (a retried step) opens its row anew."""
    tx.execute(_START, {"run_id": run_id, "campaign": campaign_id, "stage": stage, "operator": operator})


def beat(tx: Tx, run_id: str) -> bool:
    """A run's worker lives, by the database's clock. False where the run is over for the ledger: its worker then
    stops.
    """
    beaten = tx.execute(
        text("update runs set beat_at = now() where run_id = :run_id and ended_at is null"),
        {"run_id": run_id},
    )
    return beaten.rowcount > 0


def end_run(tx: Tx, run_id: str, how: str) -> None:
    """Note that a run is over: `done`, `stopped`, `failed` or `reaped`. What was noted first stays."""
    tx.execute(
        text("update runs set ended_at = now(), how = :how where run_id = :run_id and ended_at is null"),
        {"run_id": run_id, "how": how},
    )


def is_over(tx: Tx, run_id: str, campaign_id: UUID, stage: Stage) -> bool:
    """Whether the ledger has an end for this run; False also for one that it never saw begin."""
    over = text(
        "select 1 from runs where run_id = :run_id and campaign_id = :campaign and stage = :stage "
        "and ended_at is not null"
    )
    return tx.execute(over, {"run_id": run_id, "campaign": campaign_id, "stage": stage}).scalar() is not None


_OPEN = text("""
select r.run_id, r.campaign_id, c.slug as campaign, r.stage, r.operator, r.started_at, p.last_commit_at, p.pages,
    extract(epoch from now() - coalesce(p.last_commit_at, r.started_at)) as last_progress_seconds,
    extract(epoch from now() - r.beat_at) as silent_seconds,
    (select count(*) from units u where u.run_id = r.run_id and u.claim is not null and u.campaign_id = r.campaign_id
        and u.stage = r.stage) as in_work
from runs r join campaigns c on c.id = r.campaign_id
cross join lateral (
    select max(committed_at) as last_commit_at, count(*) as pages from page_commits p
    where p.run_id = r.run_id and p.campaign_id = r.campaign_id and p.stage = r.stage
) p
where r.ended_at is null order by r.started_at, r.run_id
""")


def open_runs(tx: Tx) -> list[RunRow]:
    """The runs that have not ended, as far as the ledger knows, oldest first."""
    return [
        RunRow(
            run_id=row.run_id,
            campaign_id=row.campaign_id,
            campaign=row.campaign,
            stage=Stage(row.stage),
            operator=row.operator,
            started_at=row.started_at,
            last_commit_at=row.last_commit_at,
            last_progress_seconds=float(row.last_progress_seconds),
            silent_seconds=float(row.silent_seconds),
            pages=row.pages,
            in_work=row.in_work,
        )
        for row in tx.execute(_OPEN)
    ]


BARREN = fragment(
    """
    select count(*) as barren, extract(epoch from now() - max(ended_at)) as rested from (
        select e.ended_at, bool_or(e.fruitful) over (order by e.ended_at desc) as before_a_page from (
            select r.ended_at, exists (select from page_commits p where p.run_id = r.run_id and p.campaign_id = c.id
                and p.stage = s.stage) as fruitful
            from runs r where r.campaign_id = c.id and r.stage = s.stage and r.ended_at is not null and r.how
                <> 'stopped'
            order by r.ended_at desc limit $remembered) e
    ) f where not before_a_page
""",
    remembered=str(BARREN_REMEMBERED),
)
"""For campaign `c` and stage `s`: how many runs in a row, up to the last, ended without a committed page (stopped ones
do not count), and how many seconds ago the last of them ended."""

BARREN_RUNS = statement(
    """
select s.stage, b.barren from campaigns c cross join unnest(array[$stages]) as s(stage) cross join lateral ($barren) b
where c.id = :campaign and b.barren > 0
""",
    stages=", ".join(f"'{stage}'" for stage in Stage),
    barren=BARREN,
)
