"""Plans on a ledger of 20,000 units: no query of a tick, a claim or a reader scans the units from end to end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, text

from campaign_assets.ledger import (
    Ledger,
    Tx,
    application_url,
    operators,
    promotion,
    publishing,
    reading,
    scheduling,
    work,
)
from campaign_assets.ledger.campaigns import Campaign, find_campaign
from campaign_assets.states import Stage
from campaign_assets_tests.conftest import clone
from campaign_assets_tests.ledger_world import POLICIES, World

PUBLISHERS = 2500


@pytest.fixture(scope="module")
def large(server_url: str) -> Iterator[tuple[Ledger, Campaign]]:
    """Two campaigns, one of them large: half of its discovery is done, some of it in work, most of the units not
    reached.
    """
    with clone(server_url) as url:
        ledger = Ledger(application_url(url))
        world = World(ledger)
        world.campaign("acme/small", 20, target="small.example")
        campaign = world.campaign("acme/large", [f"l{n}.example" for n in range(PUBLISHERS)])
        for _ in range(12):
            world.finish(world.claim(campaign, Stage.DISCOVERY, 100))
        world.claim(campaign, Stage.DISCOVERY, 20)
        world.promote(campaign)
        for _ in range(5):
            world.finish(world.claim(campaign, Stage.SCORING, 100))
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute("vacuum analyze")  # what autovacuum does within a minute
        yield ledger, find_campaign(ledger, "large")
        ledger.dispose()


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


class Explained:
    """Explains every statement that a connection executes, just before it does, and keeps the plans."""

    def __init__(self, tx: Tx) -> None:
        self.tx = tx
        self.scans: list[str] = []
        self._busy = False

    def watch(
        self, _connection: Any, cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool
    ) -> None:
        word = statement.split(None, 1)[0].lower()
        if word not in ("select", "with", "update", "insert"):
            return
        cursor.execute("explain (format json) " + statement, parameters)
        for row in cursor.fetchall():
            plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
            for node in nodes(plan[0]["Plan"]):
                if node["Node Type"] == "Seq Scan" and node["Relation Name"] == "units":
                    self.scans.append(" ".join(statement.split())[:300] + f"  →  {node.get('Filter')}")


def _queries(campaign: Campaign) -> dict[str, Any]:
    return {
        "promote": promotion.promote,
        "backlog": scheduling.backlog,
        "claim discovery": lambda tx: work.claim(tx, campaign.id, Stage.DISCOVERY, "r", 25),
        "claim scoring": lambda tx: work.claim(tx, campaign.id, Stage.SCORING, "r", 25, beside=False),
        "claim one site": lambda tx: work.claim(tx, campaign.id, Stage.DISCOVERY, "r", 25, ["l2400.example"]),
        "claim submission": lambda tx: work.claim(tx, campaign.id, Stage.SUBMISSION, "r", 1),
        "reap": lambda tx: scheduling.reap(tx, POLICIES),
        "expire a run": lambda tx: scheduling.expire_run(tx, "r"),
        "open runs": scheduling.open_runs,
        "unpublished": lambda tx: publishing.unpublished(tx, None, None, 200),
        "attention": reading.attention,
        "attention of one": lambda tx: reading.attention(tx, campaign.id),
        "status": lambda tx: reading.status(tx, campaign),
        "rerun": lambda tx: operators.rerun_for_operator_run(
            tx, campaign.id, Stage.DISCOVERY, ["l3.example", "l4.example"]
        ),
        "due tenants": lambda tx: tx.execute(text("select id, due from due_tenants()")).all(),
    }


@pytest.mark.parametrize("name", _queries(None))  # type: ignore[arg-type]
def test_no_sequential_scan_of_units_in(name: str, large: tuple[Ledger, Campaign]) -> None:
    ledger, campaign = large
    with ledger.bound("acme") as tx:
        assert tx.execute(text("select count(*) from units")).scalar_one() > 20_000
        explained = Explained(tx)
        event.listen(tx, "before_cursor_execute", explained.watch)
        _queries(campaign)[name](tx)
        event.remove(tx, "before_cursor_execute", explained.watch)
        tx.rollback()
    assert explained.scans == []


def test_a_commit_of_a_page_reads_units_by_their_ids(large: tuple[Ledger, Campaign]) -> None:
    ledger, campaign = large
    world = World(ledger)
    units = world.claim(campaign, Stage.DISCOVERY, 25)
    with ledger.bound("acme") as tx:
        explained = Explained(tx)
        event.listen(tx, "before_cursor_execute", explained.watch)
        work.release(tx, units)
        event.remove(tx, "before_cursor_execute", explained.watch)
    assert explained.scans == []
