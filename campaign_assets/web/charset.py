"""From bytes to text, in the order browsers go: byte order mark, header, `meta`, then what the bytes look like."""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_META = re.compile(rb"""<meta[^>]{0,300}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{2,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([A-Za-z0-9_:.-]{2,40})""", re.IGNORECASE)
_HEADER = re.compile(r"""charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{2,40})""", re.IGNORECASE)

_AS_BROWSERS_DO = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "tis-620": "cp874",
    "big5": "big5hkscs",
}
"""The superset that a browser reads where a page names the smaller set."""


def decode(body: bytes, content_type: str = "") -> str:
    """The text of `body`; bytes that do not belong to its encoding become U+FFFD. Never fails."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    named = _named(body, content_type)
    if named:
        return body.decode(named, "replace")
    return _guessed(body)


def _named(body: bytes, content_type: str) -> str | None:
    header = _HEADER.search(content_type)
    labels = [header.group(1)] if header else []
    start = body[:4096]
    labels += [
        match.group(1).decode("ascii") for pattern in (_META, _XML) if (match := pattern.search(start))
    ]
    for label in labels:
        encoding = _encoding(label)
        if encoding:
            # A page that could be searched for its `meta` as ASCII is not UTF-16, whatever it says.
            return "utf-8" if encoding.startswith("utf-16") and not header else encoding
    return None


def _encoding(label: str) -> str | None:
    label = {"x-sjis": "shift_jis", "x-euc-jp": "euc_jp", "x-gbk": "gbk", "windows-31j": "cp932"}.get(
        label.lower(), label
    )
    try:
        name = codecs.lookup(label).name
        b"".decode(name)
    except LookupError:
        return None
    return _AS_BROWSERS_DO.get(name, name)


def _guessed(body: bytes) -> str:
    for encoding in ("utf-8", "euc_jp", "cp932", "gb18030"):
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8" or _mostly_east_asian(text):
            return text
    # One byte cut off at the size limit must not turn a whole UTF-8 page into another alphabet.
    lenient = body.decode("utf-8", "replace")
    return lenient if lenient.count("\ufffd") <= len(lenient) // 500 + 1 else body.decode("cp1252", "replace")


def _mostly_east_asian(text: str) -> bool:
    foreign = [char for char in text if ord(char) > 0x7F]
    likely = sum(1 for char in foreign if "\u3040" <= char <= "\u30ff" or "\u4e00" <= char <= "\u9fff")
    return len(foreign) >= 8 and likely > 0.8 * len(foreign)
