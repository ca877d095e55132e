"""Confirmation on the sandbox's directories, filed there by a careful person, and on served pages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from aiohttp import web

from campaign_assets.model import ConfirmationResult, OutcomeKind, PreflightResult, Reason, Unit
from campaign_assets.policy import RESULT_PATIENCE
from campaign_assets.sandbox.sites import site_for
from campaign_assets.stages.confirmation import confirmation
from campaign_assets.states import Stage, Verdict
from campaign_assets_tests.sandbox_fixture import Sandbox, sandbox
from campaign_assets_tests.sandbox_visitor import submit
from campaign_assets_tests.stage_walk import Walk, filing, served_walk, walk
from campaign_assets_tests.web_desk import Desk

__all__ = ["sandbox"]


@pytest.fixture(scope="module")
def stroll(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with walk(sandbox.resolve, tmp_path_factory.mktemp("walk")) as made:
        yield made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, Walk]]:
    with served_walk(tmp_path_factory.mktemp("desk")) as made:
        yield made


def _filed(made: Walk, host: str, verdict: Verdict = Verdict.ACCEPTED, receipt: str | None = None) -> Unit:
    """The unit of a filing that stands at `host`."""
    home = f"{'http' if made.served else 'https'}://{host}/"
    stands = filing(host, verdict, receipt_url=receipt)
    return made.unit(home, Stage.CONFIRMATION, {Stage.DISCOVERY: made.found(home)}, filing=stands)


def test_a_listing_on_the_home_page_is_confirmed_with_its_own_page_and_link(
    sandbox: Sandbox, stroll: Walk
) -> None:
    submit(sandbox, site_for("brightlist.example"))
    outcome = stroll.outcome(confirmation, _filed(stroll, "brightlist.example"))
    assert outcome.kind is OutcomeKind.SUCCEED, outcome
    found = outcome.result
    assert isinstance(found, ConfirmationResult)
    assert found.listing_url.startswith("https://brightlist.example/")
    assert found.listing_url.endswith("/tallyhopper"), found
    assert found.link_url == "https://tallyhopper.example/", found
    assert found.rel == "noopener"
    assert b"Tallyhopper" in stroll.kept["listing"]


def test_the_receipt_is_looked_at_first(sandbox: Sandbox, stroll: Walk) -> None:
    host = "fullname.example"
    submit(sandbox, site_for(host))
    listing = f"https://{host}{site_for(host).listing_path}tallyhopper"
    outcome = stroll.outcome(confirmation, _filed(stroll, host, receipt=listing))
    assert isinstance(outcome.result, ConfirmationResult), outcome
    assert outcome.result.found_by == "the receipt's link"
    assert outcome.result.listing_url == listing


def test_a_rel_is_told_as_it_stands(sandbox: Sandbox, stroll: Walk) -> None:
    submit(sandbox, site_for("nofollow-weekly.example"))
    outcome = stroll.outcome(confirmation, _filed(stroll, "nofollow-weekly.example"))
    assert isinstance(outcome.result, ConfirmationResult), outcome
    assert "nofollow" in outcome.result.rel


def test_a_link_through_the_sites_own_redirect_is_ours(sandbox: Sandbox, stroll: Walk) -> None:
    submit(sandbox, site_for("redirector.example"))
    outcome = stroll.outcome(confirmation, _filed(stroll, "redirector.example"))
    assert isinstance(outcome.result, ConfirmationResult), outcome
    assert "/go/" in (outcome.result.link_url or ""), outcome.result


def test_the_listing_that_preflight_found_is_confirmed_where_it_was(stroll: Walk) -> None:
    listing = "https://whoswho.example" + site_for("whoswho.example").listing_path + "tallyhopper"
    earlier = PreflightResult(payload=None, payload_hash="", checks=(), existing_listing=listing)
    unit = _filed(stroll, "whoswho.example", Verdict.ALREADY_LISTED)
    unit = replace(unit, results={**unit.results, Stage.PREFLIGHT: earlier})
    outcome = stroll.outcome(confirmation, unit)
    assert isinstance(outcome.result, ConfirmationResult), outcome
    assert outcome.result.found_by == "the listing that preflight found"


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        (Verdict.PENDING, Reason.MODERATION),
        (Verdict.ACCEPTED, Reason.MODERATION),
        (Verdict.NEEDS_EMAIL, Reason.EMAIL_CONFIRMATION),
    ],
)
def test_what_is_not_there_yet_is_waited_for(stroll: Walk, verdict: Verdict, reason: Reason) -> None:
    outcome = stroll.outcome(confirmation, _filed(stroll, "sixtyfive.example", verdict))
    assert (outcome.kind, outcome.reason, outcome.after) == (OutcomeKind.WAIT, reason, None), outcome
    assert "its search" in outcome.detail, outcome.detail


def test_patience_ends_as_not_listed(stroll: Walk) -> None:
    unit = replace(_filed(stroll, "sixtyfive.example", Verdict.PENDING), waits=RESULT_PATIENCE)
    outcome = stroll.outcome(confirmation, unit)
    assert (outcome.kind, outcome.reason) == (OutcomeKind.FAIL, Reason.NOT_LISTED), outcome


def test_a_moderated_listing_is_found_when_it_appears(sandbox: Sandbox, stroll: Walk) -> None:
    host = "editors-desk.example"
    submit(sandbox, site_for(host))
    patience = time.monotonic() + 60
    while (
        outcome := stroll.outcome(confirmation, _filed(stroll, host, Verdict.PENDING))
    ).kind is OutcomeKind.WAIT:
        assert outcome.reason is Reason.MODERATION
        assert time.monotonic() < patience, outcome
    assert outcome.kind is OutcomeKind.SUCCEED, outcome


def test_a_site_that_fails_is_asked_again(stroll: Walk) -> None:
    outcome = stroll.outcome(confirmation, _filed(stroll, "brokenwheel.example"))
    assert (outcome.kind, outcome.reason) == (OutcomeKind.RETRY, Reason.SERVER_ERROR), outcome


def test_a_search_page_that_repeats_our_name_is_no_listing(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    desk.serve(
        "<title>Echo</title><form action=/search><input type=search name=q></form><p>Welcome</p>",
        "/",
        "echo.example",
    )

    async def search(request: web.Request) -> web.Response:
        said = request.query.get("q", "")
        page = f"<title>{said}</title><h1>{said}</h1><p>Results for {said} tallyhopper.example: none"
        return web.Response(text=page, content_type="text/html")

    desk.serve(search, "/search", "echo.example")
    unit = _filed(made, "echo.example")
    assert made.outcome(confirmation, unit).kind is OutcomeKind.WAIT


def test_the_sitemap_leads_to_a_listing_that_nothing_links_to(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    home = desk.serve("<title>Quiet</title><p>Welcome", "/", "quiet.example")
    listing = desk.serve(
        "<title>Tallyhopper | Quiet</title><h1>Tallyhopper</h1><a rel=ugc href=https://www.tallyhopper.example>site</a>",
        "/p/tallyhopper-2",
        "quiet.example",
    )

    async def sitemap(_: web.Request) -> web.Response:
        text = f"<urlset><url><loc>{home}</loc></url><url><loc>{listing}</loc></url></urlset>"
        return web.Response(text=text, content_type="application/xml")

    desk.serve(sitemap, "/sitemap.xml", "quiet.example")
    unit = _filed(made, "quiet.example")
    outcome = made.outcome(confirmation, unit)
    assert isinstance(outcome.result, ConfirmationResult), outcome
    assert (outcome.result.listing_url, outcome.result.rel) == (listing, "ugc")


def test_a_name_without_our_address_is_somebody_elses_listing(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    desk.serve("<title>N</title><a href=/p/tallyhopper>Tallyhopper</a>", "/", "namesake.example")
    desk.serve("<title>Tallyhopper</title><p>A pub in Kent.", "/p/tallyhopper", "namesake.example")
    unit = _filed(made, "namesake.example")
    assert made.outcome(confirmation, unit).kind is OutcomeKind.WAIT
