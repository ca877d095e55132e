"""The browser's only way out: a forward proxy on loopback, one for each tab, over connections of the Network's.

It speaks CONNECT and plain http. Plain requests never share a connection, so that no browser can repeat one on a
connection that died; `refresh()` does the same for tunnels, just before a filing leaves. Its counters are the best
witness of whether anything has left. It stores nothing and never looks into TLS.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from types import TracebackType
from typing import NamedTuple
from urllib.parse import urlsplit

from campaign_assets.errors import SiteError
from campaign_assets.web.addresses import refusal
from campaign_assets.web.network import Network

HEAD_LIMIT = 64 * 1024
TAB_LIMIT = 80 * 1024 * 1024
"""Bytes one tab may receive over its life."""
_CHUNK = 64 * 1024
_HOP = (b"connection", b"proxy-connection", b"keep-alive", b"proxy-authorization")


class _Head(NamedTuple):
    first: bytes
    fields: list[tuple[bytes, bytes]]

    @classmethod
    def parse(cls, raw: bytes) -> _Head:
        first, *lines = raw.rstrip(b"\r\n").split(b"\r\n")
        pairs = (line.partition(b":") for line in lines)
        return cls(first, [(name, value.strip()) for name, _, value in pairs])

    def closing(self, *extra: tuple[bytes, bytes]) -> bytes:
        """The head as it goes on: one exchange, then the connection ends."""
        kept = [pair for pair in self.fields if pair[0].strip().lower() not in _HOP]
        lines = [name + b": " + value for name, value in (*kept, (b"Connection", b"close"), *extra)]
        return b"\r\n".join([self.first, *lines, b"", b""])


class Egress:
    """One tab's proxy. Use as an async context manager; `server` is its address for Chromium."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._token = secrets.token_hex(16)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._tunnels: set[asyncio.StreamWriter] = set()
        self._problems: dict[str, SiteError] = {}
        self.sent = 0
        """Bytes handed on towards the outside so far."""
        self.received = 0

    async def __aenter__(self) -> Egress:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_LIMIT)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()

    @property
    def server(self) -> str:
        if self._server is None:
            raise RuntimeError("An Egress has an address only while it is open.")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """End every connection and take no more: nothing leaves this tab from now on."""
        if self._server is not None and self._server.is_serving():
            self._server.close()
        for task in list(self._tasks):
            task.cancel()

    async def refresh(self) -> None:
        """Close the tunnels, so that the next request opens a connection of its own.

        A browser silently repeats a request, even a POST, when a kept-alive connection dies under it; it does not on a
        fresh one.
        """
        for writer in list(self._tunnels):
            writer.close()
        # The loop closes the sockets in its next rounds; the browser sees it before it picks one.
        await asyncio.sleep(0.01)

    def problem(self, url: str) -> SiteError | None:
        """Why the last connection to the host of `url` could not be made, where it could not."""
        return self._problems.get((urlsplit(url).hostname or "").rstrip("."))

    def is_ours(self, mark: str | None) -> bool:
        """Whether an answer with this `campaign-egress` header was made up here, for want of a connection."""
        return mark == self._token

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            await self._exchange(reader, writer)
        except (OSError, EOFError, asyncio.LimitOverrunError, ValueError):
            pass  # a broken or malformed connection of the browser's: it sees the end of it
        except asyncio.CancelledError:
            pass  # cut() is the only one who cancels these tasks; asyncio would log the cancellation as an error
        finally:
            if task is not None:
                self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raw = await reader.readuntil(b"\r\n\r\n")
        head = _Head.parse(raw)
        method, target, version = head.first.split(b" ", 2)
        if method == b"CONNECT":
            host, _, port = target.decode("latin-1").rpartition(":")
            upstream = await self._open(host, int(port), writer)
            if upstream:
                await self._tunnel(reader, writer, *upstream)
            return
        url = urlsplit(target.decode("latin-1"))
        upstream = await self._open(url.hostname or "", url.port or 80, writer, scheme=url.scheme)
        if upstream:
            path = (url.path or "/") + (f"?{url.query}" if url.query else "")
            onward = _Head(b" ".join((method, path.encode("latin-1"), version)), head.fields).closing()
            await self._forward(onward, reader, writer, *upstream)

    async def _open(
        self, host: str, port: int, writer: asyncio.StreamWriter, scheme: str = "http"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        try:
            if scheme != "http":
                raise refusal(f"The scheme {scheme!r} is none that is visited.")
            connection = await self._network.open(host, port)
        except SiteError as error:
            self._problems[host.strip("[]").rstrip(".")] = error
            answer = _Head(b"HTTP/1.1 502 Not connected", [(b"Content-Length", b"0")])
            writer.write(answer.closing((b"campaign-egress", self._token.encode())))
            await writer.drain()
            return None
        self._problems.pop(host.rstrip("."), None)
        return connection

    async def _tunnel(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        self._tunnels.add(writer)
        try:
            await self._both_ways(reader, writer, far_reader, far_writer)
        finally:
            self._tunnels.discard(writer)

    async def _forward(
        self,
        onward: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        self.sent += len(onward)
        far_writer.write(onward)
        body = asyncio.create_task(self._pump(reader, far_writer, outward=True))
        try:
            await self._answer_heads(writer, far_reader)
            await self._pump(far_reader, writer, outward=False)
        finally:
            body.cancel()
            far_writer.close()
            await asyncio.wait([body])

    async def _answer_heads(self, writer: asyncio.StreamWriter, far_reader: asyncio.StreamReader) -> None:
        """Pass on interim heads as they are, the final one as closing."""
        while True:
            raw = await far_reader.readuntil(b"\r\n\r\n")
            head = _Head.parse(raw)
            interim = head.first.split(b" ")[1:2] in ([b"100"], [b"102"], [b"103"])
            fields = [pair for pair in head.fields if pair[0].lower() != b"campaign-egress"]
            writer.write(raw if interim else _Head(head.first, fields).closing())
            if not interim:
                return

    async def _both_ways(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        out = asyncio.create_task(self._pump(reader, far_writer, outward=True))
        back = asyncio.create_task(self._pump(far_reader, writer, outward=False))
        try:
            await asyncio.wait([out, back], return_when=asyncio.FIRST_COMPLETED)
        finally:
            far_writer.close()
            for task in (out, back):
                task.cancel()
            await asyncio.wait([out, back])

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, outward: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(_CHUNK):
                if outward:
                    self.sent += len(data)
                else:
                    self.received += len(data)
                    if self.received > TAB_LIMIT:
                        return
                sink.write(data)
                await sink.drain()
