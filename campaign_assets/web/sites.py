"""What a site is called: canonical sites, registrable domains, and web addresses cleaned of what lists do to them.

A site's identity is its host; the path belongs to it only where the path is the directory: a subreddit, a repository, a
hosted form. Pure text, no I/O.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from urllib.parse import SplitResult, unquote, urlsplit

import tldextract

from campaign_assets.errors import InputError, SiteError
from campaign_assets.web.addresses import judged_host

_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\x00-\x08\x0b-\x1f\x7f]"
)
_SCHEME = re.compile(r"(?i)^(?:(?:https?|hxxps?)(?:\s*:?\s*/{1,3}\s*|:(?!\d)))+")
_OTHER_SCHEME = re.compile(r"(?i)^([a-z][a-z0-9+.-]{1,20}):(?!\d{1,5}(?:/|$))")
_NEXT_ADDRESS = re.compile(r"(?i)https?:/{1,2}")
_END = re.compile(r"[\s<>\"`{}|\\^\u3000-\u3003\u300a-\u3011\uff08\uff09]")
_TRACKING = re.compile(
    r"(?i)^(utm_\w+|via|ref|ref_?src|referrer|fbclid|gclid|dclid|msclkid|twclid|yclid|igshid|mc_[ce]id|_hs\w+|aff"
    r"|affiliate(_?id)?)$"
)


def clean_url(text: str) -> str:
    """The web address in `text`, made whole: scheme added, glued text, tracking parameters and fragment taken off.

    InputError says in one sentence why there is none.
    """
    raw = _INVISIBLE.sub("", unicodedata.normalize("NFC", text)).strip(" \t\r\n'\"<>*_")
    if not raw:
        raise InputError("There is no address.")
    scheme, rest = _scheme(raw)
    rest = _unglued(rest)
    parts = _split(f"{scheme}://{rest}", text)
    if "@" in parts.netloc and not parts.path.strip("/") and not _SCHEME.match(raw):
        raise InputError(f"{text!r} is an e-mail address.")
    host = _host(parts, text)
    port = _port(parts, text)
    query = "&".join(pair for pair in parts.query.split("&") if not _TRACKING.match(pair.partition("=")[0]))
    netloc = host if port in (None, 80, 443) else f"{host}:{port}"
    return parts._replace(netloc=netloc, path=parts.path or "/", query=query, fragment="").geturl()


def canonical_site(url: str) -> str:
    """The site an address belongs to: lower-case ASCII host without `www.` and port.

    With a path only where that is the directory; hosts in other scripts in punycode. InputError for what is no site.
    """
    parts = urlsplit(clean_url(url))
    host = _bare(parts.hostname or "")
    for pattern, identify in _PATH_IS_SITE:
        if pattern.fullmatch(host):
            return identify(host, [unquote(piece) for piece in parts.path.split("/") if piece])
    return host


def registrable(host_or_url: str) -> str:
    """The registrable domain (`shop.example.co.uk` → `example.co.uk`), by the suffix list in the library.

    Private suffixes count (`me.github.io` stays whole): they are other people's sites. InputError for what has no host.
    """
    host = urlsplit(clean_url(host_or_url)).hostname or ""
    found = _suffixes()(host)
    if found.suffix and found.domain:
        return f"{found.domain}.{found.suffix}"
    return ".".join(host.split(".")[-2:])


def readable_site(site: str) -> str:
    """A site as a person writes it: punycode decoded."""
    host, slash, path = site.partition("/")
    labels = [_readable_label(label) for label in host.split(".")]
    return ".".join(labels) + slash + path


def has_known_suffix(host: str) -> bool:
    """Whether a host ends in a public suffix: tells a bare `tools.dev` in running text from a `readme.txt`."""
    found = _suffixes()(host)
    return bool(found.suffix and found.domain)


def _readable_label(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label


def _scheme(raw: str) -> tuple[str, str]:
    """The scheme and what follows it; doubled, misspelt or missing ones are put right, others are refused."""
    match = _SCHEME.match(raw)
    if match:
        last = re.findall(r"(?i)h(?:tt|xx)ps?", match.group())[-1].lower()
        return ("https" if last.endswith("s") else "http"), raw[match.end() :]
    if raw.startswith("//"):
        return "https", raw[2:]
    other = _OTHER_SCHEME.match(raw)
    if other:
        raise InputError(f"{raw!r} begins with {other.group(1).lower()}:, which is not a web address.")
    return "https", raw


def _unglued(rest: str) -> str:
    """Cut what a list has glued behind an address: a second address, a sentence, Markdown, brackets."""
    rest = _END.split(rest, maxsplit=1)[0]
    again = _NEXT_ADDRESS.search(rest)
    # An address inside a query or a path of an archive belongs to it; glued right behind a host or a word it does not.
    if again and again.start() > 0 and rest[again.start() - 1] not in "/=&?":
        rest = rest[: again.start()]
    rest = re.split(r"\]\(|\)\[", rest, maxsplit=1)[0]
    if ")" in rest and "(" not in rest:
        rest = rest.split(")", 1)[0]
    rest = re.sub(r"^([^/?#()\[\]]+)[(\[].*$", r"\1", rest) if not rest.startswith("[") else rest
    return rest.rstrip(".,;:!?'*_]>-–—…。、，")


def _split(url: str, text: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise InputError(f"{text!r} is not a web address.") from error


def _host(parts: SplitResult, text: str) -> str:
    host = parts.hostname or ""
    # Text glued to a host without a gap ("example.com—great"): a host ends where no host character goes on.
    host = re.split(r"[–—…,;!*'\"()]", host, maxsplit=1)[0]
    try:
        return judged_host(host)
    except SiteError as error:
        raise InputError(f"{text!r} is not the address of a website.") from error


def _port(parts: SplitResult, text: str) -> int | None:
    try:
        return parts.port
    except ValueError as error:
        raise InputError(f"{text!r} has a port that is none.") from error


def _bare(host: str) -> str:
    bare = host.removeprefix("www.")
    return bare if "." in bare else host


def _reddit(host: str, path: list[str]) -> str:
    if len(path) >= 2 and path[0].lower() == "r":
        return f"reddit.com/r/{path[1].lower()}"
    return "reddit.com"


def _repository(host: str, path: list[str]) -> str:
    if len(path) == 1:
        return f"{host}/{path[0].lower()}"
    if len(path) >= 2 and path[0].lower() not in (
        "topics",
        "search",
        "features",
        "orgs",
        "marketplace",
        "explore",
    ):
        return f"{host}/{path[0].lower()}/{path[1].lower().removesuffix('.git')}"
    return "/".join([host, *(piece.lower() for piece in path[:2])])


def _airtable(host: str, path: list[str]) -> str:
    form = next((piece for piece in path if re.match(r"shr\w+|pag\w+", piece)), None)
    base = next((piece for piece in path if re.match(r"app\w+", piece)), None)
    found = form or base
    return f"{host}/{found}" if found else host


def _tally(host: str, path: list[str]) -> str:
    if len(path) >= 2 and path[0] in ("r", "embed", "forms"):
        return f"{host}/r/{path[1]}"
    return host


def _typeform(host: str, path: list[str]) -> str:
    if len(path) >= 2 and path[0] in ("to", "c"):
        return f"{host}/to/{path[1]}"
    return host


def _google(host: str, path: list[str]) -> str:
    if host == "forms.gle":
        return "/".join([host, *path[:1]])
    while len(path) > 2 and path[1] == "u":  # /forms/u/0/d/e/… is the same form as /forms/d/e/…
        path = [path[0], *path[3:]]
    if path[:1] == ["forms"] and "d" in path:
        at = path.index("d")
        return "/".join([host, "forms", *path[at : at + (3 if path[at + 1 : at + 2] == ["e"] else 2)]])
    return host


_PATH_IS_SITE = (
    (re.compile(r"(?:[a-z]+\.)?reddit\.com"), _reddit),
    (re.compile(r"github\.com|gitlab\.com"), _repository),
    (re.compile(r"airtable\.com"), _airtable),
    (re.compile(r"tally\.so"), _tally),
    (re.compile(r"(?:[a-z0-9-]+\.)?typeform\.com"), _typeform),
    (re.compile(r"docs\.google\.com|forms\.gle"), _google),
)


@functools.cache
def _suffixes() -> tldextract.TLDExtract:
    # No suffix_list_urls: the list inside the package, never one fetched at run time.
    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
