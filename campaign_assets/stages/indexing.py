"""What a page tells search engines: instructions in its markup and headers, and the address it names as its
original. Pure.
"""

from __future__ import annotations

from campaign_assets.stages.page import Page


def robots_instructions(page: Page) -> frozenset[str]:
    """What the page tells search engines, in its markup and its headers; `none` as the two that it means."""
    said = " , ".join(
        (page.meta("robots"), page.meta("googlebot"), page.document.headers.get("x-robots-tag", ""))
    ).lower()
    words = {part.split(":")[-1].strip() for part in said.split(",")}
    return frozenset(words | ({"noindex", "nofollow"} if "none" in words else set()) - {""})


def named_elsewhere(page: Page) -> str:
    """The address of another page that this one names as the original; empty where it names itself or none."""
    named = page.canonical
    return named if named and _bare(named) != _bare(page.url) else ""


def _bare(url: str) -> str:
    return url.split("#")[0].removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")
