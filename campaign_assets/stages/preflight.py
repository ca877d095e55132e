"""Preflight: the exact payload is assembled and checked, and an existing listing is looked for. Nothing is
filed here.

What only a human can settle is held with the sentence that says how; the hold carries the payload, so that a
human can approve exactly that one: an approval is the payload's hash.
"""

from __future__ import annotations

from campaign_assets.model import (
    Approval,
    Check,
    DiscoveryResult,
    FormMappingResult,
    Obstacle,
    Outcome,
    Payload,
    PreflightResult,
    Reason,
    Unit,
)
from campaign_assets.stages.checks import checks
from campaign_assets.stages.existing import Lookup, find_listing
from campaign_assets.stages.payload import Assembled, assemble
from campaign_assets.stages.questions import CHOICES, Question
from campaign_assets.stages.tools import Tools

_ORDER = (
    Reason.LOGIN_REQUIRED,
    Reason.CAPTCHA,
    Reason.PAYMENT_REQUIRED,
    Reason.RECIPROCAL_REQUIRED,
    Reason.UNANSWERABLE_QUESTION,
    Reason.TERMS_NOT_ACCEPTED,
    Reason.NO_FORM,
)
"""Of several obstacles, the one that a hold is named after."""


async def preflight(unit: Unit, tools: Tools) -> Outcome:
    """Succeed with the payload that submission will file, or with the listing that is there already; else hold."""
    looked = await find_listing(tools.fetcher, unit.result(DiscoveryResult).final_url, unit.business)
    if looked.listing:
        return Outcome.succeed(_already(looked), looked.sentence)
    return judge(unit, assemble(unit), looked)


def judge(unit: Unit, assembled: Assembled, looked: Lookup) -> Outcome:
    """What becomes of an assembled payload. Pure: the same unit and lookup give the same outcome."""
    payload = assembled.payload
    if payload is None:
        return _hold_on(assembled.obstacles or (_NO_BUTTON,), None)
    result = PreflightResult(
        payload=payload, payload_hash=payload.hash, checks=_all_checks(unit, assembled, payload, looked)
    )
    if assembled.obstacles:
        return _hold_on(assembled.obstacles, result)
    if assembled.unanswered:
        return Outcome.hold(Reason.UNANSWERABLE_QUESTION, _unanswered(assembled), result)
    failed = [check for check in result.checks if not check.passed and check.name != "sure"]
    if failed:
        return Outcome.hold(
            Reason.UNSURE,
            f"{' '.join(check.sentence for check in failed)} A correction of the field settles it.",
            result,
        )
    return _approved(unit, payload, result)


_NO_BUTTON = Obstacle(
    reason=Reason.NO_FORM,
    sentence="There is no form that a machine could file; a person has to do it by hand.",
)


def _approved(unit: Unit, payload: Payload, result: PreflightResult) -> Outcome:
    """The campaign's rule of approval over a payload that passes its checks."""
    done = f"{len(payload.entries)} controls filled for {payload.url}; all checks passed."
    if unit.approved_payload == payload.hash or unit.settings.approval is Approval.AUTOMATIC:
        return Outcome.succeed(result, done)
    if unit.settings.approval is Approval.EACH:
        return Outcome.hold(
            Reason.APPROVAL, "This campaign wants each payload approved: look at it and approve it.", result
        )
    unsure = [entry for entry in payload.entries if entry.confidence < unit.settings.sure_above]
    if unsure:
        names = ", ".join(
            f"{entry.name or entry.index} as {entry.field} ({entry.confidence:.2f})" for entry in unsure
        )
        return Outcome.hold(
            Reason.UNSURE, f"Not sure enough: {names}. Approve the payload, or correct the field.", result
        )
    return Outcome.succeed(result, done)


def _all_checks(unit: Unit, assembled: Assembled, payload: Payload, looked: Lookup) -> tuple[Check, ...]:
    document = unit.result(FormMappingResult).document
    least = min(payload.entries, key=lambda e: (e.confidence, e.index), default=None)
    sure = least is None or least.confidence >= unit.settings.sure_above
    word = (
        f"The least sure control is {least.name or least.index} as {least.field}, {least.confidence:.2f}."
        if least
        else "Nothing is filled."
    )
    return (
        *checks(assembled, payload, document),
        Check(
            name="obstacles",
            passed=not assembled.obstacles,
            sentence=_sentences(assembled.obstacles) or "Nothing needs a person.",
        ),
        Check(name="listed already", passed=True, sentence=looked.sentence),
        Check(name="sure", passed=sure, sentence=word),
    )


def _hold_on(found: tuple[Obstacle, ...], result: PreflightResult | None) -> Outcome:
    first = min(found, key=lambda o: _ORDER.index(o.reason) if o.reason in _ORDER else len(_ORDER))
    return Outcome.hold(first.reason, _sentences((first, *(o for o in found if o is not first))), result)


def _sentences(found: tuple[Obstacle, ...]) -> str:
    return " ".join(o.sentence for o in found)


def _unanswered(assembled: Assembled) -> str:
    return " ".join(_unanswered_question(q) for q in assembled.unanswered)


def _unanswered_question(question: Question) -> str:
    if question.type in CHOICES:
        return (
            f"The form requires a choice at “{question.words}”, and none of its options is close to the profile; "
            "a correction settles it."
        )
    return (
        f"The form requires “{question.words}”, which the profile does not give; add it to the profile, "
        "or correct the field."
    )


def _already(looked: Lookup) -> PreflightResult:
    found = Check(name="listed already", passed=True, sentence=looked.sentence)
    return PreflightResult(payload=None, payload_hash="", checks=(found,), existing_listing=looked.listing)
