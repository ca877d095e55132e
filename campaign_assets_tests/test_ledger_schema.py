"""Migrations, roles and opening: what is in the database is what the tables say, and a missing piece is one clear
sentence.
"""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg import sql
from sqlalchemy import text

from campaign_assets.errors import ConfigError, LedgerUnavailable
from campaign_assets.ledger import Ledger, application_url, migrating, schema, upgrade
from campaign_assets.settings import Settings
from campaign_assets.states import Stage
from campaign_assets_tests.conftest import clone, database_of
from campaign_assets_tests.ledger_world import World

CATALOG = {
    "columns": """
        select table_name, column_name, data_type, is_nullable, column_default, is_identity, identity_generation
        from information_schema.columns where table_schema = 'public' and table_name <> 'alembic_version'
        order by 1, 2""",
    "constraints": """
        select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
        where connamespace = 'public'::regnamespace and conrelid::regclass::text <> 'alembic_version' order by 1, 2""",
    "indexes": """
        select indexname, indexdef from pg_indexes
        where schemaname = 'public' and tablename <> 'alembic_version' order by 1""",
    "policies": """
        select tablename, policyname, permissive, roles::text, cmd, qual, with_check from pg_policies
        where policyname = 'tenant' order by 1, 2""",
    "triggers": """
        select tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) from pg_trigger
        where not tgisinternal order by 1, 2""",
    "functions": """
        select proname, prosrc from pg_proc
        where pronamespace = 'public'::regnamespace and not prosecdef order by 1""",
    "tables": """
        select relname, relrowsecurity, relforcerowsecurity, reloptions::text from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'alembic_version' order by 1""",
}


def catalog(url: str) -> dict[str, list[tuple[Any, ...]]]:
    with psycopg.connect(url) as connection:
        return {name: connection.execute(query.encode()).fetchall() for name, query in CATALOG.items()}


def empty_database(server_url: str, name: str) -> str:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    return database_of(server_url, name)


@pytest.fixture
def bare_url(server_url: str, worker_id: str) -> Any:
    name = f"bare_{worker_id}"
    yield empty_database(server_url, name)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def test_the_migrated_database_is_what_the_tables_say(owner_url: str, bare_url: str) -> None:
    with psycopg.connect(bare_url) as connection:
        for statement in schema.ddl():
            connection.execute(statement.encode())
    migrated, declared = catalog(owner_url), catalog(bare_url)
    for kind in CATALOG:
        assert migrated[kind] == declared[kind], kind
    assert len(migrated["tables"]) == len(schema.metadata.tables)


def test_the_tables_belong_to_the_newest_migration() -> None:
    configuration = Config()
    configuration.set_main_option("script_location", str(Path(migrating.__file__).with_name("migrations")))
    assert ScriptDirectory.from_config(configuration).get_heads() == [schema.REVISION]


def test_the_checks_derive_from_the_table_of_transitions(ledger: Ledger, world: World) -> None:
    campaign = world.campaign()
    world.reach(campaign, Stage.SCORING)
    impossible = [
        "state = 'submitting', claim = gen_random_uuid(), due_at = null",
        "state = 'unresolved', reason = 'error', due_at = null",
        "state = 'asleep'",
        "stage = 'ninth'",
        "state = 'running', due_at = null",
        "claim = gen_random_uuid()",
        "due_at = null",
        "state = 'succeeded'",
        "state = 'failed', due_at = null",
        "earlier = true",
    ]
    for change in impossible:
        with ledger.bound("acme") as tx, pytest.raises(Exception, match="check constraint"):
            tx.execute(text("update units set " + change + " where stage = 'scoring'"))  # noqa: S608 - from the list above


def test_an_upgrade_can_be_repeated_and_run_by_several_at_once(bare_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(upgrade, [bare_url] * 4)) == [None] * 4
    upgrade(bare_url)
    ledger = Ledger.open(Settings(home=Path("/nonexistent"), database_url=bare_url))
    assert ledger.tenants() == []
    ledger.dispose()


def test_a_server_without_migrations_is_one_sentence(bare_url: str) -> None:
    with pytest.raises(ConfigError, match="campaign db upgrade"):
        Ledger.open(Settings(home=Path("/nonexistent"), database_url=bare_url))


def test_a_server_that_cannot_be_reached_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: every connection is refused
        url = f"postgresql://somebody:secret@127.0.0.1:{taken.getsockname()[1]}/nothing"
        for ask in (
            lambda: Ledger.open(Settings(home=Path("/nonexistent"), database_url=url)),
            lambda: upgrade(url),
        ):
            with pytest.raises(ConfigError, match="cannot be reached") as error:
                ask()
            assert "secret" not in error.value.sentence
            assert "\n" not in error.value.sentence


@pytest.mark.parametrize("url", ["not a url", "sqlite:///x.db", "postgresql://127.0.0.1/x", "postgres//:"])
def test_a_url_that_cannot_be_used_is_one_sentence(url: str) -> None:
    with pytest.raises(ConfigError, match="CAMPAIGN_DATABASE_URL"):
        application_url(url)


def test_an_owner_who_may_not_make_roles_is_told_the_fix(bare_url: str) -> None:
    with psycopg.connect(bare_url, autocommit=True) as connection:
        connection.execute("drop role if exists modest")
        connection.execute("create role modest login password 'modest'")
    modest = bare_url.split("@")[1]
    try:
        with pytest.raises(ConfigError, match="alter role modest createrole"):
            upgrade(f"postgresql://modest:modest@{modest}")
    finally:
        with psycopg.connect(bare_url, autocommit=True) as connection:
            connection.execute("drop role modest")


def test_the_application_roles_password_follows_from_the_owners() -> None:
    one, other = (application_url(f"postgresql://owner:{word}@h:1/d?sslmode=require") for word in ("a", "b"))
    assert one.startswith("postgresql://owner_app:")
    assert one.endswith("@h:1/d?sslmode=require")
    assert one != other
    assert application_url("postgresql://owner@h/d") == "postgresql://owner_app@h/d"


def terminate(url: str, pid: int) -> None:
    """End one server process of the application role, as that role itself may, and wait until it is gone."""
    with psycopg.connect(application_url(url), autocommit=True) as connection:
        assert connection.execute("select pg_terminate_backend(%s, 10000)", (pid,)).fetchone() == (True,)


def test_a_connection_that_died_in_the_pool_is_not_noticed(world: World, owner_url: str) -> None:
    world.campaign()
    with world.ledger.bound("acme") as tx:
        pid = tx.execute(text("select pg_backend_pid()")).scalar_one()
    terminate(owner_url, pid)
    with world.ledger.bound("acme") as tx:
        assert tx.execute(
            text("select pg_backend_pid() <> :pid and count(*) = 1 from campaigns"), {"pid": pid}
        ).scalar_one()


def test_a_connection_that_dies_in_a_transaction_is_the_ledgers_absence(world: World, owner_url: str) -> None:
    world.campaign()

    def ask_while_it_dies() -> None:
        with world.ledger.bound("acme") as tx:
            terminate(owner_url, tx.execute(text("select pg_backend_pid()")).scalar_one())
            tx.execute(text("select 1"))

    with pytest.raises(LedgerUnavailable):
        ask_while_it_dies()
    assert world.campaign_of("launch").slug == "launch"


def test_a_mistake_in_a_query_stays_what_it_is(ledger: Ledger) -> None:
    with pytest.raises(Exception, match="no_such_table") as error, ledger.bound("acme") as tx:
        tx.execute(text("select * from no_such_table"))
    assert not isinstance(error.value, LedgerUnavailable)


def test_a_hosts_slots_are_given_out_one_after_the_other_over_all_workers(ledger: Ledger) -> None:
    with ThreadPoolExecutor(4) as pool:
        waits = sorted(pool.map(lambda _: ledger.reserve_host("slow.example", 100.0), range(6)))
    assert [round(wait / 100) for wait in waits] == [0, 1, 2, 3, 4, 5]
    assert ledger.reserve_host("other.example", 100.0) == 0.0


def test_a_vanished_workers_locks_are_freed_by_the_server(ledger: Ledger) -> None:
    with ledger.bound("acme") as tx:
        assert tx.execute(text("show idle_in_transaction_session_timeout")).scalar_one() == "1min"


def test_two_clones_share_nothing(server_url: str) -> None:
    with clone(server_url) as one, clone(server_url) as other:
        first, second = Ledger(application_url(one)), Ledger(application_url(other))
        World(first).campaign()
        assert (len(first.tenants()), len(second.tenants())) == (1, 0)
        first.dispose()
        second.dispose()
