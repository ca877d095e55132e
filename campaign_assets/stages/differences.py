"""How a listing differs from the profile: name, link, phone, address, garbled letters; each difference a
sentence. Pure.

Only what the page shows is compared: a listing that leaves the phone out is no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import phonenumbers
from rapidfuzz import fuzz

from campaign_assets.model import Business
from campaign_assets.stages.folding import fold
from campaign_assets.stages.indexing import named_elsewhere, robots_instructions
from campaign_assets.stages.listing import Sighting
from campaign_assets.stages.page import Page
from campaign_assets.stages.relevance import folded

_GARBLED = re.compile("Ã[\u0080-\u00bf¤¶¼ŸŽ„–œ]|â€[™œ\u009d“”¦]|\ufffd")
_SAME = 97.0
_ALIKE = 75.0
_SHORTEST_NUMBER = 100_000
"""A national number below it is taken for a count, not for a phone."""


def differences(business: Business, sighting: Sighting) -> tuple[str, ...]:
    """Every difference between the profile and the page that carries the listing."""
    page = sighting.page
    return tuple(
        sentence
        for found in (
            _name(business, page),
            _link(business, sighting),
            _phone(business, page),
            _address(business, page),
            _letters(page),
            _hidden(page),
        )
        for sentence in found
    )


def _name(business: Business, page: Page) -> Iterator[str]:
    said = folded(page.text)
    if f" {fold(business.name)} " in f" {said} ":
        return
    match = fuzz.partial_ratio_alignment(fold(business.name), said)
    like = said[match.dest_start : match.dest_end].strip() if match else ""
    if match and match.score >= _ALIKE:
        yield f"The name reads “{like}” instead of “{business.name}”."
    else:
        yield f"The page does not say the name “{business.name}”."


def _link(business: Business, sighting: Sighting) -> Iterator[str]:
    if sighting.link is None:
        yield "The listing does not link to the business's site."
    elif sighting.wrapped:
        yield f"The link goes through {sighting.link}."
    elif _place(sighting.link) != _place(business.url):
        yield f"The link goes to {sighting.link} instead of {business.url}."


def _phone(business: Business, page: Page) -> Iterator[str]:
    region = business.address.country if business.address else None
    ours = [
        number
        for text in (business.phone, business.contact.phone)
        if text and (number := _number(text, region))
    ]
    shown = [
        match.number
        for match in phonenumbers.PhoneNumberMatcher(
            page.text, region, leniency=phonenumbers.Leniency.POSSIBLE
        )
        # Counts, years and prices are possible numbers, too.
        if (match.number.national_number or 0) >= _SHORTEST_NUMBER
    ]
    exact = phonenumbers.MatchType.NSN_MATCH
    if ours and shown and not any(phonenumbers.is_number_match(a, b) >= exact for a in ours for b in shown):
        form = phonenumbers.PhoneNumberFormat.INTERNATIONAL
        yield f"The phone reads {phonenumbers.format_number(shown[0], form)} instead of {business.phone}."


def _number(text: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None


def _address(business: Business, page: Page) -> Iterator[str]:
    """The street and the postal code, where the page shows one that is nearly ours."""
    if business.address is None:
        return
    said = folded(page.text)
    street, code = fold(business.address.street), fold(business.address.postal_code or "")
    match = fuzz.partial_ratio_alignment(street, said)
    if match is None or match.score < _ALIKE:
        return
    if match.score < _SAME:
        shown = said[match.dest_start : match.dest_end].strip()
        yield f"The street reads “{shown}” instead of “{business.address.street}”."
    elif code and f" {code} " not in f" {said} ":
        yield f"The address is shown without the postal code {business.address.postal_code}."


def _letters(page: Page) -> Iterator[str]:
    garbled = _GARBLED.search(page.text)
    if garbled:
        near = page.text[max(0, garbled.start() - 12) : garbled.end() + 12]
        yield f"Letters are garbled: “{near}”."


def _hidden(page: Page) -> Iterator[str]:
    """Why search engines may not show the page."""
    if "noindex" in robots_instructions(page):
        yield "The page asks not to be indexed (noindex)."
    elsewhere = named_elsewhere(page)
    if elsewhere:
        yield f"The page names {elsewhere} as its original."


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{(parts.hostname or '').removeprefix('www.')}{parts.path.rstrip('/')}"
