"""What a human decides about one publisher: re-run, approve, reject, correct, filed, not filed.

`choices` is the one table of what may be decided where; readers show it and `decide` refuses by it. Each decision is
recorded with who, when and a note. Re-materialising from Dagster's UI takes the same road (`rerun_for_operator_run`).
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row, text

from campaign_assets.errors import InputError, Refused
from campaign_assets.ledger.binding import Tx, require_tenant
from campaign_assets.ledger.campaigns import share
from campaign_assets.ledger.chain import CHAIN
from campaign_assets.ledger.filings import KNOWN_SITES
from campaign_assets.ledger.loading import filing_of
from campaign_assets.ledger.recording import Try, record
from campaign_assets.ledger.schema import STANDING
from campaign_assets.ledger.sql import statement, storable
from campaign_assets.ledger.transitions import MOVES, Move, from_moves, legal, recordset
from campaign_assets.model import Filing, Key, Reason, SubmissionResult
from campaign_assets.states import FILED, IN_WORK, Event, Stage, State, Verdict

APPROVABLE = frozenset({Reason.APPROVAL, Reason.UNSURE})
"""Holds that a human's yes settles. Everything else preflight holds on needs a value, another person, or a no."""

SETTLES = {
    Reason.CAPTCHA: "file it by hand and decide filed, or reject",
    Reason.LOGIN_REQUIRED: "file it by hand and decide filed, or reject",
    Reason.PAYMENT_REQUIRED: "pay and file it by hand and decide filed, or reject",
    Reason.RECIPROCAL_REQUIRED: "add the link and decide correct with its address, or reject",
    Reason.TERMS_NOT_ACCEPTED: "accept the terms in the profile and decide correct, or reject",
    Reason.UNANSWERABLE_QUESTION: "decide correct with the answer, or reject",
    Reason.REFUSED_VALUE: "decide correct with a value the site takes, or reject",
}
"""What settles a hold that approval does not."""


def choices(stage: Stage, state: State, reason: str | None) -> tuple[str, ...]:
    """What a human may decide about a unit that stands like this; empty where nothing."""
    if state is State.UNRESOLVED:
        return ("filed", "not_filed")
    if state is State.FAILED:
        return ("rerun",)
    if state is not State.HELD:
        return ()
    found = ["reject", "correct"]
    if stage in (Stage.PREFLIGHT, Stage.SUBMISSION):
        found.append("filed")
    if reason in APPROVABLE or (stage is Stage.SUBMISSION and reason == Reason.FILING_OPEN_ELSEWHERE):
        found.append("approve")
    if stage is not Stage.SUBMISSION:
        found.append("rerun")
    return tuple(sorted(found))


@dataclass(frozen=True)
class OperatorAnswer:
    """What an operator's run may do about one publisher: `ready` (claim it), `filed` (show the old one), or `refused`."""

    site: str
    answer: str
    sentence: str
    filing: Filing | None = None
    result: SubmissionResult | None = None


_UNIT = statement("""
with $chain select u.*, r.value as value, f.id as filing_id, f.armed_at, f.claim as filing_claim
from chain u left join results r on r.unit_id = u.id and r.version = u.version
left join lateral (select id, armed_at, claim from filings where unit_id = u.id order by id desc limit 1) f on true
order by u.position
""", chain=CHAIN)  # fmt: skip
_WRITE = statement("with input as ($recordset), $moves select id from moved", recordset=recordset(), moves=MOVES)
_NOTE = text("""
insert into decisions (campaign_id, unit_id, who, choice, note, corrections, payload_hash)
values (:campaign, :unit, :who, :choice, :note, cast(:corrections as json), :payload_hash)
""")


def who() -> str:
    """The operating system's user: whom a decision is noted for."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"


@dataclass(frozen=True)
class _Case:
    """One publisher under its locks: its units by stage, as they stand."""

    tx: Tx
    key: Key
    campaign_id: UUID
    epoch: int
    target: str
    publisher_id: int
    final_site: str
    units: Mapping[Stage, Row[Any]]

    def move(self, stage: Stage, event: Event, target: State, **values: Any) -> bool:
        """Move this publisher's unit; False where the table of transitions does not let it."""
        move = Move(self.units[stage].id, event, target, legal(event, target, stage), **values)
        return bool(self.tx.execute(_WRITE, {"moves": from_moves([move])}).all())

    def note(self, stage: Stage, choice: str, note: str, corrections: Mapping[str, str] | None, payload: str | None) -> None:
        self.tx.execute(
            _NOTE,
            {
                "campaign": self.campaign_id,
                "unit": self.units[stage].id,
                "who": who(),
                "choice": choice,
                "note": storable(note),
                "corrections": json.dumps(dict(corrections)) if corrections else None,
                "payload_hash": payload,
            },
        )

    def standing(self) -> Row[Any] | None:
        return self.tx.execute(_STANDING, {"unit": self.units[Stage.SUBMISSION].id}).one_or_none()


_STANDING = statement("""
select f.* from units u join campaigns c on c.id = u.campaign_id
join filings f on f.target = c.target and f.site in $known_sites and ($standing)
where u.id = :unit order by f.id desc limit 1
""", known_sites=KNOWN_SITES, standing=STANDING)  # fmt: skip


def _open(tx: Tx, key: Key) -> _Case:
    """Lock the publisher's campaign and units, in that order, and read them. InputError where there is none."""
    publisher = tx.execute(
        text(
            "select p.id, p.campaign_id, p.final_site from publishers p join campaigns c on c.id = p.campaign_id "
            "join tenants t on t.id = p.tenant_id where t.slug = :tenant and c.slug = :campaign and p.site = :site"
        ),
        key._asdict(),
    ).one_or_none()
    campaign = share(tx, publisher.campaign_id) if publisher else None
    if publisher is None or campaign is None:
        require_tenant(tx)
        raise InputError(f"There is no publisher {key}; `campaign units` lists a campaign's.")
    tx.execute(text("select id from units where publisher_id = :id order by id for update"), {"id": publisher.id})
    units = {Stage(row.stage): row for row in tx.execute(_UNIT, {"publishers": [publisher.id]})}
    return _Case(tx, key, campaign.id, campaign.epoch, campaign.target, publisher.id, publisher.final_site, units)


# ------------------------------------------------------------------------------------------------------------- re-runs


def rerun(tx: Tx, key: Key, stage: Stage) -> None:
    """Make a settled unit ready again; what is downstream follows as it becomes not current. Refused with the reason.

    A unit that is ready, but due later, is due now.
    """
    case = _open(tx, key)
    refusal = _why_no_rerun(case, stage)
    if refusal:
        raise Refused(refusal)
    _rerun(case, stage)


def _rerun(case: _Case, stage: Stage) -> None:
    unit = case.units[stage]
    if unit.state == State.READY:
        case.tx.execute(text("update units set due_at = least(due_at, now()) where id = :id"), {"id": unit.id})
    else:
        case.move(stage, Event.RERUN, State.READY, fresh=True, epoch=case.epoch)
    case.note(stage, "rerun", "", None, None)


def _why_no_rerun(case: _Case, stage: Stage) -> str | None:
    """The sentence that forbids a re-run, or None. Only `failed`, never armed, may be filed again (R5)."""
    unit = case.units[stage]
    state = State(unit.state)
    if state in IN_WORK:
        return f"{case.key} is in work at {stage} right now."
    if state is State.UNRESOLVED:
        return f"{case.key} is unresolved: it was perhaps filed; say `campaign resolve {case.key} --filed` or `--not-filed`."
    if stage is Stage.SUBMISSION and state in (State.SUCCEEDED, State.REJECTED, State.HELD):
        settles = SETTLES.get(unit.reason, f"decide one of {', '.join(choices(stage, state, unit.reason))}")
        said = {State.SUCCEEDED: "was filed already; it is not filed again", State.REJECTED: "was refused by the site"}
        return f"{case.key} {said.get(state, f'is held ({unit.reason}); {settles}')}."
    if stage is Stage.SUBMISSION and state is State.FAILED and unit.armed_at is not None:
        return f"{case.key} failed after its form was armed; a machine does not file it again."
    if not unit.open:
        before = next(each for each in case.units.values() if not (each.state == State.SUCCEEDED and each.current))
        return f"{case.key} cannot run at {stage}: its {before.stage} has not succeeded ({before.state})."
    if state is State.NONE:
        return f"{case.key} has not reached {stage} yet; the scheduler will take it there."
    return None


def rerun_for_operator_run(tx: Tx, campaign_id: UUID, stage: Stage, sites: Sequence[str]) -> list[OperatorAnswer]:
    """For a re-materialisation from the UI: make the named publishers' units ready where they may, else say why not."""
    campaign = share(tx, campaign_id)
    if campaign is None:
        return [OperatorAnswer(site, "refused", "There is no such campaign.") for site in sites]
    if campaign.intent != "run":
        sentence = f"{campaign.name} is {'paused' if campaign.intent == 'pause' else 'archived'}; nothing runs in it."
        return [OperatorAnswer(site, "refused", sentence) for site in sites]
    return [_answer(tx, Key(campaign.tenant, campaign.slug, site), stage) for site in sorted(sites)]


def _answer(tx: Tx, key: Key, stage: Stage) -> OperatorAnswer:
    try:
        case = _open(tx, key)
    except InputError as error:
        return OperatorAnswer(key.site, "refused", error.sentence)
    unit = case.units[stage]
    if stage is Stage.SUBMISSION and unit.state == State.SUCCEEDED:
        return _already_filed(case)
    refusal = _why_no_rerun(case, stage)
    if refusal:
        return OperatorAnswer(key.site, "refused", refusal)
    _rerun(case, stage)
    return OperatorAnswer(key.site, "ready", f"{key} is ready at {stage}.")


def _already_filed(case: _Case) -> OperatorAnswer:
    filing = case.standing()
    value = case.units[Stage.SUBMISSION].value
    result = SubmissionResult.model_validate(value) if value else None
    day = filing.answered_at.date() if filing is not None and filing.answered_at else "an earlier day"
    return OperatorAnswer(case.key.site, "filed", f"filed on {day}, not filed again", filing and filing_of(filing), result)


# ----------------------------------------------------------------------------------------------------------- decisions


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
        raise InputError("Corrections go with `correct`, as FIELD=VALUE, at least one; no other decision takes them.")
    case = _open(tx, key)
    unit = case.units[stage]
    allowed = choices(stage, State(unit.state), unit.reason)
    if choice not in allowed:
        raise Refused(_not_allowed(case, stage, choice, allowed))
    {"approve": _approve, "reject": _reject, "filed": _filed, "correct": _correct}[choice](case, stage, corrections or {}, note)


def _not_allowed(case: _Case, stage: Stage, choice: str, allowed: Sequence[str]) -> str:
    unit = case.units[stage]
    standing = f"{case.key} is {unit.state}" + (f" ({unit.reason})" if unit.reason else "") + f" at {stage}"
    if not allowed:
        return f"{standing}; there is nothing to decide."
    instead = SETTLES.get(unit.reason) or f"decide {' or '.join(allowed)}"
    return f"{standing}; {choice} does not settle that: {instead}."


def _approve(case: _Case, stage: Stage, corrections: Mapping[str, str], note: str) -> None:
    """Bound to the payload's hash: another payload needs another yes."""
    unit, preflight = case.units[stage], case.units[Stage.PREFLIGHT]
    if not (unit.open and (unit.current or stage is Stage.SUBMISSION)):
        raise Refused(f"{case.key} is being worked on anew before {stage}; approve what comes of that.")
    value = preflight.value if stage in (Stage.PREFLIGHT, Stage.SUBMISSION) else unit.value
    if not value:
        raise Refused(f"{case.key} has no result at {stage} that could be approved; decide reject or correct.")
    case.note(stage, "approve", note, None, None)
    if stage is Stage.SUBMISSION:
        case.note(Stage.PREFLIGHT, "approve", note, None, value["payload_hash"])
        case.move(stage, Event.DECIDE, State.READY, fresh=True)
        return
    if stage is Stage.PREFLIGHT:
        case.note(stage, "approve", note, None, value["payload_hash"])
    case.move(stage, Event.DECIDE, State.SUCCEEDED, detail=f"approved by {who()}")


def _reject(case: _Case, stage: Stage, corrections: Mapping[str, str], note: str) -> None:
    case.note(stage, "reject", note, None, None)
    case.move(stage, Event.DECIDE, State.REJECTED, reason=Reason.HUMAN, detail=note or f"rejected by {who()}")


def _correct(case: _Case, stage: Stage, corrections: Mapping[str, str], note: str) -> None:
    """Keep the values, have the texts written anew, and answer every refusal so far: a newer preflight may file again."""
    case.note(stage, "correct", note, corrections, None)
    case.tx.execute(
        text("update publishers set corrections = cast(cast(corrections as jsonb) || cast(:new as jsonb) as json) where id = :id"),
        {"id": case.publisher_id, "new": json.dumps({name: storable(value) for name, value in corrections.items()})},
    )
    case.tx.execute(_ANSWER_REFUSALS, {"unit": case.units[Stage.SUBMISSION].id})
    case.tx.execute(
        text("update units set consumed = -1, touched = true where id = :id and claim is null"),
        {"id": case.units[Stage.CONTENT].id},
    )
    case.move(stage, Event.DECIDE, State.READY, fresh=True, detail="corrected; it follows the new texts")


_ANSWER_REFUSALS = statement("""
update filings f set corrected_at = now() from units u join campaigns c on c.id = u.campaign_id
where u.id = :unit and f.target = c.target and f.site in $known_sites and f.verdict = 'refused' and f.corrected_at is null
""", known_sites=KNOWN_SITES)  # fmt: skip


def _filed(case: _Case, stage: Stage, corrections: Mapping[str, str], note: str) -> None:
    """A person filed it by hand."""
    if case.units[stage].state == State.UNRESOLVED:
        _resolve_filed(case, note)
        return
    standing = case.standing()
    if standing is not None:
        said = f"on {standing.answered_at.date()} ({standing.verdict})" if standing.verdict else "and that filing has no verdict yet"
        raise Refused(f"{case.key} was filed already {said}.")
    _insert_by_hand(case, note)
    case.note(stage, "filed", note, None, None)
    detail = note or f"filed by hand, says {who()}"
    if stage is Stage.PREFLIGHT:
        case.move(stage, Event.DECIDE, State.SUCCEEDED, detail=detail)
    else:
        _succeed(case, SubmissionResult(verdict=Verdict.ACCEPTED, sentence=detail), detail)


def _insert_by_hand(case: _Case, note: str) -> None:
    sentence = note or f"filed by hand, says {who()}"
    result = SubmissionResult(verdict=Verdict.ACCEPTED, sentence=sentence)
    case.tx.execute(
        text("""
insert into filings (unit_id, target, site, claim, epoch, phase, verdict, detail, by_human, preflight_version, result, answered_at)
values (:unit, :target, :site, :claim, :epoch, 'answered', 'accepted', :detail, true, :version, cast(:result as json), now())
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


def _succeed(case: _Case, result: SubmissionResult, detail: str) -> None:
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
    case = _open(tx, key)
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


def _resolve_filed(case: _Case, note: str) -> None:
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


def _resolve_not_filed(case: _Case, note: str) -> None:
    """Revokes the token: its worker can no longer arm. A verdict that comes all the same still lands (R6)."""
    detail = note or f"not filed, says {who()}"
    open_filings = text(
        "update filings set phase = 'answered', verdict = 'not_sent', by_human = true, answered_at = now(), detail = :detail "
        "where unit_id = :unit and (verdict is null or verdict = 'unknown')"
    )
    case.tx.execute(open_filings, {"unit": case.units[Stage.SUBMISSION].id, "detail": storable(detail)})
    case.note(Stage.SUBMISSION, "not_filed", note, None, None)
    case.move(Stage.SUBMISSION, Event.DECIDE, State.READY, fresh=True, detail=detail)
