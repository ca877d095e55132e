"""What options cost, and which option is close to what we want: the words of `choices.yaml` and `categories.yaml`.

The paid option is never chosen here; where no option is plainly free, none is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz import fuzz

from campaign_assets.model import Option
from campaign_assets.stages.folding import fold, says
from campaign_assets.stages.vocabulary import pricing_words, shelves, word_lists

_PRICE = re.compile(
    r"(?:[$€£¥]|\b(?:usd|eur|gbp|chf|rub|руб|元|円)\b)\s*(\d+(?:[.,]\d+)?)|(\d+(?:[.,]\d+)?)\s*(?:[$€£¥]|usd|eur|gbp|chf|pln|zł|tl|руб|元|円|dollar|euro)",
    re.IGNORECASE,
)
_CLOSE = 0.62


class Cost(StrEnum):
    FREE = "free"
    USUAL = "usual"
    """Called regular or standard; free only where its neighbours bear a price and it does not."""
    PAID = "paid"
    RECIPROCAL = "reciprocal"
    UNCLEAR = "unclear"


def cost(text: str) -> Cost:
    """What an option or a button costs, by its words."""
    lists, folded = word_lists("choices"), fold(text)
    if priced(text):
        return Cost.PAID
    if says(folded, lists["reciprocal"]):
        return Cost.RECIPROCAL
    if says(folded, lists["free"]):
        return Cost.FREE
    if says(folded, lists["paid"]):
        return Cost.PAID
    return Cost.USUAL if says(folded, lists["usual"]) else Cost.UNCLEAR


def priced(text: str) -> bool:
    """Whether a price above zero stands in a text."""
    amounts = [next(a for a in found if a) for found in _PRICE.findall(text)]
    return any(float(a.replace(",", ".")) > 0 for a in amounts)


@dataclass(frozen=True)
class FreeChoice:
    """The free option's position among the options, or why there is none."""

    position: int | None
    sure: float
    costs: tuple[Cost, ...]


def free_choice(options: Sequence[Option]) -> FreeChoice:
    """The one plainly free option; else a regular one whose every neighbour bears a price; else none."""
    costs = tuple(cost(o.label or o.value) for o in options)
    if Cost.FREE in costs:
        return FreeChoice(costs.index(Cost.FREE), 0.97, costs)
    usual = [i for i, c in enumerate(costs) if c is Cost.USUAL]
    others = [o for i, o in enumerate(options) if i not in usual and not is_placeholder(o)]
    if len(usual) == 1 and others and all(priced(o.label) for o in others):
        return FreeChoice(usual[0], 0.7, costs)
    return FreeChoice(None, 0.0, costs)


def is_link_type(options: Sequence[Option]) -> bool:
    """Whether the options are kinds of listing by what they cost: a price beside a free or a plainly paid
    one, or a link back.

    A price alone says nothing: revenues and budgets are asked for in money, too.
    """
    labels = [o.label for o in options if not is_placeholder(o)]
    costs = {cost(label) for label in labels}
    sold = any(says(fold(label), word_lists("choices")["paid"]) for label in labels)
    if any(priced(label) for label in labels):
        return sold or bool(costs & {Cost.FREE, Cost.RECIPROCAL})
    return Cost.RECIPROCAL in costs and len(costs) > 1


def is_pricing(options: Sequence[Option]) -> bool:
    """Whether the options are pricing models of a product."""
    folded = [fold(o.label) for o in options if not is_placeholder(o)]
    known = [text for text in folded if any(text in words for words in pricing_words().values())]
    return len(known) >= 2 and len(known) * 2 >= len(folded)


def is_placeholder(option: Option) -> bool:
    """Whether an option stands for no choice: "please select", an empty value, dashes."""
    folded = fold(option.label)
    if not folded or option.disabled:
        return True
    if option.value == "" or (
        option.value in ("-1", "0") and folded.startswith(("select", "choose", "please"))
    ):
        return True
    return folded in word_lists("choices")["placeholder"]


@dataclass(frozen=True)
class Closest:
    """An option and how close it is to what was wanted (0 to 1)."""

    position: int
    closeness: float
    wanted: str


def closest(options: Sequence[Option], wanted: Sequence[str]) -> Closest | None:
    """The option closest to the first of `wanted` that has a close one; None where nothing is close."""
    best: Closest | None = None
    for rank, want in enumerate(wanted):
        for position, option in enumerate(options):
            if is_placeholder(option):
                continue
            value = closeness(option.label or option.value, want) - 0.04 * rank
            if best is None or value > best.closeness + 1e-9:
                best = Closest(position, value, want)
    return best if best and best.closeness >= _CLOSE else None


def catch_all(options: Sequence[Option]) -> int | None:
    """Position of the option for what fits nowhere, where the list has one."""
    for position, option in enumerate(options):
        if fold(option.label) in word_lists("choices")["other"]:
            return position
    return None


def closeness(one: str, other: str) -> float:
    """How near two categories' names are: 1 the same words, about 0.7 the same shelf, 0 nothing in common."""
    a, b = fold(one), fold(other)
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    return max(_word_closeness(a, b), _shelf_closeness(a, b))


def _word_closeness(a: str, b: str) -> float:
    shared = set(a.split()) & set(b.split()) - {"and", "und", "et", "y", "e", "of", "the", "other"}
    if shared:
        return (
            max(0.66, 0.95 * fuzz.token_set_ratio(a, b) / 100)
            if len(shared) * 3 >= len(set(a.split()))
            else 0.6
        )
    return 0.9 * fuzz.ratio(a, b) / 100 if fuzz.ratio(a, b) >= 80 else 0.0


def _shelf_closeness(a: str, b: str) -> float:
    for shelf in shelves():
        in_a, in_b = says(a, shelf), says(b, shelf)
        if in_a and in_b:
            whole = (len(in_a) / len(a) + len(in_b) / len(b)) / 2
            return 0.62 + 0.16 * whole
    return 0.0


def closest_pricing(options: Sequence[Option], model: str) -> int | None:
    """Position of the option that names a pricing model of the profile."""
    for position, option in enumerate(options):
        folded = fold(option.label)
        if not is_placeholder(option) and (folded == fold(model) or folded in pricing_words()[model]):
            return position
    return None
