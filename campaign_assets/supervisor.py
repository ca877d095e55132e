"""Child processes that are kept alive: what `campaign up` and `campaign demo` stand on.

Owns starting children in order, bringing a dead one back, and leaving nothing behind. Every child, and whatever it
starts in turn, carries `CAMPAIGN_SUPERVISED=<home>` in its environment: so its descendants are found even after this
process was killed, without pid files that could name strangers. Refuses: knowing what the children do (`services`).

Ending is asked of our Python processes only, by SIGINT: a run's worker finishes or gives back what it has in work, and
closes its browser itself. A browser that was signalled directly would take an armed filing down with it.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

import psutil
import structlog

from campaign_assets.errors import ConfigError, UserError
from campaign_assets.processes import end, is_free, lives, send, wait_for

MARK = "CAMPAIGN_SUPERVISED"
WATCH_SECONDS = 0.25
READY_SECONDS = 120
IDLE_SECONDS = 15
"""How long a child may take to end; what it started may have work in hand and gets the supervisor's patience."""
LEFT_BEHIND_SECONDS = 5
FIRST_PAUSE, LONGEST_PAUSE, HEALTHY_SECONDS = 0.5, 10.0, 60
HOPELESS = 3
LOG_BYTES = 20_000_000


@dataclass(frozen=True)
class Child:
    """One process to keep alive. Its output goes to `<home>/logs/<name>.log`."""

    name: str
    command: Sequence[str]
    ready: Callable[[float], bool] = lambda _since: True
    """Whether it serves; given the time (seconds since the epoch) at which it was started."""
    needs: Sequence[str] = ()
    """Children that must be ready before it is started."""
    port: int | None = None
    """A port that must be free, and the sentence's end that tells how to choose another."""
    other_port: str = "choose another port"


@dataclass
class _Kept:
    """A child with what became of it."""

    child: Child
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    pause: float = FIRST_PAUSE
    due_at: float = 0.0
    is_ready: bool = False
    deaths: int = 0


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Be the home's only supervisor: refuse beside a living one, end the children that a killed one left behind.

    What those children had started is asked to end too, and left to finish what it has in hand.
    """
    with _lock(home):
        _ask_to_end(home, LEFT_BEHIND_SECONDS)
        yield


@contextmanager
def _lock(home: Path) -> Iterator[IO[str]]:
    try:
        (home / "logs").mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (home / "supervisor.lock").open("a+")
    except OSError as error:
        raise ConfigError(
            f"CAMPAIGN_HOME {home} cannot be written ({error.strerror}); run as its owner or choose another."
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise ConfigError(
                f"Another `campaign up` or `campaign demo` serves {home} (process {lock.read().strip()}); "
                "end it first, or set CAMPAIGN_HOME to another directory."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield lock


class Supervisor:
    """Keeps children alive from `start` to `stop`; use it inside `alone`, or as a context manager there."""

    def __init__(
        self,
        home: Path,
        children: Sequence[Child],
        log: structlog.typing.FilteringBoundLogger,
        environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
        keep: Callable[[], bool] = lambda: False,
        patience: float = 60,
    ) -> None:
        """`environment` is asked at each start of a child. `keep` is called in every round, for what else must live.

        Where `keep` answers True the environment has changed and all children are started anew.
        """
        self.home = home
        self.patience = patience
        self._log = log
        self._environment = environment
        self._keep = keep
        self._kept = {child.name: _Kept(child) for child in children}
        self._keep_again_at = 0.0
        self._stopping = threading.Event()
        self._watcher = ThreadPoolExecutor(1, "supervisor")
        self._watching: Future[None] | None = None

    def __enter__(self) -> Supervisor:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start all children and return when all are ready. ConfigError, with nothing left running, where one fails."""
        try:
            for kept in self._kept.values():
                self._refuse_taken_port(kept.child)
            for kept in self._kept.values():
                self._await(kept.child.needs)
                self._launch(kept)
            self._await(list(self._kept))
        except BaseException:
            self.stop()
            raise
        self._watching = self._watcher.submit(self._watch)

    def wait(self) -> None:
        """Block until an interrupt (see `interruptible`) is raised here. Raises what ended the watch, if anything."""
        if self._watching:
            self._watching.result()

    def stop(self) -> None:
        """End the children and all they started. A second Ctrl-C meanwhile cuts the waiting short, not the ending."""
        self._stopping.set()
        self._watcher.shutdown(wait=False)
        if self._watching:
            wait([self._watching])
        _end_all(self.home, self.patience)
        for kept in self._kept.values():
            if kept.process:
                kept.process.wait()

    def _watch(self) -> None:
        while not self._stopping.wait(WATCH_SECONDS):
            self._tend()

    def _tend(self) -> None:
        """One round: see who died, start again whose pause is over."""
        if self._keep_the_rest():
            for kept in self._kept.values():
                _end_child(kept)
        for kept in self._kept.values():
            status = kept.process.poll() if kept.process else None
            if status is not None:
                self._bury(kept, status)
            elif kept.process is None and 0 < kept.due_at <= time.monotonic():
                self._launch(kept)

    def _keep_the_rest(self) -> bool:
        if time.monotonic() < self._keep_again_at:
            return False
        try:
            return self._keep()
        except UserError as error:
            self._log.error("keeping failed", sentence=error.sentence)
            self._keep_again_at = time.monotonic() + LONGEST_PAUSE
            return False

    def _launch(self, kept: _Kept) -> None:
        environment = {**self._environment(), MARK: str(self.home.resolve())}
        path = self._log_file(kept.child)
        if path.exists() and path.stat().st_size > LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
        with path.open("ab") as output:
            kept.process = subprocess.Popen(
                kept.child.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                start_new_session=True,
            )
        kept.started_at, kept.is_ready = time.time(), False
        self._log.info("child started", child=kept.child.name, pid=kept.process.pid)

    def _bury(self, kept: _Kept, status: int) -> None:
        """Note a death and when to start again: soon at first, later and later while it keeps dying young."""
        if time.time() - kept.started_at > HEALTHY_SECONDS:
            kept.pause, kept.deaths = FIRST_PAUSE, 0
        self._log.warning("child died", child=kept.child.name, status=status, again_in=kept.pause)
        kept.process, kept.deaths = None, kept.deaths + 1
        kept.due_at = time.monotonic() + kept.pause
        kept.pause = min(kept.pause * 2, LONGEST_PAUSE)

    def _await(self, names: Sequence[str]) -> None:
        """Tend the children until these are ready. ConfigError where one dies again and again, or takes too long."""
        deadline = time.monotonic() + READY_SECONDS
        waiting = [self._kept[name] for name in names]
        while waiting := [kept for kept in waiting if not self._serves(kept)]:
            for kept in waiting:
                if kept.deaths >= HOPELESS or time.monotonic() > deadline:
                    raise self._never_ready(kept)
            time.sleep(WATCH_SECONDS)
            self._tend()

    def _serves(self, kept: _Kept) -> bool:
        alive = kept.process is not None and kept.process.poll() is None
        kept.is_ready = alive and (kept.is_ready or kept.child.ready(kept.started_at))
        return kept.is_ready

    def _never_ready(self, kept: _Kept) -> ConfigError:
        path = self._log_file(kept.child)
        lines = [line.strip() for line in path.read_text(errors="replace").splitlines() if line.strip()]
        what = "ended at once, again and again" if kept.deaths >= HOPELESS else "did not become ready"
        return ConfigError(
            f"The {kept.child.name} {what} ({lines[-1] if lines else 'it said nothing'}); see {path}."
        )

    def _refuse_taken_port(self, child: Child) -> None:
        if child.port and not is_free(child.port):
            raise ConfigError(f"Port {child.port} for the {child.name} is in use; {child.other_port}.")

    def _log_file(self, child: Child) -> Path:
        return self.home / "logs" / f"{child.name.replace(' ', '-')}.log"


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and a closed terminal end the block as Ctrl-C does, by KeyboardInterrupt in the main thread.

    It also undoes an ignored SIGINT, which shells give to what they start in the background and which children inherit.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_child(kept: _Kept) -> None:
    if kept.process:
        kept.process.send_signal(signal.SIGINT)
        try:
            kept.process.wait(IDLE_SECONDS)
        except subprocess.TimeoutExpired:
            kept.process.kill()
            kept.process.wait()


def _ask_to_end(home: Path, seconds: float) -> list[psutil.Process]:
    """Send SIGINT to our marked Python processes, kill the children among them that stay longer; return all asked."""
    asked = [process for process in _marked(home) if _is_python(process)]
    send(asked, signal.SIGINT)
    children = [process for process in asked if _leads_session(process)]
    end(wait_for(children, seconds), (signal.SIGKILL,), 1)
    return asked


def _end_all(home: Path, patience: float) -> None:
    """Ask, wait for what is in hand, then kill all that is still marked; an interrupt cuts the waiting short."""
    try:
        wait_for(_ask_to_end(home, IDLE_SECONDS), patience)
    finally:
        while left := _marked(home):
            end(left, (signal.SIGKILL,), 1)


def _marked(home: Path) -> list[psutil.Process]:
    """The living processes that a supervisor of this home started, and their descendants."""
    mark = str(home.resolve())
    found = psutil.process_iter(["environ"])
    return [
        p for p in found if (p.info["environ"] or {}).get(MARK) == mark and p.pid != os.getpid() and lives(p)
    ]


def _leads_session(process: psutil.Process) -> bool:
    """Whether it is a child itself, which we start in a session of its own, and not what a child has started."""
    try:
        return os.getsid(process.pid) == process.pid
    except ProcessLookupError:
        return False


def _is_python(process: psutil.Process) -> bool:
    try:
        return bool(process.exe() == os.path.realpath(sys.executable))
    except psutil.Error:
        return False
