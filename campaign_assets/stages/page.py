"""One fetched page as stages read it: its words, its links with what they say, its forms. Pure, from the
document's markup.

Owns what a reader of the page would see of it; refuses to judge anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from campaign_assets.errors import InputError
from campaign_assets.stages.folding import fold
from campaign_assets.web.fetch import Document
from campaign_assets.web.sites import registrable

_MOST_LINKS = 2000
_MOST_TEXT = 200_000
_UNREAD = "script, style, noscript, template, svg, iframe, select, nav, footer"
_FILLABLE = frozenset(
    {"text", "url", "email", "tel", "search", "password", "number", "file", "checkbox", "radio"}
)


@dataclass(frozen=True)
class PageLink:
    """One link, its address made absolute."""

    url: str
    text: str
    """What it says: its text, else the picture's alternative text or its title."""
    rel: str
    navigation: bool
    """Stands in the page's header, footer or navigation."""


@dataclass(frozen=True)
class PageForm:
    """A form by its controls' (type, name) pairs; hidden ones and buttons left out."""

    action: str
    method: str
    controls: tuple[tuple[str, str], ...]
    hidden: tuple[tuple[str, str], ...]
    """Names and values that a browser would send along."""


class Page:
    """A document, parsed when it is first looked at."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.url = document.url

    @cached_property
    def _tree(self) -> LexborHTMLParser:
        return LexborHTMLParser(self.document.text)

    @cached_property
    def title(self) -> str:
        node = self._tree.css_first("title")
        return " ".join(node.text().split())[:300] if node else ""

    @cached_property
    def declared_language(self) -> str:
        """The two letters that the page itself says, or nothing."""
        node = self._tree.css_first("html")
        return (node.attributes.get("lang") or "")[:2].lower() if node else ""

    def meta(self, name: str) -> str:
        """A meta element's content by its name or property; empty where there is none."""
        for node in self._tree.css("meta"):
            if (node.attributes.get("name") or node.attributes.get("property") or "").lower() == name:
                return node.attributes.get("content") or ""
        return ""

    @cached_property
    def canonical(self) -> str:
        """The address that the page names as its own, or nothing."""
        for node in self._tree.css("link[rel]"):
            if (node.attributes.get("rel") or "").lower() == "canonical":
                return self._absolute(node.attributes.get("href") or "") or ""
        return ""

    @cached_property
    def text(self) -> str:
        """Readable text: title, description and the body without navigation and scripts."""
        tree = LexborHTMLParser(self.document.text)
        for node in tree.css(_UNREAD):
            node.decompose()
        body = tree.body.text(separator=" ") if tree.body else ""
        whole = f"{self.title}. {self.meta('description')} {body[:_MOST_TEXT]}"
        return " ".join(whole.split())

    @cached_property
    def whole_text(self) -> str:
        """Every word a visitor sees, navigation and footer included."""
        tree = LexborHTMLParser(self.document.text)
        for node in tree.css("script, style, noscript, template"):
            node.decompose()
        return " ".join((tree.body.text(separator=" ") if tree.body else "")[:_MOST_TEXT].split())

    @cached_property
    def links(self) -> tuple[PageLink, ...]:
        """The page's links in order, without those that lead nowhere."""
        return tuple(self._links())

    @cached_property
    def forms(self) -> tuple[PageForm, ...]:
        return tuple(self._form(node) for node in self._tree.css("form"))

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """Addresses of frames and scripts: what the page draws on."""
        nodes = self._tree.css("iframe[src], frame[src], script[src]")
        return tuple(url for node in nodes if (url := self._absolute(node.attributes.get("src") or "")))

    def outside(self) -> set[str]:
        """Registrable domains of other sites that the page links to."""
        own = domain_of(self.url)
        return {domain for link in self.links if (domain := domain_of(link.url)) and domain != own}

    def linking_to(self, url: str) -> Iterator[PageLink]:
        """Links to the site of `url`, straight or through a redirect that carries its address."""
        wanted = domain_of(url)
        for link in self.links:
            if (
                domain_of(link.url) == wanted
                or f"://{wanted}" in _decoded_query(link.url)
                or f"www.{wanted}" in _decoded_query(link.url)
            ):
                yield link

    def named(self, name: str) -> Iterator[PageLink]:
        """Links of the site itself that say `name`."""
        wanted, own = fold(name), domain_of(self.url)
        for link in self.links:
            said = fold(link.text)
            if (said == wanted or said.startswith(f"{wanted} ")) and domain_of(link.url) == own:
                yield link

    def _links(self) -> Iterator[PageLink]:
        for node in self._tree.css("a[href], area[href]")[:_MOST_LINKS]:
            url = self._absolute(node.attributes.get("href") or "")
            if url:
                yield PageLink(
                    url, _said(node), (node.attributes.get("rel") or "").lower(), _in_navigation(node)
                )

    def _absolute(self, href: str) -> str | None:
        try:
            url = urljoin(self._base, href.strip()).split("#")[0]
            return url if urlsplit(url).scheme in ("http", "https") and urlsplit(url).hostname else None
        except ValueError:
            return None

    @cached_property
    def _base(self) -> str:
        node = self._tree.css_first("base[href]")
        return urljoin(self.url, node.attributes.get("href") or "") if node else self.url

    def _form(self, node: LexborNode) -> PageForm:
        found, hidden = [], []
        for control in node.css("input, select, textarea"):
            kind = (
                (control.attributes.get("type") or "text").lower()
                if control.tag == "input"
                else str(control.tag)
            )
            name = control.attributes.get("name") or control.attributes.get("id") or ""
            if kind == "hidden":
                hidden.append((name, control.attributes.get("value") or ""))
            elif kind in _FILLABLE or control.tag != "input":
                found.append((kind, name.lower() if kind != "search" else name))
        action = self._absolute(node.attributes.get("action") or "") or self.url
        return PageForm(action, (node.attributes.get("method") or "get").lower(), tuple(found), tuple(hidden))


def domain_of(url: str) -> str | None:
    """The registrable domain of an address, None where it has none."""
    try:
        return registrable(url)
    except InputError:
        return None


def _decoded_query(url: str) -> str:
    return unquote(urlsplit(url).query)


def _said(node: LexborNode) -> str:
    text = " ".join(node.text(separator=" ").split())
    if text:
        return text[:200]
    image = node.css_first("img[alt]")
    return str(
        node.attributes.get("aria-label")
        or node.attributes.get("title")
        or (image.attributes.get("alt") if image else "")
        or ""
    )[:200]


def _in_navigation(node: LexborNode) -> bool:
    parent = node.parent
    while parent is not None and parent.tag != "body":
        if parent.tag in ("nav", "header", "footer"):
            return True
        parent = parent.parent
    return False
