"""Scheduler and reaper, tick by tick, on a real ledger and a real instance; workers that are really killed."""

from __future__ import annotations

import pytest
from dagster import DagsterRunStatus, SkipReason
from sqlalchemy import text

from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.policy import REAPER_GRACE, RUN_SILENCE, policies
from campaign_assets.publication import DEFERRED
from campaign_assets.sensors import ORPHAN_AFTER, START_PATIENCE, reaper, scheduler
from campaign_assets.states import Stage
from campaign_assets.tags import CAMPAIGN_ID, QUARANTINE, STAGE, TENANT
from campaign_assets_tests.dagster_stand import Stand

pytest_plugins = ["campaign_assets_tests.dagster_fixtures"]


def age(stand: Stand, what: str, seconds: float) -> None:
    """Move a moment of the ledger into the past, as if so much time had gone by."""
    moves = {
        "due": "update units set due_at = due_at - :age * interval '1 second' where state = 'ready'",
        "beats": "update runs set beat_at = beat_at - :age * interval '1 second' where ended_at is null",
        "claims": "update units set claimed_at = claimed_at - :age * interval '1 second' where claim is not null",
        "reaper": "update ticks set at = at - :age * interval '1 second' where sensor = 'reaper'",
        "ends": "update runs set ended_at = ended_at - :age * interval '1 second' where ended_at is not null",
    }
    with stand.ledger.bound(stand.tenant) as tx:
        tx.execute(text(moves[what]), {"age": seconds})


def scored_next(stand: Stand, *sites: str) -> Campaign:
    campaign = stand.campaign("launch", sites)
    stand.advance(campaign, Stage.DISCOVERY)
    return campaign


def skipped(stand: Stand) -> str:
    result = stand.tick(reaper)
    assert isinstance(result, SkipReason)
    return str(result.skip_message)


# -------------------------------------------------------------------------------------------------------- the scheduler


def test_due_work_becomes_a_run_whose_tags_say_whose_it_is(stand: Stand) -> None:
    campaign = stand.campaign("launch", ["a.example", "b.example"])
    age(stand, "due", 10)
    (request,) = stand.schedule()
    assert request.job_name == "discovery_run"
    assert request.partition_key is None
    assert request.run_key is None
    assert request.tags[STAGE] == "discovery"
    assert request.tags[CAMPAIGN_ID] == str(campaign.id)
    assert request.tags[TENANT] == "acme"
    assert request.tags["dagster/max_runtime"] == str(int(policies("sandbox")[Stage.DISCOVERY].max_runtime))
    assert DEFERRED.items() <= request.tags.items()


def test_a_few_units_that_are_due_only_now_wait_for_company(stand: Stand) -> None:
    stand.campaign("launch", ["a.example"])
    assert stand.schedule() == []
    age(stand, "due", 10)
    assert len(stand.schedule()) == 1


def test_a_paused_campaign_gets_no_run(stand: Stand) -> None:
    campaign = stand.campaign("launch", ["a.example"])
    age(stand, "due", 10)
    stand.pause(campaign)
    assert stand.schedule() == []


def test_a_run_that_dagster_is_still_starting_is_not_asked_for_twice(stand: Stand) -> None:
    campaign = stand.campaign("launch", ["a.example"])
    age(stand, "due", 10)
    stand.requested(campaign, Stage.DISCOVERY)
    assert stand.schedule() == []


def test_a_tick_promotes_what_has_become_eligible(stand: Stand) -> None:
    campaign = stand.campaign("launch", ["a.example"])
    stand.pull(campaign, Stage.DISCOVERY)
    assert stand.states(campaign, Stage.SCORING) == {"a.example": "none"}
    stand.schedule()
    assert stand.states(campaign, Stage.SCORING) == {"a.example": "ready"}


def test_a_campaign_goes_to_its_end_by_ticks_alone(stand: Stand) -> None:
    sites = ["a.example", "b.example", "fail-content-1.example"]
    campaign = stand.campaign("launch", sites)
    ran: list[str] = []
    for _ in range(30):
        if str(Stage.MONITORING) in ran:
            break
        age(stand, "due", 10)
        for request in stand.schedule():
            ran.append(str(request.tags[STAGE]))
            stand.run_in_process(request)
    assert set(ran) == set(map(str, Stage))
    assert stand.states(campaign, Stage.MONITORING) == {
        "a.example": "succeeded",
        "b.example": "succeeded",
        sites[2]: "none",
    }


def test_two_tenants_are_both_served(stand: Stand) -> None:
    other = Stand(stand.settings, stand.ledger, stand.instance, tenant="bolt")
    stand.campaign("launch", ["a.example"])
    other.campaign("launch", ["a.example"])
    for each in (stand, other):
        age(each, "due", 10)
    assert {request.tags[TENANT] for request in stand.schedule()} == {"acme", "bolt"}


def test_keys_that_a_crash_left_out_are_added_by_the_next_tick(stand: Stand) -> None:
    campaign = stand.campaign("launch", ["a.example"])
    with stand.ledger.bound(stand.tenant) as tx:
        tx.execute(text("update publishers set partition = 'missing'"))
    stand.instance.delete_dynamic_partition("publishers", stand.key(campaign, "a.example"))
    stand.schedule()
    assert stand.instance.get_dynamic_partitions("publishers") == [stand.key(campaign, "a.example")]


def test_a_ledger_that_cannot_be_reached_is_a_skipped_tick_with_the_reason(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.schedule()
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", "postgresql://nobody:x@127.0.0.1:9/none")
    for sensor in (scheduler, reaper):
        result = stand.tick(sensor)
        assert isinstance(result, SkipReason)
        assert "cannot be" in str(result.skip_message)


def test_a_stage_whose_runs_achieve_nothing_is_asked_for_less_often(stand: Stand) -> None:
    campaign = stand.campaign("launch", ["a.example"])
    age(stand, "due", 10)
    stand.barren_runs(campaign, Stage.DISCOVERY, 2)
    assert stand.schedule() == []
    age(stand, "ends", 15)
    assert len(stand.schedule()) == 1


# ----------------------------------------------------------------------------------------------------------- the reaper


def test_a_killed_workers_run_is_over_by_the_ledgers_word_though_dagster_says_started(stand: Stand) -> None:
    site = "kill-scoring-1.example"
    campaign = scored_next(stand, site, "a.example")
    run, process = stand.worker(campaign, Stage.SCORING)
    process.wait(90)
    assert (stand.settings.home / "killed").exists(), stand.said()
    assert stand.status(run) is DagsterRunStatus.STARTED, "nobody told Dagster: the code server died too"
    skipped(stand)
    assert stand.status(run) is DagsterRunStatus.STARTED, "one look inside the grace is no remedy"
    age(stand, "beats", RUN_SILENCE)
    skipped(stand)
    assert stand.status(run) is DagsterRunStatus.FAILURE
    assert set(stand.states(campaign, Stage.SCORING).values()) == {"ready"}
    assert {row["alone"] for row in stand.rows(campaign, Stage.SCORING)} == {True}
    (request,) = stand.schedule()
    assert QUARANTINE in request.tags
    stand.run_in_process(request)
    assert set(stand.states(campaign, Stage.SCORING).values()) == {"succeeded"}


def test_where_dagster_knows_of_the_end_less_silence_is_enough(stand: Stand) -> None:
    campaign = scored_next(stand, "kill-scoring-1.example")
    run, process = stand.worker(campaign, Stage.SCORING)
    process.wait(90)
    found = stand.instance.get_run_by_id(run.run_id)
    assert found is not None
    stand.instance.report_run_failed(found, "as the code server does")
    age(stand, "beats", 10)
    assert "1 units given back" in skipped(stand)
    assert campaign


def test_a_living_worker_is_not_robbed_whatever_dagster_says(stand: Stand) -> None:
    site = "slow-scoring-1.example"
    campaign = scored_next(stand, site)
    run, process = stand.worker(campaign, Stage.SCORING)
    stand.begun(f"scoring-{site}")
    found = stand.instance.get_run_by_id(run.run_id)
    assert found is not None
    stand.instance.report_run_failed(found, "a mistake")
    skipped(stand)
    assert stand.states(campaign, Stage.SCORING) == {site: "running"}
    stand.stop(run, process, "SIGTERM")
    process.wait(90)
    assert stand.states(campaign, Stage.SCORING) == {site: "ready"}


def test_a_worker_whose_run_was_given_up_stops_by_itself(stand: Stand) -> None:
    site = "slow-scoring-1.example"
    campaign = scored_next(stand, site)
    run, process = stand.worker(campaign, Stage.SCORING)
    stand.begun(f"scoring-{site}")
    age(stand, "beats", RUN_SILENCE + 60)
    skipped(stand)
    process.wait(90)
    assert stand.states(campaign, Stage.SCORING) == {site: "ready"}
    assert run


def test_a_unit_that_is_in_work_for_too_long_is_taken_by_age_alone(stand: Stand) -> None:
    campaign = scored_next(stand, "a.example")
    stand.claim(campaign, Stage.SCORING)
    skipped(stand)
    assert stand.states(campaign, Stage.SCORING) == {"a.example": "running"}
    age(stand, "claims", policies("sandbox")[Stage.SCORING].reap_after + 1)
    skipped(stand)
    assert stand.states(campaign, Stage.SCORING) == {"a.example": "ready"}


def test_a_reaper_that_has_slept_leaves_out_one_round(stand: Stand) -> None:
    campaign = scored_next(stand, "a.example")
    skipped(stand)
    stand.claim(campaign, Stage.SCORING)
    age(stand, "claims", 10_000)
    age(stand, "reaper", REAPER_GRACE + 5)
    skipped(stand)
    assert stand.states(campaign, Stage.SCORING) == {"a.example": "running"}
    skipped(stand)
    assert stand.states(campaign, Stage.SCORING) == {"a.example": "ready"}


def test_a_killed_filing_waits_for_a_person(stand: Stand) -> None:
    site = "armed-submission-1.example"
    campaign = stand.campaign("launch", [site])
    stand.advance(campaign, Stage.PREFLIGHT)
    _run, process = stand.worker(campaign, Stage.SUBMISSION)
    stand.begun(f"armed-{site}")
    process.kill()
    process.wait()
    age(stand, "beats", RUN_SILENCE + 5)
    skipped(stand)
    assert stand.states(campaign, Stage.SUBMISSION) == {site: "unresolved"}
    assert stand.shown(Stage.SUBMISSION)["failed"] == {stand.key(campaign, site)}


def test_a_run_that_begins_and_is_never_heard_of_is_reported_failed(stand: Stand) -> None:
    campaign = scored_next(stand, "a.example")
    run = stand.requested(campaign, Stage.SCORING, DagsterRunStatus.STARTED)
    skipped(stand)
    assert stand.status(run) is DagsterRunStatus.STARTED
    age(stand, "due", 10)
    assert stand.schedule() == [], "it is being started"
    stand.grow_old(run, START_PATIENCE + 1)
    assert len(stand.schedule()) == 1, "another run takes its place"
    stand.grow_old(run, ORPHAN_AFTER + 1)
    skipped(stand)
    assert stand.status(run) is DagsterRunStatus.FAILURE


def test_the_reaper_mends_what_dagster_was_not_told(stand: Stand) -> None:
    campaign = scored_next(stand, "a.example")
    with stand.ledger.bound(stand.tenant) as tx:
        tx.execute(text("update units set published_revision = -1 where stage = 'discovery'"))
    assert "1 publications mended" in skipped(stand)
    assert stand.shown(Stage.DISCOVERY)["materialized"] == {stand.key(campaign, "a.example")}


def test_the_keys_of_an_archived_campaign_go(stand: Stand) -> None:
    campaign = scored_next(stand, "a.example")
    stand.archive(campaign)
    skipped(stand)
    assert stand.instance.get_dynamic_partitions("publishers") == []
