"""A run through Dagster's own machinery on a real ledger: pulled by the scheduler, or asked for by an operator."""

from __future__ import annotations

import json
from typing import Any

from dagster import DagsterEventType

from campaign_assets.publication import PUBLISHERS, Face
from campaign_assets.states import Stage
from campaign_assets.tags import QUARANTINE
from campaign_assets_tests.dagster_stand import Stand

pytest_plugins = ["campaign_assets_tests.dagster_fixtures"]


def failure(result: Any) -> str:
    """The sentence of a failed step."""
    events = [e for e in result.all_events if e.event_type is DagsterEventType.STEP_FAILURE]
    assert events, "the step did not fail"
    return str(events[0].step_failure_data.error.message) + str(events[0].step_failure_data.user_failure_data)


def up_to(stand: Stand, stage: Stage, *sites: str) -> Any:
    campaign = stand.campaign("launch", sites)
    stand.advance(campaign, stage)
    return campaign


def test_a_pulled_run_is_a_success_whatever_became_of_single_units(stand: Stand) -> None:
    campaign = up_to(stand, Stage.DISCOVERY, "a.example", "fail-scoring-1.example", "retry-scoring-1.example")
    assert stand.pull(campaign, Stage.SCORING).success
    assert stand.states(campaign, Stage.SCORING) == {
        "a.example": "succeeded",
        "fail-scoring-1.example": "failed",
        "retry-scoring-1.example": "ready",
    }


def test_the_runs_log_has_a_line_for_each_unit_with_whose_it_is(stand: Stand) -> None:
    campaign = up_to(stand, Stage.DISCOVERY, "a.example")
    result = stand.pull(campaign, Stage.SCORING)
    text = "".join(path.read_text() for path in (stand.settings.home / "logs").glob("*.jsonl"))
    (line,) = [
        entry
        for entry in map(json.loads, text.splitlines())
        if entry["event"] == "succeed" and entry["stage"] == "scoring"
    ]
    assert (line["tenant"], line["campaign"], line["key"], line["run"]) == (
        "acme",
        "launch",
        "acme/launch/a.example",
        result.run_id,
    )


def test_a_campaign_runs_through_all_eight_stages(stand: Stand) -> None:
    sites = [f"s{n}.example" for n in range(6)]
    campaign = stand.campaign("launch", sites)
    stand.advance(campaign, Stage.MONITORING)
    for stage in Stage:
        assert stand.states(campaign, stage) == dict.fromkeys(sites, "succeeded"), stage
        assert stand.shown(stage)["materialized"] == {stand.key(campaign, site) for site in sites}


def test_a_quarantine_run_takes_the_units_whose_worker_died(stand: Stand) -> None:
    campaign = up_to(stand, Stage.DISCOVERY, "a.example", "b.example")
    stand.lose_everything(campaign, Stage.SCORING)
    stand.pull(campaign, Stage.SCORING)
    assert set(stand.states(campaign, Stage.SCORING).values()) == {"ready"}, "an ordinary run leaves them"
    stand.pull(campaign, Stage.SCORING, **{QUARANTINE: "true"})
    assert set(stand.states(campaign, Stage.SCORING).values()) == {"succeeded"}


def test_an_operators_run_of_one_partition_works_on_that_publisher_alone(stand: Stand) -> None:
    campaign = up_to(stand, Stage.SCORING, "a.example", "b.example")
    versions = {row["key"]: row["version"] for row in stand.rows(campaign, Stage.SCORING)}
    result = stand.operate(Stage.SCORING, stand.key(campaign, "a.example"))
    assert result.success
    after = {row["key"]: row["version"] for row in stand.rows(campaign, Stage.SCORING)}
    changed = {key for key in after if after[key] != versions[key]}
    assert changed == {stand.key(campaign, "a.example")}


def test_an_operators_run_writes_each_materialization_once(stand: Stand) -> None:
    campaign = up_to(stand, Stage.SCORING, "a.example")
    key = stand.key(campaign, "a.example")
    before = stand.materializations(Stage.SCORING, key)
    stand.operate(Stage.SCORING, key)
    assert stand.materializations(Stage.SCORING, key) == before + 1
    assert key in stand.shown(Stage.SCORING)["materialized"]


def test_an_operators_run_whose_publisher_needs_attention_is_red_with_the_reason(stand: Stand) -> None:
    campaign = up_to(stand, Stage.DISCOVERY, "hold-scoring-1.example")
    result = stand.operate(Stage.SCORING, stand.key(campaign, "hold-scoring-1.example"))
    assert not result.success
    assert "captcha" in failure(result)
    assert stand.key(campaign, "hold-scoring-1.example") in stand.shown(Stage.SCORING)["failed"]


def test_an_operators_run_in_a_paused_campaign_is_refused_and_says_so(stand: Stand) -> None:
    campaign = up_to(stand, Stage.SCORING, "a.example")
    stand.pause(campaign)
    result = stand.operate(Stage.SCORING, stand.key(campaign, "a.example"))
    assert not result.success
    assert "pause" in failure(result)


def test_an_operators_run_in_an_archived_campaign_is_refused_also_when_its_keys_are_gone(
    stand: Stand,
) -> None:
    campaign = up_to(stand, Stage.SCORING, "a.example")
    key = stand.key(campaign, "a.example")
    stand.archive(campaign)
    assert "archived" in failure(stand.operate(Stage.SCORING, key))
    stand.instance.delete_dynamic_partition(PUBLISHERS, key)
    assert "archived" in failure(stand.operate_again(Stage.SCORING, key))


def test_what_is_filed_is_green_again_and_not_filed_again(stand: Stand) -> None:
    campaign = up_to(stand, Stage.SUBMISSION, "a.example")
    key = stand.key(campaign, "a.example")
    filings = stand.filings(key)
    before = stand.materializations(Stage.SUBMISSION, key)
    result = stand.operate(Stage.SUBMISSION, key)
    assert result.success
    assert stand.filings(key) == filings
    assert stand.materializations(Stage.SUBMISSION, key) == before + 1


def test_an_unresolved_filing_is_refused_in_red_and_says_what_to_do(stand: Stand) -> None:
    site = "a.example"
    campaign = up_to(stand, Stage.PREFLIGHT, site)
    stand.lose_everything(campaign, Stage.SUBMISSION)
    assert stand.states(campaign, Stage.SUBMISSION)[site] == "unresolved"
    result = stand.operate(Stage.SUBMISSION, stand.key(campaign, site))
    assert not result.success
    key = stand.key(campaign, site)
    assert f"{key} is unresolved" in failure(result)
    assert f"{key}: {key}" not in failure(result)
    assert stand.states(campaign, Stage.SUBMISSION)[site] == "unresolved"


def test_a_refused_run_leaves_partitions_as_the_ledger_says(stand: Stand) -> None:
    campaign = up_to(stand, Stage.SCORING, "a.example", "b.example")
    key = stand.key(campaign, "a.example")
    stand.pause(campaign)
    for stage in (Stage.SCORING, Stage.PREFLIGHT):
        assert not stand.operate(stage, key).success
    assert key in stand.shown(Stage.SCORING)["failed"]
    assert key in stand.shown(Stage.PREFLIGHT)["failed"]  # and Dagster's cache of statuses has it now
    Face(stand.ledger, stand.instance, stand.tenant, stand.settings.home).publish()
    assert key in stand.shown(Stage.SCORING)["materialized"]
    assert key not in stand.shown(Stage.PREFLIGHT)["failed"]


def test_a_run_without_partition_and_without_the_schedulers_tags_says_what_to_do(stand: Stand) -> None:
    up_to(stand, Stage.DISCOVERY, "a.example")
    from campaign_assets_tests import dagster_location

    job = dagster_location.defs.resolve_job_def("scoring_run")
    result = job.execute_in_process(instance=stand.instance, raise_on_error=False)
    assert "Choose the partitions" in failure(result)


def test_a_submission_run_refuses_an_instance_that_would_start_it_again(stand: Stand) -> None:
    campaign = up_to(stand, Stage.PREFLIGHT, "a.example")
    with stand.run_retries_on():
        result = stand.pull(campaign, Stage.SUBMISSION)
    assert not result.success
    assert "could file a form twice" in failure(result)
    assert stand.states(campaign, Stage.SUBMISSION) == {"a.example": "ready"}


def test_the_operators_jobs_do_what_the_command_does_and_refuse_in_its_words(stand: Stand) -> None:
    campaign = up_to(stand, Stage.SCORING, "a.example", "hold-scoring-1.example")
    key = stand.key(campaign, "a.example")
    done = stand.job("rerun", "rerun_publisher", {"key": key, "stage": "scoring"})
    assert done.success
    assert stand.states(campaign, Stage.SCORING)["a.example"] == "ready"
    decided = stand.job(
        "decide",
        "decide_publisher",
        {"key": stand.key(campaign, "hold-scoring-1.example"), "stage": "SCORING", "choice": "REJECT"},
    )
    assert decided.success
    assert stand.states(campaign, Stage.SCORING)["hold-scoring-1.example"] == "rejected"
    assert stand.job("restart", "restart_campaign", {"campaign": "acme/launch"}).success
    refused = stand.job("resolve", "resolve_filing", {"key": key, "filed": True, "note": "seen"})
    assert not refused.success
    assert "a.example" in failure(refused)
    unknown = stand.job("restart", "restart_campaign", {"campaign": "nothing"})
    assert "nothing" in failure(unknown)
    misspelt = stand.job("rerun", "rerun_publisher", {"key": key, "stage": "scorign"})
    assert "'scorign' is no stage; give one of discovery, scoring," in failure(misspelt)


def test_a_backfills_range_of_keys_works_on_exactly_those(stand: Stand) -> None:
    campaign = up_to(stand, Stage.SCORING, "a.example", "b.example", "c.example")
    before = {row["key"]: row["version"] for row in stand.rows(campaign, Stage.SCORING)}
    wanted = [stand.key(campaign, site) for site in ("a.example", "b.example")]
    assert stand.operate_range(Stage.SCORING, *wanted).success
    changed = [r["key"] for r in stand.rows(campaign, Stage.SCORING) if r["version"] != before[r["key"]]]
    assert changed == wanted


def test_an_operators_run_of_several_stages_takes_a_publisher_through_them_in_order(stand: Stand) -> None:
    campaign = up_to(stand, Stage.DISCOVERY, "a.example")
    stages = [Stage.SCORING, Stage.FORM_MAPPING, Stage.CONTENT]
    assert stand.operate_stages(stages, stand.key(campaign, "a.example")).success
    assert [stand.states(campaign, stage)["a.example"] for stage in stages] == ["succeeded"] * 3
    assert stand.materializations(Stage.CONTENT, stand.key(campaign, "a.example")) == 1
