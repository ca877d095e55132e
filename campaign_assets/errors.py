"""Every error the project raises on purpose, as one tree.

    CampaignError
    ├── UserError            one sentence that names the fix; the command prints it and exits with `status`
    │   ├── ConfigError      a setting, a missing server, a missing browser                        (2)
    │   ├── InputError       a bad profile, source, slug or argument                               (2)
    │   └── Refused          the ledger's state forbids what was asked                             (1)
    ├── TenantNotBound       a claim, a reap or a write in a transaction without a tenant
    ├── LedgerUnavailable    the database does not answer just now; the same fenced call may be repeated
    └── SiteError            a publisher's site did something; carries a reason code
        └── NotSent          certain: no request of a submission has left

Control exceptions (stop, deadline) are BaseExceptions and live in `stop.py`.
"""

from __future__ import annotations


class CampaignError(Exception):
    """Base of all errors raised on purpose."""


class UserError(CampaignError):
    """One clear sentence that names the fix; never shown with a traceback."""

    status = 2

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class ConfigError(UserError):
    """A setting is wrong, or a server, browser or file it names is missing."""


class InputError(UserError):
    """Input cannot be used. `problems` lists every one found, each a sentence with its place."""

    def __init__(self, sentence: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.problems = problems


class Refused(UserError):
    """The ledger's state forbids what was asked; nothing was changed."""

    status = 1


class TenantNotBound(CampaignError):
    """A claim, a reap or a write was tried in a transaction that has no tenant bound."""


class LedgerUnavailable(CampaignError):
    """The ledger's database cannot be reached, or the connection broke; whether a commit arrived is not known.

    Every write is fenced by its claim, so repeating it is harmless.
    """


class SiteError(CampaignError):
    """A publisher's site failed us. `reason` is a `model.Reason`; `transient` says whether a retry may help.

    `retry_after` is the number of seconds the site itself asked us to wait, where it did.
    """

    def __init__(
        self, reason: str, sentence: str, *, transient: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence
        self.transient = transient
        self.retry_after = retry_after


class NotSent(SiteError):
    """Certain knowledge that no request of a submission left this machine."""
