"""A campaign's report as HTML, CSV or JSON: what became of each publisher, and why.

Owns how an export stays harmless: a cell that a spreadsheet would run is neutralised, the page runs nothing, loads
nothing from anywhere and escapes every word that came from a site. Refuses to decide anything: rows come from
`ledger.reading`.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from campaign_assets.states import Stage, State

COLUMNS = ("key", "site", "outcome", "reason", "detail", "filed_at", "verdict", "listing_url", "rel")
FORMATS = ("html", "csv", "json")
PICTURE_LIMIT = 400_000
"""Bytes of one screenshot; a larger one is named, not shown."""
PICTURES_LIMIT = 12_000_000
"""Bytes of all screenshots of one report."""
PICTURE_TYPES = ("image/png", "image/jpeg", "image/webp")

# Where a cell, or what a spreadsheet with another separator takes for a cell, starts with what it would calculate.
_FORMULA = re.compile(r"(?:^|(?<=[;\n]))(?=[\s\"']*[=+\-@＝＋－＠])")


_SEPARATORS = {ord("\t"): " ", ord("\r"): " ", 0: None}


class Kept(Protocol):
    """A piece of evidence as the ledger stores it (`model.Evidence`)."""

    @property
    def kind(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def media_type(self) -> str: ...


@dataclass(frozen=True)
class Picture:
    """A screenshot in a report: its bytes as a data URI, or only where it lies and why it is not shown."""

    kind: str
    path: str
    data: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Attention:
    """One unit that waits for a human, with what was kept and the commands that settle it."""

    unit: Mapping[str, Any]
    commands: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()


def to_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a JSON list; moments as ISO 8601."""
    return json.dumps([{name: _moment(row.get(name)) for name in COLUMNS} for row in rows], indent=2) + "\n"


def to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as CSV (RFC 4180, every field quoted), each cell neutralised."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    writer.writerows([neutral(_moment(row.get(name))) for name in COLUMNS] for row in rows)
    return out.getvalue()


def neutral(value: object) -> str:
    """`value` as a cell that no spreadsheet runs: an apostrophe before what starts like a formula.

    That may be the cell's start, or what follows a character that another spreadsheet takes for a separator. Tabs and
    carriage returns, which start a formula as well, become spaces.
    """
    return _FORMULA.sub("'", "" if value is None else str(value).translate(_SEPARATORS))


def to_html(
    title: str,
    sentence: str,
    stages: Mapping[Stage, Mapping[State, int]],
    rows: Sequence[Mapping[str, Any]],
    attention: Sequence[Attention],
) -> str:
    """One self-contained page: the summary, what waits for a human with its screenshots, then every publisher.

    `stages` gives counts by stage and state, as in the campaign's status.
    """
    template, style, policy = _page()
    states = [state for state in State if any(counts.get(state) for counts in stages.values())]
    page: str = template.render(
        title=title,
        sentence=sentence,
        stages=stages,
        states=states,
        rows=rows,
        attention=attention,
        outcomes=Counter(str(row.get("outcome")) for row in rows).most_common(),
        style=style,
        policy=policy,
        moment=_shown_moment,
        web=web_address,
        now=_shown_moment(datetime.now(UTC)),
    )
    return page


def web_address(text: object) -> str | None:
    """`text` where it may be a link in a page of ours: http and https only; None otherwise."""
    try:
        parts = urlsplit(str(text or ""))
    except ValueError:
        return None
    return str(text) if parts.scheme in ("http", "https") and parts.netloc else None


def pictures(home: Path, evidence: Iterable[Kept], budget: Budget) -> tuple[Picture, ...]:
    """The screenshots among `evidence`, read from `home`, within `budget`."""
    return tuple(_picture(home, item, budget) for item in evidence if item.media_type in PICTURE_TYPES)


@dataclass
class Budget:
    """How many bytes of pictures a report may still take."""

    left: int = PICTURES_LIMIT


def _picture(home: Path, item: Kept, budget: Budget) -> Picture:
    place = (home / item.path).resolve()
    if not place.is_relative_to(home.resolve()) or not place.is_file():
        return Picture(item.kind, item.path, missing="the file is gone")
    size = place.stat().st_size
    if size > min(PICTURE_LIMIT, budget.left):
        return Picture(item.kind, item.path, missing=f"{size // 1000} kB, too large to show here")
    budget.left -= size
    content = base64.b64encode(place.read_bytes()).decode()
    return Picture(item.kind, item.path, f"data:{item.media_type};base64,{content}")


@cache
def _page() -> tuple[Any, str, str]:
    """The template, its style, and the policy that allows that very style and nothing else."""
    from jinja2 import Environment, StrictUndefined

    source = files("campaign_assets") / "report.html.j2"
    template = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).from_string(source.read_text("utf-8"))
    style = (files("campaign_assets") / "report.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        template,
        style,
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'",
    )


def _moment(value: Any) -> Any:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


def _shown_moment(value: datetime) -> str:
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
