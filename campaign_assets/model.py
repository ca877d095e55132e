"""The words of the project as types: keys, the business profile, units, outcomes, the result of each stage, forms.

Everything that is stored is a frozen pydantic model that round-trips through JSON; what only lives in a worker is
a dataclass.
Nothing here does I/O.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple, TypeVar
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from campaign_assets.errors import InputError
from campaign_assets.states import Stage, State, Verdict

R = TypeVar("R", bound="Stored")
_TENANTS = UUID("6f1d3c1e-6c2b-4f0e-9d0a-5f6b8e1f7a31")
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def slug(text: str, what: str) -> str:
    """`text` if it can be a tenant's or a campaign's slug; InputError otherwise."""
    if not _SLUG.fullmatch(text):
        raise InputError(
            f"{what} {text!r} is not a slug: use lower-case letters, digits and hyphens, at most 63, "
            "starting with a letter or digit."
        )
    return text


def tenant_id(tenant: str) -> UUID:
    """A tenant's id follows from its slug, so that it can be bound without a look into anybody's rows."""
    return uuid5(_TENANTS, tenant)


class Key(NamedTuple):
    """One publisher of one campaign: the partition key `tenant/campaign/site`. A site may itself contain slashes."""

    tenant: str
    campaign: str
    site: str

    def __str__(self) -> str:
        return "/".join(self)

    @classmethod
    def parse(cls, text: str) -> Key:
        parts = text.split("/", 2)
        if len(parts) != 3 or not all(parts):
            raise InputError(
                f"{text!r} is not a publisher's key; it reads tenant/campaign/site, "
                "for example acme/launch/tools.example."
            )
        return cls(*parts)


class Stored(BaseModel):
    """Base of everything that is stored as JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# ---------------------------------------------------------------------------------------------- business and campaign

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Address(Stored):
    street: Text
    street2: Text | None = None
    city: Text
    state: Text | None = None
    postal_code: Text | None = None
    country: Text
    """ISO 3166 two-letter code."""


class Contact(Stored):
    """The person who stands for the business towards a directory."""

    first_name: Text
    last_name: Text
    email: Text
    phone: Text | None = None


class Business(Stored):
    """The facts of one business: the only source of everything that is ever typed into a form.

    Its YAML form is described by `Business.model_json_schema()`; `stages.content` writes from nothing else.
    """

    name: Text
    url: Text
    tagline: Annotated[Text, StringConstraints(max_length=160)]
    short_description: Annotated[Text, StringConstraints(min_length=40, max_length=300)]
    description: Annotated[Text, StringConstraints(min_length=120, max_length=6000)]
    features: tuple[Text, ...] = ()
    audience: Text | None = None
    categories: tuple[Text, ...] = Field(min_length=1)
    """Most fitting first."""
    tags: tuple[Text, ...] = Field(min_length=1)
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")] = "en"
    languages: tuple[Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")], ...] = ()
    """Further languages the business serves."""
    countries: tuple[Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")], ...] = ()
    """Countries it serves; empty: everywhere."""
    pricing: Literal["free", "freemium", "paid", "free trial", "open source"] | None = None
    founded_year: Annotated[int, Field(ge=1800, le=2100)] | None = None
    founded_date: Text | None = None
    email: Text
    """The business's public address."""
    phone: Text | None = None
    fax: Text | None = None
    address: Address | None = None
    contact: Contact
    logo: Text | None = None
    """Path of an image file, relative to the profile."""
    screenshot: Text | None = None
    logo_url: Text | None = None
    image_url: Text | None = None
    screenshot_url: Text | None = None
    video_url: Text | None = None
    rss_url: Text | None = None
    social: Mapping[Literal["twitter", "facebook", "linkedin", "instagram", "youtube", "other"], Text] = (
        Field(default_factory=dict)
    )
    reciprocal_urls: Mapping[str, Text] = Field(default_factory=dict)
    """By publisher's site: the page of ours that carries its link."""
    accept_terms: bool = False
    """The operator accepts the usual terms of directories for this business."""
    answers: Mapping[str, Text] = Field(default_factory=dict)
    """Further facts by question, for the rare questions that no field covers."""


class Approval(StrEnum):
    """Which payloads a human sees before they are filed."""

    EACH = "each"
    BY_EXCEPTION = "by_exception"
    AUTOMATIC = "automatic"


class CampaignSettings(Stored):
    """What an operator sets for one campaign."""

    approval: Approval = Approval.BY_EXCEPTION
    bar: Annotated[int, Field(ge=0, le=100)] = 35
    """Publishers that score below are rejected."""
    sure_above: Annotated[float, Field(ge=0, le=1)] = 0.75
    """Approval by exception lets a payload pass whose least confident control is at least this sure."""


# ------------------------------------------------------------------------------------------------------ units, outcomes


class Reason(StrEnum):
    """Why a unit is not simply succeeded. The sentence beside it is the outcome's detail."""

    DNS_FAILURE = "dns_failure"
    TLS_FAILURE = "tls_failure"
    CONNECTION_FAILED = "connection_failed"
    ADDRESS_REFUSED = "address_refused"
    SERVER_ERROR = "server_error"
    NOT_FOUND = "not_found"
    BLOCKED = "blocked"
    RATE_LIMITED = "rate_limited"
    ROBOTS_FORBIDDEN = "robots_forbidden"
    REDIRECT_LOOP = "redirect_loop"
    TOO_LARGE = "too_large"
    NOT_HTML = "not_html"
    PARKED = "parked"
    SOLD = "sold"
    CLOSED = "closed"
    MERGED = "merged"
    NO_SUBMIT_PAGE = "no_submit_page"
    BELOW_BAR = "below_bar"
    NO_FORM = "no_form"
    FORM_CHANGED = "form_changed"
    LIMIT_TOO_SMALL = "limit_too_small"
    CAPTCHA = "captcha"
    LOGIN_REQUIRED = "login_required"
    PAYMENT_REQUIRED = "payment_required"
    RECIPROCAL_REQUIRED = "reciprocal_required"
    TERMS_NOT_ACCEPTED = "terms_not_accepted"
    UNANSWERABLE_QUESTION = "unanswerable_question"
    UNSURE = "unsure"
    APPROVAL = "approval"
    MODERATION = "moderation"
    EMAIL_CONFIRMATION = "email_confirmation"
    FILING_OPEN_ELSEWHERE = "filing_open_elsewhere"
    REFUSED_VALUE = "refused_value"
    REFUSED_SITE = "refused_site"
    NOT_SENT = "not_sent"
    UNKNOWN_VERDICT = "unknown_verdict"
    NOT_LISTED = "not_listed"
    DEADLINE = "deadline"
    PAGE_LIMIT = "page_limit"
    WORKER_DIED = "worker_died"
    ERROR = "error"
    HUMAN = "human"


class Evidence(Stored):
    """A screenshot or a document kept for a unit; its bytes lie in CAMPAIGN_HOME under `path`."""

    kind: str
    """`before`, `after`, `form`, `listing`, `document` …"""
    path: str
    """Relative to CAMPAIGN_HOME."""
    media_type: str
    sha256: str
    size: int


class OutcomeKind(StrEnum):
    SUCCEED = "succeed"
    REJECT = "reject"
    HOLD = "hold"
    FAIL = "fail"
    RETRY = "retry"
    WAIT = "wait"
    FACT = "fact"
    RELEASE = "release"


@dataclass(frozen=True)
class Outcome:
    """What a stage body returns for one unit. Built by the constructors only, so that no illegal combination exists."""

    kind: OutcomeKind
    reason: Reason | None = None
    detail: str = ""
    result: StageResult | None = None
    evidence: tuple[Evidence, ...] = ()
    after: float | None = None
    verdict: Verdict | None = None

    @classmethod
    def succeed(cls, result: StageResult, detail: str, evidence: tuple[Evidence, ...] = ()) -> Outcome:
        return cls(OutcomeKind.SUCCEED, None, detail, result, evidence)

    @classmethod
    def reject(
        cls,
        reason: Reason,
        detail: str,
        result: StageResult | None = None,
        evidence: tuple[Evidence, ...] = (),
    ) -> Outcome:
        """Settled: this publisher is not for this campaign."""
        return cls(OutcomeKind.REJECT, reason, detail, result, evidence)

    @classmethod
    def hold(
        cls,
        reason: Reason,
        detail: str,
        result: StageResult | None = None,
        evidence: tuple[Evidence, ...] = (),
    ) -> Outcome:
        """A human has to settle it; `detail` says what would."""
        return cls(OutcomeKind.HOLD, reason, detail, result, evidence)

    @classmethod
    def fail(cls, reason: Reason, detail: str, evidence: tuple[Evidence, ...] = ()) -> Outcome:
        """Failed for good: another try would not help."""
        return cls(OutcomeKind.FAIL, reason, detail, None, evidence)

    @classmethod
    def retry(
        cls, reason: Reason, detail: str, after: float | None = None, evidence: tuple[Evidence, ...] = ()
    ) -> Outcome:
        """Failed this time; the policy decides whether there is another. `after`: at least so many seconds from now."""
        return cls(OutcomeKind.RETRY, reason, detail, None, evidence, after)

    @classmethod
    def wait(
        cls, reason: Reason, detail: str, after: float | None = None, result: StageResult | None = None
    ) -> Outcome:
        """Nothing is wrong, only time is missing; no attempt is charged. `after` None: the policy's recheck."""
        return cls(OutcomeKind.WAIT, reason, detail, result, (), after)

    @classmethod
    def fact(
        cls,
        verdict: Verdict,
        detail: str,
        result: SubmissionResult | None,
        evidence: tuple[Evidence, ...] = (),
        reason: Reason | None = None,
    ) -> Outcome:
        """Submission only: what became of an armed filing. Never `not_sent`: that is a retry or a failure."""
        return cls(OutcomeKind.FACT, reason, detail, result, evidence, None, verdict)

    @classmethod
    def release(cls) -> Outcome:
        """Not worked on, or put back by a stop."""
        return cls(OutcomeKind.RELEASE)


@dataclass(frozen=True)
class Unit:
    """One claimed unit as a stage body sees it: everything it may know, nothing it could write."""

    id: int
    publisher_id: int
    campaign_id: UUID
    key: Key
    stage: Stage
    claim: UUID
    epoch: int
    run_id: str
    attempts: int
    """Charged before this try."""
    waits: int
    alone: bool
    """Its last worker died with it: it is tried with nothing beside it."""
    url: str
    """The publisher's address as the source gave it, completed."""
    name: str
    business: Business
    settings: CampaignSettings
    upstream_version: int
    """Version of the upstream result this try consumes; 0 for discovery."""
    results: Mapping[Stage, StageResult] = field(default_factory=dict)
    """Latest result of each earlier stage (and this stage's own last one)."""
    corrections: Mapping[str, str] = field(default_factory=dict)
    """A human's values by profile field, for this publisher; they beat everything else."""
    approved_payload: str | None = None
    """Hash of the payload a human approved."""
    filing: Filing | None = None
    """Submission: the filing this claim opened. Confirmation and monitoring: the one that stands."""

    def result(self, of: type[R]) -> R:
        """The result of an earlier stage by its type; LookupError where it is missing, which promotion rules out."""
        for value in self.results.values():
            if isinstance(value, of):
                return value
        raise LookupError(f"{self.key} has no {of.__name__} at {self.stage}")


class Filing(Stored):
    """One submission's record as stages read it."""

    id: int
    target: str
    """Registrable domain of the business's site."""
    site: str
    phase: Literal["claimed", "armed", "answered"]
    verdict: Verdict | None = None
    detail: str = ""
    payload_hash: str | None = None
    receipt_url: str | None = None
    claimed_at: datetime
    armed_at: datetime | None = None
    answered_at: datetime | None = None


# ------------------------------------------------------------------------------------------------------------ the form


class Option(Stored):
    """One choice of a select or a radio group."""

    value: str
    label: str
    selected: bool = False
    disabled: bool = False


class Control(Stored):
    """One control of a rendered document, as a person and a browser see it."""

    index: int
    """Counts input, select, textarea, button over the whole document, in document order, from 0."""
    tag: Literal["input", "select", "textarea", "button"]
    type: str
    """The DOM property: text, email, checkbox, radio, select-one, textarea, submit …"""
    name: str = ""
    id: str = ""
    form: int | None = None
    """Index of the owner form (`el.form`); None outside every form."""
    visible: bool = True
    concealment: str = ""
    """Why a person cannot see it, where one cannot."""
    label: str = ""
    """The best label text found."""
    hints: tuple[tuple[str, str], ...] = ()
    """Every text that speaks about it, with where it stands: (`for`, …), (`wrap`, …), (`cell`, …) …"""
    required: bool = False
    limit: int | None = None
    """Smallest maximum in UTF-16 units, from maxlength or from words such as "max 65 characters"."""
    minimum: int | None = None
    pattern: str | None = None
    options: tuple[Option, ...] = ()
    value: str = ""
    checked: bool = False
    accept: str = ""
    autocomplete: str = ""
    placeholder: str = ""
    frame: str = ""
    """URL of the frame it lives in; empty for the top document."""


class Form(Stored):
    """One form of a document."""

    index: int
    action: str
    method: str
    heading: str = ""
    visible: bool = True
    obstacles: tuple[tuple[str, str], ...] = ()
    """(reason code, what was seen) of what only a human can do in this form: (`captcha`, `hCaptcha`) …"""


class FormDocument(Stored):
    """A rendered document's forms: the form model. Two readings of the same form have the same `fingerprint`."""

    url: str
    title: str = ""
    language: str = ""
    forms: tuple[Form, ...] = ()
    controls: tuple[Control, ...] = ()
    text: str = ""
    """Visible text, shortened."""
    obstacles: tuple[str, ...] = ()
    """Reason codes seen in the document: captcha, login_required, payment_required, closed …"""

    def fingerprint(self, form: int) -> str:
        """Hash over the names, types and options of a form's controls; what changes it makes a stored mapping stale.

        -1 stands for the controls outside every form.
        """
        owner = None if form < 0 else form
        parts = [
            [c.tag, c.type, c.name, c.required, [o.value for o in c.options]]
            for c in self.controls
            if c.form == owner and c.type != "hidden"
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


class Action(StrEnum):
    FILL = "fill"
    CHOOSE = "choose"
    CHECK = "check"
    UPLOAD = "upload"
    LEAVE = "leave"
    CLICK = "click"
    HUMAN = "human"


class MappedControl(Stored):
    """The mapper's word on one control."""

    index: int
    name: str
    type: str
    field: str | None
    """A profile field, or a role: captcha, honeypot, csrf, submit, ignore; None: an unanswerable question."""
    action: Action
    confidence: float
    why: str


# ----------------------------------------------------------------------------------------------------- results by stage


class DiscoveryResult(Stored):
    kind: Literal["discovery"] = "discovery"
    final_url: str
    site: str
    """The canonical site after redirects: what the guard goes by."""
    status: int
    title: str = ""
    language: str = ""
    text: str = ""
    """Readable text of the home page, at most 4,000 characters."""
    outgoing_links: int = 0
    https: bool = False
    submit_url: str
    submit_found: str
    """How the submit page was found, in words."""
    robots: str = "allowed"


class Signal(Stored):
    """One readable reason of a score."""

    name: str
    value: float
    """0 to 1."""
    weight: float
    sentence: str


class ScoringResult(Stored):
    kind: Literal["scoring"] = "scoring"
    score: int
    bar: int
    signals: tuple[Signal, ...]


class FormMappingResult(Stored):
    kind: Literal["form_mapping"] = "form_mapping"
    document: FormDocument
    form: int | None
    """The submission form's index; -1: the controls outside every form; None: none, only obstacles (a login)."""
    fingerprint: str
    controls: tuple[MappedControl, ...]
    """Every control of the document, in document order."""
    obstacles: tuple[Obstacle, ...] = ()


class Obstacle(Stored):
    """Something only a human can settle, found while reading a form; preflight holds on it."""

    reason: Reason
    sentence: str


class WrittenText(Stored):
    index: int
    """The control it is written for."""
    field: str
    value: str
    limit: int | None = None
    source: str
    """Which profile field, or human correction, it was written from."""


class ContentResult(Stored):
    kind: Literal["content"] = "content"
    texts: tuple[WrittenText, ...]


class Entry(Stored):
    """One control of the payload: what will be done to it, and where the value comes from."""

    index: int
    name: str
    type: str
    field: str
    action: Action
    value: str
    """Text to fill; the option's value to choose; `on` to check; the file's path to upload."""
    source: str
    confidence: float = 1.0


class Payload(Stored):
    """Exactly what will be filed."""

    url: str
    form: int
    fingerprint: str
    entries: tuple[Entry, ...]
    submit: int
    """Index of the control that is pressed."""

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class Check(Stored):
    name: str
    passed: bool
    sentence: str


class PreflightResult(Stored):
    kind: Literal["preflight"] = "preflight"
    payload: Payload | None
    """None only where the site already lists the business."""
    payload_hash: str
    checks: tuple[Check, ...]
    existing_listing: str | None = None


class SubmissionResult(Stored):
    kind: Literal["submission"] = "submission"
    verdict: Verdict
    sentence: str
    posts: int = 0
    """Non-GET requests the click caused."""
    status: int | None = None
    final_url: str = ""
    receipt_url: str | None = None
    payload_hash: str | None = None


class ConfirmationResult(Stored):
    kind: Literal["confirmation"] = "confirmation"
    listing_url: str
    found_by: str
    link_url: str | None = None
    rel: str = ""


class MonitoringResult(Stored):
    kind: Literal["monitoring"] = "monitoring"
    listing_url: str
    present: bool
    rel: str = ""
    followed: bool = False
    indexable: bool = True
    differences: tuple[str, ...] = ()
    """Name, address, phone, link as they differ from the profile, each a sentence."""
    misses: int = 0
    """Looks in a row that did not see the link."""
    changes: tuple[str, ...] = ()
    """What changed since the last look."""


StageResult = (
    DiscoveryResult
    | ScoringResult
    | FormMappingResult
    | ContentResult
    | PreflightResult
    | SubmissionResult
    | ConfirmationResult
    | MonitoringResult
)

RESULT_TYPES: dict[Stage, type[Stored]] = {
    Stage.DISCOVERY: DiscoveryResult,
    Stage.SCORING: ScoringResult,
    Stage.FORM_MAPPING: FormMappingResult,
    Stage.CONTENT: ContentResult,
    Stage.PREFLIGHT: PreflightResult,
    Stage.SUBMISSION: SubmissionResult,
    Stage.CONFIRMATION: ConfirmationResult,
    Stage.MONITORING: MonitoringResult,
}

FormMappingResult.model_rebuild()


# ------------------------------------------------------------------------------------------------------------- sources


class SourceEntry(NamedTuple):
    """One publisher as a source names it."""

    site: str
    url: str
    line: int
    name: str


class RejectedLine(NamedTuple):
    """A line of a source that yields no publisher, and why."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True)
class UnitRow:
    """A unit as readers (status, units, attention, publication) see it."""

    id: int
    key: Key
    stage: Stage
    state: State
    reason: str | None
    detail: str
    attempts: int
    epoch: int
    due_at: datetime | None
    since: datetime
    revision: int
    run_id: str | None
