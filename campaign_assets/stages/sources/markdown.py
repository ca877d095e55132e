"""Markdown lists and plain text, line by line, so that a list of any length is read in bounded memory.

Blocks (fences, comments, headings, items, rows, quotes) are told by how a line begins; what stands inside a
line is parsed by markdown-it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from campaign_assets.model import RejectedLine
from campaign_assets.stages.sources.addresses import Candidate
from campaign_assets.stages.sources.links import Block, Judge, Link, Where

_FENCE = re.compile(r"\s{0,12}(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"(?:\s*>)*\s*(?:[-*+•‣]|\d{1,6}[.)])\s+(?:\[[ xX]\]\s*)?(.*)$")
_ROW = re.compile(r"\s*\|(.*)\|?\s*$")
_RULE_ROW = re.compile(r"[\s|:-]+")
_QUOTE = re.compile(r"\s{0,3}>\s?(.*)$")
_REFERENCE = re.compile(r"^\s{0,3}\[([^\]^]+)\]:\s*<?(\S+?)>?(?:\s+[\"'(].*)?\s*$")
_BARE = re.compile(r"(?:https?:/{1,2}|www\.)[^\s<>|\]`]+", re.IGNORECASE)
_PLAIN_ADDRESS = re.compile(r"\s*[\w-]+(?:\.[\w-]+)+(?:/\S*)?\s*")
_ANCHOR_TAG = re.compile(r"<a\b[^>]*?\bhref\s*=\s*[\"']?([^\"'\s>]+)[^>]*>", re.IGNORECASE)
_IMAGE_TAG = re.compile(r"<img\b[^>]*?\bsrc\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_CELL_TAG = re.compile(r"<(?:/t[dh]|br)\b", re.IGNORECASE)
_REPOSITORY = re.compile(
    r"(?:img\.shields\.io/(?:github|gitlab)/[\w/-]+?/|git(?:hub|lab)\.com/)([\w.-]+/[\w.-]+?)(?:/(?:stargazers|issues|pulls?|graphs|network|fork|commits?|actions|blob|edit)\b|[)?\"]|\.svg)"
)
_OWN_HEAD = 60
_ITEM_REACH = 40

_INLINE = MarkdownIt("zero", {"html": True}).enable(
    ["link", "image", "autolink", "escape", "backticks", "html_inline", "entity"]
)
_INLINE.normalizeLink = lambda url: url  # type: ignore[method-assign]  # addresses are repaired by us, not encoded
_INLINE.validateLink = lambda url: True  # type: ignore[method-assign]  # refused by us, with a reason


def markdown_candidates(text: str) -> Iterator[Candidate | RejectedLine]:
    """Entries and rejected links of a Markdown or plain text list, in order."""
    references = _references(text) if "]:" in text else {}
    judge = Judge(_own_repository(text))
    for block in _blocks(text, references, judge):
        yield from judge.judge(block)


def _own_repository(text: str) -> frozenset[str]:
    """The repository that the head of the document (before its first item or row) shows badges and forms of."""
    found: set[str] = set()
    for line in text[:20000].splitlines()[:_OWN_HEAD]:
        if (
            not _ITEM.match(line)
            and not _ROW.match(line)
            and ("badge" in line or "stargazers" in line or "shields.io" in line)
        ):
            found |= {f"github.com/{path.lower()}" for path in _REPOSITORY.findall(line)}
    return frozenset(found)


def _references(text: str) -> dict[str, str]:
    """Link definitions of the whole document by their label."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _REFERENCE.match(line)
        if match:
            found.setdefault(_label(match.group(1)), match.group(2))
    return found


def _label(text: str) -> str:
    return " ".join(text.split()).upper()


def _blocks(text: str, references: dict[str, str], judge: Judge) -> Iterator[Block]:
    """The document's blocks. Lines that belong to an item above (indented, no blank line between) are put into it."""
    fence = ""
    comment = False
    item: Block | None = None
    for number, line in enumerate(_lines(text), 1):
        marker = _FENCE.match(line)
        if fence or marker:
            if marker and (not fence or marker.group(1).startswith(fence)):
                fence = "" if fence else marker.group(1)
            else:
                yield Block(Where.CODE, number, list(_bare_pieces(line, number)))
            continue
        comment, hidden = _in_comment(line, comment)
        if hidden:
            yield Block(Where.COMMENT, number, list(_bare_pieces(line, number)))
            continue
        continues = (
            item is not None
            and line[:2].isspace()
            and line.strip()
            and not _ITEM.match(line)
            and number - item.line < _ITEM_REACH
        )
        if continues and item is not None:
            item.pieces += ["\n", *_pieces(line, number, references)]
            continue
        if item is not None:
            yield item
            item = None
        block = _block(line, number, references, judge)
        if block is not None and block.where is Where.ITEM:
            item = block
        elif block is not None:
            yield block
    if item is not None:
        yield item


def _lines(text: str) -> Iterator[str]:
    """Lines one by one, without a list of all of them."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end].rstrip("\r")
        start = end + 1


def _in_comment(line: str, inside: bool) -> tuple[bool, bool]:
    """(whether a comment goes on after this line, whether the line is hidden by one)."""
    if inside:
        return "-->" not in line, True
    opened = line.find("<!--")
    if opened < 0:
        return False, False
    return "-->" not in line[opened:], not line[:opened].strip() and not line[opened:].partition("-->")[
        2
    ].strip()


def _block(line: str, number: int, references: dict[str, str], judge: Judge) -> Block | None:
    """The block a line begins; None for one that cannot hold anything."""
    heading = _HEADING.match(line)
    if heading:
        pieces = list(_pieces(heading.group(2), number, references))
        block = Block(Where.HEADING, number, pieces)
        judge.heading(len(heading.group(1)), block.text)
        return block
    if not line.strip() or _RULE_ROW.fullmatch(line) or _REFERENCE.match(line):
        return None
    for pattern, where in ((_ITEM, Where.ITEM), (_ROW, Where.ROW), (_QUOTE, Where.QUOTE)):
        match = pattern.match(line)
        if match:
            return Block(
                where, number, list(_pieces(match.group(1), number, references, cells=where is Where.ROW))
            )
    where = Where.ROW if "<td" in line else Where.ITEM if "<li" in line else Where.LINE
    return Block(where, number, list(_pieces(line, number, references, lone=True)))


def _pieces(
    line: str, number: int, references: dict[str, str], *, cells: bool = False, lone: bool = False
) -> Iterator[str | Link]:
    """A line's texts and links in order."""
    if lone and _PLAIN_ADDRESS.fullmatch(line):
        yield Link(number, line.strip(), line.strip(), bare=True)
        return
    if (
        "://" not in line
        and "](" not in line
        and "<" not in line
        and "www." not in line.lower()
        and "][" not in line
        and not references
    ):
        yield line.replace("|", "\t") if cells else line
        return
    if "](" not in line and "<" not in line and "`" not in line and "][" not in line and not references:
        for piece in _bare_pieces(line, number):
            yield piece.replace("|", "\t") if cells and isinstance(piece, str) else piece
        return
    env = (
        {"references": {label: {"href": href, "title": ""} for label, href in references.items()}}
        if references
        else {}
    )
    tokens = _INLINE.parseInline(line, env)[0].children or []
    yield from _token_pieces(tokens, number, cells)


def _token_pieces(tokens: list[Token], number: int, cells: bool) -> Iterator[str | Link]:
    """Texts and links of parsed tokens; the same for Markdown links, autolinks and HTML's anchors."""
    href, text, image = None, "", ""
    for token in tokens:
        opened = _ANCHOR_TAG.match(token.content) if token.type == "html_inline" else None
        if token.type == "link_open" or opened:
            href, text, image = (opened.group(1) if opened else str(token.attrs["href"])), "", ""
        elif href is not None and (token.type == "link_close" or token.content.lower() == "</a>"):
            yield Link(number, href, text.strip(), "" if text.strip() else image)
            href = None
        else:
            picture = _picture(token)
            if href is not None:
                image, text = (
                    image or picture,
                    text + (token.content if token.type in ("text", "code_inline") else ""),
                )
            elif picture:
                yield Link(number, "", token.content, picture)
            else:
                yield from _plain(token, number, cells)
    if href is not None:
        yield Link(number, href, text.strip(), "" if text.strip() else image)


def _picture(token: Token) -> str:
    if token.type == "image":
        return str(token.attrs.get("src", "")) or "image"
    tag = _IMAGE_TAG.match(token.content) if token.type == "html_inline" else None
    return tag.group(1) if tag else ""


def _plain(token: Token, number: int, cells: bool) -> Iterator[str | Link]:
    """Text outside links: plain addresses in it are links, too."""
    if token.type == "html_inline":
        yield "\t" if _CELL_TAG.match(token.content) else ""
    elif token.type == "code_inline" and not _BARE.match(token.content):
        yield token.content
    else:
        for piece in _bare_pieces(token.content, number):
            yield piece.replace("|", "\t") if cells and isinstance(piece, str) else piece


def _bare_pieces(text: str, number: int) -> Iterator[str | Link]:
    """A text split at the plain addresses in it."""
    position = 0
    for match in _BARE.finditer(text):
        yield text[position : match.start()]
        yield Link(number, match.group(), match.group(), bare=True)
        position = match.end()
    yield text[position:]
