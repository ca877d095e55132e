# ruff: noqa: E501 (a case of a table, or a page's markup, is one line)
"""The one click: counted at the site, and told honestly whatever the site does."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import trustme
from aiohttp import web

from campaign_assets.errors import NotSent
from campaign_assets.model import Action
from campaign_assets.settings import Resolve, Settings
from campaign_assets.web.browser import Browser
from campaign_assets.web.network import Network
from campaign_assets.web.press import Pressed
from campaign_assets_tests.web_desk import Desk, Handler, entry


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("home"))
    yield desk
    desk.close()


@dataclass
class Filed:
    """What the site got."""

    posts: list[dict[str, str]] = field(default_factory=list)


FORM = "<!doctype html><h1>Add</h1><form method=post action=/submit {}><input name=title>{}<button>Send</button></form>"


def _site(
    desk: Desk, host: str, answer: Handler | None, form: str = FORM.format("", "")
) -> tuple[str, Filed]:
    """A form at `host` whose posts are counted before they are answered by `answer`."""
    filed = Filed()

    async def submit(request: web.Request) -> web.StreamResponse:
        filed.posts.append({key: str(value) for key, value in (await request.post()).items()})
        assert answer is not None
        return await answer(request)

    desk.serve(submit, "/submit", host)
    return desk.serve(form, "/", host), filed


def _answer(status: int, text: str = "<p>Thank you", **headers: str) -> Handler:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, text=text, content_type="text/html", headers=headers)

    return answer


def _press(
    desk: Desk, url: str, *, timeout: float = 30.0, index: int = 1, browser: Browser | None = None,
    during: Callable[[Browser], Coroutine[Any, Any, None]] | None = None,
) -> Pressed:  # fmt: skip
    async def work() -> Pressed:
        used = browser or desk.browser
        async with used.tab(allow_post=True) as tab:
            await tab.open(url)
            await tab.apply(entry(0, "text", Action.FILL, "Acme", "title"))
            helper = asyncio.create_task(during(used)) if during else None
            pressed = await tab.press(index, timeout=timeout)
            if helper:
                await helper
            return pressed

    return desk.run(work())


def test_a_click_files_once_and_the_answer_is_told(desk: Desk) -> None:
    url, filed = _site(desk, "plain.example", _answer(200))
    pressed = _press(desk, url)
    assert filed.posts == [{"title": "Acme"}]
    assert (pressed.sent, pressed.status, pressed.navigated, pressed.text_after.strip()) == (
        "yes",
        200,
        True,
        "Thank you",
    )
    assert [(p.method, p.url, p.status) for p in pressed.posts] == [
        ("POST", "http://plain.example/submit", 200)
    ]
    assert pressed.final_url == "http://plain.example/submit"
    assert pressed.changed
    assert "Thank you" in pressed.html_after


def test_a_redirect_after_the_post_is_followed_to_its_page(desk: Desk) -> None:
    desk.serve("<p>Listed", "/thanks", "redirect.example")
    url, filed = _site(desk, "redirect.example", _answer(303, Location="/thanks"))
    pressed = _press(desk, url)
    assert len(filed.posts) == 1
    assert (pressed.sent, pressed.status, pressed.final_url) == ("yes", 200, "http://redirect.example/thanks")
    assert [p.status for p in pressed.posts] == [303]


def test_success_text_on_a_500_is_told_with_its_status(desk: Desk) -> None:
    url, filed = _site(desk, "liar.example", _answer(500, "<p>Submitted!"))
    pressed = _press(desk, url)
    assert len(filed.posts) == 1
    assert (pressed.sent, pressed.status, pressed.text_after.strip()) == ("yes", 500, "Submitted!")


def test_a_slow_answer_is_waited_for(desk: Desk) -> None:
    async def slow(_: web.Request) -> web.Response:
        await asyncio.sleep(7)
        return web.Response(text="<p>at last", content_type="text/html")

    url, filed = _site(desk, "slow.example", slow)
    pressed = _press(desk, url)
    assert len(filed.posts) == 1
    assert (pressed.sent, pressed.status, pressed.text_after.strip()) == ("yes", 200, "at last")


def test_no_answer_is_perhaps(desk: Desk) -> None:
    async def silent(_: web.Request) -> web.Response:
        await asyncio.sleep(3600)
        return web.Response()

    url, filed = _site(desk, "silent.example", silent)
    pressed = _press(desk, url, timeout=2)
    assert len(filed.posts) == 1
    assert (pressed.sent, pressed.status) == ("perhaps", None)


ASKS_FIRST = (
    "onsubmit=\"event.preventDefault();fetch('/validate').then(r=>r.text()).then(()=>this.submit())\""
)


@pytest.mark.parametrize(("scheme", "extra"), [("http", ""), ("https", ""), ("https", ASKS_FIRST)])
def test_a_connection_broken_off_after_the_post_is_perhaps_and_never_posted_again(
    desk: Desk, scheme: str, extra: str
) -> None:
    """A browser repeats a request, a POST too, when a kept-alive connection dies under it: ours may not."""
    filed = Filed()

    async def form(_: web.Request) -> web.Response:
        return web.Response(text=FORM.format(extra, "<img src=/a.png>"), content_type="text/html")

    async def submit(request: web.Request) -> web.Response:
        filed.posts.append({key: str(value) for key, value in (await request.post()).items()})
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def work() -> Pressed:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("cut.example").configure_cert(context)
        app = web.Application()
        app.router.add_get("/", form)
        app.router.add_get("/validate", form)
        app.router.add_post("/submit", submit)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context if scheme == "https" else None).start()
        port = int(runner.addresses[0][1])
        browser = Browser(
            Network(Settings(home=desk.settings.home, resolve=Resolve("127.0.0.1", port, port)))
        )
        try:
            async with browser.tab(allow_post=True) as tab:
                await tab.open(f"{scheme}://cut.example/")
                return await tab.press(1, timeout=20)
        finally:
            await browser.close()
            await runner.cleanup()

    pressed = desk.run(work())
    assert len(filed.posts) == 1
    assert (pressed.sent, pressed.status) == ("perhaps", None)


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:1/submit",
        "http://10.0.0.1/submit",
        "https://localhost/submit",
        "https://169.254.169.254/",
        "http://refused.example:22/",
    ],
)
def test_a_form_that_posts_to_a_hostile_address_is_certainly_not_sent(desk: Desk, target: str) -> None:
    url = desk.serve(f"<form method=post action={target}><input name=title><button>Send</button></form>")
    pressed = _press(desk, url)
    assert pressed.sent == "no", pressed
    assert pressed.status is None


def test_a_connection_that_is_refused_is_certainly_not_sent(desk: Desk) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        settings = Settings(
            home=desk.settings.home, resolve=Resolve("127.0.0.1", desk.port, free.getsockname()[1])
        )
        url = desk.serve(
            "<form method=post action=https://gone.example/><input name=title><button>Send</button></form>"
        )

        async def work() -> Pressed:
            browser = Browser(Network(settings))
            try:
                async with browser.tab(allow_post=True) as tab:
                    await tab.open(url)
                    return await tab.press(1)
            finally:
                await browser.close()

        pressed = desk.run(work())
    assert (pressed.sent, pressed.status, pressed.posts[0].sent) == ("no", None, "no")


def test_a_form_that_its_own_check_holds_back_is_certainly_not_sent_and_stays_so(desk: Desk) -> None:
    url, filed = _site(desk, "valid.example", None, FORM.format("", "<input name=must required>"))
    pressed = _press(desk, url, index=2)
    assert (pressed.sent, pressed.posts, filed.posts) == ("no", (), [])


def test_a_single_page_app_that_replaces_its_form_is_read(desk: Desk) -> None:
    form = FORM.format(
        "onsubmit=\"event.preventDefault();fetch('/submit',{method:'POST',body:new URLSearchParams(new FormData(this))})"
        ".then(()=>setTimeout(()=>{document.body.innerHTML='<p>We got it.'},200))\"", "",
    )  # fmt: skip
    url, filed = _site(desk, "spa.example", _answer(201, "{}"), form)
    pressed = _press(desk, url)
    assert filed.posts == [{"title": "Acme"}]
    assert (pressed.sent, pressed.status, pressed.navigated, pressed.text_after.strip()) == (
        "yes",
        201,
        False,
        "We got it.",
    )


def test_an_alert_is_told_and_a_question_is_answered_yes_unless_it_is_about_money(desk: Desk) -> None:
    url, filed = _site(
        desk,
        "alert.example",
        _answer(200),
        FORM.format("onsubmit=\"alert('Thanks!');return confirm('Send now?')\"", ""),
    )
    pressed = _press(desk, url)
    assert (pressed.alert, len(filed.posts), pressed.sent) == ("Thanks!\nSend now?", 1, "yes")
    url, filed = _site(
        desk, "money.example", _answer(200), FORM.format("onsubmit=\"return confirm('Pay $10 now?')\"", "")
    )
    pressed = _press(desk, url)
    assert (pressed.alert, filed.posts, pressed.sent) == ("Pay $10 now?", [], "no")


def test_a_form_that_answers_into_a_window_of_its_own_is_read_there(desk: Desk) -> None:
    url, filed = _site(
        desk, "blank.example", _answer(200, "<p>Thanks from the popup"), FORM.format("target=_blank", "")
    )
    pressed = _press(desk, url)
    assert len(filed.posts) == 1
    assert (pressed.sent, pressed.status, pressed.text_after.strip()) == ("yes", 200, "Thanks from the popup")


def test_a_form_by_get_is_sent_by_its_navigation(desk: Desk) -> None:
    desk.serve("<p>Got it", "/get", "get.example")
    url = desk.serve("<form action=/get><input name=title><button>Send</button></form>", "/", "get.example")
    pressed = _press(desk, url)
    assert (pressed.sent, pressed.status, pressed.posts, len(pressed.requests)) == ("yes", 200, (), 1)
    assert len(desk.hits("GET get.example /get")) == 1


@pytest.mark.parametrize(
    ("markup", "why"),
    [
        ("<div style='position:fixed;inset:0;background:#000'>modal</div>", "covered"),
        ("<style>button{display:none}</style>", "cannot see it"),
        (
            "<script>document.currentScript.previousElementSibling.querySelector('button').disabled=true</script>",
            "disabled",
        ),
        (
            "<script>document.currentScript.previousElementSibling.querySelector('button').remove()</script>",
            "no longer",
        ),
    ],
)
def test_a_button_that_a_person_could_not_press_is_not_pressed(desk: Desk, markup: str, why: str) -> None:
    host = f"unpressable{abs(hash(why)) % 10**8}.example"
    url, filed = _site(desk, host, _answer(200), FORM.format("", "") + markup)
    with pytest.raises(NotSent, match=why):
        _press(desk, url)
    assert filed.posts == []


def test_a_covered_button_is_pressed_once_its_cover_is_refused(desk: Desk) -> None:
    cover = "<div id=b role=dialog style='position:fixed;inset:0;background:#fff'>Cookies <button onclick=b.remove()>Reject</button></div>"
    url, filed = _site(desk, "cover.example", _answer(200), FORM.format("", "") + cover)

    async def work() -> Pressed:
        async with desk.browser.tab(allow_post=True) as tab:
            await tab.open(url)
            with pytest.raises(NotSent, match="covered by"):
                await tab.ready(1)
            await tab.dismiss_overlays()
            await tab.ready(1)
            return await tab.press(1)

    assert desk.run(work()).sent == "yes"
    assert len(filed.posts) == 1


def test_a_tab_is_never_pressed_twice_nor_where_it_may_not_post(desk: Desk) -> None:
    url, filed = _site(desk, "twice.example", _answer(204, ""))

    async def work() -> Pressed:
        async with desk.browser.tab(allow_post=True) as tab:
            await tab.open(url)
            pressed = await tab.press(1)
            with pytest.raises(RuntimeError):
                await tab.press(1)
        async with desk.browser.tab() as tab:
            await tab.open(url)
            with pytest.raises(RuntimeError):
                await tab.press(1)
        return pressed

    pressed = desk.run(work())
    assert len(filed.posts) == 1
    assert (pressed.sent, pressed.posts[0].status) == ("yes", 204)


def test_a_browser_killed_after_the_post_has_left_is_perhaps(desk: Desk) -> None:
    arrived = asyncio.Event()

    async def silent(_: web.Request) -> web.Response:
        arrived.set()
        await asyncio.sleep(3600)
        return web.Response()

    async def kill(browser: Browser) -> None:
        await arrived.wait()
        assert browser.process_group is not None
        os.killpg(browser.process_group, signal.SIGKILL)

    url, filed = _site(desk, "killed.example", silent)
    pressed = _press(desk, url, during=kill)
    assert len(filed.posts) == 1
    assert pressed.sent == "perhaps"


def test_a_stop_in_mid_click_passes_through(desk: Desk) -> None:
    arrived = asyncio.Event()

    async def silent(_: web.Request) -> web.Response:
        arrived.set()
        await asyncio.sleep(3600)
        return web.Response()

    url, _ = _site(desk, "stop.example", silent)

    async def unit() -> None:
        async with desk.browser.tab(allow_post=True) as tab:
            await tab.open(url)
            await tab.press(1, timeout=60)

    async def work() -> None:
        task = asyncio.create_task(unit())
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    desk.run(work())


def test_an_answer_to_somebodys_counting_is_no_answer_to_the_filing(desk: Desk) -> None:
    async def silent(_: web.Request) -> web.Response:
        await asyncio.sleep(3600)
        return web.Response()

    desk.serve(_answer(204, "", **{"Access-Control-Allow-Origin": "*"}), "/collect", "counting.example")
    counting = "onsubmit=\"fetch('http://counting.example/collect',{method:'POST',mode:'no-cors',body:'x'})\""
    url, filed = _site(desk, "counted.example", silent, FORM.format(counting, ""))
    pressed = _press(desk, url, timeout=4)
    assert len(filed.posts) == 1
    assert desk.hits("POST counting.example")
    assert pressed.sent == "perhaps"


def test_a_script_that_tries_again_after_a_refused_connection_cannot_file_later(desk: Desk) -> None:
    again = (
        "onsubmit=\"event.preventDefault();fetch('http://10.0.0.1/submit',{method:'POST',body:'x'})"
        ".catch(()=>setTimeout(()=>fetch('/submit',{method:'POST',body:'x'}),2500))\""
    )
    url, filed = _site(desk, "again.example", _answer(200), FORM.format(again, ""))

    async def work() -> Pressed:
        async with desk.browser.tab(allow_post=True) as tab:
            await tab.open(url)
            pressed = await tab.press(1)
            await tab.page.wait_for_timeout(3000)
            return pressed

    pressed = desk.run(work())
    assert (pressed.sent == "no") == (filed.posts == []), pressed
