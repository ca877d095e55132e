"""Which of a page's forms is the submission form, and which of its buttons files it.

A search box, a login, a newsletter and a comment form stand on the same page as often as not; a button may
cost money.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from campaign_assets.model import Control, Form, FormDocument
from campaign_assets.stages.choices import Cost, cost
from campaign_assets.stages.evidence import rules
from campaign_assets.stages.folding import fold, name_tokens, says
from campaign_assets.stages.questions import BUTTONS
from campaign_assets.stages.vocabulary import word_lists

OUTSIDE = -1
"""Stands for the controls outside every form, which scripts send by themselves."""

_ENOUGH = 5.0
_CHECKOUT = 6.0
_DESCRIBING = frozenset(
    {"description", "short_description", "long_description", "tagline", "category", "tags"}
)
_AGAINST = {"about_comment": 6.0, "about_search": 6.0, "about_login": 4.0, "about_newsletter": 4.0}


@dataclass(frozen=True)
class Press:
    """The button to press and how sure that is; `index` None with the reason in `why`."""

    index: int | None
    confidence: float
    why: str
    paid: tuple[int, ...] = ()
    """Buttons that cost money, to be left alone."""


def owner_of(control: Control) -> int:
    return OUTSIDE if control.form is None else control.form


def submission_form(document: FormDocument, fields: Mapping[int, Sequence[str]]) -> int | None:
    """The form that files a listing; `fields` are the fields its visible controls ask for, by form. None:
    there is none."""
    scores = {form: _score(document, form, names) for form, names in fields.items()}
    best = max(scores, key=lambda form: (scores[form], -form), default=None)
    return best if best is not None and scores[best] >= _ENOUGH else None


def _score(document: FormDocument, form: int, names: Sequence[str]) -> float:
    asked = set(names)
    described = asked & _DESCRIBING
    if "url" not in asked and not (asked & {"name", "title"} and len(described) > 1):
        return 0.0
    worth: float = sum(rules()["listing"].get(name, 0) for name in asked)
    return worth + _about(document, form) - 3 * ("password" in asked)


def _about(document: FormDocument, form: int) -> float:
    """What the form's own words say about its purpose."""
    lists = word_lists("choices")
    stated = next((f for f in document.forms if f.index == form), Form(index=form, action="", method=""))
    own = [c for c in document.controls if owner_of(c) == form]
    own = [c for c in document.controls if owner_of(c) == form]
    buttons = [text_of(c) for c in own if c.type in BUTTONS]
    words = " . ".join([fold(stated.heading), " ".join(name_tokens(stated.action)), *map(fold, buttons)])
    comments = any(" ".join(name_tokens(c.name)) == "comment" for c in own)
    buying = says(words, lists["about_checkout"]) or any(c.autocomplete.startswith("cc-") for c in own)
    score = 1.0 if says(words, lists["about_listing"]) else 0.0
    if not score:
        score -= sum(weight for name, weight in _AGAINST.items() if says(words, lists[name]))
    return score - _AGAINST["about_comment"] * comments - _CHECKOUT * bool(buying)


def text_of(button: Control) -> str:
    """What a button says."""
    return button.label or button.value or next((text for _, text in button.hints), "") or button.name


def choose_button(document: FormDocument, form: int) -> Press:
    """The free submit button of a form; a paid one never, a reset, preview or search button neither."""
    own = [c for c in document.controls if owner_of(c) == form and c.type in BUTTONS and c.visible]
    last = max((c.index for c in document.controls if owner_of(c) == form), default=-1)
    beside = [
        c for c in document.controls if c.form is None and c.type in BUTTONS and c.visible and c.index > last
    ]
    paid = tuple(c.index for c in own if cost(text_of(c)) is Cost.PAID or cost(c.value) is Cost.PAID)
    usable = [c for c in own if c.index not in paid and c.type != "reset" and not _is_other(c)]
    ranked = sorted(usable, key=_rank)
    if ranked:
        return Press(ranked[0].index, _sureness(ranked), f"the button says “{text_of(ranked[0])}”", paid)
    outside = [
        c for c in beside if _says_submit(c) and not _is_other(c) and cost(text_of(c)) is not Cost.PAID
    ]
    if outside and not own:
        return Press(outside[0].index, 0.7, f"the button after the form says “{text_of(outside[0])}”", paid)
    return Press(
        None,
        0.0,
        "every submit button costs money" if paid else "the form has no button that submits it",
        paid,
    )


def _rank(button: Control) -> tuple[bool, bool, bool, int]:
    return (
        cost(text_of(button)) is not Cost.FREE,
        not _says_submit(button),
        button.type == "button",
        button.index,
    )


def _sureness(ranked: Sequence[Control]) -> float:
    if len(ranked) == 1 or _rank(ranked[0])[:3] != _rank(ranked[1])[:3]:
        return 0.95 if _says_submit(ranked[0]) or ranked[0].type in ("submit", "image") else 0.7
    return 0.7


def _says_submit(button: Control) -> bool:
    return says(fold(text_of(button)), word_lists("choices")["submit"]) is not None


def _is_other(button: Control) -> bool:
    """Whether a button does something else: its words say so and do not say submit first."""
    folded = fold(text_of(button))
    other = says(folded, word_lists("choices")["not_submit"])
    return other is not None and (button.type != "submit" or folded.startswith(other))
