"""What a stage body may use beside its unit; the runtime builds one for each unit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaign_assets.model import Evidence, Key

if (
    TYPE_CHECKING
):  # the runtime imports them when a body first uses them: a run without a browser must not pay for one
    from campaign_assets.web.browser import Browser
    from campaign_assets.web.fetch import Fetcher


@dataclass(frozen=True)
class Tools:
    """The outside world of one unit. Everything a body does to the world goes through here."""

    fetcher: Fetcher
    """Polite and guarded HTTP."""
    browser: Browser
    """Launched when the first tab is asked for, one in a run."""
    keep: Callable[[str, bytes, str], Evidence]
    """`keep(kind, content, media_type)` stores evidence for this unit; put the record into the outcome."""
    known_as: Callable[[str], Awaitable[Key | None]]
    """Notes the publisher's final site; the key of another publisher of the campaign that already is that
    site, or None.
    """
    arm: Callable[[], Awaitable[bool]]
    """Submission only (R5): after True the click must follow at once."""
