"""The checks a payload has to pass before anybody may file it. Each is a name, a verdict and a sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from campaign_assets.model import Action, Check, Control, Entry, FormDocument, Payload
from campaign_assets.stages.choices import Cost, cost
from campaign_assets.stages.form_choice import text_of
from campaign_assets.stages.payload import LATE, Assembled, matches
from campaign_assets.stages.writer import Room

_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]{2,}")
_ADDRESSES = frozenset({
    "url", "reciprocal_url", "logo_url", "image_url", "screenshot_url", "video_url", "rss_url",
})  # fmt: skip
_DOUBLE = re.compile(r"https?:/+https?:", re.IGNORECASE)


def checks(assembled: Assembled, payload: Payload, document: FormDocument) -> tuple[Check, ...]:
    """Every check of a payload against the form it is for."""
    controls = {c.index: c for c in document.controls}
    return (
        _check(
            "required",
            [f"“{q.words}” is required and stays empty" for q in assembled.unanswered],
            "every required question is answered",
        ),
        _check("limits", _limits(payload, controls), "every text fits its control"),
        _check(
            "patterns", _patterns(payload, controls), "every value has the form that its control asks for"
        ),
        _check("addresses", _addresses(payload), "every web address is complete, with one scheme"),
        _check("e-mail", _mails(payload), "every e-mail address is well formed"),
        _check("options", _options(payload, controls), "every choice is among its options"),
        _check("free", _money(payload, controls), "nothing that costs money is chosen or pressed"),
        _check(
            "seen",
            _unseen(payload, controls),
            "a person can see every control that is filled, and the button",
        ),
        _check("files", _files(payload, controls), "every file to upload is there"),
    )


def _check(name: str, problems: list[str], fine: str) -> Check:
    sentence = "; ".join(problems) if problems else fine
    return Check(name=name, passed=not problems, sentence=f"{sentence[0].upper()}{sentence[1:]}.")


def _texts(payload: Payload, controls: Mapping[int, Control]) -> Iterator[tuple[Entry, Control]]:
    for entry in payload.entries:
        if entry.action is Action.FILL:
            yield entry, controls[entry.index]


def _limits(payload: Payload, controls: Mapping[int, Control]) -> list[str]:
    problems = []
    for entry, control in _texts(payload, controls):
        room = Room(control.limit, control.minimum, control.type == "textarea")
        size = room.size(entry.value)
        if not room.fits(entry.value):
            problems.append(f"{entry.field} has {size} characters where {control.limit} fit")
        elif control.minimum and size < control.minimum:
            problems.append(f"{entry.field} has {size} characters where {control.minimum} are asked for")
        if control.type != "textarea" and "\n" in entry.value:
            problems.append(f"{entry.field} has several lines where one fits")
    return problems


def _patterns(payload: Payload, controls: Mapping[int, Control]) -> list[str]:
    problems = []
    for entry, control in _texts(payload, controls):
        if not matches(control.pattern, entry.value):
            problems.append(f"{entry.field} does not match the pattern {control.pattern}")
    return problems


def _addresses(payload: Payload) -> list[str]:
    problems = []
    for entry in payload.entries:
        if entry.field not in _ADDRESSES or entry.action is not Action.FILL:
            continue
        whole = entry.value if "://" in entry.value else f"https://{entry.value}"
        parts = urlsplit(whole)
        if (
            parts.scheme not in ("http", "https")
            or "." not in (parts.hostname or "")
            or _DOUBLE.search(whole)
            or whole.count("://") > 1
        ):
            problems.append(f"{entry.field} is {entry.value!r}, which is no complete web address")
        elif entry.type == "url" and "://" not in entry.value:
            problems.append(f"{entry.field} is {entry.value!r} without http:// in a control that asks for it")
    return problems


def _mails(payload: Payload) -> list[str]:
    return [
        f"{entry.field} is {entry.value!r}, which is no e-mail address"
        for entry in payload.entries
        if (entry.field == "email" or entry.type == "email")
        and entry.action is Action.FILL
        and not _MAIL.fullmatch(entry.value)
    ]


def _options(payload: Payload, controls: Mapping[int, Control]) -> list[str]:
    problems = []
    for entry in payload.entries:
        control = controls[entry.index]
        if entry.action is not Action.CHOOSE or entry.source == LATE:
            continue
        values = {o.value for o in control.options} if control.type != "radio" else {control.value}
        if entry.value not in values:
            problems.append(f"{entry.field} has no option {entry.value!r}")
    return problems


def _money(payload: Payload, controls: Mapping[int, Control]) -> list[str]:
    problems = []
    for entry in payload.entries:
        control = controls[entry.index]
        if entry.field == "link_type" and entry.action is Action.CHOOSE:
            label = next((o.label for o in control.options if o.value == entry.value), control.label)
            if cost(label) in (Cost.PAID, Cost.RECIPROCAL):
                problems.append(f"the listing “{label}” is not free")
    button = controls.get(payload.submit)
    if button is not None and cost(text_of(button)) is Cost.PAID:
        problems.append(f"the button “{text_of(button)}” costs money")
    return problems


def _unseen(payload: Payload, controls: Mapping[int, Control]) -> list[str]:
    touched = [entry.index for entry in payload.entries] + [payload.submit]
    return [
        f"{controls[i].name or f'control {i}'} cannot be seen ({controls[i].concealment or 'invisible'})"
        for i in touched
        if not controls[i].visible
    ]


def _files(payload: Payload, controls: Mapping[int, Control]) -> list[str]:
    problems = []
    for entry in payload.entries:
        if entry.action is not Action.UPLOAD:
            continue
        if not Path(entry.value).is_file():
            problems.append(f"the file {entry.value} for {entry.field} does not exist")
        elif not _accepted(Path(entry.value), controls[entry.index].accept):
            problems.append(
                f"{entry.field} takes {controls[entry.index].accept}, not {Path(entry.value).name}"
            )
    return problems


def _accepted(path: Path, accept: str) -> bool:
    """Whether a file input's `accept` lets a file through, by its ending."""
    kinds = [kind.strip().lower() for kind in accept.split(",") if kind.strip()]
    if not kinds or "*/*" in kinds:
        return True
    suffix = path.suffix.lower()
    image = suffix in (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp")
    same = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".svg": "image/svg+xml"}.get(
        suffix, f"image/{suffix[1:]}"
    )
    return (
        suffix in kinds
        or same in kinds
        or (image and "image/*" in kinds)
        or (suffix == ".jpg" and ".jpeg" in kinds)
    )
