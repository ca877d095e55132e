"""Commands that only look: status, attention, units, show, report. Every number is derived by the ledger when asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from campaign_assets.cli import settling
from campaign_assets.cli.opened import open_campaign, open_key, open_ledger, write_file
from campaign_assets.cli.printing import (
    as_json,
    clean,
    counted,
    moment,
    print_json,
    print_table,
)
from campaign_assets.settings import Settings
from campaign_assets.states import Stage, State

if TYPE_CHECKING:
    from campaign_assets.ledger.reading import CampaignStatus

STATUS_FIELDS = (
    "tenant", "campaign", "sentence", "status", "intent", "epoch",
    "attention", "moving", "last_progress_at", "done", "stages",
)  # fmt: skip


@click.command()
@click.argument("slug", required=False)
@as_json
def status(slug: str | None, as_json: bool) -> None:
    """How each campaign stands: running, needing attention, or not moving and why."""
    found = _statuses(slug)
    if as_json:
        print_json([{name: getattr(one, name) for name in STATUS_FIELDS} for one in found])
        return
    for one in found:
        print_status(one)
    if not found:
        click.echo(
            "No campaign yet; make one with `campaign new`, or see the whole thing with `campaign demo`."
        )
        demo = Settings.from_environment().home / "demo"
        if demo.exists():
            click.echo(f"The demo has a home of its own: CAMPAIGN_HOME={demo} campaign status")


def _statuses(slug: str | None) -> list[CampaignStatus]:
    from campaign_assets.ledger import reading
    from campaign_assets.ledger.campaigns import campaigns

    if slug:
        with open_campaign(slug) as (tx, campaign):
            return [reading.status(tx, campaign)]
    found = []
    with open_ledger() as ledger:
        for tenant in ledger.tenants():
            with ledger.bound(tenant.id) as tx:
                found += [reading.status(tx, campaign) for campaign in campaigns(tx)]
    return sorted(found, key=lambda one: (one.tenant, one.campaign))


def print_status(one: CampaignStatus) -> None:
    """The sentence, then the counts of each stage in the states that occur."""
    click.echo(f"{clean(one.tenant)}/{clean(one.campaign)}: {clean(one.sentence)}")
    shown = [
        state
        for state in State
        if state is not State.NONE and any(counts.get(state) for counts in one.stages.values())
    ]
    if shown:
        rows = [(stage, *(counts.get(state, 0) for state in shown)) for stage, counts in one.stages.items()]
        print_table(["stage", *shown], rows, "  ")
    click.echo(f"  epoch {one.epoch}, last progress {moment(one.last_progress_at) or 'none yet'}")
    click.echo()


@click.command()
@click.argument("slug", required=False)
@as_json
def attention(slug: str | None, as_json: bool) -> None:
    """What waits for a human, why, and the commands that settle it."""
    found = _attention(slug)
    if as_json:
        print_json(found)
        return
    for unit in found:
        print_attention(unit)
    click.echo(
        f"{counted(len(found), 'publisher')} {'needs' if len(found) == 1 else 'need'} attention."
        if found
        else "Nothing waits for you."
    )


def _attention(slug: str | None) -> list[dict[str, Any]]:
    from campaign_assets.ledger import reading

    if slug:
        with open_campaign(slug) as (tx, campaign):
            return reading.attention(tx, campaign.id)
    found = []
    with open_ledger() as ledger:
        for tenant in ledger.tenants():
            with ledger.bound(tenant.id) as tx:
                found += reading.attention(tx)
    return found


def print_attention(unit: Mapping[str, Any]) -> None:
    """One unit: where it stands, its sentence, what to type."""
    click.echo(
        f"{clean(unit['key'])}  {unit['stage']} {unit['state']} ({unit['reason']}), since {moment(unit['since'])}"
    )
    click.echo(f"  {clean(unit['detail'])}")
    for command in settling.commands(unit):
        click.echo(f"  $ {clean(command)}")


@click.command()
@click.argument("slug")
@click.option("--stage", type=click.Choice([stage.value for stage in Stage]))
@click.option("--state", type=click.Choice([state.value for state in State]))
@as_json
def units(slug: str, stage: str | None, state: str | None, as_json: bool) -> None:
    """The units of SLUG, of one stage or in one state."""
    from campaign_assets.ledger import reading

    with open_campaign(slug) as (tx, campaign):
        found = reading.units(
            tx, campaign.id, Stage(stage) if stage else None, State(state) if state else None
        )
    if as_json:
        print_json(found)
        return
    rows = [
        (u["key"], u["stage"], u["state"], u["attempts"], u["reason"], moment(u["due_at"]), u["detail"])
        for u in found
    ]
    print_table(["key", "stage", "state", "attempts", "reason", "due", "detail"], rows)


@click.command()
@click.argument("key")
@as_json
def show(key: str, as_json: bool) -> None:
    """Everything about one publisher: stages, attempts, filings, evidence.

    KEY is tenant/campaign/site."""
    from campaign_assets.cli.publisher import print_publisher
    from campaign_assets.ledger import reading

    with open_key(key) as (tx, publisher):
        found = reading.show(tx, publisher)
    if as_json:
        print_json(found)
    else:
        print_publisher(found)


@click.command()
@click.argument("slug")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "csv", "json"]),
    help="Default: by the ending of FILE, else html.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Default: standard output."
)
@as_json
def report(slug: str, form: str | None, output: Path | None, as_json: bool) -> None:
    """What became of each publisher of SLUG, and why."""
    from campaign_assets.cli.reporting import render

    form = "json" if as_json else form or _ending(output)
    with open_campaign(slug) as (tx, campaign):
        text = render(tx, campaign, form, Settings.from_environment())
    if output:
        write_file(output, text)
        click.echo(f"Written to {output}.", err=True)
    else:
        click.echo(text, nl=False)


def _ending(output: Path | None) -> str:
    ending = output.suffix.lstrip(".").lower() if output else ""
    return ending if ending in ("html", "csv", "json") else "html"


COMMANDS = (status, attention, units, show, report)
