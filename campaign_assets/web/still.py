"""A document that is given as bytes, shown in a tab as if a site had sent it; nothing else that it names is loaded.

Its own scripts run. Refuses the network: every further request is aborted.
"""

from __future__ import annotations

import asyncio
import contextlib

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Route

from campaign_assets.errors import SiteError
from campaign_assets.model import Reason
from campaign_assets.web.scripts import SETTLE
from campaign_assets.web.tab import Tab

ADDRESS = "http://document.invalid/"
TIMEOUT = 20.0


async def show(tab: Tab, content: bytes) -> None:
    """Show `content` (HTML; a browser finds its encoding) in `tab`. SiteError where it cannot be shown in time."""

    async def answer(route: Route) -> None:
        with contextlib.suppress(PlaywrightError):
            if route.request.url == ADDRESS and route.request.is_navigation_request():
                await route.fulfill(body=content, content_type="text/html")
            else:
                await route.abort("blockedbyclient")

    await tab.page.route("**/*", answer)
    try:
        async with asyncio.timeout(TIMEOUT):
            await tab.page.goto(ADDRESS, wait_until="load", timeout=TIMEOUT * 1000)
            await tab.page.evaluate(SETTLE, {})
    except (PlaywrightError, TimeoutError) as error:
        raise SiteError(Reason.DEADLINE, f"The document cannot be shown ({type(error).__name__}).") from error
