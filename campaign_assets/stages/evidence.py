"""What speaks for each meaning of one control: its texts, its type, its autocomplete token, weighed by
`words/evidence.yaml`.

Owns the weighing of a single control; which control gets which field is the mapper's decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from campaign_assets.model import Control
from campaign_assets.stages.folding import fold, says
from campaign_assets.stages.vocabulary import Match, Sense, read, vocabulary

FOREIGN = "foreign:"
"""Prefix of a concept that no profile field answers, so that it cannot be taken for a field."""

_WEAK = 0.62
_YIELDED = 0.5
_OTHER_LANGUAGE = 0.75
_PATH_INSIDE = 0.5
_TOO_SHORT_ABROAD = 3
_BOXES = frozenset({"checkbox", "radio"})


@dataclass(frozen=True)
class Reading:
    """How sure one concept is for one control (0 to 1), and the words that say so."""

    concept: str
    score: float
    why: str
    bare: bool = False
    """Only weak phrases speak for it: a bare "name"."""


@cache
def rules() -> Mapping[str, Any]:
    return dict(read("evidence"))


def holds(control_type: str) -> frozenset[str]:
    """The fields a control of this type can hold."""
    table = rules()["holds"]
    return frozenset(table.get(control_type, table["text"]))


def places(control: Control) -> tuple[tuple[str, str], ...]:
    """Every text that speaks about a control, once each, with where it stands; the strongest place first."""
    weights = rules()["places"]
    known = {text for _, text in control.hints}
    stated = [
        *control.hints,
        *(h for h in (("label", control.label), ("placeholder", control.placeholder)) if h[1] not in known),
    ]
    named = [("name", control.name), ("id", control.id)]
    ranked = sorted(
        (p for p in [*stated, *named] if p[1].strip()), key=lambda p: -weights.get(p[0], weights["other"])
    )
    seen: set[tuple[bool, str]] = set()
    kept = []
    for place, text in ranked:
        mark = (place in rules()["identifiers"], fold(text))
        if mark not in seen:
            seen.add(mark)
            kept.append((place, text))
    return tuple(kept)


def spoken(control: Control) -> str:
    """All texts that a person reads beside the control, folded."""
    return fold(" . ".join(text for place, text in places(control) if place not in rules()["identifiers"]))


def read_control(control: Control, language: str = "") -> tuple[Reading, ...]:
    """Every concept that something speaks for, the surest first; what the type cannot hold is left out."""
    fits = holds(control.type)
    doubt: dict[str, float] = {}
    why: dict[str, str] = {}
    strong: set[str] = set()
    for concept, score, words, weak in _testimony(control, language):
        if concept in fits or concept.startswith(FOREIGN):
            doubt[concept] = doubt.get(concept, 1.0) * (1 - score)
            why.setdefault(concept, words)
            if not weak:
                strong.add(concept)
    readings = [Reading(c, 1 - d, why[c], c not in strong) for c, d in doubt.items()]
    return tuple(sorted(readings, key=lambda r: (-r.score, r.concept)))


def _testimony(control: Control, language: str) -> Iterator[tuple[str, float, str, bool]]:
    """Each (concept, weight, words, weak) that a place, the type or autocomplete gives."""
    for concept, score in rules()["types"].get(control.type, {}).items():
        yield concept, score, f"its type is {control.type}", False
    for token in control.autocomplete.lower().split():
        if token in rules()["autocomplete"]:
            yield (
                rules()["autocomplete"][token],
                rules()["places"]["autocomplete"],
                f"autocomplete says {token}",
                False,
            )
    beside = "beside_a_box" if control.type in _BOXES else "beside_an_entry"
    weights = {**rules()["places"], **rules()[beside]}
    for place, text in places(control):
        weight = weights.get(place, weights["other"])
        for concept, score, phrase, weak in _said(place, text, language):
            yield concept, weight * score, f"{place} says “{phrase}”", weak


def _said(place: str, text: str, language: str) -> Iterator[tuple[str, float, str, bool]]:
    identifier = place in rules()["identifiers"]
    words = vocabulary()
    matches = words.find_in_name(text) if identifier else words.find(text)
    matches = tuple(m for m in matches if _senses(m, language))
    concepts = {_concept(s) for m in matches for s in m.senses}
    for number, match in enumerate(matches):
        for sense in _senses(match, language):
            concept = _concept(sense)
            score = (_WEAK if sense.weak else 1.0) * (0.55 + 0.45 * (match.end - match.start) / match.of)
            if concept in rules()["yielding"] and concepts - {concept} - set(rules()["yielding"]):
                score *= _YIELDED
            if identifier and number < len(matches) - 1:
                score *= _PATH_INSIDE
            if not sense.spoken_in(language):
                score *= _OTHER_LANGUAGE
            yield concept, score, match.phrase, sense.weak


def _senses(match: Match, language: str) -> tuple[Sense, ...]:
    """The senses that count in a document of `language`: very short words of other languages are chance."""
    short = match.phrase.isascii() and len(match.phrase) <= _TOO_SHORT_ABROAD
    return tuple(s for s in match.senses if not short or s.spoken_in(language))


def _concept(sense: Sense) -> str:
    return FOREIGN + sense.concept if sense.foreign else sense.concept


def same_family(one: str, other: str) -> bool:
    return any(one in family and other in family for family in rules()["families"])


def owner(control: Control) -> str | None:
    """Whose detail a control asks for, where its words say so: `contact` or `business`."""
    text = spoken(control) + " " + fold(control.name.replace("_", " "))
    business = says(text, vocabulary().owners["business"])
    contact = says(text, vocabulary().owners["contact"])
    if business and not (contact and contact != "your"):
        return "business"
    return "contact" if contact else None


def repeats(control: Control) -> bool:
    """Whether a control asks for the same thing again, to confirm it."""
    text = spoken(control) + " " + " ".join(fold(w) for w in (control.name, control.id))
    return says(text, vocabulary().again) is not None
