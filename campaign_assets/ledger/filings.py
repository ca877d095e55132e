"""The submission guard (rule R5): opening a filing, arming it, and closing one that was never sent.

At most one filing stands for a (tenant, target, site): the partial unique index `filings_one_stands` decides, whatever
this code believes. Refuses: what became of a filing (`verdicts`), deciding for a human (`deciding`), and taking over
old filings (`promotion`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row, text

from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.campaigns import Campaign, share_all
from campaign_assets.ledger.chain import CHAIN
from campaign_assets.ledger.loading import CLAIMED
from campaign_assets.ledger.recording import Try, record
from campaign_assets.ledger.schema import KNOWN_SITES, STANDING
from campaign_assets.ledger.sql import statement, storable
from campaign_assets.ledger.transitions import MOVES, Move, from_moves, legal, make_moves, recordset
from campaign_assets.model import Approval, Reason, Unit
from campaign_assets.policy import RESULT_PATIENCE
from campaign_assets.states import Event, Stage, State

ELSEWHERE_PAUSE = 60.0
"""Seconds before a unit whose filing is open elsewhere is looked at again; after `RESULT_PATIENCE` looks it is held."""

_LOOKS = 20
"""Units one claim looks at before it says that nothing can be filed now."""

_NEXT = statement("""
select u.id, u.publisher_id, u.waits, u.epoch, p.final_site
from units u join publishers p on p.id = u.publisher_id
where u.campaign_id = :campaign and u.stage = 'submission' and u.state = 'ready' and u.due_at <= now() and
    u.epoch = :epoch
  and u.id <> all (cast(:seen as bigint[])) and (cast(:sites as text[]) is null or p.site = any(cast(:sites as text[])))
order by u.due_at, u.id limit 1 for update of u skip locked
""")
_PREFLIGHT = statement("""
with $chain
select (f.open and f.state = 'succeeded' and f.current) as current, f.version, r.held,
    cast(nullif(cast(r.value -> 'payload' as text), 'null') as text) as payload, r.value ->> 'payload_hash' as
        payload_hash,
    exists (select from decisions d
        where d.unit_id = f.id and d.choice = 'approve' and d.payload_hash = r.value ->> 'payload_hash') as approved
from chain f left join results r on r.unit_id = f.id and r.version = f.version
where f.stage = 'preflight'
""", chain=CHAIN)  # fmt: skip
_IN_THE_WAY = statement("""
select f.id, f.verdict, f.corrected_at, f.unit_id = u.id as own, f.preflight_version
from units u join campaigns c on c.id = u.campaign_id
join filings f on f.target = c.target and f.site in $known_sites
where u.id = :unit and (($standing) or (f.verdict = 'refused'
    and (f.corrected_at is null or (f.unit_id = u.id and f.preflight_version >= :preflight_version))))
order by ($standing) desc, f.id desc limit 1
""", known_sites=KNOWN_SITES, standing=STANDING)  # fmt: skip
_OPEN = text("""
insert into filings (unit_id, target, site, claim, epoch, run_id, phase, preflight_version, payload_hash, payload)
values (:unit, :target, :site, :claim, :epoch, :run_id, 'claimed', :preflight_version, :payload_hash,
    cast(:payload as json))
on conflict do nothing returning id
""")
_CLAIM = statement(
    "with input as ($recordset), $moves $claimed", recordset=recordset(), moves=MOVES, claimed=CLAIMED
)


def claim_one(tx: Tx, campaign: Campaign, run_id: str, sites: Sequence[str] | None) -> list[Row[Any]]:
    """Claim the first due submission that may file, open its filing, and return its row; [] where none may.

    Units that may not are put aside: looked at again later, held, or left to the scheduler.
    """
    seen: list[int] = []
    for _ in range(_LOOKS):
        parameters = {"campaign": campaign.id, "epoch": campaign.epoch, "seen": seen, "sites": sites}
        candidate = tx.execute(_NEXT, parameters).one_or_none()
        if candidate is None:
            return []
        claimed = _try_to_open(tx, campaign, run_id, candidate)
        if claimed:
            return claimed
        seen.append(candidate.id)
    return []


def _try_to_open(tx: Tx, campaign: Campaign, run_id: str, candidate: Row[Any]) -> list[Row[Any]]:
    preflight = tx.execute(_PREFLIGHT, {"publishers": [candidate.publisher_id]}).one()
    if not preflight.current or preflight.payload is None:
        _leave_to_the_scheduler(tx, candidate.id)
        return []
    way = tx.execute(
        _IN_THE_WAY, {"unit": candidate.id, "preflight_version": preflight.version}
    ).one_or_none()
    if way is not None:
        _step_aside(tx, run_id, candidate, way.verdict)
        return []
    if not _approved(campaign, preflight):
        _hold(
            tx,
            run_id,
            candidate,
            Reason.APPROVAL,
            "This payload has not been approved; approve it to have it filed.",
        )
        return []
    claim = uuid4()
    if not _open(tx, campaign, run_id, candidate, preflight, claim):
        _step_aside(tx, run_id, candidate, None)
        return []
    move = Move(
        candidate.id,
        Event.CLAIM,
        State.SUBMITTING,
        legal(Event.CLAIM, State.SUBMITTING, Stage.SUBMISSION),
        fence=campaign.epoch,
        token=claim,
        run_id=run_id,
        consumed=preflight.version,
        touched=False,
    )
    return list(tx.execute(_CLAIM, {"moves": from_moves([move])}))


def _approved(campaign: Campaign, preflight: Row[Any]) -> bool:
    """Approval is bound to the payload's hash; by exception, what preflight did not hold needs none."""
    approval = campaign.settings.approval
    return (
        approval is Approval.AUTOMATIC
        or (approval is Approval.BY_EXCEPTION and not preflight.held)
        or bool(preflight.approved)
    )


def _open(
    tx: Tx, campaign: Campaign, run_id: str, candidate: Row[Any], preflight: Row[Any], claim: UUID
) -> bool:
    """Insert the filing. False where another one stands: a claim elsewhere that committed a moment ago."""
    opened = tx.execute(
        _OPEN,
        {
            "unit": candidate.id,
            "target": campaign.target,
            "site": candidate.final_site,
            "claim": claim,
            "epoch": campaign.epoch,
            "run_id": run_id,
            "preflight_version": preflight.version,
            "payload_hash": preflight.payload_hash,
            "payload": preflight.payload,
        },
    )
    return opened.one_or_none() is not None


def _leave_to_the_scheduler(tx: Tx, unit_id: int) -> None:
    tx.execute(text("update units set touched = true where id = :id and not touched"), {"id": unit_id})


def _step_aside(tx: Tx, run_id: str, candidate: Row[Any], verdict: str | None) -> None:
    """Another filing is in the way. One with a verdict is adopted by the scheduler; an open one is waited for,
    with a bound.
    """
    if verdict is not None:
        _leave_to_the_scheduler(tx, candidate.id)
    elif candidate.waits < RESULT_PATIENCE:
        tx.execute(
            text(
                "update units set due_at = now() + :pause * interval '1 second', waits = waits + 1, reason = :reason, "
                "detail = 'another filing for this business at this site is open' where id = :id"
            ),
            {"id": candidate.id, "pause": ELSEWHERE_PAUSE, "reason": Reason.FILING_OPEN_ELSEWHERE},
        )
    else:
        _hold(
            tx,
            run_id,
            candidate,
            Reason.FILING_OPEN_ELSEWHERE,
            "Another filing for this business at this site has been open for long; resolve that one, then approve "
            "this one again.",
        )


def _hold(tx: Tx, run_id: str, candidate: Row[Any], reason: Reason, detail: str) -> None:
    """Hold a ready submission: the way there leads through submitting, here without a filing and in one transaction."""
    claim = uuid4()
    taken = Move(
        candidate.id,
        Event.CLAIM,
        State.SUBMITTING,
        legal(Event.CLAIM, State.SUBMITTING, Stage.SUBMISSION),
        fence=candidate.epoch,
        token=claim,
        run_id=run_id,
    )
    make_moves(tx, [taken])
    held = Move(
        candidate.id,
        Event.HOLD,
        State.HELD,
        legal(Event.HOLD, State.HELD, Stage.SUBMISSION),
        claim=claim,
        fence=candidate.epoch,
        reason=reason,
        detail=detail,
    )
    record(tx, [Try(held, claim, candidate.epoch, run_id)])


# ----------------------------------------------------------------------------------------------------- arming, closing

_ARM = statement("""
with $chain
update filings f set phase = 'armed', armed_at = now()
from units u join campaigns c on c.id = u.campaign_id
where f.claim = :claim and f.phase = 'claimed' and f.verdict is null
  and u.id = f.unit_id and u.claim = :claim and u.state = 'submitting' and u.epoch = :epoch
  and c.epoch = :epoch and c.intent = 'run'
  and exists (select from chain where stage = 'preflight' and open and state = 'succeeded' and current
              and version = f.preflight_version)
returning f.id
""", chain=CHAIN)  # fmt: skip


def arm(tx: Tx, unit: Unit) -> bool:
    """R5: the last word before the click. False: do not click, whatever the reason.

    The publisher's units are locked first, so that nothing this UPDATE believes can change until it is committed.
    """
    share_all(tx, [unit.campaign_id])
    tx.execute(
        text("select id from units where publisher_id = :publisher order by id for update"),
        {"publisher": unit.publisher_id},
    )
    armed = tx.execute(_ARM, {"claim": unit.claim, "epoch": unit.epoch, "publishers": [unit.publisher_id]})
    return armed.one_or_none() is not None


def lock_unit(tx: Tx, unit_id: int) -> None:
    """Wait until nobody else writes this unit, and keep it so."""
    tx.execute(text("select id from units where id = :id for update"), {"id": unit_id})


_CLOSE = text("""
update filings set phase = 'answered', verdict = 'not_sent', answered_at = now(), reason = :reason, detail = :detail
where claim = any(cast(:claims as uuid[])) and verdict is null and (phase = 'claimed' or cast(:certain as boolean))
returning claim
""")


def close_unsent(
    tx: Tx, claims: Sequence[UUID], reason: str | None, detail: str, certain: bool = False
) -> set[UUID]:
    """Note that nothing was sent, by token alone; the tokens for which that stands.

    An armed filing is believed unsent only where its worker is `certain` (no request left the machine).
    """
    parameters = {"claims": list(claims), "reason": reason, "detail": storable(detail), "certain": certain}
    return set(tx.execute(_CLOSE, parameters).scalars())
