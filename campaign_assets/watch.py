"""What watches a run from outside its event loop: the pulse, the watchdog and the signal handlers.

The pulse tells the ledger that the worker lives, and the worker that the ledger has given its run up. The
watchdog acts where a body holds the processor, so that no deadline of the loop can fire: first
DeadlineExceeded is raised inside that body, past the page's limit the unit's failure is recorded from the
watchdog's own thread and the process ends (R8). The signal handlers turn SIGINT and SIGTERM into a stop
request for as long as a run is in work, and restore what was there. Refuses: Dagster, SQL.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from campaign_assets.errors import LedgerUnavailable
from campaign_assets.flight import Flight
from campaign_assets.policy import BEAT_EVERY
from campaign_assets.runtime import Engine
from campaign_assets.stop import DeadlineExceeded, StopFlag

ALARM = signal.SIGURG
"""The signal by which the watchdog reaches into the main thread: ignored by default, so a late one does no
harm.
"""

LOOK_EVERY = 1.0


@contextmanager
def stop_signals(stop: StopFlag) -> Iterator[None]:
    """SIGINT and SIGTERM request a stop inside the block. In another thread than the main one nothing is
    installed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def request(number: int, _frame: FrameType | None) -> None:
        stop.request(signal.Signals(number).name)

    for number in before:
        signal.signal(number, request)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def pulse(beat: Callable[[], bool], stop: StopFlag) -> Iterator[None]:
    """Beat at once and every few seconds. An answer of False means the ledger holds this run for over: it
    stops.
    """
    done = threading.Event()

    def go() -> None:
        while not done.is_set():
            with suppress(LedgerUnavailable):
                if not beat():
                    stop.request("the ledger holds this run for over")
            done.wait(BEAT_EVERY)

    thread = threading.Thread(target=go, name="pulse", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(BEAT_EVERY)


class Watchdog:
    """Looks at an engine's flights from a thread of its own."""

    def __init__(self, engine: Engine, last_words: Callable[[Flight], None]) -> None:
        """`last_words` records a unit's failure past the page's limit; afterwards the process is ended."""
        self.engine = engine
        self.last_words = last_words
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._go, name="watchdog", daemon=True)
        self._handler: Any = None

    def __enter__(self) -> Watchdog:
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(ALARM, self._alarm)
            self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join(LOOK_EVERY)
        if self._handler is not None:
            signal.signal(ALARM, self._handler)

    def _go(self) -> None:
        main = threading.main_thread().ident
        while not self._done.wait(LOOK_EVERY):
            flight = self._holder()
            if flight is None or main is None:
                continue
            if flight.age > self.engine.policy.page_limit:
                self._end(flight)
            elif flight.overdue:
                signal.pthread_kill(main, ALARM)

    def _holder(self) -> Flight | None:
        """The flight whose body is on the processor now; None where the loop itself is."""
        task = asyncio.current_task(self.engine.loop)
        return next((flight for flight in list(self.engine.flights.values()) if flight.runs(task)), None)

    def _alarm(self, _number: int, _frame: FrameType | None) -> None:
        """In the main thread: raise inside the body that is overdue, if it is still the one on the processor."""
        flight = self._holder()
        if flight is not None and flight.overdue:
            raise DeadlineExceeded(f"Held its worker past the deadline of {flight.deadline:g} seconds.")

    def _end(self, flight: Flight) -> None:
        """The body cannot be interrupted. Give a short call that ends just now its chance, then end the
        process.
        """
        time.sleep(LOOK_EVERY)
        if self._holder() is not flight:
            return
        try:
            self.last_words(flight)
        finally:
            os._exit(70)
