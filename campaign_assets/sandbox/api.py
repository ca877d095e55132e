"""What the sandbox tells about itself under `/_sandbox/`, on any host and on its bare address.

GET /_sandbox/healthz           {"ok": true, "sites": n}
GET /_sandbox/posts             [{host, form, target, posts, stored}]: form is the action's path, target the
                                canonical host that was filed, posts how often, stored how many entries are kept
GET /_sandbox/requests?host=H   [{method, scheme, host, path, time, user_agent, status}]; posts also: fields
GET /_sandbox/violations        [{host, kind, target}]: what a careful person would not have done
GET /_sandbox/sites             [{host, kind, says, name, submit, expect: {stage, state, reason}}], the demo's first
GET /_sandbox/mails             [{host, to, link}]: the confirmation mails that a directory would have sent
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from aiohttp import web

from campaign_assets.sandbox.directory import confirmation_link
from campaign_assets.sandbox.journal import Journal
from campaign_assets.sandbox.parts import canonical
from campaign_assets.sandbox.sites import ROWS, named_sites
from campaign_assets.sandbox.visit import as_json

PREFIX = "/_sandbox/"


def tell(journal: Journal, request: web.Request) -> web.Response:
    """Answer one question about the sandbox; 404 for one that is not in the list above."""
    question = _QUESTIONS.get(request.path.removeprefix(PREFIX))
    if question is None or request.method not in ("GET", "HEAD"):
        return as_json(
            {"error": f"Ask with GET for one of {', '.join(PREFIX + name for name in _QUESTIONS)}."}, 404
        )
    return as_json(question(journal, request))


def _healthz(journal: Journal, request: web.Request) -> Any:
    return {"ok": True, "sites": len(ROWS)}


def _posts(journal: Journal, request: web.Request) -> Any:
    return journal.summary()


def _requests(journal: Journal, request: web.Request) -> Any:
    return journal.requests(canonical(request.query.get("host", "")) or None)


def _violations(journal: Journal, request: web.Request) -> Any:
    return [asdict(violation) for violation in journal.violations]


def _sites(journal: Journal, request: web.Request) -> Any:
    return [
        {
            "host": site.host,
            "kind": site.kind.name,
            "says": site.kind.says,
            "name": site.name,
            "submit": site.submit_path,
            "expect": asdict(site.expect),
        }
        for site in named_sites()
    ]


def _mails(journal: Journal, request: web.Request) -> Any:
    return [
        {
            "host": entry.host,
            "to": entry.values.get("email", ""),
            "link": confirmation_link(entry.host, entry.token),
        }
        for entry in journal.entries()
        if entry.token
    ]


_QUESTIONS: dict[str, Callable[[Journal, web.Request], Any]] = {
    "healthz": _healthz,
    "posts": _posts,
    "requests": _requests,
    "violations": _violations,
    "sites": _sites,
    "mails": _mails,
}
