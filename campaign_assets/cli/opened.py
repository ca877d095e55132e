"""What commands share: the ledger, bound to the tenant of a slug or a key; files that a user names; the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from campaign_assets.errors import InputError
from campaign_assets.settings import Settings

if TYPE_CHECKING:
    from campaign_assets.ledger import Ledger, Tx
    from campaign_assets.ledger.campaigns import Campaign
    from campaign_assets.model import Key


@contextmanager
def open_ledger(settings: Settings | None = None) -> Iterator[Ledger]:
    """The installation's ledger; ConfigError where it cannot be reached."""
    from campaign_assets.ledger import Ledger

    ledger = Ledger.open(settings or Settings.from_environment())
    try:
        yield ledger
    finally:
        ledger.dispose()


@contextmanager
def open_campaign(slug: str) -> Iterator[tuple[Tx, Campaign]]:
    """A transaction bound to the tenant of SLUG or TENANT/SLUG, and that campaign; InputError where there is none."""
    from campaign_assets.ledger.campaigns import find_campaign

    with open_ledger() as ledger:
        campaign = find_campaign(ledger, slug)
        with ledger.bound(campaign.tenant_id) as tx:
            yield tx, campaign


@contextmanager
def open_key(text: str) -> Iterator[tuple[Tx, Key]]:
    """A transaction bound to the tenant of a publisher's key, and the key; InputError where it is no key."""
    from campaign_assets.model import Key

    key = Key.parse(text)
    with open_ledger() as ledger, ledger.bound(key.tenant) as tx:
        yield tx, key


def log_act(act: str, **about: object) -> None:
    """Write what an operator has done into the structured log; a log that cannot be written stops nobody."""
    from campaign_assets.log import configure

    with suppress(OSError):
        configure(Settings.from_environment()).info(act, **about)


def read_file(path: Path, what: str) -> bytes:
    """The bytes of a file that a user named; InputError names it where it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"The {what} {path} does not exist; give the path of an existing file.") from None
    except IsADirectoryError:
        raise InputError(f"The {what} {path} is a directory; give the path of a file.") from None
    except OSError as error:
        raise InputError(f"The {what} {path} cannot be read ({error.strerror}).") from None


def write_file(path: Path, content: str) -> None:
    """Write an output that a user named; InputError where that is not possible."""
    try:
        path.write_text(content, "utf-8", newline="")
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); give another -o.") from None
