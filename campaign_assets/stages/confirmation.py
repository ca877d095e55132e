"""Confirmation: the listing is found live, or is waited for as long as the policy has patience, or is given
up as not listed.

The verdict of the filing decides what is waited for; only a page that carries our link or our name settles
it, never a status.
"""

from __future__ import annotations

from campaign_assets.errors import SiteError
from campaign_assets.model import (
    ConfirmationResult,
    DiscoveryResult,
    Filing,
    Outcome,
    PreflightResult,
    Reason,
    Unit,
)
from campaign_assets.policy import RESULT_PATIENCE
from campaign_assets.stages.listing import Locator, Sighting
from campaign_assets.stages.tools import Tools
from campaign_assets.states import Verdict

_NOT_YET = frozenset({Verdict.NEEDS_EMAIL})


async def confirmation(unit: Unit, tools: Tools) -> Outcome:
    """Look for the listing: at the receipt's address, then on the site's own lists."""
    locator = Locator(tools.fetcher, unit.business)
    try:
        found = await _find(unit, locator)
    except SiteError as error:
        return Outcome.retry(Reason(error.reason), error.sentence, error.retry_after)
    if found is None:
        return _missing(unit, locator)
    sighting, how = found
    kept = tools.keep("listing", sighting.page.document.body, "text/html")
    return Outcome.succeed(
        _result(sighting, how), f"Listed at {sighting.page.url}: {sighting.how}; found by {how}.", (kept,)
    )


async def _find(unit: Unit, locator: Locator) -> tuple[Sighting, str] | None:
    for url, how in _known(unit):
        found = await locator.at(url, how)
        if found:
            return found
    return await locator.anywhere(unit.result(DiscoveryResult).final_url)


def _known(unit: Unit) -> list[tuple[str, str]]:
    """Addresses at which the listing should be, and who says so."""
    known = []
    if unit.filing and unit.filing.receipt_url:
        known.append((unit.filing.receipt_url, "the receipt's link"))
    for result in unit.results.values():
        if isinstance(result, PreflightResult) and result.existing_listing:
            known.append((result.existing_listing, "the listing that preflight found"))
        if isinstance(result, ConfirmationResult):
            known.append((result.listing_url, "its earlier address"))
    return known


def _result(sighting: Sighting, how: str) -> ConfirmationResult:
    return ConfirmationResult(
        listing_url=sighting.page.url, found_by=how, link_url=sighting.link, rel=sighting.rel
    )


def _missing(unit: Unit, locator: Locator) -> Outcome:
    """Nothing yet: wait for the mail or the editors; after the policy's patience it counts as not listed."""
    looked = ", ".join(dict.fromkeys(locator.looked))
    verdict = unit.filing.verdict if unit.filing else None
    if unit.waits >= RESULT_PATIENCE:
        return Outcome.fail(
            Reason.NOT_LISTED,
            f"{_said(unit.filing)}, but after {unit.waits + 1} looks there is no listing ({looked}).",
        )
    waits_for = Reason.EMAIL_CONFIRMATION if verdict in _NOT_YET else Reason.MODERATION
    left = RESULT_PATIENCE - unit.waits
    return Outcome.wait(
        waits_for,
        f"{_said(unit.filing)}; look {unit.waits + 1} found no listing ({looked}). It is looked for {left} more times.",
    )


def _said(filing: Filing | None) -> str:
    if filing is None or filing.verdict is None:
        return "Filed"
    answered = filing.answered_at or filing.claimed_at
    return f"The site's answer of {answered:%Y-%m-%d %H:%M} was {filing.verdict}"
