"""Where a directory takes submissions: its own links ranked with reasons, a form on the home page, its
sitemap, and only then guesses.

Ranking is pure. A guessed or merely named address counts only when it answers with a page that has a form
for a listing; the linked submit page itself is not loaded here, form mapping will.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from urllib.parse import urljoin, urlsplit

from campaign_assets.errors import SiteError
from campaign_assets.model import Reason
from campaign_assets.stages.folding import fold, name_tokens, says
from campaign_assets.stages.page import Page, PageForm, PageLink, domain_of
from campaign_assets.stages.vocabulary import read, word_lists
from campaign_assets.web.fetch import Fetcher

SURE_ENOUGH = 0.4
"""What a link must reach to be taken for the submit page."""
FORM_HOSTS = (
    "airtable.com",
    "tally.so",
    "typeform.com",
    "docs.google.com",
    "forms.gle",
    "jotform.com",
    "paperform.co",
    "fillout.com",
)
_MANY = 5
_GUESSES = ("/submit", "/add", "/suggest", "/add-listing", "/submit-site")
_URL_NAME = re.compile(
    r"(?:^|[\W_])(?:url|website|site|web|link|homepage|domain)(?:$|[\W_])|url$|website|homepage"
)
_TEXTS = frozenset({"text", "url", "email", "tel", "textarea", "number", "select"})
_LISTED_IN_SITEMAP = re.compile(r"<loc>\s*([^<\s]+)\s*</loc>", re.IGNORECASE)
_SITEMAP_LIMIT = 1_000_000


@dataclass(frozen=True)
class SubmitPage:
    """The address, and in words how it was found."""

    url: str
    found: str


@dataclass(frozen=True)
class Ranked:
    """One link as a candidate: how sure, and why in words."""

    link: PageLink
    sureness: float
    why: str


async def find_submit_page(home: Page, named: str, fetcher: Fetcher) -> SubmitPage | None:
    """The submit page of the site whose home page is `home`; `named` is the address that the source gave.

    None where there is none. SiteErrors that a later try may not see (429, 5xx, time-outs) are let through.
    """
    best = next(iter(ranked_links(home)), None)
    if best and best.sureness >= SURE_ENOUGH:
        return SubmitPage(
            best.link.url, f"linked on the home page as “{best.link.text or best.link.url}”: {best.why}"
        )
    if any(takes_listings(form) for form in home.forms) or _provider_frame(home):
        return SubmitPage(home.url, "the form stands on the home page itself")
    for url, found in (*_named_by_source(named, home), *await _in_sitemap(home, fetcher)):
        if await _has_form(url, fetcher):
            return SubmitPage(url, found)
    for path in _GUESSES:
        url = urljoin(home.url, path)
        if await _has_form(url, fetcher):
            return SubmitPage(
                url, f"guessed: nothing links to it, but {path} answers with a form for listings"
            )
    return None


def ranked_links(home: Page) -> list[Ranked]:
    """The home page's links that may lead to the submit page, the surest first. Pure."""
    best: dict[str, Ranked] = {}
    links = [link for link in home.links if _own(link.url, home.url) and not _same(link.url, home.url)]
    shelves = Counter(_first_step(url) for url in {link.url for link in links})
    for link in links:
        ranked = _rank(link, shelves[_first_step(link.url)] > _MANY)
        if ranked.sureness > 0 and (link.url not in best or ranked.sureness > best[link.url].sureness):
            best[link.url] = ranked
    return sorted(best.values(), key=lambda found: -found.sureness)


def _rank(link: PageLink, crowded: bool) -> Ranked:
    """Judge one link by what it says and where it leads; `crowded`: many links lead to pages beside that one."""
    words = word_lists("discovery")
    said, path = fold(link.text), _steps(link.url)
    sureness, why = _said(said)
    step = next((found for part in path if (found := _begins(part, words["submit_path"]))), None)
    if step:
        sureness += 0.35 if len(path) <= 3 else 0.15
        why.append(f"its path says “{step}”")
    if sureness and _is_form_host(link.url):
        sureness += 0.2
        why.append("it is a hosted form")
    for against in _against(said, path, crowded) if sureness else ():
        sureness -= 0.35
        why.append(f"but {against}")
    if sureness > 0 and link.navigation:
        sureness += 0.05
        why.append("it stands in the navigation")
    return Ranked(link, round(sureness, 2), ", ".join(why))


def _said(said: str) -> tuple[float, list[str]]:
    """How far a link's text alone asks for a submission."""
    words = word_lists("discovery")
    length = len(said.split())
    sure = says(said, words["submit_sure"])
    if sure:
        more = length - len(sure.split())
        return (0.9 if more <= 4 else 0.5 if more <= 6 else 0.2), [f"its text says “{_read_aloud(sure)}”"]
    if 2 <= length <= 5 and _calls_for(said):
        return 0.55, ["its text calls for one"]
    maybe = said if said in words["submit_maybe"] else None
    if maybe:
        return 0.5, [f"its text is “{_read_aloud(maybe)}”"]
    verb = _begins(said, words["submit_maybe"]) or _ends(said, words["submit_maybe"] - _english_maybe())
    return (0.25, [f"its text has “{_read_aloud(verb)}”"]) if verb and length <= 4 else (0.0, [])


def _against(said: str, path: list[str], crowded: bool) -> Iterator[str]:
    """What speaks against a link that speaks of submitting."""
    words = word_lists("discovery")
    other = says(said, words["submit_other"]) or says(" ".join(path), words["submit_other"])
    if other:
        yield f"“{other}” is about something else"
    if path and path[0] in words["article_path"]:
        yield f"it is a page of the {path[0]}"
    if crowded:
        yield "many pages like it are linked"


def _begins(said: str, phrases: frozenset[str]) -> str | None:
    """The longest phrase that a text begins with: an English call begins with its verb."""
    return max((phrase for phrase in phrases if f"{said} ".startswith(f"{phrase} ")), key=len, default=None)


def _ends(said: str, phrases: frozenset[str]) -> str | None:
    """The longest phrase that a text ends with: in German, Dutch, Turkish and Japanese the verb comes last."""
    return max((phrase for phrase in phrases if f" {said}".endswith(f" {phrase}")), key=len, default=None)


@cache
def _english_maybe() -> frozenset[str]:
    return frozenset(map(fold, read("discovery")["submit_maybe"]["en"]))


def _steps(url: str) -> list[str]:
    """The path's steps as words, without endings such as .php."""
    path = re.sub(r"\.\w{2,5}$", "", urlsplit(url).path)
    return [words for step in path.split("/") if (words := " ".join(name_tokens(step)))]


def _first_step(url: str) -> str:
    """Where a page of a crowd stands; pages at the top have no crowd."""
    steps = urlsplit(url).path.strip("/").split("/")
    return steps[0] if len(steps) > 1 else url


def _same(url: str, other: str) -> bool:
    return url.rstrip("/") == other.rstrip("/")


def _read_aloud(folded: str) -> str:
    """A folded phrase as a person would write it: Chinese and Japanese without gaps."""
    return folded if folded.isascii() else re.sub(r"(?<=[\u3040-\u9fff]) (?=[\u3040-\u9fff])", "", folded)


def _calls_for(said: str) -> bool:
    """`<verb> a|your <thing that is listed>`, with a verb that does not look for one."""
    words = word_lists("discovery")
    first, _, rest = said.partition(" ")
    article, _, thing = rest.partition(" ")
    if article not in ("a", "an", "your", "my", "our") or any(
        said.startswith(f"{verb} ") for verb in words["look_for"]
    ):
        return False
    return says(thing, words["submit_object"]) is not None and bool(first)


def takes_listings(form: PageForm) -> bool:
    """Whether a form asks for a listing: a website's address and something about it; not a search, login,
    newsletter or comment.
    """
    kinds = [kind for kind, _ in form.controls]
    if (
        "password" in kinds
        or "wp-comments" in form.action
        or any(name == "comment" for _, name in form.controls)
    ):
        return False
    asks_address = any(
        kind == "url" or (kind in _TEXTS and _URL_NAME.search(name)) for kind, name in form.controls
    )
    return asks_address and sum(kind in _TEXTS for kind in kinds) >= 3


def _own(url: str, home: str) -> bool:
    """Whether a link stays on the site, or leads to a hosted form."""
    return domain_of(url) == domain_of(home) or _is_form_host(url)


def _is_form_host(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return any(host == known or host.endswith(f".{known}") for known in FORM_HOSTS)


def _provider_frame(page: Page) -> bool:
    return any(_is_form_host(frame) and not urlsplit(frame).path.endswith(".js") for frame in page.frames)


def _named_by_source(named: str, home: Page) -> Iterator[tuple[str, str]]:
    """The address that the source gave, where it is more than the home page."""
    if urlsplit(named).path.strip("/") and named.rstrip("/") != home.url.rstrip("/"):
        yield named, "named by the source, though the home page does not link to it"


async def _in_sitemap(home: Page, fetcher: Fetcher) -> list[tuple[str, str]]:
    """Addresses of the sitemap whose last step says that something is submitted there."""
    try:
        sitemap = await fetcher.get(urljoin(home.url, "/sitemap.xml"), limit=_SITEMAP_LIMIT, html_only=False)
    except SiteError as error:
        if error.transient:
            raise
        return []
    words = word_lists("discovery")["submit_sure"] | {
        "submit",
        "suggest",
        "add listing",
        "add site",
        "eintragen",
        "proposer",
    }
    found = []
    for url in _LISTED_IN_SITEMAP.findall(sitemap.text):
        last = " ".join(name_tokens(urlsplit(url).path.rstrip("/").rpartition("/")[2]))
        if last in words and domain_of(url) == domain_of(home.url):
            found.append((url, "named in the sitemap"))
    return found[:2]


async def _has_form(url: str, fetcher: Fetcher) -> bool:
    """Whether an address that nobody links to answers, itself, with a form for listings."""
    try:
        page = Page(await fetcher.get(url))
    except SiteError as error:
        if error.transient and error.reason != Reason.SERVER_ERROR:
            raise
        return False
    if urlsplit(page.url).path.rstrip("/") != urlsplit(url).path.rstrip("/"):
        return False
    return any(takes_listings(form) for form in page.forms) or _provider_frame(page)
