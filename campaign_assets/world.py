"""The outside world of one run: its fetcher and its browser, made when a body first uses them and closed with
the run.

Importing Playwright or aiohttp costs a run's start more than its work may; a stage that needs neither imports
neither. Owns the tools handed to each unit's body. Refuses to visit anything itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from campaign_assets.desk import LedgerDesk
from campaign_assets.evidence import EvidenceFolder
from campaign_assets.flight import Flight
from campaign_assets.model import Evidence, Key
from campaign_assets.ports import Caller
from campaign_assets.settings import Settings
from campaign_assets.stages.tools import Tools

CLOSE_WITHIN = 10.0
"""Seconds that closing may take; a stopped browser never answers."""


class Later:
    """Stands for an object that is made when one of its attributes is first asked for."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            self._made = self._make()
        return getattr(self._made, name)

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()


class World:
    """One run's network, and the tools it hands out."""

    def __init__(self, settings: Settings, desk: LedgerDesk) -> None:
        self.settings = settings
        self.desk = desk
        self.folder = EvidenceFolder(settings.home, desk.campaign.tenant_id, desk.campaign.id)
        self._network: Any = None
        self._engine: Caller | None = None
        self._fetcher = Later(self._make_fetcher)
        self._browser = Later(self._make_browser)

    def tools(self, flight: Flight, engine: Caller) -> Tools:
        """The tools of one unit; what they keep is remembered with its flight, what they ask is asked in its
        name.
        """
        self._engine = engine

        def keep(kind: str, content: bytes, media_type: str) -> Evidence:
            evidence = self.folder.keep(kind, content, media_type)
            flight.kept.append(evidence)
            return evidence

        def known_as(site: str) -> Awaitable[Key | None]:
            return engine.patiently(self.desk.known_as, flight.unit, site)

        def arm() -> Awaitable[bool]:
            return engine.arm(flight)

        return Tools(cast(Any, self._fetcher), cast(Any, self._browser), keep, known_as, arm)

    async def close(self) -> None:
        """Close what was made, within bounds."""
        for part in (self._browser, self._fetcher):
            closing = asyncio.ensure_future(part.close())
            await asyncio.wait({closing}, timeout=CLOSE_WITHIN)
            closing.cancel()

    def _network_of_run(self) -> Any:
        from campaign_assets.web.network import Network

        self._network = self._network or Network(self.settings)
        return self._network

    def _make_fetcher(self) -> Any:
        from campaign_assets.web.fetch import Fetcher

        return Fetcher(self._network_of_run(), self._reserve)

    def _make_browser(self) -> Any:
        from campaign_assets.web.browser import Browser

        return Browser(self._network_of_run())

    async def _reserve(self, host: str, interval: float) -> float:
        """A slot at a host, by the installation-wide rate that the ledger keeps."""
        if self._engine is None:
            raise RuntimeError("a host's rate was asked for before a unit was in flight")
        return await self._engine.patiently(self.desk.ledger.reserve_host, host, interval)
