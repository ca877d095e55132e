"""`campaign forms map`: what the mapper makes of a form, in a file or on a site."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from campaign_assets.cli.opened import read_file
from campaign_assets.cli.printing import as_json, clean, print_json, print_table
from campaign_assets.errors import SiteError
from campaign_assets.settings import Resolve, Settings

if TYPE_CHECKING:
    from campaign_assets.web.browser import Browser

NOWHERE = Resolve("127.0.0.1", 9, 9)


@click.group()
def forms() -> None:
    """What the mapper makes of a submission form."""


@forms.command("map")
@click.argument("places", nargs=-1, required=True, metavar="FILE|URL…")
@as_json
def map_forms(places: tuple[str, ...], as_json: bool) -> None:
    """Every control of each document in its order, with the profile field or action chosen for it.

    A FILE is shown by the same browser without its network. With --json: one object, or a list with `file` for several.
    Ends with 1 where one of several could not be shown; the others are mapped.
    """
    found = asyncio.run(_mapped(places))
    if as_json:
        print_json(found[0][1] if len(found) == 1 else [{"file": place, **answer} for place, answer in found])
    else:
        _print(found)
    if any("error" in answer for _, answer in found):
        raise click.exceptions.Exit(1)


def _print(found: list[tuple[str, dict[str, Any]]]) -> None:
    for place, answer in found:
        if "error" in answer:
            click.echo(f"{clean(place)}: {clean(answer['error'])}", err=True)
            continue
        click.echo(
            f"{clean(place)}: {'no form' if answer['form'] is None else 'form ' + str(answer['form'])}"
        )
        rows = [
            (
                c["index"],
                c["name"],
                c["type"],
                c["field"] or "-",
                c["action"],
                f"{c['confidence']:.2f}",
                c["why"],
            )
            for c in answer["controls"]
        ]
        print_table(["#", "name", "type", "field", "action", "sure", "why"], rows, "  ")


async def _mapped(places: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    from campaign_assets.web.browser import Browser
    from campaign_assets.web.network import Network

    settings = Settings.from_environment()
    # For files every connection leads to a port where nothing listens: what they name is not fetched.
    online, offline = Browser(Network(settings)), Browser(Network(replace(settings, resolve=NOWHERE)))
    try:
        return [
            (place, await _tried(online if _is_url(place) else offline, place, len(places)))
            for place in places
        ]
    finally:
        await online.close()
        await offline.close()


async def _tried(browser: Browser, place: str, of: int) -> dict[str, Any]:
    """The answer for one of `of` places; a place that fails among others is told, and does not end them."""
    try:
        return await _map(browser, place)
    except SiteError as error:
        if of == 1:
            raise
        return {"form": None, "controls": [], "error": error.sentence}


async def _map(browser: Browser, place: str) -> dict[str, Any]:
    from campaign_assets.stages.form_mapping import map_document
    from campaign_assets.web.still import show

    content = None if _is_url(place) else read_file(Path(place), "page")
    async with browser.tab() as tab:
        if content is None:
            await tab.open(place)
        else:
            await show(tab, content)
        result = map_document(await tab.read())
    return {"form": result.form, "controls": [control.model_dump(mode="json") for control in result.controls]}


def _is_url(place: str) -> bool:
    return place.startswith(("http://", "https://"))


COMMANDS = (forms,)
