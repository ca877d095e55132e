"""The demo's parts: where it lives, how it follows a campaign, what it prints, the sandbox as a process."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest

from campaign_assets.demo.course import Course
from campaign_assets.demo.place import demo_settings
from campaign_assets.demo.progress import Announcer, PlainProgress, stage_line
from campaign_assets.demo.web import sandbox
from campaign_assets.settings import Resolve, Settings
from campaign_assets.states import Stage, State

LATER = datetime(2030, 1, 1, tzinfo=UTC)


def unit(stage: str, state: str, key: str = "demo/demo/a.example", **more: Any) -> dict[str, Any]:
    return {"key": key, "stage": stage, "state": state, "reason": None, "detail": "", "due_at": None} | more


def publisher(states: dict[str, str], key: str = "demo/demo/a.example") -> list[dict[str, Any]]:
    """A publisher's eight units; stages that are not named were not reached."""
    return [unit(stage, states.get(stage, State.NONE), key) for stage in Stage]


def test_the_demo_never_uses_the_installation_around_it(tmp_path: Path) -> None:
    real = Settings(
        home=tmp_path, database_url="postgresql://real/ledger", contact="me@acme.example", browser_path="/b"
    )
    demo = demo_settings(real, Resolve("127.0.0.1", 1, 2))
    assert demo.home == tmp_path / "demo"
    assert demo.database_url is None
    assert demo.dagster_database_url is None
    assert demo.policy == "sandbox"
    assert str(demo.resolve) == "127.0.0.1:1:2"
    assert demo.browser_path == "/b"


def test_a_campaign_is_over_when_every_publisher_is_settled_or_not_reached() -> None:
    over = publisher({"discovery": "succeeded", "scoring": "rejected"}) + publisher(
        {"discovery": "failed"}, "demo/demo/b.example"
    )
    assert Course(60).still_moving(over, 0) == []


@pytest.mark.parametrize(
    ("states", "moves"),
    [
        ({"discovery": "ready"}, "discovery"),
        ({"discovery": "running"}, "discovery"),
        ({"discovery": "succeeded"}, "scoring"),
        (
            {stage.value: "succeeded" for stage in list(Stage)[:5]} | {"submission": "submitting"},
            "submission",
        ),
    ],
)
def test_ready_in_work_and_about_to_be_promoted_all_count_as_moving(
    states: dict[str, str], moves: str
) -> None:
    assert [unit["stage"] for unit in Course(60).still_moving(publisher(states), 0)] == [moves]


def test_a_wait_for_moderation_is_watched_for_a_while_and_then_left() -> None:
    course = Course(patience=80)
    waiting = [unit("confirmation", "ready", reason="moderation", due_at=LATER)]
    assert course.still_moving(waiting, 100)
    assert course.still_moving(waiting, 170)
    assert course.still_moving(waiting, 181) == []


def test_a_back_off_is_no_wait_for_others() -> None:
    course = Course(patience=1)
    retry = [unit("confirmation", "ready", reason="server_error", due_at=LATER)]
    course.still_moving(retry, 0)
    assert course.still_moving(retry, 1000)


def test_monitoring_that_is_due_again_does_not_keep_the_demo_going_but_its_run_does() -> None:
    course = Course(60)
    assert course.still_moving([unit("monitoring", "ready")], 0), "the first look is the demo's matter"
    assert course.still_moving([unit("monitoring", "succeeded")], 1) == []
    assert course.still_moving([unit("monitoring", "ready")], 2) == []
    assert course.still_moving([unit("monitoring", "running")], 3)


def test_a_stage_line_counts_what_was_reached() -> None:
    counts = {"none": 3, "succeeded": 24, "failed": 1}
    assert stage_line("scoring", counts).plain == "  scoring       24 succeeded · 1 failed"


def test_attention_is_named_once_and_again_only_for_another_reason() -> None:
    announcer = Announcer()
    held = unit("preflight", "held", reason="captcha", detail="A captcha\x1b[2J stands before the form.")
    (line,) = announcer.news([held])
    assert (
        line == "! demo/demo/a.example: preflight held (captcha): A captcha\\x1b[2J stands before the form."
    )
    assert announcer.news([held]) == []
    assert len(announcer.news([held | {"reason": "unsure"}])) == 1


def test_plain_progress_prints_a_stage_again_only_when_it_changed(capsys: pytest.CaptureFixture[str]) -> None:
    plain = PlainProgress(every=0)
    plain.show({"discovery": {"running": 2}})
    plain.show({"discovery": {"running": 2}, "scoring": {"ready": 1}})
    assert capsys.readouterr().out.splitlines() == ["  discovery     2 running", "  scoring       1 ready"]


def test_the_sandbox_runs_as_a_process_and_is_gone_afterwards(tmp_path: Path) -> None:
    with sandbox(tmp_path / "state", tmp_path / "logs" / "sandbox.log") as web:
        assert web.lives
        assert web.posts() == []
        assert web.violations() == []
        children = psutil.Process(os.getpid()).children(recursive=True)
        assert any("campaign_assets.sandbox" in " ".join(child.cmdline()) for child in children)
    assert not web.lives
    assert (tmp_path / "state" / "ready.json").exists()
