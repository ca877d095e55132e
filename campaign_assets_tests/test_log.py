"""The structured log: one line an event, whole, without secrets, at the level the setting says."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from campaign_assets.evidence import EvidenceFolder
from campaign_assets.log import configure
from campaign_assets.model import tenant_id
from campaign_assets.settings import Settings


def lines(home: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for file in (home / "logs").glob("*.jsonl") for line in file.read_text().splitlines()
    ]


def test_a_line_says_what_and_whose(tmp_path: Path) -> None:
    log = configure(Settings(tmp_path)).bind(tenant="acme", campaign="launch", stage="scoring", run="r1")
    log.info("succeed", key="acme/launch/a.example")
    (line,) = lines(tmp_path)
    assert line.pop("time")
    assert line == {
        "event": "succeed",
        "level": "info",
        "tenant": "acme",
        "campaign": "launch",
        "stage": "scoring",
        "run": "r1",
        "key": "acme/launch/a.example",
    }


def test_the_level_is_a_setting(tmp_path: Path) -> None:
    log = configure(Settings(tmp_path, log_level="warning"))
    log.info("quiet")
    log.warning("loud")
    assert [line["event"] for line in lines(tmp_path)] == ["loud"]


def test_secrets_are_blanked_wherever_they_stand(tmp_path: Path) -> None:
    configure(Settings(tmp_path)).info(
        "connecting to postgresql://owner:hunter2@db/x",
        password="hunter2",
        nested={"api_token": "hunter2", "urls": ["http://u:hunter2@h/"]},
    )
    assert "hunter2" not in json.dumps(lines(tmp_path))


def test_an_exception_is_one_line_with_its_traceback(tmp_path: Path) -> None:
    try:
        raise ValueError("no")
    except ValueError as error:
        configure(Settings(tmp_path)).error("body raised", exc_info=error)
    (line,) = lines(tmp_path)
    assert "ValueError: no" in line["exception"]
    assert "Traceback" in line["exception"]


def _write(home: Path) -> None:
    log = configure(Settings(home))
    for number in range(200):
        log.info("x" * 500, number=number)


def test_processes_that_write_at_once_leave_whole_lines(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(_write, [tmp_path] * 4))
    assert len(lines(tmp_path)) == 800


def test_evidence_is_named_by_its_content_and_closed_to_others(tmp_path: Path) -> None:
    folder = EvidenceFolder(tmp_path, tenant_id("acme"), tenant_id("campaign"))
    first, again = (
        folder.keep("before", b"picture", "image/jpeg"),
        folder.keep("after", b"picture", "image/jpeg"),
    )
    assert (first.path, first.sha256, first.size) == (again.path, again.sha256, 7)
    file = tmp_path / first.path
    assert file.read_bytes() == b"picture"
    assert file.suffix == ".jpg"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE(p.stat().st_mode) for p in file.parents if tmp_path in p.parents} == {0o700}
    assert [p.name for p in file.parent.iterdir()] == [file.name], "no half-written file beside it"
