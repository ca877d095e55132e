"""A directory's pages by path: home, listings, categories, search, sitemap, robots, and its submission form."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from aiohttp import web

from campaign_assets.sandbox import filing, render, words
from campaign_assets.sandbox.doors import BEFORE_ROBOTS, DOORS, FORM_DOORS, not_found
from campaign_assets.sandbox.parts import Business, canonical, slug
from campaign_assets.sandbox.render import Listing
from campaign_assets.sandbox.themes import BUSINESSES
from campaign_assets.sandbox.visit import Visit, away, html

ON_HOME = 12


async def answer(visit: Visit) -> web.StreamResponse:
    """Answer one request as its site does. May never return (a silent site) and may take long (a slow one)."""
    door = visit.site.kind.door
    if visit.path in _BESIDE_THE_DOOR and door not in BEFORE_ROBOTS:
        return _BESIDE_THE_DOOR[visit.path](visit)
    stopped = await DOORS[door](visit)
    if stopped is not None:
        return stopped
    if visit.path == visit.site.submit_path:
        return await _form(visit)
    if visit.posting:
        return _other_post(visit)
    return _page(visit)


async def _form(visit: Visit) -> web.StreamResponse:
    if visit.posting and visit.site.kind.form is not None:
        return await filing.file(visit)
    return await FORM_DOORS[visit.site.kind.form_door](visit)


def _other_post(visit: Visit) -> web.StreamResponse:
    """Posts to forms that are nobody's business here: each is a violation of its own."""
    kinds = {
        "/newsletter": "newsletter",
        "/login": "login",
        "/checkout": "paid",
        "/recaptcha/check": "captcha",
    }
    visit.violate(kinds.get(visit.path, "foreign"))
    return html(render.page("message", visit.site, heading="", sentence="Thank you.", link=""))


def _page(visit: Visit) -> web.StreamResponse:
    fixed = _PAGES.get(visit.path)
    if fixed is not None:
        return fixed(visit)
    for prefix, under in (*_UNDER, (visit.site.listing_path, _listing)):
        if visit.path.startswith(prefix):
            return under(visit, visit.path.removeprefix(prefix))
    return html(not_found(visit), 404)


# ------------------------------------------------------------------------------------------------------- what is listed


def _listings(visit: Visit) -> list[Listing]:
    """Everything public, newest first, then what stood there before."""
    filed = [entry for entry in visit.journal.entries(visit.site.host) if entry.visible(visit.now)]
    return [render.of_entry(visit.site, entry) for entry in reversed(filed)] + render.before(visit.site)


def _found(visit: Visit, query: str) -> list[Listing]:
    wanted = query.casefold().strip()
    if not wanted:
        return []
    found = [one for one in _listings(visit) if wanted in f"{one.name} {one.url} {one.text}".casefold()]
    if visit.site.kind.knows_everybody:
        found.append(render.of_business(visit.site, _everybody(visit, query.strip())))
    return found


def _everybody(visit: Visit, query: str) -> Business:
    """The business that somebody searches on a site that lists everybody, by its name or by its address."""
    sentence = "A long-standing member of this directory."
    host = canonical(query)
    if "." in host and " " not in host:
        return Business(host.partition(".")[0].title(), f"https://{host}/", sentence)
    for entry in visit.journal.entries():
        if entry.target and render.entry_name(entry.values).casefold() == query.casefold():
            return Business(query, f"https://{entry.target}/", sentence)
    return Business(query, f"https://{slug(query).replace('-', '')}.example/", sentence)


# ---------------------------------------------------------------------------------------------------------------- pages


def _home(visit: Visit) -> web.StreamResponse:
    listings = _listings(visit)[:ON_HOME]
    return html(render.page("home", visit.site, listings=listings, consent_given=visit.consent_given))


def _about(visit: Visit) -> web.StreamResponse:
    return html(render.page("about", visit.site, consent_given=visit.consent_given))


def _search(visit: Visit) -> web.StreamResponse:
    query = visit.request.query.get("q", "")
    heading = f"{words.say(visit.site.language, 'results')} {query}"
    return html(render.page("list", visit.site, heading=heading, query=query, listings=_found(visit, query)))


def _category(visit: Visit, name: str) -> web.StreamResponse:
    heading = next((one for one in visit.site.theme.categories if slug(one) == name), None)
    if heading is None:
        return html(not_found(visit), 404)
    listings = [one for one in _listings(visit) if one.category == name]
    return html(render.page("list", visit.site, heading=heading, query="", listings=listings))


def _one(visit: Visit, name: str) -> Listing | None:
    known = next((one for one in _listings(visit) if one.slug == name), None)
    if known is None and visit.site.kind.knows_everybody:
        return render.of_business(visit.site, _everybody(visit, name.replace("-", " ").title()))
    return known


def _listing(visit: Visit, name: str) -> web.StreamResponse:
    item = _one(visit, name)
    if item is None:
        return html(not_found(visit), 404)
    return html(render.page("listing", visit.site, item=item, consent_given=visit.consent_given))


def _go(visit: Visit, name: str) -> web.StreamResponse:
    item = _one(visit, name)
    return away(item.url) if item else html(not_found(visit), 404)


def _confirm(visit: Visit, token: str) -> web.StreamResponse:
    entry = visit.journal.publish(token)
    sentence = words.say(visit.site.language, "published") if entry else "This link is not valid."
    return html(
        render.page("message", visit.site, heading="", sentence=sentence, link=""), 200 if entry else 404
    )


def _login(visit: Visit) -> web.StreamResponse:
    return html(render.page("login", visit.site))


def _consent(visit: Visit) -> web.StreamResponse:
    if visit.request.query.get("choice") == "accept":
        visit.violate("consent")
    return web.Response(status=204)


def _anchor(visit: Visit) -> web.StreamResponse:
    return html(render.page("anchor", visit.site))


def _picture(visit: Visit) -> web.StreamResponse:
    letters = '<text x="20" y="35" font-size="30">x7Rk2</text>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="160" height="50">{letters}</svg>'
    return web.Response(text=svg, content_type="image/svg+xml")


def _robots(visit: Visit) -> web.StreamResponse:
    return web.Response(text=render.robots(visit.site), content_type="text/plain")


def _sitemap(visit: Visit) -> web.StreamResponse:
    return web.Response(text=render.sitemap(visit.site, _listings(visit)), content_type="application/xml")


def _asset(visit: Visit) -> web.StreamResponse:
    kind = "text/css" if visit.path.endswith(".css") else "text/javascript"
    return web.Response(body=render.ASSETS[visit.path], content_type=kind, charset="utf-8")


def _no_icon(visit: Visit) -> web.StreamResponse:
    return web.Response(status=204)


def business_page(host: str) -> web.StreamResponse | None:
    """The website of an invented business, where `host` is one."""
    business = BUSINESSES.get(host)
    return html(render.business_page(business)) if business else None


_BESIDE_THE_DOOR: dict[str, Callable[[Visit], web.StreamResponse]] = {
    "/robots.txt": _robots,
    "/favicon.ico": _no_icon,
    **dict.fromkeys(render.ASSETS, _asset),
}
_PAGES: dict[str, Callable[[Visit], web.StreamResponse]] = {
    "/": _home,
    "/about": _about,
    "/search": _search,
    "/sitemap.xml": _sitemap,
    "/login": _login,
    "/thank-you": filing.thank_you,
    "/consent": _consent,
    "/recaptcha/api2/anchor": _anchor,
    "/captcha.svg": _picture,
}
_UNDER: tuple[tuple[str, Callable[[Visit, str], web.StreamResponse]], ...] = (
    ("/category/", _category),
    ("/go/", _go),
    ("/confirm/", _confirm),
)


def confirmation_link(host: str, token: str) -> str:
    """What the confirmation mail of an entry would carry."""
    return f"https://{host}/confirm/{quote(token)}"
