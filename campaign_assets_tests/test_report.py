"""The report: exports a spreadsheet does not run, a page that runs nothing whatever a site said."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaign_assets import report
from campaign_assets.model import Evidence
from campaign_assets.states import Stage, State

HOSTILE = "<script>document.title='run'</script><img src=http://evil.example/x onerror=alert(1)>\"'>{{7*7}}"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
)


def row(**values: object) -> dict[str, object]:
    empty = dict.fromkeys(report.COLUMNS)
    return empty | {"key": "acme/launch/a.example", "site": "a.example", "outcome": "listed"} | values


def page(rows: list[dict[str, object]], attention: list[report.Attention] | None = None) -> str:
    return report.to_html(
        "acme/launch", HOSTILE, {Stage.DISCOVERY: {State.SUCCEEDED: 1}}, rows, attention or []
    )


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        " =1",
        "\n=1",
        '"=1+1",x',
        "fine;=cmd|' /C calc'!A0",
        "line\n@x",
        "＝1+1",
        "'=1",
    ],
)
def test_a_cell_that_a_spreadsheet_would_run_is_neutralised(cell: str) -> None:
    text = report.to_csv([row(detail=cell)])
    line = next(csv.DictReader(io.StringIO(text)))
    assert line["detail"] != cell
    assert "'" in line["detail"]


@given(st.text(alphabet=st.sampled_from("=+-@;,\t\r\n \"'ax1")))
def test_no_cell_of_any_export_starts_with_a_formula_whatever_the_separator(cell: str) -> None:
    text = report.to_csv([row(detail=cell, key=cell)])
    for separator in ",;\t":
        for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            for value in line:
                assert not value.lstrip(" \n").startswith(("=", "+", "-", "@", "\t", "\r")), (
                    f"{value!r} of {text!r}"
                )


def test_plain_text_is_exported_as_it_is() -> None:
    text = report.to_csv(
        [
            row(
                detail='Listed, "pending" since 3-4 days; e-mail a@b.example',
                filed_at=datetime(2026, 1, 2, tzinfo=UTC),
            )
        ]
    )
    line = next(csv.DictReader(io.StringIO(text)))
    assert line["detail"] == 'Listed, "pending" since 3-4 days; e-mail a@b.example'
    assert line["filed_at"] == "2026-01-02T00:00:00+00:00"


def test_json_has_exactly_the_named_fields() -> None:
    rows = json.loads(report.to_json([row(filed_at=datetime(2026, 1, 2, tzinfo=UTC)) | {"other": 1}]))
    assert [list(r) for r in rows] == [
        ["key", "site", "outcome", "reason", "detail", "filed_at", "verdict", "listing_url", "rel"]
    ]


def test_only_web_addresses_become_links() -> None:
    text = page([row(listing_url="javascript:alert(1)"), row(listing_url="https://a.example/acme")])
    assert 'href="javascript' not in text
    assert '<a href="https://a.example/acme" rel="noopener noreferrer nofollow">' in text


def test_screenshots_are_inlined_within_their_bounds_and_never_from_outside_the_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "small.png").write_bytes(PNG)
    (home / "large.png").write_bytes(PNG + bytes(report.PICTURE_LIMIT))
    (tmp_path / "outside.png").write_bytes(PNG)
    kept = [
        Evidence(kind="after", path=path, media_type="image/png", sha256="", size=1)
        for path in ("small.png", "large.png", "gone.png", "../outside.png")
    ]
    small, large, gone, outside = report.pictures(home, kept, report.Budget())
    assert small.data.startswith("data:image/png;base64,")
    assert not large.data
    assert "too large" in large.missing
    assert gone.missing == outside.missing == "the file is gone"
    (over,) = report.pictures(home, kept[:1], report.Budget(left=10))
    assert "too large" in over.missing


def test_a_hostile_report_runs_nothing_and_asks_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(PNG)
    kept = [Evidence(kind=HOSTILE, path="shot.png", media_type="image/png", sha256="", size=1)]
    waiting = report.Attention(
        {"key": HOSTILE, "stage": "preflight", "state": "held", "reason": HOSTILE, "detail": HOSTILE},
        (HOSTILE,),
        report.pictures(tmp_path, kept, report.Budget()),
    )
    place = tmp_path / "report.html"
    place.write_text(
        page([{name: HOSTILE for name in report.COLUMNS} | {"filed_at": None}], [waiting]), "utf-8"
    )
    seen = asyncio.run(_looked_at(place))
    assert seen["requests"] == [place.as_uri()]
    assert seen["dialogs"] == []
    assert seen["title"] == "Report: acme/launch"
    assert seen["pictures"] == [1], "the screenshot is shown"
    assert seen["collapse"] == "collapse", "the style applies under the policy"
    assert "{{7*7}}" in str(seen["text"])


async def _looked_at(place: Path) -> dict[str, object]:
    from playwright.async_api import async_playwright

    from campaign_assets.settings import Settings
    from campaign_assets.web.browser import find_browser

    requests: list[str] = []
    dialogs: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=str(find_browser(Settings(home=place.parent))), args=["--no-sandbox"]
        )
        tab = await browser.new_page()
        tab.on(
            "request",
            lambda request: None if request.url.startswith("data:") else requests.append(request.url),
        )
        tab.on("dialog", lambda dialog: dialogs.append(dialog.message))
        await tab.goto(place.as_uri())
        seen = {
            "requests": requests,
            "dialogs": dialogs,
            "title": await tab.title(),
            "pictures": await tab.evaluate("[...document.images].map(i => i.naturalWidth)"),
            "collapse": await tab.evaluate(
                "getComputedStyle(document.querySelector('table')).borderCollapse"
            ),
            "text": await tab.inner_text("body"),
        }
        await browser.close()
    return seen
