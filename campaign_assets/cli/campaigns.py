"""Commands that make a campaign and tell it what to do: new, start, pause, restart, archive."""

from __future__ import annotations

from pathlib import Path

import click

from campaign_assets.cli.opened import log_act, open_campaign, open_ledger
from campaign_assets.cli.printing import counted
from campaign_assets.settings import Settings


@click.command()
@click.argument("slug")
@click.option(
    "--tenant", required=True, metavar="T", help="The client organisation's slug; made when it is new."
)
@click.option(
    "--profile",
    "profile_path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The business, as YAML.",
)
@click.option(
    "--source", "source_paths", required=True, multiple=True, type=click.Path(path_type=Path), metavar="FILE",
    help="A list of publishers: CSV, JSON, Markdown or HTML. May be given several times.",
)  # fmt: skip
@click.option(
    "--approval", type=click.Choice(["each", "by_exception", "automatic"]), default="by_exception", show_default=True,
    help="Which payloads a human approves before they are filed.",
)  # fmt: skip
@click.option(
    "--bar",
    type=click.IntRange(0, 100),
    default=35,
    show_default=True,
    help="Publishers that score below are rejected.",
)
def new(
    slug: str, tenant: str, profile_path: Path, source_paths: tuple[Path, ...], approval: str, bar: int
) -> None:
    """Create campaign SLUG from a business profile and lists of publishers.

    Everything is read and checked before anything is written. `campaign start` then sets it going.
    """
    from campaign_assets.cli.sources import Given
    from campaign_assets.ledger.campaigns import add_source, create_campaign
    from campaign_assets.model import Approval, CampaignSettings
    from campaign_assets.model import slug as checked
    from campaign_assets.profile import load_profile
    from campaign_assets.web.sites import registrable

    checked(tenant, "The tenant")
    checked(slug, "The campaign")
    business = load_profile(profile_path)
    given = [Given.read(path) for path in source_paths]
    with open_ledger() as ledger, ledger.bound(tenant) as tx:
        settings = CampaignSettings(approval=Approval(approval), bar=bar)
        campaign = create_campaign(tx, tenant, slug, business, settings, registrable(business.url))
        for source in given:
            add_source(tx, campaign.id, source.name, source.content)
    log_act("campaign made", tenant=tenant, campaign=slug)
    sites = len({entry.site for source in given for entry in source.entries})
    rejected = sum(len(source.rejected) for source in given)
    click.echo(
        f"Campaign {tenant}/{slug} for {business.name}: "
        f"{counted(sites, 'publisher')}, {counted(rejected, 'rejected line')}."
    )
    click.echo(f"Start it with: campaign start {tenant}/{slug}")


@click.command()
@click.argument("slug")
def start(slug: str) -> None:
    """Let SLUG run, for the first time or after a pause."""
    from campaign_assets.ledger import operators

    with open_campaign(slug) as (tx, campaign):
        operators.start(tx, campaign)
    log_act("campaign started", tenant=campaign.tenant, campaign=campaign.slug)
    click.echo(f"{campaign.tenant}/{campaign.slug} runs, as long as `campaign up` does.")
    remind_of_contact(Settings.from_environment())


@click.command()
@click.argument("slug")
def pause(slug: str) -> None:
    """Claim no more work for SLUG; what is in work ends as usual."""
    from campaign_assets.ledger import operators

    with open_campaign(slug) as (tx, campaign):
        operators.pause(tx, campaign)
    log_act("campaign paused", tenant=campaign.tenant, campaign=campaign.slug)
    click.echo(f"{campaign.tenant}/{campaign.slug} is paused.")


@click.command()
@click.argument("slug")
def restart(slug: str) -> None:
    """Run all stages of SLUG again, in a new epoch.

    What was filed stays filed and is not filed again."""
    from campaign_assets.ledger import operators

    with open_campaign(slug) as (tx, campaign):
        epoch = operators.restart(tx, campaign)
    log_act("campaign restarted", tenant=campaign.tenant, campaign=campaign.slug, epoch=epoch)
    click.echo(f"{campaign.tenant}/{campaign.slug} starts over in epoch {epoch}.")


@click.command()
@click.argument("slug")
def archive(slug: str) -> None:
    """End SLUG for good. Refused while a filing is unresolved.

    Its keys leave Dagster; its filings are kept."""
    from campaign_assets.ledger import operators

    with open_campaign(slug) as (tx, campaign):
        operators.archive(tx, campaign)
    log_act("campaign archived", tenant=campaign.tenant, campaign=campaign.slug)
    click.echo(f"{campaign.tenant}/{campaign.slug} is archived.")


def remind_of_contact(settings: Settings) -> None:
    """Say it where no site would be asked anything, because requests could not name who makes them."""
    if not settings.contact and not settings.resolve:
        click.echo(
            "CAMPAIGN_CONTACT is not set: no site is visited before `campaign up` has it, "
            "an address at which site owners reach you.",
            err=True,
        )


COMMANDS = (new, start, pause, restart, archive)
