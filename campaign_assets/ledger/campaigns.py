"""Campaigns, their sources and their publishers: making them, finding them, and reading a source page by page.

Refuses: an operator's intents (start, pause, restart, archive are in `operators`) and everything about units beyond
their first insert.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.exc import IntegrityError

from campaign_assets.errors import InputError
from campaign_assets.ledger.binding import Ledger, Tx, require_tenant
from campaign_assets.ledger.sql import statement, storable
from campaign_assets.model import Business, CampaignSettings, Key, RejectedLine, SourceEntry
from campaign_assets.model import slug as checked_slug
from campaign_assets.states import Stage

ANALYZE_EVERY = 10_000
"""Publishers after which fresh statistics are taken during an import; without them the page commit's join goes
wrong.
"""


@dataclass(frozen=True)
class Campaign:
    """One business's listing effort, as every layer sees it."""

    id: UUID
    tenant_id: UUID
    tenant: str
    slug: str
    business: Business
    settings: CampaignSettings
    epoch: int
    intent: str
    """pause, run or archive."""
    target: str
    """Registrable domain of the business's site."""
    created_at: datetime

    @property
    def name(self) -> str:
        return f"{self.tenant}/{self.slug}"


@dataclass(frozen=True)
class Source:
    """A source that has not been read to its end. `cursor` counts what earlier pages took, in the reader's own unit."""

    id: int
    name: str
    content: bytes
    cursor: int
    done: bool


@dataclass(frozen=True)
class SourceSummary:
    """What became of one source."""

    name: str
    cursor: int
    done: bool
    entries: int
    added: int
    rejected: tuple[RejectedLine, ...]


_COLUMNS = """c.id, c.tenant_id, t.slug as tenant, c.slug, cast(c.business as text) as business,
    cast(c.settings as text) as settings, c.epoch, c.intent, c.target, c.created_at"""
_CAMPAIGNS = statement(
    """select $columns from campaigns c join tenants t on t.id = c.tenant_id
    where (cast(:slug as text) is null or c.slug = :slug) and (c.intent = 'archive') <= :archived order by c.slug""",
    columns=_COLUMNS,
)
_SHARED = statement(
    "select $columns from campaigns c join tenants t on t.id = c.tenant_id where c.id = :id for share of c",
    columns=_COLUMNS,
)
_CREATE = text("""
insert into campaigns (slug, business, settings, target)
values (:slug, cast(:business as json), cast(:settings as json), :target) returning id
""")


def _campaign(row: Row[Any]) -> Campaign:
    values = dict(row._mapping)
    values["business"] = Business.model_validate_json(row.business)
    values["settings"] = CampaignSettings.model_validate_json(row.settings)
    return Campaign(**values)


def create_campaign(
    tx: Tx, tenant: str, slug: str, business: Business, settings: CampaignSettings, target: str
) -> Campaign:
    """Insert a campaign, paused, in epoch 1, and its tenant where that is new. InputError where the slug is taken."""
    require_tenant(tx)
    tx.execute(
        text("insert into tenants (id, slug) select nullif(current_setting('app.tenant_id', true), '')::uuid, :slug "
             "on conflict (id) do nothing"),
        {"slug": checked_slug(tenant, "The tenant")},
    )  # fmt: skip
    try:
        with tx.begin_nested():
            tx.execute(
                _CREATE,
                {
                    "slug": checked_slug(slug, "The campaign"),
                    "business": business.model_dump_json(),
                    "settings": settings.model_dump_json(),
                    "target": target,
                },
            )
    except IntegrityError as error:
        raise InputError(f"{tenant} already has a campaign {slug}; choose another slug.") from error
    return campaigns(tx, slug)[0]


def campaigns(tx: Tx, slug: str | None = None, archived: bool = False) -> list[Campaign]:
    """The bound tenant's campaigns by slug, or the one named; archived ones only where asked for."""
    return [
        _campaign(row)
        for row in tx.execute(_CAMPAIGNS, {"slug": slug, "archived": archived or slug is not None})
    ]


def share(tx: Tx, campaign_id: UUID) -> Campaign | None:
    """Read a campaign and hold its epoch and intent still until this transaction ends.

    The first lock of every transaction that moves units: a restart or a pause waits for it, or goes before it.
    """
    row = tx.execute(_SHARED, {"id": campaign_id}).one_or_none()
    if row is None:
        require_tenant(tx)
        return None
    return _campaign(row)


def share_all(tx: Tx, campaign_ids: Iterable[UUID]) -> dict[UUID, int]:
    """`share` for several campaigns, in the order of their ids: their epochs by id."""
    ids = sorted(set(campaign_ids))
    rows = tx.execute(
        text("select id, epoch from campaigns where id = any(cast(:ids as uuid[])) order by id for share"),
        {"ids": ids},
    )
    return {row.id: row.epoch for row in rows}


def share_every(tx: Tx) -> None:
    """`share` for all campaigns of the tenant that still run or may run again. Raises TenantNotBound."""
    if not tx.execute(text("select id from campaigns where intent <> 'archive' order by id for share")).all():
        require_tenant(tx)


def find_campaign(ledger: Ledger, name: str) -> Campaign:
    """The campaign called SLUG or TENANT/SLUG. InputError where there is none, or several tenants use the slug."""
    tenant, _, slug = name.rpartition("/")
    found: list[Campaign] = []
    for each in ledger.tenants():
        with ledger.bound(each.id) as tx:
            found += [campaign for campaign in campaigns(tx, slug) if tenant in ("", campaign.tenant)]
    if not found:
        raise InputError(
            f"There is no campaign {name}; `campaign status` lists them, `campaign new` makes one."
        )
    if len(found) > 1:
        raise InputError(
            f"Several tenants have a campaign {slug}: say {' or '.join(sorted(campaign.name for campaign in found))}."
        )
    return found[0]


# ------------------------------------------------------------------------------------------------------------- sources


def add_source(tx: Tx, campaign_id: UUID, name: str, content: bytes) -> bool:
    """Keep a source for discovery to read. False where the campaign already has the very same bytes."""
    added = tx.execute(
        text(
            "insert into sources (campaign_id, name, content, sha256) values (:campaign, :name, :content, :sha256) "
            "on conflict (tenant_id, campaign_id, sha256) do nothing"
        ),
        {
            "campaign": campaign_id,
            "name": storable(name),
            "content": content,
            "sha256": hashlib.sha256(content).hexdigest(),
        },
    )
    return added.rowcount == 1


def unread_sources(tx: Tx, campaign_id: UUID) -> list[Source]:
    """The sources that are not read to their end, oldest first."""
    rows = tx.execute(
        text(
            "select id, name, content, cursor, done from sources where campaign_id = :campaign and not done order by id"
        ),
        {"campaign": campaign_id},
    )
    return [Source(**row._mapping) for row in rows]


_IMPORT_PUBLISHERS = statement(
    """
with added as (
    insert into publishers (campaign_id, source_id, site, final_site, url, name, line)
    select :campaign, :source, e.site, e.site, e.url, e.name, e.line
    from (
        select distinct on (site) * from rows from (
            json_to_recordset(cast(:entries as json)) as (site text, url text, line integer, name text)
        ) with ordinality as i(site, url, line, name, nth)
        order by site, nth
    ) e
    order by e.nth
    on conflict (tenant_id, campaign_id, site) do nothing
    returning id
), reached as (
    insert into units (campaign_id, publisher_id, stage, state, epoch, due_at)
    select :campaign, a.id, s.stage, case when s.nth = 1 then 'ready' else 'none' end, :epoch,
        case when s.nth = 1 then now() end
    from added a cross join unnest(array[$stages]) with ordinality as s(stage, nth)
    order by a.id, s.nth
)
select count(*) from added
""",
    stages=", ".join(f"'{stage}'" for stage in Stage),
)
_IMPORT_REJECTED = text("""
insert into rejected_lines (source_id, line, text, reason)
select :source, i.line, i.text, i.reason from json_to_recordset(cast(:rejected as json)) as i(line integer,
    text text, reason text)
""")
_MOVE_CURSOR = text("""
update sources set cursor = :cursor, done = :done, entries = entries + :entries, added = added + :added where
    id = :source
""")


def import_page(
    tx: Tx,
    source_id: int,
    entries: Sequence[SourceEntry],
    rejected: Sequence[RejectedLine],
    cursor: int,
    done: bool,
    started_at: int | None = None,
) -> int:
    """Commit one page of a source: its publishers, their units, its rejected lines, and the cursor moved to `cursor`.

    `started_at` is the cursor the page was read from (`Source.cursor`); where the stored one is another by now, or the
    page would not move it forward, a second reader was faster and nothing is changed. Returns the publishers added; an
    entry the campaign already has is none.
    """
    source = tx.execute(
        text("select campaign_id, cursor, done, added from sources where id = :id"), {"id": source_id}
    ).one_or_none()
    campaign = share(tx, source.campaign_id) if source else None
    if source is None or campaign is None:
        require_tenant(tx)
        raise InputError(f"There is no source {source_id}.")
    source = tx.execute(
        text("select cursor, done, added from sources where id = :id for update"), {"id": source_id}
    ).one()
    stale = source.done or cursor < source.cursor or (cursor == source.cursor and not done)
    if stale or (started_at is not None and started_at != source.cursor):
        return 0
    added = _insert_publishers(tx, campaign, source_id, entries)
    if rejected:
        tx.execute(_IMPORT_REJECTED, {"source": source_id, "rejected": _rows(rejected)})
    tx.execute(
        _MOVE_CURSOR,
        {"source": source_id, "cursor": cursor, "done": done, "entries": len(entries), "added": added},
    )
    before, after = source.added // ANALYZE_EVERY, (source.added + added) // ANALYZE_EVERY
    if done or after > before:
        tx.execute(
            text("analyze units, publishers")
        )  # without the right to, PostgreSQL only warns; autovacuum follows then
    return added


def _insert_publishers(tx: Tx, campaign: Campaign, source_id: int, entries: Sequence[SourceEntry]) -> int:
    if not entries:
        return 0
    parameters = {
        "campaign": campaign.id,
        "source": source_id,
        "epoch": campaign.epoch,
        "entries": _rows(entries),
    }
    return int(tx.execute(_IMPORT_PUBLISHERS, parameters).scalar_one())


def _rows(rows: Iterable[SourceEntry | RejectedLine]) -> str:
    cleaned = [
        {name: storable(value) if isinstance(value, str) else value for name, value in row._asdict().items()}
        for row in rows
    ]
    return json.dumps(cleaned)


def source_summary(tx: Tx, campaign_id: UUID) -> list[SourceSummary]:
    """Each source of a campaign, in the order given: how far it is read, and its rejected lines with their reasons."""
    rows = tx.execute(
        text(
            "select id, name, cursor, done, entries, added from sources where campaign_id = :campaign order by id"
        ),
        {"campaign": campaign_id},
    ).all()
    lines = tx.execute(
        text(
            "select source_id, line, text, reason from rejected_lines where source_id = any(:ids) "
            "order by source_id, line, id"
        ),
        {"ids": [row.id for row in rows]},
    ).all()
    rejected: dict[int, list[RejectedLine]] = {}
    for line in lines:
        rejected.setdefault(line.source_id, []).append(RejectedLine(line.line, line.text, line.reason))
    return [
        SourceSummary(row.name, row.cursor, row.done, row.entries, row.added, tuple(rejected.get(row.id, ())))
        for row in rows
    ]


# ------------------------------------------------------------------------------------------------------ partition keys

_TO_ADD = text("""
select p.id, t.slug as tenant, c.slug as campaign, p.site
from publishers p join campaigns c on c.id = p.campaign_id join tenants t on t.id = p.tenant_id
where p.partition = 'missing' and c.intent <> 'archive' order by p.id limit :limit
""")
_TO_REMOVE = statement("""
select p.id, t.slug as tenant, c.slug as campaign, p.site
from campaigns c join publishers p on p.campaign_id = c.id and p.partition = 'added' join tenants t on t.id =
    p.tenant_id
where c.intent = 'archive' and not exists (
    select from units u where u.campaign_id = c.id and (u.claim is not null or u.state = 'unresolved'))
order by p.id limit :limit
""")


def keys_to_add(tx: Tx, limit: int) -> list[tuple[int, Key]]:
    """Publishers whose partition key Dagster has not been given yet: (publisher id, key), oldest first."""
    return [
        (row.id, Key(row.tenant, row.campaign, row.site)) for row in tx.execute(_TO_ADD, {"limit": limit})
    ]


def mark_keys_added(tx: Tx, publisher_ids: Sequence[int]) -> None:
    """Note that Dagster has the keys."""
    _mark_partitions(tx, publisher_ids, "added")


def keys_to_remove(tx: Tx, limit: int) -> list[tuple[int, Key]]:
    """Keys of archived campaigns in which nothing is in work and nothing unresolved."""
    return [
        (row.id, Key(row.tenant, row.campaign, row.site)) for row in tx.execute(_TO_REMOVE, {"limit": limit})
    ]


def mark_keys_removed(tx: Tx, publisher_ids: Sequence[int]) -> None:
    """Note that Dagster no longer has the keys; the rows stay."""
    _mark_partitions(tx, publisher_ids, "removed")


def _mark_partitions(tx: Tx, publisher_ids: Sequence[int], partition: str) -> None:
    tx.execute(
        text("update publishers set partition = :partition where id = any(cast(:ids as bigint[]))"),
        {"ids": list(publisher_ids), "partition": partition},
    )
