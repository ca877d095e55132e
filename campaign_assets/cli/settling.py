"""How a human settles what waits: for each unit in attention, the commands to type."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from campaign_assets.states import State


def commands(unit: Mapping[str, Any]) -> tuple[str, ...]:
    """The commands that may settle `unit` (a row of the ledger's attention), the most usual first."""
    key, stage = shlex.quote(str(unit["key"])), unit["stage"]
    if unit["state"] == State.UNRESOLVED:
        return (
            f'campaign resolve {key} --filed --note "…"',
            f'campaign resolve {key} --not-filed --note "…"',
        )
    decided = tuple(
        f"campaign decide {key} --stage {stage} {_words(choice)}"
        for choice in unit["decisions"]
        if choice in _CHOICES
    )
    rerun = (f"campaign rerun {key} --from {stage}",) if unit["state"] == State.FAILED or not decided else ()
    return decided + rerun


_CHOICES = ("approve", "reject", "filed", "correct")


def _words(choice: str) -> str:
    return "correct FIELD=VALUE" if choice == "correct" else choice
