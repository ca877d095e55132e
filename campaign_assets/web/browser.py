"""One Chromium for one run: found, launched lazily, relaunched when it died, ended for certain.

Chromium's only way out is the Egress of each tab; the browser itself has a proxy that leads nowhere. Every await on it
is bounded, because a stopped browser answers nothing; `close()` ends its process group when asking did not help.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from campaign_assets.errors import ConfigError, SiteError
from campaign_assets.model import Reason
from campaign_assets.settings import Settings
from campaign_assets.web.driver import own_session
from campaign_assets.web.egress import Egress
from campaign_assets.web.network import Network
from campaign_assets.web.tab import Tab

LAUNCH_TIMEOUT = 60.0
CLOSE_TIMEOUT = 5.0
VIEWPORT = (1280, 900)

_NAMES = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
)
_DEBIAN_SHELL = Path("/usr/lib/chromium/chromium-headless-shell")
"""Debian's wrapper on PATH does not exec; a kill would hit the wrapper only."""
_NOWHERE = "http://127.0.0.1:9"
# No --disable-features here: one of ours would replace Playwright's own list.
_FLAGS = (
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-gpu",
    "--no-pings",
    "--dns-prefetch-disable",
    "--mute-audio",
)


def find_browser(settings: Settings) -> Path:
    """The Chromium to use: CAMPAIGN_BROWSER_PATH, else Playwright's own, else one on this machine.

    ConfigError names the fix.
    """
    if settings.browser_path:
        path = Path(settings.browser_path).expanduser()
        if not os.access(path, os.X_OK) or path.is_dir():
            raise ConfigError(
                f"CAMPAIGN_BROWSER_PATH is {settings.browser_path}, which is not a program that can be run."
            )
        return path
    for path in (*_playwright_browsers(), _DEBIAN_SHELL):
        if os.access(path, os.X_OK):
            return path
    for name in _NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    raise ConfigError(
        "No Chromium was found; run `playwright install chromium`, or install Debian's chromium-headless-shell, "
        "or set CAMPAIGN_BROWSER_PATH."
    )


def _playwright_browsers() -> list[Path]:
    """Chromium builds that `playwright install` has put into its cache, newest first."""
    root = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or "~/.cache/ms-playwright").expanduser()
    patterns = ("chromium_headless_shell-*/*/*headless*shell", "chromium-*/*/chrome")
    return [path for pattern in patterns for path in sorted(root.glob(pattern), reverse=True)]


class Browser:
    """The browser of one run. Nothing is launched before the first `tab()`; `close()` it at the end."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._playwright: Playwright | None = None
        self._chromium: Chromium | None = None
        self._mark = ""
        self._group: int | None = None
        self._launching = asyncio.Lock()

    @asynccontextmanager
    async def tab(self, *, allow_post: bool = False, images: bool = True) -> AsyncIterator[Tab]:
        """A tab in a context of its own: no cookies, no cache, no connection shared with any other.

        Without `allow_post` every request that is not GET or HEAD is aborted (rule R15). `images=False` spares loading
        pictures, for pages of which no screenshot is wanted. SiteError (transient) where the browser does not start.
        """
        self._network.ready()
        async with Egress(self._network) as egress:
            context = await self._context(egress)
            try:
                yield await Tab.create(context, egress, allow_post=allow_post, images=images)
            finally:
                egress.cut()
                if not await _settled(context.close(), CLOSE_TIMEOUT) and self._chromium is context.browser:
                    self._kill()  # a browser that cannot even close a tab: the next one is launched anew

    async def close(self) -> None:
        """End the browser, by asking first; bounded, and no process is left behind. Safe to call twice."""
        chromium, playwright = self._chromium, self._playwright
        self._chromium = self._playwright = None
        if chromium is not None:
            await _settled(chromium.close(), CLOSE_TIMEOUT)
            self._kill()
        if playwright is not None:
            await _settled(playwright.stop(), CLOSE_TIMEOUT)

    @property
    def process_group(self) -> int | None:
        """The process group of the running Chromium; None while none runs."""
        return self._group

    async def _context(self, egress: Egress) -> BrowserContext:
        for last in (False, True):
            chromium = await self._running()
            try:
                async with asyncio.timeout(LAUNCH_TIMEOUT):
                    return await chromium.new_context(**self._context_options(chromium, egress))
            except (PlaywrightError, TimeoutError) as error:
                self._kill()
                self._chromium = None
                if last:
                    raise SiteError(
                        Reason.ERROR, f"The browser gives no tab: {error}.", transient=True
                    ) from error
        raise AssertionError("unreachable")

    def _context_options(self, chromium: Chromium, egress: Egress) -> dict[str, Any]:
        major = chromium.version.partition(".")[0]
        return {
            "proxy": {"server": egress.server, "bypass": "<-loopback>"},
            "ignore_https_errors": not self._network.verify,
            "user_agent": f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
            f"HeadlessChrome/{major}.0.0.0 Safari/537.36 {self._network.user_agent}",
            "viewport": {"width": VIEWPORT[0], "height": VIEWPORT[1]},
            "service_workers": "block",
            "accept_downloads": False,
            "reduced_motion": "reduce",
            "locale": "en-US",
        }

    async def _running(self) -> Chromium:
        async with self._launching:
            if self._chromium is None or not self._chromium.is_connected():
                self._kill()
                self._chromium = await self._launch()
            return self._chromium

    async def _launch(self) -> Chromium:
        """Launch Chromium; where Playwright's own process has died meanwhile, start that anew, once."""
        for last in (False, True):
            try:
                async with asyncio.timeout(LAUNCH_TIMEOUT):
                    if self._playwright is None:
                        with own_session(self._network.settings.home):
                            self._playwright = await async_playwright().start()
                    return await self._launch_with(self._playwright)
            except (PlaywrightError, TimeoutError, OSError) as error:
                self._kill()
                stale, self._playwright = self._playwright, None
                if stale is not None:
                    await _settled(stale.stop(), CLOSE_TIMEOUT)
                if last:
                    raise SiteError(
                        Reason.ERROR, f"The browser does not start: {error}.", transient=True
                    ) from error
        raise AssertionError("unreachable")

    async def _launch_with(self, playwright: Playwright) -> Chromium:
        self._mark = f"--campaign-browser={secrets.token_hex(8)}"
        as_root = hasattr(os, "geteuid") and os.geteuid() == 0
        chromium = await playwright.chromium.launch(
            executable_path=find_browser(self._network.settings),
            args=[*_FLAGS, f"--proxy-server={_NOWHERE}", "--proxy-bypass-list=<-loopback>", self._mark],
            chromium_sandbox=not as_root,
            # A stop is ours to carry out: Ctrl-C must not take the browser away between arming and verdict.
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=LAUNCH_TIMEOUT * 1000,
        )
        self._group = _group_of(self._mark)
        return chromium

    def _kill(self) -> None:
        """End Chromium's whole process group, if one was started; works on a stopped one, too."""
        group = self._group or (_group_of(self._mark) if self._mark else None)
        self._group, self._mark = None, ""
        if group is not None and group != os.getpgrp():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)


async def _settled(closing: Awaitable[None], seconds: float) -> bool:
    """Whether a clean-up came to an end, well or not, within `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            await closing
    except TimeoutError:
        return False
    except PlaywrightError:
        return True  # what is to be closed is gone already
    return True


def _group_of(mark: str) -> int | None:
    """The process group of our descendant that was started with `mark` on its command line."""
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if mark in process.cmdline() and not any(arg.startswith("--type=") for arg in process.cmdline()):
                return os.getpgid(process.pid)
    return None
