"""What the command prints: JSON, aligned tables, moments; text from strangers' sites made safe for a terminal."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from typing import Any

import click

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def print_json(value: Any) -> None:
    """Print `value` as JSON; moments as ISO 8601, everything that is not ASCII escaped (safe in any terminal)."""
    click.echo(json.dumps(value, indent=2, default=_plain))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return str(value)


def clean(text: object) -> str:
    """`text` on one line, without what a terminal would obey: control characters, and marks that reorder the line."""
    return "".join(" " if c in "\n\r\t" else _shown(c) for c in str(text))


def _shown(character: str) -> str:
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co"):
        return character.encode("unicode_escape").decode()
    return character


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]], indent: str = "") -> None:
    """Print `rows` in aligned columns; columns of numbers stand right, the last one is never padded."""
    body = [["" if cell is None else clean(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(header), *body]) for i in range(len(header))]
    right = [bool(body) and all(row[i].isdigit() or not row[i] for row in body) for i in range(len(header))]
    for row in [list(header), *body]:
        cells = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)]
        click.echo((indent + "  ".join(cells)).rstrip())


def print_fields(fields: Mapping[str, object], indent: str = "  ") -> None:
    """Print `fields` one a line, names aligned, leaving out what is empty."""
    shown = {name: value for name, value in fields.items() if value not in (None, "", [], ())}
    width = max((len(name) for name in shown), default=0)
    for name, value in shown.items():
        click.echo(f"{indent}{name.ljust(width)}  {clean(value)}")


def moment(value: datetime | str | None) -> str:
    """A moment as an operator reads it: UTC, to the second; empty where there is none."""
    if value is None:
        return ""
    read = datetime.fromisoformat(value) if isinstance(value, str) else value
    return read.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 publisher`, `2 publishers`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


@contextmanager
def stopping_said() -> Iterator[None]:
    """Say at once that Ctrl-C was heard: what is in work may take a while to end."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("\nStopping …")
        raise
