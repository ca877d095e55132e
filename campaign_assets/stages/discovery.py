"""Discovery: a candidate from a source becomes a known publisher: reachable, allowed, alive, with a submit
page.

Owns the order of the questions; each answer that ends the matter is a rejection with its reason. What the
site may do better next time (time-outs, 5xx, 429) is left to the runtime's retry.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from campaign_assets.errors import SiteError
from campaign_assets.model import DiscoveryResult, Outcome, Reason, Unit
from campaign_assets.stages.language import language_of
from campaign_assets.stages.page import Page
from campaign_assets.stages.standing import Standing, standing
from campaign_assets.stages.submit_page import SubmitPage, find_submit_page
from campaign_assets.stages.tools import Tools
from campaign_assets.web.sites import canonical_site

_KEPT_TEXT = 4000
_REJECTIONS = frozenset({Reason.ROBOTS_FORBIDDEN, Reason.NOT_FOUND})


async def discovery(unit: Unit, tools: Tools) -> Outcome:
    """Visit the publisher's home page and find where it takes submissions."""
    try:
        home = await _home(unit, tools)
        found = standing(home, unit.url)
        if found:
            return _ended(found)
        site = canonical_site(home.url)
        other = await tools.known_as(site)
        if other is not None:
            return Outcome.reject(
                Reason.MERGED, f"{unit.key.site} leads to {site}, which is the publisher {other} already."
            )
        submit = await find_submit_page(home, unit.url, tools.fetcher)
        if submit is None:
            return Outcome.reject(Reason.NO_SUBMIT_PAGE, _nowhere(home))
        if await _forbidden(submit, home, tools):
            return Outcome.reject(
                Reason.ROBOTS_FORBIDDEN, f"robots.txt of {site} forbids its submit page {submit.url}."
            )
    except SiteError as error:
        if error.reason in _REJECTIONS:
            return Outcome.reject(Reason(error.reason), error.sentence)
        raise
    return Outcome.succeed(
        _result(home, site, submit), f"{site} takes submissions at {submit.url} ({submit.found})."
    )


async def _home(unit: Unit, tools: Tools) -> Page:
    """The home page; of a site whose path is the directory, or whose root does not exist, the address that
    the source gave.
    """
    root = home_address(unit.url, unit.key.site)
    try:
        return Page(await tools.fetcher.get(root))
    except SiteError as error:
        if error.reason != Reason.NOT_FOUND or root.rstrip("/") == unit.url.rstrip("/"):
            raise
    return Page(await tools.fetcher.get(unit.url))


def home_address(url: str, site: str) -> str:
    """The home page of the site that `url` belongs to."""
    parts = urlsplit(url)
    return url if "/" in site else f"{parts.scheme}://{parts.netloc}/"


def _ended(found: Standing) -> Outcome:
    if found.reason is Reason.LOGIN_REQUIRED:
        return Outcome.hold(
            found.reason, f"{found.sentence} A person has to file there by hand, or reject the publisher."
        )
    return Outcome.reject(found.reason, found.sentence)


async def _forbidden(submit: SubmitPage, home: Page, tools: Tools) -> bool:
    """Whether robots.txt keeps us from a submit page on the site itself; a hosted form is asked when it is opened."""
    if urlsplit(submit.url).hostname != urlsplit(home.url).hostname:
        return False
    return await tools.fetcher.robots(submit.url) == "forbidden"


def _nowhere(home: Page) -> str:
    return (
        f"None of the {len(home.links)} links of {home.url} leads to a submit page, its home page and sitemap "
        "have no form for listings, and the usual addresses do not answer with one."
    )


def _result(home: Page, site: str, submit: SubmitPage) -> DiscoveryResult:
    return DiscoveryResult(
        final_url=home.url,
        site=site,
        status=home.document.status,
        title=home.title,
        language=language_of(home),
        text=home.text[:_KEPT_TEXT],
        outgoing_links=len(home.outside()),
        https=home.url.startswith("https://"),
        submit_url=submit.url,
        submit_found=submit.found,
    )
