"""A run's desk at the ledger: each call one bound transaction, made in a thread of the engine's.

Owns which campaign, stage and run its calls speak for. Refuses to decide: what to claim when is the engine's
affair, what may be written the ledger's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from dagster import DagsterInstance

from campaign_assets.errors import InputError
from campaign_assets.ledger import Ledger, campaigns, work
from campaign_assets.ledger.campaigns import Campaign, Source
from campaign_assets.log import configure
from campaign_assets.model import Key, Outcome, OutcomeKind, RejectedLine, SourceEntry, Unit
from campaign_assets.policy import Decision
from campaign_assets.ports import Page
from campaign_assets.publication import Face
from campaign_assets.settings import Settings
from campaign_assets.states import ATTENTION, Stage

SOURCE_PAGE = 500
"""Entries of a source imported in one transaction."""


class SourceReader:
    """Pages of a source from its cursor on; it keeps its place, so that reading a long list to its end is one
    pass.
    """

    def __init__(self) -> None:
        self._at: tuple[object, int] | None = None
        self._items: Iterator[SourceEntry | RejectedLine] = iter(())

    def page(self, source: Source) -> list[SourceEntry | RejectedLine]:
        """The next items of `source`; fewer than SOURCE_PAGE at its end."""
        from campaign_assets.stages.sources import read

        if self._at != (source.id, source.cursor):
            self._items = islice(read(source.content, source.name), source.cursor, None)
        items = list(islice(self._items, SOURCE_PAGE))
        self._at = (source.id, source.cursor + len(items))
        return items


class LedgerDesk:
    """The ledger, as one run on one stage of one campaign uses it."""

    def __init__(
        self,
        ledger: Ledger,
        instance: DagsterInstance,
        settings: Settings,
        campaign: Campaign,
        stage: Stage,
        run_id: str,
        sites: Sequence[str] | None = None,
    ) -> None:
        """`sites`: only these publishers (an operator's run); None: whatever is due."""
        self.ledger = ledger
        self.campaign = campaign
        self.stage = stage
        self.run_id = run_id
        self.sites = sites
        self.face = Face(ledger, instance, campaign.tenant, settings.home)
        self.say: Callable[[str], object] = lambda _sentence: None
        """Says one sentence in the run's own log in Dagster."""
        self.attention: list[str] = []
        """A sentence for each unit that this run left needing a person."""
        self._reader = SourceReader()
        self.log = configure(settings).bind(
            tenant=campaign.tenant, campaign=campaign.slug, stage=str(stage), run=run_id
        )

    # ------------------------------------------------------------------------------------------------- the run itself

    def start(self) -> None:
        with self.ledger.bound(self.campaign.tenant) as tx:
            work.start_run(tx, self.run_id, self.campaign.id, self.stage, operator=self.sites is not None)
        self.log.info("run started", operator=self.sites is not None)

    def end(self, how: str, **counts: object) -> None:
        with self.ledger.bound(self.campaign.tenant) as tx:
            work.end_run(tx, self.run_id, how)
        self.log.info("run ended", how=how, **counts)

    def beat(self) -> bool:
        with self.ledger.bound(self.campaign.tenant) as tx:
            return work.beat(tx, self.run_id)

    # ------------------------------------------------------------------------------------------- what the engine asks

    def read_source_page(self) -> bool:
        """Discovery: one page of the first unread source; its keys follow. False where nothing is left, and
        elsewhere.
        """
        if self.stage is not Stage.DISCOVERY or self.sites is not None:
            return False
        with self.ledger.bound(self.campaign.tenant) as tx:
            source = next(iter(campaigns.unread_sources(tx, self.campaign.id)), None)
        if source is None:
            return False
        try:
            items = self._reader.page(source)
        except InputError as error:
            return self._give_source_up(source, error.sentence)
        entries = [item for item in items if isinstance(item, SourceEntry)]
        rejected = [item for item in items if isinstance(item, RejectedLine)]
        cursor = source.cursor + len(items)
        with self.ledger.bound(self.campaign.tenant) as tx:
            added = campaigns.import_page(
                tx, source.id, entries, rejected, cursor, len(items) < SOURCE_PAGE, source.cursor
            )
        self.face.add_keys()
        self.log.info("source page", source=source.name, added=added, rejected=len(rejected), cursor=cursor)
        return True

    def _give_source_up(self, source: Source, sentence: str) -> bool:
        """A list that cannot be read is read to its end, with the reason on record: no run comes back to it."""
        refused = [RejectedLine(0, source.name, sentence)]
        with self.ledger.bound(self.campaign.tenant) as tx:
            campaigns.import_page(tx, source.id, [], refused, source.cursor, True, source.cursor)
        self.log.error("source refused", source=source.name, reason=sentence)
        return True

    def claim(self, limit: int, beside: bool) -> list[Unit]:
        with self.ledger.bound(self.campaign.tenant) as tx:
            units = work.claim(tx, self.campaign.id, self.stage, self.run_id, limit, self.sites, beside)
        for unit in units:
            self.log.debug("claimed", key=str(unit.key), alone=unit.alone, attempts=unit.attempts)
        return units

    def commit(self, page: Page) -> None:
        with self.ledger.bound(self.campaign.tenant) as tx:
            committed = work.commit_page(tx, self.run_id, page.number, page.done, page.memory, page.growth)
        applied = {c.unit_id: c.applied for c in committed}
        states = {c.unit_id: c.state for c in committed}
        self.attention += [
            f"{unit.key}: {states[unit.id]}: {outcome.detail}"
            for unit, outcome, _ in page.done
            if states.get(unit.id) in ATTENTION
        ]
        for unit, outcome, decision in page.done:
            self._log_outcome(unit, outcome, decision, applied.get(unit.id, False))
        megabytes = {"memory_mb": round(page.memory / 1e6, 1), "growth_mb": round(page.growth / 1e6, 1)}
        self.log.info("page committed", page=page.number, units=len(page.done), **megabytes)
        size = f"{megabytes['memory_mb']} MB ({megabytes['growth_mb']:+} MB)"
        self.say(f"Page {page.number}: {len(page.done)} units; memory {size}.")

    def _log_outcome(self, unit: Unit, outcome: Outcome, decision: Decision, applied: bool) -> None:
        fields: dict[str, Any] = {"key": str(unit.key), "reason": outcome.reason, "detail": outcome.detail}
        if outcome.kind is OutcomeKind.FACT:
            fields["verdict"] = outcome.verdict
        self.log.info(str(decision.event) if applied else "superseded", **fields)

    def release(self, units: Sequence[Unit]) -> None:
        with self.ledger.bound(self.campaign.tenant) as tx:
            count = work.release(tx, units)
        self.log.info("released", units=len(units), given_back=count)

    def arm(self, unit: Unit) -> bool:
        with self.ledger.bound(self.campaign.tenant) as tx:
            armed = work.arm(tx, unit)
        self.log.info("armed" if armed else "not armed", key=str(unit.key))
        return armed

    def known_as(self, unit: Unit, site: str) -> Key | None:
        with self.ledger.bound(self.campaign.tenant) as tx:
            return work.note_alias(tx, unit, site)

    def publish(self) -> None:
        self.face.publish(self.campaign.id, self.stage)

    def log_error(self, unit: Unit, error: Exception) -> None:
        self.log.error("body raised", key=str(unit.key), exc_info=error)
