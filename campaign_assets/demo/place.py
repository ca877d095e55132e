"""Where the demo lives: an installation of its own, so that it never touches a real one.

Its home is CAMPAIGN_HOME where that is set, else `~/.campaign_assets/demo`; a home that holds anybody else's campaigns
is refused. Its database is the embedded server of that home, whatever CAMPAIGN_DATABASE_URL says.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from campaign_assets.errors import Refused
from campaign_assets.settings import Settings

TENANT = "demo"
SLUG = "launch"


def demo_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The demo's settings: what the environment says, but for where data lies and how patient it is."""
    given = Settings.from_environment(environment)
    home = given.home if environment.get("CAMPAIGN_HOME") else given.home / "demo"
    return replace(given, home=home, database_url=None, dagster_database_url=None, policy="sandbox")


def next_number(home: Path) -> int:
    """The number of the next demo in `home`; takes it, by making the directory of its sandbox."""
    number = 1
    while True:
        try:
            sandbox_state(home, number).mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return number


def sandbox_state(home: Path, number: int) -> Path:
    """Where the sandbox of demo `number` keeps its state: each demo meets a web that has never heard of it."""
    return home / "sandbox" / str(number)


def names(number: int) -> tuple[str, str]:
    """Tenant and campaign of demo `number`.

    Each has a tenant of its own: for one tenant, the second demo would find everything filed already.
    """
    return (TENANT, SLUG) if number == 1 else (f"{TENANT}-{number}", f"{SLUG}-{number}")


def refuse_strangers(home: Path, tenants: set[str]) -> None:
    """Refused where `home` holds campaigns that are no demo's: they would be filed into the sandbox."""
    strangers = sorted(
        tenant for tenant in tenants if tenant != TENANT and not tenant.startswith(f"{TENANT}-")
    )
    if strangers:
        raise Refused(
            f"CAMPAIGN_HOME {home} holds campaigns of {', '.join(strangers)}; "
            "unset it, or set it to an empty directory."
        )
