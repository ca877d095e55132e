"""Assembling the payload: what will be done to each control, with where the value comes from. Pure and
deterministic.

The same mapping, texts, profile and corrections give the same payload, byte for byte: its hash is what a
human approves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from campaign_assets.model import (
    Action,
    Business,
    ContentResult,
    Control,
    Entry,
    FormMappingResult,
    MappedControl,
    Obstacle,
    Payload,
    Reason,
    Unit,
    WrittenText,
)
from campaign_assets.stages.choices import closeness, closest, closest_pricing, free_choice, is_placeholder
from campaign_assets.stages.content import WRITTEN, write
from campaign_assets.stages.form_choice import owner_of
from campaign_assets.stages.mapper import answer_for, decide
from campaign_assets.stages.obstacles import informed, obstacles
from campaign_assets.stages.questions import CHOICES, Question, questions
from campaign_assets.stages.values import Value, country_names, language_names, value_of
from campaign_assets.stages.writer import Room

LATE = "the closest option once the form has filled the list"
"""Source of a choice whose options appear only after another one was made; its value is what is wanted."""

_OFF = "off"


@dataclass(frozen=True)
class Assembled:
    """A payload with what stands against it. `payload` None: there is no form or no button to press."""

    payload: Payload | None
    obstacles: tuple[Obstacle, ...]
    unanswered: tuple[Question, ...]
    """Required questions without an entry that no obstacle names."""
    asked: tuple[Question, ...]


def assemble(unit: Unit) -> Assembled:
    """The payload for a unit whose mapping and texts are there."""
    mapping, texts = unit.result(FormMappingResult), unit.result(ContentResult)
    business = informed(unit.business, unit.corrections)
    own = [c for c in mapping.document.controls if mapping.form is not None and owner_of(c) == mapping.form]
    asked = questions(own)
    words = _reconsidered(mapping, asked, business)
    found = obstacles(mapping.document, mapping.form, asked, words, None, business, unit.key.site)
    found += tuple(
        o
        for o in mapping.obstacles
        if o.reason in (Reason.NO_FORM, Reason.PAYMENT_REQUIRED) and o not in found
    )
    found = tuple(o for o in found if not _settled(o, unit.corrections))
    written = {text.index: text for text in texts.texts}
    maker = _Maker(unit, business, words, written)
    by_question = [(q, tuple(maker.entries(q))) for q in asked if q.visible]
    submit = next((m.index for m in mapping.controls if m.action is Action.CLICK), None)
    entries = tuple(sorted((e for _, es in by_question for e in es), key=lambda e: e.index))
    payload = None
    if mapping.form is not None and submit is not None:
        payload = Payload(
            url=mapping.document.url,
            form=mapping.form,
            fingerprint=mapping.fingerprint,
            entries=entries,
            submit=submit,
        )
    return Assembled(payload, found, tuple(q for q, es in by_question if _open(q, es, words)), asked)


def _reconsidered(
    mapping: FormMappingResult, asked: tuple[Question, ...], business: Business
) -> dict[int, MappedControl]:
    words = {m.index: m for m in mapping.controls}
    for question in asked:
        for member in question.members:
            words[member.index] = decide(question, words[member.index], business)
    return words


def _settled(obstacle: Obstacle, corrections: Mapping[str, str]) -> bool:
    return obstacle.reason is Reason.RECIPROCAL_REQUIRED and "reciprocal_url" in corrections


def _open(question: Question, entries: tuple[Entry, ...], words: Mapping[int, MappedControl]) -> bool:
    """Whether a required question stays without an answer. Traps and prefilled or ticked controls want none."""
    mapped = words[question.index]
    if (
        not question.required
        or entries
        or mapped.field in ("honeypot", "csrf", "ignore", "captcha", "password", "link_type")
    ):
        return False
    if mapped.action is Action.HUMAN or mapped.field == "reciprocal_url":
        return False  # an obstacle names it
    return not _holds_something(question)


def _holds_something(question: Question) -> bool:
    if question.type in ("checkbox", "radio"):
        return any(c.checked for c in question.members)
    if question.type.startswith("select"):
        return any(o.selected and not is_placeholder(o) for o in question.options)
    return False


def fits(control: Control, text: str) -> bool:
    """Whether a control takes a text as it is; where it is not asked for, what does not fit is left out."""
    room = Room(control.limit, control.minimum, control.type == "textarea")
    return room.holds(text) and matches(control.pattern, text)


def matches(pattern: str | None, value: str) -> bool:
    """Whether a browser's pattern accepts a value; one that Python cannot read is left to the browser."""
    try:
        return not pattern or re.fullmatch(pattern, value) is not None
    except re.error:
        return True


@dataclass(frozen=True)
class _Maker:
    unit: Unit
    business: Business
    words: Mapping[int, MappedControl]
    written: Mapping[int, WrittenText]

    def entries(self, question: Question) -> Iterator[Entry]:
        """What is done for one question: nothing, one entry, or a box cleared that must not stay ticked."""
        mapped = self.words[question.index]
        if mapped.field in ("newsletter_optin", "ignore") or (
            mapped.field == "link_type" and question.type == "checkbox"
        ):
            yield from self._cleared(question, mapped)
        elif mapped.field == "link_type":
            yield from self._free(question)
        elif mapped.field == "terms":
            if mapped.action is Action.CHECK:
                yield self._entry(question.asked, mapped, Action.CHECK, Value("on", "accept_terms"))
        elif mapped.action in (Action.FILL, Action.CHOOSE, Action.CHECK, Action.UPLOAD):
            yield from self._answered(question, mapped)

    def _cleared(self, question: Question, mapped: MappedControl) -> Iterator[Entry]:
        for control in question.members:
            if (
                control.type == "checkbox"
                and control.checked
                and mapped.field in ("newsletter_optin", "link_type")
            ):
                yield self._entry(
                    control, mapped, Action.CHECK, Value(_OFF, "never joined or paid for by machine")
                )

    def _free(self, question: Question) -> Iterator[Entry]:
        position = free_choice(question.options).position
        if position is not None:
            control = question.members[position] if question.group else question.asked
            yield self._entry(
                control,
                self.words[control.index],
                Action.CHOOSE,
                Value(question.options[position].value, "the free kind of listing"),
            )

    def _answered(self, question: Question, mapped: MappedControl) -> Iterator[Entry]:
        if mapped.field is None:
            known = answer_for(question, self.business.answers)
            value = Value(known[1], f"answers: {known[0]}") if known else None
        elif mapped.field in WRITTEN:
            yield from self._from_text(question, mapped)
            return
        else:
            value = value_of(
                mapped.field, question.asked, self.business, self.unit.key.site, self.unit.corrections
            )
        if value is None:
            return
        if question.type in CHOICES:
            yield from self._chosen(question, mapped, value)
        elif question.type == "file":
            yield self._entry(question.asked, mapped, Action.UPLOAD, value)
        elif question.required or fits(question.asked, value.text):
            yield self._entry(question.asked, mapped, Action.FILL, value)

    def _from_text(self, question: Question, mapped: MappedControl) -> Iterator[Entry]:
        """What content has written or chosen, or a later correction; a list that is still empty is chosen
        from when it is filled."""
        texts = self.written
        if mapped.field and mapped.field in self.unit.corrections:
            corrected = write(question, mapped.field, self.unit)
            texts = {corrected.index: corrected} if corrected else {}
        for control in question.members:
            text = texts.get(control.index)
            if text is not None and question.type in CHOICES:
                yield self._option(
                    control, mapped, Value(text.value, text.source), self._closeness(question, text)
                )
            elif text is not None:
                yield self._entry(control, mapped, Action.FILL, Value(text.value, text.source))
        if question.type == "select-one" and all(is_placeholder(o) for o in question.options):
            wanted = self.unit.corrections.get(str(mapped.field)) or self.business.categories[0]
            yield self._entry(question.asked, mapped, Action.CHOOSE, Value(wanted, LATE))

    def _closeness(self, question: Question, text: WrittenText) -> float:
        label = next((o.label for o in question.options if o.value == text.value), "")
        wanted = [self.unit.corrections.get(text.field, ""), *self.business.categories, *self.business.tags]
        near = max(closeness(label, want) for want in wanted)
        return 0.6 if near < 0.6 else 0.5 + near / 2

    def _chosen(self, question: Question, mapped: MappedControl, value: Value) -> Iterator[Entry]:
        position = self._position(question, mapped, value)
        if position is not None:
            control = question.members[position] if question.group else question.asked
            yield self._option(control, mapped, Value(question.options[position].value, value.source), 0.95)

    def _position(self, question: Question, mapped: MappedControl, value: Value) -> int | None:
        options = question.options
        if mapped.field == "pricing" and value.text in (
            "free",
            "freemium",
            "paid",
            "free trial",
            "open source",
        ):
            return closest_pricing(options, value.text)
        names = [value.text]
        if mapped.field == "country" and self.business.address and value.source == "address.country":
            names = list(country_names(self.business.address.country))
        elif mapped.field == "language" and value.source == "language":
            names = list(language_names(self.business.language))
        exact = {n.casefold() for n in names}
        for position, option in enumerate(options):
            if not is_placeholder(option) and {option.label.casefold(), option.value.casefold()} & exact:
                return position
        best = closest(options, names[:3])
        return best.position if best and best.closeness >= _SURE_OPTION else None

    def _option(self, control: Control, mapped: MappedControl, value: Value, sure: float) -> Entry:
        """A choice: a select or radio is chosen, one box of a group is ticked."""
        surest = mapped.model_copy(update={"confidence": min(mapped.confidence, round(sure, 2))})
        if control.type == "checkbox":
            return self._entry(control, surest, Action.CHECK, Value("on", value.source))
        return self._entry(control, surest, Action.CHOOSE, value)

    def _entry(self, control: Control, mapped: MappedControl, action: Action, value: Value) -> Entry:
        return Entry(
            index=control.index,
            name=control.name,
            type=control.type,
            field=mapped.field or "answer",
            action=action,
            value=value.text,
            source=value.source,
            confidence=mapped.confidence,
        )


_SURE_OPTION = 0.8
