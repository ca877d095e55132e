"""One request to one directory, with everything that answering it needs; and the few ways to answer."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web

from campaign_assets.sandbox.journal import Journal, Violation
from campaign_assets.sandbox.judge import Fields
from campaign_assets.sandbox.parts import Site


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that the sandbox takes: `slow` for slow answers, `moderation` until a moderated listing appears."""

    slow: float = 30.0
    moderation: float = 40.0


@dataclass(frozen=True, slots=True)
class Visit:
    """A request as a directory sees it. `fields` are those of a post, else empty."""

    request: web.Request
    site: Site
    journal: Journal
    pace: Pace
    host: str
    fields: Fields = field(default_factory=dict)

    @property
    def path(self) -> str:
        return self.request.path

    @property
    def posting(self) -> bool:
        return self.request.method == "POST"

    @property
    def by_script(self) -> bool:
        """Whether a script of the page wants JSON."""
        return self.request.headers.get("X-Requested-With") == "fetch"

    @property
    def consent_given(self) -> bool:
        return "consent" in self.request.cookies

    @property
    def now(self) -> float:
        return time.time()

    def violate(self, kind: str, target: str = "") -> None:
        self.journal.violate(Violation(self.site.host, kind, target))


def html(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """A page."""
    return web.Response(text=text, status=status, content_type="text/html", charset="utf-8", headers=headers)


def as_json(value: object, status: int = 200) -> web.Response:
    """A JSON answer."""
    return web.Response(
        text=json.dumps(value, ensure_ascii=False), status=status, content_type="application/json"
    )


def away(location: str, status: int = 302) -> web.Response:
    """A redirect."""
    return web.Response(status=status, headers={"Location": location})
