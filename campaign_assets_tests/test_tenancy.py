"""Rule R11: every tenant behind its own wall, on every table there is, and nothing at all without a tenant bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from campaign_assets.errors import TenantNotBound
from campaign_assets.ledger import Ledger, Tx, application_url, campaigns, promotion, scheduling, work
from campaign_assets.ledger.schema import GUARDED
from campaign_assets.model import Evidence, Outcome, Reason, tenant_id
from campaign_assets.states import Stage
from campaign_assets_tests.ledger_world import POLICIES, World

WITHOUT_TENANT = {"hosts", "alembic_version"}


@pytest.fixture
def app(owner_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A raw connection of the application role, nothing bound."""
    with psycopg.connect(application_url(owner_url)) as connection:
        yield connection


@pytest.fixture
def owner(owner_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(owner_url) as connection:
        yield connection


def bind(connection: psycopg.Connection[Any], tenant: str | UUID | None) -> None:
    value = "" if tenant is None else str(tenant if isinstance(tenant, UUID) else tenant_id(tenant))
    connection.execute("select set_config('app.tenant_id', %s, true)", (value,))


def tables(connection: psycopg.Connection[Any]) -> set[str]:
    rows = connection.execute(
        "select relname from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace"
    )
    return {row[0] for row in rows}


@pytest.fixture
def furnished(world: World) -> World:
    """Two tenants with a row in every table."""
    for tenant in ("acme", "other"):
        campaign = world.campaign(f"{tenant}/launch", 2)
        kept = Evidence(kind="before", path="a/b.png", media_type="image/png", sha256="0" * 64, size=3)
        with world.ledger.bound(tenant) as tx:
            work.start_run(tx, f"run-{tenant}", campaign.id, Stage.DISCOVERY, False)
            scheduling.tick(tx, "reaper", 30)
            tx.execute(
                text("insert into markers (campaign_id, stage, run_id) values (:c, 'content', 'm')"),
                {"c": campaign.id},
            )
        first = world.claim(campaign, Stage.DISCOVERY, 1, f"run-{tenant}")
        with world.ledger.bound(tenant) as tx:
            assert work.note_alias(tx, first[0], "elsewhere.example") is None
        world.finish(first)
        world.finish(world.claim(campaign, Stage.DISCOVERY), Outcome.fail(Reason.ERROR, "it broke", (kept,)))
        world.reach(campaign, Stage.SUBMISSION)
        world.claim_one(campaign, Stage.SUBMISSION)
    return world


def test_every_table_has_its_policy_its_force_and_its_trigger(owner: psycopg.Connection[Any]) -> None:
    assert tables(owner) == set(GUARDED) | WITHOUT_TENANT
    for table in GUARDED:
        row = owner.execute(
            """select relrowsecurity, relforcerowsecurity,
                (select count(*) from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant' and p.polcmd = '*'
                    and p.polroles = '{0}' and p.polwithcheck is not null),
                (select count(*) from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'require_tenant'
                    and t.tgenabled = 'O' and t.tgtype = 2 + 4 + 8 + 16)
            from pg_class c where c.oid = %s::regclass""",
            (table,),
        ).fetchone()
        assert row == (True, True, 1, 1), f"{table}: (row security, forced, policies, triggers) = {row}"


def test_every_foreign_key_between_tenants_rows_holds_the_tenant(owner: psycopg.Connection[Any]) -> None:
    keys = owner.execute(
        """select conrelid::regclass::text, conname, array(
                select attname::text from unnest(conkey) k join pg_attribute a on a.attrelid = conrelid and
                    a.attnum = k)
           from pg_constraint where contype = 'f'"""
    ).fetchall()
    assert len(keys) > 15
    assert [key for key in keys if "tenant_id" not in key[2]] == []


def test_a_tenant_sees_only_its_own_rows_of_every_table(
    furnished: World, app: psycopg.Connection[Any]
) -> None:
    for table, column in GUARDED.items():
        for tenant in ("acme", "other"):
            bind(app, tenant)
            seen = {
                row[0]
                for row in app.execute(
                    sql.SQL("select {} from {}").format(sql.Identifier(column), sql.Identifier(table))
                )
            }
            assert seen == {tenant_id(tenant)}, f"{table}: {tenant} sees {seen}"


def test_unbound_sees_nothing_of_any_table(furnished: World, app: psycopg.Connection[Any]) -> None:
    for table in GUARDED:
        for empty in (False, True):  # after a first transaction the setting is '' and no longer missing
            if empty:
                bind(app, None)
            count = app.execute(sql.SQL("select count(*) from {}").format(sql.Identifier(table))).fetchone()
            assert count == (0,), table
        app.rollback()


def test_a_tenant_cannot_write_anothers_rows(furnished: World, app: psycopg.Connection[Any]) -> None:
    other = tenant_id("other")
    for table in GUARDED:
        column, name = sql.Identifier(GUARDED[table]), sql.Identifier(table)
        bind(app, "acme")
        changed = app.execute(
            sql.SQL("update {} set {} = {} where {} = %s").format(name, column, column, column), (other,)
        )
        assert changed.rowcount == 0, table
        give_away = sql.SQL("update {} set {} = %s").format(name, column)
        slip_in = sql.SQL("insert into {} ({}) values (%s)").format(name, column)
        for hostile in (give_away, slip_in):
            bind(app, "acme")
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match=f'policy for table "{table}"'):
                app.execute(hostile, (other,))
            app.rollback()


def test_unbound_writes_fail_even_where_they_would_touch_nothing(
    app: psycopg.Connection[Any], owner: psycopg.Connection[Any]
) -> None:
    for table in GUARDED:
        column, name = sql.Identifier(GUARDED[table]), sql.Identifier(table)
        update = sql.SQL("update {} set {} = {} where false").format(name, column, column)
        insert = sql.SQL("insert into {} ({}) select {} from {} where false").format(
            name, column, column, name
        )
        delete = sql.SQL("delete from {} where false").format(name)
        for connection, statements in ((app, (update, insert)), (owner, (update, insert, delete))):
            for statement in statements:
                with pytest.raises(
                    psycopg.errors.InsufficientPrivilege, match=f"no tenant is bound: .* on {table}"
                ):
                    connection.execute(statement)
                connection.rollback()


def test_the_application_role_may_not_delete_anything(furnished: World, app: psycopg.Connection[Any]) -> None:
    for table in (*GUARDED, "hosts"):
        bind(app, "acme")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute(sql.SQL("delete from {}").format(sql.Identifier(table)))
        app.rollback()


def test_no_row_can_point_across_tenants(
    furnished: World, app: psycopg.Connection[Any], owner: psycopg.Connection[Any]
) -> None:
    bind(owner, "other")
    theirs = owner.execute("select id from campaigns").fetchone()
    assert theirs is not None
    bind(app, "acme")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        app.execute(
            "insert into sources (campaign_id, name, content, sha256) values (%s, 'x', '', 'x')", (theirs[0],)
        )


def test_the_roles_are_what_the_rule_says(owner_url: str, owner: psycopg.Connection[Any]) -> None:
    user = psycopg.conninfo.conninfo_to_dict(application_url(owner_url))["user"]
    app = owner.execute(
        "select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb from pg_roles where rolname = %s", (user,)
    )
    assert app.fetchone() == (False, False, False, False)
    owned = owner.execute(
        "select count(*) from pg_class where pg_get_userbyid(relowner) = %s", (user,)
    ).fetchone()
    assert owned == (0,)
    member = owner.execute(
        "select count(*) from pg_auth_members where member = %s::regrole", (user,)
    ).fetchone()
    assert member == (0,)


def test_one_function_looks_across_tenants_and_its_role_reads_three_columns(
    owner: psycopg.Connection[Any],
) -> None:
    functions = owner.execute(
        """select proname, r.rolname, r.rolcanlogin, r.rolsuper, r.rolbypassrls, proconfig, proacl::text
        from pg_proc p join pg_roles r on r.oid = p.proowner where prosecdef and pronamespace =
            'public'::regnamespace"""
    ).fetchall()
    assert [row[0] for row in functions] == ["due_tenants"]
    _, role, *attributes, config, acl = functions[0]
    assert attributes == [False, False, False]
    assert config == ["search_path=public, pg_temp"]
    assert not any(entry.startswith("=") for entry in acl.strip("{}").split(",")), (
        f"public may execute it: {acl}"
    )
    columns = owner.execute(
        """select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and has_column_privilege(%s, c.oid,
            a.attnum, 'select')""",
        (role,),
    ).fetchall()
    assert sorted(columns) == [("tenants", "id"), ("units", "due_at"), ("units", "tenant_id")]
    writes = owner.execute(
        """select c.relname from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
        and has_any_column_privilege(%s, c.oid, 'insert, update')""",
        (role,),
    ).fetchall()
    assert writes == []


def test_tenants_are_listed_with_their_due_units_also_with_none(world: World) -> None:
    world.campaign("acme/launch", 3)
    quiet = world.campaign("other/launch", 1)
    world.claim(quiet, Stage.DISCOVERY)
    assert {(tenant.id, tenant.due) for tenant in world.ledger.tenants()} == {
        (tenant_id("acme"), 3),
        (tenant_id("other"), 0),
    }


def test_claim_reap_and_promote_raise_where_no_tenant_is_bound(world: World) -> None:
    campaign = world.campaign()
    unit = world.claim_one(campaign, Stage.DISCOVERY)

    def unbound() -> Tx:
        return world.ledger.engine.connect()

    calls: list[Callable[[Tx], object]] = [
        lambda tx: work.claim(tx, campaign.id, Stage.DISCOVERY, "r", 1),
        lambda tx: work.claim(tx, campaign.id, Stage.SUBMISSION, "r", 1),
        lambda tx: scheduling.reap(tx, POLICIES),
        lambda tx: scheduling.expire_run(tx, "r"),
        lambda tx: promotion.promote(tx),
        lambda tx: campaigns.import_page(tx, 1, [], [], 1, True),
    ]
    for call in calls:
        with unbound() as tx, pytest.raises(TenantNotBound):
            call(tx)
    writes: list[Callable[[Tx], object]] = [
        lambda tx: work.start_run(tx, "r", campaign.id, Stage.CONTENT, False),
        lambda tx: work.release(tx, [unit]),
        lambda tx: work.beat(tx, "r"),
        lambda tx: scheduling.tick(tx, "reaper", 30),
        lambda tx: campaigns.add_source(tx, campaign.id, "x", b"x"),
    ]
    for write in writes:
        with unbound() as tx, pytest.raises(ProgrammingError, match="no tenant is bound"):
            write(tx)
    assert unit.claim == world.unit(campaign, Stage.DISCOVERY).claim, "nothing was changed"


def test_a_binding_ends_with_its_transaction(ledger: Ledger, world: World) -> None:
    world.campaign()
    with ledger.bound("acme") as tx:
        assert tx.execute(text("select count(*) from campaigns")).scalar_one() == 1
        tx.commit()
        assert tx.execute(text("select count(*) from campaigns")).scalar_one() == 0, (
            "a commit must end the binding"
        )
    for _ in range(8):  # whichever pooled connection comes
        with ledger.engine.connect() as connection:
            assert connection.execute(text("select count(*) from campaigns")).scalar_one() == 0


def test_a_failed_transaction_leaves_nothing_behind(ledger: Ledger, world: World) -> None:
    campaign = world.campaign()

    def fail_on_the_way() -> None:
        with ledger.bound("acme") as tx:
            tx.execute(text("update campaigns set epoch = 9"))
            raise RuntimeError("on the way")

    with pytest.raises(RuntimeError, match="on the way"):
        fail_on_the_way()
    assert world.again(campaign).epoch == 1


def test_two_tenants_may_use_the_same_words(world: World) -> None:
    for tenant in ("acme", "other"):
        world.reach(world.campaign(f"{tenant}/launch"), Stage.SUBMISSION)
    units = [
        world.claim_one(world.campaign_of(f"{tenant}/launch"), Stage.SUBMISSION)
        for tenant in ("acme", "other")
    ]
    assert all(world.arm(unit) for unit in units), (
        "the guard is a tenant's own: two clients may list the same business"
    )
