"""What the bytes of a source are: text or not, and which kind of list, by content with the file's name as a hint.

A file that is no list at all ends here, with one sentence that names the fix.
"""

from __future__ import annotations

import csv
import re
from enum import StrEnum
from itertools import islice
from pathlib import PurePath

from campaign_assets.errors import InputError

_FIX = "give a CSV, JSON, Markdown or HTML list."
_MAGIC = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive (an XLSX or DOCX file is one)"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a media file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "an SQLite database"),
    (b"{\\rtf", "an RTF document"),
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_HTML = re.compile(r"<!doctype html|<html\b|<!doctype netscape|<head\b|<body\b", re.IGNORECASE)
_TAGS = re.compile(r"<(?:a\s[^>]*href|li|td|tr|ul|table|dt)\b", re.IGNORECASE)
_MARKDOWN = re.compile(r"^#{1,6} |^\s*[-*+] |\]\(|^\s*\|.*\|\s*$|^\s*\d+[.)] ", re.MULTILINE)
_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*(?:[\{"\]\[]|$))')
DELIMITERS = ",;\t|"


class Format(StrEnum):
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


_BY_SUFFIX = {
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSON,
    ".ndjson": Format.JSON,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".html": Format.HTML,
    ".htm": Format.HTML,
}


def decoded(content: bytes, label: str) -> str:
    """The text of a source. InputError for an empty file, a known binary kind, or anything that is not text."""
    for magic, what in _MAGIC:
        if content.startswith(magic):
            raise InputError(f"{label} is {what}; {_FIX}")
    text = _text(content)
    if text is None or len(_CONTROL.findall(text, 0, 65536)) > len(text[:65536]) / 200:
        raise InputError(f"{label} is a binary file, not text; {_FIX}")
    if not text.strip():
        raise InputError(f"{label} is empty; {_FIX}")
    return text


def format_of(text: str, name: str) -> Format:
    """Which kind of list the text is. Content decides; the name settles what content leaves open."""
    head = text[:20000]
    hint = _BY_SUFFIX.get(PurePath(name).suffix.lower())
    if _JSON.match(head) and hint is not Format.MARKDOWN:
        return Format.JSON
    if _HTML.search(head[:2000]) and hint is not Format.MARKDOWN:
        return Format.HTML
    if hint in (Format.CSV, Format.MARKDOWN, Format.HTML) and _plausible(hint, head):
        return hint
    if len(_TAGS.findall(head)) > len(_MARKDOWN.findall(head)):
        return Format.HTML
    return Format.CSV if _is_table(head) else Format.MARKDOWN


def delimiter_of(text: str) -> str:
    """The delimiter whose rows agree best on their number of fields; a comma where there is only one column."""
    lines = list(islice((line for line in text[:20000].splitlines() if line.strip()), 60))
    best, width = ",", 1.5
    for delimiter in DELIMITERS:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        usual = max(set(counts), key=counts.count, default=1)
        agreement = usual if usual > 1 and counts.count(usual) >= 0.6 * len(counts) else 1
        if agreement > width:
            best, width = delimiter, agreement
    return best


def _text(content: bytes) -> str | None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            return None
    if b"\x00" in content[:65536]:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _plausible(hint: Format, head: str) -> bool:
    """Whether a name's hint can be true: a .csv full of Markdown links, or a .md that is a page of HTML, is
    not believed.
    """
    if hint is Format.CSV:
        return head.count("](") < 3
    if hint is Format.HTML:
        return bool(_TAGS.search(head))
    return True


def _is_table(head: str) -> bool:
    """Rows of the same width, or one address a line."""
    lines = [line for line in head.splitlines()[:60] if line.strip()]
    if _MARKDOWN.search(head):
        return False
    if all(" " not in line.strip() for line in lines):
        return True
    delimiter = delimiter_of(head)
    widths = [line.count(delimiter) for line in lines]
    return (min(widths) >= 1 and delimiter != ",") or (
        min(widths) >= 1 and widths[0] == max(set(widths), key=widths.count)
    )
