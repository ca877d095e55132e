"""What a materialization shows to a person in Dagster's UI: the result of a unit as metadata.

One function a result type. Owns the wording and the order; refuses to decide anything. Evidence is shown by
its path under CAMPAIGN_HOME.
"""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any

from dagster import MetadataValue, TableColumn, TableRecord, TableSchema

from campaign_assets.ledger.publishing import Publication
from campaign_assets.model import (
    ConfirmationResult,
    ContentResult,
    DiscoveryResult,
    FormMappingResult,
    MonitoringResult,
    PreflightResult,
    ScoringResult,
    SubmissionResult,
)

Metadata = dict[str, Any]


def metadata(publication: Publication, home: Path) -> Metadata:
    """Everything shown for one settled unit: its state and why, its result, its evidence, the page it was
    committed with.
    """
    unit = publication.unit
    shown: Metadata = {"state": str(unit.state)}
    if unit.reason:
        shown["reason"] = unit.reason
    if unit.detail:
        shown["detail"] = unit.detail
    if publication.result is not None:
        shown |= of_result(publication.result)
    for evidence in publication.evidence:
        shown[f"evidence {evidence.kind}"] = MetadataValue.path(str(home / evidence.path))
    shown |= {"attempts": unit.attempts, "epoch": unit.epoch, "version": publication.version}
    return shown | _page(publication)


def _page(publication: Publication) -> Metadata:
    shown: Metadata = {}
    if publication.page_no is not None:
        shown["page"] = publication.page_no
    if publication.memory is not None:
        shown["memory (MB)"] = round(publication.memory / 1e6, 1)
    if publication.memory_growth is not None:
        shown["memory growth (MB)"] = round(publication.memory_growth / 1e6, 1)
    if publication.run_id:
        shown["run"] = MetadataValue.dagster_run(publication.run_id)
    return shown


@singledispatch
def of_result(result: object) -> Metadata:
    """The metadata of one stage's result."""
    raise TypeError(f"no metadata for {type(result).__name__}")


@of_result.register
def _(result: DiscoveryResult) -> Metadata:
    return {
        "site": result.site,
        "home page": MetadataValue.url(result.final_url),
        "title": result.title,
        "language": result.language,
        "submit page": MetadataValue.url(result.submit_url),
        "submit page found": result.submit_found,
        "robots": result.robots,
    }


@of_result.register
def _(result: ScoringResult) -> Metadata:
    rows = [
        {"signal": s.name, "value": round(s.value, 3), "weight": s.weight, "why": s.sentence}
        for s in result.signals
    ]
    columns = {"signal": "string", "value": "float", "weight": "float", "why": "string"}
    return {"score": result.score, "bar": result.bar, "reasons": _table(rows, columns)}


@of_result.register
def _(result: FormMappingResult) -> Metadata:
    rows = [
        {
            "control": c.name or f"#{c.index}",
            "type": c.type,
            "field": c.field or "?",
            "action": str(c.action),
            "sure": c.confidence,
            "why": c.why,
        }
        for c in result.controls
    ]
    columns = {
        "control": "string",
        "type": "string",
        "field": "string",
        "action": "string",
        "sure": "float",
        "why": "string",
    }
    shown: Metadata = {
        "form page": MetadataValue.url(result.document.url),
        "form": result.form,
        "mapped fields": _table(rows, columns),
    }
    if result.obstacles:
        shown["obstacles"] = MetadataValue.md(
            "\n".join(f"- {o.reason}: {o.sentence}" for o in result.obstacles)
        )
    return shown


@of_result.register
def _(result: ContentResult) -> Metadata:
    rows = [
        {"field": t.field, "text": t.value, "length": len(t.value), "limit": t.limit or 0, "source": t.source}
        for t in result.texts
    ]
    return {
        "texts": _table(
            rows, {"field": "string", "text": "string", "length": "int", "limit": "int", "source": "string"}
        )
    }


@of_result.register
def _(result: PreflightResult) -> Metadata:
    checks = [{"check": c.name, "passed": c.passed, "why": c.sentence} for c in result.checks]
    shown: Metadata = {"checks": _table(checks, {"check": "string", "passed": "bool", "why": "string"})}
    if result.existing_listing:
        shown["existing listing"] = MetadataValue.url(result.existing_listing)
    if result.payload is not None:
        entries = [
            {"control": e.name, "action": str(e.action), "value": e.value, "source": e.source}
            for e in result.payload.entries
        ]
        shown["payload"] = _table(entries, dict.fromkeys(("control", "action", "value", "source"), "string"))
        shown["payload hash"] = result.payload_hash
    return shown


@of_result.register
def _(result: SubmissionResult) -> Metadata:
    shown: Metadata = {
        "verdict": str(result.verdict),
        "what the site said": result.sentence,
        "posts": result.posts,
    }
    if result.final_url:
        shown["final page"] = MetadataValue.url(result.final_url)
    if result.receipt_url:
        shown["receipt"] = MetadataValue.url(result.receipt_url)
    return shown


@of_result.register
def _(result: ConfirmationResult) -> Metadata:
    return {"listing": MetadataValue.url(result.listing_url), "found by": result.found_by, "rel": result.rel}


@of_result.register
def _(result: MonitoringResult) -> Metadata:
    return {
        "listing": MetadataValue.url(result.listing_url),
        "present": result.present,
        "rel": result.rel,
        "followed": result.followed,
        "indexable": result.indexable,
        "differences": MetadataValue.md("\n".join(f"- {d}" for d in result.differences) or "none"),
        "changes": MetadataValue.md("\n".join(f"- {c}" for c in result.changes) or "none"),
    }


def _table(rows: list[dict[str, Any]], columns: dict[str, str]) -> Any:
    schema = TableSchema(columns=[TableColumn(name, kind) for name, kind in columns.items()])
    return MetadataValue.table(records=[TableRecord(row) for row in rows], schema=schema)
