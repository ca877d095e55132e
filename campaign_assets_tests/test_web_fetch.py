# ruff: noqa: E501 (a case of a table, or a page's markup, is one line)
"""The fetcher on a real server: redirects, bounds, politeness, reasons."""

from __future__ import annotations

import asyncio
import gzip
import socket
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from aiohttp import web

from campaign_assets.errors import SiteError
from campaign_assets.settings import Resolve, Settings
from campaign_assets.web.fetch import Document, Fetcher
from campaign_assets.web.network import Endpoint, Network
from campaign_assets_tests.web_desk import Desk, Handler


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("home"))
    yield desk
    desk.close()


def _status(status: int, **headers: str) -> Handler:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, text="sorry", headers=headers)

    return answer


def _redirect(target: str) -> Handler:
    return _status(302, Location=target)


def _body(body: bytes, **headers: str) -> Handler:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body, headers={"Content-Type": "text/html", **headers})

    return answer


def _reason(answer: object) -> str:
    assert isinstance(answer, SiteError), f"no error but {answer!r}"
    return answer.reason


def test_a_document_is_fetched_with_our_name_and_its_redirects(desk: Desk) -> None:
    final = desk.serve("<p>Grüße")
    middle = desk.serve(_redirect(final))
    first = desk.serve(_redirect(middle))
    document = desk.fetch(first)
    assert isinstance(document, Document)
    assert (document.url, document.status, document.redirects) == (final, 200, (first, middle))
    assert document.text == "<p>Grüße"
    assert desk.agents == {desk.network.user_agent}


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.1/", "http://localhost/", "http://[::1]/", "http://2130706433/", "http://0x7f.1/", "http://169.254.169.254/latest/meta-data/",
     "file:///etc/passwd", "ftp://site.example/", "javascript:alert(1)", "http://10.0.0.1:8080/", "//127.0.0.1/", "http://site.example:22/"],
)  # fmt: skip
def test_a_redirect_to_a_hostile_address_is_refused(desk: Desk, target: str) -> None:
    assert _reason(desk.fetch(desk.serve(_redirect(target)))) == "address_refused"


def test_a_redirect_in_a_circle_ends_at_once_and_an_endless_one_after_ten(desk: Desk) -> None:
    desk.serve(_redirect("/b"), "/a", "circle.example")
    desk.serve(_redirect("/a"), "/b", "circle.example")
    assert _reason(desk.fetch("http://circle.example/a")) == "redirect_loop"
    assert len(desk.hits("GET circle.example /a")) == 1

    for number in range(20):
        desk.serve(_redirect(f"/{number + 1}"), f"/{number}", "endless.example")
    assert _reason(desk.fetch("http://endless.example/0")) == "redirect_loop"
    assert len(desk.hits("GET endless.example /")) == 12  # robots.txt and eleven documents


def test_a_redirect_that_only_sets_a_cookie_is_no_circle(desk: Desk) -> None:
    async def answer(request: web.Request) -> web.Response:
        if "seen" in request.cookies:
            return web.Response(text="<p>welcome", content_type="text/html")
        response = web.Response(status=302, headers={"Location": "/"})
        response.set_cookie("seen", "1")
        return response

    assert desk.fetch(desk.serve(answer, "/", "cookie.example")).text == "<p>welcome"


@pytest.mark.parametrize(
    ("status", "reason", "transient"),
    [(401, "blocked", False), (403, "blocked", False), (404, "not_found", False), (410, "not_found", False), (500, "server_error", True),
     (502, "server_error", True), (503, "server_error", True)],
)  # fmt: skip
def test_a_bad_status_has_its_reason(desk: Desk, status: int, reason: str, transient: bool) -> None:
    error = desk.fetch(desk.serve(_status(status)))
    assert (_reason(error), error.transient) == (reason, transient)


def test_a_429_says_when_to_come_back(desk: Desk) -> None:
    error = desk.fetch(desk.serve(_status(429, **{"Retry-After": "77"})))
    assert (_reason(error), error.retry_after, error.transient) == ("rate_limited", 77, True)


def test_a_guards_page_is_blocked_and_not_a_broken_site(desk: Desk) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=503, text="<title>Just a moment...</title>", content_type="text/html")

    assert _reason(desk.fetch(desk.serve(answer))) == "blocked"


def test_a_body_beyond_its_limit_is_too_large_however_it_is_packed(desk: Desk) -> None:
    big = b"<p>" + b"x" * 200_000
    assert _reason(desk.fetch(desk.serve(_body(big)), limit=100_000)) == "too_large"
    assert len(desk.fetch(desk.serve(_body(big)), limit=300_000).body) == len(big)
    bomb = gzip.compress(b"\0" * 200_000_000)
    started = time.process_time()
    assert _reason(desk.fetch(desk.serve(_body(bomb, **{"Content-Encoding": "gzip"})))) == "too_large"
    assert time.process_time() - started < 60


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate"])
def test_a_packed_body_is_unpacked(desk: Desk, encoding: str) -> None:
    text = "<p>packed</p>" * 50_000
    raw = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": gzip.compress(text.encode()),
        "deflate": zlib.compress(text.encode()),
        "raw deflate": raw.compress(text.encode()) + raw.flush(),
    }
    url = desk.serve(_body(packed[encoding], **{"Content-Encoding": encoding.split()[-1]}))
    assert desk.fetch(url).text == text


def test_a_broken_packed_body_is_a_failed_connection(desk: Desk) -> None:
    url = desk.serve(_body(b"\x1f\x8bnonsense", **{"Content-Encoding": "gzip"}))
    assert _reason(desk.fetch(url)) == "connection_failed"


def test_what_is_no_page_is_not_html(desk: Desk) -> None:
    pdf = desk.serve(_body(b"%PDF-1.7", **{"Content-Type": "application/pdf"}))
    assert _reason(desk.fetch(pdf)) == "not_html"
    assert desk.fetch(pdf, html_only=False).body == b"%PDF-1.7"


def test_a_dripping_and_a_silent_server_end_at_our_own_clock(desk: Desk) -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        while True:
            await response.write(b"x")
            await asyncio.sleep(0.05)

    async def silent(_: web.Request) -> web.Response:
        await asyncio.sleep(3600)
        return web.Response()

    for handler in (drip, silent):
        error = desk.fetch(desk.serve(handler), robots=False, fetcher={"patience": 0.7})
        assert (_reason(error), error.transient) == ("deadline", True)


def test_a_connection_that_is_refused_or_broken_off_is_a_failed_connection(desk: Desk) -> None:
    async def broken(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    assert _reason(desk.fetch(desk.serve(broken), robots=False)) == "connection_failed"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        dead = Network(
            Settings(
                home=Path("/nonexistent"),
                resolve=Resolve("127.0.0.1", free.getsockname()[1], 1),
            )
        )
        assert _reason(desk.run(_get(dead, "http://dead.example/"))) == "connection_failed"


async def _get(network: Network, url: str) -> Document | SiteError:
    fetcher = Fetcher(network, interval=0)
    try:
        return await fetcher.get(url)
    except SiteError as error:
        return error
    finally:
        await fetcher.close()


class _Here(Network):
    """Loopback instead of the internet, with everything else as outside of `resolve`: certificates are checked."""

    def __init__(self, port: int) -> None:
        super().__init__(Settings(home=Path("/nonexistent"), contact="ops@agency.example"))
        self._port = port

    async def endpoints(self, host: str, port: int) -> list[Endpoint]:
        return [Endpoint("127.0.0.1", self._port)]

    def permits(self, address: str, port: int) -> bool:
        return True


def test_a_certificate_that_does_not_hold_is_a_tls_failure_outside_of_resolve(desk: Desk) -> None:
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("secure.example").configure_cert(context)

    async def work() -> Document | SiteError:
        async def hello(_: web.Request) -> web.Response:
            return web.Response(text="<p>hello")

        app = web.Application()
        app.router.add_get("/", hello)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        try:
            return await _get(_Here(int(runner.addresses[0][1])), "https://secure.example/")
        finally:
            await runner.cleanup()

    assert _reason(desk.run(work())) == "tls_failure"


def test_tls_where_plain_http_is_spoken_is_a_tls_failure(desk: Desk) -> None:
    assert _reason(desk.fetch(desk.serve("<p>plain").replace("http:", "https:"))) == "tls_failure"


def test_robots_is_asked_once_and_obeyed(desk: Desk) -> None:
    rules = "User-agent: campaign_assets\nDisallow: /private\n\nUser-agent: *\nDisallow: /"
    desk.serve(_body(rules.encode(), **{"Content-Type": "text/plain"}), "/robots.txt", "polite.example")
    for path in ("/", "/private/x", "/open"):
        desk.serve("<p>page", path, "polite.example")

    async def work() -> list[str]:
        fetcher = desk.fetcher()
        said = [await fetcher.robots(f"http://polite.example{path}") for path in ("/", "/private/x")]
        answers = await asyncio.gather(
            *(fetcher.get(f"http://polite.example{path}") for path in ("/", "/private/x", "/open")),
            return_exceptions=True,
        )
        await fetcher.close()
        return [*said, *(a.reason if isinstance(a, SiteError) else "fetched" for a in answers)]

    assert desk.run(work()) == ["allowed", "forbidden", "fetched", "robots_forbidden", "fetched"]
    assert len(desk.hits("GET polite.example /robots.txt")) == 1
    assert not desk.hits("GET polite.example /private/x")


@pytest.mark.parametrize(
    ("status", "answer"), [(404, "fetched"), (403, "fetched"), (500, "server_error"), (429, "rate_limited")]
)
def test_without_robots_everything_is_allowed_and_a_broken_one_forbids_for_now(
    desk: Desk, status: int, answer: str
) -> None:
    host = f"robots{status}.example"
    desk.serve(_status(status), "/robots.txt", host)
    got = desk.fetch(desk.serve("<p>page", "/", host))
    assert (got.reason if isinstance(got, SiteError) else "fetched") == answer


def test_robots_of_the_host_a_redirect_leads_to_counts(desk: Desk) -> None:
    desk.serve(
        _body(b"User-agent: *\nDisallow: /", **{"Content-Type": "text/plain"}),
        "/robots.txt",
        "closed.example",
    )
    desk.serve("<p>page", "/", "closed.example")
    assert _reason(desk.fetch(desk.serve(_redirect("http://closed.example/")))) == "robots_forbidden"
    assert not desk.hits("GET closed.example /page")


def test_the_rate_is_booked_per_host_with_its_crawl_delay(desk: Desk) -> None:
    desk.serve(
        _body(b"User-agent: *\nCrawl-delay: 7", **{"Content-Type": "text/plain"}),
        "/robots.txt",
        "slow.example",
    )
    desk.serve("<p>page", "/", "slow.example")
    booked: list[tuple[str, float]] = []

    async def reserve(host: str, interval: float) -> float:
        booked.append((host, interval))
        return 0.0

    desk.fetch("http://slow.example/", fetcher={"reserve": reserve, "interval": 2.0})
    assert booked == [("slow.example", 2.0), ("slow.example", 7.0)]


def test_no_more_than_two_requests_are_in_flight_at_one_host(desk: Desk) -> None:
    now = most = 0

    async def count(_: web.Request) -> web.Response:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.05)
        now -= 1
        return web.Response(text="<p>page", content_type="text/html")

    for number in range(8):
        desk.serve(count, f"/{number}", "busy.example")

    async def work() -> None:
        fetcher = desk.fetcher()
        await asyncio.gather(
            *(fetcher.get(f"http://busy.example/{number}", robots=False) for number in range(8))
        )
        await fetcher.close()

    desk.run(work())
    assert most == 2
