"""What a human decides about one publisher: approve, reject, correct, filed, not filed.

`choices` says what may be decided where; here it is done, and recorded with who, when and a note. A filing that a human
calls filed is accepted; one called not filed frees its target and revokes its token, though a verdict may still land.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from uuid import uuid4

from sqlalchemy import text

from campaign_assets.errors import InputError, Refused
from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.case import Case, open_case, who
from campaign_assets.ledger.choices import SETTLES, choices
from campaign_assets.ledger.recording import Try, record
from campaign_assets.ledger.schema import KNOWN_SITES, STANDING
from campaign_assets.ledger.sql import statement, storable
from campaign_assets.ledger.transitions import Move, legal
from campaign_assets.model import Key, Reason, SubmissionResult
from campaign_assets.states import FILED, Event, Stage, State, Verdict


def decide(
    tx: Tx,
    key: Key,
    stage: Stage,
    choice: str,
    corrections: Mapping[str, str] | None = None,
    note: str = "",
) -> None:
    """Settle what waits for a human: `approve`, `reject`, `filed` or `correct` (with values by profile field).

    Refused where the unit does not stand so that this choice settles it; the sentence says which would.
    """
    if choice not in ("approve", "reject", "filed", "correct"):
        raise InputError(f"{choice!r} is no decision; choose approve, reject, filed or correct.")
    if (choice == "correct") != bool(corrections):
        raise InputError(
            "Corrections go with `correct`, as FIELD=VALUE, at least one; no other decision takes them."
        )
    case = open_case(tx, key)
    unit = case.units[stage]
    allowed = choices(stage, State(unit.state), unit.reason)
    if choice not in allowed:
        raise Refused(_not_allowed(case, stage, choice, allowed))
    {"approve": _approve, "reject": _reject, "filed": _filed, "correct": _correct}[choice](
        case, stage, corrections or {}, note
    )


def _not_allowed(case: Case, stage: Stage, choice: str, allowed: Sequence[str]) -> str:
    unit = case.units[stage]
    standing = f"{case.key} is {unit.state}" + (f" ({unit.reason})" if unit.reason else "") + f" at {stage}"
    if not allowed:
        return f"{standing}; there is nothing to decide."
    instead = SETTLES.get(unit.reason) or f"decide {' or '.join(allowed)}"
    return f"{standing}; {choice} does not settle that: {instead}."


def _approve(case: Case, stage: Stage, corrections: Mapping[str, str], note: str) -> None:
    """Bound to the payload's hash: another payload needs another yes."""
    unit, preflight = case.units[stage], case.units[Stage.PREFLIGHT]
    if not (unit.open and (unit.current or stage is Stage.SUBMISSION)):
        raise Refused(f"{case.key} is being worked on anew before {stage}; approve what comes of that.")
    value = preflight.value if stage in (Stage.PREFLIGHT, Stage.SUBMISSION) else unit.value
    if not value:
        raise Refused(
            f"{case.key} has no result at {stage} that could be approved; decide reject or correct."
        )
    case.note(stage, "approve", note, None, None)
    if stage is Stage.SUBMISSION:
        case.note(Stage.PREFLIGHT, "approve", note, None, value["payload_hash"])
        case.move(stage, Event.DECIDE, State.READY, fresh=True)
        return
    if stage is Stage.PREFLIGHT:
        case.note(stage, "approve", note, None, value["payload_hash"])
    case.move(stage, Event.DECIDE, State.SUCCEEDED, detail=f"approved by {who()}")


def _reject(case: Case, stage: Stage, corrections: Mapping[str, str], note: str) -> None:
    case.note(stage, "reject", note, None, None)
    case.move(stage, Event.DECIDE, State.REJECTED, reason=Reason.HUMAN, detail=note or f"rejected by {who()}")


def _correct(case: Case, stage: Stage, corrections: Mapping[str, str], note: str) -> None:
    """Keep the values, have the texts written anew, and answer every refusal so far: a newer preflight may file
    again.
    """
    case.note(stage, "correct", note, corrections, None)
    case.tx.execute(
        text(
            "update publishers set corrections = cast(cast(corrections as jsonb) || cast(:new as jsonb) as json) "
            "where id = :id"
        ),
        {
            "id": case.publisher_id,
            "new": json.dumps({name: storable(value) for name, value in corrections.items()}),
        },
    )
    case.tx.execute(_ANSWER_REFUSALS, {"unit": case.units[Stage.SUBMISSION].id})
    case.tx.execute(
        text("update units set consumed = -1, touched = true where id = :id and claim is null"),
        {"id": case.units[Stage.CONTENT].id},
    )
    case.move(stage, Event.DECIDE, State.READY, fresh=True, detail="corrected; it follows the new texts")


_ANSWER_REFUSALS = statement("""
update filings f set corrected_at = now() from units u join campaigns c on c.id = u.campaign_id
where u.id = :unit and f.target = c.target and f.site in $known_sites and f.verdict = 'refused' and
    f.corrected_at is null
""", known_sites=KNOWN_SITES)  # fmt: skip


def _filed(case: Case, stage: Stage, corrections: Mapping[str, str], note: str) -> None:
    """A person filed it by hand."""
    if case.units[stage].state == State.UNRESOLVED:
        _resolve_filed(case, note)
        return
    standing = case.standing()
    if standing is not None:
        said = (
            f"on {standing.answered_at.date()} ({standing.verdict})"
            if standing.verdict
            else "and that filing has no verdict yet"
        )
        raise Refused(f"{case.key} was filed already {said}.")
    _insert_by_hand(case, note)
    case.note(stage, "filed", note, None, None)
    detail = note or f"filed by hand, says {who()}"
    if stage is Stage.PREFLIGHT:
        case.move(stage, Event.DECIDE, State.SUCCEEDED, detail=detail)
    else:
        _succeed(case, SubmissionResult(verdict=Verdict.ACCEPTED, sentence=detail), detail)


def _insert_by_hand(case: Case, note: str) -> None:
    sentence = note or f"filed by hand, says {who()}"
    result = SubmissionResult(verdict=Verdict.ACCEPTED, sentence=sentence)
    case.tx.execute(
        text("""
insert into filings (unit_id, target, site, claim, epoch, phase, verdict, detail, by_human, preflight_version,
    result, answered_at)
values (:unit, :target, :site, :claim, :epoch, 'answered', 'accepted', :detail, true, :version, cast(:result as
    json), now())
"""),
        {
            "unit": case.units[Stage.SUBMISSION].id,
            "target": case.target,
            "site": case.final_site,
            "claim": uuid4(),
            "epoch": case.epoch,
            "detail": storable(sentence),
            "version": case.units[Stage.PREFLIGHT].version,
            "result": result.model_dump_json(),
        },
    )


def _succeed(case: Case, result: SubmissionResult, detail: str) -> None:
    """A submission that a human says is filed: its state, with a result for what comes after it."""
    unit = case.units[Stage.SUBMISSION]
    move = Move(
        unit.id,
        Event.DECIDE,
        State.SUCCEEDED,
        legal(Event.DECIDE, State.SUCCEEDED, Stage.SUBMISSION),
        detail=detail,
        stored=1,
    )
    record(case.tx, [Try(move, unit.filing_claim or uuid4(), unit.epoch, None, result)])


def resolve(tx: Tx, key: Key, filed: bool, note: str = "") -> None:
    """Say what became of an unresolved filing. Refused where nothing of this publisher is unresolved."""
    case = open_case(tx, key)
    unit = case.units[Stage.SUBMISSION]
    if unit.state != State.UNRESOLVED:
        raise Refused(f"{key} is not unresolved; its submission is {unit.state}.")
    if filed:
        _resolve_filed(case, note)
    else:
        _resolve_not_filed(case, note)


_MINE = statement("""
select f.* from filings f where f.unit_id = :unit and (($standing) or f.late_verdict is not null)
order by ($standing) desc, f.id desc limit 1
""", standing=STANDING)  # fmt: skip
_ANSWER = text("""
update filings set phase = 'answered', verdict = :verdict, by_human = true, answered_at = now(), detail = :detail,
    result = cast(:result as json)
where id = :id
""")


def _resolve_filed(case: Case, note: str) -> None:
    """The filing in question is accepted; the verdict a machine may write later is only noted beside it."""
    detail = note or f"filed, says {who()}"
    result = SubmissionResult(verdict=Verdict.ACCEPTED, sentence=detail)
    mine = case.tx.execute(_MINE, {"unit": case.units[Stage.SUBMISSION].id}).one_or_none()
    standing = case.standing()
    if standing is not None and (mine is None or mine.id != standing.id) and standing.verdict in FILED:
        mine = None  # another campaign's filing is the one on the site: it speaks for this unit too
    elif standing is not None and mine is not None and mine.id != standing.id:
        raise Refused(f"{case.key} has another filing open; resolve that one first.")
    elif mine is not None:
        parameters = {"id": mine.id, "verdict": Verdict.ACCEPTED, "detail": storable(detail)}
        case.tx.execute(_ANSWER, parameters | {"result": result.model_dump_json()})
    else:
        _insert_by_hand(case, note)
    case.note(Stage.SUBMISSION, "filed", note, None, None)
    _succeed(case, result, detail)


def _resolve_not_filed(case: Case, note: str) -> None:
    """Revokes the token: its worker can no longer arm. A verdict that comes all the same still lands (R6)."""
    detail = note or f"not filed, says {who()}"
    open_filings = text(
        "update filings set phase = 'answered', verdict = 'not_sent', by_human = true, answered_at = now(), "
        "detail = :detail where unit_id = :unit and (verdict is null or verdict = 'unknown')"
    )
    case.tx.execute(open_filings, {"unit": case.units[Stage.SUBMISSION].id, "detail": storable(detail)})
    case.note(Stage.SUBMISSION, "not_filed", note, None, None)
    case.move(Stage.SUBMISSION, Event.DECIDE, State.READY, fresh=True, detail=detail)
