"""What the profile answers to a field, word for word, and from which fact it comes. Nothing is made up.

Texts that have to be written to fit (title, descriptions, tags) are the writer's; what stands here is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from phonenumbers.geodata.locale import LOCALE_DATA

from campaign_assets.model import Business, Control
from campaign_assets.stages.evidence import owner
from campaign_assets.stages.folding import fold
from campaign_assets.stages.vocabulary import read

_SCHEMES = ("https://", "http://")


@dataclass(frozen=True)
class Value:
    """A value and the profile's field, or the human, it comes from."""

    text: str
    source: str


def value_of(
    field: str, control: Control, business: Business, site: str, corrections: Mapping[str, str]
) -> Value | None:
    """The value for a control that asks for `field`; None where the profile has none."""
    if field in corrections:
        return Value(corrections[field], f"correction: {field}")
    found = _read(field, control, business, site)
    if found is None or not found.text.strip():
        return None
    return (
        Value(_without_scheme(found.text, control), found.source)
        if field in ("url", "reciprocal_url")
        else found
    )


def _read(field: str, control: Control, business: Business, site: str) -> Value | None:
    if field == "email":
        contact = owner(control) == "contact"
        return Value(business.contact.email, "contact.email") if contact else Value(business.email, "email")
    if field == "phone":
        return _phone(owner(control), business)
    if field == "reciprocal_url":
        page = business.reciprocal_urls.get(site)
        return Value(page, f"reciprocal_urls.{site}") if page else None
    source, reader = _FACTS.get(field, ("", lambda _: None))
    found = reader(business)
    return Value(str(found), source) if found is not None else None


def _phone(whose: str | None, business: Business) -> Value | None:
    sources = [("phone", business.phone), ("contact.phone", business.contact.phone)]
    if whose == "contact":
        sources.reverse()
    return next((Value(number, source) for source, number in sources if number), None)


def _without_scheme(url: str, control: Control) -> str:
    """The address without its scheme where the page prints one before the field."""
    printed = any(
        place in ("before", "preceding", "cell") and text.strip().lower() in _SCHEMES
        for place, text in control.hints
    )
    return url.split("://", 1)[-1] if printed else url


def _address(part: str) -> Callable[[Business], str | None]:
    return lambda b: getattr(b.address, part) if b.address else None


def _social(network: Any) -> Callable[[Business], str | None]:
    return lambda b: b.social.get(network)


_FACTS: dict[str, tuple[str, Callable[[Business], Any]]] = {
    "name": ("name", lambda b: b.name),
    "url": ("url", lambda b: b.url),
    "contact_name": ("contact", lambda b: f"{b.contact.first_name} {b.contact.last_name}"),
    "first_name": ("contact.first_name", lambda b: b.contact.first_name),
    "last_name": ("contact.last_name", lambda b: b.contact.last_name),
    "fax": ("fax", lambda b: b.fax),
    "address": ("address.street", _address("street")),
    "address2": ("address.street2", _address("street2")),
    "city": ("address.city", _address("city")),
    "state": ("address.state", _address("state")),
    "postal_code": ("address.postal_code", _address("postal_code")),
    "country": ("address.country", lambda b: country_name(b.address.country) if b.address else None),
    "language": ("language", lambda b: language_names(b.language)[0].capitalize()),
    "pricing": ("pricing", lambda b: b.pricing),
    "founded_year": ("founded_year", lambda b: b.founded_year),
    "founded_date": ("founded_date", lambda b: b.founded_date),
    "logo": ("logo", lambda b: b.logo),
    "screenshot": ("screenshot", lambda b: b.screenshot),
    **{f: (f, attrgetter(f)) for f in ("logo_url", "image_url", "screenshot_url", "video_url", "rss_url")},
    **{
        f"social_{n}": (f"social.{n}", _social(n))
        for n in ("twitter", "facebook", "linkedin", "instagram", "youtube", "other")
    },
}
FACTS = frozenset(_FACTS) | {"email", "phone", "reciprocal_url"}
"""Fields whose value is copied from the profile."""


def country_name(code: str) -> str:
    """The English name of a country."""
    return str(LOCALE_DATA.get(code, {}).get("en") or code)


def country_names(code: str) -> tuple[str, ...]:
    """What option lists may call a country: its code and its names in every language known."""
    return (code, *dict.fromkeys(str(name) for name in LOCALE_DATA.get(code, {}).values()))


def language_names(code: str) -> tuple[str, ...]:
    """What option lists may call a language, the English name first."""
    return (*_languages().get(code, ()), code)


@cache
def _languages() -> Mapping[str, tuple[str, ...]]:
    return {code: tuple(fold(n) for n in names) for code, names in read("connectives")["languages"].items()}
