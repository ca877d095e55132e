"""What a human may decide where: the one table that readers show and that decisions are refused by. Pure."""

from __future__ import annotations

from campaign_assets.model import Reason
from campaign_assets.states import Stage, State

APPROVABLE = frozenset({Reason.APPROVAL, Reason.UNSURE})
"""Holds that a human's yes settles. Everything else preflight holds on needs a value, another person, or a no."""

BY_HAND = frozenset({Reason.CAPTCHA, Reason.LOGIN_REQUIRED})
"""Holds that no value settles."""

SETTLES = {
    Reason.CAPTCHA: "file it by hand and decide filed, or reject",
    Reason.LOGIN_REQUIRED: "file it by hand and decide filed, or reject",
    Reason.PAYMENT_REQUIRED: "pay and file it by hand and decide filed, or reject",
    Reason.RECIPROCAL_REQUIRED: "add the link and decide correct with its address, or reject",
    Reason.TERMS_NOT_ACCEPTED: "accept the terms in the profile and decide correct, or reject",
    Reason.UNANSWERABLE_QUESTION: "decide correct with the answer, or reject",
    Reason.REFUSED_VALUE: "decide correct with a value the site takes, or reject",
}
"""What settles a hold that approval does not."""


def choices(stage: Stage, state: State, reason: str | None) -> tuple[str, ...]:
    """What a human may decide about a unit that stands like this; empty where nothing."""
    if state is State.UNRESOLVED:
        return ("filed", "not_filed")
    if state is State.FAILED:
        return ("rerun",)
    if state is not State.HELD:
        return ()
    found = ["reject"]
    if reason not in BY_HAND:
        found.append("correct")
    if stage in (Stage.PREFLIGHT, Stage.SUBMISSION):
        found.append("filed")
    if reason in APPROVABLE or (stage is Stage.SUBMISSION and reason == Reason.FILING_OPEN_ELSEWHERE):
        found.append("approve")
    if stage is not Stage.SUBMISSION:
        found.append("rerun")
    return tuple(sorted(found))
