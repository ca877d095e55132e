"""Form mapping: the submit page is opened, its forms are read, and each control gets a profile field or is
left alone.

Obstacles (a captcha, a login, a question that nothing answers) do not fail the unit: they are recorded, and
preflight holds on them. Only a page without any form to file ends here.
"""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from campaign_assets.errors import InputError
from campaign_assets.model import (
    Action,
    Business,
    DiscoveryResult,
    Evidence,
    FormDocument,
    FormMappingResult,
    Outcome,
    Reason,
    Unit,
)
from campaign_assets.stages.folding import fold, says
from campaign_assets.stages.mapper import map_controls
from campaign_assets.stages.obstacles import informed, obstacles
from campaign_assets.stages.tools import Tools
from campaign_assets.stages.vocabulary import word_lists
from campaign_assets.web.sites import registrable
from campaign_assets.web.tab import Tab

_PROVIDERS = (
    "airtable.com",
    "tally.so",
    "typeform.com",
    "docs.google.com/forms",
    "forms.gle",
    "jotform.com",
    "paperform.co",
    "fillout.com",
)
_MOST_LINKS = 400
_ANSWERED = (Action.FILL, Action.CHOOSE, Action.CHECK, Action.UPLOAD)


async def form_mapping(unit: Unit, tools: Tools) -> Outcome:
    """Open and map the submit page; where it has no form, the one promising link on it."""
    submit_url = unit.result(DiscoveryResult).submit_url
    business = informed(unit.business, unit.corrections)
    async with tools.browser.tab() as tab:
        result, html = await _read(tab, submit_url, business, unit.key.site)
        link = None
        if result.form is None and not result.document.obstacles and not embedded_provider(html):
            link = promising_link(html, result.document.url)
        if link:
            result, html = await _read(tab, link, business, unit.key.site)
        evidence = (
            tools.keep("form", await tab.screenshot(), "image/jpeg"),
            tools.keep("document", html.encode(), "text/html"),
        )
    if result.form is None and Reason.LOGIN_REQUIRED not in result.document.obstacles:
        return _without_form(result.document, html, evidence)
    return Outcome.succeed(result, _sentence(result), evidence)


def map_document(
    document: FormDocument, business: Business | None = None, site: str = ""
) -> FormMappingResult:
    """What the mapper makes of a document: the submission form (None where there is none) and a word on every
    control. Pure."""
    found = map_controls(document, business)
    words = {m.index: m for m in found.controls}
    return FormMappingResult(
        document=document,
        form=found.form,
        fingerprint=document.fingerprint(found.form) if found.form is not None else "",
        controls=found.controls,
        obstacles=obstacles(document, found.form, found.asked, words, found.press, business, site),
    )


async def _read(tab: Tab, url: str, business: Business, site: str) -> tuple[FormMappingResult, str]:
    await tab.open(url)
    await tab.dismiss_overlays()
    document = await tab.read()
    return map_document(document, business, site), await tab.html()


def promising_link(html: str, base: str) -> str | None:
    """The link on a page without a form that most plainly leads to one, on the same site; None where none does."""
    wanted = word_lists("choices")["about_listing"]
    best: tuple[int, str] | None = None
    for anchor in LexborHTMLParser(html).css("a[href]")[:_MOST_LINKS]:
        text = fold(anchor.text(strip=True))
        url = urljoin(base, anchor.attributes.get("href") or "").split("#")[0]
        if (
            not text
            or url == base.split("#")[0]
            or urlsplit(url).path in ("", "/")
            or not _same_site(url, base)
        ):
            continue
        spoken = says(text, word_lists("choices")["submit"])
        score = 2 * (spoken is not None) + (says(text, wanted) is not None) - (len(text.split()) > 6)
        if spoken and score > (best[0] if best else 1):
            best = score, url
    return best[1] if best else None


def _same_site(url: str, base: str) -> bool:
    if urlsplit(url).scheme not in ("http", "https"):
        return False
    try:
        return registrable(url) == registrable(base)
    except InputError:
        return False


def _without_form(document: FormDocument, html: str, evidence: tuple[Evidence, ...]) -> Outcome:
    provider = embedded_provider(html)
    if provider:
        return Outcome.hold(
            Reason.NO_FORM,
            f"The form on {document.url} is a frame of {provider}; a person has to file it there.",
            evidence=evidence,
        )
    if Reason.CLOSED in document.obstacles:
        return Outcome.reject(
            Reason.CLOSED, f"{document.url} says that it takes no new entries.", evidence=evidence
        )
    if Reason.PAYMENT_REQUIRED in document.obstacles:
        return Outcome.reject(
            Reason.PAYMENT_REQUIRED, f"{document.url} lists only for money.", evidence=evidence
        )
    return Outcome.fail(Reason.NO_FORM, f"{document.url} has no form that takes a listing.", evidence)


def embedded_provider(html: str) -> str | None:
    """The form provider whose frame a page shows, if any."""
    for frame in LexborHTMLParser(html).css("iframe"):
        source = frame.attributes.get("src") or frame.attributes.get("data-src") or ""
        host = urlsplit(urljoin("https://x.invalid", source))
        for provider in _PROVIDERS:
            name, _, path = provider.partition("/")
            if (host.hostname or "").endswith(name) and host.path.startswith(f"/{path}"):
                return provider
    return None


def _sentence(result: FormMappingResult) -> str:
    fields = dict.fromkeys(m.field for m in result.controls if m.action in _ANSWERED and m.field)
    held = "; ".join(o.sentence for o in result.obstacles)
    return f"{len(fields)} fields mapped: {', '.join(fields)}." + (f" {held}" if held else "")
