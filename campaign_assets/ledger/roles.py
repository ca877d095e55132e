"""Roles, grants and the one look across tenants, as the owner sets them up after each migration.

Three roles: the *owner* (of the URL given) owns the tables and migrates; the *application role* `<owner>_app`
works with them under row-level security, being neither owner nor superuser nor BYPASSRLS; the *census role*
`<owner>_census` cannot log in and may read three columns, for `due_tenants()` alone. All of it can be repeated
at any time.
"""

from __future__ import annotations

import hashlib
import hmac

from sqlalchemy import Connection, make_url, text
from sqlalchemy.exc import ArgumentError, ProgrammingError

from campaign_assets.errors import ConfigError
from campaign_assets.ledger.schema import GUARDED, hosts
from campaign_assets.ledger.sql import fragment

CENSUS_LIMIT = 1000
"""A tenant's due units are counted up to here: who is due matters, not by how many thousands."""

SETTINGS = {
    # After this the server frees the row locks of a worker that vanished in the middle of a transaction.
    "idle_in_transaction_session_timeout": "60s",
    # Every query goes for few rows by an index, and those are in memory: a scan from end to end is never the
    # better way.
    "random_page_cost": "1.1",
    "jit": "off",
}
"""What the server is told about every session of the application role."""


def application_url(owner_url: str) -> str:
    """The application role's URL. Its password follows from the owner's, so that nobody has to store a second one."""
    try:
        url = make_url(owner_url)
    except ArgumentError as error:
        raise ConfigError(
            "CAMPAIGN_DATABASE_URL is no URL; give it as postgresql://user:password@host:port/database."
        ) from error
    if url.get_backend_name() != "postgresql":
        raise ConfigError(
            f"CAMPAIGN_DATABASE_URL names {url.get_backend_name()}; it must begin with postgresql://."
        )
    if not url.username:
        raise ConfigError(
            "CAMPAIGN_DATABASE_URL names no user; give the owner's, as postgresql://user:password@host:port/database."
        )
    role = f"{url.username}_app"
    return url.set(username=role, password=_derived(role, url.password)).render_as_string(hide_password=False)


def _derived(role: str, owner_password: str | None) -> str | None:
    if owner_password is None:
        return None
    return hmac.new(
        str(owner_password).encode(), f"campaign_assets {role}".encode(), hashlib.sha256
    ).hexdigest()


def make_roles(connection: Connection) -> None:
    """Make both roles where they are missing, and give the application role its password.

    ConfigError where the owner may not: it names the statements that a database administrator would run.
    """
    owner = _owner(connection)
    password = _derived(f"{owner}_app", connection.engine.url.password)
    app, census = _name(connection, f"{owner}_app"), _name(connection, f"{owner}_census")
    try:
        for role, attributes in ((app, "login noinherit"), (census, "nologin noinherit")):
            _create_role(connection, role, attributes)
        connection.execute(text(f"grant {census} to {_name(connection, owner)}"))
        if password:
            connection.execute(text(f"alter role {app} password '{password}'"))
        for setting, value in SETTINGS.items():
            connection.execute(text(f"alter role {app} set {setting} = '{value}'"))
    except ProgrammingError as error:
        raise ConfigError(
            f"The database's owner {owner} may not create the application's roles; as an administrator run "
            f'"alter role {_name(connection, owner)} createrole" and try again.'
        ) from error


def _create_role(connection: Connection, role: str, attributes: str) -> None:
    """Create it unless it is there. Roles belong to the whole server: another database's upgrade may be faster."""
    connection.execute(
        text(
            f"do $$ begin create role {role} {attributes}; "
            "exception when duplicate_object or unique_violation then null; end $$"
        )
    )


def grant(connection: Connection) -> None:
    """Grants of the application role, and `due_tenants()` with the three columns its role may read."""
    owner = _owner(connection)
    app, census = _name(connection, f"{owner}_app"), _name(connection, f"{owner}_census")
    schema = _name(connection, connection.execute(text("select current_schema()")).scalar_one())
    tables = ", ".join([*GUARDED, hosts.name])
    commands = [
        f"grant usage on schema {schema} to {app}, {census}",
        f"grant select, insert, update on {tables} to {app}",
        f"grant select on alembic_version to {app}",
        *_census(schema, app, census),
    ]
    if connection.execute(text("select current_setting('server_version_num')::int")).scalar_one() >= 170000:
        commands.append(
            f"grant maintain on units, publishers to {app}"
        )  # so that it may ANALYZE after a large import
    for command in commands:
        connection.execute(text(command))


_DUE_TENANTS = fragment(
    """
select t.id, (
    select count(*) from (select 1 from units u where u.tenant_id = t.id and u.due_at <= now() limit $limit) due
) from tenants t order by t.id
""",
    limit=str(CENSUS_LIMIT),
)


def _census(schema: str, app: str, census: str) -> list[str]:
    signature = f"{schema}.due_tenants()"
    return [
        f"grant select (id) on tenants to {census}",
        f"grant select (tenant_id, due_at) on units to {census}",
        "drop policy if exists census on tenants",
        f"create policy census on tenants for select to {census} using (true)",
        "drop policy if exists census on units",
        f"create policy census on units for select to {census} using (true)",
        f"drop function if exists {signature}",
        f"create function {signature} returns table (id uuid, due bigint) language sql stable security definer "
        f"set search_path = {schema}, pg_temp as $${_DUE_TENANTS}$$",
        f"revoke all on function {signature} from public",
        f"grant execute on function {signature} to {app}",
        # Only a role that may create in the schema can be given a function there: a moment is enough.
        f"grant create on schema {schema} to {census}",
        f"alter function {signature} owner to {census}",
        f"revoke create on schema {schema} from {census}",
    ]


def _owner(connection: Connection) -> str:
    return str(connection.execute(text("select current_user")).scalar_one())


def _name(connection: Connection, role: str) -> str:
    return connection.dialect.identifier_preparer.quote(role)
