"""A stand on which tests put a campaign and run it through Dagster: a ledger, an instance, ticks, runs, workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from dagster import (
    AssetKey,
    AssetRecordsFilter,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    Definitions,
    EventRecordsFilter,
    RunRequest,
    SensorResult,
    SkipReason,
    build_sensor_context,
    define_asset_job,
)
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value
from dagster._core.storage.runs.schema import RunsTable
from dagster._grpc.types import ExecuteRunArgs
from dagster._serdes import serialize_value
from sqlalchemy import text

from campaign_assets import sensors
from campaign_assets.graph import partitions
from campaign_assets.ledger import Ledger, campaigns, operators, scheduling, work
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.model import Business, CampaignSettings, Key, SourceEntry
from campaign_assets.publication import DEFERRED, Face
from campaign_assets.settings import Settings
from campaign_assets.states import Stage
from campaign_assets.tags import CAMPAIGN, CAMPAIGN_ID, STAGE, TENANT
from campaign_assets_tests import dagster_location
from campaign_assets_tests.runtime_desk import BUSINESS

PATIENCE = 90.0
REPOSITORY = ReconstructableRepository.for_module(
    "campaign_assets_tests.dagster_location", "defs", str(Path(__file__).parent.parent)
)


def until(what: Callable[[], Any], sentence: str, patience: float = PATIENCE) -> Any:
    """Wait for something to become true; fail saying what did not."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.05)
    pytest.fail(f"after {patience:.0f} s still not: {sentence}")


class Stand:
    """One tenant's installation in a test: build it, add publishers, tick and run."""

    def __init__(
        self, settings: Settings, ledger: Ledger, instance: DagsterInstance, tenant: str = "acme"
    ) -> None:
        self.settings = settings
        self.ledger = ledger
        self.instance = instance
        self.tenant = tenant
        self.cursors: dict[str, str | None] = {}
        self.workers: list[subprocess.Popen[bytes]] = []

    # ------------------------------------------------------------------------------------------------------- campaigns

    def campaign(
        self, slug: str, sites: Iterable[str], business: Business = BUSINESS, **settings: Any
    ) -> Campaign:
        """A running campaign with these publishers, all due at discovery."""
        chosen = CampaignSettings(**{"approval": "automatic", **settings})
        with self.ledger.bound(self.tenant) as tx:
            made = campaigns.create_campaign(tx, self.tenant, slug, business, chosen, "acme.example")
            campaigns.add_source(tx, made.id, "list.csv", b"-")
            (source,) = campaigns.unread_sources(tx, made.id)
            entries = [SourceEntry(site, f"https://{site}", line, site) for line, site in enumerate(sites, 1)]
            campaigns.import_page(tx, source.id, entries, [], len(entries), True)
            operators.start(tx, made)
        Face(self.ledger, self.instance, self.tenant, self.settings.home).add_keys()
        return made

    def key(self, campaign: Campaign, site: str) -> str:
        return str(Key(self.tenant, campaign.slug, site))

    def act(self, what: Callable[..., Any], *arguments: Any) -> None:
        """Something a person does, in a transaction of its own."""
        with self.ledger.bound(self.tenant) as tx:
            what(tx, *arguments)

    def rerun(self, key: str, stage: Stage) -> None:
        self.act(operators.rerun, Key.parse(key), stage)

    def decide(self, key: str, stage: Stage, choice: str) -> None:
        self.act(operators.decide, Key.parse(key), stage, choice, {}, "")

    def pause(self, campaign: Campaign) -> None:
        self.act(operators.pause, campaign)

    def archive(self, campaign: Campaign) -> None:
        self.act(operators.archive, campaign)

    def promote(self) -> None:
        self.act(scheduling.promote)

    def lose_everything(self, campaign: Campaign, stage: Stage) -> None:
        """A worker claims what is due and dies: its run is over, its units come back."""
        with self.ledger.bound(self.tenant) as tx:
            work.start_run(tx, "lost", campaign.id, stage, False)
        while True:
            with self.ledger.bound(self.tenant) as tx:
                if not work.claim(tx, campaign.id, stage, "lost", 100, None, True):
                    break
        self.act(scheduling.expire_run, "lost")

    def claim(self, campaign: Campaign, stage: Stage) -> None:
        """A worker claims what is due, and is not heard of again."""
        with self.ledger.bound(self.tenant) as tx:
            assert work.claim(tx, campaign.id, stage, "elsewhere", 100, None, True)

    def barren_runs(self, campaign: Campaign, stage: Stage, count: int) -> None:
        """Runs that ended without a committed page."""
        for number in range(count):
            with self.ledger.bound(self.tenant) as tx:
                work.start_run(tx, f"barren{number}", campaign.id, stage, False)
                work.end_run(tx, f"barren{number}", "failed")

    def requested(
        self, campaign: Campaign, stage: Stage, status: DagsterRunStatus = DagsterRunStatus.STARTING
    ) -> DagsterRun:
        """A scheduler's run as Dagster stores it before, or without, any worker."""
        job = dagster_location.defs.resolve_job_def(f"{stage}_run")
        return self.instance.create_run_for_job(job, tags=self.tags(campaign, stage), status=status)

    def grow_old(self, run: DagsterRun, seconds: float) -> None:
        """As if Dagster had last changed a run's status so long ago."""
        moment = datetime.now(UTC) - timedelta(seconds=seconds)
        change = RunsTable.update().where(RunsTable.c.run_id == run.run_id).values(update_timestamp=moment)
        with self.instance.run_storage.connect() as connection:  # type: ignore[attr-defined]
            connection.execute(change)

    def status(self, run: DagsterRun) -> DagsterRunStatus:
        found = self.instance.get_run_by_id(run.run_id)
        assert found is not None
        return found.status

    def job(self, name: str, op: str, config: dict[str, Any]) -> Any:
        """An operator's job, in this process."""
        made = dagster_location.defs.resolve_job_def(name)
        settings = {"ops": {op: {"config": config}}}
        return made.execute_in_process(instance=self.instance, run_config=settings, raise_on_error=False)

    # ------------------------------------------------------------------------------------------------ ticks and runs

    def tick(self, sensor: Any) -> SensorResult | SkipReason:
        """One evaluation of a sensor, with the cursor of its last one."""
        name = sensor.name
        context = build_sensor_context(
            instance=self.instance, cursor=self.cursors.get(name), definitions=dagster_location.defs
        )
        result = sensor(context)
        self.cursors[name] = context.cursor
        return result  # type: ignore[no-any-return]

    def schedule(self) -> list[RunRequest]:
        result = self.tick(sensors.scheduler)
        return list(result.run_requests or []) if isinstance(result, SensorResult) else []

    def run_in_process(self, request: RunRequest) -> Any:
        job = dagster_location.defs.resolve_job_def(str(request.job_name))
        return job.execute_in_process(instance=self.instance, tags=request.tags, raise_on_error=False)

    def pull(self, campaign: Campaign, stage: Stage, **tags: str) -> Any:
        """A scheduler's run of a stage, in this process."""
        return self.run_in_process(
            RunRequest(job_name=f"{stage}_run", tags=self.tags(campaign, stage) | tags)
        )

    def operate(self, stage: Stage, key: str) -> Any:
        """An operator's run of one partition, in this process."""
        job = dagster_location.defs.resolve_job_def(f"{stage}_run")
        return job.execute_in_process(instance=self.instance, partition_key=key, raise_on_error=False)

    def operate_again(self, stage: Stage, key: str) -> Any:
        """An old run executed again: the key is a tag, and nobody has asked whether there still is such a key."""
        job = dagster_location.defs.resolve_job_def(f"{stage}_run")
        tags = {"dagster/partition": key}
        return job.execute_in_process(instance=self.instance, tags=tags, raise_on_error=False)

    def operate_range(self, stage: Stage, first: str, last: str) -> Any:
        """A run of a backfill: a range of keys, as two tags."""
        job = dagster_location.defs.resolve_job_def(f"{stage}_run")
        tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
        return job.execute_in_process(instance=self.instance, tags=tags, raise_on_error=False)

    def operate_stages(self, stages: list[Stage], key: str) -> Any:
        """An operator's run of one partition over several assets."""
        job = define_asset_job("several", selection=[str(stage) for stage in stages])
        defs = Definitions.merge(dagster_location.defs, Definitions(jobs=[job]))
        made = defs.resolve_job_def("several")
        return made.execute_in_process(instance=self.instance, partition_key=key, raise_on_error=False)

    def tags(self, campaign: Campaign, stage: Stage) -> dict[str, str]:
        return DEFERRED | {
            TENANT: self.tenant,
            CAMPAIGN: campaign.slug,
            CAMPAIGN_ID: str(campaign.id),
            STAGE: str(stage),
        }

    def advance(self, campaign: Campaign, last: Stage) -> None:
        """Promote and pull stage by stage, up to and with `last`; then promote once more."""
        for stage in list(Stage)[: list(Stage).index(last) + 1]:
            self.promote()
            self.pull(campaign, stage)
        self.promote()

    @contextmanager
    def run_retries_on(self) -> Iterator[None]:
        """An instance whose configuration starts failed runs again."""
        ours = self.instance
        directory = self.settings.home / "retrying"
        directory.mkdir()
        with DagsterInstance.local_temp(
            str(directory), overrides={"run_retries": {"enabled": True, "max_retries": 3}}
        ) as other:
            self.instance = other
            yield
        self.instance = ours

    # ----------------------------------------------------------------------------------------------------- real workers

    def worker(self, campaign: Campaign, stage: Stage) -> tuple[DagsterRun, subprocess.Popen[bytes]]:
        """A scheduler's run of a stage in a process of its own, as Dagster's launcher starts it."""
        name = f"{stage}_run"
        job = REPOSITORY.get_reconstructable_job(name)
        run = self.instance.create_run_for_job(
            dagster_location.defs.resolve_job_def(name),
            tags=self.tags(campaign, stage),
            job_code_origin=job.get_python_origin(),
        )
        arguments = ExecuteRunArgs(
            job.get_python_origin(), run.run_id, self.instance.get_ref(), set_exit_code_on_failure=False
        )
        command = [sys.executable, "-m", "dagster", "api", "execute_run", serialize_value(arguments)]
        output = (self.settings.home / f"worker-{len(self.workers)}.log").open("wb")
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=os.environ, start_new_session=True
        )
        output.close()
        self.workers.append(process)
        return run, process

    def begun(self, what: str) -> None:
        """Wait until a body has left its mark."""
        path = self.settings.home / "begun" / what
        until(path.exists, f"{path} exists; the workers said:\n{self.said()}")

    def said(self) -> str:
        return "\n".join(
            path.read_text(errors="replace")[-3000:]
            for path in sorted(self.settings.home.glob("worker-*.log"))
        )

    def stop(self, run: DagsterRun, process: subprocess.Popen[bytes], how: str) -> None:
        """Ask a worker to stop: a bare SIGTERM, or as Dagster's Terminate does (the run is told, then interrupted)."""
        if how == "Terminate":
            found = self.instance.get_run_by_id(run.run_id)
            assert found is not None
            self.instance.report_run_canceling(found)
            process.send_signal(signal.SIGINT)
        else:
            process.send_signal(signal.SIGTERM)

    def ended(self, run: DagsterRun, process: subprocess.Popen[bytes]) -> str:
        """Wait for a worker's end; the status Dagster holds for its run then."""
        process.wait(PATIENCE)
        found = self.instance.get_run_by_id(run.run_id)
        assert found is not None
        return found.status.value

    def close(self) -> None:
        for process in self.workers:
            if process.poll() is None:
                process.kill()
                process.wait()

    # --------------------------------------------------------------------------------------------------------- looking

    def states(self, campaign: Campaign, stage: Stage) -> dict[str, str]:
        """Site to state, as the ledger has it."""
        return {Key.parse(row["key"]).site: row["state"] for row in self.rows(campaign, stage)}

    def rows(self, campaign: Campaign, stage: Stage) -> list[dict[str, Any]]:
        """Every unit of a stage, with all its columns and its key."""
        query = text("select u.*, p.site from units u join publishers p on p.id = u.publisher_id "
                     "where u.campaign_id = :campaign and u.stage = :stage order by p.id")  # fmt: skip
        with self.ledger.bound(self.tenant) as tx:
            found = tx.execute(query, {"campaign": campaign.id, "stage": str(stage)}).mappings().all()
        return [dict(row) | {"key": self.key(campaign, row["site"])} for row in found]

    def filings(self, key: str) -> int:
        counting = text("select count(*) from filings where site = :site")
        with self.ledger.bound(self.tenant) as tx:
            return int(tx.execute(counting, {"site": Key.parse(key).site}).scalar_one())

    def materializations(self, stage: Stage, key: str) -> int:
        asked = AssetRecordsFilter(asset_key=AssetKey(str(stage)), asset_partitions=[key])
        return len(self.instance.fetch_materializations(asked, limit=100).records)

    def latest_run_status(self, stage: Stage, key: str) -> str | None:
        """Of the run that Dagster's UI shows beside a partition: the latest that planned it."""
        planned = self.instance.event_log_storage.get_latest_storage_id_by_partition
        found = planned(AssetKey(str(stage)), DagsterEventType.ASSET_MATERIALIZATION_PLANNED, {key})
        if key not in found:
            return None
        filter_ = EventRecordsFilter(
            DagsterEventType.ASSET_MATERIALIZATION_PLANNED, asset_key=AssetKey(str(stage))
        )
        records = self.instance.event_log_storage.get_event_records(filter_, limit=1000)
        (run_id,) = {r.event_log_entry.run_id for r in records if r.storage_id == found[key]}
        run = self.instance.get_run_by_id(run_id)
        return run.status.value if run else None

    def counts(self, campaign: Campaign, stage: Stage) -> Counter[str]:
        return Counter(self.states(campaign, stage).values())

    def shown(self, stage: Stage) -> dict[str, set[str]]:
        """What Dagster's asset page shows: keys by status."""
        value = get_and_update_asset_status_cache_value(self.instance, AssetKey(str(stage)), partitions)
        assert value is not None

        def keys(subset: Any) -> set[str]:
            return set(subset.get_partition_keys()) if subset else set()

        return {
            "materialized": keys(value.deserialize_materialized_partition_subsets(partitions)),
            "failed": keys(value.deserialize_failed_partition_subsets(partitions)),
            "in progress": keys(value.deserialize_in_progress_partition_subsets(partitions)),
        }
