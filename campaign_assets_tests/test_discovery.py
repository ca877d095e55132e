"""Discovery on the sandbox and on served pages: where one submits, and honest reasons where one does not."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import pytest
from aiohttp import web

from campaign_assets.errors import SiteError
from campaign_assets.model import DiscoveryResult, Key, Outcome, OutcomeKind, Reason
from campaign_assets.sandbox.sites import named_sites, site_for
from campaign_assets.stages.discovery import discovery
from campaign_assets.stages.page import Page
from campaign_assets.stages.submit_page import ranked_links
from campaign_assets.web.fetch import Document
from campaign_assets_tests.sandbox_fixture import Sandbox, sandbox
from campaign_assets_tests.stage_walk import Walk, served_walk, walk
from campaign_assets_tests.web_desk import Desk

__all__ = ["sandbox"]
_DOORS_ELSEWHERE = {"silent", "dropped", "failing", "huge", "looping", "blocked", "throttled"}
_SITES = {site.host: site for site in named_sites()}
_OPEN = [
    host
    for host, site in _SITES.items()
    if site.expect.stage != "discovery" and site.kind.door not in _DOORS_ELSEWHERE
]
FORM = "<form method=post><input name=title><input name=url type=url><textarea name=text></textarea></form>"


@pytest.fixture(scope="module")
def stroll(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with walk(sandbox.resolve, tmp_path_factory.mktemp("walk")) as made:
        yield made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, Walk]]:
    with served_walk(tmp_path_factory.mktemp("desk")) as made:
        yield made


def discover(made: Walk, url: str) -> Outcome:
    return made.outcome(discovery, made.unit(url))


def test_every_open_directory_of_the_sandbox_gives_its_submit_page(stroll: Walk) -> None:
    wrong = {}
    for host in _OPEN:
        result = discover(stroll, f"https://{host}/").result
        found = result.submit_url if isinstance(result, DiscoveryResult) else "nothing"
        if not found.endswith(f"{host}{_SITES[host].submit_path}"):
            wrong[host] = found
    assert not wrong
    assert len(_OPEN) > 45


def test_the_submit_page_itself_is_not_loaded(sandbox: Sandbox, stroll: Walk) -> None:
    host = "snailmail-listings.example"
    discover(stroll, f"https://{host}/")
    assert {request["path"] for request in sandbox.requests(host)} == {"/robots.txt", "/"}


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("parkinglot.example", Reason.PARKED),
        ("luckyseven-tools.example", Reason.SOLD),
        ("keepout.example", Reason.ROBOTS_FORBIDDEN),
        ("vanished.example", Reason.NOT_FOUND),
        ("islandlist.example", Reason.NO_SUBMIT_PAGE),
    ],
)
def test_what_is_no_use_is_rejected_with_its_reason(stroll: Walk, host: str, reason: Reason) -> None:
    outcome = discover(stroll, f"https://{host}/")
    assert (outcome.kind, outcome.reason) == (OutcomeKind.REJECT, reason), outcome
    assert host in outcome.detail


@pytest.mark.parametrize(
    ("host", "reason", "transient"),
    [
        ("brokenwheel.example", "server_error", True),
        ("hangup.example", "connection_failed", True),
        ("waitaminute.example", "blocked", False),
        ("carousel.example", "redirect_loop", False),
    ],
)
def test_what_the_site_may_do_better_is_left_to_the_runtime(
    stroll: Walk, host: str, reason: str, transient: bool
) -> None:
    with pytest.raises(SiteError) as caught:
        discover(stroll, f"https://{host}/")
    assert (caught.value.reason, caught.value.transient) == (reason, transient)


def test_a_renamed_directory_is_merged_where_the_campaign_has_it_already(stroll: Walk) -> None:
    first = discover(stroll, "https://old-brightlist.example/")
    assert isinstance(first.result, DiscoveryResult)
    assert first.result.site == "brightlist.example"
    stroll.known["brightlist.example"] = Key("acme", "launch", "brightlist.example")
    again = discover(stroll, "https://old-brightlist.example/")
    stroll.known.clear()
    assert (again.kind, again.reason) == (OutcomeKind.REJECT, Reason.MERGED)
    assert "acme/launch/brightlist.example" in again.detail


def test_the_result_carries_what_scoring_reads(stroll: Walk) -> None:
    result = discover(stroll, "https://mittelstandsliste.example/").result
    assert isinstance(result, DiscoveryResult)
    assert (result.language, result.https, result.status) == ("de", True, 200)
    assert result.outgoing_links >= 10
    assert "Mittelstand" in result.text
    assert "Eintragen" in result.submit_found


def test_a_form_on_the_home_page_is_the_submit_page(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    url = desk.serve(f"<title>L</title><a href=/blog>Blog</a>{FORM}", "/", "onhome.example")
    result = discover(made, url).result
    assert isinstance(result, DiscoveryResult)
    assert (result.submit_url, "home page itself" in result.submit_found) == (url, True)


def test_a_guessed_path_counts_only_with_a_form_and_is_marked(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    url = desk.serve("<title>L</title><p>Welcome", "/", "guess.example")
    desk.serve("<title>Soft 404</title><form><input name=q></form>", "/submit", "guess.example")
    assert discover(made, url).reason is Reason.NO_SUBMIT_PAGE
    desk.serve(f"<title>Add</title>{FORM}", "/add", "guess.example")
    result = discover(made, url).result
    assert isinstance(result, DiscoveryResult)
    assert result.submit_url == url + "add"
    assert result.submit_found.startswith("guessed")


def test_the_sources_own_address_counts_only_with_a_form(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    url = desk.serve("<title>L</title><p>Welcome", "/", "deep.example")
    desk.serve(f"<title>Add</title>{FORM}", "/hidden/form.php", "deep.example")
    result = discover(made, url + "hidden/form.php").result
    assert isinstance(result, DiscoveryResult)
    assert (result.final_url, result.submit_url) == (url, url + "hidden/form.php")
    assert "named by the source" in result.submit_found


def test_a_submit_page_that_robots_forbid_is_not_visited(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    url = desk.serve("<title>L</title><a href=/submit>Submit your site</a>", "/", "halfopen.example")

    async def robots(_: web.Request) -> web.Response:
        return web.Response(text="User-agent: *\nDisallow: /submit\n")

    desk.serve(robots, "/robots.txt", "halfopen.example")
    outcome = discover(made, url)
    assert (outcome.kind, outcome.reason) == (OutcomeKind.REJECT, Reason.ROBOTS_FORBIDDEN)
    assert not desk.hits("halfopen.example /submit")


@pytest.mark.parametrize(
    ("target", "kind", "reason"),
    [
        ("http://www.hugedomains.com/buy", OutcomeKind.REJECT, Reason.PARKED),
        ("http://accounts.google.com/signin", OutcomeKind.HOLD, Reason.LOGIN_REQUIRED),
        ("http://www.facebook.com/somepage", OutcomeKind.REJECT, Reason.NO_SUBMIT_PAGE),
    ],
)
def test_a_redirect_to_nobodys_directory_is_never_merged(
    served: tuple[Desk, Walk], target: str, kind: OutcomeKind, reason: Reason
) -> None:
    desk, made = served

    async def away(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": target})

    host = f"to-{reason.replace('_', '-')}.example"
    desk.serve("<title>Page</title><p>Hello", target.split("com", 1)[1], target.split("/")[2])
    made.noted.clear()
    outcome = discover(made, desk.serve(away, "/", host))
    assert (outcome.kind, outcome.reason) == (kind, reason), outcome
    assert made.noted == []


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        ("<title>x</title><p>Diese Domain steht zum Verkauf", Reason.PARKED),
        ("<title>x.example</title><script src='https://cdn.sedoparking.com/a.js'></script>", Reason.PARKED),
        ("<title>Welcome to nginx!</title><h1>Welcome to nginx!</h1>", Reason.PARKED),
        ("<title>L</title><h1>Submissions are closed</h1><a href=/submit>Submit</a>", Reason.CLOSED),
        ("<title>L</title><p>This service has been discontinued. Thank you!", Reason.CLOSED),
        (
            "<title>Situs judi slot gacor</title><p>Bandar togel, slot gacor, casino deposit, jackpot" * 5,
            Reason.SOLD,
        ),
    ],
)
def test_pages_that_are_no_directory_any_more_are_told_apart(
    served: tuple[Desk, Walk], markup: str, reason: Reason
) -> None:
    desk, made = served
    host = f"end{crc32(markup.encode())}.example"
    outcome = discover(made, desk.serve(markup, "/", host))
    assert (outcome.kind, outcome.reason) == (OutcomeKind.REJECT, reason), outcome


def test_a_living_directory_that_mentions_such_things_is_alive(served: tuple[Desk, Walk]) -> None:
    desk, made = served
    items = "".join(
        f"<li><a href=https://tool{n}.example>Tool {n}</a> helps small teams to plan their work"
        for n in range(30)
    )
    text = "Poker planning for teams. Buy this domain tool is no longer maintained. Deposit your bonus."
    url = desk.serve(
        f"<title>Tools</title><a href=/add>Add your tool</a><ul>{items}</ul><p>{text}", "/", "alive.example"
    )
    assert discover(made, url).kind is OutcomeKind.SUCCEED


def surest(*links: str) -> str:
    """The text of the surest submit link among (text|path) pairs, or nothing."""
    markup = "".join(
        f'<a href="{path}">{text}</a>' for text, _, path in (link.partition("|") for link in links)
    )
    page = Page(Document("https://l.example/", 200, {}, b"", markup, "text/html"))
    ranked = ranked_links(page)
    return ranked[0].link.text if ranked and ranked[0].sureness >= 0.4 else ""


@pytest.mark.parametrize(
    ("right", "others"),
    [
        ("Submit your site|/s1", ("Submit a review|/reviews/new", "Blog|/blog")),
        ("Get listed|/pricing", ("Login|/login", "Browse tools|/tools")),
        ("Add your business|/x", ("Add to cart|/cart/add", "Submit ticket|/support/submit")),
        ("Eintragen|/e", ("Impressum|/impressum", "Newsletter anmelden|/newsletter")),
        ("Proposer un site|/p", ("Se connecter|/login", "Recherche|/recherche")),
        ("Publica tu empresa|/p", ("Iniciar sesión|/entrar", "Blog|/blog")),
        ("Segnala un sito|/s", ("Accedi|/accedi",)),
        ("Cadastre seu site|/c", ("Entrar|/entrar",)),
        ("Site toevoegen|/t", ("Inloggen|/inloggen",)),
        ("掲載申請|/k", ("ログイン|/login",)),
        ("Site ekle|/e", ("Giriş|/giris",)),
        ("Hunt a product|/hunt", ("Find a tool|/find", "Request a demo|/demo")),
        ("Advertise|/advertise", ("About|/about",)),
        ("Submit|/submit", ("How to submit your startup to a hundred directories in one evening|/blog/how",)),
        ("Add URL|https://tally.so/r/abc", ("Add us on X|https://x.com/us",)),
    ],
)  # fmt: skip
def test_the_submit_link_is_the_surest_in_many_languages(right: str, others: tuple[str, ...]) -> None:
    assert surest(*others, right) == right.partition("|")[0]
    assert surest(*others) == "", "no wrong one may be taken for sure"


def test_the_crowd_of_unnamed_hosts_ends_as_its_kinds_say(stroll: Walk) -> None:
    wrong = {}
    for number in range(40):
        site = site_for(f"directory-{number:05d}.example")
        if site.kind.door in _DOORS_ELSEWHERE:
            continue
        outcome = discover(stroll, f"https://{site.host}/")
        at_home = site.kind.door != "open" or site.kind.form_door == "missing"
        if (outcome.kind is OutcomeKind.REJECT) is not at_home:
            wrong[site.host] = (site.kind.name, outcome)
    assert not wrong
