"""The jobs: one a stage, started by the scheduler, and those by which an operator changes the ledger from the
UI.

An operator's job is one op with a configuration; it does exactly what the command of the same name does.
Refusals of the ledger fail the run with their sentence.
"""

# No `from __future__ import annotations`: Dagster reads the annotation of `config` as a class.
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from dagster import Config, Failure, OpExecutionContext, define_asset_job, in_process_executor, job, op
from pydantic import Field

from campaign_assets.errors import InputError, UserError
from campaign_assets.ledger import Ledger, campaigns, operators
from campaign_assets.model import Key
from campaign_assets.settings import Settings
from campaign_assets.states import Stage

Word = TypeVar("Word", bound=StrEnum)


def stage_job(stage: Stage) -> Any:
    """The job whose runs work on one stage of one campaign."""
    description = (
        f"One run of {stage}: pulls due publishers of one campaign, page by page. Started by the scheduler."
    )
    return define_asset_job(
        f"{stage}_run", selection=[str(stage)], description=description, executor_def=in_process_executor
    )


STAGE_JOBS = {stage: stage_job(stage) for stage in Stage}


class Choice(StrEnum):
    """What a person may say about a held publisher."""

    APPROVE = "approve"
    REJECT = "reject"
    FILED = "filed"
    CORRECT = "correct"


def _listed(words: type[StrEnum]) -> str:
    return ", ".join(words)


STAGE_CHOICES = f"One of {_listed(Stage)}."
"""Stage and choice are texts in the configuration, so that they are written as everywhere else: as an enumeration,
Dagster would take only the upper-case names of our code."""


class RestartConfig(Config):
    campaign: str = Field(
        description="The campaign: its slug, or tenant/slug where two tenants use the same."
    )


class RerunConfig(Config):
    key: str = Field(description="The publisher's key: tenant/campaign/site.")
    stage: str = Field(description=f"The stage to run again; those after it follow. {STAGE_CHOICES}")


class ResolveConfig(Config):
    key: str = Field(description="The publisher's key: tenant/campaign/site.")
    filed: bool = Field(description="Whether the form was filed, as you have seen on the publisher's site.")
    note: str = Field(description="What you saw, for the record.")


class DecideConfig(Config):
    key: str = Field(description="The publisher's key: tenant/campaign/site.")
    stage: str = Field(description=f"The stage that waits for the decision. {STAGE_CHOICES}")
    choice: str = Field(
        description="approve: go on; reject: not for this campaign; filed: you filed by hand; correct: with values."
    )
    corrections: dict[str, str] = Field(
        default={}, description="Profile field to corrected value, for `correct`."
    )
    note: str = Field(default="", description="Why, for the record.")


def _word(words: type[Word], said: str) -> Word:
    """The member that is meant, in whatever case; InputError lists them."""
    try:
        return words(said.strip().lower())
    except ValueError as error:
        raise InputError(f"{said!r} is no {words.__name__.lower()}; give one of {_listed(words)}.") from error


def _operate(context: OpExecutionContext, act: Callable[[Ledger], str]) -> None:
    """Open the ledger, act, say what was done; a refusal is the run's red sentence."""
    try:
        ledger = Ledger.open(Settings.from_environment())
        try:
            context.log.info(act(ledger))
        finally:
            ledger.dispose()
    except UserError as error:
        raise Failure(error.sentence, allow_retries=False) from error


@op
def restart_campaign(context: OpExecutionContext, config: RestartConfig) -> None:
    """Begins the campaign anew: its epoch moves on, every stage runs again; filings stay."""

    def act(ledger: Ledger) -> str:
        campaign = campaigns.find_campaign(ledger, config.campaign)
        with ledger.bound(campaign.tenant) as tx:
            epoch = operators.restart(tx, campaign)
        return f"{campaign.tenant}/{campaign.slug} begins epoch {epoch}."

    _operate(context, act)


@op
def rerun_publisher(context: OpExecutionContext, config: RerunConfig) -> None:
    """Makes one publisher ready again at a stage. Submission: only where it failed and nothing was ever sent."""

    def act(ledger: Ledger) -> str:
        key = Key.parse(config.key)
        stage = _word(Stage, config.stage)
        with ledger.bound(key.tenant) as tx:
            operators.rerun(tx, key, stage)
        return f"{key} is ready again at {stage}."

    _operate(context, act)


@op
def resolve_filing(context: OpExecutionContext, config: ResolveConfig) -> None:
    """Settles a filing whose end nobody knows: filed, or not filed (it may then be filed again)."""

    def act(ledger: Ledger) -> str:
        key = Key.parse(config.key)
        with ledger.bound(key.tenant) as tx:
            operators.resolve(tx, key, config.filed, config.note)
        return f"{key} is {'filed' if config.filed else 'not filed'}, by your word."

    _operate(context, act)


@op
def decide_publisher(context: OpExecutionContext, config: DecideConfig) -> None:
    """Answers a publisher that is held: approve, reject, filed by hand, or correct its values."""

    def act(ledger: Ledger) -> str:
        key = Key.parse(config.key)
        stage, choice = _word(Stage, config.stage), _word(Choice, config.choice)
        with ledger.bound(key.tenant) as tx:
            operators.decide(tx, key, stage, str(choice), config.corrections, config.note)
        return f"{key} at {stage}: {choice}."

    _operate(context, act)


@job(
    description="Begin a campaign anew. Publishers, corrections and filings stay; everything else runs again."
)
def restart() -> None:
    restart_campaign()


@job(description="Run one publisher again from a stage on.")
def rerun() -> None:
    rerun_publisher()


@job(description="Say whether an unresolved filing was filed.")
def resolve() -> None:
    resolve_filing()


@job(description="Decide about a held publisher.")
def decide() -> None:
    decide_publisher()


OPERATOR_JOBS = [restart, rerun, resolve, decide]
