"""Control exceptions and the process-wide stop request (rule R13).

Both exceptions derive from BaseException, so that no `except Exception` of a stage, a library or Dagster's
retry policy can take them for a failure of the work.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class StopRequested(BaseException):
    """This process was asked to stop: finish or release what is in work, charge nothing."""


class DeadlineExceeded(BaseException):
    """A unit has used up its stage's deadline."""


class StopFlag:
    """A stop request for the whole process: set once, by a signal handler or another thread, never cleared."""

    def __init__(self) -> None:
        self._set = threading.Event()
        self._wakers: list[Callable[[], None]] = []
        self.reason = ""

    def request(self, reason: str) -> None:
        """Ask everything to stop; the first reason is kept. Safe in a signal handler."""
        if not self._set.is_set():
            self.reason = reason
            self._set.set()
        for wake in list(self._wakers):
            wake()

    def on_request(self, wake: Callable[[], None]) -> None:
        """Call `wake` at each request; at once where one was already made."""
        self._wakers.append(wake)
        if self._set.is_set():
            wake()

    @property
    def requested(self) -> bool:
        return self._set.is_set()

    def check(self) -> None:
        """Raise StopRequested where one was made: called at stage boundaries, between pages and between units."""
        if self._set.is_set():
            raise StopRequested(self.reason)
