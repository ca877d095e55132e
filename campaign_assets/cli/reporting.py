"""A campaign's report, put together from the ledger: rows, what waits for a human, its screenshots."""

from __future__ import annotations

from campaign_assets import report
from campaign_assets.cli import settling
from campaign_assets.ledger import Tx, reading
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.model import Evidence, Key
from campaign_assets.settings import Settings

PICTURES_EACH = 3
"""Screenshots shown of a publisher."""


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
            report.pictures(settings.home, _screenshots(tx, unit["key"]), budget),
        )
        for unit in reading.attention(tx, campaign.id)
    ]


def _screenshots(tx: Tx, key: str) -> list[Evidence]:
    """A publisher's newest screenshots, whichever stage kept them: a hold shows the form that was read before."""
    kept = [item for stage in reading.show(tx, Key.parse(key))["stages"] for item in stage["evidence"]]
    found = [Evidence(**{name: item[name] for name in Evidence.model_fields}) for item in kept]
    return [item for item in found if item.media_type in report.PICTURE_TYPES][-PICTURES_EACH:]
