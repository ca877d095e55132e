"""Campaigns, sources page by page, partition keys, and what an operator may not do."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from campaign_assets.errors import InputError, Refused
from campaign_assets.ledger import campaigns, operators, work
from campaign_assets.model import Key, Outcome, Reason, RejectedLine, SourceEntry
from campaign_assets.states import Stage, State
from campaign_assets_tests.ledger_world import BUSINESS, World, result_for


def entries(*sites: str, start: int = 1) -> list[SourceEntry]:
    return [
        SourceEntry(site, f"https://{site}/", line, site.title()) for line, site in enumerate(sites, start)
    ]


def test_a_campaign_comes_back_as_it_was_made(world: World) -> None:
    made = world.campaign("acme/launch", 0, started=False)
    assert (made.tenant, made.slug, made.epoch, made.intent, made.target) == (
        "acme",
        "launch",
        1,
        "pause",
        "example.com",
    )
    assert made.business == BUSINESS
    with pytest.raises(InputError, match="already has a campaign launch"):
        world.campaign("acme/launch", 0)
    with pytest.raises(InputError, match="not a slug"):
        world.campaign("acme/Not A Slug", 0)


def test_a_campaign_is_found_by_slug_or_tenant_and_slug(world: World) -> None:
    world.campaign("acme/launch", 0)
    world.campaign("acme/spring", 0)
    world.campaign("other/launch", 0)
    assert world.campaign_of("spring").name == "acme/spring"
    assert world.campaign_of("other/launch").tenant == "other"
    with pytest.raises(InputError, match="acme/launch or other/launch"):
        world.campaign_of("launch")
    for unknown in ("nothing", "nobody/launch", "other/spring"):
        with pytest.raises(InputError, match="no campaign"):
            world.campaign_of(unknown)


def test_the_same_bytes_are_one_source(world: World) -> None:
    campaign = world.campaign(publishers=0)
    with world.ledger.bound("acme") as tx:
        assert campaigns.add_source(tx, campaign.id, "a.csv", b"one")
        assert not campaigns.add_source(tx, campaign.id, "again.csv", b"one")
        assert campaigns.add_source(tx, campaign.id, "b.csv", b"two")
        assert [(source.name, source.cursor) for source in campaigns.unread_sources(tx, campaign.id)] == [
            ("a.csv", 0),
            ("b.csv", 0),
        ]


def test_a_page_inserts_publishers_with_their_eight_units_and_moves_the_cursor(world: World) -> None:
    campaign = world.campaign(publishers=0)
    with world.ledger.bound("acme") as tx:
        campaigns.add_source(tx, campaign.id, "a.csv", b"one")
        source = campaigns.unread_sources(tx, campaign.id)[0]
        page = entries("a.example", "b.example", "a.example")
        assert (
            campaigns.import_page(
                tx, source.id, page, [RejectedLine(4, "mailto:x", "no web address")], 4, False
            )
            == 2
        )
    assert [row.state for row in world.query(campaign, "select state from units order by id")] == (
        ["ready"] + ["none"] * 7
    ) * 2
    first = world.query(campaign, "select site, url, name, line from publishers order by id")[0]
    assert tuple(first) == ("a.example", "https://a.example/", "A.Example", 1), "the first mention counts"
    with world.ledger.bound("acme") as tx:
        source = campaigns.unread_sources(tx, campaign.id)[0]
        assert source.cursor == 4
        assert (
            campaigns.import_page(tx, source.id, entries("b.example", "c.example", start=5), [], 6, True) == 1
        )
        assert campaigns.unread_sources(tx, campaign.id) == []
        summary = campaigns.source_summary(tx, campaign.id)[-1]
    assert (summary.entries, summary.added, summary.done) == (5, 3, True)
    assert summary.rejected == (RejectedLine(4, "mailto:x", "no web address"),)


def test_a_page_read_from_a_stale_cursor_changes_nothing(world: World) -> None:
    campaign = world.campaign(publishers=0)
    with world.ledger.bound("acme") as tx:
        campaigns.add_source(tx, campaign.id, "a.csv", b"one")
        source = campaigns.unread_sources(tx, campaign.id)[0]
        assert (
            campaigns.import_page(tx, source.id, entries("a.example"), [], 1, False, started_at=source.cursor)
            == 1
        )
    for cursor, done, started_at in ((1, False, None), (0, False, None), (2, False, 0), (2, True, 0)):
        with world.ledger.bound("acme") as tx:
            page = entries("z.example")
            assert (
                campaigns.import_page(
                    tx, source.id, page, [RejectedLine(1, "x", "y")], cursor, done, started_at
                )
                == 0
            )
    assert len(world.query(campaign, "select 1 from publishers")) == 1
    assert world.query(campaign, "select cursor, done from sources")[-1] == (1, False)


def test_the_same_list_given_again_adds_nothing(world: World) -> None:
    campaign = world.campaign(publishers=5)
    with world.ledger.bound("acme") as tx:
        assert campaigns.add_source(tx, campaign.id, "again.csv", b"with another line ending")
        source = campaigns.unread_sources(tx, campaign.id)[0]
        assert (
            campaigns.import_page(tx, source.id, entries(*(f"s{n}.example" for n in range(5))), [], 5, True)
            == 0
        )
    assert len(world.query(campaign, "select 1 from units")) == 40


def test_publishers_found_after_a_restart_are_of_the_new_epoch(world: World) -> None:
    campaign = world.campaign(publishers=1)
    world.operate(campaign, operators.restart)
    with world.ledger.bound("acme") as tx:
        campaigns.add_source(tx, campaign.id, "more.csv", b"more")
        campaigns.import_page(
            tx, campaigns.unread_sources(tx, campaign.id)[0].id, entries("new.example"), [], 1, True
        )
    assert [unit.key.site for unit in world.claim(campaign, Stage.DISCOVERY)] == ["new.example"]


def test_a_source_that_does_not_exist_is_an_error(world: World) -> None:
    world.campaign()
    with world.ledger.bound("acme") as tx, pytest.raises(InputError, match="no source"):
        campaigns.import_page(tx, 999, [], [], 1, True)


# ---------------------------------------------------------------------------------------------------------------- keys


def test_keys_follow_the_rows_and_go_when_the_campaign_is_archived(world: World) -> None:
    campaign = world.campaign(publishers=3)
    with world.ledger.bound("acme") as tx:
        missing = campaigns.keys_to_add(tx, 2)
        assert [key for _, key in missing] == [
            Key("acme", "launch", "s0.example"),
            Key("acme", "launch", "s1.example"),
        ]
        campaigns.mark_keys_added(tx, [publisher for publisher, _ in missing])
        assert [key.site for _, key in campaigns.keys_to_add(tx, 10)] == ["s2.example"]
        assert campaigns.keys_to_remove(tx, 10) == []
    unit = world.claim_one(campaign, Stage.DISCOVERY)
    world.operate(campaign, operators.archive)
    with world.ledger.bound("acme") as tx:
        assert campaigns.keys_to_add(tx, 10) == [], "none for an archived campaign"
        assert campaigns.keys_to_remove(tx, 10) == [], "one unit is still in work"
    world.finish(unit)
    with world.ledger.bound("acme") as tx:
        gone = campaigns.keys_to_remove(tx, 10)
        assert [key.site for _, key in gone] == ["s0.example", "s1.example"]
        campaigns.mark_keys_removed(tx, [publisher for publisher, _ in gone])
        assert campaigns.keys_to_remove(tx, 10) == []


def test_archive_is_refused_while_something_is_unresolved_and_is_for_good(world: World) -> None:
    campaign = world.campaign()
    world.bring(campaign, Stage.SUBMISSION, State.UNRESOLVED)
    with pytest.raises(Refused, match="1 unresolved filing"):
        world.operate(campaign, operators.archive)
    world.human(world.key(campaign), operators.resolve, True)
    world.operate(campaign, operators.archive)
    for act in (operators.start, operators.pause, operators.restart, operators.archive):
        with pytest.raises(Refused, match="archived"):
            world.operate(campaign, act)
    with world.ledger.bound("acme") as tx:
        assert campaigns.campaigns(tx) == []
        assert [found.intent for found in campaigns.campaigns(tx, archived=True)] == ["archive"]


def test_every_act_is_noted_with_who_did_it(world: World) -> None:
    campaign = world.campaign()
    for act in (operators.pause, operators.start, operators.restart):
        world.operate(campaign, act)
    noted = world.query(campaign, "select choice, who from decisions order by id")
    assert [row.choice for row in noted] == ["start", "pause", "start", "restart"]
    assert all(row.who for row in noted)


# ------------------------------------------------------------------------------------------------------------- aliases


def test_a_redirect_onto_another_publisher_names_it(world: World) -> None:
    campaign = world.campaign(publishers=["old.example", "new.example", "third.example"])
    old, new, third = world.claim(campaign, Stage.DISCOVERY)
    with world.ledger.bound("acme") as tx:
        assert work.note_alias(tx, old, "new.example") == new.key
        assert work.note_alias(tx, new, "new.example") is None
        assert work.note_alias(tx, old, "moved.example") is None
        assert work.note_alias(tx, third, "moved.example") == old.key, "somebody else already ends there"
        assert work.note_alias(tx, old, "moved.example") is None, "asked again"
    assert [row.final_site for row in world.query(campaign, "select final_site from publishers order by id")] == [
        "moved.example", "new.example", "third.example",
    ]  # fmt: skip


def test_two_sites_that_redirect_to_each_other_are_not_both_merged_away(world: World) -> None:
    campaign = world.campaign(publishers=["a.example", "b.example"])
    a, b = world.claim(campaign, Stage.DISCOVERY)
    with world.ledger.bound("acme") as tx:
        tx.execute(
            text("insert into aliases (campaign_id, publisher_id, site) values (:c, :p, 'b.example')"),
            {"c": campaign.id, "p": a.publisher_id},
        )
        assert work.note_alias(tx, b, "a.example") is None


# ------------------------------------------------------------------------------------------------- re-runs and
# decisions


def test_an_operators_run_is_answered_publisher_by_publisher(world: World) -> None:
    campaign = world.campaign(publishers=5)
    world.reach(campaign, Stage.SUBMISSION)
    answers = {}
    units = {unit.key.site: unit for unit in (world.claim_one(campaign, Stage.SUBMISSION) for _ in range(4))}
    sites = sorted(units)
    world.finish(units[sites[0]])
    world.expire(units[sites[1]])
    world.finish(units[sites[2]], Outcome.fail(Reason.FORM_CHANGED, "another form"))
    with world.ledger.bound("acme") as tx:
        everybody = [*sites, "s4.example", "nowhere.example"]
        for answer in operators.rerun_for_operator_run(tx, campaign.id, Stage.SUBMISSION, everybody):
            answers[answer.site] = answer
    assert answers[sites[0]].answer == "filed"
    assert answers[sites[0]].sentence.startswith("filed on 2")
    assert answers[sites[0]].filing is not None
    assert answers[sites[0]].result is not None
    assert (answers[sites[1]].answer, "resolve" in answers[sites[1]].sentence) == ("refused", True)
    assert answers[sites[2]].answer == "ready"
    assert (answers[sites[3]].answer, "in work" in answers[sites[3]].sentence) == ("refused", True)
    assert answers["s4.example"].answer == "ready"
    assert answers["nowhere.example"].answer == "refused"
    world.operate(campaign, operators.pause)
    with world.ledger.bound("acme") as tx:
        refused = operators.rerun_for_operator_run(tx, campaign.id, Stage.DISCOVERY, ["s0.example"])
    assert (refused[0].answer, "paused" in refused[0].sentence) == ("refused", True)


def test_a_rerun_needs_the_stages_before_it(world: World) -> None:
    campaign = world.campaign()
    world.bring(campaign, Stage.CONTENT, State.FAILED)
    world.human(world.key(campaign), operators.rerun, Stage.CONTENT)
    assert world.unit(campaign, Stage.CONTENT).attempts == 0
    world.finish(world.claim_one(campaign, Stage.CONTENT), Outcome.fail(Reason.ERROR, "again"))
    world.human(world.key(campaign), operators.rerun, Stage.SCORING)
    with pytest.raises(Refused, match="its scoring has not succeeded"):
        world.human(world.key(campaign), operators.rerun, Stage.CONTENT)
    world.claim_one(campaign, Stage.SCORING)
    with pytest.raises(Refused, match="in work"):
        world.human(world.key(campaign), operators.rerun, Stage.SCORING)


def test_a_unit_that_was_not_reached_cannot_be_run(world: World) -> None:
    campaign = world.campaign()
    with pytest.raises(Refused, match="its discovery has not succeeded"):
        world.human(world.key(campaign), operators.rerun, Stage.SCORING)
    world.run(campaign, Stage.DISCOVERY)
    with pytest.raises(Refused, match="has not reached scoring"):
        world.human(world.key(campaign), operators.rerun, Stage.SCORING)


def test_a_correction_beats_everything_and_keeps_earlier_ones(world: World) -> None:
    campaign = world.campaign()
    for values in ({"name": "One", "tagline": "T"}, {"name": "Two"}):
        world.reach(campaign, Stage.PREFLIGHT)
        held = Outcome.hold(
            Reason.UNANSWERABLE_QUESTION, "what is your revenue?", result_for(Stage.PREFLIGHT)
        )
        world.finish(world.claim_one(campaign, Stage.PREFLIGHT), held)
        world.human(world.key(campaign), operators.decide, Stage.PREFLIGHT, "correct", values)
        world.promote(campaign)
        assert world.state(campaign, Stage.PREFLIGHT) is State.NONE
        assert world.state(campaign, Stage.CONTENT) is State.READY
    assert world.claim_one(campaign, Stage.CONTENT).corrections == {"name": "Two", "tagline": "T"}
    noted = world.query(campaign, "select corrections from decisions where choice = 'correct' order by id")
    assert [row.corrections for row in noted] == [{"name": "One", "tagline": "T"}, {"name": "Two"}]


@pytest.mark.parametrize(
    ("choice", "corrections", "error"),
    [
        ("bless", None, InputError),
        ("correct", None, InputError),
        ("approve", {"a": "b"}, InputError),
        ("approve", None, Refused),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(
    world: World, choice: str, corrections: dict[str, str] | None, error: type[Exception]
) -> None:
    campaign = world.campaign()
    with pytest.raises(error):
        world.human(world.key(campaign), operators.decide, Stage.DISCOVERY, choice, corrections)
