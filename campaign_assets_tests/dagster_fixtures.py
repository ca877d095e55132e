"""The stand as a fixture; test modules name this one as a plugin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance

from campaign_assets import sensors
from campaign_assets.ledger import Ledger
from campaign_assets.settings import Settings
from campaign_assets_tests.dagster_stand import Stand


def one_event_log(directory: Path) -> dict[str, Any]:
    """All runs' events in one file: making a file for each run is most of what a short run costs on SQLite."""
    return {
        "event_log_storage": {
            "module": "dagster._core.storage.event_log",
            "class": "ConsolidatedSqliteEventLogStorage",
            "config": {"base_dir": str(directory / "events")},
        }
    }


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner_url: str) -> Iterator[Stand]:
    """A fresh ledger, a fresh Dagster instance on disk, and the environment that a worker of them would have."""
    settings = Settings(tmp_path / "home", database_url=owner_url, policy="sandbox", log_level="debug")
    settings.home.mkdir()
    for name, value in settings.to_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DAGSTER_DISABLE_TELEMETRY", "1")
    ledger = Ledger.open(settings)
    directory = tmp_path / "dagster"
    directory.mkdir()
    with DagsterInstance.local_temp(str(directory), overrides=one_event_log(directory)) as instance:
        made = Stand(settings, ledger, instance)
        try:
            yield made
        finally:
            made.close()
            ledger.dispose()
            sensors.forget_ledgers()
