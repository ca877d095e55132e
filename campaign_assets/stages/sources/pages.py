"""HTML list files: link collections, tables, bookmark exports, saved pages; parsed as a stream with line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from campaign_assets.model import RejectedLine
from campaign_assets.stages.sources.addresses import Candidate, NoAddress, complete, site_of
from campaign_assets.stages.sources.links import Block, Judge, Link, Where, is_badge

_STEP = 65536
_ITEMS = {"li": Where.ITEM, "dt": Where.ITEM, "dd": Where.ITEM, "tr": Where.ROW}
_BREAKS = frozenset(
    {
        "p",
        "div",
        "section",
        "article",
        "main",
        "ul",
        "ol",
        "dl",
        "table",
        "tbody",
        "body",
        "figure",
        "blockquote",
        "center",
        "pre",
    }
)
_LISTS = frozenset({"ul", "ol", "dl", "table"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_APART = frozenset({"nav", "footer", "aside", "form", "header", "menu"})
_UNREAD = frozenset(
    {"script", "style", "template", "noscript", "svg", "title", "select", "textarea", "button"}
)
_VOID = frozenset(
    {
        "br",
        "img",
        "hr",
        "input",
        "link",
        "meta",
        "base",
        "col",
        "area",
        "wbr",
        "source",
        "embed",
        "p",
        "dt",
        "dd",
        "option",
    }
)
_NAVIGATION = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|footer|breadcrumbs?|sidebar|social|share|cookies?|toc|pagination)(?:$|[\s_-])",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"<(?:link[^>]*rel=[\"']?canonical|base\b|meta[^>]*property=[\"']?og:url)[^>]*?(?:href|content)=[\"']?([^\"'\s>]+)",
    re.IGNORECASE,
)


def html_candidates(text: str) -> Iterator[Candidate | RejectedLine]:
    """Entries and rejected links of an HTML document, in order."""
    reader = _Reader(Judge(_own_sites(text)))
    for start in range(0, len(text), _STEP):
        reader.feed(text[start : start + _STEP])
        yield from reader.taken()
    reader.close()
    reader.flush()
    yield from reader.taken()


def _own_sites(text: str) -> frozenset[str]:
    """The site the page says it is itself."""
    found: set[str] = set()
    for address in _OWN.findall(text[:20000]):
        try:
            found.add(site_of(complete(address)))
        except NoAddress:
            continue
    return frozenset(found)


class _Reader(HTMLParser):
    """Collects the pieces of the current block; a tag that ends the block hands it to the judge."""

    def __init__(self, judge: Judge) -> None:
        super().__init__(convert_charrefs=True)
        self._judge = judge
        self._found: list[Candidate | RejectedLine] = []
        self._open: list[tuple[str, bool, int]] = []
        """Open tags that count, each with whether it sets its content apart and how many items were open before it."""
        self._places: list[Where] = []
        self._unread = 0
        self._block: Block | None = None
        self._heading: tuple[int, str] | None = None
        self._link: tuple[int, str] | None = None
        self._text, self._image = "", ""

    def taken(self) -> list[Candidate | RejectedLine]:
        """What was found since the last call."""
        found, self._found = self._found, []
        return found

    def flush(self) -> None:
        """End the current block."""
        self._end_link()
        if self._block is not None and self._block.pieces:
            self._found += self._judge.judge(self._block)
        self._block = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in _UNREAD:
            self._unread += 1
        elif tag == "a":
            self._end_link()
            if given.get("href"):
                self._link = (self.getpos()[0], given["href"] or "")
        elif tag == "img":
            self._picture(given)
        elif tag == "br":
            self._add("\n")
        elif tag in ("td", "th"):
            self._add("\t")
        else:
            self._structure(tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNREAD:
            self._unread = max(0, self._unread - 1)
        elif tag == "a":
            self._end_link()
        elif tag in _HEADINGS:
            self._end_heading()
        elif tag in _ITEMS:
            self.flush()
            del self._places[self._base() :]
        elif tag in _BREAKS or tag in _APART:
            if not self._places or tag in _LISTS or tag in _APART:
                self.flush()
            self._close(tag)

    def handle_data(self, data: str) -> None:
        if self._unread:
            return
        if self._link is not None:
            self._text += data
        elif data.strip() or self._block is not None:
            self._add(data)

    def _structure(self, tag: str, given: dict[str, str | None]) -> None:
        """Tags that begin a block or set their content apart."""
        if tag in _ITEMS:
            self.flush()
            del self._places[self._base() :]
            self._places.append(_ITEMS[tag])
        elif tag in _HEADINGS:
            self.flush()
            self._heading = (_HEADINGS[tag], "")
        elif tag in _BREAKS or tag in _APART:
            if not self._places or tag in _LISTS or tag in _APART:
                self.flush()
            if tag not in _VOID:
                self._open.append((tag, self._sets_apart(tag, given), len(self._places)))

    def _sets_apart(self, tag: str, given: dict[str, str | None]) -> bool:
        if tag == "header":
            return not any(name in ("article", "section") for name, _, _ in self._open)
        named = f"{given.get('class') or ''} {given.get('id') or ''}"
        return (
            tag in _APART
            or given.get("role") in ("navigation", "contentinfo", "banner")
            or (tag not in ("body", "main", "article", "table") and _NAVIGATION.search(named) is not None)
        )

    def _close(self, tag: str) -> None:
        """Close the innermost open `tag` with everything left open inside it; a stray end tag closes nothing."""
        for position in range(len(self._open) - 1, -1, -1):
            if self._open[position][0] == tag:
                del self._places[self._open[position][2] :]
                del self._open[position:]
                return

    def _base(self) -> int:
        """How many items were open before the innermost list: an item that begins or ends closes those after them."""
        return next((places for tag, _, places in reversed(self._open) if tag in _LISTS), 0)

    def _picture(self, given: dict[str, str | None]) -> None:
        source = given.get("src") or given.get("data-src") or "image"
        if self._link is not None and (alt := (given.get("alt") or "").strip()) and not is_badge(source):
            self._text += f" {alt} "
        elif self._link is not None:
            self._image = self._image or source

    def _add(self, piece: str | Link) -> None:
        if self._block is None:
            self._block = Block(self._where(), self.getpos()[0])
        if self._heading is not None:
            level, title = self._heading
            self._heading = (level, title + (piece if isinstance(piece, str) else piece.text))
        self._block.pieces.append(piece)

    def _where(self) -> Where:
        if any(apart for _, apart, _ in self._open):
            return Where.NAVIGATION
        if self._heading is not None:
            return self._places[-1] if self._places else Where.HEADING
        return self._places[-1] if self._places else Where.LINE

    def _end_link(self) -> None:
        if self._link is None:
            return
        line, href = self._link
        text = " ".join(self._text.split())
        self._link = None
        self._add(Link(line, href, text, "" if text else self._image))
        self._text, self._image = "", ""

    def _end_heading(self) -> None:
        self._end_link()
        if self._heading is None:
            return
        level, title = self._heading
        if not self._places:
            self._judge.heading(level, title)
            self.flush()
        self._heading = None
