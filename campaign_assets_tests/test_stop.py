"""A stop (R13): units given back and not charged, the run CANCELED; an armed filing gets its verdict first."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import nullcontext
from typing import Any

import pytest

from campaign_assets.model import Outcome, Unit
from campaign_assets.runtime import Engine, drive
from campaign_assets.states import Event, Stage, Verdict
from campaign_assets.stop import StopFlag, StopRequested
from campaign_assets.watch import pulse, stop_signals
from campaign_assets_tests.dagster_stand import Stand, until
from campaign_assets_tests.runtime_desk import DONE, ListDesk, NoWorld, fly, policy, unit

pytest_plugins = ["campaign_assets_tests.dagster_fixtures"]

# ---------------------------------------------------------------------------------------------------- the engine


def test_a_stop_gives_back_what_is_in_the_air_and_commits_what_has_landed() -> None:
    stop, desk = StopFlag(), ListDesk([unit(n) for n in range(6)])

    async def body(one: Unit, _tools: object) -> Outcome:
        if one.id < 3:
            return DONE
        if one.id == 5:
            stop.request("test")
        await asyncio.Event().wait()
        return DONE

    with pytest.raises(StopRequested):
        fly(desk, policy(), body, stop)
    assert set(desk.events) == {0, 1, 2}
    assert sorted(desk.released) == [3, 4, 5]


def test_a_stop_does_not_wait_for_a_body_that_will_not_let_go() -> None:
    stop, desk = StopFlag(), ListDesk([unit(0)])

    async def body(_one: Unit, _tools: object) -> Outcome:
        stop.request("test")
        for _ in range(30):
            try:
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                continue
        return DONE

    with pytest.raises(StopRequested):
        fly(desk, policy(), body, stop)
    assert desk.released == [0]
    assert desk.events == {}


def test_from_arming_to_verdict_a_stop_waits() -> None:
    stop, desk = StopFlag(), ListDesk([unit(0, Stage.SUBMISSION), unit(1, Stage.SUBMISSION)])

    async def body(one: Unit, tools: Any) -> Outcome:
        if one.id == 1:
            await asyncio.Event().wait()
        await tools.arm()
        stop.request("test")
        await asyncio.sleep(0.3)
        return Outcome.fact(Verdict.ACCEPTED, "Thank you.", None)

    with pytest.raises(StopRequested):
        fly(desk, policy(Stage.SUBMISSION), body, stop)
    assert desk.outcomes[0].verdict is Verdict.ACCEPTED
    assert desk.released == [1]


def test_an_armed_filing_that_never_answers_holds_a_stop_no_longer_than_its_deadline() -> None:
    stop, desk = StopFlag(), ListDesk([unit(0, Stage.SUBMISSION)])

    async def body(_one: Unit, tools: Any) -> Outcome:
        await tools.arm()
        stop.request("test")
        await asyncio.Event().wait()
        return DONE

    with pytest.raises(StopRequested):
        fly(desk, policy(Stage.SUBMISSION, deadline=0.3), body, stop)
    assert desk.outcomes[0].verdict is Verdict.UNKNOWN
    assert desk.events[0] is Event.FACT


def test_after_a_stop_nothing_is_armed_any_more() -> None:
    stop, desk = StopFlag(), ListDesk([unit(0, Stage.SUBMISSION)])
    answers: list[bool] = []

    async def body(_one: Unit, tools: Any) -> Outcome:
        stop.request("test")
        answers.append(await tools.arm())
        return DONE

    with pytest.raises(StopRequested):
        fly(desk, policy(Stage.SUBMISSION), body, stop)
    assert answers in ([False], [])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_a_stop_request_inside_the_block_and_what_it_was_outside(number: signal.Signals) -> None:
    before, stop = signal.getsignal(number), StopFlag()
    with stop_signals(stop):
        signal.raise_signal(number)
        assert stop.requested
        assert stop.reason == number.name
    assert signal.getsignal(number) is before


def test_a_signal_wakes_a_run_that_waits_for_a_silent_site() -> None:
    stop, desk = StopFlag(), ListDesk([unit(0)])

    async def silent(_one: Unit, _tools: object) -> Outcome:
        asyncio.get_running_loop().call_later(0.1, signal.raise_signal, signal.SIGTERM)
        await asyncio.Event().wait()
        return DONE

    with stop_signals(stop), pytest.raises(StopRequested):
        drive(lambda: Engine(desk, policy(), silent, NoWorld(), stop), lambda _engine: nullcontext())
    assert desk.released == [0]


def test_a_run_that_the_ledger_holds_for_over_stops_by_itself() -> None:
    stop, asked = StopFlag(), threading.Event()

    def beat() -> bool:
        asked.set()
        return False

    with pulse(beat, stop):
        assert asked.wait(30)
        until(lambda: stop.requested, "the stop was requested")


# ------------------------------------------------------------------------------------------------ real processes


@pytest.mark.parametrize("how", ["SIGTERM", "Terminate"])
@pytest.mark.parametrize("site", ["slow-scoring-1.example", "stubborn-scoring-1.example"])
def test_a_stopped_worker_ends_canceled_with_its_units_ready_and_uncharged(
    stand: Stand, how: str, site: str
) -> None:
    campaign = stand.campaign("launch", [site, "a.example", "b.example"])
    stand.advance(campaign, Stage.DISCOVERY)
    run, process = stand.worker(campaign, Stage.SCORING)
    stand.begun(f"scoring-{site}")
    stand.stop(run, process, how)
    assert stand.ended(run, process) == "CANCELED", stand.said()
    (mine,) = [u for u in stand.rows(campaign, Stage.SCORING) if u["key"].endswith(site)]
    assert (mine["state"], mine["attempts"]) == ("ready", 0)


def test_a_stop_while_a_filing_is_armed_waits_for_its_verdict(stand: Stand) -> None:
    site = "armed-submission-1.example"
    campaign = stand.campaign("launch", [site])
    stand.advance(campaign, Stage.PREFLIGHT)
    run, process = stand.worker(campaign, Stage.SUBMISSION)
    stand.begun(f"armed-{site}")
    stand.stop(run, process, "SIGTERM")
    assert stand.states(campaign, Stage.SUBMISSION)[site] == "submitting"
    (stand.settings.home / "answer").touch()
    assert stand.ended(run, process) == "CANCELED", stand.said()
    assert stand.states(campaign, Stage.SUBMISSION)[site] == "succeeded"
