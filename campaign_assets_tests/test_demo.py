"""The demo's parts: where it lives, how it follows a campaign, what it prints, the sandbox as a process."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
import pytest

from campaign_assets.demo import place
from campaign_assets.demo.course import Course
from campaign_assets.demo.progress import Announcer, PlainProgress, stage_line
from campaign_assets.demo.web import Sandbox, Witness
from campaign_assets.errors import ConfigError, Refused
from campaign_assets.log import configure
from campaign_assets.settings import Resolve, Settings
from campaign_assets.states import Stage, State
from campaign_assets.supervisor import Supervisor, alone

LATER = datetime(2030, 1, 1, tzinfo=UTC)


def unit(stage: str, state: str, key: str = "demo/demo/a.example", **more: Any) -> dict[str, Any]:
    return {"key": key, "stage": stage, "state": state, "reason": None, "detail": "", "due_at": None} | more


def publisher(states: dict[str, str], key: str = "demo/demo/a.example") -> list[dict[str, Any]]:
    """A publisher's eight units; stages that are not named were not reached."""
    return [unit(stage, states.get(stage, State.NONE), key) for stage in Stage]


def test_the_demo_has_a_home_and_a_database_of_its_own(tmp_path: Path) -> None:
    outside = {
        "HOME": str(tmp_path),
        "CAMPAIGN_DATABASE_URL": "postgresql://real/ledger",
        "CAMPAIGN_BROWSER_PATH": "/b",
    }
    demo = place.demo_settings(outside)
    assert demo.home.parts[-2:] == (".campaign_assets", "demo")
    assert demo.database_url is None
    assert demo.dagster_database_url is None
    assert demo.policy == "sandbox"
    assert demo.browser_path == "/b"
    assert place.demo_settings({"CAMPAIGN_HOME": str(tmp_path)}).home == tmp_path


def test_a_home_with_anybody_elses_campaigns_is_refused(tmp_path: Path) -> None:
    place.refuse_strangers(tmp_path, {"demo", "demo-2"})
    with pytest.raises(Refused, match="holds campaigns of acme; unset it"):
        place.refuse_strangers(tmp_path, {"demo", "acme"})


def test_each_demo_has_a_number_a_tenant_and_a_sandbox_of_its_own(tmp_path: Path) -> None:
    assert [place.next_number(tmp_path) for _ in range(3)] == [1, 2, 3]
    assert place.names(1) == ("demo", "launch")
    assert place.names(2) == ("demo-2", "launch-2")


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
    assert course.still_moving([unit("confirmation", "running")], 150), "it is looked at again"
    assert course.still_moving(waiting, 170)
    assert course.still_moving(waiting, 181) == []
    due = [unit("confirmation", "ready", reason="moderation", due_at=datetime(2026, 1, 1, tzinfo=UTC))]
    assert course.still_moving(due, 182), "it is looked at again this moment"


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
    counts = {State.NONE: 3, State.SUCCEEDED: 24, State.FAILED: 1}
    assert stage_line(Stage.SCORING, counts).plain == "  scoring       24 succeeded · 1 failed"


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
    plain.show({Stage.DISCOVERY: {State.RUNNING: 2}})
    plain.show({Stage.DISCOVERY: {State.RUNNING: 2}, Stage.SCORING: {State.READY: 1}})
    assert capsys.readouterr().out.splitlines() == ["  discovery     2 running", "  scoring       1 ready"]


def test_the_sandbox_comes_back_after_a_kill_as_it_was_and_is_gone_afterwards(tmp_path: Path) -> None:
    web = Sandbox()
    with (
        alone(tmp_path),
        Supervisor(tmp_path, [web.child(tmp_path / "state")], configure(Settings(tmp_path))),
    ):
        witness = Witness(web)
        for _ in range(2):
            connection = HTTPConnection(web.address.address, web.address.http_port, timeout=30)
            fields = urlencode({"website": "https://acme.example"})
            form = {"Host": "brightlist.example", "Content-Type": "application/x-www-form-urlencoded"}
            connection.request("POST", "/submit", fields, form)
            connection.getresponse().read()
            connection.close()
        assert witness.filed() == 2
        assert any("was posted 2 times" in sentence for sentence in witness.misdeeds()), witness.misdeeds()
        assert Witness(web).misdeeds() == [], "what was there before is not the demo's doing"
        (process,) = [
            p for p in psutil.Process(os.getpid()).children() if str(tmp_path / "state") in p.cmdline()
        ]
        process.kill()
        deadline = time.monotonic() + 60
        while (
            not (process.pid and not process.is_running() and web.answers()) and time.monotonic() < deadline
        ):
            time.sleep(0.1)
        assert witness.filed() == 2
    assert not web.answers()


def test_no_sandbox_behind_campaign_resolve_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match=r"where no sandbox answers"):
        Sandbox(Resolve("127.0.0.1", 9, 9)).require()
