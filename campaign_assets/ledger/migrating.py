"""Bringing a database to the newest migration: `campaign db upgrade`, and the embedded server by itself.

One transaction: roles, migrations, grants. Several processes may call it at once; an advisory lock lets one work.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, NullPool, create_engine, text

from campaign_assets.ledger import roles
from campaign_assets.ledger.binding import CONNECT, check_reachable

_LOCK = 7_163_402_011
"""Any number that nobody else takes as an advisory lock of this database."""


def upgrade(owner_url: str) -> None:
    """Migrate the owner's database to the newest version and set up the application role. Can be repeated.

    ConfigError where it cannot be reached or the owner may not make roles.
    """
    roles.application_url(owner_url)
    check_reachable(owner_url)
    engine = create_engine(owner_url, connect_args=CONNECT, poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        roles.make_roles(connection)
        command.upgrade(_configuration(connection), "head")
        roles.grant(connection)


def _configuration(connection: Connection) -> Config:
    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    configuration.attributes["connection"] = connection
    return configuration
