"""Commands by which a human settles what waits: decide, resolve, rerun."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from campaign_assets.cli.opened import log_act, open_key
from campaign_assets.cli.printing import clean
from campaign_assets.errors import InputError
from campaign_assets.states import Stage

if TYPE_CHECKING:
    from campaign_assets.model import Key

_stage = click.Choice([stage.value for stage in Stage])
_note = click.option("--note", default="", metavar="TEXT", help="Why; kept with the decision.")


@click.command()
@click.argument("key")
@click.option("--stage", required=True, type=_stage)
@click.argument("choice", type=click.Choice(["approve", "reject", "filed", "correct"]))
@click.argument("corrections", nargs=-1, metavar="[FIELD=VALUE]…")
@_note
def decide(key: str, stage: str, choice: str, corrections: tuple[str, ...], note: str) -> None:
    """Settle a held unit. KEY is tenant/campaign/site.

    approve: file the payload as it was shown. reject: leave this publisher out. filed: a person has filed the form by
    hand. correct: use these values for this publisher instead, and prepare its payload again.
    """
    from campaign_assets.ledger import operators

    values = _corrections(choice, corrections)
    with open_key(key) as (tx, publisher):
        operators.decide(tx, publisher, Stage(stage), choice, values, note)
    _log("decided", publisher, stage=stage, choice=choice, note=note)
    click.echo(f"{clean(publisher)}: {stage}: {choice}.")


def _corrections(choice: str, given: tuple[str, ...]) -> dict[str, str]:
    if (choice == "correct") != bool(given):
        raise InputError(
            'Give FIELD=VALUE with `correct`, for example `correct title="Acme"`, and with nothing else.'
        )
    pairs = [text.partition("=") for text in given]
    wrong = tuple(
        f"{text!r} is not FIELD=VALUE"
        for text, (field, equals, _) in zip(given, pairs, strict=True)
        if not (field and equals)
    )
    if wrong:
        raise InputError("A correction reads FIELD=VALUE.", wrong)
    return {field: value for field, _, value in pairs}


@click.command()
@click.argument("key")
@click.option("--filed/--not-filed", "filed", default=None, help="Whether the form has reached the site.")
@_note
def resolve(key: str, filed: bool | None, note: str) -> None:
    """Say what became of an unresolved filing.

    KEY is tenant/campaign/site. Look at the site first. After --not-filed the form may be filed again.
    """
    from campaign_assets.ledger import operators

    if filed is None:
        raise InputError("Say --filed or --not-filed.")
    with open_key(key) as (tx, publisher):
        operators.resolve(tx, publisher, filed, note)
    _log("resolved", publisher, stage=Stage.SUBMISSION, filed=filed, note=note)
    click.echo(f"{clean(publisher)}: {'filed' if filed else 'not filed; it may be filed again'}.")


@click.command()
@click.argument("key")
@click.option("--from", "stage", required=True, type=_stage, help="The first stage to run again.")
def rerun(key: str, stage: str) -> None:
    """Run a publisher again from a stage on.

    KEY is tenant/campaign/site. What may have been filed is not filed again."""
    from campaign_assets.ledger import operators

    with open_key(key) as (tx, publisher):
        operators.rerun(tx, publisher, Stage(stage))
    _log("rerun", publisher, stage=stage)
    click.echo(f"{clean(publisher)}: {stage} is ready again.")


def _log(act: str, key: Key, **about: object) -> None:
    log_act(act, tenant=key.tenant, campaign=key.campaign, key=str(key), **about)


COMMANDS = (decide, resolve, rerun)
