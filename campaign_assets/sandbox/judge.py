"""What a directory's server makes of the fields it got: violations, complaints, and the listing's values.

Pure: the fields and the form go in, a `Judgement` comes out. It trusts nothing that the page promised; limits are the
server's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from campaign_assets.sandbox import words
from campaign_assets.sandbox.crowd import stable
from campaign_assets.sandbox.parts import Control, Form, Site, canonical

Fields = Mapping[str, Sequence[str]]

CAPTCHA_FIELDS = ("g-recaptcha-response", "captcha", "captcha_sum")
_ADDRESS = re.compile(r"https?://[^\s/:@?#]+\.[^\s/:@?#]+(?:[/:?#]\S*)?", re.IGNORECASE)
_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_DEEDS = {"honeypot": "honeypot", "ignore": "foreign", "newsletter_optin": "newsletter", None: "invented"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """`violations`: kinds of them. `complaints`: sentences for the sender; empty when everything is in order."""

    violations: tuple[str, ...]
    complaints: tuple[str, ...]
    expired: bool

    @property
    def trapped(self) -> bool:
        """A honeypot was filled: the sender gets the success page and nothing is kept."""
        return "honeypot" in self.violations

    @property
    def paying(self) -> bool:
        return "paid" in self.violations


def judge(site: Site, fields: Fields) -> Judgement:
    """Judge a post to a site's submission form."""
    form = site.form
    complaints = [
        text for control in form.controls for text in _complaints(site, control, _value(fields, control))
    ]
    if form.captcha:
        complaints.append(words.say(site.language, "captcha"))
    token = form.control("csrf")
    return Judgement(
        tuple(dict.fromkeys(_violations(form, fields))),
        tuple(complaints),
        token is not None and _value(fields, token) != csrf_token(site.host),
    )


def target(form: Form, fields: Fields) -> str:
    """The canonical host that was filed: what stands in the form's URL control."""
    control = form.control("url")
    return canonical(_value(fields, control)) if control else ""


def values(form: Form, fields: Fields) -> dict[str, str]:
    """What was sent, by profile field; the first control that asks for a field wins."""
    sent: dict[str, str] = {}
    for control in form.controls:
        if control.field and control.type != "file" and _value(fields, control):
            sent.setdefault(control.field, _value(fields, control))
    return sent


def csrf_token(host: str) -> str:
    """The hidden token that a page of this host carries and wants back."""
    return f"{stable(f'csrf {host}', 10**12):012d}"


def _violations(form: Form, fields: Fields) -> list[str]:
    found = [_DEEDS[c.field] for c in form.controls if c.field in _DEEDS and _value(fields, c)]
    found += ["counter" for c in form.controls if c.counter and _tampered(fields, c)]
    found += ["paid" for b in form.buttons if b.paid and b.value in fields.get(b.name, ())]
    found += [
        "paid"
        for c in form.controls
        for option in c.options
        if option.paid and option.value in fields.get(c.name, ())
    ]
    return found + (["captcha"] if form.captcha else [])


def _tampered(fields: Fields, control: Control) -> bool:
    """Whether a counter shows anything but a number, which only somebody who typed into it can bring about."""
    shown = (fields.get(f"{control.name}_left") or ("",))[0]
    return bool(shown) and not shown.lstrip("-").isdigit()


def _complaints(site: Site, control: Control, value: str) -> list[str]:
    label = control.label or words.label(site.language, control.field or control.name)
    if not value or (value == control.value and control.field == "url"):
        return [words.say(site.language, "required", label=label)] if control.required else []
    if not _well_formed(control, value):
        return [words.say(site.language, "invalid", label=label)]
    length, most = _length(value), control.most or control.maxlength
    if most and length > most:
        return [words.say(site.language, "long", label=label, limit=most)]
    if length < control.least:
        return [words.say(site.language, "short", label=label, limit=control.least)]
    return []


def _well_formed(control: Control, value: str) -> bool:
    if control.field in ("url", "reciprocal_url"):
        return bool(_ADDRESS.fullmatch(value)) and value.count("://") == 1
    return control.field != "email" or bool(_MAIL.fullmatch(value))


def _length(value: str) -> int:
    """Length as a browser counts it: UTF-16 units, a line break as one."""
    return len(value.replace("\r\n", "\n").encode("utf-16-le")) // 2


def _value(fields: Fields, control: Control) -> str:
    return next((value.strip() for value in fields.get(control.name, ()) if value.strip()), "")
