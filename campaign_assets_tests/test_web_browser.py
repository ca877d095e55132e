# ruff: noqa: E501 (a case of a table, or a page's markup, is one line)
"""The browser: what it can reach, what it refuses, how controls are filled, and how it ends whatever is done to it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from aiohttp import web

from campaign_assets.errors import ConfigError, SiteError
from campaign_assets.model import Action, Entry
from campaign_assets.settings import Settings
from campaign_assets.web.browser import Browser, find_browser
from campaign_assets.web.tab import Tab, Visit
from campaign_assets_tests.web_desk import Desk, entry


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("home"))
    yield desk
    desk.close()


def _open(desk: Desk, url: str, **options: float) -> Visit | SiteError:
    async def work() -> Visit | SiteError:
        async with desk.browser.tab() as tab:
            try:
                return await tab.open(url, **options)
            except SiteError as error:
                return error

    return desk.run(work())


def _reason(answer: Visit | SiteError) -> str:
    assert isinstance(answer, SiteError), f"no error but {answer!r}"
    return answer.reason


# ------------------------------------------------------------------------------------------------- what it can reach


def test_a_page_reaches_neither_loopback_nor_a_private_address_by_any_sub_resource(desk: Desk) -> None:
    async def work() -> tuple[list[str], str]:
        runner, port, visitors = await desk.canary()
        targets = [f"{scheme}://{host}:{port}" for scheme in ("http", "https") for host in
                   ("127.0.0.1", "localhost", "[::1]", "0", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]")]  # fmt: skip
        targets += ["http://127.0.0.1/", "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/"]
        sub = "".join(
            f"<img src='{t}/img'><link rel=stylesheet href='{t}/css'><iframe src='{t}/frame'></iframe>"
            for t in targets
        )
        script = "".join(
            f"fetch('{t}/fetch',{{mode:'no-cors'}}).then(()=>done++,()=>done++);navigator.sendBeacon('{t}/beacon','x');"
            f"try{{new WebSocket('{t}/ws'.replace('http','ws'))}}catch(e){{}}"
            for t in targets
        )
        url = desk.serve(f"<script>let done=0;{script}</script>{sub}<p>page")
        async with desk.browser.tab(allow_post=True) as tab:
            await tab.open(url)
            await tab.page.wait_for_function(f"done == {len(targets)}", timeout=60_000)
            text = await tab.text()
        await runner.cleanup()
        return visitors, text

    visitors, text = desk.run(work())
    assert visitors == []
    assert "page" in text


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:{}/",
        "http://localhost:{}/",
        "http://[::1]:{}/",
        "http://2130706433:{}/",
        "http://10.0.0.1/",
    ],
)
def test_a_redirect_leads_the_browser_to_no_hostile_address(desk: Desk, target: str) -> None:
    async def work() -> tuple[SiteError | Visit, list[str]]:
        runner, port, visitors = await desk.canary()

        async def away(_: web.Request) -> web.Response:
            return web.Response(status=302, headers={"Location": target.format(port)})

        url = desk.serve(away)
        try:
            async with desk.browser.tab() as tab:
                return await tab.open(url), visitors
        except SiteError as error:
            return error, visitors
        finally:
            await runner.cleanup()

    answer, visitors = desk.run(work())
    assert (_reason(answer), visitors) == ("address_refused", [])


def test_a_literal_address_is_not_opened_at_all(desk: Desk) -> None:
    assert _reason(_open(desk, f"http://127.0.0.1:{desk.port}/")) == "address_refused"
    assert _reason(_open(desk, "file:///etc/passwd")) == "address_refused"


def test_under_resolve_a_public_address_in_a_page_is_not_reached_either(desk: Desk) -> None:
    async def away(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "http://93.184.216.34/"})

    assert _reason(_open(desk, desk.serve(away))) == "address_refused"


# ---------------------------------------------------------------------------------------------- answers and their reasons


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (403, "blocked"),
        (404, "not_found"),
        (429, "rate_limited"),
        (500, "server_error"),
        (503, "server_error"),
    ],
)
def test_a_bad_status_has_the_fetchers_reason(desk: Desk, status: int, reason: str) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, text="<p>no", content_type="text/html")

    assert _reason(_open(desk, desk.serve(answer))) == reason


def test_redirects_in_a_circle_downloads_tls_and_silence_have_their_reasons(desk: Desk) -> None:
    async def circle(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": request.path})

    async def pdf(_: web.Request) -> web.Response:
        return web.Response(
            body=b"%PDF", headers={"Content-Type": "application/pdf", "Content-Disposition": "attachment"}
        )

    async def silent(_: web.Request) -> web.Response:
        await asyncio.sleep(3600)
        return web.Response()

    async def broken(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    assert _reason(_open(desk, desk.serve(circle))) == "redirect_loop"
    assert _reason(_open(desk, desk.serve(pdf))) == "not_html"
    assert _reason(_open(desk, desk.serve(silent), timeout=1)) == "deadline"
    assert _reason(_open(desk, desk.serve(broken))) == "connection_failed"
    assert _reason(_open(desk, desk.serve("<p>plain").replace("http:", "https:"))) == "tls_failure"


def test_a_page_whose_script_never_ends_ends_at_our_own_clock_and_the_next_tab_works(desk: Desk) -> None:
    url = desk.serve("<p>busy<script>setTimeout(() => { while (true) {} }, 300)</script>")

    async def work() -> str:
        async with desk.browser.tab() as tab:
            with pytest.raises(SiteError) as failed:
                await tab.open(url, timeout=5)
            return failed.value.reason

    assert desk.run(work()) == "deadline"
    assert isinstance(_open(desk, desk.serve("<p>fine")), Visit)


def test_a_form_that_a_script_draws_late_is_waited_for(desk: Desk) -> None:
    url = desk.serve(
        "<div id=app></div><script>setTimeout(()=>{app.innerHTML='<form><input name=late></form>'},400)</script>"
    )

    async def work() -> list[str]:
        async with desk.browser.tab() as tab:
            await tab.open(url)
            return [c.name for c in (await tab.read()).controls]

    assert desk.run(work()) == ["late"]


def test_the_browser_names_us(desk: Desk) -> None:
    desk.agents.clear()
    _open(desk, desk.serve("<p>page"))
    assert all(agent.endswith(desk.network.user_agent) for agent in desk.agents)
    assert desk.agents


# --------------------------------------------------------------------------------------------------------- what it refuses


def test_what_is_not_get_is_aborted_unless_allowed(desk: Desk) -> None:
    url = desk.serve(
        "<form method=post action=/filed><input name=a></form><script>"
        "fetch('/put',{method:'PUT',body:'x'}).catch(()=>{});navigator.sendBeacon('/beacon','x');fetch('/get');"
        "setTimeout(()=>document.forms[0].submit(),50)</script>",
        "/form",
        "reader.example",
    )

    async def work() -> list[str]:
        async with desk.browser.tab() as tab:
            await tab.open(url)
            await tab.page.wait_for_timeout(500)
            return tab.refused

    refused = desk.run(work())
    assert not [line for line in desk.hits("reader.example") if not line.startswith("GET")]
    assert desk.hits("GET reader.example /get")
    assert {line.split()[0] for line in refused} == {"PUT", "POST"}


def test_popups_dialogs_and_downloads_are_refused_and_recorded(desk: Desk) -> None:
    url = desk.serve(
        "<script>window.open('/popup');alert('hello');window.said=confirm('sure?');</script><p>after <a id=d href='data:application/x,1' download>d</a>"
        "<script>d.click()</script>"
    )

    async def work() -> tuple[list[str], list[str], object, int]:
        async with desk.browser.tab() as tab:
            await tab.open(url)
            said = await tab.evaluate("() => window.said", None, "ask")
            await tab.page.wait_for_timeout(300)
            return tab.dialogs, tab.refused, said, len(tab.page.context.pages)

    dialogs, refused, said, pages = desk.run(work())
    assert (dialogs, said, pages) == (["hello", "sure?"], False, 1)
    assert any(line.startswith("popup") for line in refused)


def test_two_tabs_share_no_cookie(desk: Desk) -> None:
    url = desk.serve(
        "<p id=p></p><script>p.textContent='had '+document.cookie;document.cookie='seen=1'</script>"
    )

    async def work() -> str:
        async with desk.browser.tab() as one, desk.browser.tab() as two:
            await one.open(url)
            await two.open(url)
            return await two.text()

    assert desk.run(work()).strip() == "had"


# ------------------------------------------------------------------------------------------------------------ filling


REACT_LIKE = """<input name=controlled><p id=state></p><script>
// A controlled input as frameworks make it: a value set from outside without an event is put back.
const el = document.querySelector('[name=controlled]'); let state = '';
el.addEventListener('input', e => { if (!e.isTrusted) return; state = el.value; document.getElementById('state').textContent = state; });
setInterval(() => { if (el.value !== state) el.value = state; }, 10);
</script>"""


def _fill(desk: Desk, markup: str, entries: list[Entry]) -> tuple[list[str], dict[str, str], str]:
    """(differences read back, what the form would send, the page's text)."""
    url = desk.serve(f"<!doctype html><form>{markup}</form>")

    async def work(tab: Tab) -> tuple[list[str], dict[str, str], str]:
        await tab.open(url)
        for item in entries:
            await tab.apply(item)
        await tab.page.wait_for_timeout(50)
        sent = "() => Object.fromEntries([...new FormData(document.forms[0])].map(([k, v]) => [k, v.name === undefined ? v : v.name]))"
        return await tab.read_back(entries), await tab.evaluate(sent, None, "ask"), await tab.text()

    async def session() -> tuple[list[str], dict[str, str], str]:
        async with desk.browser.tab() as tab:
            return await work(tab)

    return desk.run(session())


def test_a_controlled_input_keeps_its_value(desk: Desk) -> None:
    value = "Acme “Tools” ü 名前 😀"
    differences, _, text = _fill(desk, REACT_LIKE, [entry(0, "text", Action.FILL, value, "controlled")])
    assert differences == []
    assert value in text


def test_text_select_radio_box_and_file_are_filled(desk: Desk, tmp_path: Path) -> None:
    logo = tmp_path / "logo.png"
    logo.write_bytes(b"\x89PNG")
    markup = (
        "<input name=t><input type=url name=u><textarea name=d></textarea><select name=c><option value=1>One<option value=2>Two</select>"
        "<input type=radio name=plan value=paid checked><input type=radio name=plan value=free><input type=checkbox name=terms value=yes>"
        "<style>.s{position:absolute;opacity:0}</style><input type=checkbox class=s id=s name=styled><label for=s>I accept the <a href=/terms>terms</a></label>"
        "<input type=file name=logo><input type=checkbox name=news checked><input type=email name=e><input type=number name=n>"
    )
    entries = [
        entry(0, "text", Action.FILL, "Acme", "t"), entry(1, "url", Action.FILL, "https://acme.example/", "u"),
        entry(2, "textarea", Action.FILL, "one\ntwo", "d"), entry(3, "select-one", Action.CHOOSE, "2", "c"),
        entry(4, "radio", Action.CHOOSE, "free", "plan"), entry(6, "checkbox", Action.CHECK, "on", "terms"),
        entry(7, "checkbox", Action.CHECK, "on", "styled"), entry(8, "file", Action.UPLOAD, str(logo), "logo"),
        entry(9, "checkbox", Action.CHECK, "off", "news"), entry(10, "email", Action.FILL, "a@acme.example", "e"),
        entry(11, "number", Action.FILL, "2019", "n"),
    ]  # fmt: skip
    differences, sent, _ = _fill(desk, markup, entries)
    assert differences == []
    assert sent == {"t": "Acme", "u": "https://acme.example/", "d": "one\ntwo", "c": "2", "plan": "free", "terms": "yes", "styled": "on",
                    "logo": "logo.png", "e": "a@acme.example", "n": "2019"}  # fmt: skip


def test_a_value_that_the_page_reverts_is_read_back_as_a_difference(desk: Desk) -> None:
    markup = "<input name=t maxlength=5><input name=k><script>setInterval(()=>{document.querySelector('[name=k]').value='mine'},5)</script>"
    entries = [
        entry(0, "text", Action.FILL, "too long a title", "t"),
        entry(1, "text", Action.FILL, "yours", "k"),
    ]
    differences, _, _ = _fill(desk, markup, entries)
    assert [line.split()[0] for line in differences] == ["t", "k"]


@pytest.mark.parametrize(
    ("markup", "item"),
    [
        (
            "<div style='position:absolute;left:-5000px'><input name=w></div>",
            entry(0, "text", Action.FILL, "x", "w"),
        ),
        ("<input name=w style='display:none'>", entry(0, "text", Action.FILL, "x", "w")),
        ("<input type=hidden name=w>", entry(0, "hidden", Action.FILL, "x", "w")),
        ("<input name=other>", entry(0, "text", Action.FILL, "x", "w")),
        ("<select name=w><option>a</select>", entry(0, "text", Action.FILL, "x", "w")),
        ("<select name=w><option value=1>a</select>", entry(0, "select-one", Action.CHOOSE, "9", "w")),
        ("<input type=radio name=w value=1>", entry(0, "radio", Action.CHOOSE, "9", "w")),
        ("<input name=w disabled>", entry(0, "text", Action.FILL, "x", "w")),
        ("<input name=w readonly>", entry(0, "text", Action.FILL, "x", "w")),
        ("", entry(0, "text", Action.FILL, "x", "w")),
        (
            "<div style='display:none'><label><input type=checkbox name=w>robot</label></div>",
            entry(0, "checkbox", Action.CHECK, "on", "w"),
        ),
    ],
)
def test_a_control_that_is_concealed_gone_or_changed_is_never_touched(
    desk: Desk, markup: str, item: Entry
) -> None:
    with pytest.raises(SiteError) as failed:
        _fill(desk, markup, [item])
    assert failed.value.reason == "form_changed"


def test_a_file_that_does_not_exist_is_never_made_up(desk: Desk) -> None:
    with pytest.raises(SiteError) as failed:
        _fill(
            desk, "<input type=file name=f>", [entry(0, "file", Action.UPLOAD, "/nonexistent/logo.png", "f")]
        )
    assert failed.value.reason == "refused_value"


BANNER = (
    "<div id=b style='position:fixed;inset:auto 0 0 0;height:{}px;background:#fff'>We use cookies. {}</div>"
    "<form><input name=t></form><p id=said></p><script>function say(x){{said.textContent=x;b.remove()}}</script>"
)


@pytest.mark.parametrize(
    ("buttons", "label"),
    [
        (
            "<button onclick=say('all')>Accept all</button><button onclick=say('none')>Reject all</button>",
            "Reject all",
        ),
        (
            "<button onclick=say('all')>Alle akzeptieren</button><a href='#' onclick=say('none')>Nur notwendige Cookies</a>",
            "Nur notwendige Cookies",
        ),
        (
            "<button onclick=say('all')>OK</button><button onclick=say('none') aria-label=Close>×</button>",
            "×",
        ),
        (
            "<button onclick=say('all')>Tout accepter</button><button onclick=say('none')>Tout refuser</button>",
            "Tout refuser",
        ),
    ],
)
def test_a_cookie_banner_is_refused_and_never_accepted(desk: Desk, buttons: str, label: str) -> None:
    url = desk.serve(BANNER.format(200, buttons))

    async def work() -> tuple[list[str], str]:
        async with desk.browser.tab() as tab:
            await tab.open(url)
            return await tab.dismiss_overlays(), await tab.text()

    pressed, text = desk.run(work())
    assert pressed == [label]
    assert "none" in text


def test_a_modal_is_closed_and_a_page_without_overlay_is_left_alone(desk: Desk) -> None:
    modal = (
        "<div role=dialog style='position:fixed;inset:100px;background:#fff'>Join our newsletter <input name=n><button>Join</button>"
        "<button onclick='this.parentNode.remove()'>No thanks</button></div><form><input name=t></form>"
    )
    plain = "<header style='position:fixed;top:0;left:0;right:0;height:50px'><button>Close</button> Menu</header><form><input name=t></form>"

    async def work(markup: str) -> list[str]:
        async with desk.browser.tab() as tab:
            await tab.open(desk.serve(markup))
            return await tab.dismiss_overlays()

    assert desk.run(work(modal)) == ["No thanks"]
    assert desk.run(work(plain)) == []


def test_a_screenshot_of_a_huge_page_is_bounded(desk: Desk) -> None:
    url = desk.serve("<div style='height:100000px;background:linear-gradient(red,blue)'>tall</div>")

    async def work() -> bytes:
        async with desk.browser.tab() as tab:
            await tab.open(url)
            return await tab.screenshot()

    picture = desk.run(work())
    assert picture[:2] == b"\xff\xd8"
    assert len(picture) < 3_000_000


# ------------------------------------------------------------------------------------------------------ how it ends


def test_a_browser_killed_in_use_is_a_transient_error_and_the_next_tab_works(desk: Desk) -> None:
    url = desk.serve("<form><input name=t></form>")

    async def work() -> SiteError:
        async with desk.browser.tab() as tab:
            await tab.open(url)
            group = desk.browser.process_group
            assert group is not None
            os.killpg(group, signal.SIGKILL)
            with pytest.raises(SiteError) as failed:
                await tab.read()
            return failed.value

    error = desk.run(work())
    assert (error.reason, error.transient) == ("error", True)
    assert isinstance(_open(desk, url), Visit)


def test_a_stopped_browser_is_closed_in_bounded_time_and_leaves_no_process(desk: Desk) -> None:
    async def work() -> list[psutil.Process]:
        browser = Browser(desk.network)
        async with browser.tab() as tab:
            await tab.open(desk.serve("<p>page"))
            group = browser.process_group
            assert group is not None
            processes = [p for p in psutil.Process().children(recursive=True) if _group(p) == group]
            os.killpg(group, signal.SIGSTOP)
        await browser.close()
        await browser.close()
        assert processes
        return psutil.wait_procs(processes, timeout=20)[1]

    assert desk.run(work()) == []


def _group(process: psutil.Process) -> int | None:
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return None


def test_a_cancelled_unit_leaves_the_browser_usable(desk: Desk) -> None:
    arrived = asyncio.Event()

    async def silent(_: web.Request) -> web.Response:
        arrived.set()
        await asyncio.sleep(3600)
        return web.Response()

    url = desk.serve(silent)

    async def unit() -> None:
        async with desk.browser.tab() as tab:
            await tab.open(url)

    async def work() -> None:
        task = asyncio.create_task(unit())
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    desk.run(work())
    assert isinstance(_open(desk, desk.serve("<p>fine")), Visit)


WORKER = """
import asyncio, sys
from pathlib import Path
from campaign_assets.settings import Resolve, Settings
from campaign_assets.web.browser import Browser
from campaign_assets.web.network import Network

async def main():
    browser = Browser(Network(Settings(home=Path(sys.argv[1]), resolve=Resolve("127.0.0.1", 9, 9))))
    async with browser.tab():
        print(browser.process_group, flush=True)
        await asyncio.sleep(3600)

asyncio.run(main())
"""


def test_a_browser_whose_worker_was_killed_ends_by_itself(tmp_path: Path) -> None:
    root = Path(__file__).parent.parent
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert worker.stdout is not None
    chromium = psutil.Process(int(worker.stdout.readline()))
    worker.kill()
    worker.wait()
    worker.stdout.close()
    _, alive = psutil.wait_procs([chromium], timeout=30)
    assert not alive


def test_a_missing_browser_is_one_sentence_with_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="CAMPAIGN_BROWSER_PATH"):
        find_browser(Settings(home=tmp_path, browser_path=str(tmp_path / "missing")))
    mine = tmp_path / "chromium"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    assert find_browser(Settings(home=tmp_path, browser_path=str(mine))) == mine
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    monkeypatch.setattr("campaign_assets.web.browser._DEBIAN_SHELL", tmp_path / "missing")
    with pytest.raises(ConfigError, match="playwright install chromium"):
        find_browser(Settings(home=tmp_path))


def test_a_signal_to_the_workers_group_does_not_take_the_browser_away(tmp_path: Path) -> None:
    """Ctrl-C reaches the whole group; a filing between arming and verdict still needs its browser."""
    worker = """
import asyncio, os, signal, sys
from pathlib import Path
from campaign_assets.settings import Resolve, Settings
from campaign_assets.web.browser import Browser
from campaign_assets.web.network import Network

async def main():
    signal.signal(signal.SIGINT, lambda *_: None)
    browser = Browser(Network(Settings(home=Path(sys.argv[1]), resolve=Resolve("127.0.0.1", 9, 9))))
    async with browser.tab() as tab:
        os.killpg(os.getpgrp(), signal.SIGINT)
        await asyncio.sleep(0.5)
        print(await tab.evaluate("() => 6 * 7", None, "count"))
    await browser.close()

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", worker, str(tmp_path)],
        capture_output=True, text=True, cwd=Path(__file__).parent.parent, start_new_session=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "42", done.stderr
