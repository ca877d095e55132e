"""How a human settles what waits: for each unit in attention, the commands to type."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from campaign_assets.states import State

_ORDER = ("approve", "filed", "correct", "reject", "rerun")
"""The decisions of a unit that is held or failed, what moves it on first."""


def commands(unit: Mapping[str, Any]) -> tuple[str, ...]:
    """The commands that may settle `unit` (a row of the ledger's attention)."""
    key = shlex.quote(str(unit["key"]))
    if unit["state"] == State.UNRESOLVED:
        return (
            f'campaign resolve {key} --filed --note "…"',
            f'campaign resolve {key} --not-filed --note "…"',
        )
    possible = [choice for choice in _ORDER if choice in unit["decisions"]]
    return tuple(_command(choice, key, str(unit["stage"])) for choice in possible)


def _command(choice: str, key: str, stage: str) -> str:
    if choice == "rerun":
        return f"campaign rerun {key} --from {stage}"
    return f"campaign decide {key} --stage {stage} {choice}" + (" FIELD=VALUE" if choice == "correct" else "")
