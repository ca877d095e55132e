"""`campaign sources`: what a list of publishers yields, and giving another one to a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from campaign_assets.cli.opened import log_act, open_campaign, read_file
from campaign_assets.cli.printing import as_json, clean, counted, print_json, print_table
from campaign_assets.errors import InputError

if TYPE_CHECKING:
    from campaign_assets.model import RejectedLine, SourceEntry


class Given(NamedTuple):
    """One source as a user gave it, read to its end."""

    name: str
    content: bytes
    entries: list[SourceEntry]
    rejected: list[RejectedLine]

    @classmethod
    def read(cls, path: Path) -> Given:
        """Read the list in `path`; InputError where it is no list, or names no site at all."""
        from campaign_assets.model import RejectedLine, SourceEntry
        from campaign_assets.stages.sources import read

        content = read_file(path, "source")
        items = list(read(content, path.name))
        given = cls(
            path.name,
            content,
            [item for item in items if isinstance(item, SourceEntry)],
            [item for item in items if isinstance(item, RejectedLine)],
        )
        if not given.entries:
            raise InputError(
                f"The source {path} names no website; give a list with one address an entry.",
                tuple(f"line {line.line}: {line.reason}: {line.text}" for line in given.rejected[:20]),
            )
        return given


@click.group()
def sources() -> None:
    """Lists of publishers."""


@sources.command()
@click.argument("file", type=click.Path(path_type=Path))
@as_json
def read(file: Path, as_json: bool) -> None:
    """What FILE yields: each site once, and each rejected line with its reason. Writes nothing, asks no site."""
    given = Given.read(file)
    if as_json:
        print_json(
            {
                "sites": [
                    {"site": e.site, "url": e.url, "line": e.line, "name": e.name} for e in given.entries
                ],
                "rejected": [line._asdict() for line in given.rejected],
            }
        )
        return
    print_table(["line", "site", "name", "url"], [(e.line, e.site, e.name, e.url) for e in given.entries])
    click.echo()
    if given.rejected:
        print_table(
            ["line", "rejected because", "text"],
            [(line.line, line.reason, line.text) for line in given.rejected],
        )
        click.echo()
    click.echo(f"{counted(len(given.entries), 'site')}, {counted(len(given.rejected), 'rejected line')}.")


@sources.command()
@click.argument("slug")
@click.argument("file", type=click.Path(path_type=Path))
def add(slug: str, file: Path) -> None:
    """Give campaign SLUG another list, or a list that grew; only publishers that are new are added."""
    from campaign_assets.ledger.campaigns import add_source

    given = Given.read(file)
    with open_campaign(slug) as (tx, campaign):
        fresh = add_source(tx, campaign.id, given.name, given.content)
    log_act("source added", tenant=campaign.tenant, campaign=campaign.slug, source=given.name, fresh=fresh)
    name = f"{clean(campaign.tenant)}/{clean(campaign.slug)}"
    if fresh:
        click.echo(
            f"{name} has the source {clean(given.name)} with {counted(len(given.entries), 'site')}; "
            "discovery adds those that are new."
        )
    else:
        click.echo(f"{name} had this very list already; nothing is added.")


COMMANDS = (sources,)
