"""The one place that opens connections: SSRF guard and CAMPAIGN_RESOLVE, for fetcher and browser alike.

Host names are judged before DNS, addresses after it, and the address that was judged is the one that is connected to,
so that rebinding has no moment to happen in. With `Settings.resolve` no name is ever looked up: every connection goes
to the one given address, and only then are certificates not checked.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from campaign_assets.errors import ConfigError, SiteError
from campaign_assets.model import Reason
from campaign_assets.settings import Settings
from campaign_assets.web.addresses import PORTS, is_public, judged_host, refusal

PRODUCT = "campaign_assets"
CONNECT_TIMEOUT = 15.0

Lookup = Callable[[str, int], Awaitable[list[str]]]
"""DNS: (host, port) → addresses; raises OSError."""


class Endpoint(NamedTuple):
    """A judged address and port: what may be connected to."""

    address: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.address else socket.AF_INET


class Network:
    """Connections out of this process. `lookup` replaces DNS in tests; nothing replaces the judgement."""

    def __init__(self, settings: Settings, lookup: Lookup | None = None) -> None:
        self.settings = settings
        self.resolve = settings.resolve
        self._lookup = lookup or _system_lookup

    def ready(self) -> None:
        """ConfigError where this installation may not visit any site: no contact given and not in the sandbox."""
        if self.resolve is None and not self.settings.contact:
            raise ConfigError(
                "CAMPAIGN_CONTACT is not set; give an e-mail or web address at which a visited site can reach you."
            )

    @property
    def user_agent(self) -> str:
        """Who we are, for every request: product, version and, where given, the contact."""
        contact = f" (+{self.settings.contact})" if self.settings.contact else ""
        return f"{PRODUCT}/{_version()}{contact}"

    @property
    def verify(self) -> bool:
        """Whether certificates are checked: always, outside `resolve`."""
        return self.resolve is None

    async def endpoints(self, host: str, port: int) -> list[Endpoint]:
        """Where a connection to `host`:`port` may go, judged. SiteError address_refused or dns_failure; ConfigError."""
        self.ready()
        name = judged_host(host)
        kind = PORTS.get(port)
        if kind is None:
            raise refusal(f"Port {port} of {host} is none that a website uses.")
        if self.resolve is not None:
            resolved = self.resolve.https_port if kind == "https" else self.resolve.http_port
            return [Endpoint(self.resolve.address, resolved)]
        return [Endpoint(address, port) for address in await self._addresses(name, port)]

    async def _addresses(self, name: str, port: int) -> list[str]:
        try:
            addresses = await self._lookup(name, port)
        except OSError as error:
            transient = getattr(error, "errno", None) == socket.EAI_AGAIN
            raise SiteError(
                Reason.DNS_FAILURE, f"The name {name} does not resolve.", transient=transient
            ) from error
        if not addresses:
            raise SiteError(Reason.DNS_FAILURE, f"The name {name} has no address.")
        for address in addresses:
            if not is_public(address):
                raise refusal(f"{name} leads to {address}, which is not a public address.")
        return addresses

    def permits(self, address: str, port: int) -> bool:
        """The last check, on the socket's own address just before it connects."""
        if self.resolve is not None:
            return address == self.resolve.address and port in (
                self.resolve.http_port,
                self.resolve.https_port,
            )
        return port in PORTS and is_public(address)

    async def open(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A TCP connection to a judged address, the first that answers. SiteError with a reason."""
        problem: OSError | TimeoutError | None = None
        for endpoint in await self.endpoints(host, port):
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    return await asyncio.open_connection(
                        endpoint.address, endpoint.port, family=endpoint.family
                    )
            except (OSError, TimeoutError) as error:
                problem = error
        raise SiteError(
            Reason.CONNECTION_FAILED, f"No connection to {host}: {problem or 'no answer'}.", transient=True
        ) from problem

    def connector(self) -> aiohttp.TCPConnector:
        """An aiohttp connector whose every socket passed this guard. Call inside a running loop."""
        return aiohttp.TCPConnector(
            resolver=_Resolver(self),
            socket_factory=self._guarded_socket,
            ssl=self.verify,
            limit=100,
            limit_per_host=4,
            ttl_dns_cache=60,
            happy_eyeballs_delay=None,
        )

    def _guarded_socket(self, info: Any) -> socket.socket:
        family, kind, proto, _, target = info
        if not self.permits(str(target[0]), int(target[1])):
            raise refusal(f"{target[0]} is not an address that may be connected to.")
        return socket.socket(family=family, type=kind, proto=proto)


class _Resolver(AbstractResolver):
    """aiohttp's resolver hook; addresses and, under `resolve`, the port come from the Network."""

    def __init__(self, network: Network) -> None:
        self._network = network

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=endpoint.address,
                port=endpoint.port,
                family=endpoint.family,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for endpoint in await self._network.endpoints(host, port)
        ]

    async def close(self) -> None:
        return None


async def _system_lookup(host: str, port: int) -> list[str]:
    """getaddrinfo in a daemon thread of its own: a resolver that hangs must neither use up a pool nor hold the exit."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[list[str]] = loop.create_future()

    def settle(addresses: list[str], error: OSError | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(addresses)
        else:
            done.set_exception(error)

    def ask() -> None:
        addresses: list[str] = []
        problem: OSError | None = None
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
        except OSError as error:
            problem = error
        except UnicodeError as error:
            problem = OSError(str(error))
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, addresses, problem)

    threading.Thread(target=ask, name=f"dns {host}", daemon=True).start()
    return await done


def _version() -> str:
    try:
        return importlib.metadata.version("campaign-assets")
    except importlib.metadata.PackageNotFoundError:
        return "0"
