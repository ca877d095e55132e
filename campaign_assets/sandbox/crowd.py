"""Which kind a host plays that is in no table: chosen by a stable hash of its name, with these weights.

The weights follow public counts over a raw list of 743 such entries (about 222 paid, 75 dead, 56 without a way to
submit, 36 that want a link back); about three in ten are forms without any trouble, few are slow or silent.
"""

from __future__ import annotations

import hashlib

WEIGHTS: tuple[tuple[str, int], ...] = tuple(
    {
        # forms without trouble: 30 %
        "plain": 80, "wrapped": 40, "table": 30, "placeholders": 25, "headings": 25, "wrong-for": 15, "local": 30,
        "names": 20, "prefilled": 15, "logo": 20,
        # paid: 29 %, no way to submit: 7.5 %, a link back: 5 %
        "paid-only": 270, "freemium": 15, "two-buttons": 5, "no-submit": 75, "reciprocal": 50,
        # dead: 10 %
        "parked": 30, "sold": 15, "gone": 25, "failing": 15, "dropped": 10, "looping": 5,
        # slow or silent: 2.5 %
        "slow": 10, "silent": 15,
        # everything else: 16 %
        "captcha": 20, "captcha-image": 5, "captcha-sum": 5, "login": 25, "moderated": 20, "never-moderated": 5,
        "email": 5, "script-form": 8, "many-forms": 8, "honeypot-display": 4, "honeypot-website": 4,
        "honeypot-class": 4, "cookie-banner": 6, "blocked": 8, "closed": 6, "nofollow": 7, "redirect-link": 3,
        "reactive": 3, "single-page": 3, "toast": 2, "categories": 3, "styled-terms": 2, "deep-links": 2,
        "counters": 2,
    }.items()
)  # fmt: skip


def stable(text: str, below: int) -> int:
    """A number in [0, below) that depends on nothing but `text`, in every process and on every machine."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % below


def kind_of(host: str) -> str:
    """The name of the kind that an unlisted host plays."""
    ticket = stable(f"kind {host}", sum(weight for _, weight in WEIGHTS))
    for name, weight in WEIGHTS:
        ticket -= weight
        if ticket < 0:
            return name
    raise AssertionError("the tickets end where the weights do")
