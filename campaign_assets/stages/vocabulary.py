"""The rules of the mapper as data: `words/*.yaml` read once, and phrases found in a text.

Owns what a phrase means; refuses to know anything of controls, forms or scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

import yaml

from campaign_assets.stages.folding import fold, name_tokens, tokens

_EVERYWHERE = frozenset({"any", "en"})
_SHORTEST_GLUED = 3


@dataclass(frozen=True)
class Sense:
    """One meaning of a phrase."""

    concept: str
    """A profile field, a role, or a foreign concept that no profile answers."""
    foreign: bool
    weak: bool
    languages: frozenset[str]

    def spoken_in(self, language: str) -> bool:
        return not language or language in self.languages or bool(self.languages & _EVERYWHERE)


@dataclass(frozen=True)
class Match:
    """A phrase as it stands in a text: tokens `start` to `end` of `of`."""

    phrase: str
    senses: tuple[Sense, ...]
    start: int
    end: int
    of: int


class Vocabulary:
    """Every phrase of `fields.yaml` by its folded tokens. Immutable once built."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._senses: dict[str, dict[tuple[str, bool], Sense]] = {}
        for foreign, section in ((False, "fields"), (True, "foreign")):
            for concept, by_language in data[section].items():
                self._add(concept, foreign, by_language, data["groups"])
        self._longest = max(phrase.count(" ") + 1 for phrase in self._senses)
        self._glued = {
            p.replace(" ", ""): p for p in sorted(self._senses, key=len, reverse=True) if p.isascii()
        }
        self.filler = frozenset(word for phrase in _phrases(data["filler"]) for word in phrase.split())
        self.again = frozenset(_phrases(data["again"]))
        self.owners = {owner: frozenset(_phrases(words)) for owner, words in data["owners"].items()}

    def _add(
        self, concept: str, foreign: bool, by_language: Mapping[str, list[str]], groups: Mapping[str, Any]
    ) -> None:
        for language, entries in by_language.items():
            for entry in entries:
                for phrase in _expanded(str(entry).removeprefix("~"), language, groups):
                    self._learn(
                        fold(phrase),
                        Sense(concept, foreign, str(entry).startswith("~"), frozenset({language})),
                    )

    def _learn(self, phrase: str, sense: Sense) -> None:
        """Keep one sense a concept and phrase: the strong one, over all languages that use it."""
        known = self._senses.setdefault(phrase, {})
        old = known.get((sense.concept, sense.foreign))
        weak = sense.weak and (old is None or old.weak)
        languages = sense.languages | (old.languages if old else frozenset())
        known[sense.concept, sense.foreign] = Sense(sense.concept, sense.foreign, weak, languages)

    def find(self, text: str) -> tuple[Match, ...]:
        """The phrases in a text that a person reads, the longest first, no word used twice."""
        return tuple(self._scan(tokens(text)))

    def find_in_name(self, name: str) -> tuple[Match, ...]:
        """The same in a name or id, whose words may be glued: `txtCompanyName`, `companyname`, `user[zip]`."""
        words = [part for token in name_tokens(name) for part in self._unglued(token)]
        return tuple(self._scan(tuple(words)))

    def content(self, words: Iterable[str]) -> int:
        """How many words carry meaning; numbers are limits and counters."""
        return sum(word not in self.filler and not word.isdigit() for word in words)

    def _scan(self, words: tuple[str, ...]) -> Iterator[Match]:
        taken: list[tuple[int, int, str]] = []
        free = [True] * len(words)
        for length in range(min(self._longest, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                phrase = " ".join(words[start : start + length])
                if all(free[start : start + length]) and phrase in self._senses:
                    free[start : start + length] = [False] * length
                    taken.append((start, start + length, phrase))
        left = self.content(word for word, unclaimed in zip(words, free, strict=True) if unclaimed)
        of = left + sum(end - start for start, end, _ in taken)
        for start, end, phrase in sorted(taken):
            yield Match(phrase, tuple(self._senses[phrase].values()), start, end, of)

    def _unglued(self, token: str) -> list[str]:
        """A token of an identifier as words: itself where it is known, else split into known words, else itself."""
        bare = token.rstrip("0123456789")
        if token in self._senses or token in self.filler or len(bare) < 2 * _SHORTEST_GLUED:
            return [token]
        return self._glued[token].split() if token in self._glued else self._split(bare) or [token]

    def _split(self, token: str) -> list[str]:
        for at in range(len(token) - _SHORTEST_GLUED, _SHORTEST_GLUED - 2, -1):
            head, tail = token[:at], token[at:]
            known = self._glued.get(head) or (head if head in self.filler else None)
            if known is None:
                continue
            rest = self._glued.get(tail) or (tail if tail in self.filler else None)
            rest_words = (
                rest.split() if rest else self._split(tail) if len(tail) >= 2 * _SHORTEST_GLUED else []
            )
            if rest_words:
                return [*known.split(), *rest_words]
        return []


def _expanded(phrase: str, language: str, groups: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    """`phrase` once for each word of each group that it names."""
    names = [name for name in groups if f"{{{name}}}" in phrase]
    words = [[*groups[name].get(language, ()), *groups[name].get("any", ())] for name in names]
    for choice in product(*words):
        yield phrase.format(**dict(zip(names, choice, strict=True)))


def _phrases(by_language: Mapping[str, list[str]]) -> Iterator[str]:
    for entries in by_language.values():
        for entry in entries:
            yield fold(str(entry))


def read(name: str) -> Any:
    """One file of `words/`."""
    text = files("campaign_assets.stages").joinpath("words", f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  (a safe loader, the faster one)


@cache
def vocabulary() -> Vocabulary:
    return Vocabulary(read("fields"))


@cache
def word_lists(name: str) -> Mapping[str, frozenset[str]]:
    """A file of plain lists of phrases: its sections, folded."""
    return {section: frozenset(_phrases(words)) for section, words in read(name).items() if _is_plain(words)}


@cache
def pricing_words() -> Mapping[str, frozenset[str]]:
    """What options call each pricing model of a profile."""
    return {model: frozenset(_phrases(words)) for model, words in read("choices")["pricing"].items()}


@cache
def shelves() -> tuple[frozenset[str], ...]:
    """Sets of words that name the same category."""
    return tuple(frozenset(fold(word) for word in shelf) for shelf in read("categories"))


def _is_plain(words: Any) -> bool:
    return all(isinstance(entries, list) for entries in words.values())
