"""The table of named directories, and the directory behind any host.

A row is (host, kind, name, theme, then what differs). Its order is the demo's: the first thirty hold every kind that
matters, most of which end listed. A host that is in no row plays a kind by `crowd`, with a theme by hash too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeVar

from campaign_assets.sandbox import words
from campaign_assets.sandbox.crowd import kind_of, stable
from campaign_assets.sandbox.kinds import KINDS
from campaign_assets.sandbox.parts import Site, canonical
from campaign_assets.sandbox.themes import THEMES

T = TypeVar("T")


class Row(NamedTuple):
    """One named directory; `link` pins the submit link's label and path, which otherwise follow from the host."""

    host: str
    kind: str
    name: str
    theme: str
    link: tuple[str, str] = ("", "")
    moved_to: str = ""


_NAMED = (
    Row("brightlist.example", "plain", "Brightlist", "startups", ("Submit your startup", "/submit")),
    Row("oldtown-directory.example", "table", "Old Town Directory", "local", ("Submit URL", "/addurl.html")),
    Row("toolshelf.example", "freemium", "Toolshelf", "saas", ("Add your product", "/products/new")),
    Row("sitefinder.example", "many-forms", "Sitefinder", "saas", ("Add your site", "/add-site")),
    Row("aihangar.example", "script-form", "AI Hangar", "ai", ("Suggest a tool", "/suggest")),
    Row(
        "honest-tools.example", "honeypot-website", "Honest Tools", "startups", ("Get listed", "/get-listed")
    ),
    Row("robotmarket.example", "captcha", "Robot Market", "ai", ("Submit a tool", "/submit-tool")),
    Row("crumblist.example", "cookie-banner", "Crumblist", "startups", ("Submit your site", "/submit-site")),
    Row(
        "snailmail-listings.example", "slow", "Snailmail Listings", "saas", ("Add a listing", "/add-listing")
    ),
    Row("mute.example", "silent", "Mute", "startups"),
    Row("brokenwheel.example", "failing", "Broken Wheel", "saas"),
    Row("loudmouth.example", "boasting", "Loudmouth", "startups", ("Submit your startup", "/submit")),
    Row("editors-desk.example", "moderated", "The Editors' Desk", "saas", ("Suggest software", "/suggest")),
    Row("nofollow-weekly.example", "nofollow", "Nofollow Weekly", "startups", ("Submit", "/submit")),
    Row("onceonly.example", "duplicate", "Once Only", "saas", ("Add your business", "/add-business")),
    Row("shutters.example", "closed", "Shutters", "startups", ("Submit your startup", "/submit")),
    Row("parkinglot.example", "parked", "Parking Lot", "saas"),
    Row("keepout.example", "robots", "Keep Out", "saas", ("Submit your site", "/submit")),
    Row("whale.example", "huge", "Whale", "startups", ("Submit your site", "/submit")),
    Row("carousel.example", "looping", "Carousel", "ai"),
    Row("twodoors.example", "two-buttons", "Two Doors", "saas", ("List your product", "/list-your-product")),
    Row(
        "stylish-tools.example",
        "honeypot-class",
        "Stylish Tools",
        "ai",
        ("Submit AI tool", "/submit-ai-tool"),
    ),
    Row("branchwork.example", "categories", "Branchwork", "saas", ("Add software", "/software/add")),
    Row("fairterms.example", "styled-terms", "Fair Terms", "startups", ("Get featured", "/get-featured")),
    Row("stateful.example", "reactive", "Stateful", "ai", ("Submit your app", "/apps/new")),
    Row("onepager.example", "single-page", "Onepager", "startups", ("Add yours", "/add")),
    Row("mittelstandsliste.example", "wrapped", "Mittelstandsliste", "german", ("Eintragen", "/eintragen")),
    Row("revenueclub.example", "unanswerable", "Revenue Club", "startups", ("Apply", "/apply")),
    Row("old-brightlist.example", "renamed", "Old Brightlist", "startups", moved_to="brightlist.example"),
    Row("slowstamp.example", "never-moderated", "Slowstamp", "saas", ("Submit a product", "/submit-product")),
    # Beyond the first thirty.
    Row("luckyseven-tools.example", "sold", "Lucky Seven Tools", "ai"),
    Row("annuaire-pme.example", "plain", "Annuaire PME", "french", ("Proposer un site", "/proposer")),
    Row(
        "directorio-norte.example",
        "headings",
        "Directorio Norte",
        "spanish",
        ("Publica tu empresa", "/publica"),
    ),
    Row("kaisha-navi.example", "plain", "会社ナビ", "japanese", ("サイトを登録する", "/touroku")),
    Row("sixtyfive.example", "words-limit", "Sixty-Five", "startups", ("Submit your startup", "/submit")),
    Row("deepwell.example", "deep-links", "Deepwell", "saas", ("Submit URL", "/addurl.html")),
    Row("countdown.example", "counters", "Countdown", "startups", ("Recommend a website", "/recommend.php")),
    Row("httphabit.example", "prefilled", "HTTP Habit", "saas", ("Advertise", "/advertise")),
    Row("fullname.example", "names", "Full Name", "saas", ("Register your company", "/register-company")),
    Row("logowall.example", "logo", "Logo Wall", "ai", ("Submit your logo", "/submit")),
    Row("countyguide.example", "local", "County Guide", "local", ("Add your business", "/add-business")),
    Row("redirector.example", "redirect-link", "Redirector", "startups", ("Submit", "/submit")),
    Row("hiddenshelf.example", "noindex", "Hidden Shelf", "saas", ("Submit", "/submit")),
    Row("toastmaster.example", "toast", "Toastmaster", "ai", ("Submit a tool", "/new")),
    Row("alertbox.example", "alert", "Alert Box", "startups", ("Add startup", "/add")),
    Row("quietclerk.example", "no-message", "Quiet Clerk", "saas", ("Add your site", "/add-site")),
    Row("mailproof.example", "email", "Mailproof", "startups", ("Join the list", "/join")),
    Row("whoswho.example", "lists-already", "Who's Who", "saas", ("Claim your listing", "/claim")),
    Row("wordcount.example", "refuses-short", "Word Count", "saas", ("Submit a review", "/submit")),
    Row("telegram-style.example", "refuses-long", "Telegram Style", "startups", ("Submit", "/submit")),
    Row("membersonly.example", "refuses-site", "Members Only", "saas", ("Join", "/join")),
    Row("codebreaker.example", "captcha-image", "Codebreaker", "ai", ("Submit a tool", "/submit")),
    Row("sumcheck.example", "captcha-sum", "Sumcheck", "saas", ("Submit a site", "/submit")),
    Row("hearsay.example", "required-radio", "Hearsay", "startups", ("Get listed", "/get-listed")),
    Row("linkback.example", "reciprocal", "Linkback", "saas", ("Add URL", "/add-url")),
    Row("gatehouse.example", "login", "Gatehouse", "startups", ("Submit a product", "/posts/new")),
    Row("pricetag.example", "paid-only", "Pricetag", "ai", ("Submit a tool", "/submit")),
    Row("islandlist.example", "no-submit", "Island List", "saas"),
    Row("framework-list.example", "embedded", "Framework List", "ai", ("Suggest a tool", "/suggest")),
    Row("waitaminute.example", "blocked", "Wait a Minute", "startups"),
    Row("patience.example", "throttled", "Patience", "saas", ("Submit", "/submit")),
    Row("formless-fault.example", "failing-form", "Formless Fault", "saas", ("Submit", "/submit")),
    Row("hangup.example", "dropped", "Hang-up", "startups"),
    Row("vanished.example", "gone", "Vanished", "startups"),
    Row("clipshow.example", "honeypot-clip", "Clip Show", "startups", ("Submit your site", "/submit")),
    Row(
        "faxmachine.example", "honeypot-display", "Fax Machine", "saas", ("Add your company", "/add-company")
    ),
    Row("ghostlabel.example", "placeholders", "Ghost Label", "ai", ("Submit", "/submit")),
    Row("crossedwires.example", "wrong-for", "Crossed Wires", "startups", ("Submit", "/submit")),
    Row("wwwonly.example", "www", "WWW Only", "saas", ("Submit", "/submit")),
    Row("woolring.example", "irrelevant", "Wool Ring", "knitting", ("Add your blog", "/add-blog")),
    Row(
        "startup-graveyard.example", "irrelevant", "Startup Graveyard", "failed", ("Bury a startup", "/bury")
    ),
)

ROWS: Mapping[str, Row] = {row.host: row for row in _NAMED}
"""Named directories by host, in the demo's order."""

_CROWD_THEMES = (
    "startups",
    "startups",
    "saas",
    "saas",
    "saas",
    "ai",
    "ai",
    "local",
    "local",
    "german",
    "knitting",
)


@lru_cache(maxsize=10_000)
def site_for(host: str) -> Site:
    """The directory that answers for `host`; the same one for `www.host`, and every time."""
    bare = canonical(host)
    row = ROWS.get(bare) or Row(bare, kind_of(bare), _title(bare), _pick("theme", bare, _CROWD_THEMES))
    theme, kind = THEMES[row.theme], KINDS[row.kind]
    label, path = row.link if row.link[0] else _pick("link", bare, words.SUBMIT_LINKS[theme.language])
    listing_path = _pick("listing", bare, words.LISTING_PATHS)
    return Site(
        bare, kind, row.name, theme, theme.language, label, path, listing_path, kind.expect, row.moved_to
    )


def named_sites() -> tuple[Site, ...]:
    """Every named directory, in the table's order."""
    return tuple(site_for(host) for host in ROWS)


def _title(host: str) -> str:
    """A name for a host: its first label in words."""
    return host.partition(".")[0].replace("-", " ").title() or host


def _pick(what: str, host: str, choices: tuple[T, ...]) -> T:
    return choices[stable(f"{what} {host}", len(choices))]
