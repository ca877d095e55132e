"""The sandbox as a process of its own, and what it says about what reached it.

Owns starting it, ending it and asking it. Its process ends with the demo; its state (posts, listings) stays in its
directory.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

from campaign_assets.errors import ConfigError
from campaign_assets.settings import Resolve

STARTING_SECONDS = 60.0
ENDING_SECONDS = 10.0


class Sandbox:
    """A running sandbox."""

    def __init__(self, process: subprocess.Popen[bytes], address: Resolve) -> None:
        self._process = process
        self.address = address

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def posts(self) -> list[dict[str, Any]]:
        """How often each form was posted: {host, form, target, posts, stored}."""
        return self._ask("posts")

    def violations(self) -> list[dict[str, Any]]:
        """What a careful person would not have done: {host, kind, target}."""
        return self._ask("violations")

    def _ask(self, question: str) -> list[dict[str, Any]]:
        address = f"http://{self.address.address}:{self.address.http_port}/_sandbox/{question}"
        # Never through a proxy of the environment: the sandbox is on this machine.
        with build_opener(ProxyHandler({})).open(address, timeout=30) as answer:
            return list(json.load(answer))


@contextmanager
def sandbox(state: Path, log: Path) -> Iterator[Sandbox]:
    """Serve the sandbox on free loopback ports, state kept in `state`. ConfigError where it cannot start."""
    state.mkdir(parents=True, exist_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    ready = state / "ready.json"
    ready.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "campaign_assets.sandbox",
        "--state-dir",
        str(state),
        "--ready-file",
        str(ready),
    ]
    with log.open("ab") as output:
        # A session of its own: Ctrl-C reaches the demo alone, which then ends things in order.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield Sandbox(process, _announced(process, ready, log))
    finally:
        _end(process)


def _announced(process: subprocess.Popen[bytes], ready: Path, log: Path) -> Resolve:
    deadline = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if ready.exists():
            return Resolve.parse(json.loads(ready.read_text())["resolve"])
        time.sleep(0.05)
    raise ConfigError(f"The sandbox did not start; look into {log}.")


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
        try:
            process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return
