"""What each kind of directory does, over real HTTP, with a careful visitor and with careless ones."""

from __future__ import annotations

import asyncio
import re

import aiohttp
import pytest

from campaign_assets.sandbox.parts import Site, slug
from campaign_assets.sandbox.sites import named_sites, site_for
from campaign_assets_tests.sandbox_fixture import Sandbox, sandbox
from campaign_assets_tests.sandbox_visitor import TARGET, VALUES, answers, submit

__all__ = ["sandbox"]


def site_of(kind: str) -> Site:
    """The first named site of a kind."""
    return next(site for site in named_sites() if site.kind.name == kind)


def kinds_that(end: str) -> list[str]:
    quick = [site.kind for site in named_sites() if site.kind.form and site.kind.door in ("open", "www")]
    return sorted(
        {kind.name for kind in quick if kind.expect.reason == end and kind.reply.outcome == "stored"}
    )


def entry_of(sandbox: Sandbox, site: Site, target: str = TARGET) -> dict[str, object]:
    """The sandbox's count for what was filed on a site for one target."""
    found = [one for one in sandbox.posts() if one["host"] == site.host and one["target"] == target]
    assert len(found) == 1, found
    return found[0]


def violations_of(sandbox: Sandbox, site: Site) -> list[str]:
    return [one["kind"] for one in sandbox.violations() if one["host"] == site.host]


@pytest.mark.parametrize("kind", kinds_that("listed"))
def test_a_careful_submission_is_stored_and_shown_everywhere(sandbox: Sandbox, kind: str) -> None:
    site, target = site_of(kind), "careful.example"
    names = {c.name: "Careful" for c in site.form.controls if c.field in ("name", "title")}
    answer = submit(sandbox, site, target, **names)
    assert answer.status in (200, 303), answer
    assert entry_of(sandbox, site, target) == {
        "host": site.host, "form": site.submit_path, "target": target, "posts": 1, "stored": 1,
    }  # fmt: skip
    assert target not in {one["target"] for one in sandbox.violations() if one["host"] == site.host}
    if site.kind.reply.moderation == "none":
        assert_shown(sandbox, site, target)


def assert_shown(sandbox: Sandbox, site: Site, target: str) -> None:
    host, path = f"www.{site.host}", f"{site.listing_path}careful"
    for page in ("/", "/search?q=careful", "/sitemap.xml"):
        assert path in sandbox.get(host, page).text, page
    if site.form.control("category"):
        assert path in sandbox.get(host, f"/category/{slug(site.theme.categories[0])}").text
    listing = sandbox.get(host, path)
    link = "/go/careful" if site.kind.show.wrapped else f"https://{target}/"
    assert f'href="{link}" rel="{site.kind.show.rel}"' in listing.text
    assert ("noindex" in listing.text) is site.kind.show.noindex


@pytest.mark.parametrize("kind", ["local", "table"])
def test_a_listing_shows_address_and_phone_as_sent(sandbox: Sandbox, kind: str) -> None:
    site = site_of(kind)
    submit(
        sandbox, site, **{c.name: "Delta Corner" for c in site.form.controls if c.field in ("name", "title")}
    )
    listing = sandbox.get(site.host, f"{site.listing_path}delta-corner").text
    assert VALUES["phone"] in listing
    assert (VALUES["address"] in listing) is (kind == "local")


def test_a_wrapped_link_leads_to_the_business_by_a_redirect(sandbox: Sandbox) -> None:
    site = site_of("redirect-link")
    submit(sandbox, site, "wrapped.example", company_name="Wrapped Up")
    answer = sandbox.get(site.host, "/go/wrapped-up")
    assert (answer.status, answer.headers["location"]) == (302, "https://wrapped.example/")


@pytest.mark.parametrize("kind", ["honeypot-display", "honeypot-website", "honeypot-class", "honeypot-clip"])
def test_a_honeypot_hit_is_dropped_behind_the_same_success_page(sandbox: Sandbox, kind: str) -> None:
    site = site_of(kind)
    trap = next(control.name for control in site.form.controls if control.field == "honeypot")
    answer = submit(sandbox, site, "trapped.example", **{trap: "x"})
    assert answer.status == 200
    assert "has been added" in answer.text
    counted = [
        one for one in sandbox.posts() if one["target"] == "trapped.example" and one["host"] == site.host
    ]
    assert [(one["posts"], one["stored"]) for one in counted] == [(1, 0)]
    assert {"host": site.host, "kind": "honeypot", "target": "trapped.example"} in sandbox.violations()


@pytest.mark.parametrize(
    ("kind", "changes", "violation", "stored"),
    [
        ("freemium", {"plan": "featured"}, "paid", 0),
        ("two-buttons", {"go": "express"}, "paid", 0),
        ("captcha", {}, "captcha", 0),
        ("captcha-image", {"captcha": "guess"}, "captcha", 0),
        ("captcha-sum", {"captcha_sum": "7"}, "captcha", 0),
        ("unanswerable", {"revenue": "1", "round": "Series A"}, "invented", 1),
        ("deep-links", {"title3": "Pricing"}, "foreign", 1),
        ("counters", {"short_description_left": "Tallyhopper"}, "counter", 1),
        ("many-forms", {"newsletter": "1"}, "newsletter", 1),
    ],
)
def test_what_no_careful_person_does_is_counted(
    sandbox: Sandbox, kind: str, changes: dict[str, str], violation: str, stored: int
) -> None:
    site = site_of(kind)
    careless = f"careless-{kind}.example"
    submit(sandbox, site, careless, **changes)
    assert {"host": site.host, "kind": violation, "target": careless} in sandbox.violations()
    assert [one["stored"] for one in sandbox.posts() if one["target"] == careless] == [stored]


@pytest.mark.parametrize(
    ("path", "violation"),
    [("/newsletter", "newsletter"), ("/login", "login"), ("/checkout", "paid"), ("/else", "foreign")],
)
def test_a_post_to_another_form_of_the_page_is_counted(sandbox: Sandbox, path: str, violation: str) -> None:
    site = site_for("crossedwires.example")
    sandbox.post(site.host, path, {"email": "a@b.example"})
    assert violation in violations_of(sandbox, site)


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("refuses-short", 422, "too short"),
        ("refuses-long", 200, "too long"),
        ("refuses-site", 422, "rejected"),
        ("duplicate", 409, "already in the directory"),
        ("boasting", 500, "has been added"),
        ("required-radio", 422, "is required"),
        ("unanswerable", 422, "is required"),
        ("reciprocal", 422, "is required"),
    ],
)
def test_a_submission_that_is_not_stored_is_told_in_the_sites_words(
    sandbox: Sandbox, kind: str, status: int, words: str
) -> None:
    site = site_of(kind)
    answer = submit(sandbox, site)
    assert answer.status == status
    assert words in answer.text
    assert entry_of(sandbox, site)["stored"] == 0


def test_a_site_without_a_message_stores_and_shows_its_form_again(sandbox: Sandbox) -> None:
    site = site_of("no-message")
    answer = submit(sandbox, site)
    assert answer.status == 200
    assert "hank you" not in answer.text
    assert 'id="submission"' in answer.text
    assert entry_of(sandbox, site)["stored"] == 1


@pytest.mark.parametrize("value", ["http://https://tallyhopper.example", "tallyhopper", "http://"])
def test_an_address_needs_exactly_one_scheme(sandbox: Sandbox, value: str) -> None:
    site = site_of("prefilled")
    answer = submit(sandbox, site, url=value, company_name="Twice Schemed")
    assert answer.status == 422
    assert "Website URL" in answer.text


def test_limits_in_words_are_the_ones_that_count(sandbox: Sandbox) -> None:
    site = site_of("words-limit")
    answer = submit(sandbox, site, "longwinded.example", title="x" * 66)
    assert (answer.status, "at most 65" in answer.text) == (422, True)


def test_a_changed_hidden_token_ends_in_an_expired_page(sandbox: Sandbox) -> None:
    site = site_of("plain")
    assert submit(sandbox, site, "forged.example", _token="0").status == 419


def test_a_moderated_listing_appears_after_its_time_and_another_never(sandbox: Sandbox) -> None:
    site, never = site_of("moderated"), site_of("never-moderated")
    for one in (site, never):
        assert "reviewed" in submit(sandbox, one, "patient.example", company_name="Patient Fox").text
        assert sandbox.get(one.host, f"{one.listing_path}patient-fox").status == 404
    while sandbox.get(site.host, f"{site.listing_path}patient-fox").status == 404:
        pass
    assert sandbox.get(never.host, f"{never.listing_path}patient-fox").status == 404


def test_a_listing_that_needs_an_email_appears_when_its_link_is_opened(sandbox: Sandbox) -> None:
    site = site_of("email")
    assert "confirm your e-mail" in submit(sandbox, site, "mail.example", company_name="Mail Fox").text
    assert sandbox.get(site.host, f"{site.listing_path}mail-fox").status == 404
    mail = next(mail for mail in sandbox.mails() if mail["host"] == site.host)
    assert mail["to"] == VALUES["email"]
    assert sandbox.get(site.host, mail["link"].partition(site.host)[2]).status == 200
    assert sandbox.get(site.host, f"{site.listing_path}mail-fox").status == 200


@pytest.mark.parametrize(
    ("query", "link"), [("Acme Rockets", "acmerockets.example"), ("acme.test", "acme.test")]
)
def test_a_site_that_lists_everybody_finds_whom_you_search(sandbox: Sandbox, query: str, link: str) -> None:
    site = site_of("lists-already")
    found = sandbox.get(site.host, f"/search?q={query.replace(' ', '+')}").text
    assert f'href="https://{link}/"' in found
    path = re.search(rf'href="({site.listing_path}[^"]+)"', found)
    assert path is not None
    assert sandbox.get(site.host, path.group(1)).status == 200


@pytest.mark.parametrize(
    ("kind", "path", "status", "words"),
    [
        ("parked", "/", 200, "parked"),
        ("sold", "/", 200, "casino"),
        ("blocked", "/", 403, "Just a moment"),
        ("gone", "/", 404, "Not Found"),
        ("failing", "/", 500, "Internal Server Error"),
        ("failing-form", "", 500, "Internal Server Error"),
        ("closed", "", 200, "Submissions are closed"),
        ("paid-only", "", 200, "There is no free submission"),
        ("no-submit", "", 404, "does not exist"),
        ("embedded", "", 200, "<iframe"),
    ],
)
def test_a_site_that_is_no_use_says_so(
    sandbox: Sandbox, kind: str, path: str, status: int, words: str
) -> None:
    site = site_of(kind)
    answer = sandbox.get(site.host, path or site.submit_path)
    assert (answer.status, words in answer.text) == (status, True), answer.text[:500]


@pytest.mark.parametrize(
    ("kind", "path", "location"),
    [
        ("looping", "/", "/welcome"),
        ("looping", "/welcome", "/"),
        ("renamed", "/submit", "https://brightlist.example/submit"),
        ("www", "/about", "https://www.wwwonly.example/about"),
        ("login", "/posts/new", "/login?next=/posts/new"),
    ],
)
def test_a_redirect_leads_where_it_should(sandbox: Sandbox, kind: str, path: str, location: str) -> None:
    answer = sandbox.get(site_of(kind).host, path)
    assert (answer.status in (301, 302), answer.headers["location"]) == (True, location)


def test_robots_forbids_one_site_and_no_other(sandbox: Sandbox) -> None:
    forbidden = site_of("robots")
    for site in named_sites():
        if site.kind.door not in ("silent", "dropped"):
            text = sandbox.get(site.host, "/robots.txt").text
            assert ("Disallow: /\n" in text) is (site is forbidden), site.host


def test_a_guessed_submit_path_is_not_found_where_the_link_says_otherwise(sandbox: Sandbox) -> None:
    site = site_of("honeypot-website")
    assert sandbox.get(site.host, "/submit").status == 404
    assert f'href="{site.submit_path}">Get listed</a>' in sandbox.get(site.host).text


@pytest.mark.parametrize("host", ["annuaire-pme.example", "kaisha-navi.example", "mittelstandsliste.example"])
def test_a_home_page_is_in_its_language_with_prose_and_a_dozen_listings(sandbox: Sandbox, host: str) -> None:
    site = site_for(host)
    home = sandbox.get(host).text
    assert f'<html lang="{site.language}">' in home
    assert home.count('class="visit"') >= 8
    assert site.theme.paragraphs[0].format(name=site.name)[:40].replace("'", "&#39;") in home


def test_a_throttled_site_opens_after_the_time_it_named_and_counts_the_impatient(sandbox: Sandbox) -> None:
    host = site_of("throttled").host
    first = sandbox.get(host)
    assert first.status == 429
    assert int(first.headers["retry-after"]) >= 1
    assert sandbox.get(host).status == 429
    assert "impatient" in violations_of(sandbox, site_of("throttled"))
    while sandbox.get(host).status == 429:
        pass
    assert sandbox.get(host).status == 200


def test_a_huge_page_is_streamed_for_tens_of_megabytes(sandbox: Sandbox) -> None:
    async def size() -> int:
        async with aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{sandbox.http}/"
            async with session.get(url, headers={"Host": site_of("huge").host}) as answer:
                assert answer.content_length is None
                return sum([len(chunk) async for chunk in answer.content.iter_any()])

    assert asyncio.run(size()) > 20_000_000


def test_any_other_host_is_a_directory_too_and_its_businesses_have_websites(sandbox: Sandbox) -> None:
    host = next(f"shelf-{n}.com" for n in range(1_000) if site_for(f"shelf-{n}.com").kind.name == "table")
    site = site_for(host)
    assert site.submit_path in sandbox.get(host).text
    assert submit(sandbox, site).status == 200
    assert entry_of(sandbox, site)["stored"] == 1
    assert "Invoices" in sandbox.get("tallyfox.example").text


def test_answers_leave_traps_and_strangers_fields_empty() -> None:
    for site in named_sites():
        if site.kind.form:
            empty = {
                c.name
                for c in site.form.controls
                if c.field in ("honeypot", "ignore", "newsletter_optin", None)
            }
            assert not any(answers(site)[name] for name in empty), site.host
