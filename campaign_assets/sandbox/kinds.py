"""The kinds of directories: one row each, composed of the parts.

A kind says how its door, its form, its reply and its listing behave and where a campaign is expected to end on it.
The reasons are the product's reason codes as plain text, since the sandbox imports nothing of the product.
"""

from __future__ import annotations

from campaign_assets.sandbox import forms
from campaign_assets.sandbox.parts import Expect, Kind, Reply, Show


def _rejected(reason: str, stage: str = "discovery") -> Expect:
    return Expect(stage, "rejected", reason)


def _failed(reason: str, stage: str = "discovery") -> Expect:
    return Expect(stage, "failed", reason)


def _held(reason: str, stage: str = "preflight") -> Expect:
    return Expect(stage, "held", reason)


_WAITS = Expect("confirmation", "ready", "moderation")
_UNKNOWN = Expect("submission", "unresolved", "unknown_verdict")

_ROWS = (
    # Forms that a careful person fills without trouble.
    Kind("plain", "A plain form with labels.", form=forms.PLAIN),
    Kind("wrapped", "Labels wrap their inputs.", form=forms.WRAPPED, reply=Reply(receipt="redirect")),
    Kind("table", "Labels are table cells and names say nothing.", form=forms.TABLE),
    Kind("placeholders", "Placeholders are the only labels.", form=forms.PLACEHOLDERS),
    Kind(
        "headings", "Labels are headings before the inputs.", form=forms.HEADINGS, reply=Reply(receipt="link")
    ),
    Kind("wrong-for", "The labels' for matches nothing, or another control.", form=forms.WRONG_FOR),
    Kind("local", "Asks for address and phone.", form=forms.LOCAL, reply=Reply(receipt="link")),
    Kind("names", "First, last and full name; business's and submitter's e-mail.", form=forms.NAMES),
    Kind("freemium", "Paid or free by radios, the paid ones first.", form=forms.PAID_OR_FREE),
    Kind("two-buttons", "Two submit buttons, the first costs money.", form=forms.TWO_BUTTONS),
    Kind("many-forms", "Search, login and newsletter forms stand on the same page.", form=forms.MANY_FORMS),
    Kind("script-form", "The form is built by script after load.", form=forms.BY_SCRIPT),
    Kind("reactive", "Inputs revert values that were set without input events.", form=forms.REVERTING),
    Kind("single-page", "The form is replaced by a sentence, without navigation.", form=forms.SENTENCE),
    Kind("toast", "Success is only a toast that goes away.", form=forms.TOAST),
    Kind("alert", "Success is only an alert box.", form=forms.ALERT),
    Kind("honeypot-display", "A honeypot hidden by display:none.", form=forms.TRAP_DISPLAY),
    Kind(
        "honeypot-website",
        "A honeypot named website, off-screen, before the real url.",
        form=forms.TRAP_OFFSCREEN,
    ),
    Kind("honeypot-class", "A honeypot hidden by a stylesheet's class.", form=forms.TRAP_CLASS),
    Kind("honeypot-clip", "Honeypots that are clipped or have no size.", form=forms.TRAP_CLIP),
    Kind("cookie-banner", "A cookie banner covers the page.", form=forms.PLAIN, cookie_banner=True),
    Kind("words-limit", "Limits stand in words and differ from maxlength.", form=forms.IN_WORDS),
    Kind("deep-links", "Five more title and URL pairs that are not ours.", form=forms.DEEP_LINKS),
    Kind("counters", "Character counters that are inputs.", form=forms.COUNTERS),
    Kind("categories", "Sub-categories depend on the category.", form=forms.CATEGORIES),
    Kind("styled-terms", "A styled checkbox over a hidden one.", form=forms.STYLED_TERMS),
    Kind("prefilled", "http:// stands in the URL field.", form=forms.PREFILLED),
    Kind("logo", "An optional logo upload.", form=forms.WITH_LOGO),
    Kind(
        "slow",
        "Form page and post take 30 seconds.",
        form=forms.PLAIN,
        form_door="slow",
        reply=Reply(slow=True),
    ),
    Kind("throttled", "429 with Retry-After first.", form=forms.PLAIN, door="throttled"),
    Kind("www", "The bare host redirects to www.", form=forms.PLAIN, door="www"),
    # What the listing is like.
    Kind(
        "nofollow", "Listings carry rel=nofollow.", form=forms.PLAIN, show=Show(rel="nofollow ugc noopener")
    ),
    Kind("redirect-link", "Listings link through a redirect.", form=forms.PLAIN, show=Show(wrapped=True)),
    Kind("noindex", "Listing pages are noindex.", form=forms.PLAIN, show=Show(noindex=True)),
    # What becomes of a submission.
    Kind(
        "moderated", "The listing appears after a while.", form=forms.PLAIN, reply=Reply(moderation="later")
    ),
    Kind(
        "never-moderated", "The listing never appears.", _WAITS, forms.PLAIN, reply=Reply(moderation="never")
    ),
    Kind(
        "email",
        "The listing needs a confirmation by e-mail.",
        Expect("confirmation", "ready", "email_confirmation"),
        forms.PLAIN,
        reply=Reply(moderation="email"),
    ),
    Kind(
        "duplicate",
        "Says that the site is in the directory already, though nobody sees it.",
        Expect("submission", "succeeded", "already_listed"),
        forms.PLAIN,
        reply=Reply("duplicate"),
    ),
    Kind(
        "lists-already",
        "Lists the business already; its search finds it.",
        Expect("monitoring", "succeeded", "already_listed"),
        forms.PLAIN,
        knows_everybody=True,
        reply=Reply("duplicate"),
    ),
    Kind("no-message", "Stores, and says nothing.", _UNKNOWN, forms.PLAIN, reply=Reply(receipt="nothing")),
    Kind(
        "boasting",
        "Says submitted on a 500 and stores nothing.",
        _UNKNOWN,
        forms.PLAIN,
        reply=Reply("boasting"),
    ),
    Kind(
        "refuses-short",
        "Refuses the description as too short, with 422.",
        _held("refused_value", "submission"),
        forms.TOO_SHORT,
    ),
    Kind(
        "refuses-long",
        "Refuses the description as too long, with 200 and a text.",
        _held("refused_value", "submission"),
        forms.TOO_LONG,
        reply=Reply(status=200),
    ),
    Kind(
        "refuses-site",
        "Refuses the site itself, with a reason.",
        _rejected("refused_site", "submission"),
        forms.PLAIN,
        reply=Reply(
            "refused", complaint="Sorry, your website was rejected: we only list members of our association."
        ),
    ),
    # What needs a human.
    Kind("captcha", "A reCAPTCHA-like widget.", _held("captcha"), forms.CAPTCHA_WIDGET),
    Kind("captcha-image", "A picture with a code.", _held("captcha"), forms.CAPTCHA_IMAGE),
    Kind("captcha-sum", "A sum to solve.", _held("captcha"), forms.CAPTCHA_SUM),
    Kind(
        "unanswerable", "Requires revenue and investor.", _held("unanswerable_question"), forms.UNANSWERABLE
    ),
    Kind("required-radio", "Requires a radio group.", _held("unanswerable_question"), forms.REQUIRED_RADIO),
    Kind("reciprocal", "Wants a link back.", _held("reciprocal_required"), forms.RECIPROCAL),
    Kind("login", "The form needs a login.", _held("login_required"), form_door="login"),
    # What is no use, for honest reasons.
    Kind(
        "paid-only",
        "Every listing costs money.",
        _rejected("payment_required", "form_mapping"),
        form_door="priced",
    ),
    Kind("no-submit", "There is no way to submit.", _rejected("no_submit_page"), form_door="missing"),
    Kind(
        "embedded",
        "The form is another provider's frame.",
        _held("no_form", "form_mapping"),
        form_door="embedded",
    ),
    Kind("closed", "Submissions are closed.", _rejected("closed", "form_mapping"), form_door="closed"),
    Kind("parked", "A parked domain.", _rejected("parked"), door="parked"),
    Kind("sold", "An expired domain, now a casino.", _rejected("sold"), door="sold"),
    Kind(
        "robots",
        "robots.txt forbids everything.",
        _rejected("robots_forbidden"),
        forms.PLAIN,
        robots="forbidden",
    ),
    Kind("renamed", "Redirects to another directory.", _rejected("merged"), door="renamed"),
    Kind("gone", "The home page is a 404.", _rejected("not_found"), door="gone"),
    Kind(
        "irrelevant",
        "A working directory about something else.",
        _rejected("below_bar", "scoring"),
        forms.PLAIN,
    ),
    # What goes wrong.
    Kind("silent", "Accepts connections and never sends.", _failed("deadline"), door="silent"),
    Kind(
        "dropped", "Closes each connection without an answer.", _failed("connection_failed"), door="dropped"
    ),
    Kind("failing", "500 on every page.", _failed("server_error"), door="failing"),
    Kind(
        "failing-form", "500 on the form page.", _failed("server_error", "form_mapping"), form_door="failing"
    ),
    Kind("huge", "Pages of tens of megabytes.", _failed("too_large"), forms.PLAIN, door="huge"),
    Kind("looping", "Redirects in a circle.", _failed("redirect_loop"), door="looping"),
    Kind("blocked", "403 and 'just a moment'.", _failed("blocked"), door="blocked"),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _ROWS}
