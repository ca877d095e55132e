"""Playwright's own process (the driver between us and Chromium), started in a session of its own.

A Ctrl-C or a supervisor's signal goes to our whole process group; a driver in it would die at once and take the browser
away between arming and verdict. It still ends with us: it ends when its pipe closes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import playwright

_VARIABLE = "PLAYWRIGHT_NODEJS_PATH"
_STARTER = """#!{python}
import os, sys
os.setsid()
os.execv({node!r}, [{node!r}, *sys.argv[1:]])
"""


@contextmanager
def own_session(home: Path) -> Iterator[None]:
    """While this is open, Playwright starts its driver through a small starter kept in `home`."""
    before = os.environ.get(_VARIABLE)
    node = Path(before) if before else Path(playwright.__file__).parent / "driver" / "node"
    if not node.is_file():
        yield  # Playwright's own message says what is missing
        return
    os.environ[_VARIABLE] = str(_starter(home, node))
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before


def _starter(home: Path, node: Path) -> Path:
    """The starter's path; written whole or not at all, since several workers may write it at once."""
    path = home / "browser-driver"
    text = _STARTER.format(python=f"{sys.executable} -IS", node=str(node))
    if not path.is_file() or path.read_text() != text:
        home.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"browser-driver.{os.getpid()}")
        draft.write_text(text)
        draft.chmod(0o755)
        draft.replace(path)
    return path
