"""The command without a ledger: usage, errors as sentences, lists of publishers, settings, a fast start."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from campaign_assets.cli.entry import run

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty environment with a home of its own."""
    for name in [name for name in os.environ if name.startswith("CAMPAIGN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CAMPAIGN_HOME", str(tmp_path / "home"))
    return tmp_path


def called(*arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command as a process."""
    return subprocess.run(
        [sys.executable, "-m", "campaign_assets.cli", *arguments],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_help_names_every_command_of_the_design(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in (
        "up", "demo", "new", "sources", "start", "pause", "restart", "archive", "status", "attention", "units", "show",
        "resolve", "rerun", "decide", "report", "forms", "db", "sandbox", "settings",
    ):  # fmt: skip
        assert f"\n  {name} " in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sources", "read", "none.csv"], "The source none.csv does not exist; give the path of an existing file."),
        (["show", "only-a-word"], "'only-a-word' is not a publisher's key; it reads tenant/campaign/site"),
        (["decide", "a/b/c", "--stage", "preflight", "correct"], "Give FIELD=VALUE with `correct`"),
        (["decide", "a/b/c", "--stage", "preflight", "approve", "x=1"], "Give FIELD=VALUE with `correct`"),
        (["decide", "a/b/c", "--stage", "preflight", "correct", "title"], "'title' is not FIELD=VALUE"),
        (["resolve", "a/b/c"], "Say --filed or --not-filed."),
        (["new", "Two Words", "--tenant", "t", "--profile", "p", "--source", "s"], "'Two Words' is not a slug"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_sentence_and_status_2(
    environment: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (
            "CAMPAIGN_RESOLVE",
            "127.0.0.1",
            "CAMPAIGN_RESOLVE is '127.0.0.1'; give it as ADDR:HTTPPORT:HTTPSPORT",
        ),
        (
            "CAMPAIGN_RESOLVE",
            "127.0.0.1:8080:99999",
            "CAMPAIGN_RESOLVE is '127.0.0.1:8080:99999'; give it as",
        ),
        ("CAMPAIGN_POLICY", "brave", "CAMPAIGN_POLICY is 'brave'; it must be one of production, sandbox."),
        ("CAMPAIGN_RUNS", "many", "CAMPAIGN_RUNS is 'many'; it must be a whole number of at least 1."),
    ],
)
def test_a_wrong_setting_is_one_sentence(
    environment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    value: str,
    sentence: str,
) -> None:
    monkeypatch.setenv(name, value)
    assert run(["status"]) == 2
    assert capsys.readouterr().err.strip().startswith(sentence)


def test_an_unreachable_database_is_one_sentence(
    environment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"postgresql://nobody:secret@127.0.0.1:{port}/none")
    for arguments in (["status"], ["db", "upgrade"], ["attention", "launch"]):
        assert run(arguments) == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert str(port) in line
        assert "secret" not in line


def test_a_port_in_use_is_one_sentence(environment: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = called("sandbox", "serve", "--http-port", str(port))
    assert done.returncode == 2
    assert done.stderr.strip().splitlines() == [
        f"Port {port} on 127.0.0.1 is in use: choose another port, or 0 for a free one."
    ]


def test_a_missing_browser_is_one_sentence(environment: Path) -> None:
    page = environment / "page.html"
    page.write_text("<form><input name=url></form>")
    done = called("forms", "map", str(page), environment={"CAMPAIGN_BROWSER_PATH": "/nowhere/chromium"})
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("CAMPAIGN_BROWSER_PATH is /nowhere/chromium")


def test_a_source_that_is_a_pdf_is_refused_with_the_fix(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (environment / "list.pdf").write_bytes(PDF)
    assert run(["sources", "read", str(environment / "list.pdf")]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "PDF" in line
    assert "CSV, JSON, Markdown or HTML" in line


def test_a_source_yields_each_site_once_and_each_rejected_line_with_its_reason(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = environment / "list.csv"
    source.write_text(
        "name,url\nA,https://www.a.example/\nB,b.example?utm_source=x\nA again,http://a.example\nC,none\n"
    )
    assert run(["sources", "read", str(source), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"sites", "rejected"}
    assert [(s["site"], s["line"], s["name"]) for s in found["sites"]] == [
        ("a.example", 2, "A"),
        ("b.example", 3, "B"),
    ]
    assert all(set(s) == {"site", "url", "line", "name"} for s in found["sites"])
    assert [r["line"] for r in found["rejected"]] == [4, 5]
    assert all(set(r) == {"line", "text", "reason"} and r["reason"] for r in found["rejected"])
    assert run(["sources", "read", str(source)]) == 0
    assert "2 sites, 2 rejected lines." in capsys.readouterr().out


def test_settings_show_every_variable_and_no_password(
    environment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", "postgresql://owner:se%40cret@db.example:5433/ledger")
    assert run(["settings", "--json"]) == 0
    shown = capsys.readouterr().out
    assert "cret" not in shown
    found = json.loads(shown)
    assert found["CAMPAIGN_DATABASE_URL"] == "postgresql://owner:…@db.example:5433/ledger"
    assert found["CAMPAIGN_RESOLVE"] is None
    assert found["CAMPAIGN_HOME"] == str(environment / "home")


def test_what_a_site_wrote_cannot_drive_the_terminal(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = environment / "list.csv"
    source.write_text("name,url\n\x1b]0;owned\x07\u202eA,https://a.example/\n")
    run(["sources", "read", str(source)])
    shown = capsys.readouterr()
    assert not {"\x1b", "\x07", "\u202e"} & set(shown.out + shown.err)


@pytest.mark.parametrize("arguments", [["--help"], ["settings"], ["status", "--help"]])
def test_the_command_starts_without_what_it_does_not_need(arguments: list[str]) -> None:
    script = (
        "import sys; from campaign_assets.cli import main; main(sys.argv[1:]);"
        "heavy = {'dagster', 'sqlalchemy', 'playwright', 'aiohttp', 'jinja2', 'pydantic'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_status_does_not_import_dagster(environment: Path) -> None:
    script = (
        "import sys; from campaign_assets.cli import main; main(['status']);"
        "sys.exit('dagster' in sys.modules or 'playwright' in sys.modules)"
    )
    env = {**os.environ, "CAMPAIGN_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_interrupt_is_no_traceback(environment: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        url = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/none"
        process = subprocess.Popen(
            [sys.executable, "-m", "campaign_assets.cli", "status"],
            env={**os.environ, "CAMPAIGN_DATABASE_URL": url},
            stderr=subprocess.PIPE,
            text=True,
        )
        silent.accept()  # it waits for the server's answer now
        process.send_signal(2)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.split() == ["Interrupted."]


PAGE = """<!doctype html><title>Add your startup</title><h1>Add your startup</h1>
<form action=/add method=post>
<label>Name <input name=n required></label>
<label>Website URL <input name=u type=url></label>
<div style="display:none"><label>Leave this <input name=website></label></div>
<label>Description <textarea name=d maxlength=200></textarea></label><button>Submit</button></form>
<script src="https://elsewhere.example/x.js"></script>
<script>
document.querySelector("form").insertAdjacentHTML("beforeend", "<input name=tagline placeholder=Tagline>")
</script>
"""


def test_forms_map_tells_every_control_of_a_file_without_its_network(environment: Path) -> None:
    page, broken = environment / "page.html", environment / "broken.html"
    page.write_text(PAGE)
    broken.write_bytes(b"<form><table></form><input name='a'\x00\xff<select><textarea><form>")
    one = called("forms", "map", str(page), "--json")
    assert one.returncode == 0, one.stderr
    found = json.loads(one.stdout)
    assert set(found) == {"form", "controls"}
    assert found["form"] == 0
    assert all(
        list(c) == ["index", "name", "type", "field", "action", "confidence", "why"]
        for c in found["controls"]
    )
    assert [(c["index"], c["name"], c["field"], c["action"]) for c in found["controls"]] == [
        (0, "n", "name", "fill"),
        (1, "u", "url", "fill"),
        (2, "website", "honeypot", "leave"),
        (3, "d", "description", "fill"),
        (4, "", "submit", "click"),
        (5, "tagline", "tagline", "fill"),
    ]
    several = called("forms", "map", str(page), str(broken), "--json")
    assert several.returncode == 0, several.stderr
    assert [answer["file"] for answer in json.loads(several.stdout)] == [str(page), str(broken)]
    assert json.loads(several.stdout)[0] == {"file": str(page), **found}
