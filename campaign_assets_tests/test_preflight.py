"""Preflight: the payload, its checks, its obstacles and the campaign's rule of approval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from campaign_assets.model import (
    Action,
    Approval,
    CampaignSettings,
    ContentResult,
    FormMappingResult,
    Outcome,
    OutcomeKind,
    Payload,
    PreflightResult,
    Reason,
    Unit,
)
from campaign_assets.stages.checks import checks
from campaign_assets.stages.content import write, written_questions
from campaign_assets.stages.existing import Lookup, search_address
from campaign_assets.stages.form_mapping import map_document
from campaign_assets.stages.payload import LATE, assemble
from campaign_assets.stages.preflight import judge, preflight
from campaign_assets.states import Stage
from campaign_assets.web.fetch import Document
from campaign_assets_tests.filing_road import Road, business, road
from campaign_assets_tests.sandbox_fixture import Sandbox, sandbox
from campaign_assets_tests.test_mapper import Page

__all__ = ["sandbox"]

SITE = "brightlist.example"
NOWHERE = Lookup(None, "Not looked for.")


def unit_of(
    page: Page,
    *,
    approval: Approval = Approval.AUTOMATIC,
    profile: dict[str, Any] | None = None,
    **changes: Any,
) -> Unit:
    """A unit at preflight whose form is `page`, mapped and written for."""
    facts = business(**(profile or {}))
    mapping = map_document(page.document(), facts, SITE)
    made = Road(None, None, Path("."), facts, CampaignSettings(approval=approval))  # type: ignore[arg-type]
    unit = made.unit(SITE, Stage.PREFLIGHT, {Stage.FORM_MAPPING: mapping})
    texts = [text for question, field in written_questions(mapping) if (text := write(question, field, unit))]
    results = {**unit.results, Stage.CONTENT: ContentResult(texts=tuple(texts))}
    return made.unit(SITE, Stage.PREFLIGHT, results, **changes)


def judged(unit: Unit) -> Outcome:
    return judge(unit, assemble(unit), NOWHERE)


def payload_of(outcome: Outcome) -> Payload:
    assert isinstance(outcome.result, PreflightResult), outcome
    assert outcome.result.payload is not None
    return outcome.result.payload


def values(outcome: Outcome) -> dict[str, str]:
    return {entry.name: entry.value for entry in payload_of(outcome).entries}


@pytest.fixture
def page() -> Page:
    """A plain submission form; tests add to it."""
    made = Page()
    made("Company name", name="name", required=True, limit=60)
    made("Website URL", "url", "url", required=True)
    made("Description", "textarea", "description", required=True, limit=400)
    made("Contact email", "email", "email", required=True)
    made("Submit", "submit", "go")
    return made


def test_the_payload_says_what_is_done_to_each_control_and_where_it_comes_from(page: Page) -> None:
    outcome = judged(unit_of(page))
    assert outcome.kind is OutcomeKind.SUCCEED, outcome.detail
    payload = payload_of(outcome)
    sources = {e.name: e.source for e in payload.entries}
    assert sources["name"] == "name"
    assert sources["email"] == "contact.email"
    assert payload.submit == 4
    assert [e.index for e in payload.entries] == sorted(e.index for e in payload.entries)


def test_the_same_unit_gives_the_same_hash_and_a_correction_another(page: Page) -> None:
    first, again = judged(unit_of(page)), judged(unit_of(page))
    other = judged(unit_of(page, corrections={"description": "Written by a person, for this directory."}))
    assert payload_of(first).hash == payload_of(again).hash
    assert payload_of(first).hash != payload_of(other).hash
    assert values(other)["description"] == "Written by a person, for this directory."


def test_a_required_fact_that_the_profile_lacks_is_held_and_a_correction_settles_it(page: Page) -> None:
    page("Fax", name="fax", required=True)
    outcome = judged(unit_of(page))
    assert (outcome.kind, outcome.reason) == (OutcomeKind.HOLD, Reason.UNANSWERABLE_QUESTION)
    assert "Fax" in outcome.detail
    assert judged(unit_of(page, corrections={"fax": "+49 30 1"})).kind is OutcomeKind.SUCCEED


def test_a_question_is_answered_by_the_profile_s_answers_or_a_correction(page: Page) -> None:
    page("Last funding round", name="round", required=True)
    assert judged(unit_of(page)).reason is Reason.UNANSWERABLE_QUESTION
    answered = judged(unit_of(page, profile={"answers": {"last funding round": "none"}}))
    corrected = judged(unit_of(page, corrections={"round": "none"}))
    assert values(answered)["round"] == values(corrected)["round"] == "none"


def test_an_optional_fact_that_the_profile_lacks_is_left_empty(page: Page) -> None:
    page("Fax", name="fax")
    assert "fax" not in values(judged(unit_of(page)))


@pytest.mark.parametrize(
    ("label", "type", "reason"),
    [
        ("What is 3 + 4?", "text", Reason.CAPTCHA),
        ("Choose a password", "password", Reason.LOGIN_REQUIRED),
        ("Reciprocal link URL", "url", Reason.RECIPROCAL_REQUIRED),
        ("Annual revenue", "text", Reason.UNANSWERABLE_QUESTION),
    ],
)
def test_each_obstacle_is_held_with_its_reason(page: Page, label: str, type: str, reason: Reason) -> None:
    page(label, type, "x", required=True)
    outcome = judged(unit_of(page))
    assert (outcome.kind, outcome.reason) == (OutcomeKind.HOLD, reason)
    assert outcome.detail


def test_terms_are_held_until_the_profile_or_a_human_accepts_them(page: Page) -> None:
    page("I accept the terms of service", "checkbox", "agree", required=True)
    held = judged(unit_of(page, profile={"accept_terms": False}))
    assert held.reason is Reason.TERMS_NOT_ACCEPTED
    assert values(judged(unit_of(page)))["agree"] == "on"
    by_hand = judged(unit_of(page, profile={"accept_terms": False}, corrections={"terms": "accept"}))
    assert values(by_hand)["agree"] == "on"


def test_a_newsletter_that_is_ticked_already_is_cleared(page: Page) -> None:
    page("Send me the newsletter", "checkbox", "news", checked=True)
    assert values(judged(unit_of(page)))["news"] == "off"


def test_a_reciprocal_page_of_the_profile_is_filed_where_it_is_asked_for(page: Page) -> None:
    page("Reciprocal link URL", "url", "back", required=True)
    ours = "https://tallyhopper.example/friends"
    assert values(judged(unit_of(page, profile={"reciprocal_urls": {SITE: ours}})))["back"] == ours


def test_the_first_invalid_address_is_held(page: Page) -> None:
    outcome = judged(unit_of(page, corrections={"url": "http://https://tallyhopper.example"}))
    assert (outcome.kind, outcome.reason) == (OutcomeKind.HOLD, Reason.UNSURE)
    assert "web address" in outcome.detail


def test_a_correction_that_is_too_long_is_held(page: Page) -> None:
    outcome = judged(unit_of(page, corrections={"description": "x" * 500}))
    assert outcome.kind is OutcomeKind.HOLD
    assert "400" in outcome.detail


def test_an_address_stands_without_its_scheme_where_the_page_prints_one(page: Page) -> None:
    page.controls[1] = page.controls[1].model_copy(
        update={"type": "text", "hints": (*page.controls[1].hints, ("before", "http://"))}
    )
    assert values(judged(unit_of(page)))["url"] == "tallyhopper.example/"


def test_a_business_s_and_a_contact_s_email_are_told_apart(page: Page) -> None:
    page("Business e-mail", "email", "public")
    found = values(judged(unit_of(page)))
    assert (found["public"], found["email"]) == ("hello@tallyhopper.example", "ada@tallyhopper.example")


def test_country_language_and_pricing_are_chosen_among_the_options(page: Page) -> None:
    page("Land", "select-one", "country", options=("Bitte wählen", "Österreich", "Deutschland"))
    page("Language", "select-one", "lang", options=("French", "English"))
    page("Pricing", "select-one", "price", options=("Free", "Freemium", "Paid"))
    found = values(judged(unit_of(page)))
    assert (found["country"], found["lang"], found["price"]) == ("Deutschland", "English", "Freemium")


def test_a_list_that_a_script_fills_is_chosen_from_when_it_is_filled(page: Page) -> None:
    page("Category", "select-one", "cat", options=("Analytics",), required=True)
    page("Sub-category", "select-one", "sub", options=("Please select",), required=True)
    outcome = judged(unit_of(page))
    assert outcome.kind is OutcomeKind.SUCCEED, outcome.detail
    late = next(e for e in payload_of(outcome).entries if e.name == "sub")
    assert (late.action, late.source, late.value) == (Action.CHOOSE, LATE, "Analytics")


def test_approval_of_each_payload_is_bound_to_its_hash(page: Page) -> None:
    held = judged(unit_of(page, approval=Approval.EACH))
    assert held.reason is Reason.APPROVAL
    digest = payload_of(held).hash
    assert judged(unit_of(page, approval=Approval.EACH, approved_payload=digest)).kind is OutcomeKind.SUCCEED
    changed = unit_of(page, approval=Approval.EACH, approved_payload=digest, corrections={"name": "Tally"})
    assert judged(changed).reason is Reason.APPROVAL


def test_approval_by_exception_holds_what_is_not_sure_and_automatic_lets_it_pass(page: Page) -> None:
    page("Category", "select-one", "cat", options=("Knitting", "Other"), required=True)
    held = judged(unit_of(page, approval=Approval.BY_EXCEPTION))
    assert held.reason is Reason.UNSURE
    assert "cat" in held.detail
    approved = unit_of(page, approval=Approval.BY_EXCEPTION, approved_payload=payload_of(held).hash)
    assert judged(approved).kind is OutcomeKind.SUCCEED
    assert judged(unit_of(page)).kind is OutcomeKind.SUCCEED


def test_by_exception_what_is_sure_goes_on(page: Page) -> None:
    outcome = judged(unit_of(page, approval=Approval.BY_EXCEPTION))
    assert outcome.kind is OutcomeKind.SUCCEED, outcome.detail


def test_a_required_choice_with_nothing_close_is_held_and_a_correction_chooses(page: Page) -> None:
    page("Category", "select-one", "cat", options=("Knitting", "Horses"), required=True)
    assert judged(unit_of(page)).reason is Reason.UNANSWERABLE_QUESTION
    assert values(judged(unit_of(page, corrections={"category": "Horses"})))["cat"] == "Horses"


def test_a_control_that_nobody_sees_fails_its_check(page: Page) -> None:
    unit = unit_of(page)
    document = unit.result(FormMappingResult).document
    hidden = document.controls[2].model_copy(update={"visible": False, "concealment": "off-screen"})
    changed = document.model_copy(
        update={"controls": (*document.controls[:2], hidden, *document.controls[3:])}
    )
    found = {c.name: c.passed for c in checks(assemble(unit), payload_of(judged(unit)), changed)}
    assert not found["seen"]


def test_the_site_s_search_is_asked_by_get_only() -> None:
    def home(form: str) -> Document:
        return Document("https://dir.example/", 200, {}, form.encode(), form, "text/html")

    found = search_address(
        home('<form action="/find"><input name="q"><input type=hidden name=l value=en></form>'), "Tally & Co"
    )
    assert found == "https://dir.example/find?l=en&q=Tally+%26+Co"
    assert search_address(home('<form method="post"><input name="q"></form>'), "x") is None


def test_an_existing_listing_is_found_by_the_site_s_search(sandbox: Sandbox, tmp_path: Path) -> None:
    with road(sandbox.resolve, tmp_path) as (walker, runner):
        unit = walker.unit("whoswho.example", Stage.PREFLIGHT)
        outcome = runner.run(preflight(unit, walker.tools()))
    assert outcome.kind is OutcomeKind.SUCCEED
    assert isinstance(outcome.result, PreflightResult)
    assert outcome.result.existing_listing is not None
    assert outcome.result.payload is None
    assert {r["method"] for r in sandbox.requests("whoswho.example")} == {"GET"}
