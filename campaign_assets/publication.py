"""The ledger's face in Dagster: what each publisher's partition shows, written from the ledger and marked
there afterwards.

*Materialized* = succeeded or rejected; *failed* = failed, held or unresolved; nothing for the rest. A failed
unit is a planned event, with its reason as message, on a run that is failed for good: one marker run a
campaign and stage, never deleted. A unit that succeeds after an attention gets a planned event and its
materialization in its own run, so that its latest run is a good one.

Every event comes from here, whether a run has just committed a page or the reaper repairs what a crash left
out: read what is unpublished, write the events, mark. A crash in between writes them once more, which changes
nothing. The tag `dagster/defer_asset_events` and the event builders are Dagster's internals; they are used
here alone and pinned by `test_dagster_contract.py`.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast
from uuid import UUID

from dagster import (
    AssetKey,
    AssetMaterialization,
    AssetRecordsFilter,
    DagsterEvent,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    EventLogEntry,
    RunsFilter,
    job,
    op,
)
from dagster._core.events import AssetMaterializationPlannedData, DagsterEventType, StepMaterializationData

from campaign_assets.ledger import Ledger, campaigns, publishing
from campaign_assets.ledger.publishing import Publication
from campaign_assets.showing import metadata
from campaign_assets.states import ATTENTION, MATERIALIZED, SETTLED, Stage

PUBLISHERS = "publishers"
"""Name of the dynamic partitions: one key a publisher, `tenant/campaign/site`."""

DEFERRED = {"dagster/defer_asset_events": "true"}
"""On a run: Dagster writes no planned and no materialized events by itself; this module does."""

RECORD_TAG = "campaign/record"
KEYS_AT_ONCE = 1000
PUBLISH_AT_ONCE = 500

_BAD_ENDS = frozenset({DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED})


@op(description="Does nothing: its runs only carry the records of units.")
def record_units() -> None:
    """Never executed: `record` runs are created and ended by `publication`."""


@job(
    description="Carries the status of units that need attention, or that a person decided. Do not delete its runs."
)
def record() -> None:
    record_units()


class Face:
    """Writes one tenant's units to Dagster."""

    def __init__(self, ledger: Ledger, instance: DagsterInstance, tenant: str | UUID, home: Path) -> None:
        self.ledger = ledger
        self.instance = instance
        self.tenant = tenant
        self.home = home

    def publish(self, campaign: UUID | None = None, stage: Stage | None = None) -> int:
        """Write every unit whose state Dagster does not show yet; returns how many."""
        total = 0
        while True:
            written = self.publish_some(campaign, stage)
            total += written
            if written < PUBLISH_AT_ONCE:
                return total

    def publish_some(self, campaign: UUID | None = None, stage: Stage | None = None) -> int:
        """The same for one bounded batch."""
        with self.ledger.bound(self.tenant) as tx:
            units = publishing.unpublished(tx, campaign, stage, PUBLISH_AT_ONCE)
        groups: dict[tuple[UUID, Stage], list[Publication]] = defaultdict(list)
        for publication in units:
            groups[publication.campaign_id, publication.unit.stage].append(publication)
        for (of_campaign, of_stage), members in groups.items():
            now = [p for p in members if not p.earlier]
            self._attention(of_campaign, of_stage, [p for p in now if p.unit.state in ATTENTION])
            self._materialized(of_campaign, of_stage, [p for p in now if p.unit.state in MATERIALIZED])
            self._cleared(
                of_campaign, of_stage, [p for p in members if p.earlier or p.unit.state not in SETTLED]
            )
        if units:
            with self.ledger.bound(self.tenant) as tx:
                publishing.mark_published(tx, [(p.unit.id, p.unit.revision) for p in units])
        return len(units)

    # ---------------------------------------------------------------------------------------------------- attention

    def _attention(self, campaign: UUID, stage: Stage, members: Sequence[Publication]) -> None:
        if not members:
            return
        marker = self._marker(campaign, stage)
        for publication in members:
            self.instance.report_dagster_event(
                _planned(publication, _why(publication)), marker.run_id, logging.ERROR
            )

    def _marker(self, campaign: UUID, stage: Stage) -> DagsterRun:
        """The failed run that carries this campaign's attention at this stage; made when first needed, or
        when it was deleted.
        """
        with self.ledger.bound(self.tenant) as tx:
            known = publishing.marker_run(tx, campaign, stage)
        run = self.instance.get_run_by_id(known) if known else None
        if run is not None:
            return run
        run = self._record_run(campaign, stage, "attention")
        sentence = f"No failed run: it carries the {stage} units that need attention. Do not delete it."
        self.instance.report_run_failed(run, sentence)
        with self.ledger.bound(self.tenant) as tx:
            winner = publishing.set_marker_run(tx, campaign, stage, run.run_id, known)
        return self.instance.get_run_by_id(winner) or run

    def _cleared(self, campaign: UUID, stage: Stage, members: Sequence[Publication]) -> None:
        """What was in attention and is no more, without being settled: planned in a good run, it is no longer failed.

        Of a unit that was materialized and is outside the counts now, nothing can be taken back: Dagster keeps it.
        """
        failed = [publication for publication in members if publication.was_attention]
        if failed:
            run = self._good_record(campaign, stage)
            for publication in failed:
                self.instance.report_dagster_event(_planned(publication, ""), run.run_id)
            # Dagster's cache drops a failed key at a materialization only; rebuilt, it goes by the events.
            self.instance.wipe_asset_cached_status([AssetKey(str(stage))])

    # ------------------------------------------------------------------------------------------------- materialized

    def _materialized(self, campaign: UUID, stage: Stage, members: Sequence[Publication]) -> None:
        runs = {run_id: self._own_run(run_id, campaign, stage) for run_id in {p.run_id for p in members}}
        by_run: dict[str, list[Publication]] = defaultdict(list)
        for publication in members:
            by_run[runs[publication.run_id].run_id].append(publication)
            if publication.was_attention:
                self.instance.report_dagster_event(_planned(publication, ""), runs[publication.run_id].run_id)
        by_id = {run.run_id: run for run in runs.values()}
        for run_id, publications in by_run.items():
            entries = [_entry(self._materialization(p), by_id[run_id]) for p in publications]
            self.instance.event_log_storage.store_event_batch(entries)

    def _own_run(self, run_id: str | None, campaign: UUID, stage: Stage) -> DagsterRun:
        """The run a unit was committed in; where that ended badly, or a person settled the unit, a good
        record run instead.
        """
        run = self.instance.get_run_by_id(run_id) if run_id else None
        if run is not None and run.status not in _BAD_ENDS:
            return run
        return self._good_record(campaign, stage)

    def _good_record(self, campaign: UUID, stage: Stage) -> DagsterRun:
        """A run that is a success and carries what no run of its own can; two of them do no harm."""
        known = self.instance.get_runs(RunsFilter(tags=_record_tags(campaign, stage, "settled")), limit=1)
        if known:
            return known[0]
        run = self._record_run(campaign, stage, "settled")
        done = DagsterEvent(
            DagsterEventType.RUN_SUCCESS.value, run.job_name, message="Carries units settled outside a run."
        )
        self.instance.report_dagster_event(done, run.run_id)
        return run

    def _record_run(self, campaign: UUID, stage: Stage, what: str) -> DagsterRun:
        return self.instance.create_run_for_job(record, tags=_record_tags(campaign, stage, what))

    def _materialization(self, publication: Publication) -> AssetMaterialization:
        unit = publication.unit
        return AssetMaterialization(
            AssetKey(str(unit.stage)),
            description=unit.detail or str(unit.state),
            metadata=metadata(publication, self.home),
            partition=str(unit.key),
        )

    # --------------------------------------------------------------------------------------------------------- keys

    def add_keys(self) -> int:
        """Partition keys follow the publishers' rows. Adding one twice changes nothing."""
        with self.ledger.bound(self.tenant) as tx:
            missing = campaigns.keys_to_add(tx, KEYS_AT_ONCE)
        if missing:
            self.instance.add_dynamic_partitions(PUBLISHERS, [str(key) for _, key in missing])
            with self.ledger.bound(self.tenant) as tx:
                campaigns.mark_keys_added(tx, [publisher for publisher, _ in missing])
        return len(missing)

    def remove_keys(self) -> int:
        """The keys of archived campaigns go, once nothing of them is in work."""
        with self.ledger.bound(self.tenant) as tx:
            archived = campaigns.keys_to_remove(tx, KEYS_AT_ONCE)
        for _, key in archived:
            self.instance.delete_dynamic_partition(PUBLISHERS, str(key))
        if archived:
            with self.ledger.bound(self.tenant) as tx:
                campaigns.mark_keys_removed(tx, [publisher for publisher, _ in archived])
        return len(archived)


def take_over(run: DagsterRun) -> None:
    """In an operator's run, which Dagster started without our tag: from here on its step writes no
    materialization itself.
    """
    cast(dict[str, str], run.tags).update(DEFERRED)


def materialized_before(
    instance: DagsterInstance, stage: Stage, keys: Iterable[str]
) -> list[AssetMaterialization]:
    """The latest materialization of each key that has one: shown again where a filing stands and is not
    repeated.
    """
    found = []
    for key in keys:
        asked = AssetRecordsFilter(asset_key=AssetKey(str(stage)), asset_partitions=[key])
        for record_ in instance.fetch_materializations(asked, limit=1).records:
            if record_.event_log_entry.asset_materialization is not None:
                found.append(record_.event_log_entry.asset_materialization)
    return found


def _record_tags(campaign: UUID, stage: Stage, what: str) -> dict[str, str]:
    return {RECORD_TAG: f"{what}/{campaign}/{stage}"}


def _why(publication: Publication) -> str:
    unit = publication.unit
    run = f" (run {publication.run_id})" if publication.run_id else ""
    return f"{unit.key} {unit.state}: {unit.reason or 'error'}: {unit.detail}{run}"


def _planned(publication: Publication, message: str) -> DagsterEvent:
    unit = publication.unit
    planned = AssetMaterializationPlannedData(AssetKey(str(unit.stage)), partition=str(unit.key))
    event = DagsterEvent.build_asset_materialization_planned_event(record.name, f"{unit.stage}.work", planned)
    return event._replace(message=message) if message else event


def _entry(materialization: AssetMaterialization, run: DagsterRun) -> EventLogEntry:
    event = DagsterEvent(
        DagsterEventType.ASSET_MATERIALIZATION.value,
        run.job_name,
        step_key=f"{materialization.asset_key.path[-1]}.work",
        event_specific_data=StepMaterializationData(materialization),
        message=materialization.description,
    )
    return EventLogEntry(
        error_info=None,
        level=logging.INFO,
        user_message="",
        run_id=run.run_id,
        timestamp=time.time(),
        step_key=event.step_key,
        job_name=run.job_name,
        dagster_event=event,
    )
