"""What becomes eligible: units follow their upstream's versions and the campaign's epoch, down the chain, without
a scan.
"""

from __future__ import annotations

import pytest
from sqlalchemy import text

from campaign_assets.ledger import operators, promotion, publishing, reading
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.model import Outcome, Reason
from campaign_assets.states import SETTLED, Stage, State
from campaign_assets_tests.ledger_world import World, result_for


def states(world: World, campaign: Campaign, site: str = "s0.example") -> dict[Stage, str]:
    rows = world.query(
        campaign,
        "select u.stage, u.state from units u join publishers p on p.id = u.publisher_id "
        "where p.site = :site order by u.id",
        site=site,
    )
    return {Stage(row.stage): row.state for row in rows}


def everything(world: World, name: str = "acme/launch", publishers: int = 1) -> Campaign:
    campaign = world.campaign(name, publishers)
    for stage in Stage:
        world.run(campaign, stage)
        world.promote(campaign)
    return campaign


def test_a_look_without_a_change_does_nothing(world: World) -> None:
    campaign = everything(world)
    assert world.promote(campaign) == {}
    assert world.query(campaign, "select 1 from units where touched") == []


def test_each_stage_becomes_ready_when_the_one_before_has_succeeded(world: World) -> None:
    campaign = world.campaign()
    for stage in list(Stage)[:-1]:
        assert stage.downstream is not None
        assert world.state(campaign, stage.downstream) is State.NONE
        world.run(campaign, stage)
        assert world.promote(campaign) == {"promote": 1}
        assert world.state(campaign, stage.downstream) is State.READY


@pytest.mark.parametrize("state", sorted(SETTLED - {State.SUCCEEDED, State.UNRESOLVED}))
def test_nothing_follows_what_did_not_succeed(world: World, state: State) -> None:
    campaign = world.campaign()
    world.bring(campaign, Stage.SCORING, state)
    assert world.promote(campaign) == {}
    assert world.state(campaign, Stage.FORM_MAPPING) is State.NONE


def test_a_new_version_is_taken_up_by_the_next_stage_and_goes_down_step_by_step(world: World) -> None:
    campaign = world.campaign()
    world.reach(campaign, Stage.SUBMISSION)
    world.human(world.key(campaign), operators.rerun, Stage.SCORING)
    assert world.promote(campaign) == {"withdraw": 1}, (
        "what waits at the end of the chain is no longer eligible"
    )
    assert states(world, campaign)[Stage.SUBMISSION] == "none"
    world.run(campaign, Stage.SCORING)
    assert world.promote(campaign) == {"promote": 1}
    assert states(world, campaign)[Stage.FORM_MAPPING] == "ready"
    assert states(world, campaign)[Stage.CONTENT] == "succeeded", (
        "not current, but it keeps its state until it can run"
    )
    world.reach(campaign, Stage.SUBMISSION)
    versions = [row.version for row in world.query(campaign, "select version from units order by id")]
    assert versions == [1, 2, 2, 2, 2, 0, 0, 0]
    assert world.state(campaign, Stage.SUBMISSION) is State.READY


def test_a_unit_whose_upstream_changed_while_it_ran_runs_once_more(world: World) -> None:
    campaign = world.campaign()
    world.reach(campaign, Stage.CONTENT)
    unit = world.claim_one(campaign, Stage.CONTENT)
    world.human(world.key(campaign), operators.rerun, Stage.FORM_MAPPING)
    world.run(campaign, Stage.FORM_MAPPING)
    assert world.promote(campaign) == {}, "what is in work is left alone"
    world.finish(unit)
    assert world.promote(campaign) == {"promote": 1}
    assert world.claim_one(campaign, Stage.CONTENT).upstream_version == 2
    assert world.state(campaign, Stage.PREFLIGHT) is State.NONE


def test_a_retry_that_waits_is_withdrawn_when_its_upstream_is_gone(world: World) -> None:
    campaign = world.campaign()
    world.reach(campaign, Stage.CONTENT)
    world.finish(world.claim_one(campaign, Stage.CONTENT), Outcome.retry(Reason.ERROR, "again", 3600))
    world.human(world.key(campaign), operators.rerun, Stage.DISCOVERY)
    assert world.promote(campaign) == {"withdraw": 1}
    assert world.state(campaign, Stage.CONTENT) is State.NONE


def test_a_restart_runs_every_stage_again_in_order_with_attempts_at_zero(world: World) -> None:
    campaign = world.campaign(publishers=3)
    world.reach(campaign, Stage.PREFLIGHT)
    world.finish(world.claim(campaign, Stage.PREFLIGHT, 2), Outcome.retry(Reason.ERROR, "again", 3600))
    assert world.operate(campaign, operators.restart) == 2
    moved = world.promote(campaign)
    assert moved == {"withdraw": 3, "promote": 3}
    assert [
        row.attempts for row in world.query(campaign, "select attempts from units where stage = 'discovery'")
    ] == [0, 0, 0]
    for stage in list(Stage)[:5]:
        due = world.claim(campaign, stage)
        assert [(unit.epoch, unit.attempts, unit.waits) for unit in due] == [(2, 0, 0)] * 3
        world.finish(due)
        world.promote(campaign)
    old = world.query(
        campaign, "select r.epoch from results r join units u on u.id = r.unit_id and u.version = r.version"
    )
    assert {row.epoch for row in old} == {2}


def test_two_restarts_in_a_row_leave_one_clean_epoch(world: World) -> None:
    campaign = world.campaign(publishers=2)
    world.reach(campaign, Stage.SCORING)
    first = world.claim(campaign, Stage.SCORING)
    world.operate(campaign, operators.restart)
    world.promote(campaign)
    second = world.claim(campaign, Stage.DISCOVERY)
    world.operate(campaign, operators.restart)
    world.promote(campaign)
    assert [each.applied for each in world.finish(first) + world.finish(second)] == [False] * 4
    world.reach(campaign, Stage.SUBMISSION)
    epochs = {
        row.epoch for row in world.query(campaign, "select epoch from units where state not in ('none')")
    }
    assert epochs == {3}
    superseded = world.query(campaign, "select epoch from attempts where not applied order by id")
    assert [row.epoch for row in superseded] == [1, 1, 2, 2]


def test_units_below_a_new_rejection_are_an_earlier_pass_outside_the_counts(world: World) -> None:
    campaign = everything(world, publishers=2)
    key = world.key(campaign)
    with world.ledger.bound("acme") as tx:
        publishing.mark_published(
            tx, [(p.unit.id, p.unit.revision) for p in publishing.unpublished(tx, None, None, 100)]
        )
    world.human(key, operators.rerun, Stage.SCORING)
    world.finish(world.claim_one(campaign, Stage.SCORING), Outcome.reject(Reason.BELOW_BAR, "now too low"))
    assert world.promote(campaign) == {"earlier": 6}
    with world.ledger.bound("acme") as tx:
        counted = reading.counts(tx, campaign.id)
        assert len(reading.units(tx, campaign.id)) == 8 + 2
        assert sorted(p.earlier for p in publishing.unpublished(tx, None, None, 100)) == [False] + [True] * 6
    assert counted[Stage.SCORING] == {State.SUCCEEDED: 1, State.REJECTED: 1}
    assert all(counted[stage] == {State.SUCCEEDED: 1} for stage in list(Stage)[2:])
    world.human(key, operators.rerun, Stage.SCORING)
    world.run(campaign, Stage.SCORING)
    assert world.promote(campaign)["promote"] == 1
    assert not world.unit(campaign, Stage.FORM_MAPPING).earlier


def test_monitoring_is_due_again_after_its_period_and_for_ever(world: World) -> None:
    campaign = everything(world)
    for look in range(3):
        assert world.state(campaign, Stage.MONITORING) is State.SUCCEEDED
        with world.ledger.bound("acme") as tx:
            tx.execute(text("update units set due_at = now() where stage = 'monitoring'"))
        assert world.promote(campaign) == {"promote": 1}
        unit = world.claim_one(campaign, Stage.MONITORING)
        assert unit.results[Stage.MONITORING] == result_for(Stage.MONITORING), "it sees its own last look"
        world.finish(unit)
        assert world.unit(campaign, Stage.MONITORING).version == look + 2
        world.promote(campaign)


def test_monitoring_that_is_due_while_its_confirmation_runs_again_is_put_off(world: World) -> None:
    campaign = everything(world)
    world.human(world.key(campaign), operators.rerun, Stage.CONFIRMATION)
    with world.ledger.bound("acme") as tx:
        tx.execute(text("update units set due_at = now() where stage = 'monitoring'"))
    for _ in range(2):
        assert world.promote(campaign) == {}
    assert world.ledger.tenants()[0].due == 1, "the confirmation; monitoring is no longer due at every tick"
    world.run(campaign, Stage.CONFIRMATION)
    assert world.promote(campaign) == {"promote": 1}


def test_a_look_takes_a_bounded_number_and_the_next_one_the_rest(world: World) -> None:
    campaign = world.campaign(publishers=7)
    world.run(campaign, Stage.DISCOVERY)
    counts = []
    for _ in range(4):
        with world.ledger.bound("acme") as tx:
            counts.append(promotion.promote(tx, limit=3).get("promote", 0))
    assert counts == [3, 3, 1, 0]


def test_nothing_moves_in_an_archived_campaign(world: World) -> None:
    campaign = world.campaign()
    world.run(campaign, Stage.DISCOVERY)
    world.operate(campaign, operators.archive)
    assert world.promote(campaign) == {}
    assert world.state(campaign, Stage.SCORING) is State.NONE


def test_a_paused_campaign_is_looked_at_so_that_a_start_goes_on_at_once(world: World) -> None:
    campaign = world.campaign()
    world.run(campaign, Stage.DISCOVERY)
    world.operate(campaign, operators.pause)
    assert world.promote(campaign) == {"promote": 1}
    world.operate(campaign, operators.start)
    assert len(world.claim(campaign, Stage.SCORING)) == 1
