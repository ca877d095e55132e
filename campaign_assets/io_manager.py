"""Between Dagster and a run's work: `Pages` in, a stage's body mapped over them, each page claimed, worked
and committed here.

A scheduler's run pulls what is due at its stage in its campaign. An operator's run (one partition, or a
backfill) takes the same road with its keys. Owns how a run starts and ends for the ledger and for Dagster
(R13): a stopped run ends CANCELED, also by a bare SIGTERM, with its units given back; a run that has done its
work is a SUCCESS, whatever became of single units; an operator's run is red where one of its keys needs
attention or was refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from dagster import (
    DagsterRunStatus,
    Failure,
    InitResourceContext,
    InputContext,
    IOManager,
    OutputContext,
    io_manager,
)

from campaign_assets.desk import LedgerDesk
from campaign_assets.errors import LedgerUnavailable, Refused, UserError
from campaign_assets.flight import Body, Flight
from campaign_assets.guard import refuse_policy, refuse_run_retries
from campaign_assets.ledger import Ledger, campaigns, operators, publishing, scheduling
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.ledger.operators import OperatorAnswer
from campaign_assets.model import Key
from campaign_assets.policy import Policy, policies
from campaign_assets.ports import Summary
from campaign_assets.publication import PUBLISHERS, materialized_before, take_over
from campaign_assets.runtime import Engine, drive
from campaign_assets.settings import Settings
from campaign_assets.states import Stage
from campaign_assets.stop import StopFlag, StopRequested
from campaign_assets.tags import CAMPAIGN_ID, QUARANTINE, TENANT
from campaign_assets.watch import Watchdog, pulse, stop_signals
from campaign_assets.world import World

SHOWN_SENTENCES = 20
GONE = "its campaign is archived or unknown, nothing runs in it."


@dataclass(frozen=True)
class Mapped:
    """A stage's body, to be applied to each unit as it is claimed."""

    body: Body


class Pages:
    """What a stage asset is given: the units of its run, none of them claimed yet."""

    def map(self, body: Body) -> Mapped:
        """Nothing is worked on here: the run claims, works and commits page by page when Dagster hands the
        result over.
        """
        return Mapped(body)


class PagedIOManager(IOManager):
    """Claims and commits. Opens the ledger when a run first needs it; loading the definitions needs neither
    settings nor database.
    """

    @cached_property
    def settings(self) -> Settings:
        return Settings.from_environment()

    @cached_property
    def ledger(self) -> Ledger:
        return Ledger.open(self.settings)

    def load_input(self, context: InputContext) -> Pages:
        _refuse_gone(context)
        return Pages()

    def handle_output(self, context: OutputContext, obj: Mapped) -> None:
        run = StageRun(context, obj.body, self.settings, self.ledger)
        with stop_signals(run.stop):
            try:
                run.work()
            except StopRequested:
                _report_stopped(context)
                raise
            except UserError as error:
                raise Failure(error.sentence, allow_retries=False) from error

    def close(self) -> None:
        """Give the ledger's connections back, where any were opened."""
        if "ledger" in self.__dict__:
            self.ledger.dispose()


@io_manager(
    description="Pages of due publishers in; each unit claimed, worked on and committed to the ledger."
)
def paged_io_manager(_context: InitResourceContext) -> Any:
    """One a run; a generator, so that its connections are given back when the run ends."""
    manager = PagedIOManager()
    try:
        yield manager
    finally:
        manager.close()


def _refuse_gone(context: InputContext) -> None:
    """Red where the publisher's key is gone, as when an old run is executed again; Dagster would stumble over it."""
    step = context.step_context
    key = step.dagster_run.tags.get("dagster/partition")
    if key is not None and not step.instance.has_dynamic_partition(PUBLISHERS, key):
        raise Failure(f"{key}: {GONE}", allow_retries=False)


def _named(key: Key, sentence: str) -> str:
    """The sentence with the publisher's key before it, where it does not begin with it anyway."""
    return sentence if sentence.startswith(f"{key} ") else f"{key}: {sentence}"


def _report_stopped(context: OutputContext) -> None:
    """A stop is no failure: a run that is being cancelled ends CANCELED, whoever asked for the stop."""
    instance = context.step_context.instance
    run = instance.get_run_by_id(context.run_id)
    if run is not None and run.status is DagsterRunStatus.STARTED:
        instance.report_run_canceling(run, "The worker was asked to stop; its units are given back.")


class StageRun:
    """One step of one run: a stage, and either a campaign's due units or an operator's keys."""

    def __init__(self, context: OutputContext, body: Body, settings: Settings, ledger: Ledger) -> None:
        self.context = context
        self.body = body
        self.settings = settings
        self.ledger = ledger
        self.stage = Stage(context.asset_key.path[-1])
        self.policy: Policy = policies(settings.policy)[self.stage]
        self.instance = context.step_context.instance
        self.run = context.step_context.dagster_run
        self.stop = StopFlag()

    def work(self) -> None:
        """The whole step. Raises StopRequested at a stop, Failure where a person should see red."""
        if self.stage is Stage.SUBMISSION:
            refuse_run_retries(self.instance, self.run.tags)
            refuse_policy(self.context.step_context.op_retry_policy, "This submission step")
        if CAMPAIGN_ID in self.run.tags:
            self._pull(self.run.tags)
        else:
            self._work_keys()

    def _pull(self, tags: Mapping[str, str]) -> None:
        with self.ledger.bound(tags[TENANT]) as tx:
            campaign = campaigns.share(tx, UUID(tags[CAMPAIGN_ID]))
        if campaign is None:
            raise Refused("The campaign of this run does not exist any more.")
        summary = self._fly(self._desk(campaign, None), quarantine=QUARANTINE in tags)
        self.context.add_output_metadata(_shown(summary))

    # ---------------------------------------------------------------------------------------------- an operator's run

    def _work_keys(self) -> None:
        """The keys by campaign, each group on the same road. Publication is ours here too: Dagster's own
        events are switched off.
        """
        take_over(self.run)
        groups: dict[tuple[str, str], list[Key]] = defaultdict(list)
        for key in map(Key.parse, sorted(self._keys())):
            groups[key.tenant, key.campaign].append(key)
        red: list[str] = []
        for (tenant, slug), keys in groups.items():
            red += self._work_group(tenant, slug, keys)
        if red:
            raise Failure("; ".join(red[:SHOWN_SENTENCES]), metadata={"keys": len(red)}, allow_retries=False)

    def _keys(self) -> Sequence[str]:
        if not any(
            tag in self.run.tags for tag in ("dagster/partition", "dagster/asset_partition_range_start")
        ):
            raise Refused("Choose the partitions to materialize; what is merely due is run by the scheduler.")
        return list(self.context.asset_partition_keys)

    def _work_group(self, tenant: str, slug: str, keys: Sequence[Key]) -> list[str]:
        """One campaign's keys; returns a sentence for each that was refused or needs attention."""
        with self.ledger.bound(tenant) as tx:
            campaign = next(iter(campaigns.campaigns(tx, slug)), None)
        if campaign is None:
            return [f"{key}: {GONE}" for key in keys]
        with self.ledger.bound(tenant) as tx:
            scheduling.promote(tx)
            sites = [key.site for key in keys]
            answers = operators.rerun_for_operator_run(tx, campaign.id, self.stage, sites)
        by_answer: dict[str, list[OperatorAnswer]] = defaultdict(list)
        for answer in answers:
            by_answer[answer.answer].append(answer)
        red = [_named(Key(tenant, slug, answer.site), answer.sentence) for answer in by_answer["refused"]]
        with self.ledger.bound(tenant) as tx:
            # Dagster will show a refused run's partitions as failed; the reaper puts right what they are.
            publishing.forget(tx, campaign.id, self.stage, [answer.site for answer in by_answer["refused"]])
        self._show_again([Key(tenant, slug, answer.site) for answer in by_answer["filed"]])
        if by_answer["ready"]:
            desk = self._desk(campaign, [answer.site for answer in by_answer["ready"]])
            self._fly(desk, quarantine=True)
            red += desk.attention
        return red

    def _show_again(self, filed: Sequence[Key]) -> None:
        """Filed already: the old materialization once more, in this run."""
        for materialization in materialized_before(self.instance, self.stage, map(str, filed)):
            self.context.log.info(f"{materialization.partition}: already filed, not filed again.")
            self.context.log_event(materialization)

    # ------------------------------------------------------------------------------------------------------- the work

    def _desk(self, campaign: Campaign, sites: Sequence[str] | None) -> LedgerDesk:
        desk = LedgerDesk(
            self.ledger, self.instance, self.settings, campaign, self.stage, self.run.run_id, sites
        )
        desk.say = self.context.log.info
        return desk

    def _fly(self, desk: LedgerDesk, quarantine: bool) -> Summary:
        """One engine from its start to its end, entered in the ledger's book of runs."""
        desk.start()
        how = "failed"
        try:
            with pulse(desk.beat, self.stop):
                summary = drive(
                    lambda: self._engine(desk, quarantine), lambda engine: self._watchdog(engine, desk)
                )
            how = "done"
            return summary
        except StopRequested:
            how = "stopped"
            raise
        finally:
            with suppress(LedgerUnavailable):  # the reaper notices a run that ends unheard
                desk.end(how)

    def _engine(self, desk: LedgerDesk, quarantine: bool) -> Engine:
        return Engine(desk, self.policy, self.body, World(self.settings, desk), self.stop, quarantine)

    def _watchdog(self, engine: Engine, desk: LedgerDesk) -> Watchdog:
        def last_words(flight: Flight) -> None:
            desk.commit(engine.last_page(flight))
            desk.release(
                [
                    other.unit
                    for other in list(engine.flights.values())
                    if other is not flight and not other.armed
                ]
            )
            desk.end("failed")

        return Watchdog(engine, last_words)


def _shown(summary: Summary) -> dict[str, int]:
    return {
        "pages": summary.pages,
        "units": summary.units,
        **{f"units {event}": n for event, n in summary.by_event.items()},
    }
