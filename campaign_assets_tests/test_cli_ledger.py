"""The command on a real ledger: campaigns from their making to their archive, readers' JSON shapes, human decisions."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from campaign_assets import embedded
from campaign_assets.cli.entry import run
from campaign_assets.ledger import Ledger, scheduling, work
from campaign_assets.ledger.campaigns import find_campaign, import_page, unread_sources
from campaign_assets.model import Outcome, Reason, SourceEntry
from campaign_assets.policy import decide, policies
from campaign_assets.settings import Settings
from campaign_assets.stages.sources import read
from campaign_assets.states import Stage

PROFILE = """\
name: Acme Planner
url: https://acme.example
tagline: Plan your week in a minute
short_description: Acme Planner turns a list of tasks into a week that you can keep.
description: >
  Acme Planner turns a list of tasks into a week that you can keep. It asks how long each task takes, looks at your
  calendar, and puts the tasks where they fit. What does not fit is said at once, not on Friday evening.
categories: [Productivity]
tags: [planning, calendar]
email: hello@acme.example
contact: {first_name: Ada, last_name: Byron, email: ada@acme.example}
"""
LIST = (
    "name,url\nA,https://a.example/\nB,https://b.example/\nC,https://c.example/\nA,https://www.a.example/\n"
)
UNIT_FIELDS = [
    "key",
    "stage",
    "state",
    "reason",
    "detail",
    "attempts",
    "epoch",
    "due_at",
    "since",
    "decisions",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a server of its own, for the tests of this module."""
    place = tmp_path_factory.mktemp("cli") / "home"
    yield place
    embedded.remove(place)


class Command:
    """`campaign` in this process, and what it said."""

    def __init__(
        self, capsys: pytest.CaptureFixture[str], settings: Settings, folder: Path, slug: str
    ) -> None:
        self._capsys = capsys
        self.settings = settings
        self.folder = folder
        self.slug = slug
        self.key = f"acme/{slug}/a.example"

    def __call__(self, *arguments: str, status: int = 0) -> str:
        self._capsys.readouterr()
        given = run(arguments)
        said = self._capsys.readouterr()
        assert given == status, f"{arguments} ended with {given}: {said.out}{said.err}"
        assert "Traceback" not in said.err
        return said.out if status == 0 else said.err

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))

    def new(self, *more: str, slug: str = "", tenant: str = "acme", status: int = 0) -> str:
        place = ("--profile", str(self.folder / "profile.yaml"), "--source", str(self.folder / "list.csv"))
        return self("new", slug or self.slug, "--tenant", tenant, *place, *more, status=status)

    def discovered(self, outcome: Outcome) -> None:
        """The campaign started, its source read, and a.example come to `outcome` at discovery."""
        self.new()
        self("start", self.slug)
        ledger = Ledger.open(self.settings)
        campaign = find_campaign(ledger, f"acme/{self.slug}")
        with ledger.bound("acme") as tx:
            (source,) = unread_sources(tx, campaign.id)
            entries = [item for item in read(source.content, source.name) if isinstance(item, SourceEntry)]
            import_page(tx, source.id, entries, [], len(entries), True)
            work.start_run(tx, "run", campaign.id, Stage.DISCOVERY, False)
            (unit,) = work.claim(tx, campaign.id, Stage.DISCOVERY, "run", 1, ["a.example"])
            decision = decide(policies("sandbox")[Stage.DISCOVERY], outcome, 0, 0)
            work.commit_page(tx, "run", 1, [(unit, outcome, decision)], 0, 0)
            work.end_run(tx, "run", "done")
            scheduling.promote(tx)
        ledger.dispose()


@pytest.fixture
def command(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> Command:
    for name in [name for name in os.environ if name.startswith("CAMPAIGN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CAMPAIGN_HOME", str(home))
    (tmp_path / "profile.yaml").write_text(PROFILE)
    (tmp_path / "list.csv").write_text(LIST)
    slug = request.node.name[:60].strip("_").replace("_", "-").removeprefix("test-")
    return Command(capsys, Settings(home), tmp_path, slug)


FAILED = Outcome.fail(Reason.SERVER_ERROR, "https://a.example answers with 500.")
HELD = Outcome.hold(Reason.UNSURE, "Is this a directory?")


def test_a_campaign_is_made_started_paused_restarted_and_archived(command: Command) -> None:
    assert "3 publishers, 1 rejected line" in command.new("--approval", "each", "--bar", "10")
    (status,) = command.json("status", command.slug)
    assert list(status) == [
        "tenant", "campaign", "sentence", "status", "intent", "epoch", "attention", "moving", "last_progress_at",
        "done", "stages",
    ]  # fmt: skip
    assert (status["tenant"], status["campaign"], status["intent"], status["epoch"]) == (
        "acme",
        command.slug,
        "pause",
        1,
    )
    assert set(status["stages"]) == set(Stage)
    command("start", command.slug)
    assert command.json("status", command.slug)[0]["intent"] == "run"
    command("pause", f"acme/{command.slug}")
    assert command.json("status", command.slug)[0]["intent"] == "pause"
    assert "epoch 2" in command("restart", command.slug)
    command("archive", command.slug)
    assert "is archived" in command("start", command.slug, status=1)


def test_a_taken_slug_and_an_unknown_one_are_one_sentence(command: Command) -> None:
    command.new()
    assert len(command.new(status=2).splitlines()) == 1
    for words in (["status"], ["start"], ["units"], ["attention"], ["report"]):
        (line,) = command(*words, "no-such", status=2).splitlines()
        assert "no-such" in line
    (line,) = command("show", f"acme/{command.slug}/nowhere.example", status=2).splitlines()
    assert "nowhere.example" in line


def test_a_slug_that_two_tenants_use_needs_its_tenant(command: Command) -> None:
    command.new()
    command.new(tenant="globex")
    said = command("start", command.slug, status=2)
    assert f"acme/{command.slug}" in said
    assert f"globex/{command.slug}" in said
    command("start", f"globex/{command.slug}")
    assert [one["tenant"] for one in command.json("status") if one["campaign"] == command.slug] == [
        "acme",
        "globex",
    ]


def test_a_broken_profile_tells_every_error_with_its_line_and_nothing_is_written(command: Command) -> None:
    broken = (
        PROFILE.replace("name: Acme Planner\n", "").replace("[planning, calendar]", "[]") + "nonsense: 1\n"
    )
    (command.folder / "profile.yaml").write_text(broken)
    lines = command.new(status=2).splitlines()
    assert len(lines) >= 4, lines
    assert all("line " in line for line in lines[1:])
    assert "nonsense" in "".join(lines)
    (command.folder / "profile.yaml").write_text(PROFILE)
    (command.folder / "list.csv").write_bytes(b"%PDF-1.4 x")
    assert "PDF" in command.new(status=2)
    assert command.slug not in command("status")


def test_the_same_list_again_adds_nothing_and_a_grown_one_is_taken(command: Command) -> None:
    command.new()
    same = command.folder / "list.csv"
    assert "nothing is added" in command("sources", "add", command.slug, str(same))
    same.write_text(LIST + "D,https://d.example/\n")
    assert "with 4 sites" in command("sources", "add", command.slug, str(same))


def test_attention_gives_the_sentence_and_what_to_type(command: Command) -> None:
    command.discovered(FAILED)
    (unit,) = command.json("attention", command.slug)
    assert list(unit) == UNIT_FIELDS
    assert (unit["key"], unit["stage"], unit["state"]) == (command.key, "discovery", "failed")
    assert (unit["reason"], unit["detail"]) == ("server_error", FAILED.detail)
    shown = command("attention")
    assert FAILED.detail in shown
    assert f"$ campaign rerun {command.key} --from discovery" in shown
    assert unit in command.json("attention")
    assert "1 need" in command.json("status", command.slug)[0]["sentence"]


def test_units_are_listed_by_stage_and_state(command: Command) -> None:
    command.discovered(FAILED)
    found = command.json("units", command.slug, "--stage", "discovery", "--state", "ready")
    assert [unit["key"].rsplit("/", 1)[1] for unit in found] == ["b.example", "c.example"]
    assert all(list(unit) == UNIT_FIELDS for unit in found)
    assert len(command.json("units", command.slug)) == 24
    assert "b.example" in command("units", command.slug, "--state", "ready")


def test_a_failed_unit_runs_again(command: Command) -> None:
    command.discovered(FAILED)
    command("rerun", command.key, "--from", "discovery")
    assert command.json("attention", command.slug) == []
    assert len(command.json("units", command.slug, "--state", "ready")) == 3
    assert "cannot run at scoring" in command("rerun", command.key, "--from", "scoring", status=1)


def test_a_held_unit_is_decided_and_the_decision_is_kept(command: Command) -> None:
    command.discovered(HELD)
    (unit,) = command.json("attention", command.slug)
    assert "reject" in unit["decisions"]
    command("decide", command.key, "--stage", "discovery", "reject", "--note", "Not for us")
    (row,) = [row for row in command.json("report", command.slug) if row["site"] == "a.example"]
    assert row["outcome"] == "rejected"
    assert "Not for us" in row["detail"]
    assert "discovery" in command("decide", command.key, "--stage", "discovery", "reject", status=1)


def test_nothing_unresolved_is_not_resolved(command: Command) -> None:
    command.discovered(FAILED)
    assert "is not unresolved" in command("resolve", command.key, "--filed", status=1)


def test_show_tells_every_stage_and_every_attempt(command: Command) -> None:
    command.discovered(FAILED)
    found = command.json("show", command.key)
    assert found["key"] == command.key
    shown = command("show", command.key)
    assert FAILED.detail in shown
    for stage in Stage:
        assert f"\n  {stage} " in shown, shown


def test_a_report_is_written_in_each_format(command: Command) -> None:
    command.discovered(FAILED)
    fields = ["key", "site", "outcome", "reason", "detail", "filed_at", "verdict", "listing_url", "rel"]
    rows = json.loads(command("report", command.slug, "--format", "json"))
    assert [list(row) for row in rows] == [fields] * 3
    assert rows == command.json("report", command.slug)
    table = list(csv.DictReader(io.StringIO(command("report", command.slug, "--format", "csv"))))
    assert [row["site"] for row in table] == [row["site"] for row in rows]
    page = command.folder / "out.html"
    command("report", command.slug, "-o", str(page))
    assert FAILED.detail in page.read_text()
    assert "campaign rerun" in page.read_text()
    assert "cannot be written" in command("report", command.slug, "-o", "/nowhere/at/all.html", status=2)


def test_the_database_is_reached_by_its_addresses(command: Command) -> None:
    command("db", "upgrade")
    found = command.json("db", "url")
    assert set(found) == {"owner", "application", "dagster"}
    assert command("db", "url").strip() == found["owner"]
    assert found["application"] != found["owner"]
