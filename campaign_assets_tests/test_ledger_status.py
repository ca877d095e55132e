"""A campaign's status is derived on read, tells moving from not moving and why, and counts what a recount counts
(R4).
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from campaign_assets.ledger import operators, reading, scheduling, work
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.ledger.choices import choices
from campaign_assets.ledger.reading import CampaignStatus
from campaign_assets.ledger.status import Facts, Wait, judge
from campaign_assets.model import Outcome, Reason
from campaign_assets.states import ATTENTION, Stage, State, Verdict
from campaign_assets_tests.ledger_world import World

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
ALIVE = {"scheduler": NOW - timedelta(seconds=5)}


def facts(
    states: dict[State, int] | None = None,
    *,
    intent: str = "run",
    waits: tuple[Wait, ...] = (),
    pending: bool = False,
    barren: dict[Stage, int] | None = None,
    ticks: dict[str, datetime] | None = None,
    progress: datetime | None = None,
) -> Facts:
    return Facts(
        NOW,
        intent,
        {Stage.SCORING: states or {}},
        waits,
        pending,
        barren or {},
        ALIVE if ticks is None else ticks,
        progress,
    )


@pytest.mark.parametrize(
    ("given", "status", "sentence"),
    [
        (facts({State.RUNNING: 2}), "running", "running"),
        (facts({State.RUNNING: 2, State.FAILED: 1, State.HELD: 2}), "running", "running, 3 need attention"),
        (facts({State.READY: 2, State.UNRESOLVED: 1}), "running", "running, 1 needs attention"),
        (facts({State.READY: 2}, intent="pause"), "paused", "paused"),
        (facts({State.RUNNING: 2}, intent="pause"), "paused", "paused, 2 still in work"),
        (facts({State.SUCCEEDED: 2}, intent="archive"), "archived", "archived"),
        (facts({State.SUCCEEDED: 2, State.NONE: 5}), "done", "done"),
        (facts({State.SUCCEEDED: 2, State.HELD: 1}), "done", "done, 1 needs attention"),
        (facts({State.SUCCEEDED: 2}, pending=True), "running", "running"),
        (facts(), "empty", "no publishers yet"),
        (
            facts(
                {State.READY: 3},
                waits=(
                    Wait("moderation", 2, NOW + timedelta(hours=1)),
                    Wait("server_error", 1, NOW + timedelta(minutes=1)),
                ),
            ),
            "waiting",
            "nothing is moving until 2030-01-02 03:05:05 UTC: 1 waits for server error, 2 wait for moderation",
        ),
        (
            facts(
                {State.READY: 3},
                ticks={"scheduler": NOW - timedelta(minutes=9)},
                progress=NOW - timedelta(minutes=10),
            ),
            "stalled",
            "nothing is moving since 2030-01-02 02:54:05 UTC: the scheduler last ran at 2030-01-02 02:55:05 UTC",
        ),
        (
            facts({State.READY: 3}, ticks={}),
            "stalled",
            "nothing is moving: the scheduler has never run (`campaign up` runs it)",
        ),
        (
            facts({State.READY: 3, State.FAILED: 1}, barren={Stage.FORM_MAPPING: 3}),
            "stalled",
            "nothing is moving: 3 runs in a row of form_mapping ended without a committed page, 1 needs attention",
        ),
        (
            facts({State.RUNNING: 3}, barren={Stage.FORM_MAPPING: 2}),
            "running",
            "running, but 2 runs in a row of form_mapping ended without a committed page",
        ),
        (facts({State.READY: 3}, barren={Stage.FORM_MAPPING: 1}), "running", "running"),
    ],
)
def test_the_sentence_says_how_it_stands(given: Facts, status: str, sentence: str) -> None:
    assert judge(given) == (status, sentence)


def status_of(world: World, campaign: Campaign) -> CampaignStatus:
    with world.ledger.bound("acme") as tx:
        return reading.status(tx, world.again(campaign))


def tick(world: World) -> None:
    with world.ledger.bound("acme") as tx:
        scheduling.tick(tx, "scheduler", 30)


def test_a_campaign_from_its_start_to_its_end(world: World) -> None:
    campaign = world.campaign(publishers=2, started=False)
    assert status_of(world, campaign).status == "paused"
    world.operate(campaign, operators.start)
    assert status_of(world, campaign).status == "stalled", "nobody runs the scheduler"
    tick(world)
    begun = status_of(world, campaign)
    assert (begun.status, begun.moving, begun.last_progress_at, begun.done) == ("running", 2, None, False)
    units = world.claim(campaign, Stage.DISCOVERY)
    assert status_of(world, campaign).moving == 2
    world.finish(units[0])
    world.finish(units[1], Outcome.fail(Reason.ERROR, "broken"))
    world.promote(campaign)
    going = status_of(world, campaign)
    assert (going.sentence, going.attention, going.moving) == ("running, 1 needs attention", 1, 1)
    assert going.last_progress_at is not None
    for stage in list(Stage)[1:]:
        world.run(campaign, stage)
        world.promote(campaign)
    ended = status_of(world, campaign)
    assert (ended.status, ended.done, ended.moving, ended.attention) == ("done", True, 0, 1)


def test_a_wait_for_moderation_is_told_with_its_moment(world: World) -> None:
    campaign = world.campaign()
    world.reach(campaign, Stage.CONFIRMATION)
    world.finish(
        world.claim_one(campaign, Stage.CONFIRMATION), Outcome.wait(Reason.MODERATION, "in the queue", 3600)
    )
    world.promote(campaign)
    status = status_of(world, campaign)
    assert (status.status, status.moving, status.done) == ("waiting", 0, False)
    assert "1 waits for moderation" in status.sentence
    assert [(wait.reason, wait.units) for wait in status.waits] == [("moderation", 1)]


def test_a_stage_that_dies_in_every_run_is_visible_within_two_runs(world: World) -> None:
    campaign = world.campaign(publishers=2)
    tick(world)
    for run in ("run-1", "run-2"):
        with world.ledger.bound("acme") as tx:
            work.start_run(tx, run, campaign.id, Stage.DISCOVERY, False)
        world.claim(campaign, Stage.DISCOVERY, 1, run, beside=False)
        with world.ledger.bound("acme") as tx:
            scheduling.expire_run(tx, run)
    status = status_of(world, campaign)
    assert status.barren_runs == {Stage.DISCOVERY: 2}
    assert status.sentence == "nothing is moving: 2 runs in a row of discovery ended without a committed page"
    with world.ledger.bound("acme") as tx:
        work.start_run(tx, "run-3", campaign.id, Stage.DISCOVERY, False)
    world.finish(world.claim(campaign, Stage.DISCOVERY, 1, "run-3"))
    with world.ledger.bound("acme") as tx:
        work.end_run(tx, "run-3", "done")
    assert status_of(world, campaign).barren_runs == {}


def recount(world: World, campaign: Campaign) -> dict[Stage, Counter[State]]:
    """The counts once more, unit by unit, in Python."""
    epoch = world.again(campaign).epoch
    counted: dict[Stage, Counter[State]] = {stage: Counter() for stage in Stage}
    for row in world.query(campaign, "select * from units where campaign_id = :c", c=campaign.id):
        always = row.state in (State.NONE, State.SUBMITTING, State.UNRESOLVED)
        if not row.earlier and (always or row.epoch == epoch):
            counted[Stage(row.stage)][State(row.state)] += 1
    return counted


def test_the_counts_equal_a_recount(world: World) -> None:
    campaign = world.campaign(publishers=12)
    outcomes = [
        None,
        None,
        Outcome.fail(Reason.ERROR, "x"),
        Outcome.hold(Reason.CAPTCHA, "x"),
        Outcome.retry(Reason.SERVER_ERROR, "x", 3600),
    ]
    for stage in list(Stage)[:6]:
        for number, unit in enumerate(
            world.claim(campaign, stage, 6) if stage is not Stage.SUBMISSION else []
        ):
            world.finish(unit, outcomes[number % 5])
        world.promote(campaign)
        world.run(campaign, stage)
        world.promote(campaign)
    world.claim(campaign, Stage.CONFIRMATION, 1)
    for _ in range(3):
        status = status_of(world, campaign)
        expected = recount(world, campaign)
        assert {stage: dict(counts) for stage, counts in status.stages.items()} == {
            s: dict(c) for s, c in expected.items()
        }
        assert status.attention == sum(counts[state] for counts in expected.values() for state in ATTENTION)
        with world.ledger.bound("acme") as tx:
            assert len(reading.units(tx, campaign.id)) == sum(c.total() for c in expected.values())
            assert len(reading.attention(tx, campaign.id)) == status.attention
        world.operate(campaign, operators.restart)
        world.promote(campaign)
        world.run(campaign, Stage.DISCOVERY)


def test_units_and_attention_have_the_documented_shape(world: World) -> None:
    campaign = world.campaign()
    world.bring(campaign, Stage.PREFLIGHT, State.HELD)
    with world.ledger.bound("acme") as tx:
        waiting = reading.attention(tx)
        assert reading.units(tx, campaign.id, Stage.PREFLIGHT, State.HELD) == waiting
        assert reading.units(tx, campaign.id, Stage.PREFLIGHT, State.FAILED) == []
    assert list(waiting[0]) == [
        "key",
        "stage",
        "state",
        "reason",
        "detail",
        "attempts",
        "epoch",
        "due_at",
        "since",
        "decisions",
    ]
    assert waiting[0]["decisions"] == ["correct", "filed", "reject", "rerun"]


def test_the_report_says_what_became_of_each_publisher(world: World) -> None:
    campaign = world.campaign(publishers=7)
    listed, refused, moderated, failed, waiting = (f"s{n}.example" for n in range(5))
    world.reach(campaign, Stage.SCORING)
    units = {unit.key.site: unit for unit in world.claim(campaign, Stage.SCORING, 6)}
    world.finish(units.pop("s5.example"), Outcome.reject(Reason.BELOW_BAR, "12 of 100"))
    world.finish(list(units.values()))
    world.promote(campaign)
    for stage in (Stage.FORM_MAPPING, Stage.CONTENT, Stage.PREFLIGHT):
        world.run(campaign, stage)
        world.promote(campaign)
    for unit in [world.claim_one(campaign, Stage.SUBMISSION) for _ in range(4)]:
        if unit.key.site == refused:
            assert world.arm(unit)
            world.verdict(unit, Verdict.REFUSED, Reason.REFUSED_SITE)
        elif unit.key.site == failed:
            world.finish(unit, Outcome.fail(Reason.FORM_CHANGED, "another form"))
        else:
            world.finish(unit)
    world.promote(campaign)
    for unit in world.claim(campaign, Stage.CONFIRMATION):
        world.finish(
            unit,
            Outcome.wait(Reason.MODERATION, "in the queue", 3600) if unit.key.site == moderated else None,
        )
    world.promote(campaign)
    world.run(campaign, Stage.MONITORING)
    with world.ledger.bound("acme") as tx:
        rows = {row["site"]: row for row in reading.report(tx, campaign.id)}
    assert {site: row["outcome"] for site, row in rows.items()} == {
        listed: "listed", refused: "rejected", moderated: "waiting", failed: "attention", waiting: "ready",
        "s5.example": "rejected", "s6.example": "ready",
    }  # fmt: skip
    assert (rows[listed]["verdict"], rows[listed]["listing_url"]) == ("accepted", "https://tools.example/l/1")
    assert rows[listed]["filed_at"] is not None
    assert rows[failed]["verdict"] is None
    assert rows["s5.example"]["detail"] == "12 of 100"
    expected = ["key", "site", "outcome", "reason", "detail", "filed_at", "verdict", "listing_url", "rel"]
    assert all(list(row) == expected for row in rows.values())


def test_show_tells_everything_about_one_publisher(world: World) -> None:
    campaign = world.campaign()
    world.reach(campaign, Stage.CONFIRMATION)
    with world.ledger.bound("acme") as tx:
        shown = reading.show(tx, world.key(campaign))
        assert tx.execute(text("select count(*) from units")).scalar_one() == 8
    assert [stage["stage"] for stage in shown["stages"]] == list(Stage)
    assert [len(stage["tries"]) for stage in shown["stages"]] == [1, 1, 1, 1, 1, 1, 0, 0]
    assert shown["stages"][1]["result"]["score"] == 80
    assert shown["filings"][0]["verdict"] == "accepted"


def test_what_a_human_is_offered_follows_from_the_reason() -> None:
    assert choices(Stage.PREFLIGHT, State.HELD, Reason.UNANSWERABLE_QUESTION) == (
        "correct",
        "filed",
        "reject",
        "rerun",
    )
    for by_hand in (Reason.CAPTCHA, Reason.LOGIN_REQUIRED):
        assert choices(Stage.PREFLIGHT, State.HELD, by_hand) == ("filed", "reject", "rerun")
    assert "approve" in choices(Stage.PREFLIGHT, State.HELD, Reason.APPROVAL)
    assert choices(Stage.SUBMISSION, State.UNRESOLVED, Reason.UNKNOWN_VERDICT) == ("filed", "not_filed")
