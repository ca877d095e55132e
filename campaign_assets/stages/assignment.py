"""Which field each question of one form asks for: a global assignment over all of them.

A field is given once (but for details a form may ask for twice); the surest pair goes first, and what it
takes is gone for the others: a "Company name" beside a bare "Name" makes the latter the person's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from campaign_assets.stages.choices import is_pricing
from campaign_assets.stages.evidence import (
    FOREIGN,
    Reading,
    holds,
    owner,
    read_control,
    repeats,
    rules,
    same_family,
)
from campaign_assets.stages.questions import Question
from campaign_assets.stages.roles import Role, settled

_ENOUGH = 0.35
_SECOND_CHOICE = 0.5
_DOUBT = 0.35
_CLEAR = 0.6
_ROW = re.compile(r"^(.*?)[_\[-]?(\d+)\]?$")
_TEXTS = ("description", "short_description", "long_description")


@dataclass(frozen=True)
class _Pair:
    question: Question
    reading: Reading
    confidence: float


def assign(asked: Sequence[Question], language: str) -> dict[int, Role]:
    """The role or field of every question of a form, by the index of its first control."""
    readings = {q.index: _readings(q, language) for q in asked}
    seen = frozenset(readings[q.index][0].concept for q in asked if q.visible and _clear(readings[q.index]))
    hidden = sum(not q.visible for q in asked)
    roles: dict[int, Role] = {}
    for question in asked:
        role = settled(question, readings[question.index], hidden, seen)
        if role:
            roles[question.index] = role
    open_ones = [q for q in asked if q.index not in roles]
    _share_out(open_ones, _in_context(open_ones, readings), roles)
    return _as_address(asked, _described(asked, roles))


def _as_address(asked: Sequence[Question], roles: dict[int, Role]) -> dict[int, Role]:
    """A picture is uploaded through a file control; anything else wants its address."""
    table = rules()["as_address"]
    for question in asked:
        role = roles[question.index]
        if role.field in table and question.type != "file":
            roles[question.index] = replace(role, field=table[role.field])
    return roles


def _clear(readings: tuple[Reading, ...]) -> bool:
    return bool(readings) and readings[0].score >= _CLEAR


def _readings(question: Question, language: str) -> tuple[Reading, ...]:
    readings = read_control(question.asked, language)
    if question.type in ("select-one", "radio") and is_pricing(question.options):
        extra = Reading("pricing", 0.85, "its options are pricing models")
        return (extra, *(r for r in readings if r.concept not in ("pricing", "link_type")))
    return readings


def _in_context(
    asked: Sequence[Question], readings: Mapping[int, tuple[Reading, ...]]
) -> dict[int, tuple[Reading, ...]]:
    """A bare "name" is the business's where the form describes a site and names nothing else, else the person's."""
    tops = [readings[q.index][0] for q in asked if readings[q.index]]
    named = any(r.concept in ("name", "title") and not r.bare and r.score >= _CLEAR for r in tops)
    listing = {"url"} & {r.concept for r in tops} and {*_TEXTS, "category", "tags"} & {
        r.concept for r in tops
    }
    surname = any(r.concept == "last_name" for r in tops) and not any(
        r.concept == "first_name" and not r.bare for r in tops
    )
    person = any(
        r.concept in ("contact_name", "first_name") and not r.bare and r.score >= _CLEAR for r in tops
    )
    changed = dict(readings)
    for question in asked:
        own = readings[question.index]
        bare = next(
            (r for r in own[:2] if r.concept in ("contact_name", "name", "first_name") and r.bare), None
        )
        if bare is None or bare is not own[0] or "name" not in holds(question.type):
            continue
        whose = owner(question.asked)
        business = whose == "business" or (whose is None and not named and bool(listing or person))
        if bare.concept == "name" and not named:
            business = True
        concept = "first_name" if surname and whose != "business" else "name" if business else "contact_name"
        meant = replace(bare, concept=concept, score=max(bare.score, 0.8))
        others = (replace(r, score=0.9 * r.score) for r in own if r.concept != meant.concept)
        changed[question.index] = (meant, *others)
    return changed


def _share_out(
    asked: Sequence[Question], readings: Mapping[int, tuple[Reading, ...]], roles: dict[int, Role]
) -> None:
    """Give each question its field, the surest pair first; what is left over gets None, or `ignore` in a
    numbered row."""
    pairs = [p for q in asked for p in _pairs(q, readings[q.index])]
    taken: Counter[str] = Counter()
    for pair in sorted(
        pairs, key=lambda p: (not p.question.visible, -p.reading.score, p.question.index, p.reading.concept)
    ):
        field = pair.reading.concept
        if pair.question.index in roles:
            continue
        if field.startswith(FOREIGN):
            roles[pair.question.index] = Role(None, pair.confidence, f"no profile field: {pair.reading.why}")
        elif not taken[field] or _may_repeat(pair):
            taken[field] += 1
            roles[pair.question.index] = Role(field, pair.confidence, pair.reading.why)
    rows = _rows(asked)
    for question in asked:
        if question.index not in roles:
            roles[question.index] = _left_over(question, readings[question.index], rows)


def _pairs(question: Question, readings: tuple[Reading, ...]) -> list[_Pair]:
    if not readings or readings[0].score < _ENOUGH:
        return []
    best = readings[0]
    wanted = [best, *(r for r in readings[1:] if r.score >= max(_SECOND_CHOICE, 0.6 * best.score))]
    return [_Pair(question, r, _confidence(r, readings)) for r in wanted]


def _confidence(reading: Reading, readings: tuple[Reading, ...]) -> float:
    rivals = [
        r.score
        for r in readings
        if r.concept != reading.concept and not same_family(r.concept, reading.concept)
    ]
    return round(max(0.05, min(0.99, reading.score * (1 - _DOUBT * max(rivals, default=0.0)))), 2)


def _may_repeat(pair: _Pair) -> bool:
    field = pair.reading.concept
    if field in ("category", "language", "country") and pair.question.group:
        return False
    if repeats(pair.question.asked) and field in ("email", "url", "password"):
        return True
    return field in rules()["repeatable"] and pair.reading.score >= 0.75


def _rows(asked: Sequence[Question]) -> frozenset[str]:
    """Stems of names that stand in at least two numbered rows: `title2`, `title3` …"""
    stems = Counter(found.group(1) for q in asked if (found := _ROW.match(q.asked.name)))
    return frozenset(stem for stem, count in stems.items() if count >= 2)


def _left_over(question: Question, readings: tuple[Reading, ...], rows: frozenset[str]) -> Role:
    row = _ROW.match(question.asked.name)
    if row and row.group(1) in rows and readings and not question.required:
        return Role("ignore", 0.9, "a further row of something that was asked before")
    if readings and readings[0].score >= _ENOUGH:
        return Role(None, 0.6, f"{readings[0].concept} is asked for elsewhere in the form")
    return Role(None, 0.6, "nothing says what it is")


def _described(asked: Sequence[Question], roles: dict[int, Role]) -> dict[int, Role]:
    """Name the descriptions: `description` where the form asks for one, short and long where it asks for both.

    The same for a sub-category without its category.
    """
    found = [q for q in asked if q.visible and roles[q.index].field in _TEXTS]
    if len(found) == 1:
        roles[found[0].index] = replace(roles[found[0].index], field="description")
    elif len(found) == 2:
        fields = {roles[q.index].field for q in found}
        missing = {"short_description", "long_description"} - fields
        for question in found:
            if roles[question.index].field == "description" and len(missing) == 1:
                roles[question.index] = replace(roles[question.index], field=missing.pop())
    kinds = {roles[q.index].field for q in asked if q.visible}
    if "subcategory" in kinds and "category" not in kinds:
        only = next(q.index for q in asked if q.visible and roles[q.index].field == "subcategory")
        roles[only] = replace(roles[only], field="category")
    return roles
