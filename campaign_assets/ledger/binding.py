"""The ledger's door: connections as the application role, and transactions that have a tenant bound.

Owns the engine, the binding (rule R11) and opening; `migrating.py` owns upgrading. Refuses a ledger whose migrations
are missing, and any transaction without a tenant except the two questions that have none: which tenants exist, and
when a host may be asked again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from campaign_assets import embedded
from campaign_assets.errors import ConfigError, LedgerUnavailable, TenantNotBound
from campaign_assets.ledger.roles import application_url
from campaign_assets.ledger.schema import REVISION
from campaign_assets.model import tenant_id
from campaign_assets.settings import Settings

Tx = Connection
"""A connection inside one transaction with a tenant bound."""

# A cut link must not hang a worker for minutes: the three belong together.
CONNECT = {
    "connect_timeout": 8,
    "tcp_user_timeout": 8000,
    "keepalives": 1,
    "keepalives_idle": 3,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "application_name": "campaign_assets",
}
_BIND = text("select set_config('app.tenant_id', :tenant, true)")
_BOUND = text("select nullif(current_setting('app.tenant_id', true), '')")


@dataclass(frozen=True)
class DueTenant:
    """A tenant and how many of its units are due (counted up to `roles.CENSUS_LIMIT`)."""

    id: UUID
    due: int


class Ledger:
    """The ledger of one installation. Safe to share between threads; build with `open`."""

    def __init__(self, url: str) -> None:
        """`url` is the application role's."""
        self.engine: Engine = create_engine(
            url, connect_args=CONNECT, pool_size=4, max_overflow=12, pool_timeout=60
        )

    @classmethod
    def open(cls, settings: Settings) -> Ledger:
        """Connect to the configured server, else to the home's embedded one, which is started and upgraded
            where needed.

        ConfigError where it cannot be reached, or where a server of one's own lacks migrations.
        """
        owner_url = settings.database_url or embedded.start(settings.home).owner_url
        ledger = cls(application_url(owner_url))
        if ledger._revision(owner_url) == REVISION:
            return ledger
        if settings.database_url:
            ledger.dispose()
            raise ConfigError(
                "The ledger's tables are missing or of another version; run `campaign db upgrade`."
            )
        from campaign_assets.ledger.migrating import (
            upgrade,  # alembic costs a run's start 0.2 s: only where it is needed
        )

        upgrade(owner_url)
        return ledger

    def _revision(self, owner_url: str) -> str | None:
        """The migration the database is at; None where there is no ledger or no application role yet."""
        try:
            with self.engine.connect() as connection:
                return connection.execute(text("select version_num from alembic_version")).scalar()
        except ProgrammingError:
            return None
        except OperationalError:
            check_reachable(owner_url)  # the server may be there, and only our role missing
            return None

    @contextmanager
    def bound(self, tenant: str | UUID) -> Iterator[Tx]:
        """One transaction with `tenant` (slug or id) bound; committed on a clean exit, else rolled back."""
        bound_to = tenant if isinstance(tenant, UUID) else tenant_id(tenant)
        with _reachable():
            connection = self._begin(bound_to)
            try:
                yield connection
                connection.commit()
            finally:
                connection.close()

    def _begin(self, tenant: UUID) -> Tx:
        """Open a transaction and bind it. A pooled connection may be a dead server's: then once more, with a
        fresh one.
        """
        for last in (False, True):
            connection = self.engine.connect()
            try:
                connection.execute(_BIND, {"tenant": str(tenant)})
            except DBAPIError as error:
                connection.close()
                if last or not error.connection_invalidated:
                    raise
            except BaseException:
                connection.close()
                raise
            else:
                return connection
        raise AssertionError("unreachable")

    def tenants(self) -> list[DueTenant]:
        """Every tenant, also with nothing due: the only look across tenants."""
        with _reachable(), self.engine.connect() as connection:
            rows = connection.execute(text("select id, due from due_tenants()")).all()
        return [DueTenant(row.id, row.due) for row in rows]

    def reserve_host(self, host: str, interval: float) -> float:
        """Reserve the next free slot of a host, one every `interval` seconds over all workers; how long to wait
        for it.
        """
        with _reachable(), self.engine.begin() as connection:
            waited = connection.execute(_RESERVE, {"host": host, "interval": interval}).scalar_one()
        return max(0.0, float(waited))

    def dispose(self) -> None:
        """Close the pooled connections."""
        self.engine.dispose()


@contextmanager
def _reachable() -> Iterator[None]:
    """A server that does not answer, or a broken connection, as LedgerUnavailable; mistakes in a query stay what
    they are.
    """
    try:
        yield
    except PoolTimeout as error:
        raise LedgerUnavailable("Every connection of this process to the ledger is in use.") from error
    except DBAPIError as error:
        if not (error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)):
            raise
        raise LedgerUnavailable(str(error.orig).strip()) from error


_RESERVE = text("""
insert into hosts as h (host, next_at)
values (:host, clock_timestamp() + :interval * interval '1 second')
on conflict (host) do update
    set next_at = greatest(h.next_at, clock_timestamp()) + :interval * interval '1 second'
returning extract(epoch from next_at - :interval * interval '1 second' - clock_timestamp())
""")


def require_tenant(tx: Tx) -> None:
    """Raise TenantNotBound where none is: reading would see nothing and look like nothing to do."""
    if tx.execute(_BOUND).scalar() is None:
        raise TenantNotBound("No tenant is bound in this transaction; use Ledger.bound().")


def check_reachable(owner_url: str) -> None:
    """ConfigError where the owner cannot connect."""
    engine = create_engine(owner_url, connect_args=CONNECT)
    try:
        engine.connect().close()
    except OperationalError as error:
        said = str(error.orig).strip().splitlines() or ["no answer"]
        where = engine.url.render_as_string(hide_password=True)
        raise ConfigError(
            f"The database {where} cannot be reached ({said[-1].strip()}); start it or mend CAMPAIGN_DATABASE_URL."
        ) from error
    finally:
        engine.dispose()
