"""The suite's databases: one embedded server a test run, a migrated template in it, and a clone of that for each test.

Commits are real, tests share nothing, and xdist's workers share the server: the first one that needs it starts it, the
last one that ends stops it. Other parts' fixtures are only imported here.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from campaign_assets import embedded
from campaign_assets.ledger import Ledger, application_url, upgrade
from campaign_assets_tests.ledger_world import World
from campaign_assets_tests.sandbox_fixture import sandbox as sandbox

TEMPLATE = "template_ledger"
_NUMBERS = count()


@contextmanager
def _users(folder: Path) -> Iterator[set[int]]:
    """The processes that use the shared server, under its lock; changes are kept."""
    with (folder / "ledger-server.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        users = {pid for pid in json.loads(lock.read() or "[]") if Path(f"/proc/{pid}").exists()}
        yield users
        lock.seek(0)
        lock.truncate()
        lock.write(json.dumps(sorted(users)))


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The owner's URL of the run's own embedded server, with the template in it."""
    base = tmp_path_factory.getbasetemp()
    folder = base if worker_id == "master" else base.parent
    home = folder / "ledger-home"
    with _users(folder) as users:
        server = embedded.start(home)
        if not users:
            _make_template(server.owner_url)
        users.add(os.getpid())
    yield server.owner_url
    with _users(folder) as users:
        users.discard(os.getpid())
        if not users:
            embedded.remove(home)


def _make_template(owner_url: str) -> None:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute(sql.SQL("drop database if exists {}").format(sql.Identifier(TEMPLATE)))
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(TEMPLATE)))
    template = database_of(owner_url, TEMPLATE)
    upgrade(template)
    app = psycopg.conninfo.conninfo_to_dict(application_url(template))["user"]
    fast = sql.SQL("alter role {} set synchronous_commit = off").format(sql.Identifier(str(app)))
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute(fast)  # a power failure is the one thing that no test is about


def database_of(owner_url: str, name: str) -> str:
    """The same server's URL with another database."""
    return owner_url.rsplit("/", 1)[0] + "/" + name


@contextmanager
def clone(server_url: str) -> Iterator[str]:
    """A fresh migrated database; the owner's URL of it."""
    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        create = sql.SQL("create database {} template {}").format(
            sql.Identifier(name), sql.Identifier(TEMPLATE)
        )
        connection.execute(create)
        yield database_of(server_url, name)
        _drop(connection, name)


def _drop(connection: psycopg.Connection, name: str) -> None:
    """The owner may not end the application role's sessions: those that were just closed get a moment to be gone."""
    for _ in range(100):
        try:
            connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
            return
        except psycopg.errors.InsufficientPrivilege:
            time.sleep(0.1)
    pytest.fail(f"somebody still uses {name}: a test left a connection open")


@pytest.fixture
def owner_url(server_url: str) -> Iterator[str]:
    """The owner's URL of a fresh ledger."""
    with clone(server_url) as url:
        yield url


@pytest.fixture
def ledger(owner_url: str) -> Iterator[Ledger]:
    """A fresh ledger, opened as the application role."""
    opened = Ledger(application_url(owner_url))
    yield opened
    opened.dispose()


@pytest.fixture
def world(ledger: Ledger) -> World:
    """Makes campaigns and brings units to any state, through real operations only."""
    return World(ledger)
