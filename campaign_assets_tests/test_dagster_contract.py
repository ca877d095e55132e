"""What we take for granted of Dagster, some of it internal: should a version change it, this file says which
of it.

Runs without a partition key over partitioned assets, the tag that leaves asset events to us, the event
builders, statuses by events on finished runs, batches of events, and the shipped `dagster.yaml` on
PostgreSQL.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from dagster import (
    AssetIn,
    AssetKey,
    AssetMaterialization,
    DagsterEvent,
    DagsterInstance,
    DagsterRun,
    Definitions,
    DynamicPartitionsDefinition,
    EventLogEntry,
    In,
    IOManager,
    IOManagerDefinition,
    Nothing,
    Out,
    RunsFilter,
    define_asset_job,
    graph_asset,
    job,
    op,
)
from dagster._core.events import AssetMaterializationPlannedData, DagsterEventType, StepMaterializationData
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value
from psycopg import sql

from campaign_assets.ledger import Ledger
from campaign_assets.settings import Settings
from campaign_assets.states import Stage
from campaign_assets_tests.dagster_stand import Stand

KEYS = DynamicPartitionsDefinition(name="contract")
DEFER = {"dagster/defer_asset_events": "true"}
SECOND = AssetKey("second")


class Own:
    """An object of one's own that Dagster must hand over without consuming it."""

    def __iter__(self) -> Iterator[int]:
        raise AssertionError("somebody consumed it")


class Handing(IOManager):
    """Calls `handle` with what Dagster hands over."""

    def __init__(self, handle: Callable[[Any, Any], None]) -> None:
        self.handle = handle

    def load_input(self, context: Any) -> Own:
        return Own()

    def handle_output(self, context: Any, obj: Any) -> None:
        self.handle(context, obj)


@op(name="second_gate", ins={"upstream": In(Nothing)}, out=Out(Nothing))
def gate() -> None: ...


@op(name="first_work", ins={"pages": In(input_manager_key="io")}, out=Out(io_manager_key="io"))
def first_work(pages: Any) -> Any:
    return pages


@op(
    name="second_work",
    ins={"pages": In(input_manager_key="io"), "start": In(Nothing)},
    out=Out(io_manager_key="io"),
)
def second_work(pages: Any) -> Any:
    return pages


@graph_asset(partitions_def=KEYS)
def first() -> Any:
    return first_work.alias("work")()


@graph_asset(partitions_def=KEYS, ins={"first": AssetIn("first", dagster_type=Nothing)})
def second(first: Any) -> Any:
    return second_work.alias("work")(start=gate.alias("gate")(first))


@op
def nothing() -> None: ...


@job
def marker() -> None:
    nothing()


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[DagsterInstance]:
    with DagsterInstance.local_temp(str(tmp_path)) as made:
        made.add_dynamic_partitions("contract", list("abcde"))
        yield made


def run(instance: DagsterInstance, handle: Callable[[Any, Any], None], **options: Any) -> Any:
    """One run of the second asset's job in this process."""
    resources = {"io": IOManagerDefinition.hardcoded_io_manager(Handing(handle))}
    defs = Definitions(
        [first, second], jobs=[define_asset_job("second_run", ["second"])], resources=resources
    )
    return defs.resolve_job_def("second_run").execute_in_process(
        instance=instance, raise_on_error=False, **options
    )


def shown(instance: DagsterInstance) -> dict[str, set[str]]:
    value = get_and_update_asset_status_cache_value(instance, SECOND, KEYS)
    if value is None:  # no event of any kind
        return {"materialized": set(), "failed": set(), "in progress": set()}
    subsets = {
        "materialized": value.deserialize_materialized_partition_subsets(KEYS),
        "failed": value.deserialize_failed_partition_subsets(KEYS),
        "in progress": value.deserialize_in_progress_partition_subsets(KEYS),
    }
    return {name: set(subset.get_partition_keys()) if subset else set() for name, subset in subsets.items()}


def planned(key: str) -> DagsterEvent:
    data = AssetMaterializationPlannedData(SECOND, partition=key)
    return DagsterEvent.build_asset_materialization_planned_event("marker", "second.work", data)


def batch(instance: DagsterInstance, of: DagsterRun, keys: str) -> None:
    """Materializations written at once."""
    entries = []
    for key in keys:
        data = StepMaterializationData(AssetMaterialization(SECOND, partition=key))
        event = DagsterEvent(
            "ASSET_MATERIALIZATION", of.job_name, step_key="second.work", event_specific_data=data
        )
        entries.append(
            EventLogEntry(  # type: ignore[no-untyped-call]
                error_info=None,
                level=logging.INFO,
                user_message="",
                run_id=of.run_id,
                timestamp=time.time(),
                step_key="second.work",
                job_name=of.job_name,
                dagster_event=event,
            )
        )
    instance.event_log_storage.store_event_batch(entries)


def events(result: Any) -> list[str]:
    return [event.event_type_value for event in result.all_events if "ASSET" in event.event_type_value]


def test_a_run_without_partition_key_works_also_when_its_upstream_is_materialized(
    instance: DagsterInstance,
) -> None:
    instance.report_runless_asset_event(AssetMaterialization("first", partition="a"))
    handed: list[Any] = []
    result = run(instance, lambda context, obj: handed.append((context.step_key, obj)), tags=DEFER)
    assert result.success
    ((step, obj),) = handed
    assert step == "second.work"
    assert isinstance(obj, Own)


def test_the_tag_leaves_every_asset_event_to_us(instance: DagsterInstance) -> None:
    result = run(instance, lambda context, obj: None, partition_key="a", tags=DEFER)
    assert result.success
    assert events(result) == []
    assert shown(instance)["materialized"] == set()


def test_the_tag_set_inside_the_step_still_leaves_the_materialization_to_us(
    instance: DagsterInstance,
) -> None:
    def handle(context: Any, _obj: Any) -> None:
        context.step_context.dagster_run.tags.update(DEFER)

    assert events(run(instance, handle, partition_key="a")) == []
    assert "ASSET_MATERIALIZATION" in events(run(instance, lambda context, obj: None, partition_key="b"))


def test_a_planned_event_on_a_failed_run_is_a_failed_partition_also_later(instance: DagsterInstance) -> None:
    failed = instance.create_run_for_job(marker)
    instance.report_run_failed(failed, "for good")
    instance.report_dagster_event(planned("a"), failed.run_id)
    assert shown(instance)["failed"] == {"a"}
    instance.report_dagster_event(planned("b"), failed.run_id)
    assert shown(instance)["failed"] == {"a", "b"}
    instance.add_dynamic_partitions("contract", ["z"])
    assert shown(instance)["failed"] == {"a", "b"}, "also after the status cache was built anew"


def test_a_planned_event_keeps_the_message_it_is_given(instance: DagsterInstance) -> None:
    failed = instance.create_run_for_job(marker)
    instance.report_dagster_event(planned("a")._replace(message="why"), failed.run_id)
    messages = [
        entry.dagster_event.message for entry in instance.all_logs(failed.run_id) if entry.dagster_event
    ]
    assert "why" in messages


def test_a_batch_of_materializations_counts_and_clears_a_failure(instance: DagsterInstance) -> None:
    failed, good = instance.create_run_for_job(marker), instance.create_run_for_job(marker)
    instance.report_run_failed(failed, "for good")
    instance.report_dagster_event(DagsterEvent(DagsterEventType.RUN_SUCCESS.value, "marker"), good.run_id)
    for key in "ab":
        instance.report_dagster_event(planned(key), failed.run_id)
    instance.report_dagster_event(planned("a"), good.run_id)
    batch(instance, good, "ac")
    assert shown(instance) == {"materialized": {"a", "c"}, "failed": {"b"}, "in progress": set()}


def test_runs_are_found_by_any_of_several_values_of_a_tag(instance: DagsterInstance) -> None:
    for value in ("x", "y", "z"):
        instance.create_run_for_job(marker, tags={"campaign/stage": value})
    found = instance.get_runs(RunsFilter(tags={"campaign/stage": ["x", "z"]}))
    assert {one.tags["campaign/stage"] for one in found} == {"x", "z"}


@pytest.fixture
def shipped(tmp_path: Path, server_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[DagsterInstance]:
    """An instance by the shipped dagster.yaml, in a database of its own."""
    name = f"dagster_{tmp_path.name[-20:]}".replace("-", "_")
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    url = server_url.rsplit("/", 1)[0].replace("postgresql://", "postgresql+psycopg2://") + f"/{name}"
    monkeypatch.setenv("CAMPAIGN_DAGSTER_URL", url)
    home = tmp_path / "dagster_home"
    home.mkdir()
    shutil.copy(Path(__file__).parent.parent / "dagster.yaml", home)
    with DagsterInstance.from_config(str(home)) as made:
        yield made
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def test_the_shipped_instance_file_loads_and_says_what_we_need(shipped: DagsterInstance) -> None:
    assert shipped.run_retries_enabled is False
    assert shipped.run_monitoring_enabled
    assert shipped.telemetry_enabled is False
    assert type(shipped.run_coordinator).__name__ == "QueuedRunCoordinator"
    assert shipped.global_op_concurrency_default_limit == 3


def test_on_postgresql_every_publisher_shows_its_own_status(
    shipped: DagsterInstance, owner_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(tmp_path / "home", database_url=owner_url, policy="sandbox")
    settings.home.mkdir()
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    ledger = Ledger.open(settings)
    stand = Stand(settings, ledger, shipped)
    campaign = stand.campaign(
        "launch", [*(f"s{n}.example" for n in range(20)), "fail-scoring-1.example", "hold-scoring-1.example"]
    )
    stand.advance(campaign, Stage.SCORING)
    ledger.dispose()
    assert len(stand.shown(Stage.DISCOVERY)["materialized"]) == 22
    assert len(stand.shown(Stage.SCORING)["materialized"]) == 20
    assert len(stand.shown(Stage.SCORING)["failed"]) == 2
