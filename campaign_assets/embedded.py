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
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import psutil
import psycopg
from psycopg import sql

from campaign_assets.errors import ConfigError
from campaign_assets.postgres_programs import reaches, run_program, unprivileged
from campaign_assets.processes import end, free_port, is_free

OUTSIDE = Path("/var/lib/campaign_assets")
OWNERS = {"campaign": "campaign_owner", "dagster": "dagster"}
STARTING_SECONDS = 60
STOPPING_SECONDS = 30
ORPHAN_SECONDS = 1
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
    "log_directory": "../log",
    "log_filename": "postgres-%a.log",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
}


INITIAL = (
    "-U",
    "postgres",
    "-A",
    "scram-sha-256",
    "-E",
    "UTF8",
    "--locale-provider=builtin",
    "--locale=C.UTF-8",
)


class Memory(TypedDict):
    """What server.json keeps between starts: the port, and each role's password."""

    port: int
    passwords: dict[str, str]


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
    with _exclusively(home) as lock:
        return _start_locked(home, lock)


def attach(home: Path) -> Server | None:
    """Return the home's server if it runs and answers a real connection, else None; starts nothing."""
    place = home / "postgres"
    try:
        memory = _memory(place)
    except FileNotFoundError:
        return None
    except OSError as error:
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
        end([psutil.Process(pid)], (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL), STOPPING_SECONDS)
        return True


def remove(home: Path) -> None:
    """End the home's server and delete its data, wherever they are."""
    stop(home)
    place = home / "postgres"
    shutil.rmtree(place.resolve(), ignore_errors=True)
    place.unlink(missing_ok=True)
    (home / "postgres.lock").unlink(missing_ok=True)


@contextmanager
def _exclusively(home: Path) -> Iterator[int]:
    """Hold the home's lock, given as a descriptor. The kernel frees it when its last holder dies, however it dies."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        with (home / "postgres.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield lock.fileno()
    except OSError as error:
        raise _unusable(home, error) from error


def _start_locked(home: Path, lock: int) -> Server:
    place = home / "postgres"
    deadline = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < deadline:
        server = attach(home)
        if server:  # somebody was faster, or a starter that was killed had come this far
            return server
        if _postmaster(place) is None:
            _create(home, lock)
            _clear_the_dead(place)
            _launch(place)
        if not _provision(place):
            time.sleep(0.1)  # it lives but does not answer yet: recovery, or all its connections are taken
    raise ConfigError(
        f"The embedded PostgreSQL in {place} runs but does not answer; look into {place}/log, "
        f"or end process {_postmaster(place)} and try again."
    )


def _create(home: Path, lock: int) -> None:
    """Make the data directory once. Built under another name, so that a half-made one is never mistaken for one.

    initdb holds the lock with us, so that where we are killed nobody builds in the same place beside it.
    """
    place = home / "postgres"
    if (place / "data").exists():
        return
    user = unprivileged(None)
    if not place.exists():
        _make_place(place, user)
    elif user:
        user = unprivileged(place)
    passwords = {role: secrets.token_hex(24) for role in ("postgres", *OWNERS.values())}
    _remember(place, {"port": free_port(), "passwords": passwords})
    half_made = place.resolve() / "data.new"
    shutil.rmtree(half_made, ignore_errors=True)
    with tempfile.NamedTemporaryFile("w", dir=place.resolve()) as password:
        password.write(passwords["postgres"])
        password.flush()
        if user:
            os.chown(password.name, user.pw_uid, user.pw_gid)
        run_program(place, "initdb", "-D", str(half_made), *INITIAL, "--pwfile", password.name, held=(lock,))
    half_made.rename(place / "data")


def _make_place(place: Path, user: pwd.struct_passwd | None) -> None:
    if user and not reaches(user, place.parent):
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
    found = psutil.process_iter(["name", "cwd"])
    orphans = [process for process in found if process.info == {"name": "postgres", "cwd": data}]
    end(orphans, (signal.SIGQUIT, signal.SIGKILL), ORPHAN_SECONDS)
    (place / "data" / "postmaster.pid").unlink(missing_ok=True)


def _launch(place: Path) -> None:
    """Start the postmaster in a session of its own, so that it outlives us, and wait until it takes connections."""
    memory = _memory(place)
    if not is_free(memory["port"]):
        memory["port"] = free_port()
        _remember(place, memory)
    data = place.resolve() / "data"
    options = " ".join(f"-c {k}='{v}'" for k, v in {**CONFIGURATION, "port": memory["port"]}.items())
    log = str(place.resolve() / "start.log")
    try:
        run_program(
            place,
            "pg_ctl",
            "start",
            "-w",
            "-t",
            str(STARTING_SECONDS),
            "-D",
            str(data),
            "-l",
            log,
            "-o",
            options,
        )
    except ConfigError:
        if (
            _postmaster(place) is None
        ):  # else the server of a starter that was killed has won the race against ours
            raise


def _provision(place: Path) -> bool:
    """Make the two roles and their databases where they are missing, as after a first start that was killed half way.

    False where the server does not answer.
    """
    memory = _memory(place)
    administrator = _url(memory, "postgres", "postgres")
    if not _answers(administrator):
        return False
    with psycopg.connect(administrator, autocommit=True) as connection:
        for database, owner in OWNERS.items():
            if not connection.execute("select 1 from pg_roles where rolname = %s", (owner,)).fetchone():
                attributes = sql.SQL("createrole createdb" if database == "campaign" else "")
                connection.execute(
                    sql.SQL("create role {} login {} password {}").format(
                        sql.Identifier(owner), attributes, sql.Literal(memory["passwords"][owner])
                    )
                )
            if not connection.execute("select 1 from pg_database where datname = %s", (database,)).fetchone():
                connection.execute(
                    sql.SQL("create database {} owner {}").format(
                        sql.Identifier(database), sql.Identifier(owner)
                    )
                )
    return True


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


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def _url(memory: Memory, role: str, database: str) -> str:
    return f"postgresql://{role}:{memory['passwords'][role]}@127.0.0.1:{memory['port']}/{database}"


def _memory(place: Path) -> Memory:
    memory: Memory = json.loads((place / "server.json").read_text())
    return memory


def _remember(place: Path, memory: Memory) -> None:
    """Replace server.json in one step; readable by its owner only from its first byte."""
    fresh = place / "server.json.new"
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(memory, file)
    fresh.rename(place / "server.json")


def _unusable(home: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"The embedded PostgreSQL cannot use {home} ({error.strerror}: {error.filename}); run as its owner, "
        "free the disk, or set CAMPAIGN_HOME to another directory."
    )
