"""What a home page turns out to be instead of a working directory: parked, sold, closed, somebody else's.
Pure, words as data.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple
from urllib.parse import urlsplit

from campaign_assets.model import Reason
from campaign_assets.stages.folding import fold, says, tokens
from campaign_assets.stages.page import Page, domain_of
from campaign_assets.stages.vocabulary import read, word_lists

_SHORT_PAGE = 4000
_BARE_PAGE = 800
_FEW_SITES = 12
_HEAD = 1500
_STEP = 2000
"""`folding.tokens` reads a text in pieces of this length."""
_SOLD_KINDS = 4
_SOLD_SHARE = 0.025


class Standing(NamedTuple):
    """Why a page is no use as a directory."""

    reason: Reason
    sentence: str


def standing(page: Page, asked: str) -> Standing | None:
    """What is wrong with a home page that was asked for as `asked`; None for one that looks alive."""
    return _elsewhere(page, asked) or _parked(page) or _sold(page, asked) or _closed(page)


@cache
def _hosts(name: str) -> tuple[str, ...]:
    return tuple(read("discovery")[name]["any"])


def _at(url: str, hosts: tuple[str, ...]) -> str | None:
    """The known host that an address belongs to."""
    place = f"{urlsplit(url).hostname or ''}{urlsplit(url).path}".removeprefix("www.")
    for known in hosts:
        host, _, path = known.partition("/")
        own = place.partition("/")[0]
        if (own == host or own.endswith(f".{host}")) and place.partition("/")[2].startswith(path):
            return known
    return None


def _elsewhere(page: Page, asked: str) -> Standing | None:
    """Redirected to a place that is nobody's directory."""
    if domain_of(page.url) == domain_of(asked):
        return None
    if _at(page.url, _hosts("parking_hosts")):
        return Standing(Reason.PARKED, f"{asked} leads to {page.url}, where domains are sold.")
    if _at(page.url, _hosts("login_hosts")):
        return Standing(
            Reason.LOGIN_REQUIRED, f"{asked} shows nothing without a login at {urlsplit(page.url).hostname}."
        )
    shared = _at(page.url, _hosts("shared_hosts"))
    return (
        Standing(Reason.NO_SUBMIT_PAGE, f"{asked} has moved to a page on {shared}, which takes no listings.")
        if shared
        else None
    )


def _parked(page: Page) -> Standing | None:
    """A registrar's, a seller's or a server's own page."""
    short = len(page.text) < _SHORT_PAGE and len(page.outside()) <= _FEW_SITES
    drawn = next((host for frame in page.frames if (host := _at(frame, _hosts("parking_hosts")))), None)
    if short and drawn:
        return Standing(Reason.PARKED, f"{page.url} is drawn by {drawn}: a parked domain.")
    folded = _folded(page.text)
    phrase = says(folded, word_lists("discovery")["parked"]) if short else None
    if phrase is None and len(page.text) < _BARE_PAGE and not page.forms:
        phrase = says(folded, word_lists("discovery")["server_default"])
    return (
        Standing(Reason.PARKED, f"{page.url} says “{phrase}”: nobody runs a directory there.")
        if phrase
        else None
    )


def _sold(page: Page, asked: str) -> Standing | None:
    """An expired name that now carries what expired names are sold for."""
    markers = word_lists("discovery")["sold"]
    said = _folded(page.text)
    words = said.split()
    if says(" ".join(tokens((urlsplit(asked).hostname or "").replace(".", " "))), markers):
        return None
    found = {marker: f" {said} ".count(f" {marker} ") for marker in markers}
    kinds = [marker for marker, count in found.items() if count]
    share = sum(found.values()) / max(len(words), 1)
    if len(kinds) < _SOLD_KINDS or share < _SOLD_SHARE:
        return None
    shown = ", ".join(sorted(kinds, key=lambda marker: -found[marker])[:4])
    return Standing(
        Reason.SOLD, f"{page.url} is about {shown} ({share:.0%} of its words): the domain was sold."
    )


def _closed(page: Page) -> Standing | None:
    """The site itself says, where it would say it first, that it is over."""
    head = _folded(f"{page.title} . {page.text[:_HEAD]}")
    phrase = says(head, word_lists("discovery")["closed"])
    if phrase is None and len(page.outside()) <= _FEW_SITES and len(page.text) < _HEAD:
        phrase = says(head, word_lists("discovery")["closed_notice"])
    return Standing(Reason.CLOSED, f"{page.url} says “{phrase}”.") if phrase else None


def _folded(text: str) -> str:
    return " ".join(fold(text[start : start + _STEP]) for start in range(0, min(len(text), 40_000), _STEP))
