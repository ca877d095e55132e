"""Lists of records, and CSV with any delimiter and any column names.

The column that holds the addresses is found by content over the first rows: the one with the most different
sites; names of columns only tip the scales. Rows are read one by one.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from campaign_assets.errors import InputError
from campaign_assets.model import RejectedLine
from campaign_assets.stages.sources.addresses import (
    Candidate,
    NoAddress,
    complete,
    looks_like_address,
    site_of,
)
from campaign_assets.stages.sources.formats import delimiter_of

SAMPLE = 300
_CELL_LIMIT = 10_000_000
_ADDRESS_NAMES = re.compile(
    r"url|website|web ?site|site|link|domain|homepage|address|href|host", re.IGNORECASE
)
_LESSER_NAMES = re.compile(
    r"submi|logo|image|icon|twitter|facebook|linkedin|social|source|affiliate|screenshot|favicon",
    re.IGNORECASE,
)
_NAME_NAMES = re.compile(
    r"^(name|title|directory|site ?name|directory ?name|platform|publisher|label|text|website)$",
    re.IGNORECASE,
)


class Record(NamedTuple):
    """One row or object: its line and its plain fields by column."""

    line: int
    fields: dict[str, str]


class Columns(NamedTuple):
    """Which fields mean what."""

    addresses: tuple[str, ...]
    """The field of the publisher's address; then those that stand for it in records that do not have it at all."""
    name: str | None


def csv_candidates(text: str) -> Iterator[Candidate | RejectedLine]:
    """Rows of a CSV in order. InputError where no column holds addresses."""
    rows = _csv_records(text)
    sample = list(islice(rows, SAMPLE))
    columns = columns_of(sample)
    if columns is None:
        raise InputError("no column holds web addresses; a CSV list needs one address a row.")
    header = sample[:1] if not any(map(looks_like_address, sample[0].fields.values())) else []
    titles = header[0].fields if header else {}
    columns = columns_of(sample[len(header) :], titles) or columns
    return (candidate(record, columns) for record in chain(sample[len(header) :], rows))


def candidate(record: Record, columns: Columns) -> Candidate | RejectedLine:
    """The record's address, or why it has none; a row whose columns slipped counts where it holds exactly
    one address.
    """
    column = next((name for name in columns.addresses if name in record.fields), columns.addresses[0])
    cell = record.fields.get(column, "")
    shown = " ".join(filter(None, (value.strip() for value in record.fields.values())))[:200]
    try:
        url = complete(cell)
    except NoAddress as problem:
        others = [value for value in record.fields.values() if looks_like_address(value)]
        if len(others) != 1 or others[0] == cell:
            return RejectedLine(record.line, shown, str(problem))
        return candidate(record._replace(fields={**record.fields, column: others[0]}), columns)
    return Candidate(record.line, url, record.fields.get(columns.name or "", "").strip(), shown)


def columns_of(sample: list[Record], titles: dict[str, str] | None = None) -> Columns | None:
    """The column of addresses and the column of names; None where no column holds an address."""
    sites: dict[str, set[str]] = {}
    texts: dict[str, set[str]] = {}
    for record in sample:
        for column, value in record.fields.items():
            if looks_like_address(value):
                sites.setdefault(column, set()).update(_site(value))
            elif 0 < len(value.strip()) <= 80 and not value.strip().replace(".", "").isdigit():
                texts.setdefault(column, set()).add(value)
    sites = {column: found for column, found in sites.items() if found}
    if not sites:
        return None
    titled = {column: (titles or {}).get(column, column) for column in {*sites, *texts}}
    ranked = sorted(sites, key=lambda column: -len(sites[column]) * _liking(titled[column]))
    named = [column for column in texts if column != ranked[0]]
    name = max(
        named,
        key=lambda column: (bool(_NAME_NAMES.match(titled[column].strip())), len(texts[column])),
        default=None,
    )
    return Columns(tuple(ranked), name)


def _liking(title: str) -> float:
    """How much a column's name speaks for being the publisher's own address."""
    if _LESSER_NAMES.search(title):
        return 0.5
    return 1.05 if _ADDRESS_NAMES.search(title) else 1.0


def _site(value: str) -> set[str]:
    try:
        return {site_of(complete(value))}
    except NoAddress:
        return set()


def _csv_records(text: str) -> Iterator[Record]:
    csv.field_size_limit(_CELL_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text))
    line, width = 1, 0
    for row in reader:
        if any(cell.strip() for cell in row):
            width = max(width, len(row))
            padded = chain(row, [""] * (width - len(row)))
            yield Record(line, {str(position): cell for position, cell in enumerate(padded)})
        line = reader.line_num + 1
