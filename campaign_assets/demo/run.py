"""The demo from an empty home to its report: one campaign on the sandbox, through the whole installation.

It holds when every publisher has come to its end in time, no form was posted twice and the sandbox saw nothing that a
careful person would not have done. Children that are killed meanwhile are the supervisor's matter.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from textwrap import shorten
from typing import Any

import click

from campaign_assets import policy
from campaign_assets.cli.printing import clean, stopping_said
from campaign_assets.cli.reporting import render
from campaign_assets.demo import place
from campaign_assets.demo.course import Course, Rows
from campaign_assets.demo.eyes import Eyes
from campaign_assets.demo.progress import Announcer, progress
from campaign_assets.demo.web import Sandbox, Witness
from campaign_assets.ledger import Tx, operators, reading
from campaign_assets.ledger.campaigns import Campaign, add_source, create_campaign
from campaign_assets.model import Approval, CampaignSettings
from campaign_assets.processes import free_port, is_free
from campaign_assets.profile import load_profile
from campaign_assets.sandbox.sources import demo_sources
from campaign_assets.services import serving
from campaign_assets.settings import Settings
from campaign_assets.states import IN_WORK, Stage
from campaign_assets.supervisor import Child, Supervisor
from campaign_assets.web.browser import find_browser
from campaign_assets.web.sites import registrable

UI_PORT = 3000
LOOK_EVERY = 1.0
PATIENCE = 3 * policy.policies("sandbox")[Stage.CONFIRMATION].recheck
"""Seconds for which a moderated listing is watched: three looks."""
REST_SECONDS = 120.0
"""What is in work when the campaign is paused gets so long to end."""


@dataclass(frozen=True)
class Wish:
    """What the user asked for. `limit` is in seconds."""

    publishers: int
    ui: bool
    keep: bool
    limit: float


def run(wish: Wish) -> bool:
    """Run the demo; whether it held. UserErrors where it cannot be started."""
    given = place.demo_settings()
    find_browser(given)
    with Eyes(given) as eyes:
        if given.resolve:
            Sandbox(given.resolve).require()
        _clear_the_way(given, eyes)
        number = place.next_number(given.home)
        # Its ports are chosen last, so that nobody else takes them meanwhile.
        sandbox = Sandbox(given.resolve)
        settings = replace(given, resolve=sandbox.address)
        state = place.sandbox_state(given.home, number)
        beside: list[Child] = [] if given.resolve else [sandbox.child(state)]
        port = _port(wish)
        click.echo(f"Starting an installation in {settings.home} …")
        with serving(settings, port, beside) as supervisor, stopping_said():
            campaign = _create(eyes, number, wish.publishers)
            _print_addresses(campaign, sandbox, port)
            show = Show(settings, eyes, campaign, Witness(sandbox))
            held = show.kept_up(wish.limit, supervisor) if wish.keep else show.ended(wish.limit)
    click.echo(f"Look again (the campaign is paused): CAMPAIGN_HOME={settings.home} campaign up")
    return held


def _clear_the_way(settings: Settings, eyes: Eyes) -> None:
    """Refused where the home is not the demo's. What a killed demo has left going is paused: its sandbox is gone."""
    found = eyes.campaigns()
    place.refuse_strangers(settings.home, {campaign.tenant for campaign in found})
    for campaign in found:
        if campaign.intent == "run":
            eyes.ask(campaign.tenant, partial(operators.pause, campaign=campaign))


def _port(wish: Wish) -> int | None:
    if not wish.ui:
        return None
    return UI_PORT if is_free(UI_PORT) else free_port()


def _create(eyes: Eyes, number: int, publishers: int) -> Campaign:
    tenant, slug = place.names(number)
    with as_file(files("campaign_assets.demo") / "profile.yaml") as profile:
        business = load_profile(profile)
    source = demo_sources(publishers).encode()

    def create(tx: Tx) -> Campaign:
        settings = CampaignSettings(approval=Approval.AUTOMATIC)
        campaign = create_campaign(tx, tenant, slug, business, settings, registrable(business.url))
        add_source(tx, campaign.id, "directories.csv", source)
        return campaign

    return eyes.ask(tenant, create)


def _print_addresses(campaign: Campaign, sandbox: Sandbox, port: int | None) -> None:
    click.echo(
        f"{campaign.tenant}/{campaign.slug} lists {campaign.business.name} on the sandbox's directories."
    )
    if port:
        click.echo(f"  Dagster's UI:       http://127.0.0.1:{port}")
    click.echo(f"  What the web saw:   {sandbox.url('posts')}")


class Show:
    """One campaign from its start to its report."""

    def __init__(self, settings: Settings, eyes: Eyes, campaign: Campaign, witness: Witness) -> None:
        self.settings = settings
        self.eyes = eyes
        self.campaign = campaign
        self.witness = witness
        self.started = time.monotonic()

    def ended(self, limit: float) -> bool:
        """Run it to its end, pause it, let what is in work end, report; whether all held."""
        with self._running():
            left = self._follow(limit)
        return self._concluded(left or self._rest())

    def kept_up(self, limit: float, supervisor: Supervisor) -> bool:
        """Run it to its end, report, and go on until Ctrl-C; whether all held up to the report."""
        with self._running():
            held = self._concluded(self._follow(limit))
            click.echo("Kept up until Ctrl-C.")
            with suppress(KeyboardInterrupt):
                supervisor.wait()
        return held

    @contextmanager
    def _running(self) -> Iterator[None]:
        """The campaign runs inside, and is paused afterwards: its sandbox may be gone when it is looked at again."""
        self.eyes.ask(self.campaign.tenant, partial(operators.start, campaign=self.campaign))
        try:
            yield
        finally:
            self.eyes.ask(self.campaign.tenant, partial(operators.pause, campaign=self.campaign))

    def _follow(self, limit: float) -> Rows:
        """Show the campaign until nothing moves or `limit` is over; what still moves then."""
        course, announcer = Course(PATIENCE), Announcer()
        with progress() as display:
            while True:
                look = self.eyes.look(self.campaign)
                display.show(look.stages)
                for line in announcer.news(look.attention):
                    display.say(line)
                left = course.still_moving(look.units, time.monotonic())
                if (look.read and not left) or time.monotonic() - self.started > limit:
                    return left
                time.sleep(LOOK_EVERY)

    def _rest(self) -> Rows:
        """Wait until nothing of the paused campaign is in work; what is after all."""
        deadline = time.monotonic() + REST_SECONDS
        while True:
            left = [unit for unit in self.eyes.look(self.campaign).units if unit["state"] in IN_WORK]
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(LOOK_EVERY)

    def _concluded(self, left: Rows) -> bool:
        """Print what became of it and write the report; whether it came to its end and the sandbox has no complaint."""
        rows = self.eyes.ask(self.campaign.tenant, lambda tx: reading.report(tx, self.campaign.id))
        outcomes = Counter(str(row["outcome"]) for row in rows).most_common()
        click.echo(
            f"\n{len(rows)} publishers in {time.monotonic() - self.started:.0f} s: {_listed(outcomes)}."
        )
        for row in rows:
            click.echo(
                f"  {clean(row['site']):<34} {row['outcome']:<12} {shorten(clean(_why(row)), 160, placeholder=' …')}"
            )
        misdeeds = self.witness.misdeeds()
        problems = [
            f"Still moving: {unit['key']} at {unit['stage']} ({unit['state']})." for unit in left
        ] + misdeeds
        click.echo(f"\nThe sandbox counted {self.witness.filed()} posts of forms.")
        for problem in problems:
            click.echo(f"  {clean(problem)}", err=True)
        click.echo(f"Report: {self._write_report()}")
        return bool(rows) and not problems

    def _write_report(self) -> Path:
        directory = self.settings.home / "reports"
        directory.mkdir(parents=True, exist_ok=True)
        target = directory / f"{self.campaign.slug}.html"
        page = self.eyes.ask(
            self.campaign.tenant, lambda tx: render(tx, self.campaign, "html", self.settings)
        )
        target.write_text(page, "utf-8")
        return target


def _listed(outcomes: list[tuple[str, int]]) -> str:
    return ", ".join(f"{number} {outcome}" for outcome, number in outcomes)


def _why(row: Mapping[str, Any]) -> str:
    if row["listing_url"]:
        return str(row["listing_url"])
    return f"{row['reason']}: {row['detail']}" if row["reason"] else str(row["detail"] or "")
