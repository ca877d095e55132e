"""The ledger's face in Dagster: every publisher shows its own state, and what a crash left out is mended."""

from __future__ import annotations

from dagster import AssetKey, AssetRecordsFilter, RunsFilter

from campaign_assets.ledger import publishing
from campaign_assets.publication import Face
from campaign_assets.states import Stage
from campaign_assets_tests.dagster_stand import Stand

pytest_plugins = ["campaign_assets_tests.dagster_fixtures"]

SITES = [
    "a.example",
    "b.example",
    "fail-scoring-1.example",
    "hold-scoring-1.example",
    "reject-scoring-1.example",
    "retry-scoring-1.example",
]


def keys(stand: Stand, *sites: str) -> set[str]:
    return {f"{stand.tenant}/launch/{site}" for site in sites}


def scored(stand: Stand):  # type: ignore[no-untyped-def]
    campaign = stand.campaign("launch", SITES)
    stand.advance(campaign, Stage.DISCOVERY)
    stand.pull(campaign, Stage.SCORING)
    return campaign


def face(stand: Stand) -> Face:
    return Face(stand.ledger, stand.instance, stand.tenant, stand.settings.home)


def test_every_publisher_shows_its_own_state_after_a_run_that_is_a_success(stand: Stand) -> None:
    scored(stand)
    shown = stand.shown(Stage.SCORING)
    assert shown["materialized"] == keys(stand, "a.example", "b.example", "reject-scoring-1.example")
    assert shown["failed"] == keys(stand, "fail-scoring-1.example", "hold-scoring-1.example")
    assert not shown["in progress"]
    assert stand.shown(Stage.DISCOVERY)["materialized"] == keys(stand, *SITES)


def test_a_materialization_shows_what_a_person_wants_to_see(stand: Stand) -> None:
    scored(stand)
    asked = AssetRecordsFilter(asset_key=AssetKey("scoring"), asset_partitions=list(keys(stand, "a.example")))
    (record,) = stand.instance.fetch_materializations(asked, limit=5).records
    shown = record.event_log_entry.asset_materialization
    assert shown is not None
    assert shown.metadata["score"].value == 60
    assert shown.metadata["reasons"].value.records[0].data["why"] == "It fits."  # type: ignore[union-attr]
    assert {"state", "page", "memory (MB)", "run"} <= set(shown.metadata)


def test_a_failed_unit_carries_its_reason_and_its_run_on_the_marker_run(stand: Stand) -> None:
    campaign = scored(stand)
    with stand.ledger.bound(stand.tenant) as tx:
        marker = publishing.marker_run(tx, campaign.id, Stage.SCORING)
    assert marker is not None
    messages = [
        event.dagster_event.message for event in stand.instance.all_logs(marker) if event.dagster_event
    ]
    assert any(
        "fail-scoring-1.example failed: not_found: It is gone. (run " in str(message) for message in messages
    )
    run = stand.instance.get_run_by_id(marker)
    assert run is not None
    assert run.status.value == "FAILURE"


def test_one_marker_run_serves_a_campaign_and_stage_whatever_else_fails_there(stand: Stand) -> None:
    campaign = scored(stand)
    stand.rerun(stand.key(campaign, "fail-scoring-1.example"), Stage.SCORING)
    stand.pull(campaign, Stage.SCORING)
    records = stand.instance.get_runs(RunsFilter(job_name="record"))
    assert len(records) == 1
    assert stand.shown(Stage.SCORING)["failed"] == keys(
        stand, "fail-scoring-1.example", "hold-scoring-1.example"
    )


def test_a_unit_that_a_person_settles_after_an_attention_is_green_with_a_good_run(stand: Stand) -> None:
    campaign = scored(stand)
    stand.decide(stand.key(campaign, "hold-scoring-1.example"), Stage.SCORING, "reject")
    face(stand).publish()
    shown = stand.shown(Stage.SCORING)
    assert keys(stand, "hold-scoring-1.example") <= shown["materialized"]
    assert shown["failed"] == keys(stand, "fail-scoring-1.example")
    assert stand.latest_run_status(Stage.SCORING, stand.key(campaign, "hold-scoring-1.example")) in (
        "SUCCESS",
        None,
    )


def test_a_unit_that_is_tried_again_after_an_attention_is_no_longer_shown_as_failed(stand: Stand) -> None:
    campaign = scored(stand)
    stand.rerun(stand.key(campaign, "hold-scoring-1.example"), Stage.SCORING)
    face(stand).publish()
    shown = stand.shown(Stage.SCORING)
    assert shown["failed"] == keys(stand, "fail-scoring-1.example")
    assert not keys(stand, "hold-scoring-1.example") & shown["materialized"]
    stand.pull(campaign, Stage.SCORING)
    assert keys(stand, "hold-scoring-1.example") <= stand.shown(Stage.SCORING)["failed"]


def test_what_a_crash_left_unpublished_is_mended_from_the_ledger(stand: Stand) -> None:
    campaign = scored(stand)
    with stand.ledger.bound(stand.tenant) as tx:
        told = [(unit["id"], unit["revision"]) for unit in stand.rows(campaign, Stage.SCORING)]
        publishing.mark_published(tx, [(unit_id, revision - 1) for unit_id, revision in told])
    assert face(stand).publish(campaign.id, Stage.SCORING) >= 5
    assert face(stand).publish(campaign.id, Stage.SCORING) == 0
    assert len(stand.shown(Stage.SCORING)["materialized"]) == 3


def test_a_deleted_marker_run_is_replaced(stand: Stand) -> None:
    campaign = scored(stand)
    with stand.ledger.bound(stand.tenant) as tx:
        marker = publishing.marker_run(tx, campaign.id, Stage.SCORING)
    assert marker is not None
    stand.instance.delete_run(marker)
    stand.rerun(stand.key(campaign, "fail-scoring-1.example"), Stage.SCORING)
    stand.pull(campaign, Stage.SCORING)
    with stand.ledger.bound(stand.tenant) as tx:
        assert publishing.marker_run(tx, campaign.id, Stage.SCORING) != marker
    assert keys(stand, "fail-scoring-1.example") <= stand.shown(Stage.SCORING)["failed"]


def test_partition_keys_follow_the_publishers_and_go_with_an_archived_campaign(stand: Stand) -> None:
    campaign = scored(stand)
    assert set(stand.instance.get_dynamic_partitions("publishers")) == keys(stand, *SITES)
    stand.archive(campaign)
    face(stand).remove_keys()
    assert stand.instance.get_dynamic_partitions("publishers") == []
