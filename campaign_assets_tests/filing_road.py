"""The road from a submit page to a verdict, walked by the real stage bodies in a real browser on a real
sandbox: for tests.

Owns units and tools as the runtime would build them; the ledger's part (claim, arm, commit) is a record of
what was asked.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from campaign_assets.model import (
    Address,
    Approval,
    Business,
    CampaignSettings,
    Contact,
    DiscoveryResult,
    Evidence,
    Key,
    Outcome,
    OutcomeKind,
    Unit,
)
from campaign_assets.sandbox.sites import site_for
from campaign_assets.settings import Resolve, Settings
from campaign_assets.stages.content import content
from campaign_assets.stages.form_mapping import form_mapping
from campaign_assets.stages.preflight import preflight
from campaign_assets.stages.submission import submission
from campaign_assets.stages.tools import Tools
from campaign_assets.states import Stage
from campaign_assets.web.browser import Browser
from campaign_assets.web.fetch import Fetcher
from campaign_assets.web.network import Network

CAMPAIGN = UUID(int=7)
TARGET = "tallyhopper.example"
STAGES = {
    Stage.FORM_MAPPING: form_mapping,
    Stage.CONTENT: content,
    Stage.PREFLIGHT: preflight,
    Stage.SUBMISSION: submission,
}


def business(**changes: Any) -> Business:
    """A complete profile; `changes` replace single facts."""
    facts: dict[str, Any] = {
        "name": "Tallyhopper",
        "url": f"https://{TARGET}/",
        "tagline": "Every morning's numbers on one page",
        "short_description": (
            "Tallyhopper gathers the numbers of a small business on one page: sales, visits and open invoices, "
            "every morning."
        ),
        "description": (
            "Tallyhopper is an analytics dashboard for small businesses. It reads the shop, the web analytics and "
            "the bookkeeping, and puts the numbers that matter on one page. The page is ready every morning and can "
            "be sent by e-mail. Reports for a week, a month or a quarter are written with one click and exported as "
            "PDF. Goals can be set for each number, and a note says which of them are in danger. There is nothing to "
            "install: it runs in the browser and on phones. Data are kept in Europe and can be exported at any time. "
            "Businesses with one data source use it without paying."
        ),
        "features": (
            "daily overview",
            "weekly reports",
            "goals with alerts",
            "PDF export",
            "shop and bookkeeping connections",
        ),
        "audience": "shops, agencies and other small businesses",
        "categories": ("Analytics", "Reporting", "Business software", "Marketing"),
        "tags": (
            "analytics",
            "dashboard",
            "reporting",
            "small business",
            "business intelligence",
            "marketing",
        ),
        "languages": ("de",),
        "pricing": "freemium",
        "founded_year": 2021,
        "email": f"hello@{TARGET}",
        "phone": "+49 30 1234567",
        "address": Address(street="Lindenweg 4", city="Berlin", postal_code="10115", country="DE"),
        "contact": Contact(first_name="Ada", last_name="Miller", email=f"ada@{TARGET}"),
        "social": {"twitter": "https://x.com/tallyhopper"},
        "accept_terms": True,
    }
    return Business(**(facts | changes))


@dataclass
class Road:
    """Everything a test needs to walk units along the stages. `arms` counts what the ledger was asked."""

    browser: Browser
    fetcher: Fetcher
    home: Path
    business: Business
    settings: CampaignSettings = field(default_factory=lambda: CampaignSettings(approval=Approval.AUTOMATIC))
    armed: bool = True
    arms: int = 0

    def tools(self) -> Tools:
        async def known_as(site: str) -> Key | None:
            return None

        async def arm() -> bool:
            self.arms += 1
            return self.armed

        return Tools(self.fetcher, self.browser, self.keep, known_as, arm)

    def keep(self, kind: str, content: bytes, media_type: str) -> Evidence:
        digest = hashlib.sha256(content).hexdigest()
        path = self.home / digest
        path.write_bytes(content)
        return Evidence(kind=kind, path=digest, media_type=media_type, sha256=digest, size=len(content))

    def unit(
        self,
        host: str,
        stage: Stage = Stage.FORM_MAPPING,
        results: Mapping[Stage, Any] | None = None,
        **changes: Any,
    ) -> Unit:
        """A unit of a sandbox directory whose submit page discovery has found."""
        site = site_for(host)
        found = DiscoveryResult(
            final_url=f"https://{host}/",
            site=host,
            status=200,
            submit_url=f"https://{host}{site.submit_path}",
            submit_found="the test knows it",
        )
        unit = Unit(
            id=1, publisher_id=1, campaign_id=CAMPAIGN, key=Key("acme", "launch", host), stage=stage, claim=uuid4(),
            epoch=1, run_id="run", attempts=0, waits=0, alone=False, url=f"https://{host}/", name=host,
            business=self.business, settings=self.settings, upstream_version=1,
            results={Stage.DISCOVERY: found, **(results or {})},
        )  # fmt: skip
        return replace(unit, **changes)

    async def walk(self, host: str, to: Stage = Stage.SUBMISSION, **changes: Any) -> tuple[Stage, Outcome]:
        """The stages one after another up to `to`, or to the first that does not succeed; the last outcome
        with its stage."""
        results: dict[Stage, Any] = {}
        for stage, body in STAGES.items():
            outcome = await body(self.unit(host, stage, results, **changes), self.tools())
            if stage is to or outcome.kind is not OutcomeKind.SUCCEED:
                return stage, outcome
            results[stage] = outcome.result
        raise AssertionError(f"{to} is not on this road")


@contextmanager
def road(resolve: str, home: Path, **changes: Any) -> Iterator[tuple[Road, asyncio.Runner]]:
    """A road on the sandbox that listens at `resolve`, with the event loop that its browser lives in."""
    home.mkdir(parents=True, exist_ok=True)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def build() -> Road:
            network = Network(Settings(home=home, resolve=Resolve.parse(resolve)))
            browser, fetcher = Browser(network), Fetcher(network)
            stack.push_async_callback(browser.close)
            stack.push_async_callback(fetcher.close)
            return Road(browser, fetcher, home, business(**changes))

        made = runner.run(build())
        try:
            yield made, runner
        finally:
            runner.run(stack.aclose())
