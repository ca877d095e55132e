"""Text folded for comparison: lower case, no accents, no punctuation, one token a word and one a CJK
character.

Everything that compares words of a site with words of ours goes through `fold`, so that "Größe:", "GRÖSSE"
and "grosse" meet.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_BARE = str.maketrans(
    {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ƒ": "f", "$": " $", "€": "€ "}
)
_WORDS = re.compile(r"[^\W_]+|[$€£]", re.UNICODE)
_IDEOGRAPH = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f])")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=20_000)
def tokens(text: str) -> tuple[str, ...]:
    """The folded words of `text`; a CJK text gives one token a character."""
    plain = unicodedata.normalize("NFKC", text[:2000]).casefold().translate(_BARE)
    bare = "".join(c for c in unicodedata.normalize("NFD", plain) if not unicodedata.combining(c))
    return tuple(_WORDS.findall(_IDEOGRAPH.sub(r" \1 ", bare)))


def fold(text: str) -> str:
    """`text` as its folded words, one space between them."""
    return " ".join(tokens(text))


@lru_cache(maxsize=20_000)
def name_tokens(name: str) -> tuple[str, ...]:
    """The folded words of an identifier: `billing[zipCode]` gives billing, zip, code."""
    return tokens(_HUMP.sub(" ", name))


def says(folded: str, phrases: frozenset[str]) -> str | None:
    """The longest of `phrases` that stands as whole words in `folded`; None where none does."""
    padded = f" {folded} "
    found = [phrase for phrase in phrases if f" {phrase} " in padded]
    return max(found, key=lambda phrase: (len(phrase), phrase), default=None)
