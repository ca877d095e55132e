"""One tab: opened, read, filled and pressed. Every call is bounded; what goes wrong is a SiteError with a reason code.

The tab owns its context's events: what may not be sent is aborted here, popups and dialogs are refused and recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playwright.async_api import BrowserContext, Dialog, Page, Response, Route
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from campaign_assets.errors import SiteError
from campaign_assets.model import Entry, FormDocument, Reason
from campaign_assets.web import answers, interaction, press
from campaign_assets.web.bounds import bounded, browser_gone, first_line
from campaign_assets.web.egress import Egress
from campaign_assets.web.fetch import checked
from campaign_assets.web.forms import read_document
from campaign_assets.web.scripts import READ, SETTLE
from campaign_assets.web.traffic import Traffic

OPEN_TIMEOUT = 75.0
CALL_TIMEOUT = 20.0
"""For calls that Playwright does not bound itself: reading, screenshots, scripts."""
SETTLE_TIMEOUT = 8.0
HTML_LIMIT = 3_000_000
TEXT_LIMIT = 200_000
_MEDIA = frozenset({"media"})
_PICTURES = frozenset({"image", "media", "font"})
_SAFE_METHODS = frozenset({"GET", "HEAD"})

_NET_REASONS = (
    (re.compile(r"ERR_NAME_NOT_RESOLVED|ERR_DNS"), Reason.DNS_FAILURE),
    (re.compile(r"ERR_CERT|ERR_SSL|ERR_BAD_SSL|ERR_TLS"), Reason.TLS_FAILURE),
    (re.compile(r"ERR_TOO_MANY_REDIRECTS"), Reason.REDIRECT_LOOP),
    (re.compile(r"ERR_TIMED_OUT|ERR_CONNECTION_TIMED_OUT"), Reason.DEADLINE),
    (re.compile(r"ERR_ABORTED|Download is starting"), Reason.NOT_HTML),
    (
        re.compile(r"ERR_DISALLOWED_URL_SCHEME|ERR_UNKNOWN_URL_SCHEME|ERR_UNSAFE_PORT|ERR_BLOCKED"),
        Reason.ADDRESS_REFUSED,
    ),
)


@dataclass(frozen=True)
class Visit:
    """Where `open()` has ended."""

    url: str
    status: int


class Tab:
    """One page in a context of its own; made by `Browser.tab()` only."""

    def __init__(self, context: BrowserContext, page: Page, egress: Egress, *, allow_post: bool) -> None:
        self._context = context
        self.page = page
        self.egress = egress
        self.allow_post = allow_post
        self.traffic = Traffic(context)
        self.dialogs: list[str] = []
        """Texts of alerts, confirms and prompts, in order."""
        self.refused: list[str] = []
        """What was aborted: requests that are not GET, popups."""
        self.popups: list[Page] = []
        self.pressing = False
        self.pressed = False

    @classmethod
    async def create(cls, context: BrowserContext, egress: Egress, *, allow_post: bool, images: bool) -> Tab:
        async with bounded("open a tab", CALL_TIMEOUT):
            page = await context.new_page()
            tab = cls(context, page, egress, allow_post=allow_post)
            page.on("dialog", tab._on_dialog)
            context.on("page", tab._on_popup)
            if not allow_post or not images:
                await context.route("**/*", tab._gate(_MEDIA if images else _PICTURES))
        return tab

    async def open(self, url: str, *, timeout: float = OPEN_TIMEOUT) -> Visit:  # noqa: ASYNC109 (it bounds parts, too)
        """Load `url` and wait, bounded, until its scripts have come to rest. SiteError reasons as the fetcher's."""
        url = checked(url)
        async with bounded(f"open {url}", timeout + 5):
            try:
                response = await self.page.goto(url, wait_until="domcontentloaded", timeout=timeout * 1000)
            except PlaywrightTimeout as error:
                raise SiteError(Reason.DEADLINE, f"{url} did not answer in time.", transient=True) from error
            except PlaywrightError as error:
                raise self._navigation_error(url, error) from error
        await self._settle()
        status = await self._judge(url, response)
        return Visit(self.page.url, status)

    async def read(self) -> FormDocument:
        """The form model of the document as it is now, in one pass."""
        return read_document(await self.evaluate(READ, {}, "read the forms"))

    async def screenshot(self, *, full: bool = True) -> bytes:
        """A JPEG of the page, of at most 8,000 pixels' height."""
        async with bounded("take a screenshot", CALL_TIMEOUT):
            size = await self.page.evaluate(
                "() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
            )
            options: dict[str, Any] = {
                "type": "jpeg",
                "quality": 60,
                "animations": "disabled",
                "caret": "hide",
            }
            if full and size[1] > 8000:
                options["clip"] = {"x": 0, "y": 0, "width": min(max(size[0], 1280), 3000), "height": 8000}
            return await self.page.screenshot(full_page=full, timeout=CALL_TIMEOUT * 1000, **options)

    async def html(self) -> str:
        """The document's present markup, cut at three million characters."""
        script = "([limit]) => (document.documentElement ? document.documentElement.outerHTML : '').slice(0, limit)"
        return str(await self.evaluate(script, [HTML_LIMIT], "read the markup"))

    async def text(self) -> str:
        """The text a person sees, cut at 200,000 characters."""
        script = "([limit]) => (document.body ? document.body.innerText : '').slice(0, limit)"
        return str(await self.evaluate(script, [TEXT_LIMIT], "read the text"))

    async def apply(self, entry: Entry) -> None:
        """Do one entry as a person would, with real input events. SiteError form_changed where it cannot be done,
        also where a person could not see the control."""
        async with bounded(f"fill {entry.name or entry.index}", CALL_TIMEOUT):
            await interaction.apply(self.page, entry)

    async def read_back(self, entries: Sequence[Entry]) -> list[str]:
        """Every value that is not what the payload says, as a sentence each; empty when all is right."""
        async with bounded("read the values back", CALL_TIMEOUT):
            return await interaction.read_back(self.page, entries)

    async def dismiss_overlays(self) -> list[str]:
        """Refuse or close cookie banners and modals that lie over the page; the labels of what was clicked."""
        async with bounded("dismiss overlays", CALL_TIMEOUT):
            return await interaction.dismiss_overlays(self.page)

    async def ready(self, index: int) -> None:
        """Check that control `index` could be pressed now: seen, enabled, not covered. NotSent otherwise."""
        await press.ready(self, index)

    async def press(self, index: int, *, timeout: float = 60.0) -> press.Pressed:  # noqa: ASYNC109 (it never raises it)
        """Click control `index` once and tell what came of it, in at most about `timeout` seconds.

        NotSent where no click happened.
        """
        return await press.press(self, index, timeout)

    async def evaluate(self, script: str, argument: object, doing: str, seconds: float = CALL_TIMEOUT) -> Any:
        """Run a script in the page, bounded."""
        async with bounded(doing, seconds):
            return await self.page.evaluate(script, argument)

    async def _settle(self) -> None:
        """Wait for the load event and for the document to stop changing; a page that never rests is taken as it is.

        SiteError deadline where its scripts leave no room for an answer at all.
        """
        with contextlib.suppress(PlaywrightError):
            await self.page.wait_for_load_state("load", timeout=SETTLE_TIMEOUT * 1000)
        await self.traffic.rest(0.15, SETTLE_TIMEOUT)
        for _ in range(3):  # a document that is left for another one while we wait is no failure
            try:
                async with asyncio.timeout(SETTLE_TIMEOUT):
                    await self.page.evaluate(SETTLE, {})
                return
            except TimeoutError as error:
                sentence = f"The scripts of {self.page.url} never come to an end."
                raise SiteError(Reason.DEADLINE, sentence, transient=True) from error
            except PlaywrightError:
                await self.traffic.rest(0.15, SETTLE_TIMEOUT)

    async def _judge(self, url: str, response: Response | None) -> int:
        """The final document's status (a script may have led on from the first); the error it amounts to is raised."""
        landed = self.traffic.landing(self.page.url)
        if self.page.url.startswith("chrome-error:") or (landed and self.egress.is_ours(landed.made_up)):
            raise self._egress_error(self.traffic.last_navigation or url)
        status = landed.status if landed and landed.status else response.status if response else 200
        headers = response.headers if response and response.url == self.page.url else {}
        text = (await self.html())[:20_000]
        error = answers.problem(self.page.url, status, headers, text)
        if error:
            raise error
        kind = headers.get("content-type", "").partition(";")[0].strip()
        if kind and not (kind.startswith("text/") or "html" in kind or "xml" in kind):
            raise SiteError(Reason.NOT_HTML, f"{url} is {kind}, not a page.")
        return status

    def _navigation_error(self, url: str, error: PlaywrightError) -> SiteError:
        text = str(error)
        if "ERR_TUNNEL_CONNECTION_FAILED" in text or "ERR_PROXY" in text or "ERR_EMPTY_RESPONSE" in text:
            return self._egress_error(self.traffic.last_navigation or url)
        for pattern, reason in _NET_REASONS:
            if pattern.search(text):
                return SiteError(
                    reason,
                    f"{url} could not be opened: {first_line(text)}.",
                    transient=reason is Reason.DEADLINE,
                )
        if "ERR_" in text:
            return SiteError(
                Reason.CONNECTION_FAILED, f"{url} could not be opened: {first_line(text)}.", transient=True
            )
        return browser_gone(f"open {url}", error)

    def _egress_error(self, url: str) -> SiteError:
        return self.egress.problem(url) or SiteError(
            Reason.CONNECTION_FAILED, f"{url} ended the connection without an answer.", transient=True
        )

    def _gate(self, kinds: frozenset[str]) -> Any:
        async def gate(route: Route) -> None:
            request = route.request
            with contextlib.suppress(PlaywrightError):
                if not self.allow_post and request.method not in _SAFE_METHODS:
                    self.refused.append(f"{request.method} {request.url}")
                    await route.abort(
                        "aborted"
                    )  # any other code would put an error page in the document's place
                elif request.resource_type in kinds:
                    await route.abort("blockedbyclient")
                else:
                    await route.continue_()

        return gate

    async def _on_dialog(self, dialog: Dialog) -> None:
        """Alerts are closed; a question is answered yes only while a filing is pressed, and never one about money."""
        self.dialogs.append(dialog.message)
        self.traffic.stir()
        agree = dialog.type in ("alert", "beforeunload") or (
            self.pressing and dialog.type == "confirm" and not press.MONEY.search(dialog.message)
        )
        with contextlib.suppress(PlaywrightError):
            await (dialog.accept() if agree else dialog.dismiss())

    async def _on_popup(self, page: Page) -> None:
        if page is self.page:
            return
        page.on("dialog", self._on_dialog)
        if self.pressing:
            self.popups.append(page)  # a form may answer into a window of its own
            return
        self.refused.append(f"popup {page.url}")
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(CALL_TIMEOUT):
                await page.close()
