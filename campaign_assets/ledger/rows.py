"""Units as readers see them: the one SELECT and the one mapping behind every `UnitRow`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from campaign_assets.model import Key, UnitRow
from campaign_assets.states import Stage, State

UNIT_ROWS = """
select u.id, u.publisher_id, u.campaign_id, t.slug as tenant, c.slug as campaign, p.site, u.stage, u.state, u.reason,
    u.detail, u.attempts, u.waits, u.epoch, u.due_at, u.since, u.revision, u.run_id, u.version, u.consumed, u.earlier,
    u.published_attention
from units u join publishers p on p.id = u.publisher_id join campaigns c on c.id = u.campaign_id
join tenants t on t.id = u.tenant_id
"""


def key_of(row: Row[Any]) -> Key:
    return Key(row.tenant, row.campaign, row.site)


def unit_row(row: Row[Any]) -> UnitRow:
    """One row of `UNIT_ROWS` as the model's type."""
    return UnitRow(
        id=row.id,
        key=key_of(row),
        stage=Stage(row.stage),
        state=State(row.state),
        reason=row.reason,
        detail=row.detail,
        attempts=row.attempts,
        epoch=row.epoch,
        due_at=row.due_at,
        since=row.since,
        revision=row.revision,
        run_id=row.run_id,
    )
