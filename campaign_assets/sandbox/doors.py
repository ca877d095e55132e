"""How a directory's door answers before any page is made: silence, redirects, errors, other people's pages.

Each door is one function from a visit to an answer, or to None where the visitor may come in. robots.txt and the
assets are behind the silent and the dropping door only, as on real servers.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable

from aiohttp import web

from campaign_assets.sandbox import render
from campaign_assets.sandbox.parts import Door, FormDoor
from campaign_assets.sandbox.visit import Visit, away, html

Answer = web.StreamResponse | None
HUGE_BYTES = 40_000_000
_CHUNK = (
    "<li><h3>Yet another listing</h3><p>" + "Lorem ipsum dolor sit amet. " * 30 + "</p></li>\n"
).encode() * 75


async def _open(visit: Visit) -> Answer:
    return None


async def _silent(visit: Visit) -> Answer:
    await asyncio.Event().wait()
    return None


async def _dropped(visit: Visit) -> Answer:
    if visit.request.transport is not None:
        visit.request.transport.abort()
    return await _silent(visit)


async def _failing(visit: Visit) -> Answer:
    return html("<h1>500 Internal Server Error</h1>", 500)


async def _blocked(visit: Visit) -> Answer:
    return html(
        render.page("challenge", visit.site), 403, {"Server": "cloudflare", "cf-mitigated": "challenge"}
    )


async def _throttled(visit: Visit) -> Answer:
    """Nobody comes in until a time after the first request; who asks earlier than told is impatient."""
    known = visit.journal.marks.get((visit.site.host, "opens"))
    if known is None:
        known = visit.now + max(1.0, visit.pace.moderation / 4)
        visit.journal.mark(visit.site.host, "opens", known)
    elif visit.now < known:
        visit.violate("impatient")
    left = known - visit.now
    if left <= 0:
        return None
    return html("<h1>429 Too Many Requests</h1>", 429, {"Retry-After": str(math.ceil(left))})


async def _parked(visit: Visit) -> Answer:
    return html(render.page("parked", visit.site))


async def _sold(visit: Visit) -> Answer:
    return html(render.page("sold", visit.site))


async def _renamed(visit: Visit) -> Answer:
    return away(f"https://{visit.site.moved_to}{visit.request.path_qs}", 301)


async def _www(visit: Visit) -> Answer:
    if visit.host.startswith("www."):
        return None
    return away(f"https://www.{visit.site.host}{visit.request.path_qs}", 301)


async def _looping(visit: Visit) -> Answer:
    return away("/" if visit.path == "/welcome" else "/welcome")


async def _huge(visit: Visit) -> Answer:
    """A page that begins like any other and goes on for tens of megabytes."""
    if visit.path != "/" or visit.request.method != "GET":
        return None
    response = web.StreamResponse(headers={"Content-Type": "text/html; charset=utf-8"})
    await response.prepare(visit.request)
    await response.write(render.page("about", visit.site).partition("</main>")[0].encode())
    for _ in range(HUGE_BYTES // len(_CHUNK)):
        await response.write(_CHUNK)
    await response.write(b"</main></body></html>")
    await response.write_eof()
    return response


async def _gone(visit: Visit) -> Answer:
    return html("<h1>404 Not Found</h1>", 404)


DOORS: dict[Door, Callable[[Visit], Awaitable[Answer]]] = {
    "open": _open, "silent": _silent, "dropped": _dropped, "failing": _failing, "blocked": _blocked,
    "throttled": _throttled, "parked": _parked, "sold": _sold, "renamed": _renamed, "www": _www,
    "looping": _looping, "huge": _huge, "gone": _gone,
}  # fmt: skip
BEFORE_ROBOTS: frozenset[Door] = frozenset({"silent", "dropped"})


async def _form_open(visit: Visit) -> web.StreamResponse:
    return html(render.form_page(visit.site, consent_given=visit.consent_given))


async def _form_slow(visit: Visit) -> web.StreamResponse:
    await asyncio.sleep(visit.pace.slow)
    return await _form_open(visit)


async def _form_failing(visit: Visit) -> web.StreamResponse:
    return html("<h1>500 Internal Server Error</h1>", 500)


async def _form_login(visit: Visit) -> web.StreamResponse:
    return away(f"/login?next={visit.site.submit_path}")


async def _form_page_only(visit: Visit) -> web.StreamResponse:
    return html(render.page(visit.site.kind.form_door, visit.site))


async def _form_missing(visit: Visit) -> web.StreamResponse:
    return html(not_found(visit), 404)


FORM_DOORS: dict[FormDoor, Callable[[Visit], Awaitable[web.StreamResponse]]] = {
    "open": _form_open, "slow": _form_slow, "failing": _form_failing, "login": _form_login,
    "closed": _form_page_only, "priced": _form_page_only, "embedded": _form_page_only, "missing": _form_missing,
}  # fmt: skip


def not_found(visit: Visit) -> str:
    """The site's own page for a path that it does not have."""
    return render.page("message", visit.site, heading="404", sentence="This page does not exist.", link="")
