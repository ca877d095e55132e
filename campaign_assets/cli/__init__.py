"""`campaign`, the command (DESIGN's stable names): one module per group of commands, `main` to run them.

Modules here import click and our errors only; everything else is imported inside a command, so that `campaign status`
does not pay for Dagster, nor `campaign --help` for a database.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (default: the process's own) and return its exit status."""
    from campaign_assets.cli.entry import run

    return run(arguments)
