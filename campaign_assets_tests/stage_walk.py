"""Single stage bodies on a real web: units as the runtime would build them, a fetcher on a sandbox or a served page.

Owns what the free stages need (no browser, nothing is armed). The ledger's word on known sites is a dict.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from campaign_assets.model import (
    Address,
    Business,
    CampaignSettings,
    Contact,
    DiscoveryResult,
    Evidence,
    Filing,
    Key,
    Outcome,
    Unit,
)
from campaign_assets.settings import Resolve, Settings
from campaign_assets.stages.tools import Tools
from campaign_assets.states import Stage, Verdict
from campaign_assets.web.browser import Browser
from campaign_assets.web.fetch import Fetcher
from campaign_assets.web.network import Network
from campaign_assets_tests.web_desk import Desk

MOMENT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


@dataclass
class Walk:
    """Runs stage bodies. `known` maps final sites to the publishers that are them already."""

    run: Callable[[Coroutine[Any, Any, Any]], Any]
    fetcher: Fetcher
    browser: Browser
    business: Business
    served: bool = False
    """The pages are the test's own, over http."""
    known: dict[str, Key] = field(default_factory=dict)
    kept: dict[str, bytes] = field(default_factory=dict)
    noted: list[str] = field(default_factory=list)

    def tools(self) -> Tools:
        async def known_as(site: str) -> Key | None:
            self.noted.append(site)
            return self.known.get(site)

        async def arm() -> bool:
            raise AssertionError("only submission arms")

        return Tools(self.fetcher, self.browser, self._keep, known_as, arm)

    def outcome(self, body: Any, unit: Unit) -> Outcome:
        outcome = self.run(body(unit, self.tools()))
        assert isinstance(outcome, Outcome)
        return outcome

    def unit(
        self,
        url: str,
        stage: Stage = Stage.DISCOVERY,
        results: Mapping[Stage, Any] | None = None,
        **changes: Any,
    ) -> Unit:
        site = url.split("://")[1].split("/")[0].split(":")[0].removeprefix("www.")
        unit = Unit(
            id=1, publisher_id=1, campaign_id=UUID(int=7), key=Key("acme", "launch", site), stage=stage,
            claim=uuid4(), epoch=1, run_id="run", attempts=0, waits=0, alone=False, url=url, name=site,
            business=self.business, settings=CampaignSettings(), upstream_version=1, results=results or {},
        )  # fmt: skip
        return replace(unit, **changes)

    def found(self, url: str, **changes: Any) -> DiscoveryResult:
        """What discovery would have found at a home page."""
        host = url.split("://")[1].split("/")[0]
        facts: dict[str, Any] = {
            "final_url": url,
            "site": host,
            "status": 200,
            "submit_url": url,
            "submit_found": "",
        }
        return DiscoveryResult(**(facts | changes))

    def _keep(self, kind: str, content: bytes, media_type: str) -> Evidence:
        digest = hashlib.sha256(content).hexdigest()
        self.kept[kind] = content
        return Evidence(kind=kind, path=digest, media_type=media_type, sha256=digest, size=len(content))


def business(**changes: Any) -> Business:
    """A complete profile of the business that `sandbox_visitor` files; `changes` replace single facts."""
    facts: dict[str, Any] = {
        "name": "Tallyhopper",
        "url": "https://tallyhopper.example/",
        "tagline": "Every morning's numbers of a shop on one page",
        "short_description": "Tallyhopper counts what small shops sell and shows it on one page, every morning.",
        "description": "Tallyhopper is an analytics dashboard for small shops. It reads the till, the web shop and "
        "the bookkeeping, and puts the numbers that matter on one page every morning. It runs in the browser.",
        "categories": ("Analytics", "Reporting", "Business software"),
        "tags": ("analytics", "dashboard", "small business", "saas"),
        "languages": ("de",),
        "email": "hello@tallyhopper.example",
        "phone": "+1 212 555 0100",
        "address": Address(street="1 Mill Lane", city="Springfield", postal_code="12345", country="US"),
        "contact": Contact(first_name="Ada", last_name="Miller", email="ada@tallyhopper.example"),
    }
    return Business(**(facts | changes))


def filing(site: str, verdict: Verdict, **changes: Any) -> Filing:
    """A filing that stands at `site`."""
    facts: dict[str, Any] = {
        "id": 1, "target": "tallyhopper.example", "site": site, "phase": "answered", "verdict": verdict,
        "claimed_at": MOMENT, "armed_at": MOMENT, "answered_at": MOMENT,
    }  # fmt: skip
    return Filing(**(facts | changes))


@contextmanager
def walk(resolve: str, home: Path) -> Iterator[Walk]:
    """A walk on whatever listens at `resolve`; requests are not held back by a rate."""
    with asyncio.Runner() as runner:
        network = Network(Settings(home=home, resolve=Resolve.parse(resolve)))
        fetcher = Fetcher(network, interval=0.0, patience=20.0)
        try:
            yield Walk(runner.run, fetcher, Browser(network), business())
        finally:
            runner.run(fetcher.close())


@contextmanager
def served_walk(home: Path) -> Iterator[tuple[Desk, Walk]]:
    """A walk on pages that the test serves itself, under any host name."""
    desk = Desk(home)
    fetcher = desk.fetcher()
    try:
        yield desk, Walk(desk.run, fetcher, desk.browser, business(), served=True)
    finally:
        desk.run(fetcher.close())
        desk.close()
