"""From what the page's script has read to the form model: labels, required, limits, obstacles. Pure, no browser.

What a control *means* is the mapper's business; here is only what stands in the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from campaign_assets.model import Control, Form, FormDocument, Reason
from campaign_assets.web import form_words as words

STORED_TEXT = 6000
_TEXTUAL = frozenset({"text", "textarea", "search", "url", "email", "tel"})
_NO_ENTRY = frozenset({"hidden", "submit", "button", "image", "reset"})
_SPEAKING = frozenset(
    {
        "for",
        "wrap",
        "labelledby",
        "aria-label",
        "cell",
        "before",
        "placeholder",
        "title",
        "group",
        "legend",
        "after",
        "describedby",
    }
)
_STAR_PLACES = frozenset(
    {"for", "wrap", "labelledby", "aria-label", "cell", "before", "placeholder", "group", "legend"}
)
_LABEL_ORDER = (
    "text for wrap labelledby aria-label cell before placeholder title after group legend name heading id"
).split()
_BOX_ORDER = (
    "text for wrap labelledby aria-label after cell before title group legend name heading id".split()
)


def read_document(raw: Mapping[str, Any]) -> FormDocument:
    """The form model from the raw reading (`form_reader.js`)."""
    controls = tuple(_control(item) for item in raw["controls"])
    controls = tuple(_with_group_required(control, controls) for control in controls)
    forms = tuple(_form(item, raw["marks"], controls) for item in raw["forms"])
    return FormDocument(
        url=raw["url"],
        title=raw["title"][:300],
        language=raw["language"][:20],
        forms=forms,
        controls=controls,
        text=raw["text"][:STORED_TEXT],
        obstacles=tuple(_document_obstacles(raw, forms, controls)),
    )


def required_by_words(hints: Iterable[tuple[str, str]]) -> bool:
    """Whether a star or a word beside a control says that it must be filled."""
    found = False
    for place, text in hints:
        if place not in _STAR_PLACES or words.STAR_NOTE.search(text):
            continue
        if words.OPTIONAL.search(text):
            return False
        found = found or bool(words.STAR.search(text) or words.REQUIRED.search(text))
    return found


def limit_in_words(hints: Iterable[tuple[str, str]]) -> int | None:
    """The smallest maximum number of characters that the words beside a control name."""
    limits: list[int] = []
    for place, text in hints:
        if place in _SPEAKING:
            limits += [
                words.number(match.group(1)) for pattern in words.MAXIMUM for match in pattern.finditer(text)
            ]
            for match in words.MAXIMUM_WORDS.finditer(text):
                limits.append(words.number(match.group(1) or match.group(2)) * words.CHARACTERS_PER_WORD)
    return min((limit for limit in limits if limit > 4), default=None)


def minimum_in_words(hints: Iterable[tuple[str, str]]) -> int | None:
    """The largest minimum number of characters that the words beside a control name."""
    found = [
        words.number(match.group(1) or match.group(2))
        for place, text in hints
        if place in _SPEAKING
        for match in words.MINIMUM.finditer(text)
    ]
    return max(found, default=None)


def _control(item: Mapping[str, Any]) -> Control:
    hints = tuple((str(place), str(text)) for place, text in item["hints"])
    textual = item["type"] in _TEXTUAL
    said_limit = limit_in_words(hints) if textual else None
    said_minimum = minimum_in_words(hints) if textual else None
    limits = [limit for limit in (item["maxlength"], said_limit) if limit]
    concealment = item["concealment"]
    return Control(
        index=item["index"],
        tag=item["tag"],
        type=item["type"],
        name=item["name"],
        id=item["id"],
        form=item["form"],
        visible=not concealment,
        concealment=concealment,
        label=_label(item["type"], hints),
        hints=hints,
        required=_required(item, hints),
        limit=min(limits, default=None),
        minimum=_minimum(item["minlength"], said_minimum, min(limits, default=None)),
        pattern=item["pattern"],
        options=item["options"],
        value=item["value"],
        checked=item["checked"],
        accept=item["accept"],
        autocomplete=item["autocomplete"],
        placeholder=item["placeholder"],
    )


def _minimum(attribute: int | None, said: int | None, limit: int | None) -> int | None:
    found = max(attribute or 0, said or 0)
    return found if found and (limit is None or found <= limit) else None


def _label(kind: str, hints: tuple[tuple[str, str], ...]) -> str:
    order = _BOX_ORDER if kind in ("checkbox", "radio") else _LABEL_ORDER
    texts: dict[str, str] = {}
    for place, text in hints:
        texts.setdefault(place, text)
    return next((texts[place] for place in order if place in texts), "")


def _required(item: Mapping[str, Any], hints: tuple[tuple[str, str], ...]) -> bool:
    if item["required"]:
        return True
    if item["type"] in _NO_ENTRY or item["disabled"]:
        return False
    if item["type"] in ("checkbox", "radio"):
        # The star of a box's own label is the box's; one before it may be the previous control's.
        hints = tuple(hint for hint in hints if hint[0] != "before")
    return bool(words.REQUIRED_CLASS.search(item["classes"])) or required_by_words(hints)


def _with_group_required(control: Control, controls: tuple[Control, ...]) -> Control:
    """One required radio button makes its whole group required."""
    if control.type != "radio" or control.required or not control.name:
        return control
    group = (c for c in controls if c.type == "radio" and c.name == control.name and c.form == control.form)
    return control.model_copy(update={"required": True}) if any(c.required for c in group) else control


def _form(item: Mapping[str, Any], marks: list[dict[str, Any]], controls: tuple[Control, ...]) -> Form:
    own = tuple(c for c in controls if c.form == item["index"])
    return Form(
        index=item["index"],
        action=item["action"],
        method=item["method"],
        heading=item["heading"],
        visible=item["visible"] and any(c.visible for c in own),
        obstacles=tuple(dict.fromkeys(_form_obstacles(item, marks, own))),
    )


def _form_obstacles(
    item: Mapping[str, Any], marks: list[dict[str, Any]], own: tuple[Control, ...]
) -> Iterable[tuple[str, str]]:
    for mark in marks:
        if mark["form"] == item["index"]:
            yield _REASONS[mark["kind"]], mark["what"]
    for control in own:
        spoken = " ".join(text for place, text in control.hints if place in _SPEAKING)
        if control.visible and control.type in ("text", "number", "tel") and words.ARITHMETIC.search(spoken):
            yield Reason.CAPTCHA, f"arithmetic question: {control.label}"
        elif control.visible and control.type == "text" and words.CAPTCHA_QUESTION.search(spoken):
            yield Reason.CAPTCHA, f"captcha question: {control.label}"
    submits = [
        c for c in own if c.visible and (c.type == "submit" or (c.tag == "button" and c.type != "reset"))
    ]
    if submits and all(words.PAY_BUTTON.search(c.label) for c in submits):
        yield Reason.PAYMENT_REQUIRED, f"button: {submits[0].label}"


_REASONS = {"captcha": Reason.CAPTCHA, "payment": Reason.PAYMENT_REQUIRED}


def _document_obstacles(
    raw: Mapping[str, Any], forms: tuple[Form, ...], controls: tuple[Control, ...]
) -> Iterable[str]:
    """Reason codes of the whole document; where they belong to one form, that form names them, too."""
    found = {reason for form in forms for reason, _ in form.obstacles}
    found |= {_REASONS[mark["kind"]] for mark in raw["marks"] if mark["form"] is None}
    entry = any(_takes_an_entry(form, controls) for form in forms) or _loose_entries(controls) >= 2
    if not entry and (_has_login(controls) or words.LOGIN.search(raw["text"])):
        found.add(Reason.LOGIN_REQUIRED)
    if not entry and words.CLOSED.search(raw["text"]):
        found.add(Reason.CLOSED)
    return sorted(found)


def _takes_an_entry(form: Form, controls: tuple[Control, ...]) -> bool:
    """Whether a form could be one that takes a listing: two visible things to say, and no password among them."""
    own = [c for c in controls if c.form == form.index and c.visible and c.type not in _NO_ENTRY]
    return len(own) >= 2 and not any(c.type == "password" for c in own)


def _loose_entries(controls: tuple[Control, ...]) -> int:
    return sum(
        1
        for c in controls
        if c.form is None and c.visible and c.type in _TEXTUAL and not re.search("search", c.type + c.name)
    )


def _has_login(controls: tuple[Control, ...]) -> bool:
    return any(c.type == "password" and c.visible for c in controls)
