"""What only a human can settle before a form is filed: found while reading it, held on by preflight.

Each obstacle is a reason code and a sentence that says what would settle it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from campaign_assets.model import Action, Business, FormDocument, MappedControl, Obstacle, Reason
from campaign_assets.stages.choices import Cost, cost, free_choice
from campaign_assets.stages.folding import fold
from campaign_assets.stages.form_choice import Press
from campaign_assets.stages.questions import Question

_FORM_FACTS = {
    Reason.CAPTCHA: "The form carries a captcha ({what}); a person has to file it.",
    Reason.PAYMENT_REQUIRED: "The form asks for money ({what}); a person has to decide and file it.",
}
_YES = frozenset({"yes", "true", "on", "accept", "accepted", "1", "ok"})


def informed(business: Business, corrections: Mapping[str, str]) -> Business:
    """The business as a human's corrections for one publisher complete it."""
    return business.model_copy(
        update={
            "answers": {**business.answers, **corrections},
            "accept_terms": business.accept_terms or fold(corrections.get("terms", "")) in _YES,
        }
    )


def obstacles(
    document: FormDocument,
    form: int | None,
    asked: Sequence[Question],
    mapped: Mapping[int, MappedControl],
    press: Press | None,
    business: Business | None,
    site: str = "",
) -> tuple[Obstacle, ...]:
    """Every obstacle, each reason and sentence once. `mapped` by control; `press` None: the button is known
    to be there."""
    found = [*_of_document(document, form), *_of_button(form, press)]
    for question in asked:
        if question.visible:
            found += _of_question(question, mapped[question.index], business, site)
    named = {o.reason for o in _of_document(document, form)}
    seen = [
        o
        for i, o in enumerate(found)
        if o.reason is not Reason.CAPTCHA or o.reason not in named or i < len(named)
    ]
    return tuple(dict.fromkeys(seen))


def _of_document(document: FormDocument, form: int | None) -> Iterator[Obstacle]:
    own = next((f.obstacles for f in document.forms if f.index == form), ())
    for reason in dict.fromkeys(reason for reason, _ in own):
        what = ", ".join(what for other, what in own if other == reason)
        yield Obstacle(reason=Reason(reason), sentence=_FORM_FACTS[Reason(reason)].format(what=what))
    elsewhere = {reason for f in document.forms for reason, _ in f.obstacles}
    if Reason.CAPTCHA in document.obstacles and Reason.CAPTCHA not in elsewhere:
        yield Obstacle(
            reason=Reason.CAPTCHA, sentence=_FORM_FACTS[Reason.CAPTCHA].format(what="beside the form")
        )
    if Reason.LOGIN_REQUIRED in document.obstacles:
        yield _LOGIN


_LOGIN = Obstacle(
    reason=Reason.LOGIN_REQUIRED,
    sentence="The site wants an account first; a person has to log in and file the form by hand.",
)


def _of_button(form: int | None, press: Press | None) -> Iterator[Obstacle]:
    if form is None or press is None or press.index is not None:
        return
    if press.paid:
        yield Obstacle(
            reason=Reason.PAYMENT_REQUIRED,
            sentence="Every submit button of the form costs money; a person has to decide.",
        )
    else:
        yield Obstacle(
            reason=Reason.NO_FORM,
            sentence="The form has no button that submits it; a person has to file it by hand.",
        )


def _of_question(
    question: Question, mapped: MappedControl, business: Business | None, site: str
) -> Iterator[Obstacle]:
    human = mapped.action is Action.HUMAN
    if mapped.field == "password":
        yield _LOGIN
    elif mapped.field == "link_type":
        yield from _of_listing_kind(question)
    elif mapped.field == "reciprocal_url":
        if question.required and not (business and business.reciprocal_urls.get(site)):
            yield _worded(Reason.RECIPROCAL_REQUIRED, question, site)
    elif mapped.field == "captcha":
        yield _worded(Reason.CAPTCHA, question, site)
    elif mapped.field == "terms" and human and question.required:
        yield _worded(Reason.TERMS_NOT_ACCEPTED, question, site)
    elif mapped.field is None and human:
        yield _worded(Reason.UNANSWERABLE_QUESTION, question, site)


_SENTENCES = {
    Reason.CAPTCHA: "The form asks “{label}” to tell people from machines; a person has to file it.",
    Reason.TERMS_NOT_ACCEPTED: "The form wants “{label}” accepted; accept_terms in the profile or a correction"
    " terms=accept settles it.",
    Reason.RECIPROCAL_REQUIRED: "The form wants a page of ours that links back (“{label}”); reciprocal_urls.{site} in"
    " the profile or a correction reciprocal_url=… settles it.",
    Reason.UNANSWERABLE_QUESTION: "The form requires an answer to “{label}”, which the profile does not give; an entry"
    " under answers in the profile or a correction settles it.",
}


def _worded(reason: Reason, question: Question, site: str) -> Obstacle:
    return Obstacle(
        reason=reason, sentence=_SENTENCES[reason].format(label=question.words, site=site or "SITE")
    )


def _of_listing_kind(question: Question) -> Iterator[Obstacle]:
    if question.type == "checkbox" or free_choice(question.options).position is not None:
        return
    if any(cost(o.label) is Cost.RECIPROCAL for o in question.options):
        yield Obstacle(
            reason=Reason.RECIPROCAL_REQUIRED,
            sentence=f"“{question.words}” offers no free listing without a link back.",
        )
    else:
        yield Obstacle(
            reason=Reason.PAYMENT_REQUIRED,
            sentence=f"“{question.words}” offers no free listing; a person has to decide.",
        )
