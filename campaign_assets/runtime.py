"""One run's work on one stage of one campaign: claim as places free up, keep units in flight, commit pages.

Owns the order of things in a run (R8, R10, R13, R14): how many units are in flight, when a page is committed,
when no more is claimed, what a stop does. It knows the ledger only as a `Desk` and the world only through the
tools it is handed. Refuses: SQL, Dagster, signals, what a body does.

The desk's calls are synchronous and run in threads, so that a slow database delays no deadline.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from typing import Any, TypeVar

import psutil

from campaign_assets.errors import LedgerUnavailable
from campaign_assets.flight import ABANDON_AFTER, Body, Flight
from campaign_assets.model import Outcome, OutcomeKind, Unit
from campaign_assets.policy import COMMIT_EVERY, Decision, Policy, decide
from campaign_assets.ports import Desk, Outside, Page, Summary
from campaign_assets.stop import StopFlag

T = TypeVar("T")

ASK_EVERY = 1.0
"""Seconds between two looks for due units while others are in flight."""

DATABASE_THREADS = 4
REPEAT_EVERY = 1.0


class Engine:
    """The loop of one run. Build it inside a running event loop; `run()` once, then `leave()` however `run()`
    ended.
    """

    def __init__(
        self,
        desk: Desk,
        policy: Policy,
        body: Body,
        outside: Outside,
        stop: StopFlag,
        quarantine: bool = False,
    ) -> None:
        """`quarantine`: this run takes the units whose worker died, one by one; an ordinary run never does."""
        self.desk = desk
        self.policy = policy
        self.body = body
        self.outside = outside
        self.stop = stop
        self.quarantine = quarantine
        self.loop = asyncio.get_running_loop()
        self.summary = Summary()
        self.flights: dict[asyncio.Task[Outcome], Flight] = {}
        self._landed: list[tuple[Flight, Outcome]] = []
        self._landed_at = 0.0
        self._claimed = 0
        self._dry = False
        self._started = self._asked = time.monotonic()
        self._memory = psutil.Process().memory_info().rss
        self._threads = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="ledger")
        self._stopping = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._publishing: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------------------------------------------ the loop

    async def run(self) -> Summary:
        """Work until nothing is due or the run is full or old; StopRequested at a stop. Control exceptions of
        a body pass.
        """
        self.stop.on_request(self._wake)
        self._reading = asyncio.ensure_future(self._read_sources())
        while not self._finished():
            self.stop.check()
            await self._claim()
            await self._wait()
            self._collect()
            if self._page_is_due():
                await self._commit()
        if self._publishing is not None:
            await self._publishing
        return self.summary

    def _wake(self) -> None:
        """Called by a signal handler or another thread; a stop that comes after the loop's end wakes nobody."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._stopping.set)

    def _finished(self) -> bool:
        return not (self.flights or self._landed or self._read_on()) and (self._dry or self._spent())

    async def _claim(self) -> None:
        """Fill the free places. `claim` hands out what is due, possibly less than asked for; nothing at all:
        dry.
        """
        free = self._free()
        if not free or not self._may_ask(free):
            return
        self._asked, self._dry = time.monotonic(), False
        while free and not self._dry and not self.stop.requested:
            units = await self.patiently(self.desk.claim, 1 if self.quarantine else free, not self.quarantine)
            for unit in units:
                self._take_off(unit)
            self._dry = not units
            free = self._free()

    def _free(self) -> int:
        """Places in the air. A unit whose last worker died flies with nothing beside it."""
        if self._spent() or any(flight.unit.alone for flight in self.flights.values()):
            return 0
        return min(self.policy.concurrency - len(self.flights), self.policy.run_size - self._claimed)

    def _spent(self) -> bool:
        """Full, or older than its soft limit: this run takes nothing more."""
        return (
            self._claimed >= self.policy.run_size or time.monotonic() - self._started > self.policy.soft_limit
        )

    def _may_ask(self, free: int) -> bool:
        """Ask in batches: with half the places free, or a moment after the last question."""
        return (
            2 * free >= self.policy.concurrency and not self._dry
        ) or time.monotonic() - self._asked >= ASK_EVERY

    def _take_off(self, unit: Unit) -> None:
        if not unit.alone:
            self.quarantine = False  # nothing is left to isolate: go on as an ordinary run
        flight = Flight(unit, self.policy.deadline, self.desk.log_error)
        task = asyncio.ensure_future(flight.fly(self.body, self.outside.tools(flight, self)))
        self.flights[task] = flight
        self._claimed += 1

    async def _wait(self) -> None:
        """Until a unit lands, a stop, the next question or the next commit is due."""
        if self._full() or not (self.flights or self._read_on()):
            return
        until = self._asked + ASK_EVERY
        if self._landed:
            until = min(until, self._landed_at + COMMIT_EVERY)
        stopping = asyncio.ensure_future(self._stopping.wait())
        waiting: set[asyncio.Future[Any]] = {stopping, *self.flights}
        if self._reading is not None:
            waiting.add(self._reading)
        timeout = max(until - time.monotonic(), 0.01)
        await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()

    def _collect(self) -> None:
        """Take what has landed; a control exception of a body leaves here, without its unit, and ends the
        run.
        """
        for task in [task for task in self.flights if task.done()]:
            flight = self.flights.pop(task)
            self._land(flight, task.result())

    def _land(self, flight: Flight, outcome: Outcome) -> None:
        if not self._landed:
            self._landed_at = time.monotonic()
        self._landed.append((flight, outcome))

    # -------------------------------------------------------------------------------------------------------- pages

    def _full(self) -> bool:
        return len(self._landed) >= self.policy.page_size

    def _page_is_due(self) -> bool:
        if not self._landed:
            return False
        nothing_more = not self.flights and (self._dry or self._spent())
        return self._full() or nothing_more or time.monotonic() - self._landed_at >= COMMIT_EVERY

    async def _commit(self) -> None:
        """Commit what has landed as one page; then Dagster is told, beside the work."""
        landed, self._landed = self._landed, []
        released = [flight.unit for flight, outcome in landed if outcome.kind is OutcomeKind.RELEASE]
        done = [
            self._decided(flight, outcome)
            for flight, outcome in landed
            if outcome.kind is not OutcomeKind.RELEASE
        ]
        if released:
            await self.patiently(self.desk.release, released)
        if done:
            page = self._page(done)
            await self.patiently(self.desk.commit, page)
            self.summary.count(page)
            self._dry = False  # its units may have left others due: ask once more before the end
            await self._publish()

    def _decided(self, flight: Flight, outcome: Outcome) -> tuple[Unit, Outcome, Decision]:
        return flight.unit, outcome, decide(self.policy, outcome, flight.unit.attempts, flight.unit.waits)

    def _page(self, done: Sequence[tuple[Unit, Outcome, Decision]]) -> Page:
        memory = psutil.Process().memory_info().rss
        growth, self._memory = memory - self._memory, memory
        return Page(self.summary.pages + 1, done, memory, growth)

    def last_page(self, flight: Flight) -> Page:
        """The page of a process that a body holds past the page's limit: that unit's failure, and what had
        landed.
        """
        landed = [*self._landed, (flight, flight.page_limit_reached())]
        return self._page([self._decided(f, o) for f, o in landed if o.kind is not OutcomeKind.RELEASE])

    async def _publish(self) -> None:
        """One publication at a time; a failure of the one before is the run's."""
        if self._publishing is not None:
            await self._publishing
        self._publishing = asyncio.ensure_future(self.call(self.desk.publish))

    # ------------------------------------------------------------------------------------------------------- sources

    async def _read_sources(self) -> None:
        while not self._stopping.is_set() and await self.patiently(self.desk.read_source_page):
            self._dry = False

    def _read_on(self) -> bool:
        """Whether sources are still being read. Raises what the reading raised."""
        if self._reading is not None and self._reading.done():
            self._reading.result()
            self._reading = None
            self._dry = False
        return self._reading is not None

    # ------------------------------------------------------------------------------------------------------- the end

    async def leave(self) -> None:
        """However the run ended: what can be given back is, what has landed is committed, an armed filing
        runs to its verdict.

        Not given back: a unit whose body ended the run. Where the database does not answer, the reaper takes
        the rest.
        """
        letting_go = {task for task, flight in self.flights.items() if flight.release()}
        if letting_go:
            await asyncio.wait(letting_go, timeout=ABANDON_AFTER)
        armed = set(self.flights) - letting_go
        if armed:
            await asyncio.wait(armed)
        for task, flight in self.flights.items():
            if not task.done():
                self._land(flight, Outcome.release())
            elif not task.cancelled() and task.exception() is None:
                self._land(flight, task.result())
            task.cancel()
        self.flights.clear()
        with suppress(LedgerUnavailable):
            await self._commit()
        beside = {task for task in (self._publishing, self._reading) if task is not None}
        if beside:
            await asyncio.wait(beside)
        await self.outside.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------------------------------------------------------- threads

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Run a synchronous call of the desk in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    async def patiently(self, function: Callable[..., T], *arguments: object) -> T:
        """The same, repeated while the database does not answer, up to the page's limit: the writes are
        fenced.
        """
        began = time.monotonic()
        while True:
            try:
                return await self.call(function, *arguments)
            except LedgerUnavailable:
                limit = self.policy.stop_grace if self.stop.requested else self.policy.page_limit
                if time.monotonic() - began > limit:
                    raise
                await asyncio.sleep(REPEAT_EVERY)

    async def arm(self, flight: Flight) -> bool:
        """The `arm` of a flight's tools (R5)."""

        async def ask(unit: Unit) -> bool:
            return not self.stop.requested and await self.call(self.desk.arm, unit)

        return await flight.arm(ask)


def drive(make: Callable[[], Engine], watched: Callable[[Engine], AbstractContextManager[object]]) -> Summary:
    """Run an engine to its end in an event loop of its own, on the calling (main) thread.

    `make` builds the engine inside the loop; `watched` guards its work from outside the loop.
    """
    loop = asyncio.new_event_loop()
    try:
        engine = loop.run_until_complete(_made(make))
        work = loop.create_task(engine.run())
        try:
            with watched(engine):
                return loop.run_until_complete(work)
        finally:
            work.cancel()
            loop.run_until_complete(engine.leave())
    finally:
        _close(loop)


async def _made(make: Callable[[], Engine]) -> Engine:
    return make()


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left and give it a moment; a body that ignores its cancellation is left behind."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=ABANDON_AFTER))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
