"""The built-in writer: titles, taglines, descriptions and tags for one publisher, within a control's limits.

It arranges the profile's own sentences, features and words; it adds no claim. The same publisher gets the
same text, two publishers different ones: every choice hangs on a hash of the publisher's site. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from campaign_assets.model import Business
from campaign_assets.stages.folding import fold, tokens
from campaign_assets.stages.vocabulary import read

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_DANGLING = re.compile(r"[\s,;:–—-]+$")
_SIZES = (420, 620, 900, 1300)
_LONG = 2600
_ROOM_FOR_PARAGRAPHS = 500
_LEAST_WORDS = 3
_JOINTS = frozenset(
    {"and", "or", "for", "with", "of", "the", "a", "an", "to", "in", "on", "by"}
    | {"und", "oder", "fur", "mit", "der", "die", "das", "et", "ou", "pour", "avec", "de", "la", "le"}
    | {"y", "o", "para", "con", "e", "per", "por", "del", "un", "una"}
)


@dataclass(frozen=True)
class Room:
    """What fits into a control: UTF-16 units, a line break counting two where the browser sends CRLF."""

    limit: int | None = None
    minimum: int | None = None
    multiline: bool = False

    def size(self, text: str) -> int:
        units = len(text.encode("utf-16-le")) // 2
        return units + (text.count("\n") if self.multiline else 0)

    def fits(self, text: str) -> bool:
        return self.limit is None or self.size(text) <= self.limit

    def holds(self, text: str) -> bool:
        """Whether a text is neither too long nor too short."""
        return bool(text) and self.fits(text) and self.size(text) >= (self.minimum or 0)


def title(business: Business, site: str, room: Room) -> str | None:
    """A headline with the business's name in it; None where not even the name fits."""
    category, tagline = business.categories[0], business.tagline.rstrip(".")
    long = [f"{business.name}: {tagline}", f"{business.name} – {tagline}", f"{business.name} – {category}"]
    usable = [text for text in _shuffled(long, f"{site} title") if room.holds(text)]
    if room.limit is not None and room.limit < 2 * len(business.name):
        usable = []
    return next(iter([*usable, *([business.name] if room.holds(business.name) else [])]), None)


def tagline(business: Business, room: Room) -> str | None:
    """The profile's tagline, else as much of it as ends with a word."""
    texts = [
        business.tagline,
        business.tagline.rstrip("."),
        *_sentences(business.short_description),
        business.short_description,
    ]
    return next((text for text in texts if room.holds(text)), None) or _cut(business.tagline, room)


def short_description(business: Business, site: str, room: Room) -> str | None:
    """One or two sentences."""
    first = _sentences(business.description)
    texts = _shuffled(
        [business.short_description, " ".join(first[:2]), f"{business.name}: {business.tagline}"],
        f"{site} short",
    )
    usable = [text for text in texts if room.holds(text) and len(text) <= 320]
    return next(iter(usable), None) or description(business, site, room)


def long_description(business: Business, site: str, room: Room) -> str | None:
    """Everything the profile says, arranged for this publisher."""
    return _composed(business, f"{site} long", room, _LONG)


def description(business: Business, site: str, room: Room) -> str | None:
    """A description of a size that suits the room; None where nothing meaningful fits or the least length is
    out of reach."""
    size = _shuffled([str(s) for s in _SIZES], f"{site} size")[0]
    return _composed(business, f"{site} description", room, int(size))


def tags(business: Business, site: str, room: Room, most: int | None, separator: str = ", ") -> str | None:
    """As many of the profile's tags as fit, the most fitting first, turned by the site; None where not one fits."""
    ordered = list(business.tags)
    turn = _number(f"{site} tags") % max(1, min(3, len(ordered)))
    chosen: list[str] = []
    for tag in ordered[turn:] + ordered[:turn]:
        if (most is None or len(chosen) < most) and room.fits(separator.join([*chosen, tag])):
            chosen.append(tag)
    text = separator.join(chosen)
    return text if room.holds(text) else None


def _composed(business: Business, seed: str, room: Room, size: int) -> str | None:
    """Pieces in a seeded order, as many as fit: first up to `size`, then as many more as the least length
    asks for."""
    pieces = _pieces(business, seed)
    joint = "\n\n" if room.multiline and (room.limit is None or room.limit >= _ROOM_FOR_PARAGRAPHS) else " "
    wanted = max(size, room.minimum or 0)
    chosen: list[int] = []
    for number in range(len(pieces)):
        text = _joined(pieces, [*chosen, number], joint)
        if room.fits(text) and (
            not chosen
            or room.size(text) <= wanted
            or room.size(_joined(pieces, chosen, joint)) < (room.minimum or 0)
        ):
            chosen.append(number)
    text = _joined(pieces, chosen, joint)
    if room.holds(text):
        return text
    small = [
        t
        for t in (business.short_description, business.tagline, *_sentences(business.short_description))
        if room.holds(t)
    ]
    return max(small, key=len, default=None) or _cut(business.short_description, room)


@dataclass(frozen=True)
class _Piece:
    text: str
    block: int
    """Pieces of one block stand in one paragraph."""


def _pieces(business: Business, seed: str) -> list[_Piece]:
    """Lead, body, features and audience as pieces; no sentence twice."""
    sentences = _sentences(business.description)
    leads = _shuffled([business.short_description, sentences[0]], f"{seed} lead")
    body = [leads[0], *(s for s in sentences if not _same(s, leads[0]))]
    if len(body) > 4 and _number(f"{seed} body") % 2:
        body = [*body[:2], *body[3:], body[2]]
    blocks = [[_Piece(text, 0) for text in body]]
    extras = []
    if business.features:
        extras.append([_Piece(_features(business, seed), 1)])
    if business.audience:
        extras.append([_Piece(_audience(business, business.audience), 2)])
    middle = 2 if _number(f"{seed} order") % 3 else len(body)
    head, tail = blocks[0][:middle], blocks[0][middle:]
    if _number(f"{seed} extras") % 2:
        extras.reverse()
    return [*head, *(p for extra in extras for p in extra), *(_Piece(p.text, 3) for p in tail)]


def _features(business: Business, seed: str) -> str:
    names = _shuffled([f.rstrip(".") for f in business.features], f"{seed} features")
    word = _connectives()["features"].get(business.language)
    listed = "; ".join(names) if any("," in name for name in names) else ", ".join(names)
    return f"{word}: {listed}." if word else f"{listed}."


def _audience(business: Business, audience: str) -> str:
    word = _connectives()["audience"].get(business.language)
    text = audience.rstrip(".")
    return (
        f"{text[0].upper()}{text[1:]}."
        if not word or fold(text).startswith(fold(word))
        else f"{word} {text}."
    )


def _joined(pieces: Sequence[_Piece], chosen: Iterable[int], joint: str) -> str:
    text, block = "", None
    for number in chosen:
        piece = pieces[number]
        text += ("" if not text else " " if piece.block == block else joint) + piece.text
        block = piece.block
    return text


def _same(one: str, other: str) -> bool:
    """Whether one sentence says mostly what another says."""
    a, b = set(tokens(one)), set(tokens(other))
    return len(a & b) > 0.7 * min(len(a), len(b))


def _cut(text: str, room: Room) -> str | None:
    """As much of `text` as fits and ends with a whole word that can end a phrase."""
    words = text.split()
    for count in range(len(words), _LEAST_WORDS - 1, -1):
        shorter = words[:count]
        while len(shorter) >= _LEAST_WORDS and fold(shorter[-1]) in _JOINTS:
            shorter.pop()
        phrase = _DANGLING.sub("", " ".join(shorter))
        if len(shorter) >= _LEAST_WORDS and room.holds(phrase):
            return phrase
    return None


def _sentences(text: str) -> list[str]:
    return [" ".join(s.split()) for s in _SENTENCE.split(text) if s.strip()]


def _shuffled(items: Sequence[str], seed: str) -> list[str]:
    return sorted(items, key=lambda item: (_number(f"{seed} {item}"), item))


def _number(seed: str) -> int:
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")


@cache
def _connectives() -> dict[str, dict[str, str]]:
    return dict(read("connectives"))
