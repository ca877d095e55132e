"""The submission guard (rules R5 and R6): opening a filing, arming it, and writing down what became of it.

At most one filing stands for a (tenant, target, site): the partial unique index `filings_one_stands` decides, whatever
this code believes. A verdict is fenced by its claim's token alone and lands in any epoch. Refuses: judging a verdict
(the stage does), deciding for a human (`operators` does), and taking over old filings (`promotion` does).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row, text

from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.campaigns import Campaign, share_all
from campaign_assets.ledger.chain import CHAIN
from campaign_assets.ledger.recording import Try, Written, record
from campaign_assets.ledger.schema import STANDING
from campaign_assets.ledger.sql import statement, storable
from campaign_assets.ledger.transitions import MOVES, Move, from_moves, legal, recordset
from campaign_assets.model import Approval, Outcome, Reason, StageResult, SubmissionResult, Unit
from campaign_assets.policy import RESULT_PATIENCE
from campaign_assets.states import FILED, Event, Stage, State, Verdict

ELSEWHERE_PAUSE = 60.0
"""Seconds before a unit whose filing is open elsewhere is looked at again; after `RESULT_PATIENCE` looks it is held."""

_LOOKS = 20
"""Units one claim looks at before it says that nothing can be filed now."""

KNOWN_SITES = """
(select p.site from publishers p where p.id = u.publisher_id
 union select p.final_site from publishers p where p.id = u.publisher_id
 union select a.site from aliases a where a.publisher_id = u.publisher_id)"""
"""Every site the publisher of unit `u` is known as; the guard goes by all of them."""

_NEXT = statement("""
select u.id, u.publisher_id, u.waits, u.epoch, p.final_site
from units u join publishers p on p.id = u.publisher_id
where u.campaign_id = :campaign and u.stage = 'submission' and u.state = 'ready' and u.due_at <= now() and u.epoch = :epoch
  and u.id <> all (cast(:seen as bigint[])) and (cast(:sites as text[]) is null or p.site = any(cast(:sites as text[])))
order by u.due_at, u.id limit 1 for update of u skip locked
""")
_PREFLIGHT = statement("""
with $chain
select (f.open and f.state = 'succeeded' and f.current) as current, f.version, r.held,
    cast(nullif(cast(r.value -> 'payload' as text), 'null') as text) as payload, r.value ->> 'payload_hash' as payload_hash,
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
values (:unit, :target, :site, :claim, :epoch, :run_id, 'claimed', :preflight_version, :payload_hash, cast(:payload as json))
on conflict do nothing returning id
""")
_WRITE = statement("with input as ($recordset), $moves select * from moved", recordset=recordset(), moves=MOVES)


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
    way = tx.execute(_IN_THE_WAY, {"unit": candidate.id, "preflight_version": preflight.version}).one_or_none()
    if way is not None:
        _step_aside(tx, run_id, candidate, way.verdict)
        return []
    if not _approved(campaign, preflight):
        _hold(tx, run_id, candidate, Reason.APPROVAL, "This payload has not been approved; approve it to have it filed.")
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
    return list(tx.execute(_WRITE, {"moves": from_moves([move])}))


def _approved(campaign: Campaign, preflight: Row[Any]) -> bool:
    """Approval is bound to the payload's hash; by exception, what preflight did not hold needs none."""
    approval = campaign.settings.approval
    return (
        approval is Approval.AUTOMATIC or (approval is Approval.BY_EXCEPTION and not preflight.held) or bool(preflight.approved)
    )


def _open(tx: Tx, campaign: Campaign, run_id: str, candidate: Row[Any], preflight: Row[Any], claim: UUID) -> bool:
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
    """Another filing is in the way. One with a verdict is adopted by the scheduler; an open one is waited for, with a bound."""
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
            "Another filing for this business at this site has been open for long; resolve that one, then approve this one again.",
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
    tx.execute(_WRITE, {"moves": from_moves([taken])})
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
    tx.execute(text("select id from units where publisher_id = :publisher order by id for update"), {"publisher": unit.publisher_id})
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


def close_unsent(tx: Tx, claims: Sequence[UUID], reason: str | None, detail: str, certain: bool = False) -> set[UUID]:
    """Note that nothing was sent, by token alone; the tokens for which that stands.

    An armed filing is believed unsent only where its worker is `certain` (no request left the machine).
    """
    parameters = {"claims": list(claims), "reason": reason, "detail": storable(detail), "certain": certain}
    return set(tx.execute(_CLOSE, parameters).scalars())


def commit_unsent(tx: Tx, unit: Unit, outcome: Outcome, wished: Try, epoch: int) -> Written:
    """A submission that ended without a verdict. Its filing is closed as not sent, then the unit moves as wished.

    Where the filing is armed and the worker not certain, that is a fact of its own: unknown, for a human. Where the epoch
    has moved on, the worker's word that nothing was sent still counts, but not its wish: the unit is released.
    """
    lock_unit(tx, unit.id)
    certain = outcome.reason is Reason.NOT_SENT
    if close_unsent(tx, [unit.claim], outcome.reason, outcome.detail, certain):
        written = record(tx, [wished])[unit.id]
        if not written.applied and epoch != unit.epoch:
            _release_unsent(tx, unit)
        return written
    armed = tx.execute(text("select 1 from filings where claim = :claim and verdict is null"), {"claim": unit.claim}).scalar()
    if armed is None:
        return record(tx, [wished])[unit.id]
    unknown = Outcome.fact(Verdict.UNKNOWN, f"It ended after arming, perhaps filed: {outcome.detail}", None, outcome.evidence)
    return record_verdict(tx, unit, unknown)


def _release_unsent(tx: Tx, unit: Unit) -> None:
    move = Move(
        unit.id, Event.RELEASE, State.READY, legal(Event.RELEASE, State.READY, Stage.SUBMISSION), claim=unit.claim
    )
    tx.execute(_WRITE, {"moves": from_moves([move])})


# ------------------------------------------------------------------------------------------------------------ verdicts

_FILING = text("select * from filings where claim = :claim")
_COMPETITORS = statement("""
select f.id, f.unit_id, f.verdict, o.campaign_id
from filings mine join filings f on f.target = mine.target and f.site = mine.site and f.id <> mine.id and ($standing_f)
join units o on o.id = f.unit_id
where mine.claim = :claim
""", standing_f=STANDING.replace("verdict", "f.verdict"))  # fmt: skip
_LATEST = text("select max(id) from filings where unit_id = :unit")
_ANSWER = text("""
update filings set phase = 'answered', verdict = :verdict, answered_at = now(), reason = :reason, detail = :detail,
    result = cast(:result as json), receipt_url = :receipt_url, by_human = false,
    late_verdict = case when cast(:late as boolean) then :verdict else late_verdict end
where id = :id
""")
_ANSWER_LATE = text("update filings set late_verdict = :verdict where id = :id")
_TOUCH_OTHERS = statement("""
update units u set touched = true from campaigns c, filings f, publishers p
where f.id = :id and u.stage = 'submission' and u.state = 'ready' and not u.touched
  and c.id = u.campaign_id and c.target = f.target and p.id = u.publisher_id and p.final_site = f.site
""")


def target_of(verdict: Verdict, reason: str | None) -> State:
    """The state a submission has where this verdict stands. A refusal is held for a correction unless it is the site's own."""
    if verdict in FILED:
        return State.SUCCEEDED
    if verdict is Verdict.REFUSED:
        return State.REJECTED if reason == Reason.REFUSED_SITE else State.HELD
    return State.UNRESOLVED


def reason_of(verdict: Verdict, reason: str | None) -> str | None:
    """A unit's reason beside `target_of`: every state but succeeded needs one."""
    default = {Verdict.REFUSED: Reason.REFUSED_VALUE, Verdict.UNKNOWN: Reason.UNKNOWN_VERDICT}.get(verdict)
    return reason or default


def record_verdict(tx: Tx, unit: Unit, outcome: Outcome) -> Written:
    """Write down what became of an armed filing, by its token alone: in whatever epoch, also after `unresolved`."""
    if outcome.verdict is None or outcome.verdict is Verdict.NOT_SENT:
        raise ValueError(f"{outcome.verdict} is not a verdict of an armed filing")
    competitors = _lock_all(tx, unit)
    filing = tx.execute(_FILING, {"claim": unit.claim}).one_or_none()
    if filing is None:
        return record(tx, [_fact(unit, outcome, State.UNRESOLVED, sources="")])[unit.id]
    if filing.verdict is None or (filing.verdict == Verdict.UNKNOWN and not filing.by_human):
        return _land(tx, unit, outcome, filing)
    if filing.verdict == Verdict.NOT_SENT:
        return _land_late(tx, unit, outcome, filing, competitors)
    if filing.by_human:
        tx.execute(_ANSWER_LATE, {"id": filing.id, "verdict": outcome.verdict})
    return record(tx, [_fact(unit, outcome, State.UNRESOLVED, sources="")])[unit.id]


def _lock_all(tx: Tx, unit: Unit) -> list[Row[Any]]:
    """Lock campaigns, then units, of this filing and of those it competes with; the competitors as they then are."""
    competitors = tx.execute(_COMPETITORS, {"claim": unit.claim}).all()
    share_all(tx, {unit.campaign_id, *(each.campaign_id for each in competitors)})
    ids = [unit.id, *(each.unit_id for each in competitors)]
    tx.execute(text("select id from units where id = any(cast(:ids as bigint[])) order by id for update"), {"ids": ids})
    return list(tx.execute(_COMPETITORS, {"claim": unit.claim}))


def _fact(unit: Unit, outcome: Outcome, target: State, *, sources: str, claim: UUID | None = None, event: Event = Event.FACT) -> Try:
    """The try of a verdict. The epoch stays the unit's own: a fact of an old epoch is adopted by the new one."""
    assert outcome.verdict is not None
    move = Move(
        unit.id,
        event,
        target,
        sources,
        claim=claim,
        reason=reason_of(outcome.verdict, outcome.reason) or (Reason.UNKNOWN_VERDICT if target is State.UNRESOLVED else None),
        detail=outcome.detail,
        stored=1,
        alone=False,
    )
    return Try(move, unit.claim, unit.epoch, unit.run_id, result_of(outcome), evidence=outcome.evidence)


def result_of(outcome: Outcome) -> StageResult:
    """Every verdict has a result, so that what comes after the filing always finds one."""
    assert outcome.verdict is not None
    return outcome.result or SubmissionResult(verdict=outcome.verdict, sentence=outcome.detail)


def _land(tx: Tx, unit: Unit, outcome: Outcome, filing: Row[Any]) -> Written:
    """The usual case: the filing had no verdict, or an unknown one."""
    assert outcome.verdict is not None
    _answer(tx, filing.id, outcome, late=False)
    state = tx.execute(text("select state from units where id = :id"), {"id": unit.id}).scalar_one()
    target = target_of(outcome.verdict, outcome.reason)
    mine = tx.execute(_LATEST, {"unit": unit.id}).scalar_one() == filing.id
    written = record(
        tx,
        [
            _fact(
                unit,
                outcome,
                target,
                sources=legal(Event.FACT, target, Stage.SUBMISSION) if mine else "",
                claim=unit.claim if state == State.SUBMITTING else None,
            )
        ],
    )[unit.id]
    tx.execute(_TOUCH_OTHERS, {"id": filing.id})
    return written


def _answer(tx: Tx, filing_id: int, outcome: Outcome, *, late: bool) -> None:
    result = result_of(outcome)
    tx.execute(
        _ANSWER,
        {
            "id": filing_id,
            "verdict": outcome.verdict,
            "reason": outcome.reason,
            "detail": storable(outcome.detail),
            "result": result.model_dump_json(),
            "receipt_url": getattr(result, "receipt_url", None),
            "late": late,
        },
    )


def _land_late(tx: Tx, unit: Unit, outcome: Outcome, filing: Row[Any], competitors: list[Row[Any]]) -> Written:
    """A human (or the worker itself) had said `not_sent`, and now there is a verdict after all.

    Where a second filing is open, nobody can tell any more what stands: both become unresolved. Where a second one has
    its own verdict, this one is only noted. Else the verdict replaces `not_sent` and the unit takes it over.
    """
    assert outcome.verdict is not None
    undecided = [each for each in competitors if each.verdict is None]
    if competitors:
        tx.execute(_ANSWER_LATE, {"id": filing.id, "verdict": outcome.verdict})
        for each in undecided:
            _unsettle(tx, each.unit_id, Event.FACT)
        if undecided and all(each.unit_id != unit.id for each in undecided):
            _unsettle(tx, unit.id, Event.ADOPT)
        return record(tx, [_fact(unit, outcome, State.UNRESOLVED, sources="")])[unit.id]
    _answer(tx, filing.id, outcome, late=True)
    tx.execute(_TOUCH_OTHERS, {"id": filing.id})
    target = target_of(outcome.verdict, outcome.reason)
    adopted = _fact(unit, outcome, target, sources=legal(Event.ADOPT, target, Stage.SUBMISSION), event=Event.ADOPT)
    return record(tx, [adopted])[unit.id]


def _unsettle(tx: Tx, unit_id: int, event: Event) -> None:
    move = Move(
        unit_id,
        event,
        State.UNRESOLVED,
        legal(event, State.UNRESOLVED, Stage.SUBMISSION),
        reason=Reason.UNKNOWN_VERDICT,
        detail="A verdict came for a filing that had been called not filed, while a second filing was open: look at the site.",
    )
    tx.execute(_WRITE, {"moves": from_moves([move])})
