"""The sandbox as a child of the demo's supervisor, and what it says about what reached it.

Its ports are chosen before it starts and its state lies in a directory, so that it comes back after a kill as it was.
Where CAMPAIGN_RESOLVE leads to a sandbox that runs already, that one is used.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

from campaign_assets.errors import ConfigError
from campaign_assets.processes import free_port
from campaign_assets.settings import Resolve
from campaign_assets.supervisor import Child


class Sandbox:
    """One sandbox: its address for CAMPAIGN_RESOLVE and its answers."""

    def __init__(self, address: Resolve | None = None) -> None:
        """Without an address, free ports are chosen for a `child` to come."""
        self.address = address or _free_address()

    def child(self, state: Path) -> Child:
        """The process that serves it, to be kept alive."""
        ports = ("--http-port", str(self.address.http_port), "--https-port", str(self.address.https_port))
        command = (sys.executable, "-m", "campaign_assets.sandbox", "--state-dir", str(state), *ports)
        return Child("sandbox", command, ready=lambda _since: self.answers())

    def answers(self) -> bool:
        """Whether it serves."""
        try:
            return bool(self._ask("healthz"))
        except (OSError, ValueError):
            return False

    def require(self) -> None:
        """ConfigError where nothing at its address is a sandbox."""
        if not self.answers():
            raise ConfigError(
                f"CAMPAIGN_RESOLVE is {self.address}, where no sandbox answers; unset it, or serve one there."
            )

    def posts(self) -> Counter[tuple[str, str, str]]:
        """How often each form was posted, by (host, form, target)."""
        rows = self._ask("posts")
        return Counter({(row["host"], row["form"], row["target"]): row["posts"] for row in rows})

    def violations(self) -> Counter[tuple[str, str]]:
        """What a careful person would not have done, by (host, kind)."""
        return Counter((row["host"], row["kind"]) for row in self._ask("violations"))

    def url(self, question: str) -> str:
        """Where it tells about itself."""
        return f"http://{self.address.address}:{self.address.http_port}/_sandbox/{question}"

    def _ask(self, question: str) -> Any:
        # Never through a proxy of the environment: the sandbox is on this machine.
        with build_opener(ProxyHandler({})).open(self.url(question), timeout=30) as answer:
            return json.load(answer)


def _free_address() -> Resolve:
    http = https = free_port()
    while https == http:
        https = free_port()
    return Resolve("127.0.0.1", http, https)


class Witness:
    """Remembers what the sandbox had seen before the demo, to tell at the end what the demo did."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._posts = sandbox.posts()
        self._violations = sandbox.violations()

    def filed(self) -> int:
        """Forms that were posted since."""
        return (self._sandbox.posts() - self._posts).total()

    def misdeeds(self) -> list[str]:
        """What must not have happened since, each a sentence; empty where all is well."""
        posts = self._sandbox.posts() - self._posts
        twice = {place: number for place, number in posts.items() if number > 1}
        return [
            *(
                f"{host}{form} was posted {n} times for {target}."
                for (host, form, target), n in twice.items()
            ),
            *(f"{host} saw this: {kind}." for host, kind in self._sandbox.violations() - self._violations),
        ]
