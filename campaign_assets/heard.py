"""Which of the scheduler's runs Dagster holds for begun, and whether their workers have spoken to the ledger.

Dagster's word on a run is never enough: a worker that dies with its code server leaves STARTED for ever.
Refuses remedies; those are the reaper's.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC
from uuid import UUID

from dagster import DagsterInstance, DagsterRunStatus, RunRecord, RunsFilter

from campaign_assets.ledger.scheduling import RunRow
from campaign_assets.model import tenant_id
from campaign_assets.states import Stage
from campaign_assets.tags import STAGE, TENANT

_UNFINISHED = [
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]


def our_runs(instance: DagsterInstance) -> Sequence[RunRecord]:
    """The scheduler's runs that have not ended, as Dagster tells."""
    ours = {STAGE: [str(stage) for stage in Stage]}
    return instance.get_run_records(RunsFilter(statuses=_UNFINISHED, tags=ours))


@dataclass
class Heard:
    """What a tick has learned from the ledger about runs: of the tenants it got to, each open run's row."""

    tenants: set[UUID] = field(default_factory=set)
    runs: dict[str, RunRow] = field(default_factory=dict)

    def add(self, tenant: UUID, rows: Sequence[RunRow]) -> None:
        self.tenants.add(tenant)
        self.runs |= {row.run_id: row for row in rows}


def unheard(record: RunRecord, heard: Heard) -> float:
    """Seconds for which Dagster has held a run for begun while its worker has not spoken to the ledger, or no
    more.
    """
    run = record.dagster_run
    if run.status is DagsterRunStatus.QUEUED or run.run_id in heard.runs:
        return 0.0
    if tenant_id(run.tags[TENANT]) not in heard.tenants:
        return 0.0  # this tick has not looked there
    return time.time() - record.update_timestamp.replace(tzinfo=UTC).timestamp()
