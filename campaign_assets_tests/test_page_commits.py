"""Page by page (R1, R7, R8, R10, R14): what a run commits when, and what becomes of a body that misbehaves."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from dagster import Failure, RetryRequested

from campaign_assets.errors import ConfigError, LedgerUnavailable, NotSent, SiteError
from campaign_assets.flight import Flight
from campaign_assets.model import Outcome, OutcomeKind, Reason, Unit
from campaign_assets.ports import Page
from campaign_assets.runtime import Engine, drive
from campaign_assets.states import Event, Stage, Verdict
from campaign_assets.stop import DeadlineExceeded, StopFlag, StopRequested
from campaign_assets.watch import Watchdog
from campaign_assets_tests.runtime_desk import DONE, ListDesk, NoWorld, fly, policy, unit


async def at_once(_unit: Unit, _tools: object) -> Outcome:
    return DONE


def test_every_due_unit_is_committed_in_pages_no_larger_than_in_flight_and_page_together() -> None:
    desk = ListDesk([unit(n) for n in range(130)])
    row = policy(concurrency=8, page_size=25)
    summary = fly(desk, row, at_once)
    assert summary.units == 130
    assert sorted(desk.events) == list(range(130))
    assert max(len(page.done) for page in desk.pages) < 25 + 8
    assert [page.number for page in desk.pages] == list(range(1, len(desk.pages) + 1))
    assert desk.published == len(desk.pages)


def test_no_more_units_are_in_the_air_than_the_policy_says() -> None:
    air = most = 0

    async def body(_unit: Unit, _tools: object) -> Outcome:
        nonlocal air, most
        air += 1
        most = max(most, air)
        await asyncio.sleep(0.01)
        air -= 1
        return DONE

    fly(ListDesk([unit(n) for n in range(40)]), policy(concurrency=5), body)
    assert most == 5


def test_a_healthy_unit_is_committed_while_a_slow_one_beside_it_is_still_in_the_air() -> None:
    slow_may_end = asyncio.Event()
    desk = ListDesk([unit(n) for n in range(4)])

    async def body(one: Unit, _tools: object) -> Outcome:
        if one.id == 0:
            await slow_may_end.wait()
        return DONE

    class Watching(ListDesk):
        def commit(self, page: Page) -> None:
            super().commit(page)
            if {1, 2, 3} <= set(self.committed_at):
                loop.call_soon_threadsafe(slow_may_end.set)

    desk = Watching(desk.due)
    loop: asyncio.AbstractEventLoop

    def make() -> Engine:
        nonlocal loop
        loop = asyncio.get_running_loop()
        return Engine(desk, policy(), body, NoWorld(), StopFlag())

    drive(make, lambda _engine: nullcontext())
    assert desk.committed_at[0] >= max(desk.committed_at[n] for n in (1, 2, 3))


def test_a_silent_body_fails_with_reason_deadline_by_our_clock() -> None:
    desk = ListDesk([unit(0)])

    async def silent(_unit: Unit, _tools: object) -> Outcome:
        await asyncio.Event().wait()
        return DONE

    fly(desk, policy(deadline=0.1), silent)
    assert desk.outcomes[0].reason is Reason.DEADLINE
    assert desk.events[0] is Event.RETRY


def test_a_body_that_swallows_its_cancellation_is_abandoned_and_recorded_as_deadline() -> None:
    desk = ListDesk([unit(0)])

    async def stubborn(_unit: Unit, _tools: object) -> Outcome:
        for _ in range(40):
            try:
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                continue
        return DONE

    fly(desk, policy(deadline=0.1), stubborn)
    assert desk.outcomes[0].reason is Reason.DEADLINE


def test_a_body_that_blocks_the_loop_is_interrupted_at_its_deadline_and_the_others_go_on() -> None:
    desk = ListDesk([unit(n) for n in range(3)])

    async def blocking(one: Unit, _tools: object) -> Outcome:
        if one.id == 1:
            time.sleep(60)  # noqa: ASYNC251 - what this test is about
        return DONE

    began = time.monotonic()
    drive(
        lambda: Engine(desk, policy(deadline=0.2), blocking, NoWorld(), StopFlag()),
        lambda engine: Watchdog(engine, lambda _flight: pytest.fail("the page's limit was reached")),
    )
    assert desk.outcomes[1].reason is Reason.DEADLINE
    assert {desk.outcomes[0].kind, desk.outcomes[2].kind} == {OutcomeKind.SUCCEED}
    assert time.monotonic() - began < 50


@pytest.mark.parametrize(
    ("error", "event", "reason"),
    [
        (
            SiteError("server_error", "It answered 500.", transient=True, retry_after=7),
            Event.RETRY,
            Reason.SERVER_ERROR,
        ),
        (SiteError("not_found", "It answered 404."), Event.FAIL, Reason.NOT_FOUND),
        (ValueError("a bug"), Event.RETRY, Reason.ERROR),
    ],
)
def test_what_a_body_raises_is_its_own_units_affair(error: Exception, event: Event, reason: Reason) -> None:
    desk = ListDesk([unit(n) for n in range(3)])

    async def body(one: Unit, _tools: object) -> Outcome:
        if one.id == 1:
            raise error
        return DONE

    fly(desk, policy(), body)
    assert desk.events == {0: Event.SUCCEED, 1: event, 2: Event.SUCCEED}
    assert desk.outcomes[1].reason is reason
    assert str(error) in desk.outcomes[1].detail


def test_something_else_than_an_outcome_is_an_error_of_that_unit() -> None:
    desk = ListDesk([unit(0)])

    async def body(_unit: Unit, _tools: object) -> Any:
        return "fine"

    fly(desk, policy(), body)
    assert desk.outcomes[0].reason is Reason.ERROR
    assert "instead of an Outcome" in desk.outcomes[0].detail


CONTROL: list[Callable[[], BaseException]] = [
    lambda: Failure("stop it"),
    lambda: RetryRequested(max_retries=1),
    lambda: KeyboardInterrupt(),
    lambda: SystemExit(3),
    lambda: StopRequested("mine"),
    lambda: asyncio.CancelledError(),
    lambda: GeneratorExit(),
    lambda: ConfigError("No browser; install one."),
]


@pytest.mark.parametrize("make", CONTROL, ids=lambda make: type(make()).__name__)
def test_a_control_exception_passes_and_the_others_are_committed_or_given_back(
    make: Callable[[], BaseException],
) -> None:
    desk = ListDesk([unit(n) for n in range(4)])
    world = NoWorld()
    third_waits = asyncio.Event()

    async def body(one: Unit, _tools: object) -> Outcome:
        if one.id == 1:
            await third_waits.wait()
            raise make()
        if one.id == 3:
            third_waits.set()
            await asyncio.Event().wait()
        return DONE

    error = make()
    with pytest.raises(type(error)):
        drive(lambda: Engine(desk, policy(), body, world, StopFlag()), lambda _engine: nullcontext())
    assert set(desk.events) == {0, 2}, "what had landed is committed"
    assert desk.released == [3], "who was in the air is given back; the one that raised is left to the reaper"
    assert world.closed


def test_a_deadline_exceeded_of_a_body_is_a_deadline_and_not_an_end_of_the_run() -> None:
    desk = ListDesk([unit(0), unit(1)])

    async def body(one: Unit, _tools: object) -> Outcome:
        if one.id == 0:
            raise DeadlineExceeded("mine")
        return DONE

    fly(desk, policy(), body)
    assert desk.outcomes[0].reason is Reason.DEADLINE
    assert desk.events[1] is Event.SUCCEED


def test_a_run_takes_no_more_than_its_size() -> None:
    desk = ListDesk([unit(n) for n in range(30)])
    assert fly(desk, policy(run_size=12, concurrency=8), at_once).units == 12
    assert len(desk.due) == 18


def test_a_run_past_its_soft_limit_claims_nothing_more() -> None:
    desk = ListDesk([unit(n) for n in range(30)])

    async def body(_unit: Unit, _tools: object) -> Outcome:
        await asyncio.sleep(0.2)
        return DONE

    assert fly(desk, policy(concurrency=4, soft_limit=0.1), body).units == 4


def test_a_quarantine_run_takes_lost_units_one_by_one_and_then_goes_on_as_any_other() -> None:
    desk = ListDesk([unit(n, alone=n < 3) for n in range(10)])
    beside: list[tuple[int, int]] = []
    air: set[int] = set()

    async def body(one: Unit, _tools: object) -> Outcome:
        air.add(one.id)
        await asyncio.sleep(0.01)
        beside.append((one.id, len(air)))
        air.discard(one.id)
        return DONE

    fly(desk, policy(concurrency=8), body, quarantine=True)
    assert [count for number, count in beside if number < 3] == [1, 1, 1]
    assert sorted(desk.events) == list(range(10))


def test_an_ordinary_run_leaves_lost_units_alone() -> None:
    desk = ListDesk([unit(0, alone=True), unit(1)])
    fly(desk, policy(), at_once)
    assert sorted(desk.events) == [1]


def test_a_page_whose_commit_met_a_restarting_database_is_committed_again() -> None:
    class Restarting(ListDesk):
        refusals = 2

        def commit(self, page: Page) -> None:
            if self.refusals:
                self.refusals -= 1
                raise LedgerUnavailable("starting up")
            super().commit(page)

    desk = Restarting([unit(n) for n in range(5)])
    fly(desk, policy(), at_once)
    assert sorted(desk.events) == list(range(5))


def filing(desk: ListDesk, body: Any, **changes: Any) -> None:
    fly(desk, policy(Stage.SUBMISSION, **changes), body)


def test_after_arming_a_deadline_is_the_fact_unknown() -> None:
    desk = ListDesk([unit(0, Stage.SUBMISSION)])

    async def body(_unit: Unit, tools: Any) -> Outcome:
        assert await tools.arm()
        await asyncio.Event().wait()
        return DONE

    filing(desk, body, deadline=0.2)
    assert (desk.outcomes[0].kind, desk.outcomes[0].verdict) == (OutcomeKind.FACT, Verdict.UNKNOWN)


@pytest.mark.parametrize(
    "error", [ValueError("bug"), SiteError("connection_failed", "It hung up.", transient=True)]
)
def test_after_arming_an_exception_is_the_fact_unknown(error: Exception) -> None:
    desk = ListDesk([unit(0, Stage.SUBMISSION)])

    async def body(_unit: Unit, tools: Any) -> Outcome:
        await tools.arm()
        raise error

    filing(desk, body)
    assert desk.outcomes[0].verdict is Verdict.UNKNOWN


def test_a_certain_not_sent_after_arming_is_a_retry() -> None:
    desk = ListDesk([unit(0, Stage.SUBMISSION)])

    async def body(_unit: Unit, tools: Any) -> Outcome:
        await tools.arm()
        raise NotSent("not_sent", "The button was covered; nothing left.", transient=True)

    filing(desk, body)
    assert (desk.events[0], desk.outcomes[0].reason) == (Event.RETRY, Reason.NOT_SENT)


def test_before_arming_a_deadline_is_a_retry() -> None:
    desk = ListDesk([unit(0, Stage.SUBMISSION)])

    async def body(_unit: Unit, tools: Any) -> Outcome:
        await asyncio.Event().wait()
        return DONE

    filing(desk, body, deadline=0.1)
    assert desk.events[0] is Event.RETRY


def test_an_abandoned_body_can_no_longer_arm() -> None:
    desk = ListDesk([unit(0, Stage.SUBMISSION)])
    answers: list[bool] = []

    async def body(_unit: Unit, tools: Any) -> Outcome:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            answers.append(await tools.arm())
        return DONE

    filing(desk, body, deadline=0.1)
    assert answers == [False]
    assert desk.events[0] is Event.RETRY


def _hold_the_process(said: str) -> None:
    """In a process of its own: a body that nothing can interrupt, watched with a page's limit of two seconds."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGURG})
    desk = ListDesk([unit(n) for n in range(3)])

    async def body(one: Unit, _tools: object) -> Outcome:
        if one.id == 1:
            time.sleep(120)  # noqa: ASYNC251 - what this test is about
        await asyncio.Event().wait()
        return DONE

    def watched(engine: Engine) -> Watchdog:
        def last_words(flight: Flight) -> None:
            page = engine.last_page(flight)
            Path(said).write_text(" ".join(f"{one.id}:{outcome.reason}" for one, outcome, _ in page.done))

        return Watchdog(engine, last_words)

    row = policy(deadline=0.2, page_limit=2.0)
    drive(lambda: Engine(desk, row, body, NoWorld(), StopFlag()), watched)


def test_a_body_that_nothing_can_interrupt_is_recorded_past_the_pages_limit_and_its_process_ends(
    tmp_path: Path,
) -> None:
    said = tmp_path / "said"
    process = multiprocessing.get_context("spawn").Process(target=_hold_the_process, args=(str(said),))
    process.start()
    process.join(90)
    assert process.exitcode == 70
    assert said.read_text() == "1:page_limit"
