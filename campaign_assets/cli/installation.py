"""Commands for the installation itself: up, demo, sandbox, settings."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from campaign_assets.cli.campaigns import remind_of_contact
from campaign_assets.cli.printing import as_json, print_fields, print_json, stopping_said
from campaign_assets.settings import Settings


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=3000, show_default=True, help="Dagster's UI.")
def up(port: int) -> None:
    """Run database, Dagster's UI and daemon until Ctrl-C.

    What dies is started again; what a killed `campaign up` left behind is ended first.
    """
    from campaign_assets.services import serving
    from campaign_assets.supervisor import interruptible

    current = Settings.from_environment()
    remind_of_contact(current)
    with suppress(KeyboardInterrupt), interruptible():
        click.echo(f"Starting in {current.home} …")
        with serving(current, port) as supervisor:
            click.echo(f"Dagster's UI: http://127.0.0.1:{port}")
            click.echo(f"Logs:         {current.home / 'logs'}")
            click.echo("Ctrl-C ends it; what is in work is finished or given back first.")
            with stopping_said():
                supervisor.wait()
    click.echo("Stopped.")


@click.command()
@click.option(
    "--publishers",
    type=click.IntRange(1, 5000),
    default=30,
    show_default=True,
    help="Directories to list on.",
)
@click.option("--no-ui", is_flag=True, help="Without Dagster's UI.")
@click.option("--keep", is_flag=True, help="Keep everything up after the report, until Ctrl-C.")
@click.option(
    "--limit",
    type=click.FloatRange(0, min_open=True),
    default=20,
    show_default=True,
    help="Minutes until it gives up.",
)
def demo(publishers: int, no_ui: bool, keep: bool, limit: float) -> None:
    """List a business on a local web of directories, and report.

    Nothing leaves this machine. Its home is CAMPAIGN_HOME, where that is set, else ~/.campaign_assets/demo. Ends with 1
    where something still moved after the limit, or the sandbox saw a form filed twice.
    """
    from campaign_assets.demo.run import Wish, run
    from campaign_assets.supervisor import interruptible

    with interruptible():
        held = run(Wish(publishers, not no_ui, keep, limit * 60))
    if not held:
        raise click.exceptions.Exit(1)


@click.command()
@as_json
def settings(as_json: bool) -> None:
    """Every setting as it holds now; passwords are not shown."""
    found = shown(Settings.from_environment())
    if as_json:
        print_json(found)
    else:
        print_fields({name: "(unset)" if value is None else value for name, value in found.items()}, "")


def shown(current: Settings) -> dict[str, str | None]:
    """The settings by variable, with the passwords of addresses hidden; None where one is unset."""
    names = [f"CAMPAIGN_{name.upper()}" for name in asdict(current)]
    values = current.to_environment()
    return {name: _without_password(values[name]) if name in values else None for name in names}


def _without_password(value: str) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(value)
    if "://" not in value or parts.password is None:
        return value
    return parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":…@")).geturl()


@click.group()
def sandbox() -> None:
    """A local web of directories that behave as real ones do."""


@sandbox.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--http-port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option("--https-port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep posts and listings here; default: in memory.",
)
@click.option(
    "--ready-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Written as JSON once both ports listen.",
)
@click.option(
    "--slow", type=click.FloatRange(0), default=30.0, show_default=True, help="Seconds that slow sites take."
)
@click.option(
    "--moderation",
    type=click.FloatRange(0),
    default=40.0,
    show_default=True,
    help="Seconds until a moderated listing appears.",
)
def serve(
    host: str,
    http_port: int,
    https_port: int,
    state_dir: Path | None,
    ready_file: Path | None,
    slow: float,
    moderation: float,
) -> None:
    """Serve the sandbox until Ctrl-C, and print the CAMPAIGN_RESOLVE that leads to it.

    What reached it: GET /_sandbox/posts, /_sandbox/requests, /_sandbox/violations.
    """
    from campaign_assets.sandbox.server import run

    run(host, http_port, https_port, state_dir, slow, moderation, ready_file)


COMMANDS = (up, demo)
FURTHER = (sandbox, settings)
