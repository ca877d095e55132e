"""Processes and ports of this machine: who lives, how to end it for sure, which port is free.

Owns the facts that the standard library gets wrong for us: a zombie is over (the first process of some containers
reaps late), and a pid alone does not name a process (psutil compares start times). Refuses: deciding who should live.
"""

from __future__ import annotations

import random
import signal
import socket
import time
from collections.abc import Iterable
from contextlib import suppress

import psutil

POLL_SECONDS = 0.02
FIXED_PORTS = range(15000, 32000)
"""Below the ports that Linux hands to outgoing connections, so that a server finds its port free when it comes back."""


def lives(process: psutil.Process) -> bool:
    """Whether this very process, not a later one with its pid, still does anything."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def send(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    """Send a signal to those that are still there."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def wait_for(processes: Iterable[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Wait until all are over; return those that are not after `seconds`."""
    deadline = time.monotonic() + seconds
    left = [process for process in processes if lives(process)]
    while left and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        left = [process for process in left if lives(process)]
    return left


def end(processes: Iterable[psutil.Process], signals: Iterable[signal.Signals], seconds: float) -> None:
    """Send each signal in turn to those that still live, and give them `seconds` to go before the next."""
    left = list(processes)
    for number in signals:
        send(left, number)
        left = wait_for(left, seconds)


def free_port() -> int:
    """A TCP port of the loopback interface that nobody has at this moment."""
    tries = random.sample(FIXED_PORTS, 100)
    return next(port for port in tries if is_free(port))


def is_free(port: int, address: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now; connections of an earlier one that linger do not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True
