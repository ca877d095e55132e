"""The ledger: the record of every tenant, campaign, publisher and unit, in PostgreSQL.

Each query is a named function in exactly one of these modules; nothing above this package writes SQL.

    schema        tables, with their row-level security      transitions   the one place that writes a unit's state
    binding       connections and bound transactions         work          what a run does
    campaigns     campaigns, sources, publishers             filings       the submission guard
    scheduling    what the sensors do                        promotion     what becomes eligible
    operators     what a human does                          reading       what readers are shown
    publishing    what Dagster has been told                 status        a campaign's status, derived
"""

from campaign_assets.ledger.binding import DueTenant, Ledger, Tx
from campaign_assets.ledger.roles import application_url

__all__ = ["DueTenant", "Ledger", "Tx", "application_url", "upgrade"]


def upgrade(owner_url: str) -> None:
    """Migrate the owner's database and set up the application role; see `migrating.upgrade`."""
    from campaign_assets.ledger import migrating  # alembic is not for every run's start

    migrating.upgrade(owner_url)
