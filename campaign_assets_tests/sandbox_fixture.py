"""The sandbox as a fixture: a real process with fast slowness and moderation, for any test that needs a web.

Import `sandbox` in a conftest for the session's one, or use `running` where a test wants its own (other times, a state
directory that outlives a kill). It is asked over its API only.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

_PROJECT = Path(__file__).resolve().parents[1]
_PATIENCE = 60.0


@dataclass(frozen=True)
class Answer:
    """An HTTP answer: header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Sandbox:
    """A running sandbox. `resolve` is a value for CAMPAIGN_RESOLVE, `ca` the PEM file to trust."""

    http: int
    https: int
    resolve: str
    ca: str
    process: subprocess.Popen[str] = field(repr=False)

    def posts(self) -> list[dict[str, Any]]:
        """`{host, form, target, posts, stored}` for each form and target."""
        return self._told("posts")

    def requests(self, host: str = "") -> list[dict[str, Any]]:
        """Every remembered request, of one host or of all, in the order of arrival."""
        return self._told(f"requests?host={host}")

    def violations(self) -> list[dict[str, Any]]:
        """`{host, kind, target}` for each thing that a careful person would not have done."""
        return self._told("violations")

    def sites(self) -> list[dict[str, Any]]:
        """The named directories with where a campaign is expected to end on each."""
        return self._told("sites")

    def mails(self) -> list[dict[str, Any]]:
        """`{host, to, link}` for each confirmation mail."""
        return self._told("mails")

    def get(self, host: str, path: str = "/", headers: Mapping[str, str] | None = None) -> Answer:
        """One GET over http, redirects not followed."""
        return self._ask("GET", host, path, None, dict(headers or {}))

    def post(
        self, host: str, path: str, fields: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One posted form over http, redirects not followed."""
        form = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        return self._ask("POST", host, path, urlencode(fields), form)

    def stop(self) -> int:
        """SIGTERM, and the exit status."""
        self.process.terminate()
        return self.process.wait(_PATIENCE)

    def kill(self) -> None:
        """SIGKILL: what it has answered must survive in its state directory."""
        self.process.kill()
        self.process.wait(_PATIENCE)

    def _told(self, question: str) -> list[dict[str, Any]]:
        answer = self.get("127.0.0.1", f"/_sandbox/{question}")
        assert answer.status == 200, answer
        told: list[dict[str, Any]] = answer.json()
        return told

    def _ask(self, method: str, host: str, path: str, body: str | None, headers: dict[str, str]) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=_PATIENCE)
        try:
            connection.request(method, path, body, {"Host": host, "Connection": "close", **headers})
            answer = connection.getresponse()
            lowered = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, lowered, answer.read().decode("utf-8"))
        finally:
            connection.close()


@contextmanager
def running(
    directory: Path, *, slow: float = 1.0, moderation: float = 1.0, http_port: int = 0, https_port: int = 0
) -> Iterator[Sandbox]:
    """A sandbox process inside this block, with its state and its ready file in `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    ready = directory / "ready.json"
    command = [sys.executable, "-m", "campaign_assets.sandbox"]
    command += ["--state-dir", str(directory), "--ready-file", str(ready)]
    command += ["--slow", str(slow), "--moderation", str(moderation)]
    command += ["--http-port", str(http_port), "--https-port", str(https_port)]
    environment = {**os.environ, "PYTHONPATH": str(_PROJECT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("sandbox: "), f"the sandbox did not start: {line!r}"
            yield Sandbox(**json.loads(ready.read_text(encoding="utf-8")), process=process)
        finally:
            if process.poll() is None:
                process.terminate()


@pytest.fixture(scope="session")
def sandbox(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """The session's sandbox; parametrize indirectly with a dict of `slow` and `moderation` for other times."""
    times: dict[str, float] = getattr(request, "param", {})
    slow, moderation = times.get("slow", 1.0), times.get("moderation", 1.0)
    with running(tmp_path_factory.mktemp("sandbox"), slow=slow, moderation=moderation) as started:
        yield started
