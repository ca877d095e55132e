"""How close a directory's text is to a business: shared words, and shared shelves where the words differ or
the language does.

Pure and small: the weight of a word comes from where the profile says it and from a list of words that say
nothing; the shelves are the same data that choose categories, so that `Analytics`, `Auswertung` and `分析`
meet.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from campaign_assets.model import Business
from campaign_assets.stages.folding import fold
from campaign_assets.stages.vocabulary import read, shelves, word_lists

_STEP = 2000
_STEM = 7
_HALF = 6.0
"""The weight of shared words at which they count half."""
_BROAD = 0.35


@dataclass(frozen=True)
class Relevance:
    """0 to 1, with what it rests on."""

    value: float
    words: tuple[str, ...]
    shelves: tuple[str, ...]


def relevance(business: Business, text: str) -> Relevance:
    """How much of `text` (a directory's readable text) is about what the business does."""
    said = folded(text)
    present = Counter(map(_stem, said.split()))
    terms = {word: weight for word, weight in _terms(business).items() if _stem(word) in present}
    lexical = sum(terms.values()) / (sum(terms.values()) + _HALF)
    wanted, offered = _welcome(business), _shelved(said)
    common = {name: wanted[name] * offered[name] for name in wanted.keys() & offered.keys()}
    topic = sum(common.values()) / (_length(wanted) * _length(offered) or 1.0)
    value = 1 - (1 - 0.7 * lexical) * (1 - 0.9 * min(topic, 1.0))
    return Relevance(round(value, 2), _top(terms, 6), _top(common, 4))


def folded(text: str) -> str:
    """A text of any length, folded."""
    return " ".join(fold(text[start : start + _STEP]) for start in range(0, len(text), _STEP))


def overlaps(business: Business, said: str) -> bool:
    """Whether a folded sentence names anything that the business is."""
    stems = set(map(_stem, said.split()))
    return any(_stem(word) in stems for word in _terms(business)) or bool(
        _welcome(business).keys() & _shelved(said).keys()
    )


def _terms(business: Business) -> Mapping[str, float]:
    """The business's words, each with the weight of the weightiest place that says it."""
    places = (
        (3.0, (*business.categories, *business.tags)),
        (2.0, (business.tagline,)),
        (1.0, (*business.features, business.short_description, business.audience or "")),
    )
    stop = word_lists("scoring")["stop"]
    terms: dict[str, float] = {}
    for weight, texts in places:
        for word in fold(" . ".join(texts)).split():
            if len(word) > 2 and word not in stop and not word.isdigit():
                terms[word] = max(weight, terms.get(word, 0.0))
    return terms


def _stem(word: str) -> str:
    return word[:_STEM].rstrip("s") if word.isascii() else word


@cache
def _all_shelves() -> tuple[tuple[str, frozenset[str]], ...]:
    """Every shelf with its name, its phrases ready to be looked for."""
    first = [shelf[0] for shelf in read("categories")]
    more = [(fold(shelf[0]), frozenset(map(fold, shelf))) for shelf in read("shelves")["more_shelves"]]
    return (*zip(map(fold, first), shelves(), strict=True), *more)


@cache
def _kin() -> tuple[tuple[str, str, float], ...]:
    """(shelf, shelf it is welcome on, share), by the shelves' names."""
    by_word = {phrase: name for name, phrases in _all_shelves() for phrase in phrases}
    return tuple(
        (by_word[fold(one)], by_word[fold(other)], share) for one, other, share in read("shelves")["kin"]
    )


def _shelved(said: str) -> Mapping[str, float]:
    """The shelves that a folded text speaks of; often said counts more, but not in proportion."""
    padded = f" {said} "
    broad = word_lists("scoring")["broad"]
    found = {}
    for name, phrases in _all_shelves():
        count = sum(padded.count(f" {phrase} ") for phrase in phrases)
        if count:
            found[name] = math.log1p(count) * (_BROAD if phrases & broad else 1.0)
    return found


def _welcome(business: Business) -> Mapping[str, float]:
    """The shelves that the business belongs on, and those it is welcome on as well."""
    own = _shelved(
        folded(
            " . ".join((*business.categories, *business.tags, business.tagline, business.short_description))
        )
    )
    welcome = dict(own)
    for one, other, share in _kin():
        if one in own:
            welcome[other] = max(welcome.get(other, 0.0), share * own[one])
    return welcome


def _length(vector: Mapping[str, float]) -> float:
    return math.sqrt(sum(value * value for value in vector.values()))


def _top(weights: Mapping[str, float], count: int) -> tuple[str, ...]:
    return tuple(sorted(weights, key=lambda name: (-weights[name], name))[:count])


def same_shelf(one: str, other: str) -> bool:
    """Whether two folded category names are the same, or stand on one shelf that is not a broad one."""
    if one == other:
        return True
    broad = word_lists("scoring")["broad"]
    return any(one in shelf and other in shelf and not shelf & broad for _, shelf in _all_shelves())
