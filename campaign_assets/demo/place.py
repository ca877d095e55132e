"""Where the demo lives: an installation of its own, so that it never touches a real one.

Owns the demo's settings. Its home is `demo` inside CAMPAIGN_HOME; its database is the embedded server of that home
whatever CAMPAIGN_DATABASE_URL says; every name goes to the sandbox.
"""

from __future__ import annotations

import os
from dataclasses import replace

from campaign_assets.settings import Resolve, Settings


def demo_settings(settings: Settings, sandbox: Resolve | None = None) -> Settings:
    """The demo's settings inside the installation `settings`: where data lies is its own."""
    return replace(
        settings,
        home=settings.home / "demo",
        database_url=None,
        dagster_database_url=None,
        resolve=sandbox,
        policy="sandbox",
    )


def publish(settings: Settings) -> None:
    """Make `settings` the environment of this process, which its children and the libraries inherit."""
    for name in [name for name in os.environ if name.startswith("CAMPAIGN_")]:
        del os.environ[name]
    os.environ.update(settings.to_environment())


def look_again(settings: Settings) -> str:
    """The command that shows the demo's campaigns later; they are paused, so it needs no sandbox."""
    return f"CAMPAIGN_HOME={settings.home} campaign up"
