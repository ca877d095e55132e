"""Roles that are settled before any field is assigned: traps, tokens, captchas, counters, consent, paid choices.

Each rule looks at one question alone and errs on the side of leaving it untouched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from campaign_assets.model import Control
from campaign_assets.stages.choices import Cost, cost, is_link_type, priced
from campaign_assets.stages.evidence import FOREIGN, Reading, spoken
from campaign_assets.stages.folding import fold, name_tokens, says
from campaign_assets.stages.questions import GROUPED, Question
from campaign_assets.stages.vocabulary import vocabulary

_TRAPS = re.compile(
    r"off.?screen|clip|size|opacity|transparent|aria|tiny|outside|behind|negative|zero", re.IGNORECASE
)
_TRAP_NAMES = re.compile(
    r"honey|(?:^|[_-])hp(?:$|[_-])|leave.?(?:this.?)?(?:blank|empty)|gotcha|url2_?check|bot.?field|no.?fill",
    re.IGNORECASE,
)
_SUM = re.compile(r"(?<![\d(/.,-])\d{1,3}(?:\s*[+x×*]\s*|\s+[-−–]\s+)\d{1,3}\s*(?:=|\?|$)")
_SUM_IN_WORDS = re.compile(
    r"\b(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?:plus|minus|times)\s+\w+\b",
    re.IGNORECASE,
)
_CAPTCHA_NAMES = re.compile(
    r"captcha|human_?verif|sec_?code|vcode|verif(?:y|ication)_?code|confirmation_?code|random_?word|anti_?spam|spam_?check",
    re.IGNORECASE,
)
_COUNTER = re.compile(
    r"(?:left|count(?:er)?|remain(?:ing)?|remlen|chars?|length|countdown|max)\d*$", re.IGNORECASE
)
_GENTLE = frozenset({"checkbox", "radio", "file", "select-one", "select-multiple", "textarea"})
_MANY = 3
_CAPTCHA_ENOUGH = 0.55
_OWN = frozenset({"for", "wrap", "label", "labelledby", "aria-label", "after", "cell"})
_ASKING = frozenset(
    {"for", "wrap", "labelledby", "aria-label", "cell", "before", "group", "legend", "label", "describedby"}
)


_PLAIN_TRAPS = frozenset(
    {"left unchanged", "validation purposes", "left blank", "field blank", "field empty", "be empty"}
)


@dataclass(frozen=True)
class Role:
    """A settled role or field and the words for it."""

    field: str | None
    confidence: float
    why: str


def hidden_role(control: Control) -> Role:
    """A hidden input: the site's own, whatever it is called."""
    meant = {s.concept for m in vocabulary().find_in_name(control.name) for s in m.senses}
    return Role("csrf" if "csrf" in meant else "ignore", 0.95, "a hidden input, left as the site set it")


def settled(
    question: Question, readings: tuple[Reading, ...], hidden: int, seen: frozenset[str]
) -> Role | None:
    """The role of a question that needs no assignment; None where the fields have to decide.

    `hidden`: how many of the form's questions nobody sees. `seen`: what the visible ones of the form clearly ask for.
    """
    return (
        _trap(question, readings, hidden, seen)
        or _machine_check(question, readings)
        or _consent(question, readings)
    )


def _trap(
    question: Question, readings: tuple[Reading, ...], hidden: int, seen: frozenset[str]
) -> Role | None:
    control = question.asked
    meant = readings[0].concept if readings else ""
    told = next((r for r in readings[:3] if r.concept == "honeypot"), None)
    if told and (told.score > 0.5 or told is readings[0] or says(spoken(control), _PLAIN_TRAPS)):
        return Role("honeypot", 0.97, f"a trap for machines: {told.why}")
    if _TRAP_NAMES.search(control.name) or _TRAP_NAMES.search(control.id):
        return Role("honeypot", 0.95, "a trap for machines by its name")
    if question.visible:
        return None
    typed = question.type not in _GENTLE and meant != "password"
    shown_twice = meant in seen and not meant.startswith(FOREIGN) and hidden < 2 * _MANY
    concealed = bool(_TRAPS.search(control.concealment))
    if seen and typed and (shown_twice or concealed or hidden < _MANY):
        return Role(
            "honeypot", 0.9, f"nobody can see it ({control.concealment or 'invisible'}): a trap for machines"
        )
    return None


def _machine_check(question: Question, readings: tuple[Reading, ...]) -> Role | None:
    control = question.asked
    if question.type == "password":
        return Role("password", 0.98, "its type is password")
    if any(
        fold(name) in ("g recaptcha response", "h captcha response", "cf turnstile response")
        for name in (control.name, control.id)
    ):
        return Role("captcha", 0.99, "a captcha's answer")
    meant = readings[0] if readings else None
    text = " ".join(text for place, text in control.hints if place in _ASKING) + " " + control.label
    if question.type in ("text", "number") and (_SUM.search(text) or _SUM_IN_WORDS.search(text)):
        return Role("captcha", 0.95, "it asks for a sum")
    if question.type in ("text", "number", "textarea") and (
        _CAPTCHA_NAMES.search(control.name) or _CAPTCHA_NAMES.search(control.id)
    ):
        return Role("captcha", 0.95, "a captcha by its name")
    said = next((r for r in readings[:2] if r.concept == "captcha" and r.score >= _CAPTCHA_ENOUGH), None)
    if said:
        return Role("captcha", min(0.97, said.score), said.why)
    if _is_counter(control):
        return Role("ignore", 0.95, "a character counter")
    if meant and meant.concept == "ignore" and meant.score >= 0.6:
        return Role("ignore", meant.score, f"not ours to fill: {meant.why}")
    return None


def _is_counter(control: Control) -> bool:
    if control.type not in ("text", "number") or not control.value.strip().lstrip("-").isdigit():
        return False
    last = (name_tokens(control.name) or name_tokens(control.id) or ("",))[-1]
    return bool(_COUNTER.search(last)) or (
        not control.label and control.limit is not None and control.limit <= 4
    )


def _consent(question: Question, readings: tuple[Reading, ...]) -> Role | None:
    """Terms, newsletters and paid extras among single checkboxes, and the choice between kinds of listing."""
    if question.type != "checkbox" or question.group:
        return _listing_kind(question)
    text = spoken(question.asked)
    meant = {r.concept: r for r in readings}
    if priced(question.asked.label) or (cost(question.asked.label) is Cost.PAID and "terms" not in meant):
        return Role("link_type", 0.9, "a box that costs money")
    news, terms = meant.get("newsletter_optin"), meant.get("terms")
    if terms and spoken(question.asked) and not _in_own_words(question.asked, "terms"):
        terms = None  # a name that says "accept" is not enough where the label speaks of something else
    joined = news is not None and (terms is None or _in_own_words(question.asked, "newsletter_optin"))
    if news and terms and joined and question.required:
        return Role("terms", 0.6, f"{terms.why}, with a newsletter in the same box ({news.why})")
    if news and joined:
        return Role("newsletter_optin", 0.95, news.why)
    if terms and "ignore" not in meant:
        return Role("terms", 0.93, terms.why)
    if "ignore" in meant or says(text, frozenset({"remember me"})):
        return Role("ignore", 0.9, "not ours to set")
    return None


def _in_own_words(box: Control, concept: str) -> bool:
    """Whether a box's own label speaks of `concept`; what stands before it is rather its neighbour's."""
    own = [text for place, text in (*box.hints, ("label", box.label)) if place in _OWN]
    return any(s.concept == concept for text in own for m in vocabulary().find(text) for s in m.senses)


def _listing_kind(question: Question) -> Role | None:
    if question.type not in GROUPED | {"select-one"} or not is_link_type(question.options):
        return None
    return Role("link_type", 0.95, "its options differ in what a listing costs")
