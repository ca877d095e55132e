"""Monitoring: the listing is looked at again as a visitor who is not logged in, and compared with the
profile and the last look.

It succeeds at each look, whatever the look shows; the result carries it. One look without the link is a
miss, not a loss.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from campaign_assets.errors import SiteError
from campaign_assets.model import ConfirmationResult, DiscoveryResult, MonitoringResult, Outcome, Reason, Unit
from campaign_assets.stages.differences import differences
from campaign_assets.stages.indexing import named_elsewhere, robots_instructions
from campaign_assets.stages.listing import Locator, Sighting
from campaign_assets.stages.page import Page
from campaign_assets.stages.tools import Tools
from campaign_assets.states import Stage

T = TypeVar("T")
_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
_GONE = frozenset({Reason.NOT_FOUND})


async def monitoring(unit: Unit, tools: Tools) -> Outcome:
    """Look at the listing once; where it is gone from its address, look for it on the site."""
    before = _before(unit)
    listing_url = before.listing_url if before else unit.result(ConfirmationResult).listing_url
    try:
        sighting = await _look(unit, tools, listing_url)
    except SiteError as error:
        return Outcome.retry(Reason(error.reason), error.sentence, error.retry_after)
    now = _seen(unit, sighting) if sighting else _missed(listing_url, before)
    now = now.model_copy(update={"changes": changes(before, now)})
    kept = (
        (tools.keep("listing", sighting.page.document.body, "text/html"),) if sighting and now.changes else ()
    )
    return Outcome.succeed(now, _sentence(now), kept)


async def _look(unit: Unit, tools: Tools, listing_url: str) -> Sighting | None:
    """The listing where it was; else, where the site has moved it, elsewhere. A page that is gone shows nothing."""
    locator = Locator(tools.fetcher, unit.business)
    page = await _unless_gone(tools.fetcher.get(listing_url))
    sighting = await locator.sighting(Page(page)) if page else None
    if sighting:
        return sighting
    found = await _unless_gone(locator.anywhere(unit.result(DiscoveryResult).final_url))
    return found[0] if found else None


async def _unless_gone(asked: Awaitable[T]) -> T | None:
    try:
        return await asked
    except SiteError as error:
        if error.reason not in _GONE:
            raise
        return None


def _before(unit: Unit) -> MonitoringResult | None:
    result = unit.results.get(Stage.MONITORING)
    return result if isinstance(result, MonitoringResult) else None


def _seen(unit: Unit, sighting: Sighting) -> MonitoringResult:
    page = sighting.page
    instructions = robots_instructions(page)
    present = sighting.link is not None
    followed = (
        present
        and not sighting.wrapped
        and not (_NOT_FOLLOWED & set(sighting.rel.split()) or "nofollow" in instructions)
    )
    found = differences(unit.business, sighting)
    return MonitoringResult(
        listing_url=page.url,
        present=present,
        rel=sighting.rel,
        followed=followed,
        indexable="noindex" not in instructions and not named_elsewhere(page),
        differences=found,
        misses=0 if present else 1 + (before.misses if (before := _before(unit)) else 0),
    )


def _missed(listing_url: str, before: MonitoringResult | None) -> MonitoringResult:
    return MonitoringResult(
        listing_url=listing_url, present=False, misses=1 + (before.misses if before else 0)
    )


def changes(before: MonitoringResult | None, now: MonitoringResult) -> tuple[str, ...]:
    """What is not as it was at the last look, each a sentence. Pure."""
    if before is None:
        return ()
    found = []
    if before.present and not now.present:
        found.append("The link was not seen this time.")
    if not before.present and now.present:
        found.append(f"The link is there again after {before.misses} misses.")
    if now.present and before.present and set(before.rel.split()) != set(now.rel.split()):
        found.append(f"rel was “{before.rel or 'empty'}” and is “{now.rel or 'empty'}”.")
    if now.present and before.present and before.followed != now.followed:
        found.append(f"The link is {'followed now' if now.followed else 'no longer followed'}.")
    if now.present and before.present and before.indexable != now.indexable:
        found.append(f"The page {'may be indexed now' if now.indexable else 'may no longer be indexed'}.")
    if now.present and before.listing_url != now.listing_url:
        found.append(f"The listing moved from {before.listing_url} to {now.listing_url}.")
    if now.present:
        found += [f"New: {each}" for each in now.differences if each not in before.differences]
        found += [
            f"Settled: {each}"
            for each in before.differences
            if each not in now.differences and before.present
        ]
    return tuple(found)


def _sentence(now: MonitoringResult) -> str:
    if not now.present:
        times = "once" if now.misses == 1 else f"{now.misses} times in a row"
        return f"The link was not seen {times} at {now.listing_url}; one miss is not a loss."
    said = [
        "followed" if now.followed else f"not followed (rel “{now.rel}”)" if now.rel else "not followed",
        "may be indexed" if now.indexable else "kept out of search engines",
    ]
    told = " ".join((*now.changes, *now.differences))
    return f"The link stands at {now.listing_url}: {', '.join(said)}. {told}".strip()
