"""Monitoring: what a visitor who is not logged in sees of a listing, and what changed since the last look."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from aiohttp import web

from campaign_assets.model import ConfirmationResult, MonitoringResult, OutcomeKind, Reason
from campaign_assets.sandbox.sites import site_for
from campaign_assets.stages.monitoring import changes, monitoring
from campaign_assets.states import Stage
from campaign_assets_tests.sandbox_fixture import Sandbox, sandbox
from campaign_assets_tests.sandbox_visitor import submit
from campaign_assets_tests.stage_walk import Walk, served_walk, walk
from campaign_assets_tests.web_desk import Desk

__all__ = ["sandbox"]
FOLLOWED = (
    "<title>Tallyhopper | L</title><h1>Tallyhopper</h1><a href='https://tallyhopper.example/'>Visit</a>"
)


@pytest.fixture(scope="module")
def stroll(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with walk(sandbox.resolve, tmp_path_factory.mktemp("walk")) as made:
        yield made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, Walk]]:
    with served_walk(tmp_path_factory.mktemp("desk")) as made:
        yield made


def look(made: Walk, url: str, before: MonitoringResult | None = None) -> MonitoringResult:
    """One look at a listing that was confirmed at `url`."""
    home = url.split("/", 3)
    results = {
        Stage.DISCOVERY: made.found(f"{home[0]}//{home[2]}/"),
        Stage.CONFIRMATION: ConfirmationResult(listing_url=url, found_by="the test"),
        **({Stage.MONITORING: before} if before else {}),
    }
    outcome = made.outcome(monitoring, made.unit(url, Stage.MONITORING, results))
    assert outcome.kind is OutcomeKind.SUCCEED, outcome
    assert isinstance(outcome.result, MonitoringResult)
    return outcome.result


def at(served: tuple[Desk, Walk], markup: str, before: MonitoringResult | None = None) -> MonitoringResult:
    desk, made = served
    return look(made, desk.serve(markup), before)


@pytest.mark.parametrize(
    ("host", "present", "followed", "indexable"),
    [
        ("alertbox.example", True, True, True),
        ("nofollow-weekly.example", True, False, True),
        ("redirector.example", True, False, True),
        ("hiddenshelf.example", True, True, False),
    ],
)
def test_a_sandbox_listing_reads_as_it_is(
    sandbox: Sandbox, stroll: Walk, host: str, present: bool, followed: bool, indexable: bool
) -> None:
    submit(sandbox, site_for(host))
    seen = look(stroll, f"https://{host}{site_for(host).listing_path}tallyhopper")
    assert (seen.present, seen.followed, seen.indexable) == (present, followed, indexable), seen
    assert seen.misses == 0


@pytest.mark.parametrize("rel", ["nofollow", "UGC noopener", "sponsored"])
def test_such_a_rel_is_not_followed(served: tuple[Desk, Walk], rel: str) -> None:
    seen = at(served, FOLLOWED.replace("<a ", f"<a rel='{rel}' "))
    assert (seen.present, seen.followed) == (True, False)
    assert seen.rel == rel.lower()


@pytest.mark.parametrize(
    ("meta", "followed", "indexable"),
    [
        ("<meta name=robots content='noindex'>", True, False),
        ("<meta name=GOOGLEBOT content='index, nofollow'>", False, True),
        ("<meta name=robots content='NONE'>", False, False),
        ("<link rel=canonical href='https://elsewhere.example/p/1'>", True, False),
        ("<link rel=canonical href=''>", True, True),
    ],
)
def test_what_the_page_tells_search_engines_counts(
    served: tuple[Desk, Walk], meta: str, followed: bool, indexable: bool
) -> None:
    seen = at(served, f"<head>{meta}</head>{FOLLOWED}")
    assert (seen.followed, seen.indexable) == (followed, indexable), seen
    assert bool(seen.differences) is not indexable, seen


def test_a_header_can_forbid_indexing_too(served: tuple[Desk, Walk]) -> None:
    async def page(_: web.Request) -> web.Response:
        return web.Response(
            text=FOLLOWED, content_type="text/html", headers={"X-Robots-Tag": "googlebot: noindex"}
        )

    desk, made = served
    assert not look(made, desk.serve(page)).indexable


def test_a_listing_without_a_link_is_a_miss_that_says_so(served: tuple[Desk, Walk]) -> None:
    seen = at(served, "<title>Tallyhopper</title><h1>Tallyhopper</h1><p>tallyhopper.example")
    assert (seen.present, seen.misses) == (False, 1)
    assert "The listing does not link to the business's site." in seen.differences


def test_one_miss_is_not_a_loss_and_misses_are_counted(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    url = desk.serve(FOLLOWED)
    first = look(made, url)
    desk.serve("<title>Nothing</title>", url.split("example")[1], url.split("//")[1].split("/")[0])
    second = look(made, url, first)
    third = look(made, url, second)
    assert (second.present, second.misses, second.changes) == (
        False,
        1,
        ("The link was not seen this time.",),
    )
    assert (third.misses, third.changes) == (2, ())
    desk.serve(FOLLOWED, url.split("example")[1], url.split("//")[1].split("/")[0])
    fourth = look(made, url, third)
    assert (fourth.present, fourth.misses, fourth.changes) == (
        True,
        0,
        ("The link is there again after 2 misses.",),
    )


def test_a_listing_that_was_removed_is_a_miss_not_an_error(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    home = desk.serve("<title>Home</title>", "/", "emptied.example")
    seen = look(made, home + "p/gone")
    assert (seen.present, seen.misses) == (False, 1)


def test_a_listing_that_moved_is_found_at_its_new_address(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    home = desk.serve("<title>Home</title><a href=/new/tallyhopper>Tallyhopper</a>", "/", "moved.example")
    desk.serve(FOLLOWED, "/new/tallyhopper", "moved.example")
    before = MonitoringResult(listing_url=home + "old", present=True, followed=True)
    seen = look(made, home + "old", before)
    assert (seen.present, seen.listing_url) == (True, home + "new/tallyhopper")
    assert any("moved" in change for change in seen.changes), seen.changes


@pytest.mark.parametrize("status", [500, 503, 403])
def test_a_site_that_cannot_be_read_is_asked_again(served: tuple[Desk, Walk], status: int) -> None:
    async def broken(_: web.Request) -> web.Response:
        return web.Response(status=status, text="no")

    desk, made = served
    url = desk.serve(broken)
    results = {
        Stage.DISCOVERY: made.found(url),
        Stage.CONFIRMATION: ConfirmationResult(listing_url=url, found_by="the test"),
    }
    outcome = made.outcome(monitoring, made.unit(url, Stage.MONITORING, results))
    assert outcome.kind is OutcomeKind.RETRY
    assert outcome.reason in (Reason.SERVER_ERROR, Reason.BLOCKED)


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ("<h1>Tallyhoper</h1>", "name reads “tallyhoper”"),
        ("<h1>Tallyhopper</h1><p>Phone: (212) 555-0199", "phone reads +1 212-555-0199"),
        ("<h1>Tallyhopper</h1><p>1 Mile Lane, Springfield", "street reads “1 mile lane”"),
        ("<h1>Tallyhopper</h1><p>1 Mill Lane, Springfield", "without the postal code 12345"),
        ("<h1>Tallyhopper</h1><p>CafÃ© reports", "garbled"),
        (
            "<h1>Tallyhopper</h1><a href=https://tallyhopper.example/old>x</a>",
            "instead of https://tallyhopper.example/",
        ),
    ],
)
def test_a_difference_from_the_profile_is_a_sentence(
    served: tuple[Desk, Walk], shown: str, said: str
) -> None:
    link = "" if "<a " in shown else "<a href=https://www.tallyhopper.example>Visit</a>"
    seen = at(served, f"<title>L</title>{shown}{link}")
    assert any(said in sentence for sentence in seen.differences), seen


def test_what_agrees_or_is_not_shown_is_no_difference(served: tuple[Desk, Walk]) -> None:
    right = "<p>Call 212-555-0100 or +12125550100, 1 Mill Lane, Springfield 12345"
    for shown in ("", right, "<p>412 listings, since 2019, 1 234 visitors"):
        seen = at(
            served,
            f"<title>L</title><h1>TALLYHOPPER</h1>{shown}<a href=http://www.tallyhopper.example/>V</a>",
        )
        assert seen.differences == (), seen


def test_each_change_since_the_last_look_is_told() -> None:
    before = MonitoringResult(listing_url="https://a.example/1", present=True, followed=True)
    now = before.model_copy(
        update={
            "rel": "nofollow",
            "followed": False,
            "indexable": False,
            "differences": ("The name reads “x”.",),
        }
    )
    assert changes(before, now) == (
        "rel was “empty” and is “nofollow”.",
        "The link is no longer followed.",
        "The page may no longer be indexed.",
        "New: The name reads “x”.",
    )
    assert changes(None, now) == ()
    assert changes(now, now) == ()
