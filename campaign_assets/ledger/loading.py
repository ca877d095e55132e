"""From a claimed row to the `Unit` a stage body sees: results, corrections, approval and the standing filing.

Results are kept as text and parsed when they are looked at: most stages look at one or two of seven.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from campaign_assets.ledger.binding import Tx
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.ledger.schema import KNOWN_SITES, STANDING
from campaign_assets.ledger.sql import statement
from campaign_assets.model import RESULT_TYPES, Filing, Key, StageResult, Unit
from campaign_assets.states import Stage

FOLLOW_THE_FILING = frozenset({Stage.SUBMISSION, Stage.CONFIRMATION, Stage.MONITORING})
NEED_APPROVAL = frozenset({Stage.PREFLIGHT, Stage.SUBMISSION})


class Results(Mapping[Stage, StageResult]):
    """Results by stage, each parsed at its first look."""

    def __init__(self, stored: Mapping[Stage, str]) -> None:
        self._stored = stored
        self._parsed: dict[Stage, StageResult] = {}

    def __getitem__(self, stage: Stage) -> StageResult:
        if stage not in self._parsed:
            self._parsed[stage] = parse_result(stage, self._stored[stage])
        return self._parsed[stage]

    def __iter__(self) -> Iterator[Stage]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


def parse_result(stage: Stage, stored: str) -> StageResult:
    """A stored result as its stage's type."""
    return RESULT_TYPES[stage].model_validate_json(stored)  # type: ignore[return-value]


CLAIMED = """
select m.*, p.site, p.url, p.name, p.corrections from moved m join publishers p on p.id = m.publisher_id order by m.id
"""
"""The end of a claim's statement: the units as claimed, in the shape that `load` wants."""

_RESULTS = text("""
select u.publisher_id, u.stage, cast(r.value as text) as value
from units u join results r on r.unit_id = u.id and r.version = u.version
where u.publisher_id = any(cast(:publishers as bigint[])) and u.stage = any(cast(:stages as text[]))
""")
_APPROVED = text("""
select distinct on (u.publisher_id) u.publisher_id, d.payload_hash
from units u join decisions d on d.unit_id = u.id and d.choice = 'approve' and d.payload_hash is not null
where u.publisher_id = any(cast(:publishers as bigint[])) and u.stage = 'preflight' order by u.publisher_id, d.id desc
""")
_FILINGS = statement("""
select distinct on (u.publisher_id) u.publisher_id, f.id, f.target, f.site, f.phase, f.verdict, f.detail,
    f.payload_hash,
    f.receipt_url, f.claimed_at, f.armed_at, f.answered_at
from units u join campaigns c on c.id = u.campaign_id
join filings f on f.target = c.target and f.site in $known_sites and ($standing)
where u.publisher_id = any(cast(:publishers as bigint[])) and u.stage = 'submission'
order by u.publisher_id, f.id desc
""", known_sites=KNOWN_SITES, standing=STANDING)  # fmt: skip


def load(tx: Tx, campaign: Campaign, stage: Stage, rows: Sequence[Row[Any]]) -> list[Unit]:
    """The units of claimed rows, with all their bodies may know."""
    if not rows:
        return []
    parameters = {"publishers": [row.publisher_id for row in rows]}
    results = _results(tx, stage, rows, parameters)
    approved: dict[int, str] = {}
    if stage in NEED_APPROVAL:
        approved = {row.publisher_id: row.payload_hash for row in tx.execute(_APPROVED, parameters)}
    standing = _filings(tx, parameters) if stage in FOLLOW_THE_FILING else {}
    return [
        _unit(
            campaign,
            row,
            results.get(row.publisher_id, {}),
            approved.get(row.publisher_id),
            standing.get(row.publisher_id),
        )
        for row in rows
    ]


def _results(
    tx: Tx, stage: Stage, rows: Sequence[Row[Any]], parameters: Mapping[str, object]
) -> dict[int, dict[Stage, str]]:
    """The latest result of each earlier stage, and of this one where it has any, by publisher."""
    stages = [str(each) for each in Stage if list(Stage).index(each) < list(Stage).index(stage)]
    if any(row.version for row in rows):
        stages.append(str(stage))
    found: dict[int, dict[Stage, str]] = {}
    if stages:
        for row in tx.execute(_RESULTS, {**parameters, "stages": stages}):
            found.setdefault(row.publisher_id, {})[Stage(row.stage)] = row.value
    return found


def _filings(tx: Tx, parameters: Mapping[str, object]) -> dict[int, Filing]:
    return {row.publisher_id: filing_of(row) for row in tx.execute(_FILINGS, parameters)}


def filing_of(row: Row[Any]) -> Filing:
    """A row of `filings` as stages and readers see it."""
    return Filing(**{name: row._mapping[name] for name in Filing.model_fields})


def _unit(
    campaign: Campaign,
    row: Row[Any],
    results: Mapping[Stage, str],
    approved: str | None,
    filing: Filing | None,
) -> Unit:
    claim: UUID = row.claim
    return Unit(
        id=row.id,
        publisher_id=row.publisher_id,
        campaign_id=campaign.id,
        key=Key(campaign.tenant, campaign.slug, row.site),
        stage=Stage(row.stage),
        claim=claim,
        epoch=row.epoch,
        run_id=row.run_id,
        attempts=row.attempts,
        waits=row.waits,
        alone=row.alone,
        url=row.url,
        name=row.name,
        business=campaign.business,
        settings=campaign.settings,
        upstream_version=row.consumed,
        results=Results(results),
        corrections=row.corrections,
        approved_payload=approved,
        filing=filing,
    )
