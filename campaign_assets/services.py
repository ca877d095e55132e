"""What one installation consists of when it runs: database, code server, web interface, daemon.

Owns their commands, how each shows that it really serves, and the files Dagster wants in CAMPAIGN_HOME/dagster.
Refuses: keeping them alive (`supervisor`), and any knowledge of campaigns.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import psycopg
import yaml
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub

from campaign_assets import embedded, log
from campaign_assets.errors import ConfigError
from campaign_assets.ledger import Ledger
from campaign_assets.policy import policies
from campaign_assets.processes import free_port, is_free
from campaign_assets.settings import Settings
from campaign_assets.states import Stage
from campaign_assets.supervisor import Child, Supervisor, alone

PROJECT = Path(__file__).parent.parent
LOCATION = "campaign_assets"
CODE_SERVER, WEBSERVER, DAEMON = "code server", "web interface", "daemon"
WANTED_DAEMONS = frozenset({"SENSOR", "QUEUED_RUN_COORDINATOR"})
HEARTBEATS = "{ instance { daemonHealth { allDaemonStatuses { daemonType lastHeartbeatTime } } } }"
ANSWER_SECONDS = 5


@contextmanager
def serving(
    settings: Settings, port: int | None = 3000, beside: Sequence[Child] = ()
) -> Iterator[Supervisor]:
    """Run the whole installation inside the block, web interface on `port` (None: without); all is ended afterwards.

    `beside` are further children, started first. ConfigError where the port is taken, another process serves this
    home, or something does not come up. Ctrl-C inside (see `supervisor.interruptible`) ends the block in order.
    """
    submission = policies(settings.policy)[Stage.SUBMISSION]
    patience = submission.deadline + submission.stop_grace  # a stop waits from arming to verdict
    with alone(settings.home), _database(settings) as database:
        children = [*beside, *dagster_children(settings.home, port)]
        logger = log.configure(settings)
        with Supervisor(
            settings.home, children, logger, database.environment, database.keep, patience
        ) as supervisor:
            yield supervisor


def dagster_children(home: Path, port: int | None) -> list[Child]:
    """Dagster's processes; writes the files they read into CAMPAIGN_HOME/dagster."""
    directory = home / "dagster"
    directory.mkdir(parents=True, exist_ok=True)
    _refuse_run_retries(PROJECT / "dagster.yaml")
    shutil.copyfile(PROJECT / "dagster.yaml", directory / "dagster.yaml")
    workspace = directory / "workspace.yaml"
    code_server = _code_server(_code_server_port(workspace))
    if port is None:
        return [code_server, _daemon(workspace, lambda _since: True)]
    return [code_server, _webserver(workspace, port), _daemon(workspace, lambda since: _beats(port, since))]


def _code_server(port: int) -> Child:
    served = ("-m", "campaign_assets.definitions", "--empty-working-directory", "--location-name", LOCATION)
    command = (_program("dagster"), "api", "grpc", *served, "--host", "127.0.0.1", "--port", str(port))
    return Child(CODE_SERVER, command, ready=lambda _since: _is_healthy(port))


def _webserver(workspace: Path, port: int) -> Child:
    return Child(
        WEBSERVER,
        (_program("dagster-webserver"), "-h", "127.0.0.1", "-p", str(port), "-w", str(workspace)),
        ready=lambda _since: _get(port, "/server_info") is not None,
        needs=(CODE_SERVER,),
        port=port,
        other_port=f"end what listens there, or give another one: --port {port + 1}",
    )


def _daemon(workspace: Path, ready: Callable[[float], bool]) -> Child:
    command = (_program("dagster-daemon"), "run", "-w", str(workspace))
    return Child(DAEMON, command, ready=ready, needs=(CODE_SERVER,))


def _program(name: str) -> str:
    """One of Dagster's commands, from the environment that runs us: it need not be on PATH."""
    return str(Path(sys.executable).with_name(name))


def _refuse_run_retries(configuration: Path) -> None:
    """R5: a run that Dagster starts again could file a form twice."""
    retries = yaml.safe_load(configuration.read_text()).get("run_retries") or {}
    if retries.get("enabled"):
        raise ConfigError(
            f"run_retries is enabled in {configuration}; set `run_retries: {{enabled: false}}`."
        )


class _Database:
    """The two databases of a running installation: those of the settings, else on the embedded server, kept up."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.server = None if settings.database_url else embedded.start(settings.home)

    def keep(self) -> bool:
        """Bring the embedded server back where it died. True where it had to move to another port."""
        if self.server is None or embedded.is_running(self.settings.home):
            return False
        before, self.server = self.server, embedded.start(self.settings.home)
        return self.server.port != before.port

    def environment(self) -> Mapping[str, str]:
        """What every child gets: the settings, the databases' addresses, Dagster's home."""
        return {
            **os.environ,
            **self.settings.to_environment(),
            "CAMPAIGN_DATABASE_URL": self.owner_url,
            "CAMPAIGN_DAGSTER_DATABASE_URL": self.dagster_url,
            "CAMPAIGN_DAGSTER_URL": _for_psycopg2(self.dagster_url),
            "DAGSTER_HOME": str(self.settings.home / "dagster"),
        }

    @property
    def owner_url(self) -> str:
        return self.server.owner_url if self.server else str(self.settings.database_url)

    @property
    def dagster_url(self) -> str:
        given = self.settings.dagster_database_url or (self.server and self.server.dagster_url)
        return given or urlsplit(self.owner_url)._replace(path="/dagster").geturl()


@contextmanager
def _database(settings: Settings) -> Iterator[_Database]:
    """The databases, ready for use; the embedded server is ended afterwards."""
    database = _Database(settings)
    try:
        Ledger.open(settings).dispose()
        _refuse_unreachable(database.dagster_url)
        yield database
    finally:
        if database.server:
            embedded.stop(settings.home)


def _refuse_unreachable(dagster_url: str) -> None:
    try:
        psycopg.connect(_plain(dagster_url), connect_timeout=ANSWER_SECONDS).close()
    except psycopg.Error as error:
        said = (str(error).strip().splitlines() or ["no answer"])[-1]
        raise ConfigError(
            f"Dagster's database cannot be reached ({said}); create one, and set CAMPAIGN_DAGSTER_DATABASE_URL to it."
        ) from error


def _plain(url: str) -> str:
    """The URL without SQLAlchemy's driver."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme.partition('+')[0]}{separator}{rest}"


def _for_psycopg2(url: str) -> str:
    """Dagster's storage speaks psycopg2 only, which SQLAlchemy must be told."""
    return _plain(url).replace("://", "+psycopg2://", 1)


def _code_server_port(workspace: Path) -> int:
    """The port that the workspace file names, where it has one that is free; else a fresh one, written into it."""
    if workspace.exists():
        (entry,) = yaml.safe_load(workspace.read_text())["load_from"]
        port = int(entry["grpc_server"]["port"])
        if is_free(port):
            return port
    port = free_port()
    server = {"host": "127.0.0.1", "port": port, "location_name": LOCATION}
    workspace.write_text(yaml.safe_dump({"load_from": [{"grpc_server": server}]}))
    return port


def _is_healthy(port: int) -> bool:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            answer = HealthStub(channel).Check(
                HealthCheckRequest(service="DagsterApi"), timeout=ANSWER_SECONDS
            )
        except grpc.RpcError:
            return False
    return bool(answer.status == HealthCheckResponse.SERVING)


def _beats(port: int, since: float) -> bool:
    """Whether the daemons that we need have given a sign of life since then."""
    answer = _get(port, "/graphql", {"query": HEARTBEATS})
    if answer is None:
        return False
    beats = answer["data"]["instance"]["daemonHealth"]["allDaemonStatuses"]
    alive = {beat["daemonType"] for beat in beats if (beat["lastHeartbeatTime"] or 0) >= since}
    return alive >= WANTED_DAEMONS


def _get(port: int, path: str, body: Mapping[str, Any] | None = None) -> Any:
    """What the web interface answers, decoded; None where it does not answer yet."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        data=json.dumps(body).encode() if body else None,
        headers={"Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({})
    )  # a proxy is never the way to ourselves
    try:
        with opener.open(request, timeout=ANSWER_SECONDS) as answer:
            return json.load(answer)
    except OSError:
        return None
