"""A factory for ledger tests: campaigns with publishers, and units brought to a state through the ledger's own
operations.

It fills in what a state requires (a filing for `submitting`, a result for `succeeded`, the whole chain before a
stage), so that tests say only what they are about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row, text

from campaign_assets.ledger import Ledger, operators, promotion, scheduling, work
from campaign_assets.ledger.campaigns import (
    Campaign,
    add_source,
    create_campaign,
    find_campaign,
    import_page,
    unread_sources,
)
from campaign_assets.model import (
    Action,
    Approval,
    Business,
    CampaignSettings,
    ConfirmationResult,
    Contact,
    ContentResult,
    DiscoveryResult,
    Entry,
    FormDocument,
    FormMappingResult,
    Key,
    MonitoringResult,
    Outcome,
    OutcomeKind,
    Payload,
    PreflightResult,
    Reason,
    RejectedLine,
    ScoringResult,
    SourceEntry,
    StageResult,
    SubmissionResult,
    Unit,
)
from campaign_assets.policy import Decision, decide, policies
from campaign_assets.states import IN_WORK, Event, Stage, State, Verdict

POLICIES = policies("sandbox")

BUSINESS = Business(
    name="Example Tools",
    url="https://example.com",
    tagline="Tools for examples",
    short_description="Example Tools makes tools that examples are made with, and nothing else.",
    description="Example Tools makes tools that examples are made with. " * 4,
    categories=("Tools",),
    tags=("tools",),
    email="hello@example.com",
    contact=Contact(first_name="Ada", last_name="Example", email="ada@example.com"),
)


def payload(marker: str = "first") -> Payload:
    entry = Entry(
        index=0,
        name="title",
        type="text",
        field="business_name",
        action=Action.FILL,
        value=marker,
        source="profile",
    )
    return Payload(url="https://tools.example/submit", form=0, fingerprint="f", entries=(entry,), submit=1)


def result_for(stage: Stage, marker: str = "first") -> StageResult:
    """A small true result of each stage."""
    made = payload(marker)
    results: dict[Stage, Callable[[], StageResult]] = {
        Stage.DISCOVERY: lambda: DiscoveryResult(
            final_url="https://tools.example/", site="tools.example", status=200, submit_url="https://tools.example/submit",
            submit_found="a link that says so",
        ),
        Stage.SCORING: lambda: ScoringResult(score=80, bar=35, signals=()),
        Stage.FORM_MAPPING: lambda: FormMappingResult(
            document=FormDocument(url="https://tools.example/submit"), form=0, fingerprint="f", controls=()
        ),
        Stage.CONTENT: lambda: ContentResult(texts=()),
        Stage.PREFLIGHT: lambda: PreflightResult(payload=made, payload_hash=made.hash, checks=()),
        Stage.SUBMISSION: lambda: SubmissionResult(verdict=Verdict.ACCEPTED, sentence="It says thank you."),
        Stage.CONFIRMATION: lambda: ConfirmationResult(listing_url="https://tools.example/l/1", found_by="its receipt"),
        Stage.MONITORING: lambda: MonitoringResult(listing_url="https://tools.example/l/1", present=True),
    }  # fmt: skip
    return results[stage]()


def decision(outcome: Outcome, stage: Stage, attempts: int = 0, waits: int = 0) -> Decision:
    """The policy's word, except that a pause of 0 seconds is kept: tests do not wait."""
    made = decide(POLICIES[stage], outcome, attempts, waits)
    return (
        replace(made, after=0.0) if made.event in (Event.RETRY, Event.WAIT) and outcome.after == 0 else made
    )


class World:
    """One ledger and the means to furnish it."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def campaign(
        self,
        name: str = "acme/launch",
        publishers: int | Sequence[str] = 1,
        *,
        target: str = "example.com",
        approval: Approval = Approval.AUTOMATIC,
        started: bool = True,
    ) -> Campaign:
        """A campaign with publishers `s0.example`, `s1.example` … or the sites given, started."""
        tenant, slug = name.split("/")
        sites = (
            [f"s{n}.example" for n in range(publishers)] if isinstance(publishers, int) else list(publishers)
        )
        with self.ledger.bound(tenant) as tx:
            made = create_campaign(tx, tenant, slug, BUSINESS, CampaignSettings(approval=approval), target)
            self._import(tx, made.id, sites)
            if started:
                operators.start(tx, made)
        return self.again(made)

    def _import(self, tx: Any, campaign_id: UUID, sites: Sequence[str]) -> None:
        add_source(tx, campaign_id, "list.csv", repr(sites).encode())
        source = unread_sources(tx, campaign_id)[-1]
        entries = [SourceEntry(site, f"https://{site}/", line, site) for line, site in enumerate(sites, 1)]
        import_page(tx, source.id, entries, [RejectedLine(99, "???", "no address in it")], len(entries), True)

    def again(self, campaign: Campaign) -> Campaign:
        """The campaign as it is now."""
        return self.campaign_of(campaign.name)

    def campaign_of(self, name: str) -> Campaign:
        return find_campaign(self.ledger, name)

    # ------------------------------------------------------------------------------------------------------
    # what happens

    def claim(
        self, campaign: Campaign, stage: Stage, limit: int = 100, run_id: str | None = None, **options: Any
    ) -> list[Unit]:
        with self.ledger.bound(campaign.tenant_id) as tx:
            return work.claim(tx, campaign.id, stage, run_id or f"run-{uuid4()}", limit, **options)

    def claim_one(self, campaign: Campaign, stage: Stage, **options: Any) -> Unit:
        units = self.claim(campaign, stage, 1, **options)
        assert len(units) == 1, f"expected one due unit of {stage}, claimed {units}"
        return units[0]

    def finish(
        self, units: Unit | Sequence[Unit], outcome: Outcome | None = None, *, marker: str = "first"
    ) -> list[work.Committed]:
        """Commit units as one page, all with `outcome`, by default with success (for a submission: armed and
        accepted).
        """
        members = [units] if isinstance(units, Unit) else list(units)
        done = []
        for unit in members:
            given = outcome or self._success(unit, marker)
            done.append((unit, given, decision(given, unit.stage, unit.attempts, unit.waits)))
        with self.ledger.bound(members[0].key.tenant) as tx:
            return work.commit_page(tx, members[0].run_id, 1, done, 100_000_000, 0)

    def _success(self, unit: Unit, marker: str) -> Outcome:
        if unit.stage is not Stage.SUBMISSION:
            return Outcome.succeed(result_for(unit.stage, marker), "done")
        assert self.arm(unit)
        return Outcome.fact(Verdict.ACCEPTED, "It says thank you.", None)

    def arm(self, unit: Unit) -> bool:
        with self.ledger.bound(unit.key.tenant) as tx:
            return work.arm(tx, unit)

    def verdict(self, unit: Unit, verdict: Verdict, reason: Reason | None = None) -> work.Committed:
        with self.ledger.bound(unit.key.tenant) as tx:
            return work.record_verdict(
                tx, unit, Outcome.fact(verdict, f"the site said {verdict}", None, reason=reason)
            )

    def promote(self, campaign: Campaign) -> dict[str, int]:
        with self.ledger.bound(campaign.tenant_id) as tx:
            return promotion.promote(tx)

    def expire(self, unit: Unit) -> None:
        with self.ledger.bound(unit.key.tenant) as tx:
            scheduling.expire_run(tx, unit.run_id)

    def operate(self, campaign: Campaign, act: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """An operator's act on the campaign: `world.operate(c, operators.pause)`."""
        with self.ledger.bound(campaign.tenant_id) as tx:
            return act(tx, self.again(campaign), *arguments, **options)

    def human(self, key: Key, act: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """A human's decision about one publisher: `world.human(key, operators.resolve, False)`."""
        with self.ledger.bound(key.tenant) as tx:
            return act(tx, key, *arguments, **options)

    def key(self, campaign: Campaign, site: str = "s0.example") -> Key:
        return Key(campaign.tenant, campaign.slug, site)

    # ------------------------------------------------------------------------------------------------ bringing
    # somewhere

    def reach(self, campaign: Campaign, stage: Stage) -> None:
        """Run every stage before `stage` to success for all publishers, and have `stage` promoted."""
        for before in list(Stage)[: list(Stage).index(stage)]:
            self.run(campaign, before)
            self.promote(campaign)

    def run(self, campaign: Campaign, stage: Stage, *, marker: str = "first") -> None:
        """Claim and succeed with whatever is due at a stage."""
        while units := self.claim(campaign, stage):
            self.finish(units, marker=marker)

    def bring(self, campaign: Campaign, stage: Stage, state: State) -> None:
        """Bring the publishers' units of `stage` to `state`, their chain before it succeeded.

        `none` is what nobody has promoted yet: a discovery unit never is.
        """
        if state is State.NONE:
            assert stage.upstream is not None
            self.reach(campaign, stage.upstream)
            self.run(campaign, stage.upstream)
            return
        self.reach(campaign, stage)
        if state is not State.READY:
            unit = self.claim_one(campaign, stage)
            if state not in IN_WORK:
                self._settle(unit, state)

    def _settle(self, unit: Unit, state: State) -> None:
        if state is State.UNRESOLVED:
            self.expire(unit)
        elif state is State.REJECTED and unit.stage is Stage.SUBMISSION:
            assert self.arm(unit)
            self.verdict(unit, Verdict.REFUSED, Reason.REFUSED_SITE)
        else:
            self.finish(unit, _OUTCOMES[state](unit))

    # -------------------------------------------------------------------------------------------------------- looking

    def query(self, campaign: Campaign, query: str, /, **parameters: object) -> Sequence[Row[Any]]:
        with self.ledger.bound(campaign.tenant_id) as tx:
            return tx.execute(text(query), parameters).all()

    def unit(self, campaign: Campaign, stage: Stage, site: str = "s0.example") -> Row[Any]:
        rows = self.query(
            campaign,
            "select u.* from units u join publishers p on p.id = u.publisher_id "
            "where u.campaign_id = :campaign and u.stage = :stage and p.site = :site",
            campaign=campaign.id,
            stage=stage,
            site=site,
        )
        return rows[0]

    def state(self, campaign: Campaign, stage: Stage, site: str = "s0.example") -> State:
        return State(self.unit(campaign, stage, site).state)

    def filings(self, campaign: Campaign) -> Sequence[Row[Any]]:
        return self.query(campaign, "select * from filings order by id")


_OUTCOMES: dict[State, Callable[[Unit], Outcome | None]] = {
    State.SUCCEEDED: lambda unit: None,
    State.REJECTED: lambda unit: Outcome.reject(Reason.BELOW_BAR, "not for us"),
    State.FAILED: lambda unit: Outcome.fail(Reason.ERROR, "it broke"),
    State.HELD: lambda unit: Outcome.hold(Reason.UNANSWERABLE_QUESTION, "it asks for its revenue"),
}

__all__ = ["BUSINESS", "POLICIES", "OutcomeKind", "World", "decision", "payload", "result_for"]
