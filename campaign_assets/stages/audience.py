"""Whom a directory is for, as far as its home page says: its purpose, its place, its language, its price.
Pure, words as data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from urllib.parse import urlsplit

from campaign_assets.model import Business, DiscoveryResult
from campaign_assets.stages.folding import fold, says, tokens
from campaign_assets.stages.relevance import folded, overlaps
from campaign_assets.stages.vocabulary import read, word_lists

_SENTENCE = re.compile(r"[^.!?。！？\n]+")
_HEAD = 400
_PURPOSE_HEAD = 800
"""A page says early what it is for; further down the same words may be about one of its listings."""
_COUNTRY_ENDINGS = {"uk": "GB"} | {
    ending: ending.upper()
    for ending in (
        "ie de at ch fr be nl es pt br it pl se dk no fi tr jp cn kr in au nz ca sg za ng ke ae mx ar".split()
    )
}
"""Country endings that are mostly used in their country; io, ai, co, me and their like say nothing."""


class View(NamedTuple):
    """One aspect: 0 to 1, and the sentence for it."""

    value: float
    sentence: str


def purpose(business: Business, found: DiscoveryResult) -> View:
    """Whether what the directory says it lists can be the business."""
    words = word_lists("scoring")
    unfit = says(folded(f"{found.title} . {found.text[:_PURPOSE_HEAD]}"), words["unfit_purpose"])
    if unfit:
        return View(0.02, f"It is about “{unfit}”, which the business is not.")
    for sentence in _sentences(found.text):
        if says(sentence, words["only"]) and says(sentence, words["lists"]) and len(sentence.split()) < 30:
            narrow = says(sentence, words["only"])
            if _names_what_it_lists(sentence) and not overlaps(business, sentence):
                return View(0.15, f"It says “{narrow}” of something else: “{sentence}”.")
    return View(1.0, "Nothing it says excludes the business.")


def place(business: Business, found: DiscoveryResult) -> View:
    """Whether the directory belongs to a place, and the business to it."""
    home = business.address.country if business.address else None
    ours = {*business.countries, *([home] if home else [])}
    head = folded(f"{found.title} . {found.text[:_HEAD]}")
    country, because = _country(found.final_url, head)
    local = says(head, word_lists("scoring")["local"])
    if country is None:
        if local and home is None:
            return View(0.4, f"It is a directory of a place (“{local}”), and the profile has no address.")
        return View(1.0, "It is bound to no country.")
    if country in ours:
        return View(1.0, f"It belongs to {country} ({because}), as the business does.")
    if local:
        return View(
            0.01, f"It is for a place in {country} ({because}, “{local}”); the business is not there."
        )
    if business.countries:
        return View(0.2, f"It belongs to {country} ({because}), which the business does not serve.")
    return View(0.6, f"It belongs to {country} ({because}); the business serves it from elsewhere.")


def language(business: Business, found: DiscoveryResult) -> View:
    """Whether the business speaks the directory's language."""
    spoken = found.language
    if not spoken:
        return View(0.7, "Its language cannot be told.")
    if spoken == business.language:
        return View(1.0, f"It is written in the business's language ({spoken}).")
    if spoken in business.languages:
        return View(0.9, f"It is written in {spoken}, which the business serves.")
    return View(0.3, f"It is written in {spoken}, which is none of the business's languages.")


def eligibility(found: DiscoveryResult) -> View:
    """Whether a stranger may be listed without paying, as far as the home page says."""
    said = folded(f"{found.title} . {found.text}")
    words = word_lists("scoring")
    circle = says(said, words["closed_circle"])
    if circle:
        return View(0.2, f"It says “{circle}”.")
    paid = says(said, words["paid_only"])
    if paid:
        return View(0.2, f"It lists for money: “{paid}”.")
    free = says(said, words["free_listing"])
    return (
        View(1.0, f"It says “{free}”.")
        if free
        else View(0.85, "Its home page does not say what a listing costs.")
    )


def _country(url: str, head: str) -> tuple[str | None, str]:
    """The country a directory belongs to, and what says so."""
    host = (urlsplit(url).hostname or "").lower()
    ending = host.rpartition(".")[2]
    if ending in _COUNTRY_ENDINGS:
        return _COUNTRY_ENDINGS[ending], f".{ending}"
    name = " ".join(tokens(host.replace(".", " ").replace("-", " ")))
    for country, phrases in _places().items():
        named = says(head, phrases) or says(name, phrases)
        if named:
            return country, f"“{named}”"
    return None, ""


@cache
def _places() -> dict[str, frozenset[str]]:
    return {country: frozenset(map(fold, names)) for country, names in read("scoring")["places"].items()}


def _sentences(text: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(text):
        yield fold(match.group())


def _names_what_it_lists(sentence: str) -> bool:
    """Whether an "only" sentence is long enough to name a thing, not just a condition."""
    stop = word_lists("scoring")["stop"]
    return sum(word not in stop for word in sentence.split()) >= 4
