"""Form mapping on every kind of form of the sandbox, in a real browser, judged by the sandbox's answer key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign_assets.model import Action, FormMappingResult, Outcome, OutcomeKind, Reason
from campaign_assets.sandbox.parts import Site
from campaign_assets.sandbox.sites import named_sites, site_for
from campaign_assets.stages.form_mapping import embedded_provider, form_mapping, promising_link
from campaign_assets_tests.filing_road import Road, road
from campaign_assets_tests.sandbox_fixture import Sandbox, sandbox

__all__ = ["sandbox"]

ALIKE = ({"name", "title"},)
UNTOUCHED = {"honeypot", "ignore", "csrf", "newsletter_optin", "captcha", None}
Walk = tuple[Road, asyncio.Runner]


@pytest.fixture(scope="module")
def walk(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with road(sandbox.resolve, tmp_path_factory.mktemp("road")) as made:
        yield made


def mapped(walk: Walk, *hosts: str) -> dict[str, Outcome]:
    """The outcome of form mapping for each host, three at a time."""
    walker, runner = walk
    found: dict[str, Outcome] = {}
    places = asyncio.Semaphore(3)

    async def one(host: str) -> None:
        async with places:
            found[host] = await form_mapping(walker.unit(host), walker.tools())

    async def all_of_them() -> None:
        await asyncio.gather(*(one(host) for host in hosts))

    runner.run(all_of_them())
    return found


def result_of(outcome: Outcome) -> FormMappingResult:
    assert isinstance(outcome.result, FormMappingResult), outcome
    return outcome.result


def one_of_each_kind() -> list[Site]:
    """A directory for each kind of form, and one for each language."""
    sites = {
        (s.kind.form, s.language): s
        for s in named_sites()
        if s.kind.form and s.kind.door == "open" and s.kind.form_door == "open"
    }
    return list(sites.values())


def test_every_control_of_every_form_is_what_its_key_says(walk: Walk) -> None:
    sites = one_of_each_kind()
    wrong = []
    for site in sites:
        assert site.form is not None
    found = mapped(walk, *(s.host for s in sites))
    for site in sites:
        result = result_of(found[site.host])
        keys = {c.name: c.field for c in site.form.controls}
        for control, word in zip(result.document.controls, result.controls, strict=True):
            if control.form != result.form or control.name not in keys:
                continue
            key = keys[control.name]
            if word.field != key and {word.field, key} not in ALIKE:
                wrong.append(f"{site.host}: {control.name} is {key}, mapped as {word.field} ({word.why})")
            if key in UNTOUCHED and word.action not in (Action.LEAVE, Action.HUMAN):
                wrong.append(f"{site.host}: {control.name} ({key}) would be touched: {word.action}")
            if not control.visible and word.action is not Action.LEAVE:
                wrong.append(f"{site.host}: {control.name} is invisible and would be touched")
    assert not wrong, "\n".join(wrong)


def test_controls_outside_the_submission_form_are_left(walk: Walk) -> None:
    result = result_of(mapped(walk, "sitefinder.example")["sitefinder.example"])
    others = [
        w for c, w in zip(result.document.controls, result.controls, strict=True) if c.form != result.form
    ]
    assert others
    assert {w.action for w in others} == {Action.LEAVE}


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("robotmarket.example", Reason.CAPTCHA),
        ("codebreaker.example", Reason.CAPTCHA),
        ("sumcheck.example", Reason.CAPTCHA),
        ("revenueclub.example", Reason.UNANSWERABLE_QUESTION),
        ("hearsay.example", Reason.UNANSWERABLE_QUESTION),
        ("linkback.example", Reason.RECIPROCAL_REQUIRED),
        ("gatehouse.example", Reason.LOGIN_REQUIRED),
    ],
)
def test_an_obstacle_is_recorded_and_the_unit_succeeds(walk: Walk, host: str, reason: Reason) -> None:
    outcome = mapped(walk, host)[host]
    assert outcome.kind is OutcomeKind.SUCCEED, outcome.detail
    assert {o.reason for o in result_of(outcome).obstacles} == {reason}


def test_a_provider_s_frame_is_held_and_a_closed_door_rejected(walk: Walk) -> None:
    found = mapped(walk, "framework-list.example", "shutters.example", "pricetag.example")
    frame, closed, paid = (
        found["framework-list.example"],
        found["shutters.example"],
        found["pricetag.example"],
    )
    assert (frame.kind, frame.reason) == (OutcomeKind.HOLD, Reason.NO_FORM)
    assert (closed.kind, closed.reason) == (OutcomeKind.REJECT, Reason.CLOSED)
    assert (paid.kind, paid.reason) == (OutcomeKind.REJECT, Reason.PAYMENT_REQUIRED)


def test_the_mapping_keeps_a_picture_and_the_page_and_sends_nothing(walk: Walk, sandbox: Sandbox) -> None:
    outcome = mapped(walk, "brightlist.example")["brightlist.example"]
    assert {e.kind for e in outcome.evidence} == {"form", "document"}
    assert all(Path(walk[0].home / e.path).stat().st_size == e.size for e in outcome.evidence)
    assert not [p for p in sandbox.posts() if p["host"] == "brightlist.example"]


def test_the_same_form_has_the_same_fingerprint_twice(walk: Walk) -> None:
    first, again = (result_of(mapped(walk, "branchwork.example")["branchwork.example"]) for _ in range(2))
    assert first.fingerprint == again.fingerprint
    assert site_for("branchwork.example").form is not None


def test_the_promising_link_stays_on_the_site_and_off_the_home_page() -> None:
    page = (
        '<a href="/">Add your site to our home</a><a href="https://other.example/submit">Submit your site</a>'
        '<a href="/about">About</a><a href="/add?step=2#top">Add your listing</a>'
    )
    assert promising_link(page, "https://dir.example/submit") == "https://dir.example/add?step=2"
    assert promising_link('<a href="/about">About us</a>', "https://dir.example/") is None


def test_frames_of_form_providers_are_known() -> None:
    assert embedded_provider('<iframe src="https://airtable.com/embed/shr1"></iframe>') == "airtable.com"
    assert (
        embedded_provider('<iframe src="https://docs.google.com/forms/d/e/1/viewform"></iframe>')
        == "docs.google.com/forms"
    )
    assert embedded_provider('<iframe src="https://ads.example/x"></iframe>') is None
