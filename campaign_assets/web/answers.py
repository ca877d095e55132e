"""What a site's answer means: one mapping from status, headers and text to a reason, for fetcher and browser alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from campaign_assets.errors import SiteError
from campaign_assets.model import Reason

_GUARD_TEXT = re.compile(
    r"just a moment\W|checking (?:if the site connection is secure|your browser)|attention required!? \| cloudflare"
    r"|cf-browser-verification|_cf_chl_opt|challenge-platform|ddos-guard|ddos protection by"
    r"|verify(?:ing)? (?:that )?you are (?:a )?human|are you a robot|_incapsula_|incapsula incident"
    r"|sucuri website firewall"
    r"|px-captcha|captcha-delivery\.com|access denied.{0,200}reference #|request unsuccessful"
    r"|pardon our interruption|bot (?:detection|protection|verification)|enable javascript and cookies to continue",
    re.IGNORECASE | re.DOTALL,
)
_GUARD_TITLE = re.compile(
    r"<title[^>]*>\s*(just a moment|attention required|access denied|ddos-guard|robot or human|security check)",
    re.IGNORECASE,
)
_GUARD_HEADERS = ("cf-mitigated", "x-datadome", "x-iinfo", "x-sucuri-block")
_LONGEST_WAIT = 7 * 86400.0


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds of a Retry-After header, in either form, at most a week; None where there is none that can be read."""
    value = _header(headers, "retry-after").strip()
    if value.isdigit():
        return min(float(value), _LONGEST_WAIT)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max((moment - (now or datetime.now(UTC))).total_seconds(), 0.0), _LONGEST_WAIT)


def is_guard(status: int, headers: Mapping[str, str], text: str) -> bool:
    """Whether an answer is a bot guard's page and not the site's own."""
    if status in (403, 503, 429) and any(_header(headers, name) for name in _GUARD_HEADERS):
        return True
    start = text[:20_000]
    return bool(_GUARD_TITLE.search(start) if status == 200 else _GUARD_TEXT.search(start))


def problem(url: str, status: int, headers: Mapping[str, str], text: str) -> SiteError | None:
    """The error that an answer amounts to; None for one that can be read."""
    if status == 429:
        return SiteError(
            Reason.RATE_LIMITED,
            f"{url} answered 429: it asks to be visited less often.",
            transient=True,
            retry_after=retry_after(headers),
        )
    if status in (401, 403, 407, 451) or (status in (200, 202, 503) and is_guard(status, headers, text)):
        return SiteError(Reason.BLOCKED, f"{url} answered {status} and lets no program in.")
    if status in (404, 410):
        return SiteError(Reason.NOT_FOUND, f"{url} answered {status}: there is no such page.")
    if status >= 500 or status in (408, 421, 425):
        return SiteError(
            Reason.SERVER_ERROR,
            f"{url} answered {status}: the site is broken at the moment.",
            transient=True,
            retry_after=retry_after(headers),
        )
    if status >= 400:
        return SiteError(Reason.BLOCKED, f"{url} answered {status} and refuses the request.")
    return None


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if value is None:
        value = next((v for k, v in headers.items() if k.lower() == name), "")
    return value
