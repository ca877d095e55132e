"""What becomes eligible, and what no longer is: promote, withdraw, adopt, and the marks of an earlier pass.

Driven by the `touched` flag (every state write but a claim sets it) and by monitoring's due dates, never by a scan. One
look takes the publishers of the touched units, judges their whole chains (`chain.CHAIN`), locks by id what it may move,
and then judges again for each event. What is in work is left alone: its end touches it. Claims and arming do not trust
any of it; they check for themselves. Refuses: starting runs.
"""

from __future__ import annotations

from collections import Counter

from sqlalchemy import TextClause, text

from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.campaigns import share_every
from campaign_assets.ledger.chain import CHAIN
from campaign_assets.ledger.schema import KNOWN_SITES, STANDING
from campaign_assets.ledger.sql import fragment, quoted, statement
from campaign_assets.ledger.transitions import MOVES, columns, legal
from campaign_assets.model import Reason
from campaign_assets.states import FILED, SETTLED, Event, Stage, State

AT_ONCE = 2000
"""Units one look starts from at most; the rest is found by the next one."""

_TOUCHED = text("select publisher_id from units where touched and claim is null order by id limit :limit")
_DUE_AGAIN = text("""
select publisher_id from units where state = 'succeeded' and due_at <= now() order by due_at limit :limit
""")
_LOCK = text("select id from units where id = any(cast(:ids as bigint[])) order by id for update")
_SEEN = text("update units set touched = false where id = any(cast(:ids as bigint[])) and touched")

# Each condition over `chain u`, in words: why a unit moves. The sources of each event are checked where it is written.
_WITHDRAWABLE = "(u.state = 'ready' and (not u.open or u.epoch <> u.campaign_epoch))"
_DUE = "(u.stage = 'monitoring' and u.state = 'succeeded' and u.due_at <= now())"
_PROMOTABLE = fragment(
    "(u.stage <> 'submission' and u.open and (u.state = 'none' or (u.state in ($settled) and not u.current) or $due))",
    settled=quoted(SETTLED),
    due=_DUE,
)
_FILABLE = fragment(
    "(u.stage = 'submission' and u.open and u.state in ($states))",
    states=quoted({State.NONE, State.READY, *SETTLED} - {State.UNRESOLVED}),
)
_LEFT_BEHIND = fragment(
    "(u.rejected_above and not u.earlier and u.state in ($settled))",
    settled=quoted(SETTLED - {State.UNRESOLVED}),
)
_LOOK = statement(
    """
with $chain
select u.id, u.publisher_id, case
        when $withdrawable then 'withdraw' when $promotable then 'promote' when $filable then 'submission'
        when $left_behind then 'earlier' end as action, $due as due
from chain u
where u.intent <> 'archive' and u.claim is null
  and (u.touched or $withdrawable or $promotable or $filable or $left_behind or $due)
order by u.id
""",
    chain=CHAIN,
    withdrawable=_WITHDRAWABLE,
    promotable=_PROMOTABLE,
    filable=_FILABLE,
    left_behind=_LEFT_BEHIND,
    due=_DUE,
)


def _moving(event: Event, target: State, where: str, **expressions: str) -> TextClause:
    """One event for those of the locked units that `where` names."""
    return statement(
        """
with $chain, input as materialized (
    select $columns from chain u where u.id = any(cast(:ids as bigint[])) and $where
), $moves select id from moved
""",
        chain=CHAIN,
        columns=columns(event, target, **expressions),
        where=where,
        moves=MOVES,
    )


_WITHDRAW = _moving(Event.WITHDRAW, State.NONE, _WITHDRAWABLE, touched="false")
_PROMOTE = _moving(
    Event.PROMOTE,
    State.READY,
    _PROMOTABLE,
    touched="false",
    fresh="true",
    alone="false",
    epoch="u.campaign_epoch",
)
_MARK_EARLIER = statement(
    """
with $chain update units t set earlier = true, due_at = null, revision = t.revision + 1
from chain u where t.id = u.id and u.id = any(cast(:ids as bigint[])) and $left_behind and t.state = u.state
""",
    chain=CHAIN,
    left_behind=_LEFT_BEHIND,
)
_POSTPONE = text("""
update units set due_at = now() + interval '1 hour'
where id = any(cast(:ids as bigint[])) and state = 'succeeded' and due_at <= now()
""")


def promote(tx: Tx, limit: int = AT_ONCE) -> dict[str, int]:
    """Look at what changed and move what follows from it; how many units moved, by event (`earlier` counts marks).

    Raises TenantNotBound.
    """
    share_every(tx)
    publishers = {
        row.publisher_id for query in (_TOUCHED, _DUE_AGAIN) for row in tx.execute(query, {"limit": limit})
    }
    if not publishers:
        return {}
    seen = tx.execute(_LOOK, {"publishers": sorted(publishers)}).all()
    ids = {"ids": [row.id for row in seen]}
    tx.execute(_LOCK, ids)
    tx.execute(_SEEN, ids)
    by_action: dict[str, dict[int, int]] = {}
    for row in seen:
        by_action.setdefault(row.action, {})[row.id] = row.publisher_id
    withdrawn = by_action.get("withdraw", {})
    counts: Counter[str] = Counter()
    counts["withdraw"] = _apply(tx, _WITHDRAW, withdrawn)
    counts["promote"] = _apply(tx, _PROMOTE, by_action.get("promote", {}) | withdrawn)
    counts.update(_file(tx, by_action.get("submission", {}) | withdrawn))
    counts["earlier"] = _apply(tx, _MARK_EARLIER, by_action.get("earlier", {}))
    not_open = [row.id for row in seen if row.due and row.action != "promote"]
    if not_open:
        tx.execute(
            _POSTPONE, {"ids": not_open}
        )  # its confirmation is on the way again, and will bring it back
    return {event: count for event, count in counts.items() if count}


def _apply(tx: Tx, query: TextClause, units: dict[int, int]) -> int:
    """Run one event's statement for units (id → publisher); how many it moved."""
    if not units:
        return 0
    return tx.execute(query, {"ids": sorted(units), "publishers": sorted(set(units.values()))}).rowcount


# ---------------------------------------------------------------------------------------------------------- submission

# `way`: the filing that stands in the way of a submission, else a refusal that no human has answered with a correction;
# `adopted`: the state its verdict means. Null where nothing stands, or where what stands has no verdict yet.
_FACING = fragment(
    """
$chain, facing as (
    select u.*, f.id as way, f.unit_id = u.id as own, f.verdict, f.reason as verdict_reason, f.detail as verdict_detail,
        f.result as verdict_result, f.answered_at, case
            when f.verdict in ($filed) then 'succeeded'
            when f.verdict = 'unknown' then 'unresolved'
            when f.verdict = 'refused' then case f.reason when '$refused_site' then 'rejected' else 'held' end
        end as adopted
    from chain u left join lateral (
        select f.* from filings f
        where f.target = u.target and f.site in $known_sites
          and (($standing) or (f.verdict = 'refused' and f.corrected_at is null))
        order by ($standing) desc, f.id desc limit 1
    ) f on true
    where u.id = any(cast(:ids as bigint[])) and $filable
)""",
    chain=CHAIN,
    filed=quoted(FILED),
    refused_site=Reason.REFUSED_SITE,
    known_sites=KNOWN_SITES,
    standing=STANDING,
    filable=_FILABLE,
)
_PROMOTE_SUBMISSION = statement(
    """
with $facing, input as materialized (
    select $columns from facing u where case u.state
        when 'none' then u.adopted is null
        when 'ready' then false
        when 'succeeded' then not u.current
        else case when u.adopted is null then not u.current or u.consumed <> u.upstream_version
                  else not u.current or u.state <> u.adopted end
    end
), $moves select id from moved
""",
    facing=_FACING,
    columns=columns(Event.PROMOTE, State.READY, touched="false", fresh="true", epoch="u.campaign_epoch"),
    moves=MOVES,
)
_FILE_LISTED = statement(
    """
with $facing
insert into filings (unit_id, target, site, claim, epoch, phase, verdict, detail, preflight_version, payload_hash,
                     result, receipt_url, answered_at)
select u.id, u.target, p.final_site, gen_random_uuid(), u.campaign_epoch, 'answered', 'already_listed',
    'preflight found the business listed at ' || (r.value ->> 'existing_listing'), u.upstream_version,
    r.value ->> 'payload_hash', json_build_object('kind', 'submission', 'verdict', 'already_listed',
        'sentence', 'It is listed already; nothing was filed.', 'receipt_url', r.value ->> 'existing_listing'),
    r.value ->> 'existing_listing', now()
from facing u join publishers p on p.id = u.publisher_id
join units f on f.publisher_id = u.publisher_id and f.stage = 'preflight'
join results r on r.unit_id = f.id and r.version = f.version
where u.state in ('none', 'ready') and u.way is null and r.value ->> 'existing_listing' is not null
order by u.id on conflict do nothing
""",
    facing=_FACING,
)
_ADOPTABLE = (State.SUCCEEDED, State.UNRESOLVED, State.HELD, State.REJECTED)
_ADOPT = statement(
    """
with $facing, input as materialized (
    select $columns from facing u where u.state in ('none', 'ready') and u.adopted is not null
), $moves, stored as (
    insert into results (unit_id, version, epoch, value)
    select m.id, m.version, m.epoch, f.verdict_result
    from moved m join input i on i.unit_id = m.id and i.stored = 1 join facing f on f.id = m.id
) select id from moved
""",
    facing=_FACING,
    columns=columns(
        Event.ADOPT,
        State.SUCCEEDED,
        target="u.adopted",
        sources="case u.adopted "
        + " ".join(
            f"when '{state}' then '{legal(Event.ADOPT, state, Stage.SUBMISSION)}'" for state in _ADOPTABLE
        )
        + " end",
        reason=fragment(
            "coalesce(u.verdict_reason, "
            "case u.adopted when 'unresolved' then '$unknown' when 'held' then '$refused' end)",
            unknown=Reason.UNKNOWN_VERDICT,
            refused=Reason.REFUSED_VALUE,
        ),
        detail="'answered on ' || to_char(u.answered_at, 'YYYY-MM-DD') || ', not filed again: ' || u.verdict_detail",
        # Its own filing's result is there already; confirmation need not see a new one.
        stored="case when u.own and u.version > 0 then 0 else 1 end",
        consumed="u.upstream_version",
        epoch="u.campaign_epoch",
    ),
    moves=MOVES,
)


def _file(tx: Tx, units: dict[int, int]) -> dict[str, int]:
    """Submissions: promoted where they may file (again), adopted where a filing has an answer already."""
    promoted = _apply(tx, _PROMOTE_SUBMISSION, units)
    _apply(tx, _FILE_LISTED, units)
    return {"promote": promoted, "adopt": _apply(tx, _ADOPT, units)}
