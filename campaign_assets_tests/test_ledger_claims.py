"""Claims and page commits: nobody gets a unit twice, nothing stale is written, nothing finished is lost (R1, R10,
R12).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest
from sqlalchemy import text

from campaign_assets.ledger import operators, scheduling, work
from campaign_assets.model import Evidence, Outcome, Reason, ScoringResult, Unit
from campaign_assets.policy import Decision
from campaign_assets.states import Event, Stage, State
from campaign_assets_tests.ledger_world import POLICIES, World, decision, result_for

ATTEMPTS = """
select a.event, a.applied from attempts a join units u on u.id = a.unit_id where u.stage = :stage order by a.id"""


def test_a_second_claim_skips_what_the_first_has_locked_and_waits_for_nobody(world: World) -> None:
    campaign = world.campaign(publishers=10)
    with world.ledger.bound("acme") as first:
        mine = work.claim(first, campaign.id, Stage.DISCOVERY, "run-1", 6)
        theirs = world.claim(
            campaign, Stage.DISCOVERY, 10
        )  # another connection, while the first transaction is open
        assert len(mine) == 6
        assert len(theirs) == 4
    assert {unit.id for unit in mine}.isdisjoint(unit.id for unit in theirs)


def test_many_workers_at_once_claim_every_unit_exactly_once(world: World) -> None:
    campaign = world.campaign(publishers=200)
    together = threading.Barrier(8)

    def work_through(number: int) -> list[int]:
        together.wait()
        found: list[int] = []
        while units := world.claim(campaign, Stage.DISCOVERY, 7, f"run-{number}"):
            found += [unit.id for unit in units]
        return found

    with ThreadPoolExecutor(8) as pool:
        claimed = [unit for units in pool.map(work_through, range(8)) for unit in units]
    assert len(claimed) == len(set(claimed)) == 200


def test_each_unit_of_a_claim_has_its_own_token_and_all_its_body_may_know(world: World) -> None:
    campaign = world.campaign(publishers=3)
    world.reach(campaign, Stage.FORM_MAPPING)
    units = world.claim(campaign, Stage.FORM_MAPPING, run_id="run-7")
    assert len({unit.claim for unit in units}) == 3
    unit = units[0]
    assert str(unit.key) == "acme/launch/s0.example"
    assert (unit.run_id, unit.epoch, unit.attempts, unit.url) == ("run-7", 1, 0, "https://s0.example/")
    assert list(unit.results) == [Stage.DISCOVERY, Stage.SCORING]
    assert unit.result(ScoringResult).score == 80
    assert unit.upstream_version == 1


def test_a_claim_takes_only_the_sites_it_is_given(world: World) -> None:
    campaign = world.campaign(publishers=5)
    units = world.claim(campaign, Stage.DISCOVERY, keys=["s3.example", "s1.example", "nowhere.example"])
    assert sorted(unit.key.site for unit in units) == ["s1.example", "s3.example"]


@pytest.mark.parametrize("act", [operators.pause, operators.archive])
def test_nothing_is_claimed_where_the_intent_is_not_run(world: World, act: Callable[..., object]) -> None:
    campaign = world.campaign()
    world.operate(campaign, act)
    assert world.claim(campaign, Stage.DISCOVERY) == []


def test_a_run_that_is_over_for_the_ledger_claims_nothing(world: World) -> None:
    campaign = world.campaign()
    with world.ledger.bound("acme") as tx:
        work.start_run(tx, "run-1", campaign.id, Stage.DISCOVERY, False)
        scheduling.expire_run(tx, "run-1")
        assert not work.beat(tx, "run-1")
    assert world.claim(campaign, Stage.DISCOVERY, run_id="run-1") == []
    assert len(world.claim(campaign, Stage.DISCOVERY, run_id="run-2")) == 1


def test_a_unit_that_is_not_due_is_not_claimed_and_one_that_is_due_first_comes_first(world: World) -> None:
    campaign = world.campaign(publishers=3)
    with world.ledger.bound("acme") as tx:
        tx.execute(
            text("update units set due_at = now() + interval '1 hour' where stage = 'discovery' and id = 1")
        )
        tx.execute(
            text("update units set due_at = now() - interval '1 hour' where stage = 'discovery' and id = 17")
        )
    assert [unit.key.site for unit in world.claim(campaign, Stage.DISCOVERY)] == ["s1.example", "s2.example"]
    world.query(campaign, "select 1")
    with world.ledger.bound("acme") as tx:
        order = (
            tx.execute(text("select id from units where run_id is not null order by due_at nulls last, id"))
            .scalars()
            .all()
        )
    assert order == [9, 17]


def test_a_claim_does_not_believe_the_scheduler_that_its_upstream_stands(world: World) -> None:
    campaign = world.campaign()
    world.reach(campaign, Stage.SCORING)
    world.human(world.key(campaign), operators.rerun, Stage.DISCOVERY)  # and no look of the scheduler since
    assert world.state(campaign, Stage.SCORING) is State.READY
    assert world.claim(campaign, Stage.SCORING) == []


# ---------------------------------------------------------------------------------------------------------- committing


def test_a_page_commits_every_outcome_in_one_go(world: World) -> None:
    campaign = world.campaign(publishers=6)
    world.reach(campaign, Stage.SCORING)
    units = world.claim(campaign, Stage.SCORING, run_id="run-1")
    kept = Evidence(kind="document", path="x/y.html", media_type="text/html", sha256="a" * 64, size=9)
    outcomes = [
        Outcome.succeed(result_for(Stage.SCORING), "80 of 100", (kept,)),
        Outcome.reject(Reason.BELOW_BAR, "20 of 100", result_for(Stage.SCORING)),
        Outcome.hold(Reason.UNSURE, "look at it"),
        Outcome.fail(Reason.ERROR, "a NUL \x00 and a lone \ud800 in it"),
        Outcome.retry(Reason.SERVER_ERROR, "500"),
        Outcome.wait(Reason.RATE_LIMITED, "asked to wait", 120),
    ]
    done = [
        (unit, outcome, decision(outcome, unit.stage)) for unit, outcome in zip(units, outcomes, strict=True)
    ]
    with world.ledger.bound("acme") as tx:
        committed = work.commit_page(tx, "run-1", 3, done, 120_000_000, 2_000_000)
    assert [(each.unit_id, each.state, each.applied) for each in committed] == [
        (units[0].id, State.SUCCEEDED, True),
        (units[1].id, State.REJECTED, True),
        (units[2].id, State.HELD, True),
        (units[3].id, State.FAILED, True),
        (units[4].id, State.READY, True),
        (units[5].id, State.READY, True),
    ]
    rows = [world.unit(campaign, Stage.SCORING, f"s{n}.example") for n in range(6)]
    assert [row.attempts for row in rows] == [0, 0, 0, 1, 1, 0]
    assert [row.waits for row in rows] == [0, 0, 0, 0, 0, 1]
    assert [row.version for row in rows] == [1, 1, 0, 0, 0, 0]
    assert rows[3].detail == "a NUL \ufffd and a lone ? in it"
    assert all(
        row.claim is None and row.run_id == "run-1" and row.revision == each.revision
        for row, each in zip(rows, committed, strict=True)
    )
    assert [(row.due_at is not None) for row in rows] == [False, False, False, False, True, True]
    pages = world.query(
        campaign,
        "select run_id, page_no, units, applied, memory, memory_growth from page_commits where stage = 'scoring'",
    )
    assert [tuple(page) for page in pages] == [("run-1", 3, 6, 6, 120_000_000, 2_000_000)]
    assert [tuple(row) for row in world.query(campaign, "select unit_id, path, size from evidence")] == [
        (units[0].id, "x/y.html", 9)
    ]
    assert len(world.query(campaign, ATTEMPTS, stage="scoring")) == 6


def test_a_stage_that_dies_in_page_n_keeps_n_minus_1_pages_and_the_next_run_goes_on_there(
    world: World,
) -> None:
    campaign = world.campaign(publishers=9)
    for _ in range(2):
        world.finish(world.claim(campaign, Stage.DISCOVERY, 3, "run-1"))
    third = world.claim(campaign, Stage.DISCOVERY, 3, "run-1")
    outcome = Outcome.succeed(result_for(Stage.DISCOVERY), "done")
    with world.ledger.bound("acme") as tx:
        work.commit_page(
            tx, "run-1", 3, [(unit, outcome, decision(outcome, unit.stage)) for unit in third], 0, 0
        )
        tx.rollback()  # killed before the commit
    with world.ledger.bound("acme") as tx:
        expired = scheduling.expire_run(tx, "run-1")
        assert all(
            unit.detail.startswith(("It lost its worker", "Perhaps filed: it lost its worker"))
            for unit in expired
        )
    assert [row.id for row in expired] == [unit.id for unit in third]
    states = [
        row.state
        for row in world.query(campaign, "select state from units where stage = 'discovery' order by id")
    ]
    assert states == ["succeeded"] * 6 + ["ready"] * 3
    again = world.claim(campaign, Stage.DISCOVERY, 1, "run-2", beside=False)
    assert again[0].id == third[0].id


def test_a_stale_claim_commits_nothing_and_is_recorded_as_superseded(world: World) -> None:
    campaign = world.campaign()
    unit = world.claim_one(campaign, Stage.DISCOVERY, run_id="slow")
    world.expire(unit)
    newer = world.claim_one(campaign, Stage.DISCOVERY, run_id="quick", beside=False)
    assert newer.claim != unit.claim
    committed = world.finish(unit, Outcome.reject(Reason.PARKED, "late word"))
    assert (committed[0].applied, committed[0].state) == (False, State.RUNNING)
    row = world.unit(campaign, Stage.DISCOVERY)
    assert (row.state, row.claim, row.version) == ("running", newer.claim, 0)
    assert [(r.event, r.applied) for r in world.query(campaign, ATTEMPTS, stage="discovery")] == [
        ("expire", True),
        ("reject", False),
    ]
    assert world.query(campaign, "select * from results") == []
    world.finish(newer)
    assert world.state(campaign, Stage.DISCOVERY) is State.SUCCEEDED


def test_a_page_keeps_its_good_units_where_one_is_superseded(world: World) -> None:
    campaign = world.campaign(publishers=3)
    units = world.claim(campaign, Stage.DISCOVERY)
    stolen = replace(units[1], claim=uuid4())
    committed = world.finish([units[0], stolen, units[2]])
    assert [each.applied for each in committed] == [True, False, True]
    page = world.query(campaign, "select units, applied from page_commits")[0]
    assert tuple(page) == (3, 2)


def test_a_write_of_an_old_epoch_is_refused_even_where_the_claim_still_stands(world: World) -> None:
    """The epoch fences by itself: here a restart's release is left out on purpose."""
    campaign = world.campaign()
    unit = world.claim_one(campaign, Stage.DISCOVERY)
    with world.ledger.bound("acme") as tx:
        tx.execute(text("update campaigns set epoch = epoch + 1"))
    assert [each.applied for each in world.finish(unit)] == [False]
    assert world.unit(campaign, Stage.DISCOVERY).claim == unit.claim
    lying = replace(unit, epoch=2)  # the campaign's epoch, but not the unit's
    assert [each.applied for each in world.finish(lying)] == [False]


def test_a_restart_waits_for_a_page_that_is_being_committed_and_then_takes_everything(world: World) -> None:
    campaign = world.campaign(publishers=2)
    first, second = world.claim(campaign, Stage.DISCOVERY)
    with ThreadPoolExecutor(1) as pool:
        with world.ledger.bound("acme") as tx:
            outcome = Outcome.succeed(result_for(Stage.DISCOVERY), "done")
            work.commit_page(tx, first.run_id, 1, [(first, outcome, decision(outcome, first.stage))], 0, 0)
            restarting = pool.submit(world.operate, campaign, operators.restart)
            _until_somebody_waits_for_a_lock(world)
            assert not restarting.done()
        assert restarting.result(30) == 2
    assert [each.applied for each in world.finish(second)] == [False], "the restart released it"
    assert world.promote(campaign)["promote"] == 2
    units = world.claim(campaign, Stage.DISCOVERY)
    assert [(unit.epoch, unit.attempts) for unit in units] == [(2, 0), (2, 0)]


def _until_somebody_waits_for_a_lock(world: World) -> None:
    """Return once another connection of this database is blocked: the interleaving is forced, not hoped for."""
    waiting = text(
        "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() "
        "and cardinality(pg_blocking_pids(pid)) > 0"
    )
    with world.ledger.engine.connect() as connection:
        while not connection.execute(waiting).scalar_one():
            connection.rollback()


def test_two_pages_with_the_same_units_in_opposite_order_do_not_deadlock(world: World) -> None:
    campaign = world.campaign(publishers=30)
    units = world.claim(campaign, Stage.DISCOVERY)
    together = threading.Barrier(2)

    def commit(members: list[Unit]) -> int:
        together.wait()
        return sum(each.applied for each in world.finish(members))

    with ThreadPoolExecutor(2) as pool:
        applied = list(pool.map(commit, [units, units[::-1]]))
    assert sorted(applied) == [0, 30], "one of the two wins all, the other is superseded"


def test_an_event_the_stage_does_not_have_fails_the_unit_with_the_reason(world: World) -> None:
    campaign = world.campaign()
    unit = world.claim_one(campaign, Stage.DISCOVERY)
    with world.ledger.bound("acme") as tx:
        work.commit_page(
            tx, "r", 1, [(unit, Outcome.succeed(result_for(unit.stage), "?"), Decision(Event.FACT))], 0, 0
        )
    row = world.unit(campaign, Stage.DISCOVERY)
    assert (row.state, row.reason) == ("failed", "error")
    assert "does not have" in row.detail


def test_released_units_are_due_at_once_and_charged_nothing(world: World) -> None:
    campaign = world.campaign(publishers=3)
    units = world.claim(campaign, Stage.DISCOVERY)
    world.finish(units[0])
    with world.ledger.bound("acme") as tx:
        assert work.release(tx, units) == 2
    again = world.claim(campaign, Stage.DISCOVERY)
    assert [(unit.id, unit.attempts, unit.alone) for unit in again] == [
        (units[1].id, 0, False),
        (units[2].id, 0, False),
    ]


def test_a_release_after_a_restart_is_by_token_alone_and_does_no_harm(world: World) -> None:
    campaign = world.campaign()
    unit = world.claim_one(campaign, Stage.DISCOVERY)
    world.operate(campaign, operators.restart)
    with world.ledger.bound("acme") as tx:
        assert work.release(tx, [unit]) == 0, "the restart was faster"
    assert world.promote(campaign) == {"withdraw": 1, "promote": 1}
    assert world.claim_one(campaign, Stage.DISCOVERY).epoch == 2


# ---------------------------------------------------------------------------------------------------- dying and reaping


def test_a_unit_whose_worker_died_is_claimed_alone_and_only_a_death_alone_charges(world: World) -> None:
    campaign = world.campaign(publishers=4)
    units = world.claim(campaign, Stage.DISCOVERY, 3, "run-1")
    world.expire(units[0])
    assert [world.unit(campaign, Stage.DISCOVERY, f"s{n}.example").attempts for n in range(3)] == [0, 0, 0]
    beside = world.claim(campaign, Stage.DISCOVERY, run_id="run-2", beside=True)
    assert [unit.key.site for unit in beside] == ["s3.example"], (
        "with others in flight only units that are not alone"
    )
    alone = world.claim(campaign, Stage.DISCOVERY, run_id="run-3", beside=False)
    assert [unit.key.site for unit in alone] == ["s0.example"]
    assert alone[0].alone
    for death in range(POLICIES[Stage.DISCOVERY].attempts):
        world.expire(alone[0])
        row = world.unit(campaign, Stage.DISCOVERY)
        assert row.attempts == death + 1
        if row.state == "ready":
            alone = world.claim(
                campaign, Stage.DISCOVERY, run_id=f"run-{death + 4}", beside=False, keys=["s0.example"]
            )
    assert (row.state, row.reason, row.attempts) == (
        "failed",
        "worker_died",
        POLICIES[Stage.DISCOVERY].attempts,
    )
    others = [world.unit(campaign, Stage.DISCOVERY, f"s{n}.example") for n in (1, 2)]
    assert [(other.state, other.attempts) for other in others] == [("ready", 0)] * 2, (
        "the poison unit cost them nothing"
    )


def test_a_unit_that_lived_through_being_alone_is_alone_no_more(world: World) -> None:
    campaign = world.campaign()
    world.expire(world.claim_one(campaign, Stage.DISCOVERY))
    outcome = Outcome.retry(Reason.SERVER_ERROR, "500", 0)
    world.finish(world.claim_one(campaign, Stage.DISCOVERY, beside=False), outcome)
    assert not world.unit(campaign, Stage.DISCOVERY).alone


def test_a_restart_is_a_fresh_start_also_for_a_unit_that_had_to_be_alone(world: World) -> None:
    campaign = world.campaign()
    world.expire(world.claim_one(campaign, Stage.DISCOVERY))
    assert world.unit(campaign, Stage.DISCOVERY).alone
    world.operate(campaign, operators.restart)
    world.promote(campaign)
    assert not world.unit(campaign, Stage.DISCOVERY).alone


def test_the_reaper_takes_by_age_alone_on_the_databases_clock(world: World) -> None:
    campaign = world.campaign(publishers=2)
    old, young = world.claim(campaign, Stage.DISCOVERY)
    with world.ledger.bound("acme") as tx:
        reap_after = POLICIES[Stage.DISCOVERY].reap_after
        for unit, age in ((old, reap_after + 1), (young, reap_after - 1)):
            tx.execute(
                text("update units set claimed_at = now() - :age * interval '1 second' where id = :id"),
                {"id": unit.id, "age": age},
            )
    with world.ledger.bound("acme") as tx:
        reaped = scheduling.reap(tx, POLICIES)
    assert [(row.id, row.state, row.reason) for row in reaped] == [(old.id, State.READY, "worker_died")]
    assert world.unit(campaign, Stage.DISCOVERY, "s1.example").claim == young.claim
    assert [each.applied for each in world.finish([old, young])] == [False, True], (
        "what the slow one writes late is superseded"
    )


def test_the_reaper_does_not_wait_for_a_commit_in_progress(world: World) -> None:
    campaign = world.campaign()
    unit = world.claim_one(campaign, Stage.DISCOVERY)
    with world.ledger.bound("acme") as tx:
        tx.execute(text("update units set claimed_at = now() - interval '1 day' where claim is not null"))
    outcome = Outcome.succeed(result_for(Stage.DISCOVERY), "done")
    with world.ledger.bound("acme") as tx:
        work.commit_page(tx, unit.run_id, 1, [(unit, outcome, decision(outcome, unit.stage))], 0, 0)
        with world.ledger.bound("acme") as reaper:
            assert scheduling.reap(reaper, POLICIES) == []
    assert world.state(campaign, Stage.DISCOVERY) is State.SUCCEEDED


def test_the_reaper_leaves_out_a_round_after_it_slept(world: World) -> None:
    world.campaign()
    with world.ledger.bound("acme") as tx:
        assert scheduling.tick(tx, "reaper", 30)
    with world.ledger.bound("acme") as tx:
        assert scheduling.tick(tx, "reaper", 30)
        tx.execute(text("update ticks set at = now() - interval '31 seconds'"))
    with world.ledger.bound("acme") as tx:
        assert not scheduling.tick(tx, "reaper", 30)
    with world.ledger.bound("acme") as tx:
        assert scheduling.tick(tx, "reaper", 30)


def test_an_open_run_tells_how_long_it_is_silent_and_what_it_did(world: World) -> None:
    campaign = world.campaign(publishers=3)
    with world.ledger.bound("acme") as tx:
        work.start_run(tx, "run-1", campaign.id, Stage.DISCOVERY, False)
    units = world.claim(campaign, Stage.DISCOVERY, 2, "run-1")
    world.finish(units[0])
    with world.ledger.bound("acme") as tx:
        tx.execute(
            text(
                "update runs set beat_at = now() - interval '50 seconds', started_at = now() - interval '60 seconds'"
            )
        )
        run = scheduling.open_runs(tx)[0]
    assert (run.run_id, run.stage, run.pages, run.in_work, run.operator) == (
        "run-1",
        Stage.DISCOVERY,
        1,
        1,
        False,
    )
    assert run.silent_seconds >= 50 > run.last_progress_seconds
    with world.ledger.bound("acme") as tx:
        assert work.beat(tx, "run-1")
        assert scheduling.open_runs(tx)[0].silent_seconds < 50
        work.end_run(tx, "run-1", "done")
        assert scheduling.open_runs(tx) == []
        work.start_run(tx, "run-1", campaign.id, Stage.DISCOVERY, False)  # a retried step
        assert len(scheduling.open_runs(tx)) == 1


def test_the_backlog_counts_what_is_due_and_what_was_barren(world: World) -> None:
    campaign = world.campaign(publishers=5)
    units = world.claim(campaign, Stage.DISCOVERY, 2, "run-1")
    world.expire(units[0])
    world.claim(campaign, Stage.DISCOVERY, 1, "run-2")
    with world.ledger.bound("acme") as tx:
        for run, how in (("a", "failed"), ("b", "stopped"), ("c", "reaped")):
            work.start_run(tx, run, campaign.id, Stage.DISCOVERY, False)
            work.end_run(tx, run, how)
        found = scheduling.backlog(tx)
    assert [(each.stage, each.due, each.alone, each.in_work, each.barren, each.unread) for each in found] == [
        (Stage.DISCOVERY, 2, 2, 1, 2, False)
    ]
    assert found[0].campaign.slug == "launch"
    world.operate(campaign, operators.pause)
    with world.ledger.bound("acme") as tx:
        assert scheduling.backlog(tx) == []
