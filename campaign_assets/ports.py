"""What the engine of a run needs and what it says: the desk at the ledger, the tools' source, a page, the summary.

Shapes only. Who stands behind them is decided in `desk` and `world`; tests put a list there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from campaign_assets.model import Outcome, Unit
from campaign_assets.policy import Decision

if TYPE_CHECKING:
    from campaign_assets.flight import Flight
    from campaign_assets.stages.tools import Tools


class Desk(Protocol):
    """What a run wants of the ledger. Called in threads; each call is one transaction, each write is fenced."""

    def read_source_page(self) -> bool:
        """Discovery: import one page of an unread source. False where nothing is left to read."""

    def claim(self, limit: int, beside: bool) -> list[Unit]: ...

    def commit(self, page: Page) -> None: ...

    def release(self, units: Sequence[Unit]) -> None: ...

    def arm(self, unit: Unit) -> bool: ...

    def publish(self) -> None:
        """Tell Dagster what was committed."""

    def log_error(self, unit: Unit, error: Exception) -> None: ...


T = TypeVar("T")


class Caller(Protocol):
    """What a unit's tools may ask of the engine that flies it."""

    async def patiently(self, function: Callable[..., T], *arguments: object) -> T: ...

    async def arm(self, flight: Flight) -> bool: ...


class Outside(Protocol):
    """Where a unit's tools come from; closed when the run leaves."""

    def tools(self, flight: Flight, engine: Caller) -> Tools: ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Page:
    """Units committed together. Memory in bytes: the process's resident set and its growth since the page
    before.
    """

    number: int
    done: Sequence[tuple[Unit, Outcome, Decision]]
    memory: int
    growth: int


@dataclass
class Summary:
    """What a run did, for its log line and its last word in Dagster."""

    pages: int = 0
    units: int = 0
    by_event: dict[str, int] = field(default_factory=dict)

    def count(self, page: Page) -> None:
        self.pages += 1
        self.units += len(page.done)
        for _unit, _outcome, decision in page.done:
            self.by_event[decision.event] = self.by_event.get(decision.event, 0) + 1
