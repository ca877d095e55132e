"""The small parts a directory is composed of, as plain data: controls, forms, doors, replies, listings, kinds, sites.

Owns the vocabulary only. Which parts make up a kind stands in `kinds`, which kind a host plays in `sites` and
`crowd`, and what happens on a request in `directory`. Nothing here does I/O.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

Layout = Literal["stacked", "wrapped", "table", "placeholder", "heading", "wrong-for"]
Concealment = Literal["", "display", "offscreen", "class", "clip", "size"]
Door = Literal[
    "open", "silent", "dropped", "failing", "blocked", "throttled", "parked", "sold", "renamed", "www", "looping",
    "huge", "gone",
]  # fmt: skip
FormDoor = Literal["open", "slow", "failing", "login", "closed", "priced", "missing", "embedded"]
Outcome = Literal["stored", "refused", "duplicate", "boasting"]
Receipt = Literal["page", "redirect", "link", "nothing"]
Moderation = Literal["none", "later", "never", "email"]


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a select or a radio group. Choosing a `paid` one is a violation."""

    value: str
    label: str
    paid: bool = False


@dataclass(frozen=True, slots=True)
class Control:
    """One control of a form, with its answer key.

    `field` is the profile's field it asks for, or a role (honeypot, csrf, ignore, newsletter_optin, captcha), or None
    for a question that no profile answers. An empty `label` means: the language's own word for the field.
    `least` and `most` are the limits the server enforces, in characters; they need not agree with what the page says.
    """

    name: str
    field: str | None
    type: str = "text"
    label: str = ""
    required: bool = False
    maxlength: int | None = None
    placeholder: str = ""
    value: str = ""
    hint: str = ""
    options: tuple[Option, ...] = ()
    concealed: Concealment = ""
    counter: bool = False
    styled: bool = False
    least: int = 0
    most: int = 0

    def but(self, **changes: object) -> Control:
        """The same control with some attributes changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Button:
    """A submit button; pressing a `paid` one is a violation. An empty label means the language's own word."""

    label: str = ""
    name: str = ""
    value: str = ""
    paid: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """The submission form of a directory and how the page around it is made."""

    controls: tuple[Control, ...]
    layout: Layout = "stacked"
    made_by: Literal["server", "script"] = "server"
    inputs: Literal["plain", "reverting"] = "plain"
    sends: Literal["navigation", "sentence", "toast", "alert"] = "navigation"
    buttons: tuple[Button, ...] = (Button(),)
    captcha: Literal["", "widget", "image", "sum"] = ""
    beside: tuple[Literal["search", "login", "newsletter"], ...] = ()
    intro: str = ""

    @property
    def multipart(self) -> bool:
        """Whether it uploads a file."""
        return any(control.type == "file" for control in self.controls)

    def control(self, field: str) -> Control | None:
        """The first control that asks for `field`."""
        return next((control for control in self.controls if control.field == field), None)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a directory does with a complete, valid submission.

    `refused`: status `status` with `complaint` as its text. `boasting`: says submitted on a 500 and stores nothing.
    `slow`: the answer takes as long as the server's slowness. `receipt` is how success is told.
    """

    outcome: Outcome = "stored"
    receipt: Receipt = "page"
    moderation: Moderation = "none"
    slow: bool = False
    status: int = 422
    complaint: str = ""


@dataclass(frozen=True, slots=True)
class Show:
    """How a listing links to the business."""

    rel: str = "noopener"
    wrapped: bool = False
    noindex: bool = False


@dataclass(frozen=True, slots=True)
class Expect:
    """Where a campaign is expected to end for a site: the last stage reached, its state, the reason's family."""

    stage: str
    state: str
    reason: str


LIVE = Expect("monitoring", "succeeded", "listed")


@dataclass(frozen=True, slots=True)
class Kind:
    """One behaviour, composed of parts. `says` describes it in a sentence for people."""

    name: str
    says: str
    expect: Expect = LIVE
    form: Form | None = None
    door: Door = "open"
    form_door: FormDoor = "open"
    reply: Reply = field(default_factory=Reply)
    show: Show = field(default_factory=Show)
    robots: Literal["open", "forbidden"] = "open"
    cookie_banner: bool = False
    knows_everybody: bool = False


@dataclass(frozen=True, slots=True)
class Business:
    """An invented business that is listed already, or any other that a visitor can be sent to."""

    name: str
    url: str
    sentence: str

    @property
    def host(self) -> str:
        return canonical(self.url)

    @property
    def slug(self) -> str:
        return slug(self.name)


@dataclass(frozen=True, slots=True)
class Theme:
    """What a directory is about: its prose, its categories and who is listed on it."""

    name: str
    language: str
    tagline: str
    paragraphs: tuple[str, ...]
    categories: tuple[str, ...]
    listed: tuple[Business, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """One directory: a host that plays a kind, with a theme, a language and the link to its submit page."""

    host: str
    kind: Kind
    name: str
    theme: Theme
    language: str
    submit_label: str
    submit_path: str
    listing_path: str
    expect: Expect
    moved_to: str = ""

    @property
    def form(self) -> Form:
        """The form of a kind that has one; LookupError otherwise."""
        if self.kind.form is None:
            raise LookupError(f"{self.host} ({self.kind.name}) has no form")
        return self.kind.form


def slug(text: str) -> str:
    """Lower-case letters and digits of any script, joined by hyphens: the last part of a listing's path."""
    words = "".join(char if char.isalnum() else " " for char in text.casefold()).split()
    return "-".join(words) or "entry"


def canonical(address: str) -> str:
    """The canonical host of an address as somebody typed it: no scheme, port, path or `www.`; empty for nothing.

    A host in another script comes as browsers send it, in punycode.
    """
    rest = address.strip().rpartition("://")[2]
    for end in "/?#":
        rest = rest.partition(end)[0]
    host = rest.rpartition("@")[2].partition(":")[0].rstrip(".").lower()
    return _ascii(host.removeprefix("www."))


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host
