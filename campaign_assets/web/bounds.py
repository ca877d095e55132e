"""Every await on the browser is bounded here, and Playwright's errors become SiteErrors here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from campaign_assets.errors import SiteError
from campaign_assets.model import Reason


@asynccontextmanager
async def bounded(doing: str, seconds: float) -> AsyncIterator[None]:
    """Give a piece of work `seconds`; SiteError deadline when they are over, error when the browser failed."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except (TimeoutError, PlaywrightTimeout) as error:
        raise SiteError(
            Reason.DEADLINE, f"The page gave no answer in time: {doing}.", transient=True
        ) from error
    except PlaywrightError as error:
        raise browser_gone(doing, error) from error


def browser_gone(doing: str, error: Exception) -> SiteError:
    """The browser, not the site, failed us: another try in a new tab may well go through."""
    return SiteError(
        Reason.ERROR, f"The browser failed to {doing}: {first_line(str(error))}.", transient=True
    )


def first_line(text: str) -> str:
    """The first line of an error's message, short enough for a sentence."""
    return text.strip().splitlines()[0][:200].rstrip(".") if text.strip() else "no message"
