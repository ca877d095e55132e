"""`campaign up` and `campaign demo` as a user meets them: a taken port, Ctrl-C, a whole demo on a few directories."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from campaign_assets import embedded


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    embedded.remove(tmp_path / "home")


def started(home: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command as a process with a home of its own and nothing else set."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("CAMPAIGN_")}
    return subprocess.Popen(
        [sys.executable, "-m", "campaign_assets.cli", *arguments],
        env={**given, "CAMPAIGN_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def left_behind(home: Path) -> list[str]:
    """Command lines of processes that belong to this home."""
    found = psutil.process_iter(["cmdline", "environ"])
    return [
        " ".join(p.info["cmdline"] or [])
        for p in found
        if str(home) in ((p.info["environ"] or {}).get("CAMPAIGN_HOME"), *(p.info["cmdline"] or []))
        and p.status() != psutil.STATUS_ZOMBIE
    ]


def test_up_refuses_a_port_in_use_with_one_sentence(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = started(home, "up", "--port", str(port))
        out, err = process.communicate(timeout=120)
    assert process.returncode == 2, out + err
    sentences = [line for line in err.splitlines() if not line.startswith("CAMPAIGN_CONTACT")]
    assert len(sentences) == 1, err
    assert sentences[0].startswith(f"Port {port} ")
    assert left_behind(home) == []


def test_ctrl_c_ends_up_cleanly_while_it_still_starts(home: Path) -> None:
    process = started(home, "up", "--port", "45997")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Starting in ")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    assert out.strip() == "Stopped."
    assert "Traceback" not in err
    assert left_behind(home) == []


@pytest.mark.timeout(600)
def test_the_demo_lists_a_business_and_leaves_nothing_running(home: Path) -> None:
    process = started(home, "demo", "--publishers", "4", "--no-ui", "--limit", "8")
    out, err = process.communicate(timeout=590)
    assert process.returncode == 0, out + err
    assert re.search(r"^4 publishers in \d+ s: 4 listed\.$", out, re.MULTILINE), out
    assert "The sandbox counted 4 posts of forms." in out
    (report,) = re.findall(r"^Report: (.+)$", out, re.MULTILINE)
    assert "brightlist.example" in Path(report).read_text()
    assert left_behind(home) == []
