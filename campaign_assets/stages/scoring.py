"""Scoring: a publisher gets a score from 0 to 100 with its reasons, or is rejected below the campaign's
bar.

The score is the weighted geometric mean of its signals, each 0 to 1: one that is near zero pulls the whole
down, as it should where a good website is about something else. Weights stand in one table.
"""

from __future__ import annotations

import math

from campaign_assets.model import Business, DiscoveryResult, Outcome, Reason, ScoringResult, Signal, Unit
from campaign_assets.stages.audience import View, eligibility, language, place, purpose
from campaign_assets.stages.folding import says
from campaign_assets.stages.relevance import folded, relevance
from campaign_assets.stages.tools import Tools
from campaign_assets.stages.vocabulary import word_lists

WEIGHTS = {
    "relevance": 0.33,
    "purpose": 0.25,
    "place": 0.22,
    "language": 0.06,
    "eligibility": 0.05,
    "listings": 0.04,
    "clean": 0.03,
    "https": 0.02,
}
"""They add up to 1."""
_LOWEST = 0.01
"""A signal of zero counts as this: nothing is ruled out by one number alone."""
_MANY_LISTINGS = 8


async def scoring(unit: Unit, tools: Tools) -> Outcome:
    """Score what discovery found. Asks no site."""
    result = score(unit.business, unit.result(DiscoveryResult), unit.settings.bar)
    weakest = sorted(result.signals, key=lambda s: s.weight * math.log(max(s.value, _LOWEST)))[:2]
    because = " ".join(f"{s.name} {s.value:.2f}: {s.sentence}" for s in weakest)
    if result.score < result.bar:
        return Outcome.reject(
            Reason.BELOW_BAR,
            f"Scores {result.score}, below the campaign's bar of {result.bar}. {because}",
            result,
        )
    return Outcome.succeed(result, f"Scores {result.score} (bar {result.bar}). {because}")


def score(business: Business, found: DiscoveryResult, bar: int) -> ScoringResult:
    """The signals of a publisher for a business and what they come to. Pure."""
    signals = tuple(
        Signal(name=name, value=view.value, weight=WEIGHTS[name], sentence=view.sentence)
        for name, view in _views(business, found).items()
    )
    logs = sum(s.weight * math.log(max(s.value, _LOWEST)) for s in signals)
    return ScoringResult(score=round(100 * math.exp(logs)), bar=bar, signals=signals)


def _views(business: Business, found: DiscoveryResult) -> dict[str, View]:
    return {
        "relevance": _relevance(business, found),
        "purpose": purpose(business, found),
        "place": place(business, found),
        "language": language(business, found),
        "eligibility": eligibility(found),
        "listings": _listings(found),
        "clean": _clean(found),
        "https": View(1.0, "It is served over https.")
        if found.https
        else View(0.4, "It is served without https."),
    }


def _relevance(business: Business, found: DiscoveryResult) -> View:
    close = relevance(business, f"{found.title} . {found.text}")
    if not close.words and not close.shelves:
        return View(close.value, "Its text shares neither words nor topics with the profile.")
    words = f"shares the words {', '.join(close.words)}" if close.words else "shares no word"
    topics = f"the topics {', '.join(close.shelves)}" if close.shelves else "no topic"
    return View(close.value, f"Its text {words} and {topics} with the profile.")


def _listings(found: DiscoveryResult) -> View:
    """A directory shows what it lists and links to it."""
    value = round(0.3 + 0.7 * min(found.outgoing_links / _MANY_LISTINGS, 1.0), 2)
    return View(value, f"Its home page links to {found.outgoing_links} other sites.")


def _clean(found: DiscoveryResult) -> View:
    spam = word_lists("scoring")["spam"]
    padded = f" {folded(found.text)} "
    marks = sorted(phrase for phrase in spam if f" {phrase} " in padded)
    if not marks:
        return View(1.0, "It shows no marks of a link farm.")
    said = says(padded, spam)
    return View(
        round(max(0.1, 1 - 0.3 * len(marks)), 2),
        f"It shows {len(marks)} marks of a link farm, such as “{said}”.",
    )
