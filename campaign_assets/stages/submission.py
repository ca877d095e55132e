"""Submission: the checked payload is filed on somebody else's website, at most once.

Why nothing is filed twice:

1. The unit was claimed in the transaction that opened its filing; the database lets one filing stand for a
   target and a site. Who has no filing does not come here.
2. Until `arm()` says yes, nothing in this body can send a form: it opens, fills, reads back, and every
   failure up to there ends as a retry or a failure with the certainty that nothing was sent.
3. `arm()` is the last thing before the click: one committed, fenced UPDATE. No means no click. After yes the
   click follows at once.
4. The button is clicked once, by the one call that can; Enter is never pressed; there is no loop around it.
   Whatever happens then becomes a verdict, and where the signs are not clear, or this worker dies, a human
   decides. Only the certain knowledge that no request has left (the web layer cuts the tab's way out before
   it says so) leads to another try.
5. No Dagster retry can lead here: the policy table forbids it.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

from campaign_assets.errors import NotSent, SiteError
from campaign_assets.model import (
    Action,
    Entry,
    Evidence,
    FormDocument,
    Outcome,
    Payload,
    PreflightResult,
    Reason,
    SubmissionResult,
    Unit,
)
from campaign_assets.stages.choices import catch_all, closest, is_placeholder
from campaign_assets.stages.form_choice import owner_of
from campaign_assets.stages.payload import LATE
from campaign_assets.stages.tools import Tools
from campaign_assets.stages.verdict import Judgement, judge
from campaign_assets.states import Verdict
from campaign_assets.web.press import Pressed
from campaign_assets.web.tab import Tab

_LOOKS = 20
_BETWEEN_LOOKS = 0.25


async def submission(unit: Unit, tools: Tools) -> Outcome:
    """File the payload; or record the listing that preflight has found, without a browser."""
    ready = unit.result(PreflightResult)
    if ready.existing_listing:
        return _listed_already(ready.existing_listing)
    if ready.payload is None:
        return Outcome.fail(Reason.NO_FORM, "Preflight has no payload; run it again.")
    async with tools.browser.tab(allow_post=True) as tab:
        return await _Filing(unit, tools, tab, ready.payload).file()


def _listed_already(url: str) -> Outcome:
    sentence = f"Listed already: {url}. Nothing was filed."
    result = SubmissionResult(
        verdict=Verdict.ALREADY_LISTED, sentence=sentence, final_url=url, receipt_url=url
    )
    return Outcome.fact(Verdict.ALREADY_LISTED, sentence, result)


@dataclass
class _Filing:
    """One filing in one tab, from opening the form to the verdict."""

    unit: Unit
    tools: Tools
    tab: Tab
    payload: Payload
    evidence: list[Evidence] = field(default_factory=list)

    async def file(self) -> Outcome:
        unfit = await self._filled()
        if unfit is not None:
            return unfit
        try:
            await self.tab.ready(self.payload.submit)
            await self._picture("before")
            if not await self.tools.arm():
                return self._not_sent(
                    "The ledger did not let this filing go on (paused, restarted, taken over or outdated): no click."
                )
            pressed = await self.tab.press(self.payload.submit)
        except NotSent as error:
            return self._not_sent(error.sentence)
        return await self._judged(pressed)

    async def _filled(self) -> Outcome | None:
        """Open, compare, fill and read back. None: ready for the click; else why not. Nothing is sent here."""
        await self.tab.open(self.payload.url)
        await self.tab.dismiss_overlays()
        document = await self.tab.read()
        changed = self._changed(document)
        if changed is not None:
            return changed
        for entry in self.payload.entries:
            if entry.source != LATE:
                await self.tab.apply(entry)
        filled = [entry for entry in self.payload.entries if entry.source != LATE]
        for entry in self.payload.entries:
            chosen = await self._late(entry) if entry.source == LATE else None
            if chosen is not None:
                await self.tab.apply(chosen)
                filled.append(chosen)
        return await self._checked(filled)

    def _changed(self, document: FormDocument) -> Outcome | None:
        if document.fingerprint(self.payload.form) != self.payload.fingerprint:
            return Outcome.fail(
                Reason.FORM_CHANGED,
                f"The form on {self.payload.url} is not the one that was mapped; map it again. Nothing was sent.",
                tuple(self.evidence),
            )
        form = next((f for f in document.forms if f.index == self.payload.form), None)
        if form and any(reason == Reason.CAPTCHA for reason, _ in form.obstacles):
            return Outcome.hold(
                Reason.CAPTCHA, "The form shows a captcha by now; a person has to file it. Nothing was sent."
            )
        return None

    async def _late(self, entry: Entry) -> Entry | None:
        """A choice whose options the form fills in by itself: the closest to what is wanted. None where it
        stays empty."""
        for _ in range(_LOOKS):
            document = await self.tab.read()
            control = next((c for c in document.controls if c.index == entry.index), None)
            if control is None or not control.visible:
                return None
            if any(not is_placeholder(o) for o in control.options):
                break
            await asyncio.sleep(_BETWEEN_LOOKS)
        else:
            return None
        wanted = [entry.value, *self.unit.business.categories, *self.unit.business.tags]
        best = closest(control.options, wanted)
        position = best.position if best else catch_all(control.options)
        if position is None:
            real = [i for i, o in enumerate(control.options) if not is_placeholder(o)]
            position = real[0] if len(real) == 1 else None
        return (
            entry.model_copy(update={"value": control.options[position].value})
            if position is not None
            else None
        )

    async def _checked(self, filled: list[Entry]) -> Outcome | None:
        """Every value read back, and nothing required left open that the form has shown only now."""
        different = await self.tab.read_back(filled)
        if different:
            return self._not_sent(f"The form does not keep what was filled in: {' '.join(different)}")
        done = {entry.index for entry in filled}
        names = {(e.name, e.type) for e in filled if e.action is Action.CHOOSE}
        open_ones = [
            c
            for c in (await self.tab.read()).controls
            if owner_of(c) == self.payload.form and c.required and c.visible and c.index not in done
            if not (c.value if c.type not in ("checkbox", "radio") else c.checked)
            and (c.name, c.type) not in names
        ]
        if open_ones:
            asked = ", ".join(f"“{c.label or c.name}”" for c in open_ones)
            return Outcome.hold(
                Reason.UNANSWERABLE_QUESTION,
                f"Once filled in, the form also requires {asked}. Nothing was sent.",
                None,
                tuple(self.evidence),
            )
        return None

    async def _picture(self, kind: str) -> None:
        self.evidence.append(self.tools.keep(kind, await self.tab.screenshot(), "image/jpeg"))

    def _not_sent(self, sentence: str) -> Outcome:
        return Outcome.retry(Reason.NOT_SENT, sentence, evidence=tuple(self.evidence))

    async def _judged(self, pressed: Pressed) -> Outcome:
        """The verdict on the click; nothing that fails from here on may hide what is known."""
        after = None
        with contextlib.suppress(SiteError):
            after = await self.tab.read()
        with contextlib.suppress(SiteError):
            await self._picture("after")
        self.evidence.append(
            self.tools.keep("answer", (pressed.html_after or pressed.text_after).encode(), "text/html")
        )
        found = judge(pressed, self.payload, after, self.unit.business.url)
        if found.verdict is Verdict.NOT_SENT:
            return self._not_sent(found.sentence)
        return Outcome.fact(
            found.verdict, found.sentence, self._result(found, pressed), tuple(self.evidence), found.reason
        )

    def _result(self, found: Judgement, pressed: Pressed) -> SubmissionResult:
        return SubmissionResult(
            verdict=found.verdict,
            sentence=found.sentence,
            posts=len(pressed.posts),
            status=found.status if found.status is not None else pressed.status,
            final_url=pressed.final_url,
            receipt_url=found.receipt_url,
            payload_hash=self.payload.hash,
        )
