"""One publisher as a human's decision sees it: locked, read, and ready to be moved and noted.

Every decision about a publisher opens its case first: campaign, then units by id, then a reading that stays true until
the transaction ends.
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from campaign_assets.errors import InputError
from campaign_assets.ledger.binding import Tx, require_tenant
from campaign_assets.ledger.campaigns import share
from campaign_assets.ledger.chain import CHAIN
from campaign_assets.ledger.schema import KNOWN_SITES, STANDING
from campaign_assets.ledger.sql import statement, storable
from campaign_assets.ledger.transitions import Move, legal, make_moves
from campaign_assets.model import Key
from campaign_assets.states import Event, Stage, State

_UNIT = statement("""
with $chain select u.*, r.value as value, f.id as filing_id, f.armed_at, f.claim as filing_claim
from chain u left join results r on r.unit_id = u.id and r.version = u.version
left join lateral (select id, armed_at, claim from filings where unit_id = u.id order by id desc limit 1) f on true
order by u.position
""", chain=CHAIN)  # fmt: skip
_NOTE = text("""
insert into decisions (campaign_id, unit_id, who, choice, note, corrections, payload_hash)
values (:campaign, :unit, :who, :choice, :note, cast(:corrections as json), :payload_hash)
""")


def who() -> str:
    """The operating system's user: whom a decision is noted for."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"


@dataclass(frozen=True)
class Case:
    """One publisher under its locks: its units by stage, as they stand."""

    tx: Tx
    key: Key
    campaign_id: UUID
    epoch: int
    target: str
    publisher_id: int
    final_site: str
    units: Mapping[Stage, Row[Any]]

    def move(self, stage: Stage, event: Event, target: State, **values: Any) -> bool:
        """Move this publisher's unit; False where the table of transitions does not let it."""
        move = Move(self.units[stage].id, event, target, legal(event, target, stage), **values)
        return bool(make_moves(self.tx, [move]))

    def note(
        self, stage: Stage, choice: str, note: str, corrections: Mapping[str, str] | None, payload: str | None
    ) -> None:
        self.tx.execute(
            _NOTE,
            {
                "campaign": self.campaign_id,
                "unit": self.units[stage].id,
                "who": who(),
                "choice": choice,
                "note": storable(note),
                "corrections": json.dumps(dict(corrections)) if corrections else None,
                "payload_hash": payload,
            },
        )

    def standing(self) -> Row[Any] | None:
        return self.tx.execute(_STANDING, {"unit": self.units[Stage.SUBMISSION].id}).one_or_none()


_STANDING = statement("""
select f.* from units u join campaigns c on c.id = u.campaign_id
join filings f on f.target = c.target and f.site in $known_sites and ($standing)
where u.id = :unit order by f.id desc limit 1
""", known_sites=KNOWN_SITES, standing=STANDING)  # fmt: skip


def open_case(tx: Tx, key: Key) -> Case:
    """Lock the publisher's campaign and units, in that order, and read them. InputError where there is none."""
    publisher = tx.execute(
        text(
            "select p.id, p.campaign_id, p.final_site from publishers p join campaigns c on c.id = p.campaign_id "
            "join tenants t on t.id = p.tenant_id where t.slug = :tenant and c.slug = :campaign and p.site = :site"
        ),
        key._asdict(),
    ).one_or_none()
    campaign = share(tx, publisher.campaign_id) if publisher else None
    if publisher is None or campaign is None:
        require_tenant(tx)
        raise InputError(f"There is no publisher {key}; `campaign units` lists a campaign's.")
    tx.execute(
        text("select id from units where publisher_id = :id order by id for update"), {"id": publisher.id}
    )
    units = {Stage(row.stage): row for row in tx.execute(_UNIT, {"publishers": [publisher.id]})}
    return Case(
        tx, key, campaign.id, campaign.epoch, campaign.target, publisher.id, publisher.final_site, units
    )
