"""Processes and ports of this machine: who lives, how to end it for sure, which port is free.

Owns the two facts that the standard library gets wrong for us: a zombie is over (the first process of some
containers reaps late), and a pid alone does not name a process (start times do). Refuses: deciding who should live.
"""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterable
from contextlib import suppress

import psutil

POLL_SECONDS = 0.02


def lives(process: psutil.Process) -> bool:
    """Whether this very process, not a later one with its pid, still does anything."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def end(processes: Iterable[psutil.Process], signals: Iterable[signal.Signals], patience: float) -> None:
    """Send each signal in turn to those that still live, and give them `patience` seconds to go before the next."""
    left = list(processes)
    for number in signals:
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        left = _wait(left, patience)


def _wait(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Wait until all are over; return those that are not after `seconds`."""
    deadline = time.monotonic() + seconds
    while (left := [process for process in processes if lives(process)]) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return left


def free_port() -> int:
    """A TCP port of the loopback interface that nobody has at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_free(port: int, address: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now; connections of an earlier one that linger do not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True
