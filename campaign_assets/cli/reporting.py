"""A campaign's report, put together from the ledger: rows, what waits for a human, its screenshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from campaign_assets import report
from campaign_assets.cli import settling
from campaign_assets.ledger import Tx, reading
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.model import Evidence, Key
from campaign_assets.settings import Settings

PICTURES_EACH = 3
"""The newest screenshots of a unit are shown."""


def render(tx: Tx, campaign: Campaign, form: str, settings: Settings) -> str:
    """The report of `campaign` as `html`, `csv` or `json`."""
    rows = reading.report(tx, campaign.id)
    if form == "csv":
        return report.to_csv(rows)
    if form == "json":
        return report.to_json(rows)
    status = reading.status(tx, campaign)
    title = f"{campaign.business.name} ({campaign.tenant}/{campaign.slug})"
    return report.to_html(title, status.sentence, status.stages, rows, _attention(tx, campaign, settings))


def _attention(tx: Tx, campaign: Campaign, settings: Settings) -> list[report.Attention]:
    budget = report.Budget()
    return [
        report.Attention(
            unit,
            settling.commands(unit),
            report.pictures(settings.home, _evidence(tx, unit)[-PICTURES_EACH:], budget),
        )
        for unit in reading.attention(tx, campaign.id)
    ]


def _evidence(tx: Tx, unit: Mapping[str, Any]) -> list[Evidence]:
    stages = reading.show(tx, Key.parse(unit["key"]))["stages"]
    kept = next(each["evidence"] for each in stages if each["stage"] == unit["stage"])
    return [Evidence(**{name: item[name] for name in Evidence.model_fields}) for item in kept]
