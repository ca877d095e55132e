"""The sandbox's table, its crowd and the demo's list, as data."""

from __future__ import annotations

import csv
import io
from collections import Counter

import pytest

from campaign_assets.errors import InputError
from campaign_assets.model import Reason
from campaign_assets.sandbox import demo_sources
from campaign_assets.sandbox.crowd import WEIGHTS, kind_of
from campaign_assets.sandbox.kinds import KINDS
from campaign_assets.sandbox.parts import canonical
from campaign_assets.sandbox.sites import ROWS, named_sites, site_for
from campaign_assets.sandbox.themes import BUSINESSES
from campaign_assets.states import Stage, State, Verdict
from campaign_assets.web.sites import canonical_site

PUBLIC = [f"host-{number}.com" for number in range(20_000)]
"""As many names as it takes for shares to settle."""


def share(counts: Counter[str], *kinds: str) -> float:
    return sum(counts[kind] for kind in kinds) / counts.total()


@pytest.fixture(scope="module")
def crowd() -> Counter[str]:
    return Counter(kind_of(host) for host in PUBLIC)


def test_the_table_names_at_least_sixty_distinct_example_hosts() -> None:
    assert len(ROWS) >= 60
    assert all(host.endswith(".example") and host == canonical(host) for host in ROWS)
    assert not set(ROWS) & set(BUSINESSES)


def test_every_kind_has_a_named_site() -> None:
    assert set(KINDS) == {site.kind.name for site in named_sites()}


def test_every_expectation_is_in_the_products_own_words() -> None:
    reasons = {*Reason, *Verdict, "listed"}
    for site in named_sites():
        assert site.expect.stage in set(Stage), site.host
        assert site.expect.state in set(State), site.host
        assert site.expect.reason in reasons, site.host


def test_the_first_thirty_mostly_end_listed_and_few_need_a_human() -> None:
    first = named_sites()[:30]
    states = Counter(site.expect.state for site in first)
    assert len({site.kind.name for site in first}) == 30
    assert states["succeeded"] >= 18
    assert 4 <= states["rejected"] <= 6
    assert states["ready"] >= 1
    assert states["failed"] + states["held"] + states["unresolved"] <= 7


def test_a_renamed_site_moves_to_a_named_one() -> None:
    assert all(site.moved_to in ROWS for site in named_sites() if site.kind.door == "renamed")


def test_www_and_bare_host_are_one_site() -> None:
    assert site_for("www.brightlist.example").host == site_for("Brightlist.example").host


def test_a_host_in_another_script_is_the_same_in_punycode() -> None:
    assert canonical("https://www.münchen.de/") == canonical("xn--mnchen-3ya.de") == "xn--mnchen-3ya.de"


def test_a_host_plays_the_same_kind_in_every_process() -> None:
    """Pinned: a change here changes what every real list meets."""
    hosts = ("github.com", "www.producthunt.com", "g2.com", "dang.ai", "münchen.de")
    assert [site_for(host).kind.name for host in hosts] == [kind_of(canonical(host)) for host in hosts]
    assert [kind_of(host) for host in ("github.com", "g2.com", "dang.ai")] == ["silent", "plain", "table"]


def test_three_in_ten_of_the_crowd_are_forms_without_trouble(crowd: Counter[str]) -> None:
    easy = (
        "plain",
        "wrapped",
        "table",
        "placeholders",
        "headings",
        "wrong-for",
        "local",
        "names",
        "prefilled",
        "logo",
    )
    assert 0.27 < share(crowd, *easy) < 0.33


def test_the_crowd_is_as_useless_as_public_lists_are(crowd: Counter[str]) -> None:
    assert 0.25 < share(crowd, "paid-only", "freemium", "two-buttons") < 0.33
    assert 0.08 < share(crowd, "parked", "sold", "gone", "failing", "dropped", "looping") < 0.12
    assert 0.06 < share(crowd, "no-submit") < 0.09
    assert 0.04 < share(crowd, "reciprocal") < 0.06


def test_few_of_the_crowd_are_slow_or_silent(crowd: Counter[str]) -> None:
    assert 0.02 < share(crowd, "slow", "silent") < 0.03


def test_the_crowds_weights_are_shares_of_a_thousand_and_name_kinds() -> None:
    assert sum(weight for _, weight in WEIGHTS) == 1_000
    assert {name for name, _ in WEIGHTS} <= set(KINDS)


def listed(n: int) -> list[str]:
    rows = csv.DictReader(io.StringIO(demo_sources(n)))
    return [row["url"].strip() for row in rows]


def readable(url: str) -> str:
    """The site that the product reads from a line's address; empty where it refuses it."""
    try:
        return canonical_site(url)
    except InputError:
        return ""


@pytest.mark.parametrize("n", [1, 4, 30, 36, 71, 150])
def test_the_demo_list_names_exactly_n_sites_the_tables_first(n: int) -> None:
    found = list(dict.fromkeys(site for url in listed(n) if (site := readable(url))))
    assert found[: len(ROWS)] == list(ROWS)[:n]
    assert len(found) == n


def test_the_demo_list_is_as_messy_as_a_real_one() -> None:
    urls = listed(30)
    assert len(urls) > len(set(map(canonical, urls)))
    assert any("utm_" in url for url in urls)
    assert any(url.startswith("mailto:") for url in urls)
    assert "" in urls
