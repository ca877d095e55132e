"""What readers are shown: status, counts, units, attention, one publisher, the report; derived on read, every number.

One rule says which units count (`COUNTED`): not those of an earlier pass or epoch, but always what is not
reached, being filed, or unresolved. Refuses: writing anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from campaign_assets.errors import InputError
from campaign_assets.ledger.binding import Tx, require_tenant
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.ledger.choices import choices
from campaign_assets.ledger.rows import UNIT_ROWS, key_of
from campaign_assets.ledger.runs import BARREN_RUNS
from campaign_assets.ledger.schema import KNOWN_SITES, STANDING
from campaign_assets.ledger.sql import quoted, statement
from campaign_assets.ledger.status import Facts, Wait, judge
from campaign_assets.model import Key
from campaign_assets.states import ATTENTION, IN_WORK, MATERIALIZED, Stage, State

COUNTED = "(not u.earlier and (u.epoch = c.epoch or u.state in ('none', 'submitting', 'unresolved')))"


@dataclass(frozen=True)
class CampaignStatus:
    """One campaign as `campaign status` shows it."""

    tenant: str
    campaign: str
    sentence: str
    status: str
    """archived, paused, running, waiting, stalled, done or empty."""
    intent: str
    epoch: int
    attention: int
    moving: int
    """Units in work, and due ones that will be within moments; 0 exactly where nothing is moving."""
    last_progress_at: datetime | None
    """The last committed page."""
    done: bool
    stages: Mapping[Stage, Mapping[State, int]]
    waits: tuple[Wait, ...]
    barren_runs: Mapping[Stage, int]
    ticks: Mapping[str, datetime]


# Over the index `units_counted` alone, where the table is vacuumed: a campaign's units are counted without
# reading them.
_COUNTS = statement(
    """
select u.stage, u.state, count(*) as n from units u
where u.campaign_id = :campaign and $counted group by u.stage, u.state
""",
    counted=COUNTED.replace("c.epoch", "(select epoch from campaigns where id = :campaign)"),
)
_WAITS = text("""
select u.reason, count(*) as units, min(u.due_at) as until from units u join campaigns c on c.id = u.campaign_id
where u.campaign_id = :campaign and u.state = 'ready' and u.due_at > now() and u.epoch = c.epoch
group by u.reason order by until
""")
_MOMENTS = text("""
select now() as now,
    (select max(committed_at) from page_commits where campaign_id = :campaign) as last_progress_at,
    exists (select from units where campaign_id = :campaign and touched and claim is null)
        or exists (select from sources where campaign_id = :campaign and not done) as pending
""")


def counts(tx: Tx, campaign_id: UUID) -> dict[Stage, dict[State, int]]:
    """Counted units by stage and state; every stage is there, states without a unit are not."""
    found: dict[Stage, dict[State, int]] = {stage: {} for stage in Stage}
    for row in tx.execute(_COUNTS, {"campaign": campaign_id}):
        found[Stage(row.stage)][State(row.state)] = row.n
    return found


def status(tx: Tx, campaign: Campaign) -> CampaignStatus:
    """How the campaign stands at this moment."""
    facts = _facts(tx, campaign)
    word, sentence = judge(facts)
    return CampaignStatus(
        tenant=campaign.tenant,
        campaign=campaign.slug,
        sentence=sentence,
        status=word,
        intent=facts.intent,
        epoch=campaign.epoch,
        attention=facts.attention,
        moving=facts.in_work + (facts.due if word == "running" else 0),
        last_progress_at=facts.last_progress_at,
        done=facts.done,
        stages=facts.stages,
        waits=facts.waits,
        barren_runs=facts.barren_runs,
        ticks=facts.ticks,
    )


def _facts(tx: Tx, campaign: Campaign) -> Facts:
    parameters = {"campaign": campaign.id}
    moments = tx.execute(_MOMENTS, parameters).one()
    barren = tx.execute(BARREN_RUNS, parameters).all()
    return Facts(
        now=moments.now,
        intent=campaign.intent,
        stages=counts(tx, campaign.id),
        waits=tuple(
            Wait(row.reason, row.units, row.until.astimezone(UTC)) for row in tx.execute(_WAITS, parameters)
        ),
        pending=moments.pending,
        barren_runs={Stage(row.stage): row.barren for row in barren},
        ticks={
            row.sensor: row.at.astimezone(UTC) for row in tx.execute(text("select sensor, at from ticks"))
        },
        last_progress_at=moments.last_progress_at and moments.last_progress_at.astimezone(UTC),
    )


# --------------------------------------------------------------------------------------------------- units, attention

_UNITS = statement(
    """
$unit_rows where u.campaign_id = :campaign and $counted
    and (cast(:stage as text) is null or u.stage = :stage) and (cast(:state as text) is null or u.state = :state)
order by p.id, u.id
""",
    unit_rows=UNIT_ROWS,
    counted=COUNTED,
)
_ATTENTION = statement(
    """
$unit_rows where u.state in ($attention) and $counted and case
        when cast(:campaign as uuid) is null then c.intent <> 'archive' else u.campaign_id = :campaign end
order by u.since, u.id
""",
    unit_rows=UNIT_ROWS,
    attention=quoted(ATTENTION),
    counted=COUNTED,
)


def units(
    tx: Tx, campaign_id: UUID, stage: Stage | None = None, state: State | None = None
) -> list[dict[str, Any]]:
    """The campaign's counted units, of one stage or in one state, publisher by publisher."""
    return [
        _unit(row) for row in tx.execute(_UNITS, {"campaign": campaign_id, "stage": stage, "state": state})
    ]


def attention(tx: Tx, campaign_id: UUID | None = None) -> list[dict[str, Any]]:
    """What waits for a human, longest first: of one campaign, or of all that are not archived."""
    return [_unit(row) for row in tx.execute(_ATTENTION, {"campaign": campaign_id})]


def _unit(row: Row[Any]) -> dict[str, Any]:
    """The row as `campaign units --json` prints it; `decisions` is what a human may decide about it now."""
    stage, state = Stage(row.stage), State(row.state)
    return {
        "key": str(key_of(row)),
        "stage": stage,
        "state": state,
        "reason": row.reason,
        "detail": row.detail,
        "attempts": row.attempts,
        "epoch": row.epoch,
        "due_at": row.due_at,
        "since": row.since,
        "decisions": list(choices(stage, state, row.reason)),
    }


# ------------------------------------------------------------------------------------------------------ one publisher

_PUBLISHER = text("""
select p.id, p.site, p.final_site, p.url, p.name, p.line, s.name as source, p.corrections,
    array(select a.site from aliases a where a.publisher_id = p.id order by a.site) as aliases
from publishers p join campaigns c on c.id = p.campaign_id join tenants t on t.id = p.tenant_id
join sources s on s.id = p.source_id
where t.slug = :tenant and c.slug = :campaign and p.site = :site
""")
_STAGES = statement(
    """
select w.*, r.value as result from ($unit_rows where u.publisher_id = :publisher) w
left join results r on r.unit_id = w.id and r.version = w.version order by w.id
""",
    unit_rows=UNIT_ROWS,
)
_TRIES = text("""
select a.unit_id, a.event, a.reason, a.detail, a.epoch, a.run_id, a.page_no, a.charged, a.applied,
    a.claimed_at, a.ended_at
from attempts a join units u on u.id = a.unit_id where u.publisher_id = :publisher order by a.id
""")
_EVIDENCE = text("""
select e.unit_id, e.kind, e.path, e.media_type, e.sha256, e.size, e.created_at
from evidence e join units u on u.id = e.unit_id where u.publisher_id = :publisher order by e.id
""")
_FILINGS = text("""
select f.id, f.target, f.site, f.epoch, f.run_id, f.phase, f.verdict, f.late_verdict, f.reason, f.detail, f.by_human,
    f.preflight_version, f.payload_hash, f.receipt_url, f.claimed_at, f.armed_at, f.answered_at, f.corrected_at,
    f.payload_hash is distinct from r.value ->> 'payload_hash' as earlier_payload
from units u join filings f on f.unit_id = u.id
left join units pf on pf.publisher_id = u.publisher_id and pf.stage = 'preflight'
left join results r on r.unit_id = pf.id and r.version = pf.version
where u.publisher_id = :publisher and u.stage = 'submission' order by f.id
""")
_DECISIONS = text("""
select u.stage, d.choice, d.who, d.note, d.corrections, d.decided_at
from decisions d join units u on u.id = d.unit_id where u.publisher_id = :publisher order by d.id
""")


def show(tx: Tx, key: Key) -> dict[str, Any]:
    """Everything about one publisher. InputError where there is none.

    `{key, site, final_site, url, name, line, source, corrections, aliases, stages, filings, decisions}`; each
    of `stages` is a row of `units` with `run_id, version, consumed, earlier, result, tries, evidence` beside
    it. `earlier_payload` of a filing: a newer preflight has another payload than was filed.
    """
    publisher = tx.execute(_PUBLISHER, key._asdict()).one_or_none()
    if publisher is None:
        require_tenant(tx)
        raise InputError(f"There is no publisher {key}; `campaign units` lists a campaign's.")
    parameters = {"publisher": publisher.id}
    tries, kept = _by_unit(tx.execute(_TRIES, parameters)), _by_unit(tx.execute(_EVIDENCE, parameters))
    about = dict(publisher._mapping)
    del about["id"]
    return {"key": str(key), **about} | {
        "stages": [
            _unit(row)
            | {name: row._mapping[name] for name in ("run_id", "version", "consumed", "earlier", "result")}
            | {"tries": tries.get(row.id, []), "evidence": kept.get(row.id, [])}
            for row in tx.execute(_STAGES, parameters)
        ],
        "filings": [dict(row._mapping) for row in tx.execute(_FILINGS, parameters)],
        "decisions": [dict(row._mapping) for row in tx.execute(_DECISIONS, parameters)],
    }


def _by_unit(rows: Any) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        values = dict(row._mapping)
        found.setdefault(values.pop("unit_id"), []).append(values)
    return found


# -------------------------------------------------------------------------------------------------------------- report

_REPORT = statement(
    """
$unit_rows where u.campaign_id = :campaign and $counted order by p.id, u.id
""",
    unit_rows=UNIT_ROWS,
    counted=COUNTED,
)
_LISTINGS = text("""
select u.publisher_id, u.stage, r.value ->> 'listing_url' as listing_url, r.value ->> 'rel' as rel
from units u join results r on r.unit_id = u.id and r.version = u.version
where u.campaign_id = :campaign and u.stage in ('confirmation', 'monitoring') order by u.id
""")
_FILED = statement(
    """
select distinct on (u.publisher_id) u.publisher_id, f.verdict, coalesce(f.armed_at, f.answered_at) as filed_at,
    f.receipt_url
from units u join campaigns c on c.id = u.campaign_id
join filings f on f.target = c.target and f.site in $known_sites and f.verdict is distinct from 'not_sent'
where u.campaign_id = :campaign and u.stage = 'submission'
order by u.publisher_id, ($standing) desc, f.id desc
""",
    known_sites=KNOWN_SITES,
    standing=STANDING,
)


def report(tx: Tx, campaign_id: UUID) -> list[dict[str, Any]]:
    """What became of each publisher, in the order of the sources.

    `outcome` is listed, filed, rejected, attention, waiting, in work, ready or not reached; `reason` and
    `detail` are those of the unit that says so.
    """
    parameters = {"campaign": campaign_id}
    listings: dict[int, Row[Any]] = {row.publisher_id: row for row in tx.execute(_LISTINGS, parameters)}
    filed = {row.publisher_id: row for row in tx.execute(_FILED, parameters)}
    by_publisher: dict[int, list[Row[Any]]] = {}
    for row in tx.execute(_REPORT, parameters):
        by_publisher.setdefault(row.publisher_id, []).append(row)
    return [
        _reported(rows, listings.get(publisher), filed.get(publisher))
        for publisher, rows in by_publisher.items()
    ]


def _reported(rows: list[Row[Any]], listing: Row[Any] | None, filing: Row[Any] | None) -> dict[str, Any]:
    outcome, telling = _outcome(rows)
    return {
        "key": str(key_of(telling)),
        "site": telling.site,
        "outcome": outcome,
        "reason": telling.reason,
        "detail": telling.detail,
        "filed_at": filing.filed_at if filing else None,
        "verdict": filing.verdict if filing else None,
        "listing_url": (listing.listing_url if listing else None) or (filing.receipt_url if filing else None),
        "rel": listing.rel if listing else None,
    }


def _outcome(rows: list[Row[Any]]) -> tuple[str, Row[Any]]:
    """(outcome, the unit that says so): attention first, then how far down the chain the publisher has come."""
    for row in reversed(rows):
        if row.state in ATTENTION:
            return "attention", row
    reached = [row for row in rows if row.state != State.NONE]
    if not reached:
        return "not reached", rows[0]
    last = reached[-1]
    if last.state in IN_WORK:
        return "in work", last
    if last.state == State.READY:
        return _ready(rows, last)
    if last.state == State.REJECTED:
        return "rejected", last
    if last.stage in (Stage.CONFIRMATION, Stage.MONITORING):
        return "listed", last
    return ("filed" if last.stage == Stage.SUBMISSION else "in work"), last


def _ready(rows: list[Row[Any]], last: Row[Any]) -> tuple[str, Row[Any]]:
    """A link that is due to be looked at again is still listed."""
    if last.stage == Stage.MONITORING:
        confirmed = next(
            (row for row in rows if row.stage == Stage.CONFIRMATION and row.state in MATERIALIZED), None
        )
        if confirmed is not None:
            return "listed", confirmed
    # What has been looked at in vain goes on waiting, also where a pause keeps the next look away.
    return ("waiting" if last.waits or last.due_at > datetime.now(UTC) else "ready"), last
