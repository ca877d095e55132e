"""The requests of one tab as they come and go: who waits for them, and what became of each."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from playwright.async_api import BrowserContext, Request, Response
from playwright.async_api import Error as PlaywrightError

_KEEP = 2000
"""From here on only what is telling is noted; a page may ask for pictures without end."""
_BUSY = frozenset({"document", "xhr", "fetch", "script", "stylesheet", "ping"})
_TELLING = frozenset({"document", "xhr", "fetch", "ping", "websocket", "eventsource", "other"})


@dataclass
class Exchange:
    """One request and what became of it."""

    method: str
    url: str
    kind: str
    navigation: bool
    """It loads a document into a top-level window."""
    status: int | None = None
    failure: str | None = None
    made_up: str | None = None
    """The `campaign-egress` header of an answer, where it had one."""
    over: bool = False

    @property
    def telling(self) -> bool:
        """Whether it may have carried what a form says: what is not GET, and every GET by a script or a navigation."""
        return self.navigation or self.method not in ("GET", "HEAD") or self.kind in _TELLING

    @property
    def awaited(self) -> bool:
        """Whether it is telling and its answer is still to come; a stream has none."""
        return self.telling and not self.over and self.kind not in ("websocket", "eventsource")


class Traffic:
    """Listens to a context from its beginning. `exchanges` are in the order in which they left the page."""

    def __init__(self, context: BrowserContext) -> None:
        self.exchanges: list[Exchange] = []
        self.last_navigation: str | None = None
        self._open: dict[Request, Exchange] = {}
        self._stirred = asyncio.Event()
        context.on("request", self._on_request)
        context.on("response", self._on_response)
        context.on("requestfinished", self._on_finished)
        context.on("requestfailed", self._on_failed)
        context.on("close", lambda _: self.stir())  # also when the browser has died

    def stir(self) -> None:
        """Something happened that whoever waits for rest should know of."""
        self._stirred.set()

    def landing(self, url: str) -> Exchange | None:
        """The navigation that has brought the document at `url`, where one has."""
        bare = url.partition("#")[0]
        return next(
            (e for e in reversed(self.exchanges) if e.navigation and e.url.partition("#")[0] == bare), None
        )

    def busy(self) -> bool:
        """Whether a request that may change the page is under way."""
        return any(exchange.kind in _BUSY for exchange in self._open.values())

    async def rest(self, quiet: float, seconds: float) -> bool:
        """Wait until nothing is under way and nothing has happened for `quiet` seconds; False after `seconds`."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not await self.stirred(left if self.busy() else min(quiet, left)) and not self.busy():
                return True
        return False

    async def stirred(self, seconds: float) -> bool:
        """Wait for the next thing to happen; False when nothing did within `seconds`."""
        self._stirred.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._stirred.wait()
        except TimeoutError:
            return False
        return True

    def _on_request(self, request: Request) -> None:
        exchange = Exchange(request.method, request.url, request.resource_type, _is_navigation(request))
        if exchange.navigation:
            self.last_navigation = request.url
        self._open[request] = exchange
        if len(self.exchanges) < _KEEP or exchange.telling:
            self.exchanges.append(exchange)
        self.stir()

    def _on_response(self, response: Response) -> None:
        exchange = self._open.get(response.request)
        if exchange is not None:
            exchange.status = response.status
            exchange.made_up = response.headers.get("campaign-egress")
            self.stir()

    def _on_finished(self, request: Request) -> None:
        self._end(request, None)

    def _on_failed(self, request: Request) -> None:
        self._end(request, request.failure or "failed")

    def _end(self, request: Request, failure: str | None) -> None:
        exchange = self._open.pop(request, None)
        if exchange is not None:
            exchange.over, exchange.failure = True, failure
            self.stir()


def _is_navigation(request: Request) -> bool:
    if not request.is_navigation_request():
        return False
    try:
        return request.frame.parent_frame is None
    except PlaywrightError:
        return True  # a window that is only just being opened has no frame yet
