"""The ledger as the demo sees it: asked again, over a new connection, while the database is being brought back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

from campaign_assets.errors import ConfigError, LedgerUnavailable
from campaign_assets.ledger import Ledger, Tx, reading
from campaign_assets.ledger.campaigns import Campaign, campaigns, source_summary
from campaign_assets.settings import Settings
from campaign_assets.states import Stage, State

T = TypeVar("T")
REPEAT_EVERY = 0.5
PATIENCE = 60.0
"""Seconds for which the database may be away."""


@dataclass(frozen=True)
class Look:
    """A campaign at one moment."""

    sentence: str
    stages: Mapping[Stage, Mapping[State, int]]
    units: Sequence[Mapping[str, Any]]
    attention: Sequence[Mapping[str, Any]]
    read: bool
    """Whether discovery has read the sources to their end."""


class Eyes:
    """A ledger that outlives its database's restarts. Use as a context manager."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ledger: Ledger | None = None

    def __enter__(self) -> Eyes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._close()

    def ask(self, tenant: str, question: Callable[[Tx], T]) -> T:
        """The answer to `question`, in a transaction bound to `tenant`; it may be asked more than once."""
        return self._patiently(lambda ledger: _bound(ledger, tenant, question))

    def campaigns(self) -> list[Campaign]:
        """Every campaign of every tenant."""
        return self._patiently(_campaigns)

    def look(self, campaign: Campaign) -> Look:
        """The campaign as it stands."""
        return self.ask(campaign.tenant, lambda tx: _look(tx, campaign))

    def _patiently(self, question: Callable[[Ledger], T]) -> T:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self._ledger = self._ledger or Ledger.open(self._settings)
                return question(self._ledger)
            except (LedgerUnavailable, ConfigError):
                self._close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(REPEAT_EVERY)

    def _close(self) -> None:
        if self._ledger:
            self._ledger.dispose()
        self._ledger = None


def _bound(ledger: Ledger, tenant: str, question: Callable[[Tx], T]) -> T:
    with ledger.bound(tenant) as tx:
        return question(tx)


def _campaigns(ledger: Ledger) -> list[Campaign]:
    found = []
    for tenant in ledger.tenants():
        with ledger.bound(tenant.id) as tx:
            found += campaigns(tx, archived=True)
    return found


def _look(tx: Tx, campaign: Campaign) -> Look:
    status = reading.status(tx, campaign)
    return Look(
        status.sentence,
        status.stages,
        reading.units(tx, campaign.id),
        reading.attention(tx, campaign.id),
        all(source.done for source in source_summary(tx, campaign.id)),
    )
