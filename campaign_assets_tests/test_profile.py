"""The business profile: every mistake at once, each with its line; a published schema that is current."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from campaign_assets.errors import InputError
from campaign_assets.model import Business
from campaign_assets.profile import SCHEMA, load_profile, schema_text

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
GOOD = """\
name: Plumewell
url: https://plumewell.example
tagline: Product analytics without cookies
short_description: Plumewell shows small software teams which features of their web app people use.
description: >-
  Plumewell is product analytics for small software teams. One script counts which pages and features of a web app
  are used, and shows it on a dashboard that fits on one screen.
categories: [Analytics]
tags: [analytics]
email: hello@plumewell.example
contact:
  first_name: Ada
  last_name: Morgenroth
  email: ada@plumewell.example
"""


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    def write(text: str | bytes) -> Path:
        path = tmp_path / "profile.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def problems(path: Path) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        load_profile(path)
    return caught.value.problems


def test_the_demos_profile_is_good_and_its_logo_is_found() -> None:
    business = load_profile(Path(str(files("campaign_assets.demo") / "profile.yaml")))
    assert business.name == "Plumewell"
    assert business.logo is not None
    assert Path(business.logo).read_bytes().startswith(b"\x89PNG")


def test_the_published_schema_is_current() -> None:
    current = SCHEMA.read_text(encoding="utf-8")
    assert current == schema_text(), "run: python -m campaign_assets.profile"
    assert set(json.loads(current)["properties"]) == set(Business.model_fields)


def test_values_are_read_as_they_are_written(write) -> None:  # type: ignore[no-untyped-def]
    address = "address: {street: Storgata 1, city: Oslo, postal_code: 0150, country: NO}\n"
    business = load_profile(
        write(GOOD + address + "languages: [no]\nphone: +47 22 12 34 56\nfounded_year: 2020\n")
    )
    assert business.address is not None
    assert (business.address.country, business.address.postal_code) == ("NO", "0150")
    assert (business.languages, business.founded_year) == (("no",), 2020)


def test_what_is_left_empty_counts_as_left_out(write) -> None:  # type: ignore[no-untyped-def]
    business = load_profile(write(GOOD + "fax:\nfeatures: ~\naddress:\n"))
    assert (business.fax, business.features, business.address) == (None, (), None)


def test_every_mistake_is_told_at_once_each_with_its_line(write) -> None:  # type: ignore[no-untyped-def]
    found = problems(
        write(
            "name: X\nurl: plumewell.example\ntagline: t\nshort_description: short\ndescripton: typo\n"
            "categories: SaaS\ntags: []\nlanguage: english\ncountries: [DE, ZZ]\nfounded_year: abc\nemail: no\n"
            "phone: 12\naddress: {street: a, city: b, country: Germany}\ncontact:\n  first_name: A\n  email: a@b\n"
            "logo: nope.png\nsocial:\n  myspace: https://a.com\n  twitter: '@x'\naccept_terms: maybe\nname: Y\n"
        )
    )
    told = "\n".join(found)
    for expected in (
        "line 1: description: is missing.",
        "line 2: url: 'plumewell.example' must begin with https://",
        "line 4: short_description: needs at least 40 characters, it has 5.",
        "line 5: descripton: there is no such field; did you mean description?",
        "line 6: categories: must be a list",
        "line 7: tags: needs at least one entry.",
        "line 8: language: 'english' is no two-letter language code",
        "line 9: countries.2: 'ZZ' is no ISO 3166",
        "line 10: founded_year:",
        "line 11: email: 'no' is no e-mail address.",
        "line 12: phone: '12' is no phone number",
        "line 13: address.country: 'Germany' is no ISO 3166",
        "line 14: contact.last_name: is missing.",
        "line 16: contact.email: 'a@b' is no e-mail address.",
        "line 17: logo: there is no file",
        "line 19: social.myspace:",
        "line 20: social.twitter: '@x' must begin with https://",
        "line 21: accept_terms:",
        "line 22: name: is written twice; the first is in line 1.",
    ):
        assert expected in told, f"{expected!r} is not among:\n{told}"
    assert "?." not in told
    assert len(found) == 19, told
    numbers = [int(problem.split(":")[0].removeprefix("line ")) for problem in found]
    assert numbers == sorted(numbers)


def test_an_image_beside_the_profile_is_found_and_anything_else_is_refused(write, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "logo.png").write_bytes(PNG)
    assert load_profile(write(GOOD + "logo: logo.png\n")).logo == str(tmp_path / "logo.png")
    (tmp_path / "logo.png").write_bytes(b"%PDF-1.7")
    assert problems(write(GOOD + "logo: logo.png\n"))[0].startswith("line 15: logo:")


@pytest.mark.parametrize(
    "text",
    [
        "name: [a",
        "- a",
        "",
        "just words",
        "%PDF-1.4\n%\xe2",
        b"\xff\xfe\x00",
        'name: "a',
        "a: &b 1\nc: *b",
        "name: " + "[" * 5000 + "]" * 5000,
        "- " * 5000 + "a",
        "\t- x:",
        b"\x00\x01",
    ],
)
def test_what_is_no_profile_ends_in_one_sentence(write, text: str | bytes) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError) as caught:
        load_profile(write(text))
    assert "\n" not in caught.value.sentence
    assert "profile.yaml" in caught.value.sentence


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no profile"):
        load_profile(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="cannot be read"):
        load_profile(tmp_path)


@pytest.mark.parametrize(
    "address", ["https://", "https://localhost/", "http://10.0.0.1/", "https://a b.com/", "https://a.com:x/"]
)
def test_an_address_that_no_visitor_could_open_is_refused(write, address: str) -> None:  # type: ignore[no-untyped-def]
    found = problems(write(GOOD.replace("https://plumewell.example", address)))
    assert found == (f"line 2: url: {address!r} is not the address of a public website.",)


@pytest.mark.parametrize(
    "address", ["https://plumewell.example:8443/a?b#c", "HTTP://müller.de", "https://xn--mller-kva.de/"]
)
def test_an_address_that_a_visitor_can_open_is_taken(write, address: str) -> None:  # type: ignore[no-untyped-def]
    assert load_profile(write(GOOD.replace("https://plumewell.example", address))).url == address
