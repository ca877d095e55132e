"""What a run does with units: claim them, commit them page by page, give them back.

Each function is one short transaction's work; nothing is open while a stage body runs. Refuses: what concerns filings
(`filings`, re-exported here: `arm`, `record_verdict`), and deciding what becomes eligible (`promotion`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, TextClause, text

from campaign_assets.ledger import filings, verdicts
from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.campaigns import share, share_all
from campaign_assets.ledger.filings import arm
from campaign_assets.ledger.loading import CLAIMED, load
from campaign_assets.ledger.recording import Page, Try, Written, record
from campaign_assets.ledger.runs import beat, end_run, is_over, start_run
from campaign_assets.ledger.sql import fragment, statement
from campaign_assets.ledger.transitions import MOVES, Move, columns, legal
from campaign_assets.model import Key, Outcome, OutcomeKind, Reason, Unit
from campaign_assets.policy import Decision
from campaign_assets.states import Event, Stage, State

__all__ = [
    "Committed",
    "arm",
    "beat",
    "claim",
    "commit_page",
    "end_run",
    "note_alias",
    "record_verdict",
    "release",
    "start_run",
]

ALONE_PATIENCE = 20.0
"""Seconds a unit that must be alone waits for this run to empty by itself; then the run is given nothing else."""

Finished = tuple[Unit, Outcome, Decision]

TARGETS: Mapping[Event, State] = {
    Event.SUCCEED: State.SUCCEEDED,
    Event.REJECT: State.REJECTED,
    Event.FAIL: State.FAILED,
    Event.HOLD: State.HELD,
    Event.RETRY: State.READY,
    Event.WAIT: State.READY,
    Event.RELEASE: State.READY,
}
"""Where a run's own events lead; a fact's target follows from its verdict."""


@dataclass(frozen=True)
class Committed:
    """One unit after its commit. `applied` False: the claim was no longer its own; nothing but an attempt was
    written.
    """

    unit_id: int
    key: Key
    state: State
    applied: bool
    revision: int


# ------------------------------------------------------------------------------------------------------------ claiming


_CANDIDATE = """
    select u.id, u.stage, $consumed as consumed from units u $upstream
    where u.campaign_id = :campaign and u.stage = '$stage' and u.state = 'ready' and u.due_at <= now()
      and u.epoch = :epoch and not exists (
          select from runs r where r.run_id = :run_id and r.campaign_id = :campaign and r.stage = '$stage'
              and r.ended_at is not null)
      and (cast(:sites as text[]) is null or u.publisher_id in (
          select p.id from publishers p where p.campaign_id = :campaign and p.site = any(cast(:sites as text[]))))"""
_UPSTREAM = """join units up on up.publisher_id = u.publisher_id and up.stage = '$stage'
        and up.state = 'succeeded' and up.epoch = u.epoch and not up.earlier"""


def _claim_of(stage: Stage) -> TextClause:
    """The claim of one stage: due and ready, in this epoch, upstream succeeded in this epoch. Waits for nobody."""
    candidate = fragment(
        _CANDIDATE,
        stage=stage,
        upstream=fragment(_UPSTREAM, stage=stage.upstream) if stage.upstream else "",
        consumed="up.version" if stage.upstream else "0",
    )
    return statement(
        """
with alone as materialized (
    $candidate and u.alone and not :beside order by u.due_at, u.id limit 1 for update of u skip locked
), together as materialized (
    $candidate and not u.alone and not exists (select from alone)
    order by u.due_at, u.id limit :limit for update of u skip locked
), input as materialized (
    select $columns from (select * from alone union all select * from together) u
), $moves
$claimed
""",
        candidate=candidate,
        claimed=CLAIMED,
        stage=stage,
        columns=columns(
            Event.CLAIM,
            State.RUNNING,
            fence=":epoch",
            token="gen_random_uuid()",  # noqa: S106 - a claim's token, not a password
            run_id=":run_id",
            consumed="u.consumed",
            touched="false",
        ),
        moves=MOVES,
    )


_CLAIMS = {stage: _claim_of(stage) for stage in Stage if stage is not Stage.SUBMISSION}


def claim(
    tx: Tx,
    campaign_id: UUID,
    stage: Stage,
    run_id: str,
    limit: int,
    keys: Sequence[str] | None = None,
    beside: bool = True,
) -> list[Unit]:
    """Claim up to `limit` due units of a stage for a run, each with a fresh token; [] where the campaign may not run.

    `keys` are sites: only those publishers. `beside`: this run has other units in flight, so a unit whose worker died
    is not handed out; without, at most one such unit comes, and nothing beside it. A submission comes singly, with its
    filing open. Raises TenantNotBound.
    """
    campaign = share(tx, campaign_id)
    if campaign is None or campaign.intent != "run" or limit < 1:
        return []
    sites = None if keys is None else list(keys)
    if stage is Stage.SUBMISSION:
        over = is_over(tx, run_id, campaign_id, stage)
        rows: Sequence[Row[Any]] = [] if over else filings.claim_one(tx, campaign, run_id, sites)
    else:
        rows = tx.execute(
            _CLAIMS[stage],
            {
                "campaign": campaign_id,
                "epoch": campaign.epoch,
                "run_id": run_id,
                "limit": limit,
                "sites": sites,
                "beside": beside,
                # units whose worker died have a run of their own (`beside` False): they never hold up the others
            },
        ).all()
    return load(tx, campaign, stage, rows)


# ---------------------------------------------------------------------------------------------------------- committing


def commit_page(
    tx: Tx,
    run_id: str,
    page_no: int,
    done: Sequence[Finished],
    memory: int,
    memory_growth: int,
) -> list[Committed]:
    """Commit one page (units of one stage): states, attempts, results, evidence, and the page itself.

    Fenced by claim, epoch and state: what no longer holds is recorded as superseded. `memory` and
    `memory_growth` are the process's bytes. The order is that of `done`.
    """
    if not done:
        return []
    first = done[0][0]
    epochs = share_all(tx, [unit.campaign_id for unit, _, _ in done])
    page = Page(run_id, first.campaign_id, first.stage, page_no, memory, memory_growth)
    if first.stage is not Stage.SUBMISSION:
        written = record(tx, [_try(each) for each in done], page)
    else:
        written = {each[0].id: _commit_submission(tx, each, epochs[each[0].campaign_id]) for each in done}
        _note_page(tx, page, list(written.values()))
    return [_committed(unit, written[unit.id]) for unit, _, _ in done]


def _committed(unit: Unit, written: Written) -> Committed:
    return Committed(unit.id, unit.key, written.state, written.applied, written.revision)


def _try(finished: Finished) -> Try:
    """The try of one finished unit. An event its stage does not have is the body's mistake: the unit fails, with
    the reason.
    """
    unit, outcome, decision = finished
    event, reason, detail = (
        decision.event,
        decision.reason or outcome.reason,
        decision.detail or outcome.detail,
    )
    target = TARGETS.get(event)
    sources = legal(event, target, unit.stage) if target else ""
    if target is None or not sources:
        detail = f"The stage answered {event}, which {unit.stage} does not have. {detail}"
        event, target, reason = Event.FAIL, State.FAILED, Reason.ERROR
        sources = legal(event, target, unit.stage)
    if target in (State.FAILED, State.HELD, State.REJECTED):
        reason = reason or Reason.ERROR
    move = Move(
        unit.id,
        event,
        target,
        sources,
        claim=unit.claim,
        fence=unit.epoch,
        reason=reason if event is not Event.RELEASE else None,
        detail=detail,
        due=decision.after,
        charge=int(event in (Event.RETRY, Event.FAIL)),
        wait=int(event is Event.WAIT),
        stored=int(outcome.result is not None),
        alone=None if event is Event.RELEASE else False,
    )
    return Try(
        move, unit.claim, unit.epoch, unit.run_id, outcome.result, event is Event.HOLD, outcome.evidence
    )


def _commit_submission(tx: Tx, finished: Finished, epoch: int) -> Written:
    unit, outcome, decision = finished
    if outcome.kind is OutcomeKind.FACT and decision.event is Event.FACT:
        return verdicts.record_verdict(tx, unit, outcome)
    return verdicts.commit_unsent(tx, unit, outcome, _try(finished), epoch)


def _note_page(tx: Tx, page: Page, written: Sequence[Written]) -> None:
    tx.execute(
        text(
            "insert into page_commits (run_id, campaign_id, stage, page_no, units, applied, memory, memory_growth) "
            "values (:run_id, :campaign, :stage, :page_no, :units, :applied, :memory, :growth)"
        ),
        {
            "run_id": page.run_id,
            "campaign": page.campaign_id,
            "stage": page.stage,
            "page_no": page.number,
            "units": len(written),
            "applied": sum(each.applied for each in written),
            "memory": page.memory,
            "growth": page.memory_growth,
        },
    )


def record_verdict(tx: Tx, unit: Unit, outcome: Outcome) -> Committed:
    """What became of an armed filing, by its token alone: in whatever epoch, also after `unresolved` (R6)."""
    return _committed(unit, verdicts.record_verdict(tx, unit, outcome))


def release(tx: Tx, units: Sequence[Unit]) -> int:
    """Give units back, by token alone: nothing charged, due at once. Armed filings stay. Returns how many are
    ready again.
    """
    if not units:
        return 0
    share_all(tx, [unit.campaign_id for unit in units])
    tx.execute(
        text("select id from units where id = any(cast(:ids as bigint[])) order by id for update"),
        {"ids": [unit.id for unit in units]},
    )
    submissions = [unit.claim for unit in units if unit.stage is Stage.SUBMISSION]
    unsent = (
        filings.close_unsent(tx, submissions, None, "The run was stopped before arming.")
        if submissions
        else set()
    )
    mine = [unit for unit in units if unit.stage is not Stage.SUBMISSION or unit.claim in unsent]
    tries = [Try(_given_back(unit), unit.claim, unit.epoch, unit.run_id) for unit in mine]
    return sum(each.applied for each in record(tx, tries).values())


def _given_back(unit: Unit) -> Move:
    return Move(
        unit.id, Event.RELEASE, State.READY, legal(Event.RELEASE, State.READY, unit.stage), claim=unit.claim
    )


# ------------------------------------------------------------------------------------------------------------- aliases

_OTHER = text("""
select t.slug as tenant, c.slug as campaign, p.site
from publishers p join campaigns c on c.id = p.campaign_id join tenants t on t.id = p.tenant_id
where p.campaign_id = :campaign and p.id <> :publisher
  and (p.site = :site or p.id = (select a.publisher_id from aliases a where a.campaign_id = :campaign and
      a.site = :site))
  -- Two sites that redirect to each other by turns must not both be merged away.
  and not exists (select from aliases back join publishers me on me.id = :publisher
                  where back.publisher_id = p.id and back.site = me.site)
order by p.site = :site desc limit 1
""")
_NOTE = text("""
insert into aliases (campaign_id, publisher_id, site) values (:campaign, :publisher, :site)
on conflict (tenant_id, campaign_id, site) do update set noted_at = now()
returning publisher_id
""")


def note_alias(tx: Tx, unit: Unit, site: str) -> Key | None:
    """Discovery: the site this publisher ends at after redirects becomes its final site.

    Where another publisher of the campaign is, or ends at, that site: its key, and nothing is stored; the
    caller merges.
    """
    parameters = {"campaign": unit.campaign_id, "publisher": unit.publisher_id, "site": site}
    if site != unit.key.site:
        other = tx.execute(_OTHER, parameters).one_or_none()
        if other is None and tx.execute(_NOTE, parameters).scalar_one() != unit.publisher_id:
            other = tx.execute(_OTHER, parameters).one_or_none()  # another worker noted it a moment ago
        if other is not None:
            return Key(other.tenant, other.campaign, other.site)
    tx.execute(
        text("update publishers set final_site = :site where id = :publisher and final_site <> :site"),
        parameters,
    )
    return None
