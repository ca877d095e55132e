"""What became of a filing: its verdict, by its token alone, whatever has happened since (rule R6).

A verdict lands in any epoch, also after `unresolved`, also after a human said "not filed". Refuses: judging a verdict
(the stage does), and taking over the filings of earlier epochs (`promotion` does).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.campaigns import share_all
from campaign_assets.ledger.filings import close_unsent, lock_unit
from campaign_assets.ledger.recording import Try, Written, record
from campaign_assets.ledger.schema import STANDING
from campaign_assets.ledger.sql import statement, storable
from campaign_assets.ledger.transitions import Move, legal, make_moves
from campaign_assets.model import Outcome, Reason, StageResult, SubmissionResult, Unit
from campaign_assets.states import FILED, Event, Stage, State, Verdict


def commit_unsent(tx: Tx, unit: Unit, outcome: Outcome, wished: Try, epoch: int) -> Written:
    """A submission that ended without a verdict: its filing is closed as not sent, then it moves as wished.

    Where the filing is armed and the worker not certain, that is a fact of its own: unknown, for a human. Where
    the epoch has moved on, the worker's word that nothing was sent still counts, but not its wish: the unit is
    released.
    """
    lock_unit(tx, unit.id)
    certain = outcome.reason is Reason.NOT_SENT
    if close_unsent(tx, [unit.claim], outcome.reason, outcome.detail, certain):
        written = record(tx, [wished])[unit.id]
        if not written.applied and epoch != unit.epoch:
            _release_unsent(tx, unit)
        return written
    armed = tx.execute(
        text("select 1 from filings where claim = :claim and verdict is null"), {"claim": unit.claim}
    ).scalar()
    if armed is None:
        return record(tx, [wished])[unit.id]
    unknown = Outcome.fact(
        Verdict.UNKNOWN, f"It ended after arming, perhaps filed: {outcome.detail}", None, outcome.evidence
    )
    return record_verdict(tx, unit, unknown)


def _release_unsent(tx: Tx, unit: Unit) -> None:
    move = Move(
        unit.id,
        Event.RELEASE,
        State.READY,
        legal(Event.RELEASE, State.READY, Stage.SUBMISSION),
        claim=unit.claim,
    )
    make_moves(tx, [move])


_FILING = text("select * from filings where claim = :claim")
_COMPETITORS = statement("""
select f.id, f.unit_id, f.verdict, o.campaign_id
from filings mine join filings f on f.target = mine.target and f.site = mine.site and f.id <> mine.id and ($standing_f)
join units o on o.id = f.unit_id
where mine.claim = :claim
""", standing_f=STANDING.replace("verdict", "f.verdict"))  # fmt: skip
_LATEST = text("""
select u.state, (select max(f.id) from filings f where f.unit_id = u.id) as id from units u where u.id = :unit
""")
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
    """The state a submission has where this verdict stands. A refusal is held for a correction unless it is the
    site's own.
    """
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
    answer = _Answer(unit, outcome, outcome.verdict)
    competitors = _lock_all(tx, unit)
    filing = tx.execute(_FILING, {"claim": unit.claim}).one_or_none()
    if filing is None:
        return _only_noted(tx, answer)
    if filing.verdict is None or (filing.verdict == Verdict.UNKNOWN and not filing.by_human):
        return _land(tx, answer, filing)
    if filing.verdict == Verdict.NOT_SENT:
        return _land_late(tx, answer, filing, competitors)
    if filing.by_human:
        tx.execute(_ANSWER_LATE, {"id": filing.id, "verdict": answer.verdict})
    return _only_noted(tx, answer)


@dataclass(frozen=True)
class _Answer:
    """A verdict on its way into the ledger."""

    unit: Unit
    outcome: Outcome
    verdict: Verdict

    @property
    def target(self) -> State:
        return target_of(self.verdict, self.outcome.reason)

    @property
    def result(self) -> StageResult:
        """Every verdict has a result, so that what comes after the filing always finds one."""
        return self.outcome.result or SubmissionResult(verdict=self.verdict, sentence=self.outcome.detail)

    def tried(self, event: Event, sources: str, claim: UUID | None = None) -> Try:
        """The try of this verdict. The epoch stays the unit's own: a fact of an old epoch is adopted by the new one."""
        move = Move(
            self.unit.id,
            event,
            self.target,
            sources,
            claim=claim,
            reason=reason_of(self.verdict, self.outcome.reason),
            detail=self.outcome.detail,
            stored=1,
            alone=False,
        )
        unit = self.unit
        return Try(move, unit.claim, unit.epoch, unit.run_id, self.result, evidence=self.outcome.evidence)


def _only_noted(tx: Tx, answer: _Answer) -> Written:
    """The unit stays as it is: the verdict is a superseded attempt."""
    return record(tx, [answer.tried(Event.FACT, sources="")])[answer.unit.id]


def _lock_all(tx: Tx, unit: Unit) -> list[Row[Any]]:
    """Lock campaigns, then units, of this filing and of those it competes with; the competitors as they then are."""
    competitors = tx.execute(_COMPETITORS, {"claim": unit.claim}).all()
    share_all(tx, {unit.campaign_id, *(each.campaign_id for each in competitors)})
    ids = [unit.id, *(each.unit_id for each in competitors)]
    tx.execute(
        text("select id from units where id = any(cast(:ids as bigint[])) order by id for update"),
        {"ids": ids},
    )
    return list(tx.execute(_COMPETITORS, {"claim": unit.claim}))


def _land(tx: Tx, answer: _Answer, filing: Row[Any]) -> Written:
    """The usual case: the filing had no verdict, or an unknown one."""
    unit = answer.unit
    _answer(tx, filing.id, answer, late=False)
    latest = tx.execute(_LATEST, {"unit": unit.id}).one()
    sources = legal(Event.FACT, answer.target, Stage.SUBMISSION) if latest.id == filing.id else ""
    claim = unit.claim if latest.state == State.SUBMITTING else None
    written = record(tx, [answer.tried(Event.FACT, sources, claim)])[unit.id]
    tx.execute(_TOUCH_OTHERS, {"id": filing.id})
    return written


def _answer(tx: Tx, filing_id: int, answer: _Answer, *, late: bool) -> None:
    tx.execute(
        _ANSWER,
        {
            "id": filing_id,
            "verdict": answer.verdict,
            "reason": answer.outcome.reason,
            "detail": storable(answer.outcome.detail),
            "result": answer.result.model_dump_json(),
            "receipt_url": getattr(answer.result, "receipt_url", None),
            "late": late,
        },
    )


def _land_late(tx: Tx, answer: _Answer, filing: Row[Any], competitors: list[Row[Any]]) -> Written:
    """A human (or the worker itself) had said `not_sent`, and now there is a verdict after all.

    Where a second filing is open, nobody can tell any more what stands: both become unresolved. Where a second one has
    its own verdict, this one is only noted. Else the verdict replaces `not_sent` and the unit takes it over.
    """
    unit = answer.unit
    if competitors:
        tx.execute(_ANSWER_LATE, {"id": filing.id, "verdict": answer.verdict})
        undecided = [each for each in competitors if each.verdict is None]
        for each in undecided:
            _unsettle(tx, each.unit_id, Event.FACT)
        if undecided and all(each.unit_id != unit.id for each in undecided):
            _unsettle(tx, unit.id, Event.ADOPT)
        return _only_noted(tx, answer)
    _answer(tx, filing.id, answer, late=True)
    tx.execute(_TOUCH_OTHERS, {"id": filing.id})
    return record(tx, [answer.tried(Event.ADOPT, legal(Event.ADOPT, answer.target, Stage.SUBMISSION))])[
        unit.id
    ]


def _unsettle(tx: Tx, unit_id: int, event: Event) -> None:
    move = Move(
        unit_id,
        event,
        State.UNRESOLVED,
        legal(event, State.UNRESOLVED, Stage.SUBMISSION),
        reason=Reason.UNKNOWN_VERDICT,
        detail="A verdict came for a filing that had been called not filed, while a second was open; look at it.",
    )
    make_moves(tx, [move])
