# ruff: noqa: E501 (a case of a table, or a page's markup, is one line)
"""Limits and stars in words, answers and their reasons, bytes and their alphabets: the pure parts of web/."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from campaign_assets.web.answers import problem, retry_after
from campaign_assets.web.charset import decode
from campaign_assets.web.forms import limit_in_words, minimum_in_words, required_by_words


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("Title (max 65 characters)", 65), ("Maximum of 1,000 chars", 1000), ("up to 200 characters", 200), ("65 characters max", 65),
        ("160 characters remaining", 160), ("No more than 80 letters", 80), ("Limit: 120 characters", 120), ("0/140", 140), ("0 / 300", 300),
        ("between 50-300 characters", 300), ("50 to 300 characters", 300), ("(65 characters)", 65), ("maximal 65 Zeichen", 65),
        ("höchstens 300 Zeichen", 300), ("bis zu 90 Zeichen", 90), ("65 caractères maximum", 65), ("jusqu'à 65 caractères", 65),
        ("máximo 65 caracteres", 65), ("hasta 300 caracteres", 300), ("até 120 caracteres", 120), ("massimo 65 caratteri", 65),
        ("max. 65 tekens", 65), ("maks. 65 znaków", 65), ("en fazla 65 karakter", 65), ("最大65文字", 65), ("65文字以内", 65), ("200字以内", 200),
        ("不超过65个字", 65), ("не более 65 символов", 65), ("max length 65", 65), ("Max. 50 words", 200),
    ],
)  # fmt: skip
def test_a_limit_is_read_from_words(text: str, limit: int) -> None:
    assert limit_in_words([("for", text)]) == limit


@pytest.mark.parametrize(
    "text",
    [
        "Title",
        "at least 50 characters",
        "max 2 MB",
        "max: 300 px",
        "Founded 2019",
        "24/7",
        "3 tags max",
        "Step 2 / 5",
    ],
)
def test_other_numbers_are_no_limit(text: str) -> None:
    assert limit_in_words([("for", text)]) is None


def test_the_smallest_limit_counts_and_a_minimum_is_none() -> None:
    hints = [
        ("for", "Description, at least 50 characters"),
        ("after", "max 300 characters"),
        ("placeholder", "0/250"),
    ]
    assert limit_in_words(hints) == 250
    assert minimum_in_words(hints) == 50


@pytest.mark.parametrize(
    "text",
    [
        "Title *",
        "* Title",
        "Title*:",
        "Title (required)",
        "Titel (Pflichtfeld)",
        "URL＊",
        "名前 必須",
        "Nombre (obligatorio)",
        "Title * (max 5)",
    ],
)
def test_a_star_or_a_word_makes_a_control_required(text: str) -> None:
    assert required_by_words([("for", text)])


@pytest.mark.parametrize(
    "text",
    ["Title", "Phone (optional)", "Fields marked with * are required", "2 * 3", "Fax - optional *", "任意"],
)
def test_other_words_do_not(text: str) -> None:
    assert not required_by_words([("for", text)])


@pytest.mark.parametrize(
    ("status", "text", "reason"),
    [
        (200, "<title>Tools</title>", None), (404, "", "not_found"), (410, "", "not_found"), (401, "", "blocked"), (403, "", "blocked"),
        (429, "", "rate_limited"), (500, "", "server_error"), (503, "down", "server_error"), (503, "<title>Just a moment...</title>", "blocked"),
        (200, "<title>Just a moment...</title>", "blocked"), (522, "", "server_error"), (451, "", "blocked"), (418, "", "blocked"),
        (200, "<title>Tools</title> verify you are human", None),
    ],
)  # fmt: skip
def test_an_answer_has_one_reason(status: int, text: str, reason: str | None) -> None:
    error = problem("http://site.example/", status, {}, text)
    assert (error.reason if error else None) == reason


def test_retry_after_is_read_in_both_forms_and_bounded() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert retry_after({"Retry-After": "120"}) == 120
    assert retry_after({"retry-after": "Thu, 01 Jan 2026 00:01:00 GMT"}, now) == 60
    assert retry_after({"Retry-After": "Thu, 01 Jan 2025 00:01:00 GMT"}, now) == 0
    assert retry_after({"Retry-After": "99999999999"}) == 7 * 86400
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({}) is None


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("Grüße".encode(), "text/html", "Grüße"),
        ("Grüße".encode("latin-1"), "text/html; charset=ISO-8859-1", "Grüße"),
        ("“Grüße”".encode("cp1252"), "text/html; charset=iso-8859-1", "“Grüße”"),
        ("<meta charset='shift_jis'>名前".encode("cp932"), "text/html", "<meta charset='shift_jis'>名前"),
        (
            '<meta http-equiv="Content-Type" content="text/html; charset=gb2312">镕'.encode("gb18030"),
            "",
            None,
        ),
        ("\ufeffGrüße".encode(), "text/html; charset=latin-1", "Grüße"),
        ("Grüße".encode("utf-16"), "text/html", "Grüße"),
        ("ディレクトリへの登録はこちら".encode("euc_jp"), "text/html", "ディレクトリへの登録はこちら"),
        ("Grüße aus Köln".encode("cp1252"), "text/html; charset=nonsense", "Grüße aus Köln"),
        (b"<meta charset=utf-16>plain", "text/html", "<meta charset=utf-16>plain"),
    ],
)
def test_text_is_decoded_as_a_browser_would(body: bytes, content_type: str, text: str | None) -> None:
    decoded = decode(body, content_type)
    assert decoded == text if text is not None else "镕" in decoded
