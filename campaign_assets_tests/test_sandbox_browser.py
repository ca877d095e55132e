"""What the sandbox's pages do in a real Chromium: script-made forms, reverting inputs, traps that nobody sees."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, Playwright, expect, sync_playwright

from campaign_assets.sandbox.parts import Site
from campaign_assets.sandbox.sites import named_sites
from campaign_assets_tests.sandbox_fixture import Sandbox, sandbox
from campaign_assets_tests.sandbox_visitor import TARGET, answers

__all__ = ["sandbox"]

PATIENCE = 60_000


def chromium(playwright: Playwright) -> str:
    """A Chromium: the one that is set, Playwright's own, or one on the path."""
    own = playwright.chromium.executable_path
    candidates = (os.environ.get("CAMPAIGN_BROWSER_PATH"), own if Path(own).exists() else None)
    on_path = (shutil.which(name) for name in ("chromium-headless-shell", "chromium", "google-chrome"))
    found = next((path for path in (*candidates, *on_path) if path), None)
    if found is None:
        pytest.fail("no Chromium: install one, or set CAMPAIGN_BROWSER_PATH")
    return found


@pytest.fixture(scope="module")
def browser(sandbox: Sandbox) -> Iterator[Browser]:
    rules = f"MAP *:80 127.0.0.1:{sandbox.http}, MAP *:443 127.0.0.1:{sandbox.https}"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium(playwright), args=["--no-sandbox", f"--host-resolver-rules={rules}"]
        )
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(ignore_https_errors=True)
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def open_form(page: Page, kind: str) -> Site:
    site = next(site for site in named_sites() if site.kind.name == kind)
    page.goto(f"https://{site.host}{site.submit_path}")
    page.locator("#submission").wait_for()
    return site


def fill(page: Page, site: Site) -> None:
    """Fill every control that a careful person fills, by its name."""
    for control in site.form.controls:
        value = answers(site).get(control.name)
        if control.type == "hidden" or not value:
            continue
        found = page.locator(f'#submission [name="{control.name}"]')
        if control.type == "select":
            found.select_option(value)
        elif control.styled:
            page.locator(f'label.tick:has([name="{control.name}"])').click()
        elif control.type == "checkbox":
            found.check()
        else:
            found.fill(value)


def stored(sandbox: Sandbox, site: Site) -> list[tuple[int, int]]:
    found = [one for one in sandbox.posts() if one["host"] == site.host and one["target"] == TARGET]
    return [(one["posts"], one["stored"]) for one in found]


@pytest.mark.parametrize(
    "kind",
    [
        "plain",
        "table",
        "script-form",
        "reactive",
        "categories",
        "styled-terms",
        "honeypot-website",
        "two-buttons",
    ],
)
def test_a_careful_person_with_a_browser_gets_listed(sandbox: Sandbox, page: Page, kind: str) -> None:
    site = open_form(page, kind)
    fill(page, site)
    page.locator("#submission button").last.click()
    page.get_by_text("has been added to the directory").wait_for()
    assert stored(sandbox, site) == [(1, 1)]
    assert [one for one in sandbox.violations() if one["host"] == site.host] == []


def test_a_form_made_by_script_is_not_in_the_document_that_is_sent(sandbox: Sandbox) -> None:
    site = next(site for site in named_sites() if site.kind.name == "script-form")
    assert "<form id=" not in sandbox.get(site.host, site.submit_path).text


def test_a_reactive_input_reverts_what_was_set_without_events(page: Page) -> None:
    open_form(page, "reactive")
    name = page.locator('[name="company_name"]')
    name.evaluate("control => { control.value = 'set from outside' }")
    expect(name).to_have_value("", timeout=PATIENCE)
    name.fill("typed")
    page.wait_for_function("() => new Promise(done => setTimeout(() => done(true), 400))")
    expect(name).to_have_value("typed")


def test_sub_categories_exist_only_once_a_category_is_chosen(page: Page) -> None:
    open_form(page, "categories")
    options = page.locator('[name="subcategory"] option')
    expect(options).to_have_count(1)
    page.locator('[name="category"]').select_option("analytics")
    expect(options).to_have_count(4)


def test_a_single_page_replaces_its_form_by_a_sentence(sandbox: Sandbox, page: Page) -> None:
    site = open_form(page, "single-page")
    address = page.url
    fill(page, site)
    page.locator("#submission button").click()
    page.locator("p.message").wait_for()
    assert page.locator("#submission").count() == 0
    assert page.url == address
    assert stored(sandbox, site) == [(1, 1)]


def test_a_toast_goes_away_and_leaves_an_empty_form(sandbox: Sandbox, page: Page) -> None:
    site = open_form(page, "toast")
    fill(page, site)
    page.locator("#submission button").click()
    page.get_by_role("status").wait_for()
    page.get_by_role("status").wait_for(state="detached")
    expect(page.locator('[name="company_name"]')).to_have_value("")
    assert stored(sandbox, site) == [(1, 1)]


def test_an_alert_is_the_only_message(sandbox: Sandbox, page: Page) -> None:
    site = open_form(page, "alert")
    said: list[str] = []

    def close(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.accept()

    page.on("dialog", close)
    fill(page, site)
    with page.expect_event("dialog"):
        page.locator("#submission button").click()
    assert "has been added" in said[0]
    assert stored(sandbox, site) == [(1, 1)]


def test_a_script_sent_refusal_is_shown_in_the_form(page: Page) -> None:
    site = open_form(page, "single-page")
    fill(page, site)
    page.locator('[name="website_url"]').fill("https://no-dot")
    page.locator("#submission button").click()
    expect(page.locator(".problems")).to_contain_text("Website URL is not valid", timeout=PATIENCE)


def test_a_cookie_banner_takes_every_click_until_it_is_refused(sandbox: Sandbox, page: Page) -> None:
    site = open_form(page, "cookie-banner")
    hit = "() => { const box = document.querySelector('#submission button').getBoundingClientRect();"
    hit += " return document.elementFromPoint(box.x + 5, box.y + 5)?.closest('.consent-layer') !== null }"
    page.locator("#submission button").scroll_into_view_if_needed()
    assert page.evaluate(hit) is True
    page.get_by_role("button", name="Reject all").click()
    assert page.locator(".consent-layer").count() == 0
    page.goto(f"https://{site.host}/")
    assert page.locator(".consent-layer").count() == 0
    assert [one for one in sandbox.violations() if one["host"] == site.host] == []


@pytest.mark.parametrize("kind", ["honeypot-display", "honeypot-website", "honeypot-class", "honeypot-clip"])
def test_nobody_sees_a_honeypot(page: Page, kind: str) -> None:
    site = open_form(page, kind)
    traps = [control.name for control in site.form.controls if control.field == "honeypot"]
    assert traps
    for name in traps:
        trap = page.locator(f'[name="{name}"]')
        assert trap.evaluate(SEEN) is False, name
    assert page.locator('textarea[name="description"]').evaluate(SEEN) is True


SEEN = """control => {
  control.scrollIntoView();
  const box = control.getBoundingClientRect();
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return box.width > 0 && (top === control || control.contains(top));
}"""
"""Whether a person sees a control: it takes the click at its own middle."""


def test_a_captcha_widget_is_a_frame_with_a_hidden_answer(page: Page) -> None:
    open_form(page, "captcha")
    expect(page.frame_locator("iframe").locator("#recaptcha-anchor")).to_be_visible(timeout=PATIENCE)
    expect(page.locator('[name="g-recaptcha-response"]')).to_be_hidden()
