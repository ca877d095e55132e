"""Pages of the sandbox's directories as HTML text, from the templates beside this module.

Owns what a page is given; what is served when stands in `directory`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from campaign_assets.sandbox import words
from campaign_assets.sandbox.crowd import stable
from campaign_assets.sandbox.journal import Entry
from campaign_assets.sandbox.judge import Fields, csrf_token
from campaign_assets.sandbox.parts import Business, Control, Site, slug

_HERE = Path(__file__).parent
ASSETS = {f"/assets/{path.name}": path.read_bytes() for path in sorted((_HERE / "assets").iterdir())}

_templates = Environment(
    loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
_templates.filters["slug"] = slug


@dataclass(frozen=True, slots=True)
class Listing:
    """A listing as a page shows it: one that was filed, or one that stood there before."""

    slug: str
    name: str
    url: str
    text: str
    category: str
    details: tuple[tuple[str, str], ...] = ()


_SHOWN = ("tagline", "address", "city", "postal_code", "country", "phone", "email", "tags")


def of_entry(site: Site, entry: Entry) -> Listing:
    """The listing of a stored entry, with address, phone and e-mail exactly as they were sent."""
    sent = entry.values
    text = " ".join(
        sent[key] for key in ("short_description", "description", "long_description") if key in sent
    )
    details = tuple((words.label(site.language, key), sent[key]) for key in _SHOWN if key in sent)
    return Listing(entry.slug, entry_name(sent), sent.get("url", ""), text, sent.get("category", ""), details)


def entry_name(sent: dict[str, str]) -> str:
    """What a listing is called: the business's name or the title that was sent."""
    return sent.get("name") or sent.get("title") or sent.get("url", "")


def of_business(site: Site, business: Business) -> Listing:
    """The listing of a business that stood there before anybody filed anything."""
    categories = site.theme.categories
    place = site.theme.listed.index(business) if business in site.theme.listed else 0
    category = slug(categories[place % len(categories)])
    return Listing(business.slug, business.name, business.url, business.sentence, category)


def page(template: str, site: Site, **values: Any) -> str:
    """One page of a site. `consent_given`: the visitor has answered the cookie banner."""
    values = {"consent_given": False, "prose": prose(site), **values}
    say = partial(words.say, site.language)
    return _templates.get_template(f"{template}.html").render(site=site, say=say, **values)


def prose(site: Site) -> list[str]:
    """What a site says about itself: its theme's paragraphs in an order of its own, and a sentence of its own."""
    first, *others = site.theme.paragraphs
    turn = stable(f"prose {site.host}", len(others))
    own = words.say(
        site.language,
        "own",
        name=site.name,
        year=1998 + stable(f"year {site.host}", 27),
        count=f"{100 + stable(f'count {site.host}', 9_900)}",
    )
    return [first.format(name=site.name), *others[turn:], *others[:turn], own]


def before(site: Site) -> list[Listing]:
    """What stood on the site before anybody filed anything, in an order of its own."""
    listed = site.theme.listed
    turn = stable(f"listed {site.host}", len(listed))
    return [of_business(site, business) for business in listed[turn:] + listed[:turn]]


def form_page(
    site: Site, problems: Sequence[str] = (), sent: Fields | None = None, *, consent_given: bool = False
) -> str:
    """The page with the submission form, with what was `sent` and what is wrong with it, where something is."""
    return page(
        "submit",
        site,
        form=site.form,
        label=partial(_label, site.language),
        csrf=csrf_token(site.host),
        subcategories=_subcategories(site),
        problems=problems,
        sent=sent or {},
        consent_given=consent_given,
    )


def business_page(business: Business) -> str:
    """The website of an invented business."""
    return _templates.get_template("business.html").render(business=business)


def sitemap(site: Site, listings: Iterable[Listing]) -> str:
    """The site's sitemap.xml: home, categories, the submit page, every public listing."""
    paths = ["/", "/about", *(f"/category/{slug(category)}" for category in site.theme.categories)]
    if site.kind.form_door != "missing":
        paths.append(site.submit_path)
    paths += [site.listing_path + listing.slug for listing in listings]
    urls = "".join(f"<url><loc>{escape(f'https://{site.host}{quote(path)}')}</loc></url>\n" for path in paths)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    )


def robots(site: Site) -> str:
    """The site's robots.txt."""
    rule = "Disallow: /" if site.kind.robots == "forbidden" else "Disallow: /admin/"
    return f"User-agent: *\n{rule}\n\nSitemap: https://{site.host}/sitemap.xml\n"


def _label(language: str, control: Control) -> str:
    return control.label or words.label(language, control.field or control.name)


_USES = ("for teams", "for agencies", "for everyone")


def _subcategories(site: Site) -> dict[str, list[tuple[str, str]]]:
    return {
        slug(category): [(slug(f"{category} {use}"), f"{category} {use}") for use in _USES]
        for category in site.theme.categories
    }
