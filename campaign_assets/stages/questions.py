"""What a form asks, question by question: a single control, or a group of radios or checkboxes that share one.

A text that all members of a group share is the question; what each says for itself is its option.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from campaign_assets.model import Control, Option
from campaign_assets.stages.folding import fold

BUTTONS = frozenset({"submit", "button", "image", "reset"})
GROUPED = frozenset({"radio", "checkbox"})
CHOICES = frozenset({"select-one", "select-multiple", "radio", "checkbox"})


@dataclass(frozen=True)
class Question:
    """One question of a form: `asked` is the control to read (for a group a stand-in that carries the shared
    texts)."""

    members: tuple[Control, ...]
    asked: Control

    @property
    def index(self) -> int:
        return self.members[0].index

    @property
    def type(self) -> str:
        return self.asked.type

    @property
    def group(self) -> bool:
        return len(self.members) > 1 or self.type == "radio"

    @property
    def required(self) -> bool:
        return any(c.required for c in self.members)

    @property
    def visible(self) -> bool:
        return any(c.visible for c in self.members)

    @property
    def options(self) -> tuple[Option, ...]:
        """The choices, with what each says; a group's in the order of its members."""
        if self.group:
            return tuple(
                Option(value=c.value, label=option_text(c, self), selected=c.checked) for c in self.members
            )
        return self.asked.options

    def index_at(self, position: int) -> int:
        """Index of the control that stands for one option: a member of a group, else the question's own control."""
        return self.members[position].index if self.group else self.index

    @property
    def words(self) -> str:
        """The question as a person would quote it."""
        texts = [
            self.asked.label,
            *(text for _, text in self.asked.hints),
            self.asked.placeholder,
            self.asked.name,
        ]
        said = " ".join(next((t for t in texts if t.strip()), "a control without a label").split())
        return said.strip(" *:＊：") or said


def questions(controls: Iterable[Control]) -> tuple[Question, ...]:
    """The questions among `controls` of one form; buttons and hidden inputs ask nothing."""
    groups: dict[tuple[str, str], list[Control]] = {}
    for control in _without_common_headings(
        [c for c in controls if c.type not in BUTTONS and c.type != "hidden"]
    ):
        alone = control.type not in GROUPED or not control.name
        key = (control.type, f"#{control.index}" if alone else control.name)
        groups.setdefault(key, []).append(control)
    return tuple(_question(tuple(members)) for members in groups.values())


def _without_common_headings(controls: Sequence[Control]) -> list[Control]:
    """A heading that stands over several controls is no label of any of them."""
    counts = Counter(text for c in controls for place, text in c.hints if place == "heading")
    kept = []
    for control in controls:
        hints = tuple(
            (p, t) for p, t in control.hints if p != "heading" or counts[t] == 1 or control.type in GROUPED
        )
        own = {text for _, text in hints}
        stray = (
            hints != control.hints
            and control.label in dict.fromkeys(t for _, t in control.hints)
            and control.label not in own
        )
        kept.append(control.model_copy(update={"hints": hints, "label": "" if stray else control.label}))
    return kept


def option_text(control: Control, question: Question) -> str:
    """What one member of a group says for itself."""
    shared = {fold(question.asked.label), *(fold(text) for _, text in question.asked.hints)}
    own = [
        text
        for text in (control.label, *(t for _, t in control.hints))
        if text.strip() and fold(text) not in shared
    ]
    return own[0] if own else control.label or control.value


def _question(members: tuple[Control, ...]) -> Question:
    if len(members) == 1:
        return Question(members, members[0])
    first = members[0]
    counts: dict[str, int] = {}
    for member in members:
        for mark in {fold(text) for _, text in member.hints}:
            counts[mark] = counts.get(mark, 0) + 1
    shared = tuple((place, text) for place, text in first.hints if counts[fold(text)] == len(members))
    label = shared[0][1] if shared else ""
    return Question(
        members, first.model_copy(update={"label": label, "hints": shared, "placeholder": "", "id": ""})
    )
