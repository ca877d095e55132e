"""One unit in the air: its body under its deadline, and what becomes of whatever the body does.

Owns the one broad handler of the project, the deadline (a runner outside the body: a body that swallows its
cancellation is abandoned, not waited for) and the worker's memory of arming: from `arm() == True` on,
everything that is not the body's own word is the fact `unknown` (R6). Refuses: claims, commits, the clock of
the ledger.

Control exceptions (R7) pass through: they leave `fly()` as they came. A unit whose body raised one is not
given back by its run; the reaper treats it as a unit whose worker died with it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from dagster import Failure, RetryRequested

from campaign_assets.errors import ConfigError, LedgerUnavailable, SiteError, TenantNotBound
from campaign_assets.model import Evidence, Outcome, Reason, Unit
from campaign_assets.states import Verdict
from campaign_assets.stop import DeadlineExceeded

if TYPE_CHECKING:
    from campaign_assets.stages.tools import Tools

Body: TypeAlias = Callable[[Unit, "Tools"], Awaitable[Outcome]]

ABANDON_AFTER = 1.0
"""Seconds a cancelled body gets to let go."""

_PASSING = (Failure, RetryRequested, ConfigError, LedgerUnavailable, TenantNotBound)
"""Exceptions that are no unit's fault: Dagster's control flow, and an installation that cannot work at all."""


class Flight:
    """A claimed unit between its claim and its outcome."""

    def __init__(self, unit: Unit, deadline: float, log_error: Callable[[Unit, Exception], None]) -> None:
        self.unit = unit
        self.deadline = deadline
        self.claimed = time.monotonic()
        self.kept: list[Evidence] = []
        self.armed = False
        self._log_error = log_error
        self._closed = False
        self._released = False
        self._arming: asyncio.Task[bool] | None = None
        self._body: asyncio.Task[Outcome | Raised] | None = None

    @property
    def age(self) -> float:
        """Seconds since the claim, on this machine's monotonic clock."""
        return time.monotonic() - self.claimed

    @property
    def overdue(self) -> bool:
        """The deadline and the time to let go have passed, and the body is still on the processor or in the
        air.
        """
        return not self._closed and self.age > self.deadline + 2 * ABANDON_AFTER

    def runs(self, task: asyncio.Task[object] | None) -> bool:
        """Whether `task` is this unit's body."""
        return task is not None and task is self._body

    async def fly(self, body: Body, tools: Tools) -> Outcome:
        """The outcome of one try. Raises only what must pass: control exceptions."""
        self._body = asyncio.ensure_future(self._attempt(body, tools))
        try:
            done, _ = await asyncio.wait({self._body}, timeout=self.deadline - self.age)
            if not done:
                return await self._give_up(self._body)
        finally:
            self._closed = True
            self._body.cancel()
        return self._word_of(self._body)

    def release(self) -> bool:
        """A stop wants the unit back: True where its body was asked to let go, False where a filing has to
        run to its verdict.
        """
        if self.armed or self._arming is not None:
            return False
        self._released = True
        if self._body is not None:
            self._body.cancel()
        return True

    async def arm(self, call: Callable[[Unit], Awaitable[bool]]) -> bool:
        """R5's last question before the click. True only where the ledger has said so and the body is still
        the one that asked.
        """
        if self._closed or self._released:
            return False
        self._arming = asyncio.ensure_future(self._ask(call))
        try:
            answer = await asyncio.shield(self._arming)
        finally:
            self._arming = None
        self.armed = answer and not self._closed
        return self.armed

    async def _ask(self, call: Callable[[Unit], Awaitable[bool]]) -> bool:
        """No answer is no permission: the body does not click, and the ledger's fence decides what stands
        there.
        """
        try:
            return await call(self.unit)
        except LedgerUnavailable:
            return False

    async def _attempt(self, body: Body, tools: Tools) -> Outcome | Raised:
        """The single broad handler: everything that a body can raise and that is the unit's own affair
        becomes an outcome.
        """
        try:
            outcome = await body(self.unit, tools)
            if not isinstance(outcome, Outcome):
                raise TypeError(f"the body of {self.unit.stage} returned {outcome!r} instead of an Outcome")
            return outcome
        except _PASSING:
            raise
        except (KeyboardInterrupt, SystemExit) as error:
            return Raised(error)
        except SiteError as error:
            return self._site_failed(error)
        except Exception as error:  # noqa: BLE001 - R7: the one broad handler, around one unit
            self._log_error(self.unit, error)
            return self._failed(Reason.ERROR, f"{type(error).__name__}: {error}")

    async def _give_up(self, body: asyncio.Task[Outcome | Raised]) -> Outcome:
        """The deadline has passed: cancel, give the body a moment, and go on without it."""
        self._closed = True
        arming = self._arming
        body.cancel()
        done, _ = await asyncio.wait({body}, timeout=ABANDON_AFTER)
        if done and not body.cancelled() and _must_pass(body):
            return self._word_of(body)
        if arming is not None and await arming:
            self.armed = True  # nobody was told, but the ledger says so: a person has to look
        return self._failed(
            Reason.DEADLINE, f"No answer within the stage's deadline of {self.deadline:g} seconds."
        )

    def _word_of(self, body: asyncio.Task[Outcome | Raised]) -> Outcome:
        if body.cancelled() and self._released:
            return Outcome.release()
        try:
            word = body.result()
            if isinstance(word, Raised):
                raise word.error
            return word
        except DeadlineExceeded as error:
            return self._failed(
                Reason.DEADLINE, str(error) or f"Stopped at the deadline of {self.deadline:g} seconds."
            )

    def _site_failed(self, error: SiteError) -> Outcome:
        reason = Reason(error.reason) if error.reason in set(Reason) else Reason.ERROR
        if self.armed and reason is not Reason.NOT_SENT:
            return self._unknown(error.sentence)
        if error.transient:
            return Outcome.retry(reason, error.sentence, error.retry_after, tuple(self.kept))
        return Outcome.fail(reason, error.sentence, tuple(self.kept))

    def _failed(self, reason: Reason, sentence: str) -> Outcome:
        if self.armed:
            return self._unknown(sentence)
        return Outcome.retry(reason, sentence, evidence=tuple(self.kept))

    def _unknown(self, sentence: str) -> Outcome:
        detail = f"The form was armed and may have been filed: {sentence}"
        return Outcome.fact(Verdict.UNKNOWN, detail, None, tuple(self.kept), Reason.UNKNOWN_VERDICT)

    def page_limit_reached(self) -> Outcome:
        """The outcome a unit gets that holds its whole process (nothing else can be told from outside it)."""
        return self._failed(
            Reason.PAGE_LIMIT, f"Held its worker for {self.age:.0f} seconds, past the page's limit."
        )


@dataclass(frozen=True)
class Raised:
    """A KeyboardInterrupt or SystemExit of a body, carried past the task: raised inside it, it would tear the
    event loop down.
    """

    error: BaseException


def _must_pass(body: asyncio.Task[Outcome | Raised]) -> bool:
    """Whether a body that was cancelled at its deadline ended with a control exception instead."""
    error = body.exception()
    if error is None:
        return isinstance(body.result(), Raised)
    if isinstance(error, DeadlineExceeded):
        return False
    return isinstance(error, _PASSING) or not isinstance(error, Exception)
