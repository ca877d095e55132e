"""The supervisor, on real processes: the dead come back, one supervisor a home, and it leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from campaign_assets import log, supervisor
from campaign_assets.errors import ConfigError
from campaign_assets.processes import free_port, lives
from campaign_assets.settings import Settings
from campaign_assets.supervisor import MARK, Child, Supervisor, alone

PROJECT = Path(supervisor.__file__).parent.parent
SLEEPER = "import time; time.sleep(600)"
WITH_WORKER = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEPER!r}])"
DEAF = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); print('deaf', flush=True); {SLEEPER}"
SUPERVISING = """
import sys
from pathlib import Path
from campaign_assets import log
from campaign_assets.settings import Settings
from campaign_assets.supervisor import Child, Supervisor, alone, interruptible

home = Path(sys.argv[1])
with interruptible(), alone(home):
    with Supervisor(home, [Child("sleeper", (sys.executable, "-c", sys.argv[2]))], log.configure(Settings(home))) as it:
        print("ready", flush=True)
        it.wait()
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for process in marked(tmp_path):
        process.kill()


def child(code: str, name: str = "sleeper", **more: object) -> Child:
    return Child(name, (sys.executable, "-c", code), **more)  # type: ignore[arg-type]


def supervising(home: Path, *children: Child, **more: object) -> Supervisor:
    return Supervisor(home, children, log.configure(Settings(home)), **more)  # type: ignore[arg-type]


def marked(home: Path) -> list[psutil.Process]:
    """The living processes that bear this home's mark."""
    found = psutil.process_iter(["environ"])
    return [p for p in found if (p.info["environ"] or {}).get(MARK) == str(home.resolve()) and lives(p)]


def running(home: Path, code: str) -> list[int]:
    return [p.pid for p in marked(home) if code in command_of(p)]


def command_of(process: psutil.Process) -> list[str]:
    """Its command line; nothing for one that has just ended."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Poll a fact outside this process, for which no event can be had; the bound only ends a hang."""
    deadline = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail(f"waited a minute for {what}")
        time.sleep(0.05)


@pytest.fixture
def another(home: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a supervisor in a process of its own and returns once its children are ready."""
    started = []

    def start(code: str = SLEEPER) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", SUPERVISING, str(home), code],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=PROJECT,
        )  # fmt: skip
        started.append(process)
        assert process.stdout
        said = process.stdout.readline()
        assert said == "ready\n", process.communicate()
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_killed_child_is_back(home: Path) -> None:
    with alone(home), supervising(home, child(SLEEPER)):
        (first,) = running(home, SLEEPER)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: running(home, SLEEPER) not in ([], [first]), "the child to be back")
    assert marked(home) == []


def test_stop_ends_children_and_what_they_started(home: Path) -> None:
    with alone(home), supervising(home, child(WITH_WORKER)):
        wait_until(lambda: bool(running(home, SLEEPER)), "the worker")
        assert len(marked(home)) == 2
    assert marked(home) == []


def test_stop_kills_who_does_not_listen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "IDLE_SECONDS", 0.2)
    deaf = child(DEAF, ready=lambda _since: "deaf" in (home / "logs/sleeper.log").read_text())
    with alone(home), supervising(home, deaf, patience=0.2):
        assert running(home, DEAF)
    assert marked(home) == []


def test_an_orphaned_worker_is_ended_with_the_rest(home: Path) -> None:
    with alone(home), supervising(home, child(WITH_WORKER)):
        wait_until(lambda: bool(running(home, SLEEPER)), "the worker")
        (orphan,) = running(home, SLEEPER)
        os.kill(running(home, WITH_WORKER)[0], signal.SIGKILL)
        wait_until(lambda: len(running(home, SLEEPER)) == 2, "a second worker beside the orphan")
        assert orphan in running(home, SLEEPER)
    assert marked(home) == []


def test_after_kill_9_of_the_supervisor_the_next_one_has_one_set_of_children(
    home: Path, another: Callable[..., subprocess.Popen[str]]
) -> None:
    first = another()
    (child_of_first,) = running(home, SLEEPER)
    first.kill()
    first.wait()
    assert running(home, SLEEPER) == [child_of_first]
    another()
    (child_of_second,) = running(home, SLEEPER)
    assert child_of_second != child_of_first


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_of_it(
    home: Path, another: Callable[..., subprocess.Popen[str]], number: signal.Signals
) -> None:
    process = another()
    process.send_signal(number)
    process.communicate()
    assert marked(home) == []


def test_a_child_hears_ctrl_c_though_the_supervisor_was_started_in_the_background(
    home: Path, another: Callable[..., subprocess.Popen[str]]
) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for `campaign up &`
    try:
        another()
    finally:
        signal.signal(signal.SIGINT, before)
    (pid,) = running(home, SLEEPER)
    os.kill(pid, signal.SIGINT)
    wait_until(lambda: pid not in running(home, SLEEPER), "the child to hear it")


def test_a_second_supervisor_of_a_home_is_refused_in_one_sentence(
    home: Path, another: Callable[..., subprocess.Popen[str]]
) -> None:
    first = another()
    (pid,) = running(home, SLEEPER)
    with pytest.raises(ConfigError, match=rf"process {first.pid}.*CAMPAIGN_HOME"), alone(home):
        pass
    assert running(home, SLEEPER) == [pid]


def test_a_port_in_use_is_one_sentence_that_names_the_fix(home: Path) -> None:
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", free_port()))
        squatter.listen()
        port = squatter.getsockname()[1]
        web = child(SLEEPER, name="web interface", port=port, other_port="give another: --port 3001")
        with (
            pytest.raises(ConfigError, match=rf"Port {port} .* in use; give another: --port 3001"),
            alone(home),
        ):
            supervising(home, web).start()
    assert marked(home) == []


def test_a_child_that_cannot_live_is_named_with_its_last_words(home: Path) -> None:
    broken = child("raise SystemExit('no such definitions')", name="code server", ready=lambda _since: False)
    with (
        pytest.raises(ConfigError, match=r"code server .*no such definitions.*code-server\.log"),
        alone(home),
    ):
        supervising(home, broken, child(SLEEPER)).start()
    assert marked(home) == []


def test_a_child_starts_only_when_what_it_needs_is_ready(home: Path) -> None:
    word = home / "word"
    writer = child(
        f"open({str(word)!r}, 'w').close(); {SLEEPER}", name="writer", ready=lambda _since: word.exists()
    )
    reader = child(f"open({str(word)!r}); {SLEEPER}", name="reader", needs=("writer",))
    with alone(home), supervising(home, writer, reader):
        assert (home / "logs/reader.log").read_text() == ""


def test_all_children_start_anew_where_their_environment_has_changed(home: Path) -> None:
    changes = iter([True])
    with alone(home), supervising(home, child(SLEEPER), keep=lambda: False) as it:
        (first,) = running(home, SLEEPER)
        it._keep = lambda: next(changes, False)
        wait_until(lambda: running(home, SLEEPER) not in ([], [first]), "a fresh child")


def test_what_ends_the_watch_is_raised_where_one_waits(home: Path) -> None:
    def breaks() -> bool:
        raise LookupError("a mistake of ours")

    with alone(home), supervising(home, child(SLEEPER)) as it:
        it._keep = breaks
        with pytest.raises(LookupError, match="a mistake of ours"):
            it.wait()
    assert marked(home) == []
