"""What the demo shows while it runs: one line a stage with counts, and each unit that comes to need a human, once.

On a terminal the eight lines stand still and change; elsewhere a stage's line is printed again when its counts have
changed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import shorten
from typing import Any, Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from campaign_assets.cli.printing import clean
from campaign_assets.states import Stage, State

Counts = Mapping[Stage, Mapping[State, int]]
DETAIL_SHOWN = 160
PLAIN_EVERY = 5.0
"""Seconds between two looks at what to print where the output is no terminal."""
NOTHING = "  {:<13} -"
_COLOURS = {
    State.RUNNING: "cyan",
    State.SUBMITTING: "cyan",
    State.SUCCEEDED: "green",
    State.REJECTED: "yellow",
    State.FAILED: "red",
    State.HELD: "magenta",
    State.UNRESOLVED: "red bold",
}


class Progress(Protocol):
    def show(self, stages: Counts) -> None: ...
    def say(self, line: str) -> None: ...


def stage_line(stage: Stage, counts: Mapping[State, int]) -> Text:
    """`scoring        24 succeeded · 3 rejected`; units that were not reached are left out."""
    shown = [
        (state, counts.get(state, 0)) for state in State if state is not State.NONE and counts.get(state)
    ]
    parts = [Text(f"{number} {state}", _COLOURS.get(state, "")) for state, number in shown]
    return Text(f"  {stage:<13} ") + Text(" · ").join(parts) if parts else Text(NOTHING.format(stage), "dim")


@contextmanager
def progress() -> Iterator[Progress]:
    """The display that suits standard output."""
    if not sys.stdout.isatty():
        yield PlainProgress()
        return
    console = Console(highlight=False)
    with Live(console=console, refresh_per_second=4) as live:
        yield LiveProgress(live)


class LiveProgress:
    """Eight lines that stand still below what is said."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, stages: Counts) -> None:
        self._live.update(Text("\n").join(stage_line(stage, stages.get(stage, {})) for stage in Stage))

    def say(self, line: str) -> None:
        self._live.console.print(Text(line))


class PlainProgress:
    """Lines one after the other, for logs."""

    def __init__(self, every: float = PLAIN_EVERY) -> None:
        self._every = every
        self._last: dict[str, str] = {}
        self._next = 0.0

    def show(self, stages: Counts) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._every
        for stage in Stage:
            line = stage_line(stage, stages.get(stage, {})).plain
            if line != self._last.get(stage, NOTHING.format(stage)):
                print(line, flush=True)
                self._last[stage] = line

    def say(self, line: str) -> None:
        print(line, flush=True)


class Announcer:
    """Names each unit that needs attention when it first does, and says when it no longer does."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}

    def news(self, attention: Sequence[Mapping[str, Any]]) -> list[str]:
        now = {(unit["key"], unit["stage"]): unit for unit in attention}
        fresh = [unit for place, unit in now.items() if self._known.get(place) != unit["reason"]]
        self._known = {place: unit["reason"] for place, unit in now.items()}
        return [_announced(unit) for unit in fresh]


def _announced(unit: Mapping[str, Any]) -> str:
    detail = shorten(clean(unit["detail"]), DETAIL_SHOWN, placeholder=" …")
    return f"! {clean(unit['key'])}: {unit['stage']} {unit['state']} ({unit['reason']}): {detail}"
