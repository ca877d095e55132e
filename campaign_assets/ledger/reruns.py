"""Running a publisher's stage once more because a human says so: from the command, or re-materialised in Dagster's UI.

Refuses, in a sentence, what would file a form twice, and what cannot run because a stage before it has not succeeded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from campaign_assets.errors import InputError, Refused
from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.campaigns import share
from campaign_assets.ledger.case import Case, open_case
from campaign_assets.ledger.choices import SETTLES, choices
from campaign_assets.ledger.loading import filing_of
from campaign_assets.model import Filing, Key, SubmissionResult
from campaign_assets.states import IN_WORK, Event, Stage, State


@dataclass(frozen=True)
class OperatorAnswer:
    """What an operator's run may do about one publisher: `ready` (claim it), `filed` (show the old one), or
    `refused`.
    """

    site: str
    answer: str
    sentence: str
    filing: Filing | None = None
    result: SubmissionResult | None = None


def rerun(tx: Tx, key: Key, stage: Stage) -> None:
    """Make a settled unit ready again; what is downstream follows as it becomes not current. Refused with the reason.

    A unit that is ready, but due later, is due now.
    """
    case = open_case(tx, key)
    refusal = _why_no_rerun(case, stage)
    if refusal:
        raise Refused(refusal)
    _rerun(case, stage)


def _rerun(case: Case, stage: Stage) -> None:
    unit = case.units[stage]
    if unit.state == State.READY:
        case.tx.execute(
            text("update units set due_at = least(due_at, now()) where id = :id"), {"id": unit.id}
        )
    else:
        case.move(stage, Event.RERUN, State.READY, fresh=True, epoch=case.epoch)
    case.note(stage, "rerun", "", None, None)


def _why_no_rerun(case: Case, stage: Stage) -> str | None:
    """The sentence that forbids a re-run, or None. Only `failed`, never armed, may be filed again (R5)."""
    unit = case.units[stage]
    state = State(unit.state)
    if state in IN_WORK:
        return f"{case.key} is in work at {stage} right now."
    if state is State.UNRESOLVED:
        say = f"`campaign resolve {case.key} --filed` or `--not-filed`"
        return f"{case.key} is unresolved: it was perhaps filed; say {say}."
    if stage is Stage.SUBMISSION and state in (State.SUCCEEDED, State.REJECTED, State.HELD):
        settles = SETTLES.get(unit.reason, f"decide one of {', '.join(choices(stage, state, unit.reason))}")
        said = {
            State.SUCCEEDED: "was filed already; it is not filed again",
            State.REJECTED: "was refused by the site",
        }
        return f"{case.key} {said.get(state, f'is held ({unit.reason}); {settles}')}."
    if stage is Stage.SUBMISSION and state is State.FAILED and unit.armed_at is not None:
        return f"{case.key} failed after its form was armed; a machine does not file it again."
    if not unit.open:
        before = next(
            each for each in case.units.values() if not (each.state == State.SUCCEEDED and each.current)
        )
        return f"{case.key} cannot run at {stage}: its {before.stage} has not succeeded ({before.state})."
    if state is State.NONE:
        return f"{case.key} has not reached {stage} yet; the scheduler will take it there."
    return None


def rerun_for_operator_run(
    tx: Tx, campaign_id: UUID, stage: Stage, sites: Sequence[str]
) -> list[OperatorAnswer]:
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
        case = open_case(tx, key)
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


def _already_filed(case: Case) -> OperatorAnswer:
    filing = case.standing()
    value = case.units[Stage.SUBMISSION].value
    result = SubmissionResult.model_validate(value) if value else None
    day = filing.answered_at.date() if filing is not None and filing.answered_at else "an earlier day"
    return OperatorAnswer(
        case.key.site, "filed", f"filed on {day}, not filed again", filing and filing_of(filing), result
    )
