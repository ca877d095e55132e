"""Submission on the real sandbox in a real browser: filed at most once, judged honestly, nothing touched that
is not ours."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from campaign_assets.errors import SiteError
from campaign_assets.model import (
    Action,
    Entry,
    Outcome,
    OutcomeKind,
    PreflightResult,
    Reason,
    SubmissionResult,
)
from campaign_assets.stages.submission import submission
from campaign_assets.states import Stage, Verdict
from campaign_assets_tests.filing_road import STAGES, TARGET, Road, road
from campaign_assets_tests.sandbox_fixture import Sandbox, running

Walk = tuple[Road, asyncio.Runner]

VERDICTS = {
    "brightlist.example": Verdict.ACCEPTED,
    "oldtown-directory.example": Verdict.ACCEPTED,
    "toolshelf.example": Verdict.ACCEPTED,
    "twodoors.example": Verdict.ACCEPTED,
    "sitefinder.example": Verdict.ACCEPTED,
    "aihangar.example": Verdict.ACCEPTED,
    "honest-tools.example": Verdict.ACCEPTED,
    "stylish-tools.example": Verdict.ACCEPTED,
    "clipshow.example": Verdict.ACCEPTED,
    "faxmachine.example": Verdict.ACCEPTED,
    "crumblist.example": Verdict.ACCEPTED,
    "snailmail-listings.example": Verdict.ACCEPTED,
    "branchwork.example": Verdict.ACCEPTED,
    "fairterms.example": Verdict.ACCEPTED,
    "stateful.example": Verdict.ACCEPTED,
    "onepager.example": Verdict.ACCEPTED,
    "toastmaster.example": Verdict.ACCEPTED,
    "alertbox.example": Verdict.ACCEPTED,
    "mittelstandsliste.example": Verdict.ACCEPTED,
    "annuaire-pme.example": Verdict.ACCEPTED,
    "directorio-norte.example": Verdict.ACCEPTED,
    "kaisha-navi.example": Verdict.ACCEPTED,
    "sixtyfive.example": Verdict.ACCEPTED,
    "deepwell.example": Verdict.ACCEPTED,
    "countdown.example": Verdict.ACCEPTED,
    "httphabit.example": Verdict.ACCEPTED,
    "fullname.example": Verdict.ACCEPTED,
    "countyguide.example": Verdict.ACCEPTED,
    "ghostlabel.example": Verdict.ACCEPTED,
    "crossedwires.example": Verdict.ACCEPTED,
    "editors-desk.example": Verdict.PENDING,
    "mailproof.example": Verdict.NEEDS_EMAIL,
    "onceonly.example": Verdict.ALREADY_LISTED,
    "loudmouth.example": Verdict.UNKNOWN,
    "quietclerk.example": Verdict.UNKNOWN,
    "wordcount.example": Verdict.REFUSED,
    "telegram-style.example": Verdict.REFUSED,
    "membersonly.example": Verdict.REFUSED,
}
"""One directory for each kind of form and of reply, with the verdict that is true of it."""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    with running(tmp_path_factory.mktemp("web"), slow=0.05, moderation=0.1) as started:
        yield started


@pytest.fixture(scope="module")
def walk(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with road(sandbox.resolve, tmp_path_factory.mktemp("road")) as made:
        yield made


@pytest.fixture
def own(walk: Walk) -> Walk:
    """The same road for one test alone: its own count of arms, and a business of its own, which no directory
    has seen."""
    walker, runner = walk
    return replace(walker, arms=0), runner


def posts(sandbox: Sandbox, host: str, target: str = TARGET) -> int:
    return sum(p["posts"] for p in sandbox.posts() if p["host"] == host and p["target"] == target)


def for_business(own: Walk, name: str) -> Walk:
    walker, runner = own
    return replace(
        walker, business=walker.business.model_copy(update={"url": f"https://{name}.example/"})
    ), runner


def test_every_kind_of_directory_gets_one_post_and_its_true_verdict(walk: Walk, sandbox: Sandbox) -> None:
    walker, runner = walk
    found: dict[str, Any] = {}
    places = asyncio.Semaphore(3)

    async def one(host: str) -> None:
        async with places:
            stage, outcome = await walker.walk(host)
            found[host] = outcome.verdict if stage is Stage.SUBMISSION else f"{stage}: {outcome.detail}"

    async def all_of_them() -> None:
        await asyncio.gather(*(one(host) for host in VERDICTS))

    runner.run(all_of_them())
    assert found == VERDICTS
    assert [p for p in sandbox.posts() if p["posts"] != 1] == []
    assert sandbox.violations() == []
    stored = {p["host"] for p in sandbox.posts() if p["stored"]}
    assert {host for host, verdict in VERDICTS.items() if verdict is Verdict.ACCEPTED} <= stored, (
        "accepted was said of what stored nothing"
    )


def test_a_filing_keeps_its_evidence_and_the_payload_s_hash(own: Walk) -> None:
    walker, runner = for_business(own, "evidence-of-it")
    stage, outcome = runner.run(walker.walk("brightlist.example"))
    assert (stage, outcome.verdict) == (Stage.SUBMISSION, Verdict.ACCEPTED), outcome.detail
    assert [e.kind for e in outcome.evidence] == ["before", "after", "answer"]
    assert isinstance(outcome.result, SubmissionResult)
    assert outcome.result.posts == 1
    assert outcome.result.status == 200
    assert outcome.result.payload_hash
    assert walker.arms == 1


def test_without_the_ledger_s_word_there_is_no_click(own: Walk, sandbox: Sandbox) -> None:
    walker, runner = for_business(own, "not-armed")
    walker.armed = False
    _, outcome = runner.run(walker.walk("brightlist.example"))
    assert (outcome.kind, outcome.reason) == (OutcomeKind.RETRY, Reason.NOT_SENT)
    assert walker.arms == 1
    assert posts(sandbox, "brightlist.example", "not-armed.example") == 0


def test_a_listing_that_is_there_is_recorded_without_a_browser(own: Walk, sandbox: Sandbox) -> None:
    walker, runner = own
    stage, outcome = runner.run(walker.walk("whoswho.example"))
    assert (stage, outcome.verdict) == (Stage.SUBMISSION, Verdict.ALREADY_LISTED)
    assert isinstance(outcome.result, SubmissionResult)
    assert outcome.result.receipt_url
    assert walker.arms == 0
    assert posts(sandbox, "whoswho.example") == 0


def ready(walk: Walk, host: str) -> Any:
    """The results of the stages up to preflight, for a test that changes them."""
    walker, runner = walk
    results: dict[Stage, Any] = {}

    async def up_to_preflight() -> None:
        for stage in (Stage.FORM_MAPPING, Stage.CONTENT, Stage.PREFLIGHT):
            outcome = await STAGES[stage](walker.unit(host, stage, results), walker.tools())
            assert outcome.kind is OutcomeKind.SUCCEED, outcome.detail
            results[stage] = outcome.result

    runner.run(up_to_preflight())
    return results


def filed(walk: Walk, host: str, results: dict[Stage, Any], **changes: Any) -> Outcome:
    """What submission makes of a preflight whose payload was changed."""
    walker, runner = walk
    payload = results[Stage.PREFLIGHT].payload.model_copy(update=changes)
    given = {**results, Stage.PREFLIGHT: results[Stage.PREFLIGHT].model_copy(update={"payload": payload})}
    assert isinstance(given[Stage.PREFLIGHT], PreflightResult)
    return runner.run(submission(walker.unit(host, Stage.SUBMISSION, given), walker.tools()))


def test_a_changed_form_is_not_filled(own: Walk, sandbox: Sandbox) -> None:
    walk = for_business(own, "changed-form")
    outcome = filed(
        walk, "brightlist.example", ready(walk, "brightlist.example"), fingerprint="of another day"
    )
    assert (outcome.kind, outcome.reason) == (OutcomeKind.FAIL, Reason.FORM_CHANGED)
    assert walk[0].arms == 0
    assert posts(sandbox, "brightlist.example", "changed-form.example") == 0


def test_an_entry_for_an_invisible_control_is_refused_before_arming(own: Walk, sandbox: Sandbox) -> None:
    walk = for_business(own, "into-the-trap")
    results = ready(walk, "honest-tools.example")
    trap = next(c for c in results[Stage.FORM_MAPPING].document.controls if c.name == "website")
    entry = Entry(
        index=trap.index,
        name="website",
        type=trap.type,
        field="url",
        action=Action.FILL,
        value="https://x.example",
        source="url",
    )
    entries = (*results[Stage.PREFLIGHT].payload.entries, entry)
    with pytest.raises(SiteError) as raised:
        filed(walk, "honest-tools.example", results, entries=entries)
    assert raised.value.reason == Reason.FORM_CHANGED
    assert walk[0].arms == 0
    assert posts(sandbox, "honest-tools.example", "into-the-trap.example") == 0


def test_a_button_that_cannot_be_pressed_is_not_sent(own: Walk, sandbox: Sandbox) -> None:
    walk = for_business(own, "no-button")
    outcome = filed(walk, "brightlist.example", ready(walk, "brightlist.example"), submit=900)
    assert (outcome.kind, outcome.reason) == (OutcomeKind.RETRY, Reason.NOT_SENT)
    assert walk[0].arms == 0
    assert posts(sandbox, "brightlist.example", "no-button.example") == 0


def test_a_required_control_that_is_left_open_is_held_unsent(own: Walk, sandbox: Sandbox) -> None:
    walk = for_business(own, "left-open")
    results = ready(walk, "brightlist.example")
    entries = tuple(e for e in results[Stage.PREFLIGHT].payload.entries if e.field != "email")
    outcome = filed(walk, "brightlist.example", results, entries=entries)
    assert (outcome.kind, outcome.reason) == (OutcomeKind.HOLD, Reason.UNANSWERABLE_QUESTION)
    assert posts(sandbox, "brightlist.example", "left-open.example") == 0


def test_a_browser_that_dies_between_arming_and_the_click_has_sent_nothing(
    own: Walk, sandbox: Sandbox
) -> None:
    walker, runner = walk = for_business(own, "dead-browser")
    results = ready(walk, "brightlist.example")

    async def arm() -> bool:
        group = walker.browser.process_group
        assert group is not None
        os.killpg(group, signal.SIGKILL)
        return True

    unit = walker.unit("brightlist.example", Stage.SUBMISSION, results)
    outcome = runner.run(submission(unit, replace(walker.tools(), arm=arm)))
    assert (outcome.kind, outcome.reason) == (OutcomeKind.RETRY, Reason.NOT_SENT), outcome
    assert posts(sandbox, "brightlist.example", "dead-browser.example") == 0


def test_where_the_site_is_gone_nothing_is_sent(own: Walk) -> None:
    walk = for_business(own, "gone-site")
    results = ready(walk, "brightlist.example")
    with pytest.raises(SiteError) as raised:
        filed(walk, "brightlist.example", results, url="https://hangup.example/submit")
    assert raised.value.reason == Reason.CONNECTION_FAILED
    assert walk[0].arms == 0


def test_corrections_reach_the_directory(own: Walk, sandbox: Sandbox, tmp_path: Path) -> None:
    walker, runner = for_business(own, "corrected")
    said = "A person wrote this description for the directory, and it stands as it was written."
    _, outcome = runner.run(walker.walk("brightlist.example", corrections={"description": said}))
    assert outcome.verdict is Verdict.ACCEPTED, outcome.detail
    sent = [
        r
        for r in sandbox.requests("brightlist.example")
        if r["method"] == "POST" and r["target"] == "corrected.example"
    ]
    assert sent[0]["fields"]["description"] == [said]
