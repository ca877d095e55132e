"""The real assets' machinery, jobs and sensors, with bodies of the tests' own: what a site does follows from
its name.

`fail-scoring-1.example` fails at scoring and succeeds everywhere else. Words: fail, hold, reject, retry,
wait, slow (never answers), stubborn (never answers and swallows its cancellation), kill (kills its worker
once), armed (arms, then never answers). Each body that begins leaves a file `begun/<stage>-<site>` under
CAMPAIGN_HOME, so that a test can wait for it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dagster import Definitions, in_process_executor

from campaign_assets.graph import IO_MANAGER, stage_asset
from campaign_assets.io_manager import Mapped, Pages, paged_io_manager
from campaign_assets.jobs import OPERATOR_JOBS, STAGE_JOBS
from campaign_assets.model import (
    Action,
    ConfirmationResult,
    ContentResult,
    DiscoveryResult,
    Entry,
    FormDocument,
    FormMappingResult,
    MonitoringResult,
    Outcome,
    Payload,
    PreflightResult,
    Reason,
    ScoringResult,
    Signal,
    StageResult,
    SubmissionResult,
    Unit,
)
from campaign_assets.publication import record
from campaign_assets.sensors import reaper, scheduler
from campaign_assets.states import Stage, Verdict

PAYLOAD = Payload(
    url="https://x.example/add",
    form=0,
    fingerprint="f",
    entries=(
        Entry(
            index=0,
            name="title",
            type="text",
            field="name",
            action=Action.FILL,
            value="Acme",
            source="profile",
        ),
    ),
    submit=1,
)


def result(unit: Unit) -> StageResult:
    """The smallest result of a unit's stage."""
    site, url = unit.key.site, unit.url
    made: dict[Stage, Callable[[], StageResult]] = {
        Stage.DISCOVERY: lambda: DiscoveryResult(
            final_url=url, site=site, status=200, submit_url=url + "/add", submit_found="told"
        ),
        Stage.SCORING: lambda: ScoringResult(
            score=60, bar=35, signals=(Signal(name="s", value=1, weight=1, sentence="It fits."),)
        ),
        Stage.FORM_MAPPING: lambda: FormMappingResult(
            document=FormDocument(url=url), form=0, fingerprint="f", controls=()
        ),
        Stage.CONTENT: lambda: ContentResult(texts=()),
        Stage.PREFLIGHT: lambda: PreflightResult(payload=PAYLOAD, payload_hash=PAYLOAD.hash, checks=()),
        Stage.SUBMISSION: lambda: SubmissionResult(verdict=Verdict.ACCEPTED, sentence="Thank you.", posts=1),
        Stage.CONFIRMATION: lambda: ConfirmationResult(listing_url=url + "/acme", found_by="receipt"),
        Stage.MONITORING: lambda: MonitoringResult(listing_url=url + "/acme", present=True),
    }
    return made[unit.stage]()


async def body(unit: Unit, tools: Any) -> Outcome:
    """Does what the site's name says at the stage that the name says."""
    home = Path(os.environ["CAMPAIGN_HOME"])
    (home / "begun").mkdir(exist_ok=True)
    (home / "begun" / f"{unit.stage}-{unit.key.site}").touch()
    word, _, rest = unit.key.site.partition("-")
    if rest.rpartition("-")[0] == unit.stage:
        outcome = await _misbehave(word, unit, tools, home)
        if outcome is not None:
            return outcome
    if unit.stage is Stage.SUBMISSION:
        assert await tools.arm(), "not armed"
        return Outcome.fact(Verdict.ACCEPTED, "The site said thank you.", result(unit))  # type: ignore[arg-type]
    return Outcome.succeed(result(unit), f"{unit.stage} is fine.")


async def _misbehave(word: str, unit: Unit, tools: Any, home: Path) -> Outcome | None:
    answers = {
        "fail": Outcome.fail(Reason.NOT_FOUND, "It is gone."),
        "hold": Outcome.hold(Reason.CAPTCHA, "It shows a captcha; a person has to file it."),
        "reject": Outcome.reject(Reason.BELOW_BAR, "It scores 10, below the bar of 35."),
        "retry": Outcome.retry(Reason.SERVER_ERROR, "It answered 500."),
        "wait": Outcome.wait(Reason.MODERATION, "It is being looked at."),
    }
    if word in answers:
        return answers[word]
    if word == "armed":
        await tools.arm()
        (home / "begun" / f"armed-{unit.key.site}").touch()
        while not (home / "answer").exists():  # noqa: ASYNC110 - the answer comes from another process
            await asyncio.sleep(0.05)
        return Outcome.fact(Verdict.PENDING, "A moderator will look.", result(unit))  # type: ignore[arg-type]
    if word == "slow":
        await asyncio.Event().wait()
    while word == "stubborn":
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue
    if word == "kill" and not (home / "killed").exists():
        (home / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return None


def _assets() -> list[Any]:
    made = []
    for stage in Stage:

        def pages_in(pages: Pages) -> Mapped:
            return pages.map(body)

        pages_in.__name__ = str(stage)
        pages_in.__doc__ = f"{stage}, with a test's body."
        made.append(stage_asset(kinds={"python"})(pages_in))
    return made


defs = Definitions(
    assets=_assets(),
    jobs=[*STAGE_JOBS.values(), *OPERATOR_JOBS, record],
    sensors=[scheduler, reaper],
    resources={IO_MANAGER: paged_io_manager},
    executor=in_process_executor,
)
