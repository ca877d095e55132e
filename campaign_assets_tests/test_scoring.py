"""Scoring: readable reasons, and a bar that good directories clear and others do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from campaign_assets.model import (
    Address,
    CampaignSettings,
    DiscoveryResult,
    OutcomeKind,
    Reason,
    ScoringResult,
)
from campaign_assets.sandbox.sites import named_sites
from campaign_assets.stages.discovery import discovery
from campaign_assets.stages.scoring import WEIGHTS, score, scoring
from campaign_assets.states import Stage
from campaign_assets_tests.sandbox_fixture import Sandbox, sandbox
from campaign_assets_tests.stage_walk import Walk, business, walk

__all__ = ["sandbox"]
BAR = CampaignSettings().bar


@pytest.fixture(scope="module")
def stroll(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with walk(sandbox.resolve, tmp_path_factory.mktemp("walk")) as made:
        yield made


def found(text: str, **changes: Any) -> DiscoveryResult:
    facts: dict[str, Any] = {
        "final_url": "https://list.example/", "site": "list.example", "status": 200, "text": text, "language": "en",
        "outgoing_links": 12, "https": True, "submit_url": "https://list.example/submit", "submit_found": "linked",
    }  # fmt: skip
    return DiscoveryResult(**(facts | changes))


def scored(text: str, profile: dict[str, Any] | None = None, **changes: Any) -> ScoringResult:
    return score(business(**(profile or {})), found(text, **changes), BAR)


SOFTWARE = "Discover new software: analytics, reporting and dashboards for small business. Makers submit SaaS products."


def test_the_sandboxs_good_directories_clear_the_bar_and_the_others_do_not(stroll: Walk) -> None:
    wrong = {}
    seen = {True: 0, False: 0}
    for host, theme, expect in [(s.host, s.theme.name, s.expect) for s in named_sites()]:
        if (expect.stage, expect.state) not in {("monitoring", "succeeded"), ("scoring", "rejected")}:
            continue
        if host == "patience.example":
            continue
        result = stroll.outcome(discovery, stroll.unit(f"https://{host}/")).result
        outcome = stroll.outcome(
            scoring, stroll.unit(f"https://{host}/", Stage.SCORING, {Stage.DISCOVERY: result})
        )
        good = expect.stage == "monitoring"
        seen[good] += 1
        if (outcome.kind is OutcomeKind.SUCCEED) is not good:
            wrong[host] = (theme, outcome.detail)
    assert not wrong
    assert seen[True] > 35
    assert seen[False] == 2


def test_a_rejection_carries_the_rule_and_its_numbers(stroll: Walk) -> None:
    text = found("Yarn, fleece and crochet patterns for knitters. We swap sheep gossip on Sundays.")
    unit = stroll.unit("https://list.example/", Stage.SCORING, {Stage.DISCOVERY: text})
    outcome = stroll.outcome(scoring, unit)
    assert (outcome.kind, outcome.reason) == (OutcomeKind.REJECT, Reason.BELOW_BAR)
    assert isinstance(outcome.result, ScoringResult)
    assert f"Scores {outcome.result.score}, below the campaign's bar of {BAR}." in outcome.detail
    assert "relevance 0.0" in outcome.detail


def test_every_signal_is_named_weighed_and_has_a_sentence() -> None:
    result = scored(SOFTWARE)
    assert [signal.name for signal in result.signals] == list(WEIGHTS)
    assert sum(WEIGHTS.values()) == pytest.approx(1)
    for signal in result.signals:
        assert 0 <= signal.value <= 1, signal
        assert signal.weight == WEIGHTS[signal.name]
        assert signal.sentence.endswith((".", "”.", "?")), signal
    assert result.score > 75


def signal(result: ScoringResult, name: str) -> float:
    return next(each.value for each in result.signals if each.name == name)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("The graveyard of failed startups. Software startups that shut down, each with a post-mortem.", {}),
        (
            "The local directory of Manchester: software and marketing companies, shops and trades in your city.",
            {},
        ),
        ("Recipes, cooking and gardening: the web ring of hobby cooks and their blogs.", {}),
        ("Churches and ministries of our region, with their services.", {}),
        ("Hand-picked motorcycles: oil, chrome and leather since 1974.", {}),
    ],
)
def test_a_directory_of_something_else_falls_below_the_bar(text: str, changes: dict[str, Any]) -> None:
    result = scored(text, **changes)
    assert result.score < BAR, result


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Verzeichnis für Software, Analyse und Berichte für den Mittelstand. Kostenlos eintragen."),
        ("fr", "L'annuaire des logiciels et de l'analyse de données pour les PME. Inscription gratuite."),
        ("es", "El directorio de programas y análisis de datos para negocios. Publicar es gratuito."),
        ("ja", "中小企業向けソフトウェアとデータ分析ツールのディレクトリ。掲載は無料です。"),
    ],
)
def test_topics_are_recognised_across_languages(language: str, text: str) -> None:
    result = scored(text, language=language)
    assert signal(result, "relevance") >= 0.4, result
    assert result.score >= BAR


def test_the_businesss_own_languages_and_countries_count() -> None:
    own, other = scored(SOFTWARE), scored(SOFTWARE, language="pl")
    assert (
        signal(own, "language")
        == 1.0
        > signal(scored(SOFTWARE, language="de"), "language")
        > signal(other, "language")
    )
    uk: dict[str, Any] = {"final_url": "https://list.co.uk/"}
    assert signal(scored(SOFTWARE, **uk), "place") == 0.6
    assert signal(scored(SOFTWARE, {"countries": ("US",)}, **uk), "place") == 0.2
    assert signal(scored(SOFTWARE, {"countries": ("GB", "US")}, **uk), "place") == 1.0
    home = {"address": Address(street="1 High St", city="Leeds", country="GB")}
    assert signal(scored("Local directory of Leeds. " + SOFTWARE, home), "place") == 1.0
    assert signal(scored("Find a local shop that answers. " + SOFTWARE, {"address": None}), "place") == 0.4


def test_a_list_of_only_something_else_is_a_mismatch_of_purpose() -> None:
    assert signal(scored(SOFTWARE + " We list hand-made wooden toys and puppets only."), "purpose") < 0.2
    assert signal(scored(SOFTWARE + " We only list software with a website."), "purpose") == 1.0
    assert signal(scored(SOFTWARE + " Only one click."), "purpose") == 1.0


def test_quality_and_price_move_the_score_without_deciding_it() -> None:
    good = scored(SOFTWARE + " Free listing.")
    for worse in (
        scored(SOFTWARE + " Free listing.", https=False),
        scored(SOFTWARE + " Free listing.", outgoing_links=0),
        scored(SOFTWARE + " Free listing. Buy backlinks, PR9 link exchange."),
        scored(SOFTWARE + " Members only."),
        scored(SOFTWARE + " All listings are paid."),
    ):
        assert BAR < worse.score < good.score, worse


def test_the_same_input_gives_the_same_score() -> None:
    assert scored(SOFTWARE) == scored(SOFTWARE)


def test_a_page_without_words_scores_low_but_ends() -> None:
    assert scored("", language="", outgoing_links=0).score < BAR
