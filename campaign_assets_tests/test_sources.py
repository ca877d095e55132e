"""Lists as people keep them: each real entry once, nothing invented, every rejected line with its reason."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaign_assets.errors import InputError
from campaign_assets.model import RejectedLine, SourceEntry
from campaign_assets.sandbox.sources import demo_sources
from campaign_assets.stages.sources import read
from campaign_assets.stages.sources.addresses import NoAddress, complete

README = """\
<!-- old: https://hidden.example -->
# Directories [![Awesome](https://awesome.re/badge.svg)](https://awesome.re)
[![Stars](https://img.shields.io/github/stars/me/dirs)](https://github.com/me/dirs/stargazers)

> Inspired by [awesome](https://github.com/sindresorhus/awesome).

A list made with love, see [my blog](https://myblog.com). It lives on https://dirs-list.com.

## Contents
- [General](#general)

## General
- [BetaList](https://betalist.com/submit?utm_source=x) - Startups. Also [their blog](https://blog.betalist.com).
- **[Product Hunt](http://www.producthunt.com/)**: launch
  - Submit: [here](https://www.producthunt.com/posts/new)
- Uneed https://www.uneed.best (free)
- <https://peerlist.io>
- Trailing [Space](https://space.com )
- [Ref style][ph], [Another][]
- Hacker News - news.ycombinator.com
- [One](https://a-list.com), [two](https://b-list.com) and [three](https://c-list.com)
- [SaaS](https://old.reddit.com/r/SaaS/)
- [Startups](https://www.reddit.com/r/startups)
- [Mail us](mailto:hi@x.com)
- [Form](https://tally.so/r/wAbc12)
- [Local](http://localhost:3000)
- [This list](https://github.com/me/dirs)
- [Relative](docs/more.md)
- nothing here
- **Continued**
  https://continued.org

### [Heading](https://heading.com)

| Name | Link | Twitter |
|---|:-:|---|
| Alpha | [visit](https://alpha.com) | [@alpha](https://twitter.com/alpha) |
| Beta | https://beta.com/?ref=list | |
| Gamma | gamma.io | |
| [![Delta](https://delta.com/l.png)](https://delta.com) | | |
| No link | - | - |

<ul><li><a href="https://inhtml.com">In HTML</a></li></ul>

```
- [code](https://code.com)
```

[ph]: https://refstyle.com
[another]: <https://another.com>

## Contributing
- Read the [guide](https://guide.com)

## License
[![CC0](https://i.creativecommons.org/88x31.png)](https://creativecommons.org/zero)
"""

PAGE = """<!doctype html><html><head><link rel=canonical href="https://me.com/list"></head><body>
<header><a href="/">Me</a><a href="https://me.com/about">About</a></header>
<nav><ul><li><a href="https://other.com">Other</a></ul></nav>
<p>Read <a href="https://prose.com">prose</a> first.</p>
<h2>List</h2>
<ul><li><a href="https://a.com">A</a> nice <a href="https://x.com/a">more</a>
<li><b>B</b>: <a href="https://b.com">visit</a>
<li><a href="#x">anchor</a>
<li><a href="https://me.com/c">own</a></ul>
<table><tr><td>C</td><td><a href="https://c.com">link</a></td><td><a href="https://twitter.com/c">tw</a></td></tr></table>
<div class="card"><a href="https://d.com"><img src="d.png" alt="D"></a><p>text</p></div>
<article><header><h3><a href="https://e.com">E</a></h3></header></article>
<p><a href="https://f.com">F</a><br><a href="https://g.com">G</a> - great</p>
<footer><a href="https://foot.com">Foot</a></footer>
<script>var a='<a href="https://script.com">s</a>';</script></body></html>"""


def sites(text: str | bytes, name: str) -> list[str]:
    return [item.site for item in items(text, name) if isinstance(item, SourceEntry)]


def items(text: str | bytes, name: str) -> list[SourceEntry | RejectedLine]:
    return list(read(text.encode() if isinstance(text, str) else text, name))


def reasons(text: str | bytes, name: str) -> dict[str, str]:
    return {item.text: item.reason for item in items(text, name) if isinstance(item, RejectedLine)}


def test_a_markdown_list_yields_its_entries_and_nothing_else() -> None:
    assert sites(README, "README.md") == [
        "betalist.com", "producthunt.com", "uneed.best", "peerlist.io", "space.com", "refstyle.com", "another.com",
        "news.ycombinator.com", "a-list.com", "b-list.com", "c-list.com", "reddit.com/r/saas", "reddit.com/r/startups",
        "tally.so/r/wAbc12", "continued.org", "heading.com", "alpha.com", "beta.com", "gamma.io", "delta.com",
        "inhtml.com",
    ]  # fmt: skip


def test_each_rejected_link_of_a_markdown_list_has_its_reason() -> None:
    told = reasons(README, "README.md")
    for text, reason in {
        "https://hidden.example": "inside a comment",
        "https://awesome.re": "a badge image",
        "https://github.com/me/dirs/stargazers": "a badge image",
        "https://github.com/sindresorhus/awesome": "in running text, not an entry of a list or table",
        "https://myblog.com": "in running text, not an entry of a list or table",
        "#general": "an anchor of the same page",
        "https://blog.betalist.com": "a further link of the same entry",
        "https://www.producthunt.com/posts/new": "the same site as line 14",
        "mailto:hi@x.com": "a mail address",
        "http://localhost:3000": "a private address",
        "https://github.com/me/dirs": "the list's own address",
        "docs/more.md": "a relative link",
        "nothing here": "no address",
        "https://twitter.com/alpha": "a further link of the same entry",
        "https://code.com)": "inside a code block",
        "https://guide.com": "under the heading 'Contributing', which holds no entries",
        "https://creativecommons.org/zero": "a badge image",
    }.items():
        assert told.get(text) == reason, (text, told.get(text))


def test_entries_carry_their_line_and_the_name_that_the_list_gives_them() -> None:
    found = {item.site: item for item in items(README, "README.md") if isinstance(item, SourceEntry)}
    assert (found["betalist.com"].line, found["betalist.com"].name) == (13, "BetaList")
    assert found["betalist.com"].url == "https://betalist.com/submit"
    assert found["uneed.best"].name == "Uneed"
    assert found["continued.org"].name == "Continued"
    assert found["alpha.com"].name == "Alpha", "a link that only says `visit` is named by the row"


def test_an_html_page_yields_its_list_and_not_its_navigation() -> None:
    assert sites(PAGE, "list.html") == [f"{letter}.com" for letter in "abcdefg"]
    told = reasons(PAGE, "list.html")
    assert told["https://other.com"] == told["https://foot.com"] == "in the page's navigation"
    assert told["https://prose.com"].startswith("in running text")
    assert told["https://me.com/c"] == "the list's own address"
    assert told["#x"] == "an anchor of the same page"
    assert not any("script.com" in text for text in told)


def test_a_bookmark_export_is_a_list() -> None:
    export = (
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<DL><p>\n<DT><H3>Dirs</H3>\n<DL><p>\n"
        '<DT><A HREF="https://a.com" ADD_DATE="1">A</A>\n<DT><A HREF="https://b.com/">B</A>\n</DL><p>\n</DL>\n'
    )
    assert sites(export, "bookmarks.html") == ["a.com", "b.com"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name,url\nA,https://a.com\nB,b.io\n", ["a.com", "b.io"]),
        ('Nom;Adresse\n"A; B";https://a.com\n;;\nC;\n', ["a.com"]),
        ("Site\tDR\na.com\t40\nb.com\t30\n", ["a.com", "b.com"]),
        ("a.com|A\nb.com|B\n", ["a.com", "b.com"]),
        ("https://a.com,A,https://twitter.com/a\nhttps://b.com,B,https://twitter.com/b\n", ["a.com", "b.com"]),
        (
            "Directory,Submit URL,Website\nA,https://tally.so/r/x,https://a.com\nB,https://f.com/s,https://b.com\n",
            ["a.com", "b.com"],
        ),
        ('n,d,u\nA,"two\nlines",https://a.com\nB,x,https://b.com\n', ["a.com", "b.com"]),
        ("a.com\nhttps://b.com\n\nwww.c.com/submit\n", ["a.com", "b.com", "c.com"]),
        ("A - https://a.com\nB: b.com\nhttps://c.com great site\n", ["a.com", "b.com", "c.com"]),
    ],
)  # fmt: skip
def test_tables_and_plain_lists_are_read_by_content(text: str, expected: list[str]) -> None:
    assert sites(text, "list.txt") == expected
    assert sites(text.replace("\n", "\r\n"), "list") == expected


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([{"name": "A", "url": "https://a.com"}, {"name": "B", "url": None}], ["a.com"]),
        (["https://a.com", "https://b.com/x"], ["a.com", "b.com"]),
        ({"Product Hunt": "https://a.com", "Beta": "b.com"}, ["a.com", "b.com"]),
        ({"a.com": {"dr": 1}, "b.com": {"dr": 2}}, ["a.com", "b.com"]),
        (
            {"groups": [
                {"n": "x", "sites": [{"t": "A", "w": "a.com", "tags": ["https://t.co"]}]},
                {"n": "y", "sites": ["b.com", "c.com"]},
            ]},
            ["a.com", "b.com", "c.com"],
        ),
        (
            [{"name": n, "links": {"site": f"https://{n}.com", "x": f"https://x.com/{n}"}} for n in "ab"],
            ["a.com", "b.com"],
        ),
    ],
)  # fmt: skip
def test_json_of_any_nesting_is_read(document: object, expected: list[str]) -> None:
    for indent in (None, 2):
        assert sites(json.dumps(document, indent=indent), "list.json") == expected


def test_a_number_of_any_length_spoils_no_json_list() -> None:
    assert sites('[{"id": ' + "9" * 10_000 + ', "url": "https://a.com"}]', "list.json") == ["a.com"]


def test_json_records_have_the_line_they_begin_on() -> None:
    text = json.dumps([{"name": f"N{i}", "url": f"https://s{i}.com"} for i in range(3)], indent=2)
    assert [item.line for item in items(text, "x")] == [2, 6, 10]
    lines = '{"name":"A","url":"https://a.com"}\n{"name":"B","url":"https://b.com"}\n'
    assert [(item.line, item.name) for item in items(lines, "x.jsonl") if isinstance(item, SourceEntry)] == [
        (1, "A"), (2, "B"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "url"),
    [
        (" HTTP://WWW.A.com. ", "http://www.a.com/"),
        ("A.com:8080/x", "https://a.com:8080/x"),
        ("https//a.com", "https://a.com/"),
        ("https://https://a.com", "https://a.com/"),
        ("https://a.comhttps://b.com", "https://a.com/"),
        ("https://a.com(free)", "https://a.com/"),
        ("see https://a.com/x, nice", "https://a.com/x"),
        ("\u200bhttps://a.com\u200b", "https://a.com/"),
        ("https://a.com/?via=me&id=3&utm_source=x#/r", "https://a.com/?id=3"),
        ("//a.com/x", "https://a.com/x"),
        ("https://müller.de", "https://xn--mller-kva.de/"),
    ],
)
def test_what_lists_do_to_addresses_is_undone(written: str, url: str) -> None:
    assert complete(written) == url


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "no address"),
        ("LICENSE", "no address"),
        ("node.js", "no address"),
        ("x@a.com", "a mail address"),
        ("mailto:x@a.com", "a mail address"),
        ("#top", "an anchor of the same page"),
        ("../x", "a relative link"),
        ("ftp://a.com", "not an http or https address"),
        ("javascript:void(0)", "not an http or https address"),
        ("http://10.0.0.1/", "a private address"),
        ("192.168.1.1", "a private address"),
        ("http://[::1]/", "a private address"),
        ("http://169.254.169.254/latest", "a private address"),
        ("http://router.local/", "a private address"),
        ("https://a.com/logo.PNG", "an image"),
        ("http://.com", "a malformed address"),
    ],
)
def test_what_is_no_address_says_why(written: str, reason: str) -> None:
    with pytest.raises(NoAddress) as caught:
        complete(written)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7\n", b"PK\x03\x04xlsx", b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF89a", b"\x1f\x8b\x08", b"", b" \n\t\n",
        bytes(range(256)) * 20, b"a,b\n1,2\n", b'[{"a": 1}]', b'[{"url": "https://a.com"},\n{"url" "https://b.com"}]',
        b"[" * 100_000,
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["list.csv", "list.json"])
def test_what_is_no_list_ends_in_one_sentence_before_the_first_item(content: bytes, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read(content, f"/some/where/{name}")
    assert caught.value.sentence.startswith(name)
    assert "\n" not in caught.value.sentence
    assert caught.value.sentence.count(". ") == 0


def test_other_encodings_are_read() -> None:
    text = "name,url\nCafé,https://a.com\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        (item,) = items(text.encode(encoding), "l.csv")
        assert (item.site, item.name) == ("a.com", "Café"), encoding  # type: ignore[union-attr]


def test_the_demos_list_names_each_of_its_sites_once() -> None:
    found = items(demo_sources(40), "directories.csv")
    entries = [item.site for item in found if isinstance(item, SourceEntry)]
    assert len(entries) == len(set(entries)) == 40
    assert all(item.reason for item in found if isinstance(item, RejectedLine))
    assert len(found) > 40


def test_a_cursor_is_the_number_of_items_consumed() -> None:
    whole = items(README, "README.md")
    for cursor in range(len(whole)):
        assert list(islice(read(README.encode(), "README.md"), cursor, None)) == whole[cursor:]


@pytest.mark.parametrize(
    ("name", "head", "line", "tail"),
    [
        ("l.md", "# L\n", "* Name {0} - https://site{0}.com/submit a directory\n", ""),
        ("t.md", "| D | R |\n|---|---|\n", "| [N {0}](https://site{0}.com) | text |\n", ""),
        ("l.csv", "name,url\n", "N {0},https://site{0}.com\n", ""),
        ("l.html", "<ul>", "<li><a href='https://site{0}.com'>N {0}</a> text</li>\n", "</ul>"),
        ("l.json", "[\n", '{{"name": "N", "url": "https://site{0}.com"}},\n', '{"url": "https://last.com"}]'),
    ],
)
def test_long_lists_are_read_as_a_stream(name: str, head: str, line: str, tail: str) -> None:
    text = head + "".join(line.format(number) for number in range(5_000)) + tail
    reader = read(text.encode(), name)
    first = next(item for item in reader if isinstance(item, SourceEntry))
    assert first.site == "site0.com"
    assert sum(isinstance(item, SourceEntry) for item in reader) >= 4_999


_LETTERS = st.sampled_from("ab.com/:https -*|[](){}<>\"'#\n,;!`&=?é\t")


@settings(deadline=None, max_examples=100)
@given(st.text(_LETTERS, max_size=300), st.sampled_from(["x.md", "x.html", "x.csv", "x.json", "x"]))
def test_any_text_is_read_the_same_way_twice_or_refused(text: str, name: str) -> None:
    try:
        first = items(text, name)
    except InputError:
        return
    assert first == items(text, name)
    found = [item.site for item in first if isinstance(item, SourceEntry)]
    assert len(found) == len(set(found))
