"""What a human does to a campaign: its intents. Each act records who, when and why in `decisions`.

Restart is a clean boundary, not a merge: it bumps the epoch under the campaign's exclusive lock, so that no claim or
commit straddles it. Single publishers are decided about in `deciding` and re-run in `reruns`, both re-exported here.
`Refused` says in one sentence why something may not be, and then nothing was changed.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, text

from campaign_assets.errors import Refused
from campaign_assets.ledger.binding import Tx, require_tenant
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.ledger.case import who
from campaign_assets.ledger.choices import SETTLES, choices
from campaign_assets.ledger.deciding import decide, resolve
from campaign_assets.ledger.reruns import OperatorAnswer, rerun, rerun_for_operator_run
from campaign_assets.ledger.sql import statement
from campaign_assets.ledger.transitions import MOVES, columns
from campaign_assets.states import Event, State

__all__ = [
    "SETTLES",
    "OperatorAnswer",
    "archive",
    "choices",
    "decide",
    "pause",
    "rerun",
    "rerun_for_operator_run",
    "resolve",
    "restart",
    "start",
]

_LOCKED = text("select id, intent, epoch from campaigns where id = :id for no key update")
_NOTE = text(
    "insert into decisions (campaign_id, who, choice, note) values (:campaign, :who, :choice, :note)"
)
_RELEASE_RUNNING = statement(
    """
with input as materialized (
    select $columns from units u where u.campaign_id = :campaign and u.state = 'running' and u.claim is not null
), $moves, tried as (
    insert into attempts (unit_id, claim, epoch, run_id, event, detail, applied, claimed_at)
    select m.id, i.claim, m.epoch, m.run_id, 'release', 'The campaign was restarted.', true, m.claimed_at
    from moved m join input i on i.unit_id = m.id
) select id from moved
""",
    columns=columns(Event.RELEASE, State.READY, claim="u.claim"),
    moves=MOVES,
)
_TOUCH_DISCOVERY = text("""
with locked as materialized (
    select id from units where campaign_id = :campaign and stage = 'discovery' and not touched order by id for update)
update units u set touched = true from locked l where u.id = l.id
""")


def start(tx: Tx, campaign: Campaign) -> None:
    """Let the campaign run. Refused where it is archived."""
    _intend(tx, campaign, "run", "start")


def pause(tx: Tx, campaign: Campaign) -> None:
    """No new claims, no arming; what is in work ends by itself. Refused where it is archived."""
    _intend(tx, campaign, "pause", "pause")


def _intend(tx: Tx, campaign: Campaign, intent: str, choice: str) -> None:
    _lock(tx, campaign)
    tx.execute(
        text("update campaigns set intent = :intent where id = :id"), {"id": campaign.id, "intent": intent}
    )
    _note(tx, campaign, choice)


def restart(tx: Tx, campaign: Campaign) -> int:
    """Begin a new epoch and return it: all stages run again in order, attempts start at 0.

    Running units are released (they become ready in the new epoch only by promotion); `submitting` is left
    alone, and so are sources' cursors, corrections and filings, which the new epoch adopts.
    """
    _lock(tx, campaign)
    bumped = text("update campaigns set epoch = epoch + 1 where id = :id returning epoch")
    epoch = int(tx.execute(bumped, {"id": campaign.id}).scalar_one())
    tx.execute(_RELEASE_RUNNING, {"campaign": campaign.id})
    tx.execute(_TOUCH_DISCOVERY, {"campaign": campaign.id})
    _note(tx, campaign, "restart")
    return epoch


def archive(tx: Tx, campaign: Campaign) -> None:
    """For good: no new claims; keys go once nothing is in work; filings are kept. Refused while something is
    unresolved.
    """
    _lock(tx, campaign)
    unresolved = tx.execute(
        text("select count(*) from units where campaign_id = :id and state = 'unresolved'"),
        {"id": campaign.id},
    ).scalar_one()
    if unresolved:
        raise Refused(
            f"{campaign.name} has {unresolved} unresolved {'filing' if unresolved == 1 else 'filings'}; "
            "resolve them first (`campaign attention` lists them)."
        )
    tx.execute(text("update campaigns set intent = 'archive' where id = :id"), {"id": campaign.id})
    _note(tx, campaign, "archive")


def _lock(tx: Tx, campaign: Campaign) -> Row[Any]:
    """Wait for every transaction that holds the campaign still, and keep new ones out until this one ends."""
    row = tx.execute(_LOCKED, {"id": campaign.id}).one_or_none()
    if row is None:
        require_tenant(tx)
        raise Refused(f"There is no campaign {campaign.name}.")
    if row.intent == "archive":
        raise Refused(f"{campaign.name} is archived; make a new campaign instead.")
    return row


def _note(tx: Tx, campaign: Campaign, choice: str) -> None:
    tx.execute(_NOTE, {"campaign": campaign.id, "who": who(), "choice": choice, "note": ""})
