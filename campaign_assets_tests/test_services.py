"""What an installation consists of: its files, its environment, its refusals. The whole of it runs in the demo."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest
import yaml

from campaign_assets import services
from campaign_assets.errors import ConfigError
from campaign_assets.services import dagster_children
from campaign_assets.settings import Settings


def code_server_port(home: Path) -> int:
    (entry,) = yaml.safe_load((home / "dagster/workspace.yaml").read_text())["load_from"]
    return int(entry["grpc_server"]["port"])


def test_the_code_servers_port_stays_the_same_for_a_home(tmp_path: Path) -> None:
    dagster_children(tmp_path, 3000)
    port = code_server_port(tmp_path)
    (code_server, *_) = dagster_children(tmp_path, 3000)
    assert code_server_port(tmp_path) == port
    assert str(port) in code_server.command


def test_the_code_servers_port_moves_where_somebody_else_has_taken_it(tmp_path: Path) -> None:
    dagster_children(tmp_path, 3000)
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", code_server_port(tmp_path)))
        squatter.listen()
        dagster_children(tmp_path, 3000)
        assert code_server_port(tmp_path) != squatter.getsockname()[1]


def test_without_a_web_interface_nothing_listens_for_one(tmp_path: Path) -> None:
    assert [child.name for child in dagster_children(tmp_path, None)] == ["code server", "daemon"]


def test_the_projects_dagster_yaml_is_where_dagster_looks(tmp_path: Path) -> None:
    dagster_children(tmp_path, 3000)
    assert (tmp_path / "dagster/dagster.yaml").read_text() == (services.PROJECT / "dagster.yaml").read_text()


def test_a_dagster_yaml_that_retries_runs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(services.PROJECT / "dagster.yaml", tmp_path)
    settings = yaml.safe_load((tmp_path / "dagster.yaml").read_text())
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(settings | {"run_retries": {"enabled": True}}))
    monkeypatch.setattr(services, "PROJECT", tmp_path)
    with pytest.raises(ConfigError, match=r"run_retries is enabled .* set `run_retries: \{enabled: false\}`"):
        dagster_children(tmp_path / "home", 3000)


@pytest.mark.parametrize(
    ("ledger", "dagster", "expected"),
    [
        ("postgresql://a:b@db/campaign", None, "postgresql+psycopg2://a:b@db/dagster"),
        ("postgresql://a:b@db/campaign", "postgresql://c:d@db2/x", "postgresql+psycopg2://c:d@db2/x"),
        (
            "postgresql+psycopg://a:b@db/campaign",
            "postgresql+psycopg2://c@db2/x",
            "postgresql+psycopg2://c@db2/x",
        ),
    ],
)
def test_dagsters_database_is_the_one_given_else_beside_the_ledgers(
    tmp_path: Path, ledger: str, dagster: str | None, expected: str
) -> None:
    database = services._Database(Settings(tmp_path, database_url=ledger, dagster_database_url=dagster))
    environment = database.environment()
    assert environment["CAMPAIGN_DAGSTER_URL"] == expected
    assert environment["CAMPAIGN_DATABASE_URL"] == ledger
    assert environment["DAGSTER_HOME"] == str(tmp_path / "dagster")


def test_an_unreachable_database_is_one_sentence_and_starts_nothing(tmp_path: Path) -> None:
    settings = Settings(tmp_path, database_url="postgresql://nobody:x@127.0.0.1:1/campaign")
    with pytest.raises(ConfigError, match="CAMPAIGN_DATABASE_URL"), services.serving(settings):
        pass
    assert not (tmp_path / "dagster").exists()


def test_an_unreachable_dagster_database_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match="set CAMPAIGN_DAGSTER_DATABASE_URL"):
        services._refuse_unreachable("postgresql+psycopg2://nobody:x@127.0.0.1:1/dagster")
