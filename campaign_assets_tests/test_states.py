"""The table of transitions against the real database: exactly the listed moves happen, through the ledger's
own operations.

For every stage and every state it can be in, every operation there is is tried, in a transaction that is rolled back. A
trigger notes each write of a state. What was seen must be the table, no move more and none less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import text

from campaign_assets.errors import UserError
from campaign_assets.ledger import Ledger, Tx, operators, promotion, scheduling, work
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.ledger.schema import states_of
from campaign_assets.model import Key, Outcome, OutcomeKind, Reason, Unit
from campaign_assets.policy import Decision
from campaign_assets.states import (
    ATTENTION,
    FILED,
    IN_WORK,
    MATERIALIZED,
    SETTLED,
    TRANSITIONS,
    Event,
    Stage,
    State,
    Verdict,
    sources,
)
from campaign_assets_tests.ledger_world import BUSINESS, World, result_for

Move = tuple[Event, State, State, Stage]

LISTED: set[Move] = {
    (t.event, source, t.target, stage) for t in TRANSITIONS for stage in t.stages for source in t.sources
}

NOTE_MOVES = """
create table noted (id serial, unit bigint, stage text, before text, after text);
grant all on noted, noted_id_seq to public;
create function note_move() returns trigger language plpgsql as $$
begin
    insert into noted (unit, stage, before, after) values (new.id, new.stage, old.state, new.state);
    return null;
end $$;
create trigger note_move after update on units for each row
    when (old.revision <> new.revision and old.earlier = new.earlier or old.state <> new.state) execute
        function note_move();
"""


@dataclass
class Bench:
    """One unit in one state, and what every operation may need to be tried on it."""

    tx: Tx
    campaign: Campaign
    key: Key
    unit: Unit
    """As its worker holds it: with its claim where it is in work, else with the last one, or an invented one."""

    def sql(self, query: str, **parameters: object) -> None:
        self.tx.execute(
            text(query), {"publisher": self.unit.publisher_id, "campaign": self.campaign.id, **parameters}
        )


Operation = Callable[[Bench], object]


def _ended(event: Event, outcome: Outcome) -> Operation:
    """A worker commits its unit with this event."""

    def commit(bench: Bench) -> None:
        made = Decision(event, 0.0, Reason.ERROR, "so it was")
        work.commit_page(bench.tx, bench.unit.run_id, 1, [(bench.unit, outcome, made)], 0, 0)

    return commit


def _fact(verdict: Verdict, reason: Reason | None = None) -> Operation:
    return lambda bench: work.record_verdict(
        bench.tx, bench.unit, Outcome.fact(verdict, "it said so", None, reason=reason)
    )


def _upstream_has_a_newer_version(bench: Bench) -> None:
    """What a re-run of the stage before leaves behind; for discovery, which has none: a restart's epoch."""
    upstream = bench.unit.stage.upstream
    if upstream is None:
        bench.sql("update campaigns set epoch = epoch + 1 where id = :campaign")
    bench.sql(
        "update units set version = version + 1, touched = true "
        "where publisher_id = :publisher and stage = :stage and state = 'succeeded'",
        stage=upstream or bench.unit.stage,
    )
    bench.sql("update units set touched = true where publisher_id = :publisher and claim is null")
    promotion.promote(bench.tx)


def _a_new_epoch_has_come_down_to_it(bench: Bench) -> None:
    bench.sql("update campaigns set epoch = epoch + 1 where id = :campaign")
    before = [str(stage) for stage in list(Stage)[: list(Stage).index(bench.unit.stage)]]
    bench.sql(
        "update units set epoch = epoch + 1, touched = true where publisher_id = :publisher and stage = any(:before)",
        before=before,
    )
    bench.sql("update units set touched = true where id = :id", id=bench.unit.id)
    promotion.promote(bench.tx)


def _monitoring_is_due(bench: Bench) -> None:
    bench.sql(
        "update units set due_at = now() "
        "where publisher_id = :publisher and stage = 'monitoring' and state = 'succeeded'"
    )
    promotion.promote(bench.tx)


def _upstream_is_worked_on_anew(bench: Bench) -> None:
    if bench.unit.stage.upstream:
        bench.sql(
            "update units set state = 'failed', reason = 'error', touched = true "
            "where publisher_id = :publisher and stage = :stage and claim is null",
            stage=bench.unit.stage.upstream,
        )
        promotion.promote(bench.tx)


def _another_campaign_has_filed(verdict: Verdict, reason: Reason | None = None) -> Operation:
    def promote(bench: Bench) -> None:
        bench.sql(
            "insert into filings (unit_id, target, site, claim, epoch, phase, verdict, reason, answered_at, "
            "preflight_version, result) "
            "select min(id), :target, 's0.example', gen_random_uuid(), 1, 'answered', :verdict, :reason, now(), "
            "1, '{}' "
            "from units where publisher_id <> :publisher and stage = 'submission' on conflict do nothing",
            target=bench.campaign.target,
            verdict=verdict,
            reason=reason,
        )
        bench.sql("update units set touched = true where publisher_id = :publisher and claim is null")
        promotion.promote(bench.tx)

    return promote


def _refusing(act: Callable[[Bench], object]) -> Operation:
    """A human's act: a refusal is an answer too."""

    def try_it(bench: Bench) -> None:
        with bench.tx.begin_nested() as savepoint:
            try:
                act(bench)
            except UserError:
                savepoint.rollback()

    return try_it


def _decided(choice: str) -> Operation:
    corrections = {"name": "Other"} if choice == "correct" else None
    return _refusing(lambda b: operators.decide(b.tx, b.key, b.unit.stage, choice, corrections))


def _resolved(filed: bool) -> Operation:
    return _refusing(lambda b: operators.resolve(b.tx, b.key, filed))


_WORKED: dict[Event, Callable[[Stage], Outcome]] = {
    Event.SUCCEED: lambda stage: Outcome.succeed(result_for(stage), "done"),
    Event.REJECT: lambda stage: Outcome.reject(Reason.BELOW_BAR, "no"),
    Event.FAIL: lambda stage: Outcome.fail(Reason.ERROR, "it broke"),
    Event.HOLD: lambda stage: Outcome.hold(Reason.CAPTCHA, "a captcha"),
    Event.RETRY: lambda stage: Outcome.retry(Reason.ERROR, "again"),
    Event.WAIT: lambda stage: Outcome.wait(Reason.MODERATION, "later"),
    Event.RELEASE: lambda stage: Outcome.release(),
}


def operations(stage: Stage) -> Iterator[tuple[str, frozenset[Event], Operation]]:
    """(name, the events it may cause, the operation): all there is that could move a unit of this stage."""
    for event, outcome in _WORKED.items():
        # What the stage does not have is a body's mistake, and fails.
        yield f"commit {event}", frozenset({event, Event.FAIL}), _ended(event, outcome(stage))
    yield "release", frozenset({Event.RELEASE}), lambda b: work.release(b.tx, [b.unit])
    yield "restart", frozenset({Event.RELEASE}), lambda b: operators.restart(b.tx, b.campaign)
    yield "expire the run", frozenset({Event.EXPIRE}), lambda b: scheduling.expire_run(b.tx, b.unit.run_id)
    yield (
        "claim",
        frozenset({Event.CLAIM}),
        lambda b: work.claim(b.tx, b.campaign.id, stage, "run-2", 1, beside=False),
    )
    scheduler = frozenset({Event.PROMOTE, Event.WITHDRAW, Event.ADOPT})
    yield "promote", scheduler, lambda b: promotion.promote(b.tx)
    yield "promote after a newer upstream", scheduler, _upstream_has_a_newer_version
    yield "promote in a new epoch", scheduler, _a_new_epoch_has_come_down_to_it
    yield "promote after upstream is gone", scheduler, _upstream_is_worked_on_anew
    yield "promote monitoring", scheduler, _monitoring_is_due
    yield "rerun", frozenset({Event.RERUN}), _refusing(lambda b: operators.rerun(b.tx, b.key, stage))
    for choice in ("approve", "reject", "filed", "correct"):
        yield f"decide {choice}", frozenset({Event.DECIDE}), _decided(choice)
    for filed in (True, False):
        yield f"resolve {filed}", frozenset({Event.DECIDE}), _resolved(filed)
    if stage is Stage.SUBMISSION:
        for verdict, reason in (
            (Verdict.ACCEPTED, None),
            (Verdict.UNKNOWN, None),
            (Verdict.REFUSED, None),
            (Verdict.REFUSED, Reason.REFUSED_SITE),
        ):
            yield f"verdict {verdict} {reason}", frozenset({Event.FACT}), _fact(verdict, reason)
            yield f"adopt {verdict} {reason}", scheduler, _another_campaign_has_filed(verdict, reason)


def _bench(tx: Tx, world: World, campaign: Campaign, stage: Stage) -> Bench:
    row = tx.execute(
        text("select * from units where stage = :stage and campaign_id = :campaign"),
        {"stage": stage, "campaign": campaign.id},
    ).one()
    filed = tx.execute(
        text("select claim from filings where unit_id = :id order by id desc limit 1"), {"id": row.id}
    ).scalar()
    unit = Unit(
        row.id, row.publisher_id, campaign.id, world.key(campaign), stage, row.claim or filed or uuid4(), row.epoch,
        row.run_id or "run-x", row.attempts, row.waits, row.alone, "", "", BUSINESS, campaign.settings, row.consumed,
    )  # fmt: skip
    return Bench(tx, campaign, unit.key, unit)


def _seen(bench: Bench, events: frozenset[Event]) -> set[Move]:
    """The moves of the bench's own unit, each under the event that may cause it."""
    rows = bench.tx.execute(
        text("select before, after from noted where unit = :id order by id"), {"id": bench.unit.id}
    )
    seen: set[Move] = set()
    for row in rows:
        before, after = State(row.before), State(row.after)
        fitting = {event for event in events if before in sources(event, after, bench.unit.stage)}
        assert fitting, (
            f"{bench.unit.stage}: {before} → {after} is not in the table for any of {sorted(events)}"
        )
        seen |= {(event, before, after, bench.unit.stage) for event in fitting}
    return seen


def _places(stage: Stage) -> Iterator[tuple[State, str]]:
    """The states of a stage, some of them in several ways that a guard tells apart."""
    for state in sorted(states_of(stage)):
        if (stage, state) == (Stage.DISCOVERY, State.NONE):
            continue  # lives for one statement inside a look of the scheduler after a restart; seen there
        yield state, ""
        if state is State.HELD and stage is not Stage.SUBMISSION:
            yield state, "for approval"
        if state is State.RUNNING:
            yield state, "alone, with no attempt left"


def _furnish(world: World, campaign: Campaign, stage: Stage, state: State, how: str) -> None:
    if how == "for approval":
        world.reach(campaign, stage)
        world.finish(
            world.claim_one(campaign, stage), Outcome.hold(Reason.APPROVAL, "is it right?", result_for(stage))
        )
        return
    world.bring(campaign, stage, state)
    if how:
        world.query(
            campaign, "update units set alone = true, attempts = 99 where claim is not null returning id"
        )


@pytest.mark.parametrize("stage", list(Stage))
def test_exactly_the_listed_moves_happen(stage: Stage, ledger: Ledger, owner_url: str) -> None:
    with psycopg.connect(owner_url) as connection:
        connection.execute(NOTE_MOVES.encode())
    world = World(ledger)
    world.campaign("acme/elsewhere", 1, target="another.example", started=False)
    seen: set[Move] = set()
    for number, (state, how) in enumerate(_places(stage)):
        campaign = world.campaign(f"acme/c{number}", target=f"business{number}.example")
        _furnish(world, campaign, stage, state, how)
        assert world.state(campaign, stage) is state
        for name, events, operate in operations(stage):
            with ledger.bound("acme") as tx:
                tx.execute(text("delete from noted"))
                bench = _bench(tx, world, campaign, stage)
                before = tx.execute(text("select * from units where id = :id"), {"id": bench.unit.id}).one()
                operate(bench)
                moved = _seen(bench, events)
                after = tx.execute(text("select * from units where id = :id"), {"id": bench.unit.id}).one()
                if not moved:
                    assert (after.state, after.claim, after.version) == (
                        before.state,
                        before.claim,
                        before.version,
                    ), name
                seen |= moved
                tx.rollback()
    listed = {move for move in LISTED if move[3] is stage}
    assert seen == listed, f"never seen: {sorted(listed - seen)}; not listed: {sorted(seen - listed)}"


def test_every_stage_is_free_to_re_run_but_submission() -> None:
    for stage in Stage:
        again = {state for state in State if state in sources(Event.RERUN, State.READY, stage)}
        assert again == ({State.FAILED} if stage is Stage.SUBMISSION else SETTLED - {State.UNRESOLVED})


def test_the_groups_of_states_fit_together() -> None:
    assert ATTENTION | MATERIALIZED == SETTLED
    assert not ATTENTION & MATERIALIZED
    assert not SETTLED & IN_WORK
    assert FILED.isdisjoint({Verdict.UNKNOWN, Verdict.REFUSED, Verdict.NOT_SENT})


def test_a_run_has_an_outcome_for_each_of_its_events() -> None:
    assert {kind.value for kind in OutcomeKind} == {event.value for event in _WORKED} | {"fact"}
