"""robots.txt by RFC 9309: what a host lets us visit, and how fast. Kept for the life of the process, at most a day."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from protego import Protego

from campaign_assets.errors import SiteError
from campaign_assets.model import Reason
from campaign_assets.web.network import PRODUCT

LIMIT = 500 * 1024
"""Bytes of a robots.txt that are read; the RFC asks for at least this."""
_KEEP = 86400.0
_KEEP_FAILURE = 60.0
_LONGEST_DELAY = 30.0
"""A Crawl-delay is honoured up to here; beyond it a unit could never end within its deadline."""

Load = Callable[[str], Awaitable[str]]
"""The text of a robots.txt by its URL; SiteError where it cannot be had."""


class _Kept(NamedTuple):
    rules: Protego | SiteError
    until: float


class Robots:
    """The rules of every host visited so far. A host is asked once, however many wait for its answer."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._kept: dict[str, _Kept] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def allows(self, url: str) -> bool:
        """Whether `url` may be visited. SiteError where the host cannot say: then it may not be visited now."""
        return bool((await self._rules(url)).can_fetch(url, PRODUCT))

    async def delay(self, url: str) -> float:
        """The host's Crawl-delay for us in seconds, 0 where it has none."""
        return min(float((await self._rules(url)).crawl_delay(PRODUCT) or 0.0), _LONGEST_DELAY)

    async def _rules(self, url: str) -> Protego:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        async with self._locks.setdefault(origin, asyncio.Lock()):
            kept = self._kept.get(origin)
            if kept is None or kept.until < time.monotonic():
                kept = await self._ask(origin)
                self._kept[origin] = kept
        if isinstance(kept.rules, SiteError):
            raise kept.rules
        return kept.rules

    async def _ask(self, origin: str) -> _Kept:
        """Any 4xx but 429 means that there are no rules; a host that does not answer forbids everything for now."""
        try:
            text = await self._load(f"{origin}/robots.txt")
        except SiteError as error:
            if error.reason in (
                Reason.NOT_FOUND,
                Reason.BLOCKED,
                Reason.ROBOTS_FORBIDDEN,
                Reason.REDIRECT_LOOP,
            ):
                return _Kept(Protego.parse(""), time.monotonic() + _KEEP)
            return _Kept(error, time.monotonic() + _KEEP_FAILURE)
        return _Kept(Protego.parse(text), time.monotonic() + _KEEP)
