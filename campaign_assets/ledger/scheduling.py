"""What the sensors do for one bound tenant: the backlog, the reaper, runs that are over, and when each last ran.

`promote` lives in `promotion` and is re-exported. The database's `now()` is the only clock. Refuses: starting or ending
Dagster's runs; it only says which.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.campaigns import share_every
from campaign_assets.ledger.promotion import promote
from campaign_assets.ledger.recording import Try, record
from campaign_assets.ledger.rows import UNIT_ROWS, unit_row
from campaign_assets.ledger.runs import BARREN, RunRow, open_runs
from campaign_assets.ledger.sql import statement
from campaign_assets.ledger.transitions import Move, legal
from campaign_assets.model import Reason, UnitRow
from campaign_assets.policy import Policy, policies
from campaign_assets.states import Event, Stage, State

__all__ = ["Backlog", "RunRow", "backlog", "expire_run", "open_runs", "promote", "reap", "tick"]

COUNTED = 5000
"""Due units of a stage are counted up to here: more than any run takes."""


@dataclass(frozen=True)
class CampaignRef:
    """A campaign as the backlog names it."""

    id: UUID
    slug: str
    tenant: str
    epoch: int


@dataclass(frozen=True)
class Backlog:
    """What waits at one stage of one campaign, and who works on it."""

    campaign: CampaignRef
    stage: Stage
    due: int
    """Ready and due now, counted up to `COUNTED`; without those that are claimed alone."""
    alone: int
    """Due units whose worker died: claimed one by one, by a run of their own."""
    oldest_due_seconds: float
    unread: bool
    """Discovery: a source is not read to its end."""
    in_work: int
    barren: int
    """Runs in a row, up to the last one, that ended without a committed page (stopped ones do not count)."""
    rested: float | None
    """Seconds since the last of them ended."""


_BACKLOG = statement(
    """
select c.id, c.slug, t.slug as tenant, c.epoch, s.stage, d.due, d.alone, d.oldest, b.barren, b.rested,
    s.stage = 'discovery' and exists (select from sources o where o.campaign_id = c.id and not o.done) as unread,
    coalesce(w.in_work, 0) as in_work
from campaigns c join tenants t on t.id = c.tenant_id
cross join unnest(array[$stages]) with ordinality as s(stage, nth)
cross join lateral (
    select count(*) filter (where not l.alone) as due, count(*) filter (where l.alone) as alone,
        coalesce(extract(epoch from now() - min(l.due_at)), 0) as oldest from (
        select u.due_at, u.alone from units u
        where u.campaign_id = c.id and u.stage = s.stage and u.state = 'ready' and u.due_at <= now() and
            u.epoch = c.epoch
        order by u.due_at limit :counted) l
) d
cross join lateral ($barren) b
left join (
    select campaign_id, stage, count(*) as in_work from units where claim is not null group by 1, 2
) w on w.campaign_id = c.id and w.stage = s.stage
where c.intent = 'run' order by c.slug, s.nth
""",
    stages=", ".join(f"'{stage}'" for stage in Stage),
    barren=BARREN,
)


def backlog(tx: Tx) -> list[Backlog]:
    """Every stage of the tenant's running campaigns at which something is due, unread or in work."""
    rows = tx.execute(_BACKLOG, {"counted": COUNTED})
    return [
        Backlog(
            CampaignRef(row.id, row.slug, row.tenant, row.epoch),
            Stage(row.stage),
            row.due,
            row.alone,
            float(row.oldest),
            row.unread,
            row.in_work,
            row.barren,
            None if row.rested is None else float(row.rested),
        )
        for row in rows
        if row.due or row.alone or row.unread or row.in_work
    ]


# ------------------------------------------------------------------------------------------------------------ expiring

_LATE = text("""
select u.id, u.stage, u.state, u.claim, u.epoch, u.run_id, u.alone, u.attempts from units u
join json_each_text(cast(:limits as json)) l on l.key = u.stage
where u.claim is not null and u.claimed_at < now() - cast(l.value as float8) * interval '1 second'
order by u.id for update of u skip locked
""")
_OF_RUN = text("""
select u.id, u.stage, u.state, u.claim, u.epoch, u.run_id, u.alone, u.attempts from units u
where u.run_id = :run_id and u.claim is not null order by u.id for update of u
""")


def reap(tx: Tx, policies: Mapping[Stage, Policy]) -> list[UnitRow]:
    """Take from their workers the units that are in work for longer than their stage's `reap_after`, by age alone.

    A worker that still lives is fenced: what it writes later is superseded. Raises TenantNotBound.
    """
    share_every(tx)
    limits = json.dumps({stage: policy.reap_after for stage, policy in policies.items()})
    rows = tx.execute(_LATE, {"limits": limits}).all()
    return _expire(tx, rows, policies, "was in work for longer than its stage allows")


def expire_run(tx: Tx, run_id: str) -> list[UnitRow]:
    """The run is over (Dagster says so): the same for its units, at once, and its end is noted. Raises
    TenantNotBound.
    """
    share_every(tx)
    rows = tx.execute(_OF_RUN, {"run_id": run_id}).all()
    tx.execute(
        text("update runs set ended_at = now(), how = 'reaped' where run_id = :run_id and ended_at is null"),
        {"run_id": run_id},
    )
    return _expire(
        tx, rows, policies("production"), "lost its worker"
    )  # attempts do not depend on the profile


def _expire(tx: Tx, rows: Sequence[Row[Any]], policies: Mapping[Stage, Policy], why: str) -> list[UnitRow]:
    tries = [
        Try(_expired(row, policies[Stage(row.stage)], why), row.claim, row.epoch, row.run_id) for row in rows
    ]
    moved = [unit_id for unit_id, written in record(tx, tries).items() if written.applied]
    if not moved:
        return []
    return [unit_row(row) for row in tx.execute(_ROWS, {"ids": moved})]


_ROWS = statement("$unit_rows where u.id = any(cast(:ids as bigint[])) order by u.id", unit_rows=UNIT_ROWS)


def _expired(row: Row[Any], policy: Policy, why: str) -> Move:
    """What becomes of a unit whose worker is gone. Only a death while alone charges an attempt: then it is the
    unit's own.

    A claimed filing without a verdict goes to a human, whatever its phase (R6).
    """
    if row.state == State.SUBMITTING:
        target, reason = State.UNRESOLVED, Reason.UNKNOWN_VERDICT
        detail = f"Perhaps filed: it {why} before a verdict was written. Look at the site, then resolve it."
    elif row.alone and row.attempts + 1 >= policy.attempts:
        target, reason = State.FAILED, Reason.WORKER_DIED
        detail = f"It {why}, also when it was worked on alone ({row.attempts + 1} times)."
    else:
        target, reason = State.READY, Reason.WORKER_DIED
        detail = f"It {why}; it is worked on alone the next time."
    return Move(
        row.id,
        Event.EXPIRE,
        target,
        legal(Event.EXPIRE, target, Stage(row.stage)),
        claim=row.claim,
        reason=reason,
        detail=detail,
        charge=int(row.alone and row.state != State.SUBMITTING),
        alone=True if target is State.READY else None,
    )


# -------------------------------------------------------------------------------------------------------------- ticks

_TICK = text("""
with before as (select at from ticks where sensor = :sensor),
written as (insert into ticks (sensor, at) values (:sensor, now())
            on conflict (tenant_id, sensor) do update set at = excluded.at)
select coalesce((select now() - at <= :grace * interval '1 second' from before), true)
""")


def tick(tx: Tx, sensor: str, period_grace: float) -> bool:
    """Note that a sensor runs now. False where its last tick is older than `period_grace` seconds.

    The reaper then leaves out one round: the machine slept, and workers deserve a moment. A first tick is True.
    """
    return bool(tx.execute(_TICK, {"sensor": sensor, "grace": period_grace}).scalar_one())
