"""Content: every text this publisher's form asks for, written within each control's limits from the profile's
facts alone.

A human's correction beats everything; then the profile. The category is chosen among the form's own options.
What depends on another choice (a sub-category filled by script) is left to the moment of filling.
"""

from __future__ import annotations

import re

from campaign_assets.model import (
    ContentResult,
    Control,
    FormMappingResult,
    Outcome,
    Reason,
    Unit,
    WrittenText,
)
from campaign_assets.stages import writer
from campaign_assets.stages.choices import catch_all, closest, is_placeholder
from campaign_assets.stages.form_choice import owner_of
from campaign_assets.stages.questions import CHOICES, Question, questions
from campaign_assets.stages.tools import Tools
from campaign_assets.stages.writer import Room

WRITTEN = frozenset(
    {
        "title",
        "tagline",
        "description",
        "short_description",
        "long_description",
        "tags",
        "category",
        "subcategory",
    }
)
"""The fields this stage writes; all others are copied by preflight."""

_COUNTED = re.compile(
    r"(?:up to|at most|max(?:imum|\.)?|no more than|bis zu|h[oö]chstens|jusqu'?à|au plus|hasta|m[aá]ximo|fino a|até"
    r"|maximaal|最大)\s*(?:of )?"
    r"(\d{1,2}|one|two|three|four|five|six|seven|eight|ten|drei|f[uü]nf|trois|cinq|tres|cinco)(?!\d)(?!\s*(?:char|zeichen|caract|letters|kb|mb))",
    re.IGNORECASE,
)
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "drei": 3, "trois": 3, "tres": 3, "four": 4,
    "five": 5, "fünf": 5, "funf": 5, "cinq": 5, "cinco": 5,
    "six": 6, "seven": 7, "eight": 8, "ten": 10,
}  # fmt: skip
_MOST_TAGS = 10
_SEPARATORS = (
    (re.compile(r"one per line|each on a new line|pro zeile|par ligne|por línea", re.IGNORECASE), "\n"),
    (re.compile(r"semicolon|strichpunkt|semikolon|point-virgule|punto y coma", re.IGNORECASE), "; "),
    (
        re.compile(
            r"separated by (?:a )?spaces?|space.separated|durch leerzeichen|par des espaces", re.IGNORECASE
        ),
        " ",
    ),
)


async def content(unit: Unit, tools: Tools) -> Outcome:
    """Write the texts; held with limit_too_small where nothing the profile says fits a required control."""
    mapping = unit.result(FormMappingResult)
    texts: list[WrittenText] = []
    for question, field in written_questions(mapping):
        text = write(question, field, unit)
        if text is not None:
            texts.append(text)
        elif question.required and question.type not in CHOICES:
            return Outcome.hold(
                Reason.LIMIT_TOO_SMALL, _too_small(question, field), ContentResult(texts=tuple(texts))
            )
    names = ", ".join(dict.fromkeys(text.field for text in texts)) or "nothing"
    return Outcome.succeed(ContentResult(texts=tuple(texts)), f"Written for this form: {names}.")


def written_questions(mapping: FormMappingResult) -> list[tuple[Question, str]]:
    """The questions of the submission form whose answers are written, with their fields."""
    words = {m.index: m for m in mapping.controls}
    own = [c for c in mapping.document.controls if owner_of(c) == mapping.form]
    found = []
    for question in questions(own):
        mapped = words[question.index]
        if (
            mapped.field in WRITTEN
            and mapped.action.value in ("fill", "choose", "check")
            and question.visible
        ):
            found.append((question, mapped.field))
    return found


def write(question: Question, field: str, unit: Unit) -> WrittenText | None:
    """The text for one question, or the chosen option's value; None where nothing fits."""
    if question.type in CHOICES:
        return _choice(question, field, unit)
    room = Room(question.asked.limit, question.asked.minimum, question.type == "textarea")
    if field in unit.corrections:
        return _text(question, field, unit.corrections[field], f"correction: {field}")
    text = _written(question.asked, field, unit, room)
    return _text(question, field, text, _SOURCES[field]) if text else None


_SOURCES = {
    "title": "name, tagline, categories",
    "tagline": "tagline",
    "description": "short_description, description, features, audience",
    "short_description": "short_description, description",
    "long_description": "description, features, audience",
    "tags": "tags",
    "category": "categories",
    "subcategory": "categories",
}


def _written(control: Control, field: str, unit: Unit, room: Room) -> str | None:
    business, site = unit.business, unit.key.site
    match field:
        case "title":
            return writer.title(business, site, room)
        case "tagline":
            return writer.tagline(business, room)
        case "short_description":
            return writer.short_description(business, site, room)
        case "long_description":
            return writer.long_description(business, site, room)
        case "tags":
            said = " ".join(text for _, text in control.hints)
            return writer.tags(business, site, room, most_tags(said), separator(said, control.type))
        case "category" | "subcategory":
            names = business.categories[1:] if field == "subcategory" else business.categories
            return next((name for name in names if room.holds(name)), None)
        case _:
            return writer.description(business, site, room)


def most_tags(said: str) -> int:
    """How many tags a form takes, by its words."""
    found = [_NUMBERS.get(n.lower(), 0) or int(n) for n in _COUNTED.findall(said)]
    return min([*(n for n in found if n), _MOST_TAGS])


def separator(said: str, kind: str) -> str:
    """What stands between two tags, by the form's words: a comma where it says nothing."""
    for pattern, between in _SEPARATORS:
        if pattern.search(said) and (between != "\n" or kind == "textarea"):
            return between
    return ", "


def _choice(question: Question, field: str, unit: Unit) -> WrittenText | None:
    """The option closest to a category of the profile; where none is close, the list's own "other"."""
    options = question.options
    if all(is_placeholder(o) for o in options):
        return None
    wanted = _wanted(field, unit)
    best = closest(options, wanted)
    position = best.position if best else catch_all(options)
    if position is None:
        return None
    if best:
        source = f"{_origin(field, unit)}: “{best.wanted}” is closest ({best.closeness:.2f})"
    else:
        source = f"{_origin(field, unit)}: none is close, so the list's “{options[position].label}”"
    return _text(question, field, options[position].value, source, question.index_at(position))


def _wanted(field: str, unit: Unit) -> list[str]:
    if field in unit.corrections:
        return [unit.corrections[field]]
    business = unit.business
    return list(business.tags) if field == "tags" else [*business.categories, *business.tags]


def _origin(field: str, unit: Unit) -> str:
    return (
        f"correction: {field}" if field in unit.corrections else "tags" if field == "tags" else "categories"
    )


def _text(question: Question, field: str, value: str, source: str, index: int | None = None) -> WrittenText:
    at = question.index if index is None else index
    return WrittenText(index=at, field=field, value=value, limit=question.asked.limit, source=source)


def _too_small(question: Question, field: str) -> str:
    room = question.asked
    bounds = " and ".join(
        [
            *([f"at most {room.limit} characters"] if room.limit else []),
            *([f"at least {room.minimum}"] if room.minimum else []),
        ]
    )
    return (
        f"“{question.words}” takes {bounds}, and nothing that the profile says as {field} fits; "
        f"a correction {field}=… settles it."
    )
