"""The polite fetcher: GET only, robots first, no host faster than its rate, redirects judged, sizes bounded.

It renders nothing and sends no cookies beyond one chain of redirects. What goes wrong is a SiteError with a reason.
"""

from __future__ import annotations

import asyncio
import time
import weakref
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookies import Morsel
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit

import aiohttp
from yarl import URL

from campaign_assets.errors import SiteError
from campaign_assets.model import Reason
from campaign_assets.web import answers
from campaign_assets.web.addresses import judged_host, refusal
from campaign_assets.web.charset import decode
from campaign_assets.web.network import CONNECT_TIMEOUT, Network
from campaign_assets.web.robots import LIMIT as ROBOTS_LIMIT
from campaign_assets.web.robots import Robots

REDIRECTS = 10
_CHUNK = 64 * 1024
_HTML = ("text/html", "application/xhtml+xml", "application/xml", "text/xml", "text/plain")

Reserve = Callable[[str, float], Awaitable[float]]
"""reserve(host, interval): books the host's next turn and returns the seconds until it."""


@dataclass(frozen=True)
class Document:
    """One fetched document. `url` is the final one, `redirects` the addresses it came by, first to last."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    text: str
    content_type: str
    redirects: tuple[str, ...] = ()


class Fetcher:
    """Fetches documents for one run. Close it at the end.

    `reserve` keeps the per-host rate across workers; without it the rate is kept in this process. `interval` is the
    seconds between two requests to one host, `patience` the seconds one request may take, `per_host` how many may be in
    flight.
    """

    def __init__(
        self,
        network: Network,
        reserve: Reserve | None = None,
        user_agent: str | None = None,
        *,
        interval: float = 1.0,
        patience: float = 60.0,
        per_host: int = 2,
    ) -> None:
        self._network = network
        self._reserve = reserve or _LocalRate().reserve
        self._user_agent = user_agent or network.user_agent
        self._interval = interval
        self._patience = patience
        self._per_host = per_host
        self._places: weakref.WeakValueDictionary[str, asyncio.Semaphore] = weakref.WeakValueDictionary()
        self._session: aiohttp.ClientSession | None = None
        self._robots = Robots(self._load_robots)

    async def get(
        self, url: str, *, robots: bool = True, limit: int = 3_000_000, html_only: bool = True
    ) -> Document:
        """The document at `url` after at most ten redirects; `limit` bounds its decoded bytes.

        SiteError reasons: dns_failure, tls_failure, connection_failed, address_refused, server_error, not_found,
        blocked, rate_limited (with retry_after), redirect_loop, too_large, not_html, robots_forbidden, deadline.
        """
        return await self._follow(url, robots, _Bounds(limit, html_only))

    async def _follow(self, url: str, robots: bool, bounds: _Bounds) -> Document:
        url = checked(url)
        jar = aiohttp.CookieJar()
        passed: list[str] = []
        seen: set[tuple[str, str]] = set()
        while True:
            if robots and not await self._robots.allows(url):
                raise SiteError(
                    Reason.ROBOTS_FORBIDDEN, f"The robots.txt of {urlsplit(url).hostname} forbids {url}."
                )
            cookies = jar.filter_cookies(URL(url))
            mark = (url, cookies.output())
            if mark in seen or len(passed) > REDIRECTS:
                raise SiteError(Reason.REDIRECT_LOOP, f"{passed[0]} redirects in a circle.")
            seen.add(mark)
            interval = max(self._interval, await self._robots.delay(url) if robots else 0.0)
            answer = await self._once(url, cookies, bounds, interval, tuple(passed))
            if isinstance(answer, Document):
                return answer
            jar.update_cookies(answer.cookies, URL(url))
            passed.append(url)
            url = checked(answer.target)

    async def leads_to(self, url: str) -> str | None:
        """Where `url` redirects to, one step and not followed; None where it is a page itself. SiteError as `get`."""
        url = checked(url)
        if not await self._robots.allows(url):
            raise SiteError(
                Reason.ROBOTS_FORBIDDEN, f"The robots.txt of {urlsplit(url).hostname} forbids {url}."
            )
        answer = await self._once(
            url, {}, _Bounds(ROBOTS_LIMIT, html_only=False, cut=True), self._interval, ()
        )
        return answer.target if isinstance(answer, _Redirect) else None

    async def robots(self, url: str) -> Literal["allowed", "forbidden"]:
        """What robots.txt says of `url`. SiteError where the host cannot say."""
        return "allowed" if await self._robots.allows(checked(url)) else "forbidden"

    async def close(self) -> None:
        """Close every connection. The fetcher may not be used afterwards."""
        if self._session is not None:
            await self._session.close()

    async def _load_robots(self, url: str) -> str:
        return (await self._follow(url, False, _Bounds(ROBOTS_LIMIT, html_only=False, cut=True))).text

    async def _once(
        self,
        url: str,
        cookies: Mapping[str, Morsel[str]],
        bounds: _Bounds,
        interval: float,
        passed: tuple[str, ...],
    ) -> Document | _Redirect:
        async with (
            self._turn(urlsplit(url).hostname or "", interval),
            _reasons(url),
            asyncio.timeout(self._patience),
            self._request(url, cookies) as response,
        ):
            target = response.headers.get("Location")
            if response.status in (301, 302, 303, 307, 308) and target:
                return _Redirect(urljoin(url, target.strip()), dict(response.cookies.items()))
            return await _read(url, response, bounds, passed)

    @asynccontextmanager
    async def _turn(self, host: str, interval: float) -> AsyncIterator[None]:
        place = self._places.setdefault(host, asyncio.Semaphore(self._per_host))
        async with place:
            wait = await self._reserve(host, interval)
            if wait > 0:
                await asyncio.sleep(wait)
            yield

    def _request(self, url: str, cookies: Mapping[str, Morsel[str]]) -> Any:
        if self._session is None:
            self._network.ready()
            self._session = aiohttp.ClientSession(
                connector=self._network.connector(),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT),
                headers={
                    "User-Agent": self._user_agent,
                    "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
                    "Accept-Language": "en,*;q=0.5",
                    "Accept-Encoding": "gzip, deflate",
                },
            )
        sent = {name: morsel.value for name, morsel in cookies.items()}
        return self._session.get(URL(url), allow_redirects=False, cookies=sent)


@dataclass(frozen=True)
class _Bounds:
    """What an answer may be; `cut`: a longer one is read up to the limit instead of refused."""

    limit: int
    html_only: bool
    cut: bool = False


@dataclass(frozen=True)
class _Redirect:
    target: str
    cookies: Mapping[str, Morsel[str]]


class _LocalRate:
    """The per-host rate of one process, for tools that run without a ledger."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    async def reserve(self, host: str, interval: float) -> float:
        now = time.monotonic()
        turn = max(self._next.get(host, now), now)
        self._next[host] = turn + interval
        return turn - now


def checked(url: str) -> str:
    """`url` without fragment, if it is one that may be visited; SiteError address_refused otherwise."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise refusal(f"{url!r} is not a web address.") from error
    if "\\" in parts.netloc:
        raise refusal(f"{url!r} is not a web address: programs disagree on where its host begins.")
    if parts.scheme not in ("http", "https"):
        raise refusal(f"{url!r} is not an address that begins with http or https.")
    name = judged_host(host)
    netloc = name if port is None else f"{name}:{port}"
    return parts._replace(netloc=netloc, path=parts.path or "/", fragment="").geturl()


@asynccontextmanager
async def _reasons(url: str) -> AsyncIterator[None]:
    """aiohttp's errors as reasons. The order matters: certificate and TLS errors are connection errors, too."""
    host = urlsplit(url).hostname
    try:
        yield
    except (
        aiohttp.ClientConnectorCertificateError,
        aiohttp.ClientSSLError,
        aiohttp.ServerFingerprintMismatch,
    ) as error:
        raise SiteError(Reason.TLS_FAILURE, f"{host} has no valid certificate: {error}.") from error
    except TimeoutError as error:
        raise SiteError(Reason.DEADLINE, f"{url} did not answer in time.", transient=True) from error
    except aiohttp.InvalidURL as error:
        raise refusal(f"{url!r} is not a web address.") from error
    except (aiohttp.ClientPayloadError, zlib.error) as error:
        raise SiteError(
            Reason.CONNECTION_FAILED, f"The answer of {url} broke off: {error}.", transient=True
        ) from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise SiteError(
            Reason.CONNECTION_FAILED, f"No answer from {host}: {error}.", transient=True
        ) from error


async def _read(
    url: str, response: aiohttp.ClientResponse, bounds: _Bounds, passed: tuple[str, ...]
) -> Document:
    content_type = response.headers.get("Content-Type", "")
    kind = content_type.partition(";")[0].strip().lower()
    refused = response.status >= 400
    if bounds.html_only and not refused and kind and kind not in _HTML:
        raise SiteError(Reason.NOT_HTML, f"{url} is {kind}, not a page.")
    body = await _body(url, response, bounds.limit, cut=refused or bounds.cut)
    text = decode(body, content_type)
    error = answers.problem(url, response.status, response.headers, text)
    if error:
        raise error
    if bounds.html_only and not kind and "<" not in text[:1000]:
        raise SiteError(Reason.NOT_HTML, f"{url} is not a page.")
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Document(url, response.status, headers, body, text, content_type, passed)


async def _body(url: str, response: aiohttp.ClientResponse, limit: int, *, cut: bool) -> bytes:
    """The decoded body, at most `limit` bytes; a longer one is an error, or is cut off where only its start matters."""
    decoder = _decoder(response.headers.get("Content-Encoding", ""))
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        body += decoder(chunk, limit + 1 - len(body))
        if len(body) > limit:
            if cut:
                return bytes(body[:limit])
            raise SiteError(Reason.TOO_LARGE, f"{url} is larger than {limit:,} bytes.")
    return bytes(body)


def _decoder(encoding: str) -> Callable[[bytes, int], bytes]:
    """A bounded decompressor: (chunk, room) → at most `room` bytes, so that a small body cannot unfold without end."""
    if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        return lambda chunk, room: chunk
    wrapped = zlib.decompressobj(zlib.MAX_WBITS | 32)
    raw: list[Any] = []

    def decompress(chunk: bytes, room: int) -> bytes:
        if room <= 0:
            return b""
        if raw:
            return bytes(raw[0].decompress(chunk, room))
        try:
            return wrapped.decompress(chunk, room)
        except zlib.error:
            raw.append(zlib.decompressobj(-zlib.MAX_WBITS))  # "deflate" without its zlib header
            return bytes(raw[0].decompress(chunk, room))

    return decompress
