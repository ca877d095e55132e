"""The command's root: its groups, and the one place where an error becomes a sentence and an exit status.

0 done, 1 the thing asked for did not hold or was refused, 2 wrong usage or input, 130 interrupted. A traceback is left
for our own mistakes; what a user, a server or a site can cause is one sentence on stderr, each further problem on a
line of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from campaign_assets.cli import campaigns, database, decisions, forms, installation, readers, sources
from campaign_assets.cli.printing import clean
from campaign_assets.errors import InputError, LedgerUnavailable, SiteError, UserError

INTERRUPTED = 130


class InOrderOfUse(click.Group):
    """Lists its commands as they were added: as one needs them, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=InOrderOfUse, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="campaign-assets", prog_name="campaign")
def campaign() -> None:
    """Listing campaigns for a business on directory websites: start them, watch them, settle what needs a human."""


for _command in (
    *installation.COMMANDS,
    *campaigns.COMMANDS,
    *readers.COMMANDS,
    *decisions.COMMANDS,
    *sources.COMMANDS,
    *forms.COMMANDS,
    *database.COMMANDS,
    *installation.FURTHER,
):
    campaign.add_command(_command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (default: the process's own) and return its exit status."""
    try:
        answer = campaign.main(arguments, prog_name="campaign", standalone_mode=False)
        sys.stdout.flush()
        return answer if isinstance(answer, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        _say("Interrupted.")
        return INTERRUPTED
    except UserError as error:
        _explain(error)
        return error.status
    except SiteError as error:
        _say(f"{error.sentence} ({error.reason})")
        return 1
    except LedgerUnavailable:
        _say(
            "The ledger's database does not answer just now; see that it runs, look at what was done, and try again."
        )
        return 1
    except BrokenPipeError:
        # The reader (`| head`) has gone. Python would complain again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _explain(error: UserError) -> None:
    _say(error.sentence)
    for problem in error.problems if isinstance(error, InputError) else ():
        _say(f"  {problem}")


def _say(line: str) -> None:
    click.echo("\n".join(clean(part) for part in line.split("\n")), err=True)
