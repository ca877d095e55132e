"""Whether a directory lists the business already: its home page and its own search are asked, by GET only.

A listing is only what links to the business's site; a search page that repeats our words is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlencode, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from campaign_assets.errors import InputError, SiteError
from campaign_assets.model import Business
from campaign_assets.stages.folding import fold
from campaign_assets.web.fetch import Document, Fetcher
from campaign_assets.web.sites import registrable

_SEARCH_NAMES = frozenset(
    {"q", "s", "query", "search", "keyword", "keywords", "k", "suche", "term", "search_query"}
)
_MOST_LOOKS = 3


@dataclass(frozen=True)
class Lookup:
    """What was found: the listing's address, or None with where it was looked for."""

    listing: str | None
    sentence: str


async def find_listing(fetcher: Fetcher, home_url: str, business: Business) -> Lookup:
    """Look on the home page, then in the site's search; a page that cannot be read counts as not looked at.

    A SiteError that a later try may not see (429, 5xx, time-outs) is let through.
    """
    home = await _get(fetcher, home_url)
    if home is None:
        return Lookup(None, f"{home_url} could not be looked at.")
    found = await _on_page(fetcher, home, business)
    search = search_address(home, business.name)
    if found is None and search:
        page = await _get(fetcher, search)
        found = await _on_page(fetcher, page, business) if page else None
    if found:
        return Lookup(found, f"{business.name} is listed already: {found}")
    return Lookup(None, f"Not found on the home page{' or by the site’s search' if search else ''}.")


async def _get(fetcher: Fetcher, url: str) -> Document | None:
    try:
        return await fetcher.get(url)
    except SiteError as error:
        if error.transient:
            raise
        return None


async def _on_page(fetcher: Fetcher, page: Document, business: Business) -> str | None:
    """The listing that a page shows: a link of its own to the business's site, or a page behind the
    business's name."""
    tree = LexborHTMLParser(page.text)
    if links_to(tree, page.url, business.url):
        return _nearest_page(tree, page.url, business) or page.url
    for url in list(dict.fromkeys(_named(tree, page.url, business.name)))[:_MOST_LOOKS]:
        behind = await _get(fetcher, url)
        if behind and links_to(LexborHTMLParser(behind.text), behind.url, business.url):
            return behind.url
    return None


def _nearest_page(tree: LexborHTMLParser, base: str, business: Business) -> str | None:
    """The site's own page about the business, where the list that links to it has one."""
    return next(_named(tree, base, business.name), None)


def links_to(tree: LexborHTMLParser, base: str, url: str) -> bool:
    """Whether a page links to the site of `url`, itself or through a redirect that carries the address."""
    wanted = registrable(url)
    if _registrable(base) == wanted:
        return False
    for anchor in tree.css("a[href]"):
        href = urljoin(base, (anchor.attributes.get("href") or "").strip())
        if _registrable(href) == wanted or _carries(href, wanted):
            return True
    return False


def _carries(href: str, wanted: str) -> bool:
    """Whether a redirecting link of the directory carries an address of ours in its query."""
    query = unquote(urlsplit(href).query)
    return "://" in query and any(_registrable(f"http{part}") == wanted for part in query.split("http")[1:])


def _named(tree: LexborHTMLParser, base: str, name: str) -> Iterator[str]:
    """Pages of the site itself behind links that say the business's name."""
    wanted = fold(name)
    for anchor in tree.css("a[href]"):
        said = fold(anchor.text(strip=True))
        url = urljoin(base, anchor.attributes.get("href") or "").split("#")[0]
        named = bool(said) and (said == wanted or said.startswith(f"{wanted} "))
        searched = urlsplit(url).query and "search" in urlsplit(url).path
        if named and not searched and _registrable(url) == _registrable(base):
            yield url


def search_address(page: Document, words: str) -> str | None:
    """The address of the site's search for `words`: a GET form with one search field; None where there is none."""
    for form in LexborHTMLParser(page.text).css("form"):
        if (form.attributes.get("method") or "get").lower() != "get":
            continue
        field = next((name for control in form.css("input") if (name := _search_field(control))), None)
        url = urljoin(page.url, form.attributes.get("action") or page.url)
        if field and _registrable(url) == _registrable(page.url):
            kept = [
                (n, c.attributes.get("value") or "")
                for c in form.css("input[type=hidden]")
                if (n := c.attributes.get("name"))
            ]
            return f"{url.split('?')[0]}?{urlencode([*kept, (field, words)])}"
    return None


def _search_field(control: LexborNode) -> str | None:
    kind, name = (control.attributes.get("type") or "text").lower(), control.attributes.get("name")
    return name if name and (kind == "search" or (kind == "text" and name.lower() in _SEARCH_NAMES)) else None


def _registrable(url: str) -> str | None:
    try:
        return registrable(url) if urlsplit(url).scheme in ("http", "https") else None
    except (InputError, ValueError):
        return None
