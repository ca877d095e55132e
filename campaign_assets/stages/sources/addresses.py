"""What people write where an address should be: an address of a public site, or a reason in words why it is
none.

The repair of written addresses and which site an address is belong to `web.sites`; this module says which
texts are meant as addresses at all. Never looks anything up.
"""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple
from urllib.parse import urlsplit

from campaign_assets.errors import InputError
from campaign_assets.web.sites import canonical_site, clean_url, has_known_suffix

_WRAPPING = " \t\r\n<>\"'`“”„‘’()*_~\u200b\u200c\u200d\u2060\ufeff\u00a0"
_SCHEME = re.compile(r"(?:https?|hxxps?)\s*(?::\s*/{0,3}|//)(?=[^\s/])", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)
_MAIL = re.compile(r"(?:mailto:.*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)", re.IGNORECASE)
_HOST = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_](?:[\w-]*[^\W_])?\.?(?=[:/?#\s(\[,;–—]|$)")
_FILES = frozenset(
    "md html htm json csv txt py rs sh js ts png jpg svg gif zip pdf yml yaml toml php xml doc docx xls xlsx".split()
)
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".avif", ".bmp")
_PRIVATE = frozenset("local localhost internal lan home test invalid onion arpa intranet corp".split())


class NoAddress(Exception):
    """What stands there is no address of a public site; the text is the reason shown to the operator."""


class Candidate(NamedTuple):
    """An address that a list names as an entry, before duplicates are merged."""

    line: int
    url: str
    name: str
    text: str
    """What stands in the list, for the rejected line where it is one."""


def site_of(url: str) -> str:
    """The canonical site of an address. NoAddress where it is none."""
    try:
        return canonical_site(url)
    except InputError as error:
        raise NoAddress("a malformed address") from error


def complete(written: str, *, schemeless: bool = True) -> str:
    """The http(s) address in `written`, repaired.

    `schemeless`: a bare host with any known ending counts; otherwise only one that cannot be a file's name,
    since it stands where a link without scheme is a relative one. NoAddress says why there is none.
    """
    text = written.strip(_WRAPPING)
    scheme = _SCHEME.search(text)
    if scheme:
        return _public(text[scheme.start() :])
    _refuse_other_kinds(text)
    if not _is_bare_host(text) and _literal(text.split("/", 1)[0]) is None:
        raise NoAddress("no address" if schemeless and text[:1] not in "/.?" else "a relative link")
    return _public(text)


def looks_like_address(cell: str) -> bool:
    """Whether a whole cell is one address and nothing more; used to find the columns that hold addresses."""
    text = cell.strip(_WRAPPING)
    if not text or len(text) > 2000 or _MAIL.fullmatch(text):
        return False
    if _SCHEME.match(text):
        return len(text.split()) <= 2
    return " " not in text and "." in text and _is_bare_host(text)


def _refuse_other_kinds(text: str) -> None:
    """NoAddress for what has a meaning of its own."""
    if not text:
        raise NoAddress("no address")
    if text.startswith("#"):
        raise NoAddress("an anchor of the same page")
    if _MAIL.fullmatch(text):
        raise NoAddress("a mail address")
    if _OTHER_SCHEME.match(text) and not _is_bare_host(text):
        raise NoAddress("not an http or https address")


def _is_bare_host(text: str) -> bool:
    """Whether a text without scheme begins with a host whose ending is a real one, and is not a file's name."""
    match = _HOST.match(text.removeprefix("//"))
    if match is None:
        return False
    host = match.group().rstrip(".").lower()
    ending = host.rpartition(".")[2]
    if ending in _FILES and not host.startswith("www."):
        return False
    return ending == "example" or has_known_suffix(host)


def _public(text: str) -> str:
    """The repaired address, if its host is public by name."""
    try:
        url = clean_url(text)
    except InputError as error:
        raise NoAddress("a private address" if _is_private(text) else "a malformed address") from error
    parts = urlsplit(url)
    if (parts.hostname or "").rpartition(".")[2] in _PRIVATE:
        raise NoAddress("a private address")
    if parts.path.lower().endswith(_IMAGES):
        raise NoAddress("an image")
    return url


def _is_private(text: str) -> bool:
    """Whether the host is an address or a name that no public site has."""
    try:
        host = urlsplit(text if "//" in text else f"//{text}").hostname or ""
    except ValueError:
        return False
    literal = _literal(host)
    if literal is not None:
        return not literal.is_global or literal.is_multicast
    return host.rpartition(".")[2] in _PRIVATE


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address a host is, in plain notation."""
    if not host[-1:].isdigit() and ":" not in host:
        return None
    for form in (host.strip("[]"), host.rpartition(":")[0]):
        try:
            return ipaddress.ip_address(form)
        except ValueError:
            continue
    return None
