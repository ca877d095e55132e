"""The structured log: JSON lines under CAMPAIGN_HOME/logs, one file a day, one line an event.

A line carries at least `event`, `level`, `time` and, where they apply, tenant, campaign, key, stage and run.
Several processes append to the same file: each line is one write. Refuses secrets: values under a secret's
name and the user part of URLs are blanked before anything is written.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

import structlog

from campaign_assets.settings import Settings

_SECRET_NAMES = re.compile(r"password|secret|token|cookie|authorization|credential", re.I)
_URL_USER = re.compile(r"(?<=://)[^/\s@]+@")
_HIDDEN = "•••"
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class DailyFile:
    """Appends lines to `<directory>/campaign-YYYY-MM-DD.jsonl`; readable by its owner only."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def msg(self, line: str) -> None:
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self.directory / time.strftime("campaign-%Y-%m-%d.jsonl", time.gmtime())
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode() + b"\n")
        finally:
            os.close(descriptor)

    debug = info = warning = error = exception = critical = log = msg


def without_secrets(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Blank what must never be written: a structlog processor, also applied to nested mappings."""
    for name, value in event.items():
        event[name] = _HIDDEN if _SECRET_NAMES.search(name) else _harmless(value)
    return event


def _harmless(value: Any) -> Any:
    if isinstance(value, str):
        return _URL_USER.sub(f"{_HIDDEN}@", value)
    if isinstance(value, Mapping):
        return {k: _HIDDEN if _SECRET_NAMES.search(str(k)) else _harmless(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_harmless(v) for v in value]
    return value


def configure(settings: Settings) -> structlog.typing.FilteringBoundLogger:
    """A logger for this installation; it binds nothing yet. Cheap: build one where it is needed, `bind` the
    rest.
    """
    logger: structlog.typing.FilteringBoundLogger = structlog.wrap_logger(
        DailyFile(settings.home / "logs"),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            structlog.processors.format_exc_info,
            without_secrets,
            structlog.processors.JSONRenderer(default=str, ensure_ascii=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[settings.log_level]),
        cache_logger_on_first_use=True,
    )
    return logger
