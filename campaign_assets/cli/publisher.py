"""One publisher on the terminal: its eight stages with their tries and evidence, its filings, what humans decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from campaign_assets.cli import settling
from campaign_assets.cli.printing import clean, moment, print_fields
from campaign_assets.states import State

_ABOUT = ("url", "name", "final_site", "aliases", "source", "line", "corrections")
_FILING = (
    "target",
    "site",
    "phase",
    "verdict",
    "late_verdict",
    "reason",
    "detail",
    "receipt_url",
    "payload_hash",
)


def print_publisher(found: Mapping[str, Any]) -> None:
    """Print what `ledger.reading.show` gives."""
    click.echo(clean(found["key"]))
    print_fields(
        {name: _plain(found[name]) for name in _ABOUT if name != "final_site" or found[name] != found["site"]}
    )
    click.echo("\nstages")
    for unit in found["stages"]:
        _print_stage(unit)
    for filing in found["filings"]:
        _print_filing(filing)
    for decision in found["decisions"]:
        words = " ".join(
            filter(None, (decision["stage"], decision["choice"], _plain(decision["corrections"])))
        )
        click.echo(f"\ndecided {moment(decision['decided_at'])} by {clean(decision['who'])}: {clean(words)}")
        print_fields({"note": decision["note"]})


def _print_stage(unit: Mapping[str, Any]) -> None:
    state = "not reached" if unit["state"] == State.NONE else unit["state"]
    earlier = " (of an earlier pass)" if unit["earlier"] else ""
    reason = f" ({unit['reason']})" if unit["reason"] else ""
    click.echo(
        f"  {unit['stage']} {state}{reason}{earlier}"
        + (f": {clean(unit['detail'])}" if unit["detail"] else "")
    )
    if unit["due_at"]:
        click.echo(f"    due {moment(unit['due_at'])}")
    for tried in unit["tries"]:
        superseded = "" if tried["applied"] else ", superseded"
        why = f" ({tried['reason']})" if tried["reason"] else ""
        detail = "" if tried["detail"] == unit["detail"] else f": {clean(tried['detail'])}"
        words = f"{tried['event']}{why}{superseded}{detail}"
        click.echo(
            f"    {moment(tried['ended_at'])}  {words}  [epoch {tried['epoch']}, run {clean(tried['run_id'])}]"
        )
    for kept in unit["evidence"]:
        click.echo(f"    kept {clean(kept['kind'])}: {clean(kept['path'])}")
    for command in settling.commands(unit):
        click.echo(f"    $ {clean(command)}")


def _print_filing(filing: Mapping[str, Any]) -> None:
    click.echo(f"\nfiling {filing['id']}" + (" (decided by a human)" if filing["by_human"] else ""))
    print_fields({name: filing[name] for name in _FILING})
    print_fields(
        {name.removesuffix("_at"): moment(filing[name]) for name in ("claimed_at", "armed_at", "answered_at")}
    )
    if filing["earlier_payload"]:
        click.echo("  filed with an earlier payload than preflight has now")


def _plain(value: Any) -> str:
    """A list or a mapping in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
