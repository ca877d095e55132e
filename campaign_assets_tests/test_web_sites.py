# ruff: noqa: E501 (a case of a table, or a page's markup, is one line)
"""What a site is called, whatever a list has done to its address."""

from __future__ import annotations

import pytest

from campaign_assets.errors import InputError
from campaign_assets.web.sites import canonical_site, clean_url, has_known_suffix, readable_site, registrable

SITES = [
    ("https://www.Example.com./path?utm_source=x", "example.com"),
    ("example.com", "example.com"),
    ("  HTTP://EXAMPLE.COM:8080/#/submit ", "example.com"),
    ("https://example.com:443", "example.com"),
    ("//example.com/x", "example.com"),
    ("https://https://example.com/x", "example.com"),
    ("http://https//example.com", "example.com"),
    ("https//example.com", "example.com"),
    ("https:/example.com", "example.com"),
    ("http:example.com", "example.com"),
    ("https ://example.com", "example.com"),
    ("https://example.com(great site)", "example.com"),
    ("https://example.com,", "example.com"),
    ("https://example.com/).", "example.com"),
    ("https://example.com—a directory", "example.com"),
    ("https://example.comhttps://other.com", "example.com"),
    ("<https://example.com>", "example.com"),
    ("https://user:secret@example.com/", "example.com"),
    ("\ufeffhttps://exam\u200bple.com\u200b", "example.com"),
    ("https://www.example.co.uk/?via=me", "example.co.uk"),
    ("https://shop.example.co.uk", "shop.example.co.uk"),
    ("https://www.com", "www.com"),
    ("bücher.de", "xn--bcher-kva.de"),
    ("https://xn--bcher-kva.de/", "xn--bcher-kva.de"),
    ("https://例え.jp/x", "xn--r8jz45g.jp"),
    ("https://old.reddit.com/r/SaaS/comments/1", "reddit.com/r/saas"),
    ("https://www.reddit.com/r/saas/", "reddit.com/r/saas"),
    ("https://www.reddit.com", "reddit.com"),
    ("https://github.com/Owner/Repo.git", "github.com/owner/repo"),
    ("https://github.com/Owner/Repo/tree/main#readme", "github.com/owner/repo"),
    ("https://gitlab.com/owner/repo", "gitlab.com/owner/repo"),
    ("https://github.com", "github.com"),
    ("https://docs.google.com/forms/d/e/1FAb/viewform?usp=sf", "docs.google.com/forms/d/e/1FAb"),
    ("https://docs.google.com/forms/u/0/d/e/1FAb/viewform", "docs.google.com/forms/d/e/1FAb"),
    ("https://forms.gle/AbC", "forms.gle/AbC"),
    ("https://tally.so/embed/wAb?hideTitle=1", "tally.so/r/wAb"),
    ("https://tally.so/r/wAb", "tally.so/r/wAb"),
    ("https://me.typeform.com/to/AbC#x=y", "me.typeform.com/to/AbC"),
    ("https://airtable.com/appX1/shrY2", "airtable.com/shrY2"),
    ("https://airtable.com/embed/shrY2?backgroundColor=red", "airtable.com/shrY2"),
    ("https://web.archive.org/web/2020/https://example.com/", "web.archive.org"),
]


@pytest.mark.parametrize(("url", "site"), SITES)
def test_an_address_belongs_to_its_canonical_site(url: str, site: str) -> None:
    assert canonical_site(url) == site


@pytest.mark.parametrize("site", sorted({site for _, site in SITES}))
def test_a_canonical_site_is_its_own(site: str) -> None:
    assert canonical_site(site) == site
    assert canonical_site(f"https://www.{site}/?utm_source=list") == site or "/" in site


@pytest.mark.parametrize(
    "text",
    ["", "   ", "#top", "/relative/path", "mailto:a@b.com", "a@b.com", "javascript:void(0)", "tel:+49", "ftp://example.com", "data:text/html,x",
     "https://127.0.0.1/", "http://2130706433/", "https://[::1]/", "localhost:3000", "nonsense", "http://", "https://-bad.com", "http://１２７.0.0.1/"],
)  # fmt: skip
def test_what_is_no_site_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(InputError) as refused:
        canonical_site(text)
    assert refused.value.sentence.endswith(".")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("example.com/submit?utm_source=a&id=3&via=me&flag", "https://example.com/submit?id=3&flag"),
        ("http://example.com/a?q=https%3A%2F%2Fx.com#top", "http://example.com/a?q=https%3A%2F%2Fx.com"),
        ("https://example.com/Path/With_Case", "https://example.com/Path/With_Case"),
        ("https://example.com:8443/x", "https://example.com:8443/x"),
        ("https://example.com/a?next=https://other.com/b", "https://example.com/a?next=https://other.com/b"),
        ("https://example.com/a_(b)", "https://example.com/a_(b)"),
    ],
)
def test_cleaning_an_address_keeps_what_leads_there(text: str, url: str) -> None:
    assert clean_url(text) == url


@pytest.mark.parametrize(
    ("host", "domain"),
    [("https://shop.example.co.uk/x", "example.co.uk"), ("www.example.com", "example.com"), ("me.github.io", "me.github.io"),
     ("a.b.tools.example", "tools.example"), ("xn--bcher-kva.de", "xn--bcher-kva.de")],
)  # fmt: skip
def test_the_registrable_domain_is_the_part_that_somebody_owns(host: str, domain: str) -> None:
    assert registrable(host) == domain


def test_a_site_in_another_script_can_be_read_by_people() -> None:
    assert readable_site("xn--bcher-kva.de/r/x") == "bücher.de/r/x"


def test_a_host_without_scheme_is_told_from_a_file_name_by_its_suffix() -> None:
    assert has_known_suffix("tools.dev")
    assert not has_known_suffix("index.html")
