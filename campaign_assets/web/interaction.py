"""What is done to controls: filled, chosen, ticked, uploaded, read back; and overlays refused.

Never a control that a person cannot see, never a file or a value that the entry does not name.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import ElementHandle, Page
from playwright.async_api import Error as PlaywrightError

from campaign_assets.errors import SiteError
from campaign_assets.model import Action, Entry, Reason
from campaign_assets.web import form_words as words
from campaign_assets.web.scripts import CONTROL, OVERLAYS, RADIO, SIGHT, VALUES

ACTION_TIMEOUT = 6000.0
"""Milliseconds for one action of Playwright's."""
OPTIONS_TIMEOUT = 2000.0
OVERLAY_ROUNDS = 4
OVERLAY_FADES = 1.5
"""Seconds a refused banner is given to go."""


async def apply(page: Page, entry: Entry) -> None:
    """Do one entry. SiteError form_changed where the control is missing, concealed, another or lacks the option."""
    if entry.action in (Action.LEAVE, Action.HUMAN, Action.CLICK):
        return
    seen = await page.evaluate(SIGHT, entry.index)
    _judge(seen, entry)
    element = await _element(page, CONTROL, entry.index)
    if entry.action is Action.FILL:
        await _fill(element, entry.value)
    elif entry.action is Action.UPLOAD:
        await _upload(element, entry)
    elif entry.action is Action.CHECK:
        await _tick(element, entry.value != "off")
    elif seen["type"] == "radio":
        await _choose_radio(page, entry)
    else:
        await _select(element, entry)


async def read_back(page: Page, entries: Sequence[Entry]) -> list[str]:
    """What now stands in each control that is not what its entry says, as sentences."""
    done = [e for e in entries if e.action not in (Action.LEAVE, Action.HUMAN, Action.CLICK)]
    values = await page.evaluate(VALUES, [e.index for e in done])
    found = (_difference(entry, value) for entry, value in zip(done, values, strict=True))
    return [sentence for sentence in found if sentence]


async def dismiss_overlays(page: Page) -> list[str]:
    """Press what refuses or closes each overlay, one after another; the labels that were pressed."""
    pressed: list[str] = []
    tried: list[str] = []
    for _ in range(OVERLAY_ROUNDS):
        button = await page.evaluate(OVERLAYS, _overlay_words(tried))
        if button is None:
            break
        await page.mouse.click(button["x"], button["y"])
        tried.append(button["mark"])
        pressed.append(button["label"])
        await _gone(page, button, tried)
    return pressed


async def _gone(page: Page, button: dict[str, Any], tried: list[str]) -> None:
    """Wait, bounded, until the same button is no longer offered: overlays fade."""
    end = time.monotonic() + OVERLAY_FADES
    others = [mark for mark in tried if mark != button["mark"]]
    while time.monotonic() < end:
        now = await page.evaluate(OVERLAYS, _overlay_words(others))
        if now is None or now["mark"] != button["mark"]:
            return
        await asyncio.sleep(0.1)


def _overlay_words(tried: list[str]) -> dict[str, Any]:
    return {
        "refuse": words.REFUSE_COOKIES,
        "close": words.CLOSE,
        "cookie": words.COOKIE_WORDS,
        "tried": tried,
    }


def _judge(seen: dict[str, Any], entry: Entry) -> None:
    what = f"The control {entry.name or entry.index}"
    if seen.get("missing"):
        raise SiteError(Reason.FORM_CHANGED, f"{what} is no longer in the form.")
    if seen["type"] != entry.type or (entry.name and seen["name"] != entry.name):
        raise SiteError(Reason.FORM_CHANGED, f"{what} has become {seen['name']!r} of type {seen['type']}.")
    if seen["concealment"]:
        raise SiteError(Reason.FORM_CHANGED, f"{what} cannot be seen by a person: {seen['concealment']}.")
    if seen["disabled"] or (seen["readOnly"] and entry.action is Action.FILL):
        raise SiteError(Reason.FORM_CHANGED, f"{what} takes no entry.")


async def _element(page: Page, script: str, argument: object) -> ElementHandle:
    element = (await page.evaluate_handle(script, argument)).as_element()
    if element is None:
        raise SiteError(Reason.FORM_CHANGED, "A control is no longer in the form.")
    return element


async def _fill(element: ElementHandle, value: str) -> None:
    """Like typing, in one input event; where the page reverts or reshapes that, key by key."""
    await element.fill(value, timeout=ACTION_TIMEOUT)
    now = await element.input_value(timeout=ACTION_TIMEOUT)
    if _folded(now) != _folded(value) and len(value) <= 2000:
        await element.fill("", timeout=ACTION_TIMEOUT)
        await element.type(value, timeout=ACTION_TIMEOUT * 2)
    await element.evaluate("el => el.blur()")


async def _upload(element: ElementHandle, entry: Entry) -> None:
    path = Path(entry.value)
    if not path.is_file():  # noqa: ASYNC240 (one look at a local file)
        raise SiteError(
            Reason.REFUSED_VALUE, f"The file {entry.value} for {entry.name or entry.index} does not exist."
        )
    await element.set_input_files(path, timeout=ACTION_TIMEOUT)


async def _tick(element: ElementHandle, wanted: bool) -> None:
    """Tick or clear a box; one that its label only draws is clicked through the label."""
    if await element.is_checked() == wanted:
        return
    try:
        await element.set_checked(wanted, timeout=2000)
    except PlaywrightError:
        label = (await element.evaluate_handle("el => (el.labels && el.labels[0]) || el")).as_element()
        if label is not None and await element.is_checked() != wanted:
            await label.click(timeout=ACTION_TIMEOUT, position=await _left_edge(label))


async def _left_edge(label: ElementHandle) -> Any:
    """A label may hold a link (to the terms) in its middle: its left edge is where the drawn box stands."""
    box = await label.bounding_box()
    return {"x": min(8.0, box["width"] / 2), "y": min(10.0, box["height"] / 2)} if box else None


async def _choose_radio(page: Page, entry: Entry) -> None:
    element = await _element(page, RADIO, {"index": entry.index, "value": entry.value})
    await _tick(element, True)


_OPTION = """
(el, wanted) => {
    const options = Array.from(el.options || []);
    if (options.some(o => o.value === wanted)) return "value";
    return options.some(o => o.label.trim() === wanted) ? "label" : "";
}"""


async def _select(element: ElementHandle, entry: Entry) -> None:
    """By value; else by label, for a page that has renumbered its options. What is there and cannot be picked in time
    is a slow page, not a changed form.
    """
    with suppress(PlaywrightError):  # waits a moment for options that a script fills in
        if await element.select_option(value=entry.value, timeout=OPTIONS_TIMEOUT):
            return
    by = await element.evaluate(_OPTION, entry.value)
    if not by:
        raise SiteError(
            Reason.FORM_CHANGED, f"The control {entry.name or entry.index} has no option {entry.value!r}."
        )
    if by == "value":
        await element.select_option(value=entry.value, timeout=ACTION_TIMEOUT)
    else:
        await element.select_option(label=entry.value, timeout=ACTION_TIMEOUT)


def _difference(entry: Entry, value: dict[str, Any] | None) -> str | None:
    name = entry.name or f"control {entry.index}"
    if value is None:
        return f"{name} is no longer in the form."
    if entry.action is Action.CHECK:
        right = value["checked"] == (entry.value != "off")
        return None if right else f"{name} is {'ticked' if value['checked'] else 'not ticked'}."
    if entry.action is Action.UPLOAD:
        expected = Path(entry.value).name
        return None if expected in value["files"] else f"{name} does not hold the file {expected}."
    if entry.action is Action.CHOOSE:
        picks = (
            [value["picked"]]
            if value["type"] == "radio"
            else [text for pick in value["picks"] for text in pick]
        )
        return None if entry.value in picks else f"{name} has {picks} chosen instead of {entry.value!r}."
    held = _folded(value["value"])
    return (
        None
        if held == _folded(entry.value)
        else f"{name} holds {held[:80]!r} instead of {entry.value[:80]!r}."
    )


def _folded(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()
