"""What became of a filing, judged from the requests the click caused, their answers, the navigation, the
document and its words.

No single sign is believed: words of success on a 5xx are none, and silence is no failure. Where the signs
disagree, the verdict is *unknown* and a human decides. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from campaign_assets.errors import InputError
from campaign_assets.model import FormDocument, Payload, Reason
from campaign_assets.stages.existing import links_to
from campaign_assets.stages.folding import fold, says
from campaign_assets.stages.vocabulary import word_lists
from campaign_assets.states import Verdict
from campaign_assets.web.press import Post, Pressed
from campaign_assets.web.sites import registrable

_VALUE_STATUSES = frozenset({400, 413, 422})
_SITE_STATUSES = frozenset({401, 403, 405, 410, 451})
_QUOTE = 240


@dataclass(frozen=True)
class Judgement:
    """A verdict with its sentence; `reason` where the verdict needs one, `receipt_url` where the site shows
    the listing."""

    verdict: Verdict
    sentence: str
    reason: Reason | None = None
    receipt_url: str | None = None
    status: int | None = None


@dataclass(frozen=True)
class _Signs:
    """What there is to judge by."""

    post: Post | None
    """The last request that carried the filing."""
    fresh: tuple[str, ...]
    """Lines that the site says now and did not say before the click, alerts first."""
    form_stands: bool
    """The form is still there to be filled."""
    receipt: str | None
    shown: bool
    """The answer's page links to the business: it is the listing."""

    def saying(self, what: str) -> str | None:
        """The line that says `what`, as the site wrote it."""
        words = word_lists("verdicts")[what]
        return next((line[:_QUOTE] for line in self.fresh if says(fold(line), words)), None)


def judge(pressed: Pressed, payload: Payload, after: FormDocument | None, business_url: str) -> Judgement:
    """The verdict on one click. `after`: the document as it is now, None where it could not be read."""
    if pressed.sent == "no":
        return Judgement(Verdict.NOT_SENT, pressed.sentence, Reason.NOT_SENT)
    if pressed.sent == "perhaps":
        return _unknown(pressed.sentence, pressed.status)
    signs = _signs(pressed, payload, after, business_url)
    status = signs.post.status if signs.post else None
    broken = [s for s in (status, pressed.status) if s is not None and s >= 500]
    if broken:
        said = f", though the page says “{signs.fresh[0][:_QUOTE]}”" if signs.fresh else ""
        return _unknown(f"The site answered the filing with {broken[0]}{said}.", broken[0])
    found = _refusal(signs, status) or _success(signs, status) or _unknown(_unclear(signs, status), status)
    return Judgement(
        found.verdict,
        found.sentence,
        found.reason,
        signs.receipt if found.verdict in _RECEIVED else None,
        status,
    )


_RECEIVED = frozenset({Verdict.ACCEPTED, Verdict.PENDING, Verdict.ALREADY_LISTED, Verdict.NEEDS_EMAIL})


def _unknown(sentence: str, status: int | None) -> Judgement:
    return Judgement(
        Verdict.UNKNOWN, f"{sentence} Look at the site: was it filed?", Reason.UNKNOWN_VERDICT, None, status
    )


def _refusal(signs: _Signs, status: int | None) -> Judgement | None:
    """Said to be there already, refused for a value, or refused altogether."""
    happy = signs.saying("accepted") or signs.saying("thanks")
    already = signs.saying("already_listed")
    if already and not (happy and not signs.form_stands and status != 409):
        return Judgement(Verdict.ALREADY_LISTED, f"The site says: “{already}”")
    site = signs.saying("refused_site")
    if site and not happy:
        return Judgement(Verdict.REFUSED, f"The site refused the entry: “{site}”", Reason.REFUSED_SITE)
    value = signs.saying("refused_value")
    if status in _VALUE_STATUSES or (value and not happy and signs.form_stands):
        said = "; ".join(_complaints(signs)) or "it does not say why"
        return Judgement(
            Verdict.REFUSED, f"The site refused a value (status {status}): {said}", Reason.REFUSED_VALUE
        )
    if status in _SITE_STATUSES:
        said = f": “{signs.fresh[0][:_QUOTE]}”" if signs.fresh else ""
        return Judgement(
            Verdict.REFUSED, f"The site refused the request with {status}{said}.", Reason.REFUSED_SITE
        )
    return None


def _success(signs: _Signs, status: int | None) -> Judgement | None:
    """Only a post that was answered with 2xx or 3xx can have been received."""
    if status is None or not 200 <= status < 400:
        return None
    if signs.saying("refused_value") and signs.form_stands:
        return None  # thanks and complaints in one answer
    for verdict, what in ((Verdict.NEEDS_EMAIL, "needs_email"), (Verdict.PENDING, "pending")):
        line = signs.saying(what)
        if line:
            return Judgement(verdict, f"The site says: “{line}”")
    line = signs.saying("accepted") or signs.saying("thanks")
    if line:
        return Judgement(Verdict.ACCEPTED, f"The site answered with {status} and says: “{line}”")
    if signs.shown and not signs.form_stands:
        return Judgement(Verdict.ACCEPTED, f"The site answered with {status} and shows the listing.")
    return None


def _unclear(signs: _Signs, status: int | None) -> str:
    if status is None:
        return "No answer to the filing is known."
    if signs.fresh:
        return f"The site answered with {status} and says neither yes nor no: “{signs.fresh[0][:_QUOTE]}”."
    return f"The site answered with {status} and says nothing new."


def _complaints(signs: _Signs) -> list[str]:
    """The site's own words about what is wrong, at most three lines."""
    words = word_lists("verdicts")["refused_value"]
    lines = [line for line in signs.fresh if says(fold(line), words)] or list(signs.fresh)
    return [f"“{line[:_QUOTE]}”" for line in lines[:3]]


def _signs(pressed: Pressed, payload: Payload, after: FormDocument | None, business_url: str) -> _Signs:
    tree = LexborHTMLParser(pressed.html_after)
    shown = pressed.navigated and _shows(tree, pressed.final_url, business_url)
    return _Signs(
        post=filing_post(pressed.posts, payload.url),
        fresh=tuple(_fresh(pressed)),
        form_stands=_form_stands(payload, after),
        receipt=receipt_link(tree, pressed.final_url) or (pressed.final_url if shown else None),
        shown=shown,
    )


def _shows(tree: LexborHTMLParser, page: str, business_url: str) -> bool:
    try:
        return links_to(tree, page, business_url)
    except InputError:
        return False


def filing_post(posts: tuple[Post, ...], url: str) -> Post | None:
    """The last post to the site itself; else the last of all, for forms that another host takes. Beacons have
    no say."""
    own = [post for post in posts if _site(post.url) == _site(url)]
    told = own or list(posts)
    answered = [post for post in told if post.status is not None]
    return next(reversed(answered or told), None)


def _fresh(pressed: Pressed) -> Iterator[str]:
    """What alerts say, then the lines of the document that were not there before."""
    yield from (line.strip() for line in pressed.alert.splitlines() if line.strip())
    before = {" ".join(line.split()) for line in pressed.text_before.splitlines()}
    for line in pressed.text_after.splitlines():
        plain = " ".join(line.split())
        if plain and plain not in before:
            yield plain


def _form_stands(payload: Payload, after: FormDocument | None) -> bool:
    """Whether most of what was filled is still there to be filled."""
    if after is None:
        return False
    names = {(e.name, e.type) for e in payload.entries if e.name}
    there = {(c.name, c.type) for c in after.controls if c.visible}
    return bool(names) and 2 * len(names & there) > len(names)


def receipt_link(tree: LexborHTMLParser, base: str) -> str | None:
    """The link by which the answer leads to the new listing."""
    words = word_lists("verdicts")["receipt"]
    for anchor in tree.css("a[href]"):
        if says(fold(anchor.text(strip=True)), words):
            url = urljoin(base, anchor.attributes.get("href") or "")
            if _site(url) == _site(base):
                return url
    return None


def _site(url: str) -> str | None:
    try:
        return registrable(url) if urlsplit(url).scheme in ("http", "https") else None
    except (InputError, ValueError):
        return None
