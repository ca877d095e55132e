"""Whether a page carries our listing, and where a site keeps it. By GET only.

A page carries it when it links to the business's site, straight or through the site's own redirect, or,
without a link, when it is headed by the business's name and shows its address on the web. A page that only
repeats what was searched for carries nothing.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote_plus, urljoin, urlsplit

from campaign_assets.errors import SiteError
from campaign_assets.model import Business
from campaign_assets.stages.existing import search_address
from campaign_assets.stages.folding import fold, says
from campaign_assets.stages.page import Page, PageLink, domain_of
from campaign_assets.stages.relevance import folded, same_shelf
from campaign_assets.stages.vocabulary import word_lists
from campaign_assets.web.fetch import Fetcher

_REDIRECT_PATH = re.compile(
    r"/(?:go|out|visit|redirect|redir|r|link|goto|exit|click|away|jump|track|url)(?:[/.?]|$)", re.IGNORECASE
)
_SITEMAP_PAGE = re.compile(r"<loc>\s*([^<\s]+)\s*</loc>", re.IGNORECASE)
_SITEMAP_LIMIT = 3_000_000
_MOST_REDIRECTS = 2
_MOST_NAMED = 2
_MOST_LISTS = 3


@dataclass(frozen=True)
class Sighting:
    """Our listing as a visitor sees it who is not logged in."""

    page: Page
    how: str
    """What of ours the page carries, in words."""
    link: str | None = None
    """Where the link goes: our address, or the site's own redirect to it."""
    rel: str = ""
    wrapped: bool = False
    """The link goes through a redirect of the site."""


class Locator:
    """Looks for one business's listing on one site; a page is never fetched twice."""

    def __init__(self, fetcher: Fetcher, business: Business) -> None:
        self._fetcher = fetcher
        self._business = business
        self._pages: dict[str, Page | None] = {}
        self.looked: list[str] = []
        """Where it was looked for, in words."""

    async def at(self, url: str, how: str) -> tuple[Sighting, str] | None:
        """The listing at a known address."""
        page = await self._page(url)
        self.looked.append(how)
        sighting = await self.sighting(page) if page else None
        return (sighting, how) if sighting else None

    async def anywhere(self, home_url: str) -> tuple[Sighting, str] | None:
        """The listing by the site's home page, its search, its categories and its sitemap, with how it was found.

        SiteError where the home page cannot be read, or a look met what a later try may not.
        """
        home = Page(await self._fetcher.get(home_url))
        async for page, how in self._lists(home):
            self.looked.append(how)
            found = await self._on(page)
            if found:
                return found, how
        self.looked.append("its sitemap")
        async for page in self._in_sitemap(home_url):
            sighting = await self.sighting(page)
            if sighting:
                return sighting, "its sitemap"
        return None

    async def sighting(self, page: Page) -> Sighting | None:
        """Our listing on `page`, if the page carries it."""
        if domain_of(page.url) == domain_of(self._business.url):
            return None
        links = sorted(page.linking_to(self._business.url), key=lambda link: not self._straight(link))
        if links:
            first, wrapped = links[0], not self._straight(links[0])
            return Sighting(page, f"a link to {first.url}", first.url, first.rel, wrapped)
        if not self._headed(page):
            return None
        through = await self._redirecting(page)
        if through:
            return Sighting(
                page, f"a link through its own {urlsplit(through.url).path}", through.url, through.rel, True
            )
        shown = domain_of(self._business.url) or self._business.url
        return Sighting(page, f"our name and {shown}, without a link") if shown in page.text.lower() else None

    def _straight(self, link: PageLink) -> bool:
        return domain_of(link.url) == domain_of(self._business.url)

    def _headed(self, page: Page) -> bool:
        """Whether the page is about the business: its title begins with the name, and it answers no search."""
        name, title = fold(self._business.name), f"{fold(page.title)} "
        asked = urlsplit(page.url)
        return (
            title.startswith(f"{name} ")
            and "search" not in asked.path
            and name not in fold(unquote_plus(asked.query))
        )

    async def _redirecting(self, page: Page) -> PageLink | None:
        """The page's own redirect that leads to us."""
        own = domain_of(page.url)
        asked = [
            link
            for link in page.links
            if domain_of(link.url) == own and _REDIRECT_PATH.search(urlsplit(link.url).path)
        ]
        for link in asked[:_MOST_REDIRECTS]:
            try:
                target = await self._fetcher.leads_to(link.url)
            except SiteError:
                continue
            if target and domain_of(target) == domain_of(self._business.url):
                return link
        return None

    async def _on(self, page: Page) -> Sighting | None:
        """The listing that a list shows: the page behind our name where there is one, else the list itself."""
        for link in islice(page.named(self._business.name), _MOST_NAMED):
            behind = await self._page(link.url)
            sighting = await self.sighting(behind) if behind else None
            if sighting:
                return sighting
        return await self.sighting(page)

    async def _lists(self, home: Page) -> AsyncIterator[tuple[Page, str]]:
        """The pages that may list us, the cheapest first."""
        yield home, "its home page"
        search = search_address(home.document, self._business.name)
        page = await self._page(search) if search else None
        if page:
            yield page, "its search"
        for link in islice(self._shelves(home), _MOST_LISTS):
            page = await self._page(link.url)
            if page:
                yield page, f"its page “{link.text}”"

    def _shelves(self, home: Page) -> Iterator[PageLink]:
        """Links to lists we may stand on: the newest ones, then categories of ours."""
        own, newest = domain_of(home.url), word_lists("discovery")["newest"]
        links = {
            link.url: link
            for link in home.links
            if domain_of(link.url) == own
            and 0 < len(link.text) < 40
            and link.url.rstrip("/") != home.url.rstrip("/")
        }
        yield from (link for link in links.values() if says(fold(link.text), newest))
        for category in self._business.categories:
            yield from (link for link in links.values() if same_shelf(fold(category), fold(link.text)))

    async def _in_sitemap(self, home_url: str) -> AsyncIterator[Page]:
        """Pages of the sitemap whose address ends in our name."""
        try:
            sitemap = await self._fetcher.get(
                urljoin(home_url, "/sitemap.xml"), limit=_SITEMAP_LIMIT, html_only=False
            )
        except SiteError as error:
            if error.transient:
                raise
            return
        name = fold(self._business.name)
        urls = [url for url in _SITEMAP_PAGE.findall(sitemap.text) if name in f" {folded(_last_step(url))} "]
        for url in urls[:_MOST_NAMED]:
            page = await self._page(url)
            if page:
                yield page

    async def _page(self, url: str) -> Page | None:
        """A page of the site; None for one that is not there. What a later try may see is let through."""
        if url not in self._pages:
            try:
                self._pages[url] = Page(await self._fetcher.get(url))
            except SiteError as error:
                if error.transient:
                    raise
                self._pages[url] = None
        return self._pages[url]


def _last_step(url: str) -> str:
    return re.sub(r"[-_+]", " ", urlsplit(url).path.rstrip("/").rpartition("/")[2])
