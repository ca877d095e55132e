"""The two sensors, thin: the scheduler finds what is due and requests runs, the reaper finds what was lost
and gives it back.

Both work one bound transaction a tenant and decide elsewhere (`ledger.scheduling`, `dispatch`). The reaper is
a sensor of its own and no run of the queue it reaps. A tick has 60 s; both stop well below and go on with the
next tenant at the next tick.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from dagster import (
    DagsterInstance,
    DefaultSensorStatus,
    RunRequest,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
    sensor,
)

from campaign_assets.dispatch import Choice, Due, InFlight, choose
from campaign_assets.errors import ConfigError, LedgerUnavailable
from campaign_assets.heard import Heard, our_runs, unheard
from campaign_assets.jobs import STAGE_JOBS
from campaign_assets.ledger import DueTenant, Ledger, scheduling
from campaign_assets.ledger.scheduling import Backlog, RunRow
from campaign_assets.log import configure
from campaign_assets.policy import BEAT_EVERY, REAPER_GRACE, RUN_SILENCE, SENSOR_PERIOD, Policy, policies
from campaign_assets.publication import DEFERRED, Face
from campaign_assets.settings import Settings
from campaign_assets.states import Stage
from campaign_assets.tags import CAMPAIGN, CAMPAIGN_ID, QUARANTINE, STAGE, TENANT

TICK_BUDGET = 40.0
"""Seconds after which a tick takes no further tenant."""

START_PATIENCE = 30.0
"""A worker that has not spoken for so long after its launch is no longer counted on: a second run costs nothing."""

ORPHAN_AFTER = 90.0
"""A run that Dagster holds for begun, and the ledger has not known for so long, has lost its worker before or
after its work.
"""


@sensor(
    name="scheduler",
    jobs=list(STAGE_JOBS.values()),
    minimum_interval_seconds=int(SENSOR_PERIOD),
    default_status=DefaultSensorStatus.RUNNING,
    description="Promotes what has become eligible; requests runs for what is due, fairly between tenants.",
)
def scheduler(context: SensorEvaluationContext) -> SensorResult | SkipReason:
    return _tick(context, _schedule)


@sensor(
    name="reaper",
    minimum_interval_seconds=int(SENSOR_PERIOD),
    default_status=DefaultSensorStatus.RUNNING,
    description="Gives back the units of lost workers, reports dead runs, and mends what Dagster does not show yet.",
)
def reaper(context: SensorEvaluationContext) -> SensorResult | SkipReason:
    return _tick(context, _reap)


Round = Callable[[Ledger, Settings, DagsterInstance, dict[str, Any]], Any]


def _tick(context: SensorEvaluationContext, work: Round) -> SensorResult | SkipReason:
    """One tick on the open ledger. An absent database is no crash: the tick says so, and the next one opens
    the ledger anew.
    """
    memory: dict[str, Any] = json.loads(context.cursor or "{}")
    try:
        settings = Settings.from_environment()
        result = work(_ledger(settings), settings, context.instance, memory)
    except (LedgerUnavailable, ConfigError) as error:
        forget_ledgers()
        return SkipReason(f"The ledger cannot be used now: {error}")
    context.update_cursor(json.dumps(memory))
    return result  # type: ignore[no-any-return]


_LEDGERS: dict[Settings, Ledger] = {}
"""One ledger a process and installation: its connections are kept between ticks."""


def _ledger(settings: Settings) -> Ledger:
    if settings not in _LEDGERS:
        _LEDGERS[settings] = Ledger.open(settings)
    return _LEDGERS[settings]


def forget_ledgers() -> None:
    """Close what the ticks of this process have kept open; the next one opens anew (the server may have moved)."""
    while _LEDGERS:
        _LEDGERS.popitem()[1].dispose()


def _tenants(ledger: Ledger, memory: dict[str, Any]) -> Iterator[DueTenant]:
    """Every tenant, beginning after the one the last tick ended with, until the tick's budget is used up."""
    end = time.monotonic() + TICK_BUDGET
    tenants = sorted(ledger.tenants(), key=lambda tenant: str(tenant.id))
    after = [tenant for tenant in tenants if str(tenant.id) > memory.get("tenant", "")]
    for tenant in after + tenants[: len(tenants) - len(after)]:
        if time.monotonic() > end:
            return
        memory["tenant"] = str(tenant.id)
        yield tenant


# ------------------------------------------------------------------------------------------------------- schedule


def _schedule(
    ledger: Ledger, settings: Settings, instance: DagsterInstance, memory: dict[str, Any]
) -> SensorResult | SkipReason:
    work: list[Due] = []
    heard = Heard()
    for tenant in _tenants(ledger, memory):
        with ledger.bound(tenant.id) as tx:
            scheduling.tick(tx, "scheduler", REAPER_GRACE)
            scheduling.promote(tx)
            work += [_due(backlog) for backlog in scheduling.backlog(tx)]
            heard.add(tenant.id, scheduling.open_runs(tx))
        Face(ledger, instance, tenant.id, settings.home).add_keys()
    table = policies(settings.policy)
    choices, memory["served"] = choose(
        work, _in_flight(instance, heard), memory.get("served", {}), table, settings.runs
    )
    if not choices:
        return SkipReason(f"{sum(due.due for due in work)} units due, nothing to start.")
    log = configure(settings)
    for choice in choices:
        due = choice.work
        log.info(
            "run requested",
            tenant=due.tenant,
            campaign=due.campaign,
            stage=str(due.stage),
            due=due.due,
            alone=choice.quarantine,
        )
    return SensorResult(run_requests=[_request(choice, table[choice.work.stage]) for choice in choices])


def _due(backlog: Backlog) -> Due:
    campaign = backlog.campaign
    return Due(
        tenant=campaign.tenant,
        campaign=campaign.slug,
        campaign_id=campaign.id,
        stage=backlog.stage,
        due=backlog.due,
        oldest=backlog.oldest_due_seconds,
        alone=backlog.alone,
        unread=backlog.unread,
        barren=backlog.barren,
        rested=backlog.rested,
    )


def _in_flight(instance: DagsterInstance, heard: Heard) -> list[InFlight]:
    quiet = {run_id: row.last_progress_seconds for run_id, row in heard.runs.items()}
    return [
        InFlight(
            UUID(record.dagster_run.tags[CAMPAIGN_ID]),
            Stage(record.dagster_run.tags[STAGE]),
            QUARANTINE in record.dagster_run.tags,
            quiet.get(record.dagster_run.run_id, 0.0),
            lost=unheard(record, heard) > START_PATIENCE,
        )
        for record in our_runs(instance)
    ]


def _request(choice: Choice, policy: Policy) -> RunRequest:
    """No partition key and no run key: the run pulls what is due, so a lost or a double request costs
    nothing.
    """
    due = choice.work
    tags = DEFERRED | {
        TENANT: due.tenant,
        CAMPAIGN: due.campaign,
        CAMPAIGN_ID: str(due.campaign_id),
        STAGE: str(due.stage),
        "dagster/max_runtime": str(int(policy.max_runtime)),
        "dagster/priority": "1",  # before an operator's backfill of hundreds of runs
    }
    if choice.quarantine:
        tags[QUARANTINE] = "true"
    return RunRequest(job_name=STAGE_JOBS[due.stage].name, tags=tags)


# ----------------------------------------------------------------------------------------------------------- reap


def _reap(
    ledger: Ledger, settings: Settings, instance: DagsterInstance, memory: dict[str, Any]
) -> SkipReason:
    table = policies(settings.policy)
    heard = Heard()
    given_back = published = 0
    for tenant in _tenants(ledger, memory):
        with ledger.bound(tenant.id) as tx:
            awake = scheduling.tick(tx, "reaper", REAPER_GRACE)
            rows = scheduling.open_runs(tx)
        heard.add(tenant.id, rows)
        if awake:
            given_back += sum(
                _end(ledger, settings, instance, tenant, row) for row in rows if _is_over(instance, row)
            )
            with ledger.bound(tenant.id) as tx:
                given_back += len(scheduling.reap(tx, table))
        face = Face(ledger, instance, tenant.id, settings.home)
        published += face.publish_some()
        face.remove_keys()
    _report_orphans(instance, heard)
    return SkipReason(f"{given_back} units given back, {published} publications mended.")


def _is_over(instance: DagsterInstance, row: RunRow) -> bool:
    """Whether a run's worker is gone. The database's word counts: a worker that is heard of is never robbed
    by Dagster's word alone, but where Dagster knows of the end too, less silence is enough.
    """
    if row.silent_seconds > RUN_SILENCE:
        return True
    if row.silent_seconds <= 2 * BEAT_EVERY:
        return False
    run = instance.get_run_by_id(row.run_id)
    return run is None or run.is_finished


def _end(
    ledger: Ledger, settings: Settings, instance: DagsterInstance, tenant: DueTenant, row: RunRow
) -> int:
    """A lost run: its units come back, and Dagster is told."""
    with ledger.bound(tenant.id) as tx:
        units = scheduling.expire_run(tx, row.run_id)
    log = configure(settings)
    log.warning(
        "run lost",
        run=row.run_id,
        stage=str(row.stage),
        silent=round(row.silent_seconds, 1),
        units=len(units),
    )
    run = instance.get_run_by_id(row.run_id)
    if run is not None and not run.is_finished:
        instance.report_run_failed(
            run,
            f"Its worker has not been heard of for {row.silent_seconds:.0f} s; its units were given back.",
        )
    return len(units)


def _report_orphans(instance: DagsterInstance, heard: Heard) -> None:
    """Runs that have begun for Dagster, while no worker has spoken for them to the ledger for long: reported failed."""
    for record in our_runs(instance):
        if unheard(record, heard) > ORPHAN_AFTER:
            sentence = f"No worker has spoken for this run for {ORPHAN_AFTER:.0f} s."
            instance.report_run_failed(record.dagster_run, sentence)
