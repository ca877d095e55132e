"""Which hosts and addresses may be reached at all: pure judgement, no I/O.

A directory is a public name on the public internet. So a literal address is refused in every notation, and so is a name
that only means something inside a network; of what DNS answers only plain public unicast addresses pass. Ranges are an
allow list for IPv6, and the standard library's registry plus what it forgets for IPv4, so that a new special range is
refused until somebody allows it.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from urllib.parse import unquote

import idna

from campaign_assets.errors import SiteError
from campaign_assets.model import Reason

PORTS = {80: "http", 8080: "http", 443: "https", 8443: "https"}
"""Ports that may be connected to, and which kind of server stands there (where `resolve` sends it)."""

_LOCAL_NAMES = frozenset(
    "localhost localdomain local internal intranet lan home corp private host onion arpa".split()
)
_NUMERIC = re.compile(r"\d+|0x[0-9a-f]*")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_SPECIAL_V4 = tuple(
    ipaddress.ip_network(net)
    for net in (
        "0.0.0.0/8",
        "100.64.0.0/10",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "224.0.0.0/3",
    )
)
_PUBLIC_V6 = ipaddress.ip_network("2000::/3")
_SPECIAL_V6 = tuple(
    ipaddress.ip_network(net) for net in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)


def refusal(sentence: str) -> SiteError:
    """The error for a target that must not be reached: never transient."""
    return SiteError(Reason.ADDRESS_REFUSED, sentence)


def ascii_host(host: str) -> str:
    """`host` as DNS knows it: lower case, punycode, no trailing dot. ValueError where it is no host name.

    The same folding as a browser's (percent-decoding, compatibility forms), so that no notation is judged
    by another spelling than the one that is connected to.
    """
    folded = unicodedata.normalize("NFKC", unquote(host)).strip().rstrip(".").lower()
    if not folded or re.search(r"[\s/?#@\\<>^|%]", folded):
        raise ValueError(f"{host!r} is not a host name")
    if folded.isascii():
        return folded
    try:
        return idna.encode(folded, uts46=True).decode("ascii").rstrip(".")
    except idna.IDNAError as error:
        raise ValueError(f"{host!r} is not a host name: {error}") from error


def is_literal(host: str) -> bool:
    """Whether a browser or the C library would read this (folded) host as an address instead of a name."""
    if ":" in host or host.startswith("["):
        return True
    return bool(_NUMERIC.fullmatch(host.rpartition(".")[2]))


def judged_host(host: str) -> str:
    """The ASCII form of a public host *name*; SiteError address_refused for a literal address or a local name."""
    try:
        name = ascii_host(host)
    except ValueError as error:
        raise refusal(f"{host!r} is not the name of a website.") from error
    if is_literal(name):
        raise refusal(f"{host} is an address, not a name; only public names are visited.")
    labels = name.split(".")
    if len(labels) < 2 or labels[-1] in _LOCAL_NAMES:
        raise refusal(f"{host} is a name of a local network; only public names are visited.")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise refusal(f"{host!r} is not the name of a website.")
    return name


def is_public(address: str) -> bool:
    """Whether an address is plain public unicast; False for what is not an address at all."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv4Address):
        return parsed.is_global and not any(parsed in net for net in _SPECIAL_V4)
    if getattr(parsed, "scope_id", None):
        return False
    return parsed in _PUBLIC_V6 and parsed.is_global and not any(parsed in net for net in _SPECIAL_V6)
