"""Which links of a document are entries of its list, by stated rules, for Markdown and HTML alike.

A link is an entry when it is the first good one of a list item or a table row and leads it (or follows a
short label and a separator), or when a line of its own begins with it; further links count only where
nothing but separators stands between. Badges, anchors, relative links, the document's own site, running
text, code, comments and the sections that never hold entries are rejected, each with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from campaign_assets.model import RejectedLine
from campaign_assets.stages.sources.addresses import (
    Candidate,
    NoAddress,
    complete,
    looks_like_address,
    site_of,
)

_SECTIONS = re.compile(
    r"\W*(licen[sc]e|lizenz|contribut\w*|mitwirken|credits?|acknowledge?ments?|thanks?( to)?|star history|inhalt|"
    r"table of contents|contents|toc|authors?|about( the)? authors?|maintainers?|sponsors?|supporters?|backers?|"
    r"change ?log|footnotes?|references|see also|related( lists| projects| resources| repos\w*)?|"
    r"support( us| me)?|contact|code of conduct|disclaimer|stargazers\w*)\W*",
    re.IGNORECASE,
)
_BADGE = re.compile(
    r"shields\.io|badgen|badge|travis-ci|circleci|codecov|star-history|contrib\.rocks|buymeacoffee|ko-fi|"
    r"licensebuttons|/i\.creativecommons",
    re.IGNORECASE,
)
_NO_LABEL = re.compile(
    r"\W*(?:(?:thanks?|thank you|originally|based on|see|read more|more info\w*|follow|fork|visit (?:us|our)|"
    r"(?:made|built|created|powered|maintained|curated|hosted|written|inspired|generated)\s+(?:with|by|on|using|from)|"
    r"check out (?:our|my)|join (?:us|our))\b.*|"
    r"(?:licen[sc]e|demo|docs?|documentation|source( code)?|twitter|x|github|contact|author|by|via|live|blog|"
    r"e-?mail|more)\W*)",
    re.IGNORECASE | re.DOTALL,
)
_OWN_LABEL = re.compile(r"\W*(?:web ?site|home ?page|url|link|site)\W*", re.IGNORECASE)
_GENERIC = re.compile(
    r"\W*(link|here|visit|visit site|website|site|url|submit|go|open|click here|homepage|web|more|www|➡️?|🔗)?\W*",
    re.IGNORECASE,
)
_SEPARATOR_END = re.compile(r"(?:[-–—―:：→➡|=(\[\t~»›]|->|=>)\s*$")
_SEPARATORS = re.compile(r"(?:[\s,;/|·•・、，.&+–—-]|\band\b|\bor\b|\bund\b|\bet\b|\by\b)*", re.IGNORECASE)
_FIELDS = re.compile(r"(\s[-–—|=]+\s|\t|:\s|\s?[→➡»]\s?|->)")
_WORDS = re.compile(r"\w+")


def is_badge(image: str) -> bool:
    """Whether an image's address is a badge's."""
    return _BADGE.search(image) is not None


class Where(StrEnum):
    """What a block is; decides how strict the rules are."""

    ITEM = "item"
    ROW = "row"
    LINE = "line"
    HEADING = "heading"
    QUOTE = "quote"
    CODE = "code"
    COMMENT = "comment"
    NAVIGATION = "navigation"


class Link(NamedTuple):
    """One link as written."""

    line: int
    href: str
    text: str
    image: str = ""
    """The image's address where the link (or the image alone, with an empty href) shows one instead of text."""
    bare: bool = False
    """Written as a plain address in the text."""


@dataclass
class Block:
    """A piece of a document that belongs together: an item, a row, a line. Pieces alternate between text
    and links.
    """

    where: Where
    line: int
    pieces: list[str | Link] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(p if isinstance(p, str) else p.text or p.href for p in self.pieces).strip()[:200]


class Judge:
    """Judges the blocks of one document in order; knows the section it is in and the document's own sites."""

    def __init__(self, own_sites: frozenset[str] = frozenset()) -> None:
        self._own = own_sites
        self._section = ""
        self._excluded_level = 0

    def heading(self, level: int, title: str) -> None:
        """A heading opens a section; one that holds no entries lasts until the next heading of its rank or above."""
        if self._excluded_level and level > self._excluded_level:
            return
        self._section = title.strip()[:60]
        self._excluded_level = level if _SECTIONS.fullmatch(re.sub(r"[^\w\s]", " ", title)) else 0

    def judge(self, block: Block) -> Iterator[Candidate | RejectedLine]:
        """The block's entries and rejected links; a list item or row without any link is a rejected line."""
        entry, between, seen = False, "", False
        block = _with_bare_host(block)
        for piece in block.pieces:
            if isinstance(piece, str):
                between += piece
                continue
            seen = True
            try:
                url = self._address(piece, block)
                self._placed(piece, block, between, entry)
            except NoAddress as problem:
                yield RejectedLine(piece.line, piece.href or piece.text or piece.image, str(problem))
                between += "" if piece.image else piece.text
                continue
            yield Candidate(piece.line, url, _name(piece, block), piece.href)
            entry, between = True, ""
        if (
            not seen
            and block.where in (Where.ITEM, Where.ROW)
            and _WORDS.search(block.text)
            and not self._excluded_level
        ):
            yield RejectedLine(block.line, block.text, "no address")

    def _address(self, link: Link, block: Block) -> str:
        """The link's address, where it is one that may be an entry at all."""
        if link.image and (is_badge(link.image) or block.where not in (Where.ITEM, Where.ROW)):
            raise NoAddress("a badge image")
        if link.image and not link.href:
            raise NoAddress("an image")
        url = complete(link.href, schemeless=link.bare)
        if block.where in (Where.CODE, Where.COMMENT, Where.NAVIGATION):
            raise NoAddress(
                {"code": "inside a code block", "comment": "inside a comment"}.get(
                    block.where, "in the page's navigation"
                )
            )
        if self._excluded_level:
            raise NoAddress(f"under the heading {self._section!r}, which holds no entries")
        if self._own and site_of(url) in self._own:
            raise NoAddress("the list's own address")
        return url

    def _placed(self, link: Link, block: Block, before: str, entry: bool) -> None:
        """NoAddress where the link does not stand where an entry stands."""
        if entry and not (_SEPARATORS.fullmatch(before) and "\t" not in before):
            raise NoAddress("a further link of the same entry")
        if entry or block.where is Where.ROW:
            return
        if not _leads(link, block, before):
            raise NoAddress("in running text, not an entry of a list or table")


def _with_bare_host(block: Block) -> Block:
    """A block without links whose text has one field that is a host as people write it: `BetaList - betalist.com`."""
    if block.where not in (Where.ITEM, Where.ROW, Where.LINE) or not all(
        isinstance(p, str) for p in block.pieces
    ):
        return block
    fields = _FIELDS.split("".join(map(str, block.pieces)))
    for position, written in enumerate(fields):
        host = written.strip(" *_`()<>")
        if (
            host == host.lower()
            and looks_like_address(host)
            and (len(fields) > 1 or block.where is Where.ITEM)
        ):
            link = Link(block.line, host, host, bare=True)
            return Block(
                block.where, block.line, ["".join(fields[:position]), link, "".join(fields[position + 1 :])]
            )
    return block


def _leads(link: Link, block: Block, before: str) -> bool:
    """Whether the link leads its block or follows a short label."""
    label = _WORDS.findall(before)
    if not label:
        return block.where is not Where.LINE or link.bare or _ends_its_line(link, block)
    if _NO_LABEL.fullmatch(before) or block.where in (Where.HEADING, Where.QUOTE):
        return False
    separated = bool(_SEPARATOR_END.search(before.replace("*", "").replace("_", "")))
    if block.where is Where.ITEM:
        return len(label) <= (14 if separated else 4)
    return (
        len(label) <= 8
        and separated
        and not _OWN_LABEL.fullmatch(before)
        and (link.bare or _ends_its_line(link, block))
    )


def _ends_its_line(link: Link, block: Block) -> bool:
    """Whether nothing, or a separator and a description, follows the link; a sentence that only begins with
    it does not count.
    """
    following = block.pieces[block.pieces.index(link) + 1 :]
    after = next((piece for piece in following if isinstance(piece, str) and piece.strip()), "")
    return (
        not _WORDS.search(after) or re.match(r"\W*?(?:[-–—:：|•·,;(\n]|->)", after.strip("*_ ")) is not None
    )


def _name(link: Link, block: Block) -> str:
    """What the list calls the entry: the link's text, else the words before it."""
    if not link.bare and not _GENERIC.fullmatch(link.text) and "://" not in link.text:
        return " ".join(link.text.split())[:120]
    texts = [piece for piece in block.pieces[: block.pieces.index(link)] if isinstance(piece, str)]
    cells = [cell.strip(" -–—:：→|=([])*_~#>\n`") for cell in "".join(texts).split("\t")]
    return next((cell[:120] for cell in cells if re.search(r"[^\W\d_]", cell)), "")
