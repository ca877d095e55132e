"""The first ledger: every table, index, policy and trigger."""

# ruff: noqa: E501 - the SQL stands as it was generated

from alembic import op

revision = "0001"
down_revision = None

STATEMENTS = (
    """
create function require_tenant() returns trigger language plpgsql as $$
begin
    if nullif(current_setting('app.tenant_id', true), '') is null then
        raise exception 'no tenant is bound: % on %', tg_op, tg_table_name using errcode = '42501';
    end if;
    return null;
end $$
    """,
    """
CREATE TABLE hosts (
    host TEXT NOT NULL,
    next_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT hosts_pkey PRIMARY KEY (host)
)
    """,
    """
CREATE TABLE tenants (
    id UUID NOT NULL,
    slug TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT tenants_pkey PRIMARY KEY (id),
    CONSTRAINT tenants_slug_key UNIQUE (slug)
)
    """,
    """
alter table tenants enable row level security
    """,
    """
alter table tenants force row level security
    """,
    """
create policy tenant on tenants using (id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on tenants for each statement execute function require_tenant()
    """,
    """
CREATE TABLE ticks (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    sensor TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT ticks_pkey PRIMARY KEY (tenant_id, sensor)
)
    """,
    """
alter table ticks enable row level security
    """,
    """
alter table ticks force row level security
    """,
    """
create policy tenant on ticks using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on ticks for each statement execute function require_tenant()
    """,
    """
CREATE TABLE campaigns (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    slug TEXT NOT NULL,
    business JSON NOT NULL,
    settings JSON NOT NULL,
    epoch INTEGER DEFAULT 1 NOT NULL,
    intent TEXT DEFAULT 'pause' NOT NULL,
    target TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT campaigns_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT campaigns_tenant_id_slug_key UNIQUE (tenant_id, slug),
    CONSTRAINT campaigns_tenants_fkey FOREIGN KEY(tenant_id) REFERENCES tenants (id),
    CONSTRAINT campaigns_intent_check CHECK (intent in ('pause', 'run', 'archive'))
)
    """,
    """
alter table campaigns enable row level security
    """,
    """
alter table campaigns force row level security
    """,
    """
create policy tenant on campaigns using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on campaigns for each statement execute function require_tenant()
    """,
    """
CREATE TABLE markers (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    campaign_id UUID NOT NULL,
    stage TEXT NOT NULL,
    run_id TEXT NOT NULL,
    CONSTRAINT markers_pkey PRIMARY KEY (tenant_id, campaign_id, stage),
    CONSTRAINT markers_campaigns_fkey FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id),
    CONSTRAINT markers_stage_check CHECK (stage in ('confirmation', 'content', 'discovery', 'form_mapping', 'monitoring', 'preflight', 'scoring', 'submission'))
)
    """,
    """
alter table markers enable row level security
    """,
    """
alter table markers force row level security
    """,
    """
create policy tenant on markers using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on markers for each statement execute function require_tenant()
    """,
    """
CREATE TABLE page_commits (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    run_id TEXT NOT NULL,
    campaign_id UUID NOT NULL,
    stage TEXT NOT NULL,
    page_no INTEGER NOT NULL,
    units INTEGER DEFAULT 0 NOT NULL,
    applied INTEGER DEFAULT 0 NOT NULL,
    memory BIGINT DEFAULT 0 NOT NULL,
    memory_growth BIGINT DEFAULT 0 NOT NULL,
    committed_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT page_commits_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT page_commits_campaigns_fkey FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id),
    CONSTRAINT page_commits_stage_check CHECK (stage in ('confirmation', 'content', 'discovery', 'form_mapping', 'monitoring', 'preflight', 'scoring', 'submission'))
)
    """,
    """
CREATE INDEX page_commits_campaign ON page_commits (campaign_id, committed_at)
    """,
    """
CREATE INDEX page_commits_run ON page_commits (run_id, id)
    """,
    """
alter table page_commits enable row level security
    """,
    """
alter table page_commits force row level security
    """,
    """
create policy tenant on page_commits using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on page_commits for each statement execute function require_tenant()
    """,
    """
CREATE TABLE runs (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    run_id TEXT NOT NULL,
    campaign_id UUID NOT NULL,
    stage TEXT NOT NULL,
    operator BOOLEAN DEFAULT false NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    beat_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    how TEXT,
    CONSTRAINT runs_pkey PRIMARY KEY (tenant_id, run_id, campaign_id, stage),
    CONSTRAINT runs_campaigns_fkey FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id),
    CONSTRAINT runs_stage_check CHECK (stage in ('confirmation', 'content', 'discovery', 'form_mapping', 'monitoring', 'preflight', 'scoring', 'submission')),
    CONSTRAINT runs_ended_check CHECK ((how is not null) = (ended_at is not null)),
    CONSTRAINT runs_how_check CHECK (how in ('done', 'stopped', 'failed', 'reaped'))
)
    """,
    """
CREATE INDEX runs_ended ON runs (campaign_id, stage, ended_at) WHERE ended_at is not null
    """,
    """
CREATE INDEX runs_open ON runs (tenant_id, campaign_id) WHERE ended_at is null
    """,
    """
alter table runs enable row level security
    """,
    """
alter table runs force row level security
    """,
    """
create policy tenant on runs using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on runs for each statement execute function require_tenant()
    """,
    """
CREATE TABLE sources (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    campaign_id UUID NOT NULL,
    name TEXT NOT NULL,
    content BYTEA NOT NULL,
    sha256 TEXT NOT NULL,
    cursor INTEGER DEFAULT 0 NOT NULL,
    done BOOLEAN DEFAULT false NOT NULL,
    entries INTEGER DEFAULT 0 NOT NULL,
    added INTEGER DEFAULT 0 NOT NULL,
    added_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT sources_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT sources_campaigns_fkey FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id),
    CONSTRAINT sources_tenant_id_campaign_id_sha256_key UNIQUE (tenant_id, campaign_id, sha256)
)
    """,
    """
alter table sources enable row level security
    """,
    """
alter table sources force row level security
    """,
    """
create policy tenant on sources using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on sources for each statement execute function require_tenant()
    """,
    """
CREATE TABLE publishers (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    campaign_id UUID NOT NULL,
    source_id BIGINT NOT NULL,
    site TEXT NOT NULL,
    final_site TEXT NOT NULL,
    url TEXT NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    line INTEGER DEFAULT 0 NOT NULL,
    corrections JSON DEFAULT '{}' NOT NULL,
    partition TEXT DEFAULT 'missing' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT publishers_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT publishers_campaigns_fkey FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id),
    CONSTRAINT publishers_sources_fkey FOREIGN KEY(tenant_id, source_id) REFERENCES sources (tenant_id, id),
    CONSTRAINT publishers_tenant_id_campaign_id_site_key UNIQUE (tenant_id, campaign_id, site),
    CONSTRAINT publishers_partition_check CHECK (partition in ('missing', 'added', 'removed'))
)
    """,
    """
CREATE INDEX publishers_partition_added ON publishers (campaign_id, id) WHERE partition = 'added'
    """,
    """
CREATE INDEX publishers_partition_missing ON publishers (tenant_id, id) WHERE partition = 'missing'
    """,
    """
CREATE INDEX publishers_site ON publishers (tenant_id, final_site)
    """,
    """
alter table publishers enable row level security
    """,
    """
alter table publishers force row level security
    """,
    """
create policy tenant on publishers using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on publishers for each statement execute function require_tenant()
    """,
    """
CREATE TABLE rejected_lines (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    source_id BIGINT NOT NULL,
    line INTEGER NOT NULL,
    text TEXT NOT NULL,
    reason TEXT NOT NULL,
    CONSTRAINT rejected_lines_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT rejected_lines_sources_fkey FOREIGN KEY(tenant_id, source_id) REFERENCES sources (tenant_id, id)
)
    """,
    """
CREATE INDEX rejected_lines_source ON rejected_lines (source_id, line)
    """,
    """
alter table rejected_lines enable row level security
    """,
    """
alter table rejected_lines force row level security
    """,
    """
create policy tenant on rejected_lines using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on rejected_lines for each statement execute function require_tenant()
    """,
    """
CREATE TABLE aliases (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    campaign_id UUID NOT NULL,
    publisher_id BIGINT NOT NULL,
    site TEXT NOT NULL,
    noted_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT aliases_pkey PRIMARY KEY (tenant_id, campaign_id, site),
    CONSTRAINT aliases_campaigns_fkey FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id),
    CONSTRAINT aliases_publishers_fkey FOREIGN KEY(tenant_id, publisher_id) REFERENCES publishers (tenant_id, id)
)
    """,
    """
CREATE INDEX aliases_publisher ON aliases (publisher_id)
    """,
    """
alter table aliases enable row level security
    """,
    """
alter table aliases force row level security
    """,
    """
create policy tenant on aliases using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on aliases for each statement execute function require_tenant()
    """,
    """
CREATE TABLE units (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    campaign_id UUID NOT NULL,
    publisher_id BIGINT NOT NULL,
    stage TEXT NOT NULL,
    state TEXT DEFAULT 'none' NOT NULL,
    reason TEXT,
    detail TEXT DEFAULT '' NOT NULL,
    epoch INTEGER NOT NULL,
    version INTEGER DEFAULT 0 NOT NULL,
    consumed INTEGER DEFAULT 0 NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    waits INTEGER DEFAULT 0 NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE,
    claim UUID,
    claimed_at TIMESTAMP WITH TIME ZONE,
    run_id TEXT,
    alone BOOLEAN DEFAULT false NOT NULL,
    earlier BOOLEAN DEFAULT false NOT NULL,
    touched BOOLEAN DEFAULT false NOT NULL,
    since TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    revision INTEGER DEFAULT 0 NOT NULL,
    published_revision INTEGER DEFAULT 0 NOT NULL,
    published_attention BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT units_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT units_campaigns_fkey FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id),
    CONSTRAINT units_publishers_fkey FOREIGN KEY(tenant_id, publisher_id) REFERENCES publishers (tenant_id, id),
    CONSTRAINT units_stage_check CHECK (stage in ('confirmation', 'content', 'discovery', 'form_mapping', 'monitoring', 'preflight', 'scoring', 'submission')),
    CONSTRAINT units_tenant_id_publisher_id_stage_key UNIQUE (tenant_id, publisher_id, stage),
    CONSTRAINT units_state_check CHECK (state in ('failed', 'held', 'none', 'ready', 'rejected', 'running', 'submitting', 'succeeded', 'unresolved')),
    CONSTRAINT units_state_of_stage_check CHECK ((stage in ('confirmation', 'content', 'discovery', 'form_mapping', 'monitoring', 'preflight', 'scoring') and state in ('failed', 'held', 'none', 'ready', 'rejected', 'running', 'succeeded')) or (stage in ('submission') and state in ('failed', 'held', 'none', 'ready', 'rejected', 'submitting', 'succeeded', 'unresolved'))),
    CONSTRAINT units_claim_check CHECK ((claim is not null) = (state in ('running', 'submitting'))),
    CONSTRAINT units_ready_is_due_check CHECK (state <> 'ready' or due_at is not null),
    CONSTRAINT units_due_only_where_waited_for_check CHECK (due_at is null or state = 'ready' or (state = 'succeeded' and stage = 'monitoring')),
    CONSTRAINT units_reason_check CHECK (reason is not null or state not in ('failed', 'held', 'rejected', 'unresolved')),
    CONSTRAINT units_earlier_only_settled_check CHECK (not earlier or state in ('failed', 'held', 'rejected', 'succeeded'))
)
 WITH (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05)
    """,
    """
CREATE INDEX units_attention ON units (campaign_id, id) WHERE state in ('failed', 'held', 'unresolved')
    """,
    """
CREATE INDEX units_counted ON units (tenant_id, campaign_id, epoch, stage, state, earlier)
    """,
    """
CREATE INDEX units_due ON units (tenant_id, due_at) WHERE due_at is not null
    """,
    """
CREATE INDEX units_due_again ON units (tenant_id, due_at) WHERE state = 'succeeded' and due_at is not null
    """,
    """
CREATE INDEX units_in_work ON units (tenant_id, claimed_at) WHERE claim is not null
    """,
    """
CREATE INDEX units_in_work_of_run ON units (run_id) WHERE claim is not null
    """,
    """
CREATE INDEX units_ready ON units (campaign_id, stage, due_at, id) WHERE state = 'ready'
    """,
    """
CREATE INDEX units_ready_alone ON units (campaign_id, stage, due_at) WHERE state = 'ready' and alone
    """,
    """
CREATE INDEX units_touched ON units (tenant_id, id) WHERE touched and claim is null
    """,
    """
CREATE INDEX units_unpublished ON units (tenant_id, campaign_id, stage, id) WHERE revision <> published_revision and (state in ('failed', 'held', 'rejected', 'succeeded', 'unresolved') or published_attention)
    """,
    """
alter table units enable row level security
    """,
    """
alter table units force row level security
    """,
    """
create policy tenant on units using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on units for each statement execute function require_tenant()
    """,
    """
CREATE TABLE attempts (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    unit_id BIGINT NOT NULL,
    claim UUID NOT NULL,
    epoch INTEGER NOT NULL,
    run_id TEXT,
    page_no INTEGER,
    event TEXT NOT NULL,
    reason TEXT,
    detail TEXT DEFAULT '' NOT NULL,
    charged BOOLEAN DEFAULT false NOT NULL,
    applied BOOLEAN NOT NULL,
    claimed_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT attempts_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT attempts_units_fkey FOREIGN KEY(tenant_id, unit_id) REFERENCES units (tenant_id, id)
)
    """,
    """
CREATE INDEX attempts_unit ON attempts (unit_id, id)
    """,
    """
alter table attempts enable row level security
    """,
    """
alter table attempts force row level security
    """,
    """
create policy tenant on attempts using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on attempts for each statement execute function require_tenant()
    """,
    """
CREATE TABLE decisions (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    campaign_id UUID NOT NULL,
    unit_id BIGINT,
    who TEXT NOT NULL,
    choice TEXT NOT NULL,
    note TEXT DEFAULT '' NOT NULL,
    corrections JSON,
    payload_hash TEXT,
    decided_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT decisions_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT decisions_campaigns_fkey FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id),
    CONSTRAINT decisions_units_fkey FOREIGN KEY(tenant_id, unit_id) REFERENCES units (tenant_id, id)
)
    """,
    """
CREATE INDEX decisions_campaign ON decisions (campaign_id, id)
    """,
    """
CREATE INDEX decisions_unit ON decisions (unit_id, id)
    """,
    """
alter table decisions enable row level security
    """,
    """
alter table decisions force row level security
    """,
    """
create policy tenant on decisions using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on decisions for each statement execute function require_tenant()
    """,
    """
CREATE TABLE evidence (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    unit_id BIGINT NOT NULL,
    claim UUID NOT NULL,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    media_type TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size BIGINT DEFAULT 0 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT evidence_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT evidence_units_fkey FOREIGN KEY(tenant_id, unit_id) REFERENCES units (tenant_id, id)
)
    """,
    """
CREATE INDEX evidence_unit ON evidence (unit_id, id)
    """,
    """
alter table evidence enable row level security
    """,
    """
alter table evidence force row level security
    """,
    """
create policy tenant on evidence using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on evidence for each statement execute function require_tenant()
    """,
    """
CREATE TABLE filings (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    unit_id BIGINT NOT NULL,
    target TEXT NOT NULL,
    site TEXT NOT NULL,
    claim UUID NOT NULL,
    epoch INTEGER NOT NULL,
    run_id TEXT,
    phase TEXT NOT NULL,
    verdict TEXT,
    late_verdict TEXT,
    reason TEXT,
    detail TEXT DEFAULT '' NOT NULL,
    by_human BOOLEAN DEFAULT false NOT NULL,
    preflight_version INTEGER NOT NULL,
    payload_hash TEXT,
    payload JSON,
    result JSON,
    receipt_url TEXT,
    claimed_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    armed_at TIMESTAMP WITH TIME ZONE,
    answered_at TIMESTAMP WITH TIME ZONE,
    corrected_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT filings_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT filings_units_fkey FOREIGN KEY(tenant_id, unit_id) REFERENCES units (tenant_id, id),
    CONSTRAINT filings_tenant_id_claim_key UNIQUE (tenant_id, claim),
    CONSTRAINT filings_phase_check CHECK (phase in ('claimed', 'armed', 'answered')),
    CONSTRAINT filings_answered_check CHECK ((phase = 'answered') = (verdict is not null)),
    CONSTRAINT filings_answered_at_check CHECK ((verdict is not null) = (answered_at is not null)),
    CONSTRAINT filings_armed_at_check CHECK (phase <> 'armed' or armed_at is not null),
    CONSTRAINT filings_verdict_check CHECK (verdict in ('accepted', 'already_listed', 'needs_email', 'not_sent', 'pending', 'refused', 'unknown')),
    CONSTRAINT filings_late_verdict_check CHECK (late_verdict in ('accepted', 'already_listed', 'needs_email', 'not_sent', 'pending', 'refused', 'unknown'))
)
    """,
    """
CREATE UNIQUE INDEX filings_one_stands ON filings (tenant_id, target, site) WHERE verdict is null or verdict not in ('not_sent', 'refused')
    """,
    """
CREATE INDEX filings_target ON filings (tenant_id, target, site, id)
    """,
    """
CREATE INDEX filings_unit ON filings (unit_id, id)
    """,
    """
alter table filings enable row level security
    """,
    """
alter table filings force row level security
    """,
    """
create policy tenant on filings using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on filings for each statement execute function require_tenant()
    """,
    """
CREATE TABLE results (
    tenant_id UUID DEFAULT nullif(current_setting('app.tenant_id', true), '')::uuid NOT NULL,
    unit_id BIGINT NOT NULL,
    version INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    run_id TEXT,
    held BOOLEAN DEFAULT false NOT NULL,
    value JSON NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT results_pkey PRIMARY KEY (tenant_id, unit_id, version),
    CONSTRAINT results_units_fkey FOREIGN KEY(tenant_id, unit_id) REFERENCES units (tenant_id, id)
)
    """,
    """
alter table results enable row level security
    """,
    """
alter table results force row level security
    """,
    """
create policy tenant on results using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid))
    """,
    """
create trigger require_tenant before insert or update or delete on results for each statement execute function require_tenant()
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
