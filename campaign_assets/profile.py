"""Reads a business profile: YAML on disk in, `model.Business` out, or every mistake at once, each with its
line.

Values are read as they are written (`country: NO` is Norway, `postal_code: 01067` keeps its zero); only the
model gives them types. Files that the profile names are looked for beside it. The published schema is
`profile.schema.json`, written by `python -m campaign_assets.profile`.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import phonenumbers
import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from campaign_assets.errors import InputError
from campaign_assets.model import Address, Business, Contact, Stored

SCHEMA = Path(__file__).with_name("profile.schema.json")
_LARGEST = 1_000_000
_LARGEST_IMAGE = 10_000_000
_DEEPEST = 20
_FILES = ("logo", "screenshot")
_URLS = ("url", "logo_url", "image_url", "screenshot_url", "video_url", "rss_url")
_MAIL = re.compile(r"[^@\s<>,;]+@[^@\s<>,;]+\.[^@\s<>,;.]{2,}")
_WEB_ADDRESS = re.compile(r"https?://(?:[\w-]+\.)+[^\W\d_][\w-]+(?::\d{1,5})?(?:[/?#]\S*)?", re.IGNORECASE)
_IMAGES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"RIFF")
_MODELS: dict[str, type[Stored]] = {"contact": Contact, "address": Address}

Place = tuple[str | int, ...]


class Problem(NamedTuple):
    """One mistake, where it stands."""

    line: int
    field: str
    sentence: str

    def __str__(self) -> str:
        return (
            f"line {self.line}: {self.field}: {self.sentence}"
            if self.field
            else f"line {self.line}: {self.sentence}"
        )


def load_profile(path: Path) -> Business:
    """The business that the YAML file at `path` describes; its logo and screenshot as absolute paths.

    InputError lists every mistake in `problems`, in the order of their lines.
    """
    profile = _Profile(_read(path), path)
    found = [*profile.problems, *_validate(profile), *_check(profile)]
    problems = sorted({(problem.line, problem.field): problem for problem in reversed(found)}.values())
    if problems:
        count = "one mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        listed = tuple(map(str, problems))
        raise InputError(f"The profile {path} has {count}; correct what is listed and try again.", listed)
    return Business.model_validate(profile.values | _absolute(profile))


def schema() -> dict[str, Any]:
    """The published JSON schema of a profile."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Business.model_json_schema(),
        "title": "Business profile of campaign_assets",
    }


def schema_text() -> str:
    """The content of `profile.schema.json`."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


class _Profile:
    """A parsed profile: plain values, the line of each, and what was wrong already in the YAML."""

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.lines: dict[Place, int] = {(): 1}
        self.values: dict[str, Any] = {}
        root = self._parse(text)
        if isinstance(root, yaml.MappingNode):
            self.values = self._plain(root, ())
        elif root is not None or not self.problems:
            raise InputError(
                f"The profile {path} is no list of fields; write one `field: value` a line, beginning with `name:`."
            )

    def line(self, place: Place) -> int:
        """The line of a place, or of the nearest one around it that is written."""
        while place not in self.lines:
            place = place[:-1]
        return self.lines[place]

    def _parse(self, text: str) -> yaml.Node | None:
        try:
            self._refuse_mazes(text)
            return yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            said = " ".join(filter(None, (error.context, error.problem)))
            problem = Problem((mark.line if mark else 0) + 1, "", f"this is not valid YAML ({said}).")
            raise InputError(f"The profile {self.path} cannot be read; {problem}", (str(problem),)) from error
        except yaml.YAMLError as error:
            raise InputError(f"The profile {self.path} is not a text file in YAML.") from error

    def _refuse_mazes(self, text: str) -> None:
        """What a small text can make huge or bottomless: refused while it is read, before anything is built of it."""
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise InputError(f"The profile {self.path} uses YAML aliases (*name); write the values out.")
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise InputError(
                    f"The profile {self.path} is nested too deeply; write plain fields and lists."
                )

    def _plain(self, node: yaml.Node, place: Place) -> Any:
        """Scalars as the text they are written as; what is left empty is left out."""
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            found = []
            for index, each in enumerate(node.value):
                self.lines[(*place, index)] = each.start_mark.line + 1
                found.append(self._plain(each, (*place, index)))
            return found
        empty = getattr(node, "style", None) is None and node.value in ("", "~", "null")
        return None if empty else node.value

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = str(key.value)
            if name in found:
                first = self.lines[(*place, name)]
                self.problems.append(
                    Problem(line, _dotted((*place, name)), f"is written twice; the first is in line {first}.")
                )
                continue
            self.lines[(*place, name)] = line
            found[name] = self._plain(value, (*place, name))
        return {name: value for name, value in found.items() if value is not None}


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"The profile {path} is larger than a profile can be; give the YAML file.")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"There is no profile {path}; give the path of a YAML file.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"The profile {path} is not a text file in UTF-8; save it as one.") from error
    except OSError as error:
        raise InputError(f"The profile {path} cannot be read: {error.strerror}.") from error


def _validate(profile: _Profile) -> Iterator[Problem]:
    """What the model says."""
    try:
        Business.model_validate(profile.values)
    except ValidationError as error:
        for found in error.errors(include_url=False):
            yield Problem(profile.line(found["loc"]), _dotted(found["loc"]), _sentence(found))


def _sentence(found: ErrorDetails) -> str:
    """A validation error in words that name the fix."""
    place, kind, context = found["loc"], found["type"], found.get("ctx", {})
    if kind == "missing":
        return "is missing."
    if kind == "extra_forbidden":
        return f"there is no such field{_similar(place) or '.'}"
    if kind in ("string_too_long", "string_too_short"):
        least_or_most = (
            f"at least {context['min_length']}"
            if kind == "string_too_short"
            else f"at most {context['max_length']}"
        )
        return f"needs {least_or_most} characters, it has {len(str(found['input']).strip())}."
    if kind == "string_pattern_mismatch":
        what = (
            "two-letter language code such as en"
            if "a-z" in context["pattern"]
            else "two-letter country code such as DE"
        )
        return f"{found['input']!r} is no {what}."
    if kind == "too_short":
        return "needs at least one entry."
    if kind in ("tuple_type", "list_type"):
        return "must be a list: one `- value` a line."
    if kind == "string_type":
        return "must be a single text."
    return f"{found['msg'][:1].lower()}{found['msg'][1:]}."


def _similar(place: Place) -> str:
    """`; did you mean …?`, where a field's name is close."""
    owner: type[Stored] = _MODELS.get(str(place[0]), Business) if len(place) > 1 else Business
    close = difflib.get_close_matches(str(place[-1]), owner.model_fields, 1)
    return f"; did you mean {close[0]}?" if close else ""


def _check(profile: _Profile) -> Iterator[Problem]:
    """What the types cannot say: addresses, numbers, countries, files."""
    for place, value in _texts(profile.values, ()):
        sentence = _fault(profile, place, value)
        if sentence:
            yield Problem(profile.line(place), _dotted(place), sentence)


def _fault(profile: _Profile, place: Place, value: str) -> str | None:
    field = place[-1]
    if place[0] in (*_URLS, "social", "reciprocal_urls"):
        return _url_fault(value)
    if field == "email" and not _MAIL.fullmatch(value.strip()):
        return f"{value!r} is no e-mail address."
    if field in ("phone", "fax"):
        return _phone_fault(profile, value)
    if place == ("address", "country") or place[0] == "countries":
        known = value in phonenumbers.SUPPORTED_REGIONS
        return None if known else f"{value!r} is no ISO 3166 two-letter country code such as DE."
    if place[0] in _FILES and len(place) == 1:
        return _file_fault(profile.path.parent / value)
    return None


def _url_fault(value: str) -> str | None:
    if not value.lower().startswith(("http://", "https://")):
        return f"{value!r} must begin with https:// (or http://)."
    return (
        None
        if _WEB_ADDRESS.fullmatch(value.strip())
        else f"{value!r} is not the address of a public website."
    )


def _phone_fault(profile: _Profile, value: str) -> str | None:
    address = profile.values.get("address")
    region = address.get("country") if isinstance(address, dict) else None
    try:
        possible = phonenumbers.is_possible_number(
            phonenumbers.parse(value, region if isinstance(region, str) else None)
        )
    except phonenumbers.NumberParseException:
        possible = False
    return (
        None
        if possible
        else f"{value!r} is no phone number; write it with its country, such as +49 30 2312500."
    )


def _file_fault(path: Path) -> str | None:
    try:
        if path.stat().st_size > _LARGEST_IMAGE:
            return f"{path} is larger than 10 MB, which no directory takes."
        with path.open("rb") as file:
            head = file.read(256)
    except OSError:
        return f"there is no file {path}; paths are relative to the profile."
    image = head.startswith(_IMAGES) or b"<svg" in head
    return None if image else f"{path} is no image (PNG, JPEG, GIF, WebP or SVG)."


def _absolute(profile: _Profile) -> dict[str, str]:
    """The profile's own files where a worker finds them, whatever its directory."""
    folder = profile.path.parent
    return {name: str((folder / profile.values[name]).resolve()) for name in _FILES if name in profile.values}


def _texts(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, (*place, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*place, index))
    elif isinstance(value, str):
        yield place, value


def _dotted(place: Place) -> str:
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in place if part != "[key]")


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), encoding="utf-8")
