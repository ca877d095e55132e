"""The mapper: a form model in, the submission form and a word on every control out. Pure; no I/O.

Rules that never break: a control that nobody sees is left; captchas and passwords go to a human; a newsletter
stays off; of kinds of listing and of submit buttons only the free one is taken; terms are accepted only where
the operator accepts them; no answer is invented.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from campaign_assets.model import Action, Business, Control, FormDocument, MappedControl
from campaign_assets.stages.assignment import assign
from campaign_assets.stages.choices import free_choice
from campaign_assets.stages.folding import fold
from campaign_assets.stages.form_choice import OUTSIDE, Press, choose_button, owner_of, submission_form
from campaign_assets.stages.questions import Question, questions
from campaign_assets.stages.roles import Role, hidden_role

LEFT_ALONE = frozenset({"honeypot", "csrf", "ignore", "newsletter_optin"})
FOR_A_HUMAN = frozenset({"captcha", "password"})


@dataclass(frozen=True)
class FormMap:
    """What the mapper makes of a document: `form` is None where no form files a listing."""

    form: int | None
    controls: tuple[MappedControl, ...]
    asked: tuple[Question, ...]
    """The questions of the submission form."""
    press: Press


def map_controls(document: FormDocument, business: Business | None) -> FormMap:
    """Map every control of a document, in document order; the same document gives the same mapping."""
    by_form = _by_form(document)
    asked = {form: questions(controls) for form, controls in by_form.items()}
    roles = {form: assign(qs, document.language[:2].lower()) for form, qs in asked.items()}
    visible = {f.index: f.visible for f in document.forms} | {OUTSIDE: True}
    form = submission_form(
        document,
        {
            f: [r for q in qs if q.visible and (r := roles[f][q.index].field)]
            for f, qs in asked.items()
            if visible.get(f, True)
        },
    )
    press = choose_button(document, form) if form is not None else Press(None, 0.0, "no form files a listing")
    words: dict[int, MappedControl] = {}
    for owner, qs in asked.items():
        for question in qs:
            mapped = _map_question(question, roles[owner][question.index], owner == form, business)
            words |= {m.index: m for m in mapped}
    for control in document.controls:
        words.setdefault(control.index, _map_rest(control, press))
    return FormMap(
        form,
        tuple(words[c.index] for c in document.controls),
        asked.get(form, ()) if form is not None else (),
        press,
    )


def answer_for(question: Question, answers: Mapping[str, str]) -> tuple[str, str] | None:
    """The (question, answer) of a profile or a correction that answers `question`, by its words or its
    control's name."""
    texts = {fold(text) for _, text in question.asked.hints} | {
        fold(question.words),
        fold(question.asked.name),
    }
    for key, value in answers.items():
        if fold(key) and fold(key) in texts:
            return key, value
    return None


def decide(question: Question, mapped: MappedControl, business: Business) -> MappedControl:
    """The word on a control once more, where a human had to decide and the profile may answer by now."""
    if mapped.action is not Action.HUMAN or mapped.field not in (None, "terms"):
        return mapped
    action, why = _action(question, Role(mapped.field, mapped.confidence, mapped.why), business)
    return mapped if action is Action.HUMAN else mapped.model_copy(update={"action": action, "why": why})


def _by_form(document: FormDocument) -> dict[int, list[Control]]:
    found: dict[int, list[Control]] = {}
    for control in document.controls:
        found.setdefault(owner_of(control), []).append(control)
    return found


def _map_rest(control: Control, press: Press) -> MappedControl:
    """Buttons and hidden inputs."""
    if control.type == "hidden":
        role = hidden_role(control)
        return _word(control, role.field, Action.LEAVE, role.confidence, role.why)
    if control.index == press.index:
        return _word(control, "submit", Action.CLICK, press.confidence, press.why)
    if control.index in press.paid:
        return _word(control, "ignore", Action.LEAVE, 0.95, "a submit button that costs money")
    if control.type in ("submit", "image"):
        return _word(control, "submit", Action.LEAVE, 0.8, "another submit button, never pressed")
    return _word(control, "ignore", Action.LEAVE, 0.9, "a button that submits nothing")


def _map_question(
    question: Question, role: Role, chosen: bool, business: Business | None
) -> list[MappedControl]:
    if not chosen:
        action = Action.LEAVE
        why = role.why + "; not in the submission form"
        return [_word(c, role.field, action, role.confidence, why) for c in question.members]
    if role.field == "link_type":
        return _listing_kind(question, role)
    action, why = _action(question, role, business)
    return [
        _word(
            c,
            role.field,
            action if c.visible else Action.LEAVE,
            role.confidence,
            why if c.visible else _unseen(c, role),
        )
        for c in question.members
    ]


def _unseen(control: Control, role: Role) -> str:
    return f"{role.why}; nobody can see it ({control.concealment or 'invisible'}), so it is left"


def _action(question: Question, role: Role, business: Business | None) -> tuple[Action, str]:
    field, why = role.field, role.why
    if field in LEFT_ALONE:
        return Action.LEAVE, why
    if field in FOR_A_HUMAN:
        return Action.HUMAN, why
    if field == "terms":
        return _terms(question, role, business)
    if field is None:
        return _unanswered(question, why, business)
    if question.type == "file":
        return Action.UPLOAD, why
    if question.type in ("select-one", "select-multiple", "radio", "checkbox"):
        return Action.CHOOSE, why
    return Action.FILL, why


def _terms(question: Question, role: Role, business: Business | None) -> tuple[Action, str]:
    if role.confidence < 0.75:
        return (Action.HUMAN if question.required else Action.LEAVE), role.why
    if business is not None and business.accept_terms:
        return Action.CHECK, f"{role.why}; the profile accepts such terms"
    return Action.HUMAN, f"{role.why}; the profile does not say that the operator accepts such terms"


def _unanswered(question: Question, why: str, business: Business | None) -> tuple[Action, str]:
    known = answer_for(question, business.answers) if business else None
    if known:
        choose = question.group or question.type.startswith("select")
        return (Action.CHOOSE if choose else Action.FILL), f"the profile answers “{known[0]}”"
    if question.required:
        return Action.HUMAN, f"required, and {why}"
    return Action.LEAVE, why


def _listing_kind(question: Question, role: Role) -> list[MappedControl]:
    """Only the free kind of listing is chosen; where there is none, a human decides."""
    if question.type == "checkbox":
        return [_word(c, "link_type", Action.LEAVE, role.confidence, role.why) for c in question.members]
    free = free_choice(question.options)
    if question.type == "select-one":
        action = Action.CHOOSE if free.position is not None else Action.HUMAN
        return [_word(question.asked, "link_type", action, min(role.confidence, free.sure or 1.0), role.why)]
    mapped = []
    for position, control in enumerate(question.members):
        if position == free.position and control.visible:
            mapped.append(_word(control, "link_type", Action.CHOOSE, free.sure, "the free kind of listing"))
        else:
            action = Action.LEAVE if free.position is not None else Action.HUMAN
            mapped.append(
                _word(
                    control, "link_type", action, role.confidence, f"a {free.costs[position]} kind of listing"
                )
            )
    return mapped


def _word(control: Control, field: str | None, action: Action, confidence: float, why: str) -> MappedControl:
    return MappedControl(
        index=control.index,
        name=control.name,
        type=control.type,
        field=field,
        action=action,
        confidence=round(min(max(confidence, 0.0), 1.0), 2),
        why=why[0].upper() + why[1:300] if why else "",
    )
