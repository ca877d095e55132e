"""Content: texts that fit, say only what the profile says, and differ between publishers."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaign_assets.model import ContentResult, Outcome, OutcomeKind, Reason
from campaign_assets.stages import writer
from campaign_assets.stages.choices import closest
from campaign_assets.stages.content import content, most_tags, separator
from campaign_assets.stages.form_mapping import map_document
from campaign_assets.stages.writer import Room
from campaign_assets.states import Stage
from campaign_assets_tests.filing_road import Road, business
from campaign_assets_tests.test_mapper import Page

SITES = tuple(f"directory-{number}.example" for number in range(60))


def written(page: Page, site: str = "brightlist.example", **changes: Any) -> Outcome:
    """The outcome of content for a form of `page` and a button."""
    page("Website URL", "url", "url", required=True)
    page("Submit", "submit", "go")
    profile = business(**changes.pop("profile", {}))
    mapping = map_document(page.document(), profile)
    road = Road(None, None, Path("."), profile)  # type: ignore[arg-type]
    unit = road.unit(site, Stage.CONTENT, {Stage.FORM_MAPPING: mapping}, **changes)
    return asyncio.run(content(unit, road.tools()))


def texts(outcome: Outcome) -> dict[str, str]:
    assert isinstance(outcome.result, ContentResult), outcome
    return {text.field: text.value for text in outcome.result.texts}


def words(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"\w+", text)}


@given(limit=st.integers(12, 3000), site=st.sampled_from(SITES), multiline=st.booleans())
def test_every_text_fits_its_limit_and_ends_with_a_whole_word(limit: int, site: str, multiline: bool) -> None:
    profile, room = business(), Room(limit, None, multiline)
    known = words(profile.model_dump_json())
    for text in (
        writer.title(profile, site, room),
        writer.tagline(profile, room),
        writer.description(profile, site, room),
        writer.short_description(profile, site, room),
        writer.long_description(profile, site, room),
        writer.tags(profile, site, room, 8),
    ):
        if text is not None:
            assert room.size(text) <= limit
            assert words(text) - {"features", "for"} <= known, (
                "a word was cut, or something was said that the profile does not say"
            )


@given(minimum=st.integers(10, 500), site=st.sampled_from(SITES))
def test_a_least_length_is_honoured(minimum: int, site: str) -> None:
    text = writer.description(business(), site, Room(None, minimum))
    assert text is not None
    assert len(text) >= minimum


def test_a_least_length_out_of_reach_gives_nothing() -> None:
    assert writer.description(business(), SITES[0], Room(None, 20_000)) is None


def test_limits_count_utf16_units_and_line_breaks_of_a_textarea_as_two() -> None:
    assert Room(2).fits("𝔄")
    assert not Room(1).fits("𝔄")
    assert Room(4, multiline=True).fits("a\nb")
    assert not Room(3, multiline=True).fits("a\nb")
    assert Room(3).fits("a\nb")


def test_the_same_publisher_gets_the_same_text_and_others_get_others() -> None:
    profile = business()
    first = [writer.description(profile, site, Room()) for site in SITES]
    assert first == [writer.description(profile, site, Room()) for site in SITES]
    assert len(set(first)) > len(SITES) // 2


def test_a_title_always_names_the_business() -> None:
    assert all("Tallyhopper" in (writer.title(business(), site, Room(60)) or "") for site in SITES)
    assert writer.title(business(), SITES[0], Room(11)) == "Tallyhopper"
    assert writer.title(business(), SITES[0], Room(5)) is None


def test_a_correction_beats_the_writer() -> None:
    page = Page()
    page("Description", "textarea", "description", required=True)
    found = texts(written(page, corrections={"description": "Written by a person."}))
    assert found["description"] == "Written by a person."


def test_the_category_is_the_closest_option_of_the_form() -> None:
    page = Page()
    page("Description", "textarea", "description")
    page(
        "Category",
        "select-one",
        "category",
        options=("Select one", "Restaurants", "Data and analytics", "Travel"),
    )
    assert texts(written(page))["category"] == "Data and analytics"


def test_categories_meet_across_languages_by_their_shelf() -> None:
    page = Page("de")
    page("Beschreibung", "textarea", "text")
    page("Rubrik", "select-one", "rubrik", options=("Bitte wählen", "Handwerk", "Software", "Reisen"))
    assert texts(written(page))["category"] == "Software"


def test_a_radio_group_of_categories_is_answered_with_its_member() -> None:
    page = Page()
    page("Description", "textarea", "description")
    for text in ("Food", "Analytics", "Travel"):
        page(text, "radio", "category", hints=(("legend", "Category"),), value=text.lower(), required=True)
    outcome = written(page)
    assert isinstance(outcome.result, ContentResult)
    chosen = next(t for t in outcome.result.texts if t.field == "category")
    assert (chosen.value, page.controls[chosen.index].value) == ("analytics", "analytics")


def test_where_no_category_is_close_the_list_s_other_is_taken_and_nothing_where_it_has_none() -> None:
    page = Page()
    page("Description", "textarea", "description")
    page("Category", "select-one", "category", options=("Knitting", "Horses", "Other"))
    assert texts(written(page))["category"] == "Other"
    assert closest(page.controls[1].options[:2], ["Analytics"]) is None


def test_a_limit_that_nothing_fits_is_held_with_the_control_s_name() -> None:
    page = Page()
    page("Description", "textarea", "description", required=True, limit=6)
    outcome = written(page)
    assert (outcome.kind, outcome.reason) == (OutcomeKind.HOLD, Reason.LIMIT_TOO_SMALL)
    assert "Description" in outcome.detail


def test_an_optional_control_that_nothing_fits_is_left_empty() -> None:
    page = Page()
    page("Description", "textarea", "description", limit=6)
    assert "description" not in texts(written(page))


@pytest.mark.parametrize(
    ("said", "most"), [("up to five tags", 5), ("max. 3 keywords", 3), ("höchstens fünf", 5), ("Tags", 10)]
)
def test_the_number_of_tags_follows_the_form_s_words(said: str, most: int) -> None:
    assert most_tags(said) == most


def test_tags_are_separated_as_the_form_says() -> None:
    assert separator("one per line", "textarea") == "\n"
    assert separator("Tags (comma separated)", "text") == ", "
    assert separator("separated by semicolons", "text") == "; "
