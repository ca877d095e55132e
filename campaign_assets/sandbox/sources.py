"""The demo's source list: the first directories of the table as a list found in the wild would name them."""

from __future__ import annotations

import csv
import io
from itertools import islice

from campaign_assets.sandbox.parts import Site
from campaign_assets.sandbox.sites import named_sites, site_for

_SPELLINGS = (
    "https://{host}",
    "https://{host}/",
    "https://{host}/?utm_source=biglist&utm_medium=referral",
    "http://{host}",
    "https://www.{host}/",
    " https://{host}  ",
    "{host}",
    "https://{host}/?via=launchlist",
    "HTTPS://{upper}/",
)
_JUNK = (
    ("Ask Maria for this one", ""),
    ("Coming soon", "to be announced"),
    ("The editor", "mailto:editor@lists.example"),
    ("Internal tracker", "ftp://files.lists.example/directories.txt"),
    ("Broken link", "https://"),
)


def demo_sources(n: int) -> str:
    """A CSV (name,url) that names exactly `n` distinct sites, in the table's order, with duplicates and junk between.

    Beyond the table it goes on with hosts that play a kind by hash.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("name", "url"))
    for place, site in enumerate(_first(n)):
        writer.writerow((site.name, _spell(site.host, place)))
        if place % 7 == 3:
            writer.writerow((f"{site.name} (again)", _spell(site.host, place + 2)))
        if place % 6 == 5:
            writer.writerow(_JUNK[place // 6 % len(_JUNK)])
    return out.getvalue()


def _first(n: int) -> list[Site]:
    named = list(islice(named_sites(), n))
    return named + [site_for(f"directory-{number:05d}.example") for number in range(len(named) + 1, n + 1)]


def _spell(host: str, place: int) -> str:
    return _SPELLINGS[place % len(_SPELLINGS)].format(host=host, upper=host.upper())
