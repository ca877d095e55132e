"""What a directory does with a submission: judge it, store it or not, and say so in its own way.

Everything is remembered before the first wait, so that a slow answer that nobody hears was stored all the same.
"""

from __future__ import annotations

import asyncio
import secrets
from urllib.parse import quote

from aiohttp import web

from campaign_assets.sandbox import render, words
from campaign_assets.sandbox.journal import Entry
from campaign_assets.sandbox.judge import judge, target, values
from campaign_assets.sandbox.parts import slug
from campaign_assets.sandbox.visit import Visit, as_json, away, html


async def file(visit: Visit) -> web.StreamResponse:
    """Answer a post to the submission form."""
    filed = target(visit.site.form, visit.fields)
    judgement = judge(visit.site, visit.fields)
    for kind in judgement.violations:
        visit.violate(kind, filed)
    if judgement.trapped:
        return _success(visit, None)
    if judgement.paying:
        return _say(visit, "paid", 402)
    if judgement.expired:
        return _say(visit, "expired", 419)
    if judgement.complaints:
        return _problems(visit, judgement.complaints)
    return await _accept(visit, filed)


async def _accept(visit: Visit, filed: str) -> web.StreamResponse:
    reply = visit.site.kind.reply
    if reply.outcome == "duplicate":
        return _say(visit, "duplicate", 409)
    if reply.outcome == "boasting":
        return _say(visit, "published", 500)
    if reply.outcome == "refused":
        return _problems(visit, (reply.complaint,))
    if reply.slow:
        return await _accept_slowly(visit, filed)
    return _success(visit, _store(visit, filed))


async def _accept_slowly(visit: Visit, filed: str) -> web.StreamResponse:
    """Store at once, answer late; a second post meanwhile hears that the first is in work."""
    place, in_work = (visit.site.host, filed), visit.journal.in_work
    if place in in_work:
        return _say(visit, "processing", 409)
    in_work.add(place)
    try:
        entry = _store(visit, filed)
        await asyncio.sleep(visit.pace.slow)
    finally:
        in_work.discard(place)
    return _success(visit, entry)


def _store(visit: Visit, filed: str) -> Entry:
    site, moderation = visit.site, visit.site.kind.reply.moderation
    sent = values(site.form, visit.fields)
    wait = {"none": 0.0, "later": visit.pace.moderation}.get(moderation)
    return visit.journal.store(
        Entry(
            number=0,
            host=site.host,
            form=visit.path,
            target=filed,
            slug=_free_slug(visit, slug(render.entry_name(sent))),
            values=sent,
            time=visit.now,
            visible_at=None if wait is None else visit.now + wait,
            moderation=moderation,
            token=secrets.token_urlsafe(12) if moderation == "email" else "",
        )
    )


def _free_slug(visit: Visit, wanted: str) -> str:
    taken = {entry.slug for entry in visit.journal.entries(visit.site.host)}
    taken |= {business.slug for business in visit.site.theme.listed}
    number = 2
    found = wanted
    while found in taken:
        found, number = f"{wanted}-{number}", number + 1
    return found


def _success(visit: Visit, entry: Entry | None) -> web.StreamResponse:
    """Tell success as the site does. No entry: a trapped robot hears the same, and has nothing."""
    site, reply = visit.site, visit.site.kind.reply
    sentence = words.say(site.language, _heading(reply.moderation))
    if visit.by_script:
        return as_json({"message": sentence})
    if reply.receipt == "nothing":
        return html(render.form_page(site, consent_given=visit.consent_given))
    if reply.receipt == "redirect":
        return away("/thank-you", 303)
    link = site.listing_path + quote(entry.slug) if reply.receipt == "link" and entry else ""
    view = words.say(site.language, "view")
    return html(render.page("message", site, heading="", sentence=sentence, link=link, link_text=view))


def thank_you(visit: Visit) -> web.StreamResponse:
    """The page that a redirecting site shows after a submission."""
    site = visit.site
    sentence = words.say(site.language, _heading(site.kind.reply.moderation))
    return html(render.page("message", site, heading="", sentence=sentence, link=""))


def _heading(moderation: str) -> str:
    return {"none": "published", "email": "email"}.get(moderation, "pending")


def _say(visit: Visit, key: str, status: int) -> web.StreamResponse:
    sentence = words.say(visit.site.language, key)
    if visit.by_script:
        return as_json({"message": sentence}, status)
    return html(render.page("message", visit.site, heading="", sentence=sentence, link=""), status)


def _problems(visit: Visit, problems: tuple[str, ...]) -> web.StreamResponse:
    status = visit.site.kind.reply.status
    if visit.by_script:
        return as_json({"message": " ".join(problems)}, status)
    return html(
        render.form_page(visit.site, problems, visit.fields, consent_given=visit.consent_given), status
    )
