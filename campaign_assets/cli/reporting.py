"""A campaign's report, put together from the ledger: rows, what waits for a human, its screenshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaign_assets import report
from campaign_assets.cli import settling
from campaign_assets.ledger import reading
from campaign_assets.settings import Settings

if TYPE_CHECKING:
    from campaign_assets.ledger import Tx
    from campaign_assets.ledger.campaigns import Campaign


def render(tx: Tx, campaign: Campaign, form: str, settings: Settings | None = None) -> str:
    """The report of `campaign` as `html`, `csv` or `json`."""
    rows = reading.report(tx, campaign.id)
    if form == "csv":
        return report.to_csv(rows)
    if form == "json":
        return report.to_json(rows)
    status = reading.status(tx, campaign)
    stages = {str(stage): {str(s): n for s, n in counts.items()} for stage, counts in status.stages.items()}
    title = f"{campaign.business.name} ({campaign.tenant}/{campaign.slug})"
    return report.to_html(
        title,
        status.sentence,
        stages,
        rows,
        _attention(tx, campaign, settings or Settings.from_environment()),
    )


def _attention(tx: Tx, campaign: Campaign, settings: Settings) -> list[report.Attention]:
    budget = report.Budget()
    return [
        report.Attention(
            unit,
            settling.commands(unit),
            report.pictures(settings.home, _evidence(tx, unit["key"], unit["stage"]), budget),
        )
        for unit in reading.attention(tx, campaign.id)
    ]
