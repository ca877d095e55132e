"""The ledger's tables, each with the row-level security that guards it, as they are at the newest migration.

Owns names, columns, constraints and indexes; the migrations hold the frozen SQL that made them, and a test compares
the two. Refuses queries: those are the named operations of the sibling modules.

Every table with a tenant is made by `_guarded`: composite keys (no row points across tenants), a policy, FORCE, and a
statement trigger that refuses every write without a bound tenant, also one that would touch no row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import JSON, UUID
from sqlalchemy.schema import CreateIndex, CreateTable, SchemaItem

from campaign_assets.ledger.sql import BOUND_TENANT, quoted
from campaign_assets.states import (
    ATTENTION,
    FREES_THE_TARGET,
    IN_WORK,
    SETTLED,
    TRANSITIONS,
    Stage,
    State,
    Verdict,
)

REVISION = "0001"
"""The migration these tables belong to; a ledger at another one is refused by `Ledger.open`."""

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "fk": "%(table_name)s_%(referred_table_name)s_fkey",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)
_DEFAULT_TENANT = text("nullif(current_setting('app.tenant_id', true), '')::uuid")
_NOW = text("now()")


def states_of(stage: Stage) -> frozenset[State]:
    """Every state a unit of `stage` can be in, by the table of transitions."""
    rows = [row for row in TRANSITIONS if stage in row.stages]
    return frozenset({State.NONE}).union(*({row.target} | row.sources for row in rows))


def _state_by_stage() -> str:
    """The CHECK that no stage is in a state it has no transition to."""
    by_states: dict[frozenset[State], list[Stage]] = {}
    for stage in Stage:
        by_states.setdefault(states_of(stage), []).append(stage)
    return " or ".join(
        f"(stage in ({quoted(stages)}) and state in ({quoted(states)}))"
        for states, stages in by_states.items()
    )


def _guarded(name: str, *parts: SchemaItem, **options: Any) -> Table:
    """A table whose rows belong to a tenant, the bound one by default."""
    tenant = Column("tenant_id", UUID, nullable=False, server_default=_DEFAULT_TENANT)
    return Table(name, metadata, tenant, *parts, info={"tenant_column": "tenant_id"}, **options)


def _serial() -> Column[Any]:
    return Column("id", BigInteger, Identity(always=True), nullable=False)


def _reference(table: str, column: str) -> tuple[Column[Any], ForeignKeyConstraint]:
    """A column that points to a row of the same tenant."""
    kind = UUID if table == "campaigns" else BigInteger
    return (
        Column(column, kind, nullable=False),
        ForeignKeyConstraint(["tenant_id", column], [f"{table}.tenant_id", f"{table}.id"]),
    )


def _moment(name: str, *, optional: bool = False) -> Column[Any]:
    default = None if optional else _NOW
    return Column(name, DateTime(timezone=True), nullable=optional, server_default=default)


def _flag(name: str) -> Column[Any]:
    return Column(name, Boolean, nullable=False, server_default=text("false"))


def _number(name: str, kind: type[Integer] = Integer) -> Column[Any]:
    return Column(name, kind, nullable=False, server_default=text("0"))


def _words(name: str) -> Column[Any]:
    return Column(name, Text, nullable=False, server_default=text("''"))


def _stage() -> tuple[Column[Any], CheckConstraint]:
    return Column("stage", Text, nullable=False), CheckConstraint(f"stage in ({quoted(Stage)})", "stage")


tenants = Table(
    "tenants",
    metadata,
    Column("id", UUID, primary_key=True),
    Column("slug", Text, nullable=False, unique=True),
    _moment("created_at"),
    info={"tenant_column": "id"},
)

campaigns = _guarded(
    "campaigns",
    Column("id", UUID, nullable=False, server_default=text("gen_random_uuid()")),
    Column("slug", Text, nullable=False),
    Column("business", JSON, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("epoch", Integer, nullable=False, server_default=text("1")),
    Column("intent", Text, nullable=False, server_default=text("'pause'")),
    Column("target", Text, nullable=False),
    _moment("created_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    UniqueConstraint("tenant_id", "slug"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    CheckConstraint("intent in ('pause', 'run', 'archive')", "intent"),
)

sources = _guarded(
    "sources",
    _serial(),
    *_reference("campaigns", "campaign_id"),
    Column("name", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("sha256", Text, nullable=False),
    _number("cursor"),
    _flag("done"),
    _number("entries"),
    _number("added"),
    _moment("added_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    UniqueConstraint("tenant_id", "campaign_id", "sha256"),
)

rejected_lines = _guarded(
    "rejected_lines",
    _serial(),
    *_reference("sources", "source_id"),
    Column("line", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("reason", Text, nullable=False),
    PrimaryKeyConstraint("tenant_id", "id"),
)
Index("rejected_lines_source", rejected_lines.c.source_id, rejected_lines.c.line)

publishers = _guarded(
    "publishers",
    _serial(),
    *_reference("campaigns", "campaign_id"),
    *_reference("sources", "source_id"),
    Column("site", Text, nullable=False),
    Column("final_site", Text, nullable=False),
    Column("url", Text, nullable=False),
    _words("name"),
    _number("line"),
    Column("corrections", JSON, nullable=False, server_default=text("'{}'")),
    Column("partition", Text, nullable=False, server_default=text("'missing'")),
    _moment("created_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    UniqueConstraint("tenant_id", "campaign_id", "site"),
    CheckConstraint("partition in ('missing', 'added', 'removed')", "partition"),
)
Index("publishers_site", publishers.c.tenant_id, publishers.c.final_site)
Index(
    "publishers_partition_missing",
    publishers.c.tenant_id,
    publishers.c.id,
    postgresql_where=text("partition = 'missing'"),
)
Index(
    "publishers_partition_added",
    publishers.c.campaign_id,
    publishers.c.id,
    postgresql_where=text("partition = 'added'"),
)

aliases = _guarded(
    "aliases",
    *_reference("campaigns", "campaign_id"),
    *_reference("publishers", "publisher_id"),
    Column("site", Text, nullable=False),
    _moment("noted_at"),
    PrimaryKeyConstraint("tenant_id", "campaign_id", "site"),
)
Index("aliases_publisher", aliases.c.publisher_id)

units = _guarded(
    "units",
    _serial(),
    *_reference("campaigns", "campaign_id"),
    *_reference("publishers", "publisher_id"),
    *_stage(),
    Column("state", Text, nullable=False, server_default=text("'none'")),
    Column("reason", Text),
    _words("detail"),
    Column("epoch", Integer, nullable=False),
    _number("version"),
    _number("consumed"),
    _number("attempts"),
    _number("waits"),
    _moment("due_at", optional=True),
    Column("claim", UUID),
    _moment("claimed_at", optional=True),
    Column("run_id", Text),
    _flag("alone"),
    _flag("earlier"),
    _flag("touched"),
    _moment("since"),
    _number("revision"),
    _number("published_revision"),
    _flag("published_attention"),
    PrimaryKeyConstraint("tenant_id", "id"),
    UniqueConstraint("tenant_id", "publisher_id", "stage"),
    CheckConstraint(f"state in ({quoted(State)})", "state"),
    CheckConstraint(_state_by_stage(), "state_of_stage"),
    CheckConstraint(f"(claim is not null) = (state in ({quoted(IN_WORK)}))", "claim"),
    CheckConstraint("state <> 'ready' or due_at is not null", "ready_is_due"),
    CheckConstraint(
        "due_at is null or state = 'ready' or (state = 'succeeded' and stage = 'monitoring')",
        "due_only_where_waited_for",
    ),
    CheckConstraint(f"reason is not null or state not in ({quoted(ATTENTION | {State.REJECTED})})", "reason"),
    CheckConstraint(
        f"not earlier or state in ({quoted(SETTLED - {State.UNRESOLVED})})", "earlier_only_settled"
    ),
    # Whole campaigns change hands within minutes: fresh statistics matter more than the cost of taking them.
    postgresql_with={"autovacuum_analyze_scale_factor": "0.02", "autovacuum_vacuum_scale_factor": "0.05"},
)
# For claims and the backlog; `id` makes the order total.
Index(
    "units_ready",
    units.c.campaign_id,
    units.c.stage,
    units.c.due_at,
    units.c.id,
    postgresql_where=text("state = 'ready'"),
)
Index(
    "units_ready_alone",
    units.c.campaign_id,
    units.c.stage,
    units.c.due_at,
    postgresql_where=text("state = 'ready' and alone"),
)
# For the count of due units by tenant, which may read these two columns only.
Index("units_due", units.c.tenant_id, units.c.due_at, postgresql_where=text("due_at is not null"))
Index(
    "units_due_again",
    units.c.tenant_id,
    units.c.due_at,
    postgresql_where=text("state = 'succeeded' and due_at is not null"),
)
Index("units_in_work", units.c.tenant_id, units.c.claimed_at, postgresql_where=text("claim is not null"))
Index("units_in_work_of_run", units.c.run_id, postgresql_where=text("claim is not null"))
# What is in work is looked at when it ends.
Index("units_touched", units.c.tenant_id, units.c.id, postgresql_where=text("touched and claim is null"))
Index(
    "units_unpublished",
    units.c.tenant_id,
    units.c.campaign_id,
    units.c.stage,
    units.c.id,
    postgresql_where=text(
        f"revision <> published_revision and (state in ({quoted(SETTLED)}) or published_attention)"
    ),
)
Index(
    "units_attention",
    units.c.campaign_id,
    units.c.id,
    postgresql_where=text(f"state in ({quoted(ATTENTION)})"),
)
# Makes the counts of a status index-only.
Index(
    "units_counted",
    units.c.tenant_id,
    units.c.campaign_id,
    units.c.epoch,
    units.c.stage,
    units.c.state,
    units.c.earlier,
)

results = _guarded(
    "results",
    *_reference("units", "unit_id"),
    Column("version", Integer, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("run_id", Text),
    _flag("held"),
    # json, not jsonb: the text comes back as it was, and may hold an escaped NUL that a site sent.
    Column("value", JSON, nullable=False),
    _moment("created_at"),
    PrimaryKeyConstraint("tenant_id", "unit_id", "version"),
)

attempts = _guarded(
    "attempts",
    _serial(),
    *_reference("units", "unit_id"),
    Column("claim", UUID, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("run_id", Text),
    Column("page_no", Integer),
    Column("event", Text, nullable=False),
    Column("reason", Text),
    _words("detail"),
    _flag("charged"),
    Column("applied", Boolean, nullable=False),
    _moment("claimed_at", optional=True),
    _moment("ended_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
)
Index("attempts_unit", attempts.c.unit_id, attempts.c.id)

evidence = _guarded(
    "evidence",
    _serial(),
    *_reference("units", "unit_id"),
    Column("claim", UUID, nullable=False),
    Column("kind", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    _number("size", BigInteger),
    _moment("created_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
)
Index("evidence_unit", evidence.c.unit_id, evidence.c.id)

filings = _guarded(
    "filings",
    _serial(),
    *_reference("units", "unit_id"),
    Column("target", Text, nullable=False),
    Column("site", Text, nullable=False),
    Column("claim", UUID, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("run_id", Text),
    Column("phase", Text, nullable=False),
    Column("verdict", Text),
    Column("late_verdict", Text),
    Column("reason", Text),
    _words("detail"),
    _flag("by_human"),
    Column("preflight_version", Integer, nullable=False),
    Column("payload_hash", Text),
    Column("payload", JSON),
    Column("result", JSON),
    Column("receipt_url", Text),
    _moment("claimed_at"),
    _moment("armed_at", optional=True),
    _moment("answered_at", optional=True),
    _moment("corrected_at", optional=True),
    PrimaryKeyConstraint("tenant_id", "id"),
    UniqueConstraint("tenant_id", "claim"),
    CheckConstraint("phase in ('claimed', 'armed', 'answered')", "phase"),
    CheckConstraint("(phase = 'answered') = (verdict is not null)", "answered"),
    CheckConstraint("(verdict is not null) = (answered_at is not null)", "answered_at"),
    CheckConstraint("phase <> 'armed' or armed_at is not null", "armed_at"),
    CheckConstraint(f"verdict in ({quoted(Verdict)})", "verdict"),
    CheckConstraint(f"late_verdict in ({quoted(Verdict)})", "late_verdict"),
)
STANDING = f"verdict is null or verdict not in ({quoted(FREES_THE_TARGET)})"
"""A filing that stands in the way of another one for the same target and site."""
KNOWN_SITES = """
(select p.site from publishers p where p.id = u.publisher_id
 union select p.final_site from publishers p where p.id = u.publisher_id
 union select a.site from aliases a where a.publisher_id = u.publisher_id)"""
"""Every site the publisher of unit `u` is known as; the guard goes by all of them."""
# Rule R5: whatever else goes wrong, this index lets at most one filing stand.
Index(
    "filings_one_stands",
    filings.c.tenant_id,
    filings.c.target,
    filings.c.site,
    unique=True,
    postgresql_where=text(STANDING),
)
Index("filings_target", filings.c.tenant_id, filings.c.target, filings.c.site, filings.c.id)
Index("filings_unit", filings.c.unit_id, filings.c.id)

runs = _guarded(
    "runs",
    Column("run_id", Text, nullable=False),
    *_reference("campaigns", "campaign_id"),
    *_stage(),
    _flag("operator"),
    _moment("started_at"),
    _moment("beat_at"),
    _moment("ended_at", optional=True),
    Column("how", Text),
    PrimaryKeyConstraint("tenant_id", "run_id", "campaign_id", "stage"),
    CheckConstraint("(how is not null) = (ended_at is not null)", "ended"),
    CheckConstraint("how in ('done', 'stopped', 'failed', 'reaped')", "how"),
)
Index("runs_open", runs.c.tenant_id, runs.c.campaign_id, postgresql_where=text("ended_at is null"))
Index(
    "runs_ended",
    runs.c.campaign_id,
    runs.c.stage,
    runs.c.ended_at,
    postgresql_where=text("ended_at is not null"),
)

page_commits = _guarded(
    "page_commits",
    _serial(),
    Column("run_id", Text, nullable=False),
    *_reference("campaigns", "campaign_id"),
    *_stage(),
    Column("page_no", Integer, nullable=False),
    _number("units"),
    _number("applied"),
    _number("memory", BigInteger),
    _number("memory_growth", BigInteger),
    _moment("committed_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
)
Index("page_commits_run", page_commits.c.run_id, page_commits.c.id)
Index("page_commits_campaign", page_commits.c.campaign_id, page_commits.c.committed_at)

decisions = _guarded(
    "decisions",
    _serial(),
    *_reference("campaigns", "campaign_id"),
    Column("unit_id", BigInteger),
    Column("who", Text, nullable=False),
    Column("choice", Text, nullable=False),
    _words("note"),
    Column("corrections", JSON),
    Column("payload_hash", Text),
    _moment("decided_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    ForeignKeyConstraint(["tenant_id", "unit_id"], ["units.tenant_id", "units.id"]),
)
Index("decisions_unit", decisions.c.unit_id, decisions.c.id)
Index("decisions_campaign", decisions.c.campaign_id, decisions.c.id)

markers = _guarded(
    "markers",
    *_reference("campaigns", "campaign_id"),
    *_stage(),
    Column("run_id", Text, nullable=False),
    PrimaryKeyConstraint("tenant_id", "campaign_id", "stage"),
)

ticks = _guarded(
    "ticks",
    Column("sensor", Text, nullable=False),
    _moment("at"),
    PrimaryKeyConstraint("tenant_id", "sensor"),
)

# No tenant: a publisher's web server does not care for whom we ask.
hosts = Table("hosts", metadata, Column("host", Text, primary_key=True), _moment("next_at"))

GUARDED = {
    table.name: table.info["tenant_column"]
    for table in metadata.sorted_tables
    if "tenant_column" in table.info
}
"""Every table that has a tenant, with the column that holds it."""

REQUIRE_TENANT = """
create function require_tenant() returns trigger language plpgsql as $$
begin
    if nullif(current_setting('app.tenant_id', true), '') is null then
        raise exception 'no tenant is bound: % on %', tg_op, tg_table_name using errcode = '42501';
    end if;
    return null;
end $$"""


def _guard(table: str, column: str) -> Iterator[str]:
    """The policy, its force and the trigger of one table."""
    yield f"alter table {table} enable row level security"
    yield f"alter table {table} force row level security"
    yield f"create policy tenant on {table} using ({column} = {BOUND_TENANT}) with check ({column} = {BOUND_TENANT})"
    yield (
        f"create trigger require_tenant before insert or update or delete on {table} "
        "for each statement execute function require_tenant()"
    )


def ddl() -> Iterator[str]:
    """The statements that make every table, index and guard, in order: what the first migration was written from."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    yield REQUIRE_TENANT.strip()
    for table in metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect)).strip()
        yield from (
            str(CreateIndex(index).compile(dialect=dialect))
            for index in sorted(table.indexes, key=lambda i: str(i.name))
        )
        if table.name in GUARDED:
            yield from _guard(table.name, GUARDED[table.name])
