"""The one click of a filing, and the honest account of what came of it.

Told apart: *no* (certain: nothing left this machine), *yes* (the site answered) and *perhaps* (something left, no
answer is known). Never Enter, never twice. A browser silently repeats a request, a POST too, when a kept-alive
connection dies under it; so whatever is not GET leaves over a fresh connection here. *No* is said only after the tab's
way out was cut: nothing can leave later.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from playwright.async_api import ElementHandle, Page, Route
from playwright.async_api import Error as PlaywrightError

from campaign_assets.errors import InputError, NotSent, SiteError
from campaign_assets.model import Reason
from campaign_assets.web.bounds import bounded, first_line
from campaign_assets.web.scripts import CONTROL, TARGET
from campaign_assets.web.sites import registrable
from campaign_assets.web.traffic import Exchange

if TYPE_CHECKING:
    from campaign_assets.web.tab import Tab

MONEY = re.compile(
    r"[$€£¥]|\b(?:usd|eur|pay|payment|price|fee|charge|purchase|buy|kosten|zahlen|payer|pagar)\b",
    re.IGNORECASE,
)

CLICK_TIMEOUT = 10.0
READ_TIMEOUT = 10.0
NEXT_STEP = 10.0
"""Seconds a redirect is given to be followed."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SAFE = ("GET", "HEAD")
QUIET = 0.8
"""Seconds without any event after an answer: then the page has said what it has to say."""
FIRST_SIGN = 5.0
"""Seconds in which a click that does anything shows its first sign."""

_NOT_CONNECTED = re.compile(
    r"ERR_(?:CONNECTION_REFUSED|NAME_NOT_RESOLVED|TUNNEL_CONNECTION_FAILED|PROXY_CONNECTION_FAILED|ADDRESS_UNREACHABLE|INTERNET_DISCONNECTED"
    r"|CERT_\w+|SSL_(?:PROTOCOL|VERSION)\w*|BLOCKED_BY\w*|UNSAFE_PORT|UNKNOWN_URL_SCHEME|DISALLOWED_URL_SCHEME)"
)
"""Failures that come before a request is written. All others may have come after it."""


@dataclass(frozen=True)
class Post:
    """One request the click caused that may have carried the filing: not GET, or a navigation."""

    method: str
    url: str
    status: int | None
    """None: no answer is known."""
    failure: str | None = None
    sent: Literal["yes", "no", "perhaps"] = "perhaps"


@dataclass(frozen=True)
class Pressed:
    """What became of the click."""

    sent: Literal["yes", "no", "perhaps"]
    sentence: str
    posts: tuple[Post, ...]
    """Every request that is not GET, in order; a redirect that repeats the method counts again."""
    requests: tuple[Post, ...]
    """Those, and every navigation and script request of any method."""
    status: int | None
    """Of the final document where the click led to one, else of the last post; None where no answer is known."""
    navigated: bool
    final_url: str
    alert: str
    """What alerts and confirms said, joined."""
    text_before: str
    text_after: str
    html_after: str

    @property
    def changed(self) -> bool:
        """Whether the document's text changed."""
        return self.text_after != self.text_before


async def ready(tab: Tab, index: int) -> None:
    """NotSent where control `index` could not be pressed now by a person."""
    point = await tab.evaluate(TARGET, index, "look at the button")
    if "problem" in point:
        raise NotSent(Reason.NOT_SENT, f"The button was not pressed: {point['problem']}.")


async def press(tab: Tab, index: int, seconds: float) -> Pressed:
    """Click once and watch. NotSent where no click happened; whatever happens afterwards is told in Pressed."""
    if not tab.allow_post or tab.pressed:
        raise RuntimeError("A tab is pressed at most once, and only one that may post.")
    end = time.monotonic() + seconds
    element, before = await _prepared(tab, index)
    first, sent_before, url_before = len(tab.traffic.exchanges), tab.egress.sent, tab.page.url
    tab.dialogs.clear()
    tab.pressed = tab.pressing = True
    click = asyncio.create_task(_click(element))
    try:
        await _watch(tab, click, first, end)
    finally:
        click.cancel()
        await asyncio.wait([click])
    problem = None if click.cancelled() else click.exception()
    return await _account(tab, first, sent_before, url_before, before, problem)


async def _prepared(tab: Tab, index: int) -> tuple[ElementHandle, str]:
    """The button and the text before the click. Any failure up to here is certain knowledge that nothing was sent."""
    try:
        await ready(tab, index)
        before = await tab.text()
        async with bounded("find the button", READ_TIMEOUT):
            element = (await tab.page.evaluate_handle(CONTROL, index)).as_element()
            if element is None:
                raise NotSent(Reason.NOT_SENT, "The button is no longer in the page.")
            # Playwright's own test that a click there would reach the button; the click repeats it.
            await element.click(trial=True, timeout=5000)
            await tab.page.context.route("**/*", _on_fresh_connections(tab))
    except NotSent:
        raise
    except SiteError as error:
        raise NotSent(
            Reason.NOT_SENT, f"The button was not pressed: {error.sentence}", transient=error.transient
        ) from error
    return element, before


def _on_fresh_connections(tab: Tab) -> Callable[[Route], Awaitable[None]]:
    """Let what is not GET out only over a connection of its own, also where the page has just asked something else."""

    async def pass_on(route: Route) -> None:
        with contextlib.suppress(PlaywrightError):
            if route.request.method not in _SAFE:
                await tab.egress.refresh()
            await route.continue_()

    return pass_on


async def _click(element: ElementHandle) -> None:
    await element.click(timeout=CLICK_TIMEOUT * 1000, no_wait_after=True)


async def _watch(tab: Tab, click: asyncio.Task[None], first: int, end: float) -> None:
    """Until the click's requests have their answers and the page rests, or until `end`."""
    click.add_done_callback(lambda _: tab.traffic.stir())
    patience = min(FIRST_SIGN, max(end - time.monotonic(), 0))
    started = time.monotonic()
    while (left := end - time.monotonic()) > 0:
        if tab.page.is_closed() or not _alive(tab):
            return
        pending = any(e.awaited for e in tab.traffic.exchanges[first:])
        signs = any(e.telling for e in tab.traffic.exchanges[first:]) or bool(tab.dialogs)
        quiet = QUIET if signs else max(QUIET, started + patience - time.monotonic())
        if _leads_on(tab.traffic.exchanges[first:]):
            quiet = max(quiet, NEXT_STEP)
        if pending or not click.done():
            await tab.traffic.stirred(left)
        elif not await tab.traffic.stirred(min(quiet, left)):
            return


def _leads_on(exchanges: list[Exchange]) -> bool:
    """Whether the last navigation was answered with a redirect: a busy browser may take its time to follow it."""
    last = next((e for e in reversed(exchanges) if e.navigation), None)
    return last is not None and last.status in _REDIRECTS


def _alive(tab: Tab) -> bool:
    browser = tab.page.context.browser
    return browser is None or browser.is_connected()


async def _account(
    tab: Tab, first: int, sent_before: int, url_before: str, before: str, problem: BaseException | None
) -> Pressed:
    exchanges = tab.traffic.exchanges[first:]
    page = _telling_page(tab, url_before)
    after, html = await _document(
        page, before, READ_TIMEOUT if not any(e.awaited for e in exchanges) else 2.0
    )
    sent = _sent(tab, exchanges, url_before, sent_before)
    if sent == "no":
        # From here on nothing can leave, not by a script that tries again either: now "no" is certain.
        tab.egress.cut()
        await _caught_up(page)
        exchanges = tab.traffic.exchanges[first:]
        sent = _sent(tab, exchanges, url_before, sent_before)
    requests = tuple(_post(tab, e) for e in exchanges if e.telling)
    posts = tuple(_post(tab, e) for e in exchanges if e.method not in _SAFE)
    documents = [e for e in exchanges if e.navigation and e.status is not None and not _made_up(tab, e)]
    navigated = bool(documents) or page.url.partition("#")[0] != url_before.partition("#")[0]
    status = (
        documents[-1].status if documents else next((p.status for p in reversed(posts) if p.status), None)
    )
    return Pressed(
        sent, _sentence(sent, requests, status, problem), posts, requests, status, navigated, page.url,
        "\n".join(tab.dialogs), before, after, html,
    )  # fmt: skip


def _telling_page(tab: Tab, url_before: str) -> Page:
    """The window that holds the answer: one the form has opened, where the page itself stayed as it was."""
    if tab.popups and tab.page.url == url_before and not tab.popups[-1].is_closed():
        return tab.popups[-1]
    return tab.page


async def _document(page: Page, before: str, seconds: float) -> tuple[str, str]:
    """Text and markup after the click; what was before where the browser no longer tells."""
    script = (
        "() => [document.body ? document.body.innerText.slice(0, 200000) : '',"
        " document.documentElement.outerHTML.slice(0, 3000000)]"
    )
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            for _ in range(3):  # a document that is just being replaced is asked again
                with contextlib.suppress(PlaywrightError):
                    await page.wait_for_load_state("domcontentloaded")
                    text, html = await page.evaluate(script)
                    return str(text), str(html)
    return before, ""


async def _caught_up(page: Page) -> None:
    """A question and its answer: every event that came before has been heard by then."""
    with contextlib.suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(2):
            await page.evaluate("() => 1")


def _made_up(tab: Tab, exchange: Exchange) -> bool:
    return tab.egress.is_ours(exchange.made_up)


def _post(tab: Tab, exchange: Exchange) -> Post:
    if _made_up(tab, exchange):
        problem = tab.egress.problem(exchange.url)
        return Post(
            exchange.method, exchange.url, None, problem.sentence if problem else "no connection", "no"
        )
    if exchange.status is not None:
        return Post(exchange.method, exchange.url, exchange.status, exchange.failure, "yes")
    certain = exchange.failure is not None and bool(_NOT_CONNECTED.search(exchange.failure))
    return Post(exchange.method, exchange.url, None, exchange.failure, "no" if certain else "perhaps")


def _sent(tab: Tab, exchanges: list[Exchange], url: str, sent_before: int) -> Literal["yes", "no", "perhaps"]:
    """Whether the filing has left, by the requests the click caused since the page at `url` was pressed."""
    telling = [(e, _post(tab, e).sent) for e in exchanges if e.telling]
    if not telling:
        # Pictures and styles carry no form. A browser that died may not have told all: the proxy's count decides.
        return "no" if _alive(tab) or tab.egress.sent == sent_before else "perhaps"
    if all(sent == "no" for _, sent in telling):
        return "no"
    posts = [(e, sent) for e, sent in telling if e.method not in _SAFE and e.kind != "ping"]
    own = [sent for e, sent in posts if _site(e.url) == _site(url)]
    # Beside the filing a click often sets off somebody's counting; its answer is not the filing's.
    likely = own or [sent for e, sent in telling if e.navigation] or [sent for _, sent in posts]
    return "yes" if likely and likely[-1] == "yes" else "perhaps"


def _site(url: str) -> str:
    try:
        return registrable(url)
    except InputError:
        return url


def _sentence(
    sent: str, requests: tuple[Post, ...], status: int | None, problem: BaseException | None
) -> str:
    if sent == "yes":
        return f"The site answered with status {status}."
    if sent == "no" and requests:
        return f"Nothing was sent: {requests[-1].failure}."
    if sent == "no":
        return "Nothing was sent: the click caused no request."
    if problem is not None:
        return f"A request may have left, then the browser failed: {first_line(str(problem))}."
    return "A request has left and no answer came in time."
