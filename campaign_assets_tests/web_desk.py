"""A small website on loopback, reached under any host name by `resolve`, and a browser beside it, in one event loop."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web

from campaign_assets.errors import SiteError
from campaign_assets.model import Action, Entry, FormDocument
from campaign_assets.settings import Resolve, Settings
from campaign_assets.web.browser import Browser
from campaign_assets.web.fetch import Fetcher
from campaign_assets.web.network import Network

T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Desk:
    """`run()` drives everything; `serve()` puts a page at an address; `seen` is every request as `METHOD host path`."""

    def __init__(self, home: Path) -> None:
        self._runner = asyncio.Runner()
        self._handlers: dict[str, Handler] = {}
        self._numbers = itertools.count(1)
        self.seen: list[str] = []
        self.agents: set[str] = set()
        self._server, self.port = self._runner.run(self._start(self._answer))
        self.settings = Settings(home=home, resolve=Resolve("127.0.0.1", self.port, self.port))
        self.network = Network(self.settings)
        self.browser = Browser(self.network)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def serve(self, answer: str | Handler, path: str | None = None, host: str | None = None) -> str:
        """The address at which `answer` (markup, or a handler) now stands."""
        number = next(self._numbers)
        host = host or f"site{number}.example"
        path = path or f"/page{number}"
        self._handlers[f"{host} {path}"] = _page(answer) if isinstance(answer, str) else answer
        return f"http://{host}{path}"

    def fetcher(self, **options: Any) -> Fetcher:
        return Fetcher(self.network, **{"interval": 0.0, **options})

    def fetch(self, url: str, **options: Any) -> Any:
        """The document at `url`, or the SiteError."""

        async def work() -> Any:
            fetcher = self.fetcher(**options.pop("fetcher", {}))
            try:
                return await fetcher.get(url, **options)
            except SiteError as error:
                return error
            finally:
                await fetcher.close()

        return self.run(work())

    def read(self, markup: str) -> FormDocument:
        """The form model of a page with this markup."""
        url = self.serve(f"<!doctype html><html lang=en><title>t</title><body>{markup}")

        async def work() -> FormDocument:
            async with self.browser.tab() as tab:
                await tab.open(url)
                return await tab.read()

        return self.run(work())

    def hits(self, part: str) -> list[str]:
        return [line for line in self.seen if part in line]

    def close(self) -> None:
        self._runner.run(self.browser.close())
        self._runner.run(self._server.cleanup())
        self._runner.close()

    async def canary(self) -> tuple[web.AppRunner, int, list[str]]:
        """A second server on loopback that nobody may reach: (to clean up, its port, its visitors)."""
        visitors: list[str] = []

        async def note(request: web.Request) -> web.Response:
            visitors.append(request.path)
            return web.Response(text="secret")

        runner, port = await self._start(note)
        return runner, port, visitors

    async def _start(self, handler: Handler) -> tuple[web.AppRunner, int]:
        app = web.Application(client_max_size=10**8)
        app.router.add_route("*", "/{rest:.*}", handler)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner, int(runner.addresses[0][1])

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        host = request.host.partition(":")[0]
        self.seen.append(f"{request.method} {host} {request.path}")
        self.agents.add(request.headers.get("User-Agent", ""))
        handler = self._handlers.get(f"{host} {request.path}")
        return await handler(request) if handler else web.Response(status=404, text="nothing here")


def _page(markup: str) -> Handler:
    async def page(_: web.Request) -> web.Response:
        return web.Response(text=markup, content_type="text/html")

    return page


def entry(index: int, type_: str, action: Action, value: str, name: str = "") -> Entry:
    return Entry(index=index, name=name, type=type_, field="title", action=action, value=value, source="test")
