"""A desk without a database, for tests of the engine's order of things: units wait in a list, commits are
kept with their time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, cast
from uuid import UUID, uuid4

from campaign_assets.flight import Body, Flight
from campaign_assets.model import Business, CampaignSettings, Contact, Key, Outcome, ScoringResult, Unit
from campaign_assets.policy import Policy, policies
from campaign_assets.ports import Caller, Page, Summary
from campaign_assets.runtime import Engine, drive
from campaign_assets.stages.tools import Tools
from campaign_assets.states import Event, Stage
from campaign_assets.stop import StopFlag

BUSINESS = Business(
    name="Acme",
    url="https://acme.example",
    tagline="Things that work",
    short_description="Acme makes things that work, for people who need things that work.",
    description="Acme makes things that work, for people who need things that work. " * 3,
    categories=("tools",),
    tags=("tools",),
    email="hello@acme.example",
    contact=Contact(first_name="Ada", last_name="Lovelace", email="ada@acme.example"),
)
DONE = Outcome.succeed(ScoringResult(score=50, bar=35, signals=()), "fine")


def unit(number: int, stage: Stage = Stage.SCORING, alone: bool = False) -> Unit:
    return Unit(
        id=number,
        publisher_id=number,
        campaign_id=UUID(int=1),
        key=Key("acme", "launch", f"site{number}.example"),
        stage=stage,
        claim=uuid4(),
        epoch=1,
        run_id="run",
        attempts=0,
        waits=0,
        alone=alone,
        url=f"https://site{number}.example",
        name=f"Site {number}",
        business=BUSINESS,
        settings=CampaignSettings(),
        upstream_version=1,
    )


def policy(stage: Stage = Stage.SCORING, **changes: Any) -> Policy:
    return replace(policies("production")[stage], **changes)


@dataclass
class ListDesk:
    """Hands out `due`, remembers what it is told."""

    due: list[Unit]
    may_arm: bool = True
    pages: list[Page] = field(default_factory=list)
    committed_at: dict[int, float] = field(default_factory=dict)
    released: list[int] = field(default_factory=list)
    most_in_flight: int = 0
    errors: list[Exception] = field(default_factory=list)
    published: int = 0
    claims: list[int] = field(default_factory=list)
    _out: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read_source_page(self) -> bool:
        return False

    def claim(self, limit: int, beside: bool) -> list[Unit]:
        with self._lock:
            alone = [u for u in self.due if u.alone]
            free = [u for u in self.due if not u.alone]
            taken = free[:limit] if beside else (alone[:1] or free[:limit])
            self.due = [u for u in self.due if u not in taken]
            self._out |= {u.id for u in taken}
            self.most_in_flight = max(self.most_in_flight, len(self._out))
            self.claims.append(len(taken))
            return taken

    def commit(self, page: Page) -> None:
        with self._lock:
            self.pages.append(page)
            self.committed_at |= {u.id: time.monotonic() for u, _, _ in page.done}
            self._out -= {u.id for u, _, _ in page.done}

    def release(self, units: Sequence[Unit]) -> None:
        with self._lock:
            self.released += [u.id for u in units]
            self._out -= {u.id for u in units}

    def arm(self, unit: Unit) -> bool:
        return self.may_arm

    def publish(self) -> None:
        self.published += 1

    def log_error(self, unit: Unit, error: Exception) -> None:
        self.errors.append(error)

    @property
    def events(self) -> dict[int, Event]:
        return {u.id: d.event for p in self.pages for u, _, d in p.done}

    @property
    def outcomes(self) -> dict[int, Outcome]:
        return {u.id: o for p in self.pages for u, o, _ in p.done}


class NoWorld:
    """Tools with nothing behind them but arming."""

    def __init__(self) -> None:
        self.closed = False

    def tools(self, flight: Flight, engine: Caller) -> Tools:
        nothing = cast(Any, None)
        return Tools(nothing, nothing, nothing, nothing, lambda: engine.arm(flight))

    async def close(self) -> None:
        self.closed = True


def fly(desk: ListDesk, row: Policy, body: Body, stop: StopFlag | None = None, **options: Any) -> Summary:
    """Drive one engine over `desk` to its end."""
    return drive(
        lambda: Engine(desk, row, body, NoWorld(), stop or StopFlag(), **options),
        lambda _engine: nullcontext(),
    )
