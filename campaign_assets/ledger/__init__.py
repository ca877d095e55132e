"""The ledger: the record of every tenant, campaign, publisher and unit, in PostgreSQL.

Each query is a named function in exactly one of these modules; nothing above this package writes SQL.

    schema        tables, with their row-level security      transitions   the one place that writes a unit's state
    migrating     upgrades; `roles` and grants beside it     recording     the end of tries, in one statement
    binding       connections and bound transactions         chain         what current and open mean
    campaigns     campaigns, sources, publishers             work          what a run does; `loading`, `runs` beside it
    scheduling    what the sensors do                        filings       the submission guard; `verdicts` beside it
    promotion     what becomes eligible                      publishing    what Dagster has been told
    operators     what a human does; `case`, `choices`,      reading       what readers are shown; `rows`, `status`
                  `deciding`, `reruns` beside it                           beside it
"""

from campaign_assets.ledger.binding import DueTenant, Ledger, Tx
from campaign_assets.ledger.roles import application_url

__all__ = ["DueTenant", "Ledger", "Tx", "application_url", "upgrade"]


def upgrade(owner_url: str) -> None:
    """Migrate the owner's database and set up the application role; see `migrating.upgrade`."""
    from campaign_assets.ledger import migrating  # alembic is not for every run's start

    migrating.upgrade(owner_url)
