"""JSON lists of any nesting, and JSON lines, as records with the line each begins on.

Elements of arrays are decoded one by one, so that a large list is never held as objects. An object inside
an array is a record; an object elsewhere is a container: its addresses are entries named by their keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from itertools import islice
from typing import Any

from campaign_assets.errors import InputError
from campaign_assets.model import RejectedLine
from campaign_assets.stages.sources.addresses import Candidate, looks_like_address
from campaign_assets.stages.sources.records import SAMPLE, Record, candidate, columns_of

_LONGEST_INT = 100


def _number(digits: str) -> int | float:
    """A number of any length; Python refuses to make an int of thousands of digits."""
    return int(digits) if len(digits) <= _LONGEST_INT else float(digits)


_DECODER = json.JSONDecoder(parse_int=_number)
_SPACE = re.compile(r"[ \t\r\n]*")


def json_candidates(text: str) -> Iterator[Candidate | RejectedLine]:
    """Records in order. InputError, before the first, where the text is no JSON or holds no address anywhere."""
    try:
        for _ in _Reader(text).records():
            pass
    except json.JSONDecodeError as error:
        raise InputError(
            f"line {error.lineno} is not valid JSON ({error.msg}); mend it, or give a CSV list."
        ) from error
    except RecursionError as error:
        raise InputError("the JSON is nested too deeply to be a list.") from error
    columns = columns_of(list(islice(_Reader(text).records(), SAMPLE)))
    if columns is None:
        raise InputError("no field holds web addresses; give a JSON list with one address a record.")
    return (candidate(record, columns) for record in _Reader(text).records())


class _Reader:
    """Walks a JSON text once, counting lines as it goes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line, self._counted = 1, 0

    def records(self) -> Iterator[Record]:
        """All records of the document, also where several values follow each other (JSON lines)."""
        position = self._skip(0)
        lines = 0
        while position < len(self._text):
            position = yield from self._walk(position, "", element=lines > 0 or self._is_line(position))
            position = self._skip(position)
            lines += 1

    def _is_line(self, position: int) -> bool:
        """Whether the first value ends on its own line and another follows: JSON lines."""
        end = self._text.find("\n", position)
        return (
            end > 0
            and self._text[position] == "{"
            and self._text[position:end].rstrip().endswith("}")
            and self._peek(self._skip(end)) == "{"
        )

    def _walk(self, position: int, key: str, *, element: bool) -> Generator[Record, None, int]:
        """Yields the records of the value at `position`; returns where it ends."""
        first = self._peek(position)
        if first == "[":
            return (yield from self._array(position, key))
        if first == "{" and not element:
            return (yield from self._container(position))
        value, end = _DECODER.raw_decode(self._text, position)
        if isinstance(value, dict) and _holds_records(value):
            return (yield from self._container(position))
        fields = _fields(value, key)
        if (
            isinstance(value, dict)
            or any(map(looks_like_address, fields.values()))
            or (isinstance(value, str) and not key)
        ):
            yield Record(self._line_at(position), fields)
        return end

    def _array(self, position: int, key: str) -> Generator[Record, None, int]:
        position = self._skip(position + 1)
        while self._peek(position) != "]":
            position = self._skip((yield from self._walk(position, key, element=True)))
            position = self._after_comma(position, "]")
        return position + 1

    def _container(self, position: int) -> Generator[Record, None, int]:
        """An object that is no record of an array: each address in it is an entry named by its key."""
        position = self._skip(position + 1)
        while self._peek(position) != "}":
            start = position
            key, position = _DECODER.raw_decode(self._text, position)
            if not isinstance(key, str):
                raise json.JSONDecodeError("a name in double quotes was expected", self._text, start)
            position = self._skip(position)
            if self._peek(position) != ":":
                raise json.JSONDecodeError("':' was expected", self._text, position)
            position = yield from self._member(key, self._skip(position + 1), start)
            position = self._after_comma(self._skip(position), "}")
        return position + 1

    def _member(self, key: str, position: int, start: int) -> Generator[Record, None, int]:
        """One name and value of a container."""
        if self._peek(position) in ("[", "{") and not looks_like_address(key):
            return (yield from self._walk(position, key, element=False))
        value, end = _DECODER.raw_decode(self._text, position)
        if looks_like_address(key):
            yield Record(self._line_at(start), {**_fields(value, "value"), "url": key})
        elif isinstance(value, str) and looks_like_address(value):
            yield Record(self._line_at(start), {"name": key, "url": value})
        return end

    def _after_comma(self, position: int, closing: str) -> int:
        """The next member's position, or the closing bracket's."""
        if self._peek(position) == ",":
            after = self._skip(position + 1)
            if self._peek(after) == closing:
                raise json.JSONDecodeError("a value was expected after the comma", self._text, after)
            return after
        if self._peek(position) != closing:
            raise json.JSONDecodeError(f"',' or {closing!r} was expected", self._text, position)
        return position

    def _peek(self, position: int) -> str:
        return self._text[position : position + 1]

    def _skip(self, position: int) -> int:
        match = _SPACE.match(self._text, position)
        return match.end() if match else position

    def _line_at(self, position: int) -> int:
        if position >= self._counted:
            self._line += self._text.count("\n", self._counted, position)
            self._counted = position
            return self._line
        return self._line - self._text.count("\n", position, self._counted)


def _holds_records(value: dict[str, Any]) -> bool:
    """Whether an object is a group, not a record: it holds lists of objects, or of addresses and no address itself."""
    lists = [inner for inner in value.values() if isinstance(inner, list)]
    if any(isinstance(each, dict) for inner in lists for each in inner):
        return True
    if any(isinstance(inner, str) and looks_like_address(inner) for inner in value.values()):
        return False
    return any(isinstance(each, str) and looks_like_address(each) for inner in lists for each in inner)


def _fields(value: Any, key: str) -> dict[str, str]:
    """A decoded record's plain fields; those of inner objects under `outer.inner`, lists of plain values joined."""
    if isinstance(value, dict):
        fields: dict[str, str] = {}
        for name, inner in value.items():
            if isinstance(inner, dict):
                fields |= {f"{name}.{deeper}": text for deeper, text in _fields(inner, "").items()}
            else:
                fields |= _fields(inner, name)
        return fields
    if isinstance(value, list):
        return {key: ", ".join(str(x) for x in value if not isinstance(x, dict | list))}
    return {key: "" if value is None else str(value)}
