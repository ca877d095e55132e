"""Reads the lists that campaigns start from: bytes and a name in, one item for each entry or rejected line
out, in order.

The same bytes always give the same items, so a cursor is the number of items consumed: `islice(read(…),
cursor, None)`. Owns which site an entry is (`web.sites`) and that each comes once; what the bytes are is
decided in `formats`, what a record or a link means in `records` and `links`. Refuses files that are no
text, and never guesses an address that is not written there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from campaign_assets.errors import InputError
from campaign_assets.model import RejectedLine, SourceEntry
from campaign_assets.stages.sources.addresses import Candidate, NoAddress, site_of
from campaign_assets.stages.sources.formats import Format, decoded, format_of
from campaign_assets.stages.sources.json_lists import json_candidates
from campaign_assets.stages.sources.markdown import markdown_candidates
from campaign_assets.stages.sources.pages import html_candidates
from campaign_assets.stages.sources.records import csv_candidates

_READERS = {
    Format.CSV: csv_candidates,
    Format.JSON: json_candidates,
    Format.MARKDOWN: markdown_candidates,
    Format.HTML: html_candidates,
}


def read(content: bytes, name: str) -> Iterator[SourceEntry | RejectedLine]:
    """Every entry and every rejected line of the list `content`, in order; `name` (a path or a file name)
    is only a hint.

    Raises InputError before the first item where the bytes are no list at all: empty, a PDF, a ZIP, an
    image, binary, or JSON or CSV without any address.
    """
    label = PurePath(name).name or "the source"
    text = decoded(content, label)
    kind = format_of(text, name)
    try:
        return _once(_READERS[kind](text))
    except InputError as error:
        raise InputError(f"{label}: {error.sentence}") from error


def _once(candidates: Iterator[Candidate | RejectedLine]) -> Iterator[SourceEntry | RejectedLine]:
    """Each site the first time it comes; later ones as rejected lines that say where it was."""
    lines: dict[str, int] = {}
    for found in candidates:
        if isinstance(found, RejectedLine):
            yield found
            continue
        try:
            site = site_of(found.url)
        except NoAddress as problem:
            yield RejectedLine(found.line, found.text, str(problem))
            continue
        if site in lines:
            yield RejectedLine(found.line, found.text, f"the same site as line {lines[site]}")
        else:
            lines[site] = found.line
            yield SourceEntry(site, found.url, found.line, found.name or site)
