"""The sandbox's process: one address that is every host, over http and https.

Owns sockets, the record of each request, start and stop. What a host answers is `directory`'s. It listens where it is
told, by default on the loopback only, and opens no connection itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import json
import os
import signal
import socket
import ssl
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from campaign_assets.errors import ConfigError
from campaign_assets.sandbox import api, directory
from campaign_assets.sandbox.certificates import Authority
from campaign_assets.sandbox.journal import Journal, Post, Request
from campaign_assets.sandbox.judge import Fields, target
from campaign_assets.sandbox.parts import canonical
from campaign_assets.sandbox.sites import site_for
from campaign_assets.sandbox.visit import Pace, Visit, as_json

LARGEST_POST = 25_000_000


@dataclass(frozen=True, slots=True)
class Address:
    """Where the sandbox listens. `resolve` is a value for CAMPAIGN_RESOLVE, `ca` the PEM file to trust."""

    http: int
    https: int
    resolve: str
    ca: str


async def serve(
    host: str = "127.0.0.1",
    http_port: int = 0,
    https_port: int = 0,
    state_dir: Path | None = None,
    slow: float = 30.0,
    moderation: float = 40.0,
    ready: Callable[[Address], None] | None = None,
) -> None:
    """Serve until cancelled; port 0 takes a free one, `ready` is called once both listen.

    With `state_dir` posts, entries, requests and the certificate authority outlive the process. `slow` and `moderation`
    are seconds. ConfigError where a port is in use or the directory cannot be written.
    """
    async with contextlib.AsyncExitStack() as stack:
        home = _home(stack, state_dir)
        journal, authority = _open(home, keep=state_dir is not None)
        stack.callback(journal.close)
        address = await stack.enter_async_context(
            _listening(_Web(journal, Pace(slow, moderation)), host, http_port, https_port, authority)
        )
        if ready is not None:
            ready(address)
        await asyncio.Event().wait()


def run(
    host: str = "127.0.0.1",
    http_port: int = 0,
    https_port: int = 0,
    state_dir: Path | None = None,
    slow: float = 30.0,
    moderation: float = 40.0,
    ready_file: Path | None = None,
) -> None:
    """The same as a program: ends cleanly on SIGTERM and SIGINT, prints one line and writes `ready_file` when ready.

    The ready file holds `{"http", "https", "resolve", "ca"}` as JSON and appears whole.
    """

    def ready(address: Address) -> None:
        if ready_file is not None:
            _announce(ready_file, address)
        print(
            f"sandbox: http {address.http}, https {address.https}; CAMPAIGN_RESOLVE={address.resolve}",
            flush=True,
        )

    async def until_signalled() -> None:
        loop = asyncio.get_running_loop()
        serving = asyncio.create_task(serve(host, http_port, https_port, state_dir, slow, moderation, ready))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, serving.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await serving

    asyncio.run(until_signalled())


class _Web:
    """Every host at once: notes each request, then lets the host's directory answer."""

    def __init__(self, journal: Journal, pace: Pace) -> None:
        self._journal = journal
        self._pace = pace

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.path.startswith(api.PREFIX):
            return api.tell(self._journal, request)
        host = request.host.rpartition(":")[0] if _has_port(request.host) else request.host
        if _is_bare_address(host):
            return as_json({"error": f"This is the sandbox; ask for a host, or for {api.PREFIX}sites."}, 404)
        return await self._noted(request, host.lower().rstrip("."))

    async def _noted(self, request: web.Request, host: str) -> web.StreamResponse:
        fields = await _fields(request) if request.method == "POST" else {}
        record = _record(request, host, fields)
        self._journal.arrived(record)
        try:
            response = await self._played(request, host, fields)
        except asyncio.CancelledError:
            self._journal.answered(record, 0)
            raise
        self._journal.answered(record, response.status)
        return response

    async def _played(self, request: web.Request, host: str, fields: Fields) -> web.StreamResponse:
        if request.method not in ("GET", "HEAD", "POST"):
            return web.Response(status=405, headers={"Allow": "GET, HEAD, POST"})
        business = directory.business_page(canonical(host))
        if business is not None:
            return business
        visit = Visit(request, site_for(host), self._journal, self._pace, host, fields)
        return await directory.answer(visit)


def _record(request: web.Request, host: str, fields: Fields) -> Request:
    common: dict[str, Any] = {
        "method": request.method,
        "scheme": request.scheme,
        "host": canonical(host),
        "path": request.path_qs,
        "time": time.time(),
        "user_agent": request.headers.get("User-Agent", ""),
    }
    if request.method != "POST":
        return Request(**common)
    form = site_for(host).kind.form
    filed = target(form, fields) if form and request.path == site_for(host).submit_path else ""
    return Post(
        **common, form=request.path, target=filed, fields={name: list(sent) for name, sent in fields.items()}
    )


async def _fields(request: web.Request) -> dict[str, list[str]]:
    """The fields of a posted form; an uploaded file is told as its name and size."""
    fields: dict[str, list[str]] = {}
    for name, value in (await request.post()).items():
        if isinstance(value, web.FileField):
            text = f"{value.filename} ({value.file.seek(0, os.SEEK_END)} bytes)" if value.filename else ""
        else:
            text = value if isinstance(value, str) else bytes(value).decode(errors="replace")
        fields.setdefault(name, []).append(text)
    return fields


@contextlib.asynccontextmanager
async def _listening(
    site: _Web, host: str, http_port: int, https_port: int, authority: Authority
) -> AsyncIterator[Address]:
    """Both ports listen inside this block; leaving it ends every connection, the silent ones too."""
    application = web.Application(client_max_size=LARGEST_POST)
    application.router.add_route("*", "/{path:.*}", site.answer)
    # A client that leaves ends its own request: the silent and the slow sites would collect them otherwise.
    runner = web.AppRunner(application, handler_cancellation=True, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    try:
        plain = await _listen(runner, host, http_port, None)
        secure = await _listen(runner, host, https_port, authority.server_context(host))
        yield Address(plain, secure, f"{host}:{plain}:{secure}", str(authority.path))
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, host: str, port: int, context: ssl.SSLContext | None) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = (
            "is in use"
            if error.errno == errno.EADDRINUSE
            else f"cannot be opened ({error.strerror or error})"
        )
        raise ConfigError(
            f"Port {port} on {host} {reason}: choose another port, or 0 for a free one."
        ) from error
    await web.SockSite(runner, listener, ssl_context=context, backlog=1024).start()
    return int(listener.getsockname()[1])


def _home(stack: contextlib.AsyncExitStack, state_dir: Path | None) -> Path:
    """Where the authority lies: the state directory, else one that goes away with the process."""
    if state_dir is not None:
        return state_dir
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="campaign-sandbox-")))


def _open(home: Path, *, keep: bool) -> tuple[Journal, Authority]:
    try:
        return Journal(home if keep else None), Authority(home)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(
            f"The sandbox cannot keep its state in {home} ({reason}): name another directory."
        ) from error


def _announce(path: Path, address: Address) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(asdict(address)), encoding="utf-8")
    draft.replace(path)


def _has_port(host: str) -> bool:
    return host.rpartition(":")[2].isdigit() and not host.endswith("]")


def _is_bare_address(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
