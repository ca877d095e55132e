# ruff: noqa: E501 (a case of a table, or a page's markup, is one line)
"""The SSRF guard: no notation, no DNS answer and no setting leads to an address that is not public."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from campaign_assets.errors import ConfigError, SiteError
from campaign_assets.settings import Resolve, Settings
from campaign_assets.web.addresses import ascii_host, is_public, judged_host
from campaign_assets.web.fetch import Fetcher, checked
from campaign_assets.web.network import Endpoint, Network

OPEN = Settings(home=Path("/nonexistent"), contact="ops@agency.example")

HOSTILE_HOSTS = """
127.0.0.1 127.1 127.0.1 127.0.0.1. 0 0.0.0.0 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1 017700000001 0177.0.0.1 0177.1 0x0 00000177.1
127.0.0.0x1 10.0.0.1 192.168.1.1 172.16.0.1 169.254.169.254 0xA9FEA9FE 2852039166 0251.0376.0251.0376 224.0.0.1 255.255.255.255 93.184.216.34
[::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:0:0:1] [fe80::1] [fe80::1%25eth0] [fc00::1] [ff02::1] [64:ff9b::7f00:1] [2002:7f00:1::]
１２７.０.０.１ 127。0。0。1 127．0．0．1 ①②⑦.⓪.⓪.① %31%32%37.0.0.1 ⑯⑨。②⑤④。⑯⑨｡②⑤④
localhost LOCALHOST localhost. localhost.localdomain sub.localhost ｌｏｃａｌｈｏｓｔ metadata metadata.google.internal router.lan
db.internal printer.local nas.home.arpa intranet a.corp x.onion 1.0.0.127.in-addr.arpa example.0x7f 1.2.3.4.5 foo.1 foo.0x
""".split()


@pytest.mark.parametrize("host", HOSTILE_HOSTS)
def test_a_host_that_is_an_address_or_a_local_name_is_refused_before_dns(host: str) -> None:
    with pytest.raises(SiteError) as refused:
        checked(f"http://{host}/")
    assert refused.value.reason == "address_refused", host
    with pytest.raises(SiteError):
        judged_host(host.strip("[]"))


@pytest.mark.parametrize(
    "url",
    "file:///etc/passwd ftp://site.example/ gopher://site.example/ javascript:alert(1) data:text/html,x http:///x http://[::1 //site.example/"
    " chrome://version about:blank ws://site.example/ view-source:http://site.example/ http://user@127.0.0.1/ http://site.example@127.0.0.1/"
    " http://127.0.0.1:80\\@site.example/ http://site.example:99999/ http://a%00b.example/ http://a%2f.example/".split(),
)
def test_an_address_that_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(SiteError) as refused:
        checked(url)
    assert refused.value.reason == "address_refused"


NOT_PUBLIC = """
0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1
192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::7f00:1 ::ffff:10.0.0.1 ::ffff:93.184.216.34 64:ff9b::a00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:a00:1:: 3fff::1 5f00::1 fc00::1
fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1 2606:4700::1111%eth0 nonsense
""".split()


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_public_unicast_is_refused_after_dns(address: str) -> None:
    assert not is_public(address)

    async def answer(host: str, port: int) -> list[str]:
        return ["93.184.216.34", address]  # one bad address among good ones spoils the answer

    with pytest.raises(SiteError) as refused:
        asyncio.run(Network(OPEN, answer).endpoints("rebinding.example", 80))
    assert refused.value.reason == "address_refused"


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111"])
def test_a_public_address_passes_and_is_the_one_that_is_connected_to(address: str) -> None:
    async def answer(host: str, port: int) -> list[str]:
        return [address]

    assert asyncio.run(Network(OPEN, answer).endpoints("Site.Example.", 443)) == [Endpoint(address, 443)]


@pytest.mark.parametrize("port", [0, 22, 25, 5432, 6379, 8081, 11211])
def test_a_port_that_no_website_uses_is_refused(port: int) -> None:
    with pytest.raises(SiteError) as refused:
        asyncio.run(Network(OPEN).endpoints("site.example", port))
    assert refused.value.reason == "address_refused"


def test_a_name_without_an_address_is_a_dns_failure_and_only_a_server_that_is_busy_is_worth_a_retry() -> None:
    import socket

    def failing(code: int) -> SiteError:
        async def answer(host: str, port: int) -> list[str]:
            raise socket.gaierror(code, "no")

        with pytest.raises(SiteError) as failed:
            asyncio.run(Network(OPEN, answer).endpoints("gone.example", 80))
        return failed.value

    assert (failing(socket.EAI_NONAME).reason, failing(socket.EAI_NONAME).transient) == ("dns_failure", False)
    assert (failing(socket.EAI_AGAIN).reason, failing(socket.EAI_AGAIN).transient) == ("dns_failure", True)


def test_with_resolve_no_name_is_looked_up_and_nothing_else_can_be_connected_to() -> None:
    async def never(host: str, port: int) -> list[str]:
        raise AssertionError(f"{host} was looked up")

    network = Network(Settings(home=Path("/nonexistent"), resolve=Resolve("127.0.0.1", 8001, 8002)), never)
    assert asyncio.run(network.endpoints("any.example", 80)) == [Endpoint("127.0.0.1", 8001)]
    assert asyncio.run(network.endpoints("any.example", 8443)) == [Endpoint("127.0.0.1", 8002)]
    assert network.permits("127.0.0.1", 8001)
    assert not network.permits("93.184.216.34", 80)
    assert not network.permits("127.0.0.1", 22)
    assert not network.verify
    with pytest.raises(SiteError):
        asyncio.run(network.endpoints("93.184.216.34", 80))


def test_certificates_are_checked_wherever_resolve_is_unset() -> None:
    assert Network(OPEN).verify
    assert not Network(OPEN).permits("127.0.0.1", 80)


def test_without_a_contact_no_site_is_visited_but_the_sandbox() -> None:
    network = Network(Settings(home=Path("/nonexistent")))

    async def fetch() -> None:
        fetcher = Fetcher(network)
        try:
            await fetcher.get("http://site.example/")
        finally:
            await fetcher.close()

    with pytest.raises(ConfigError, match="CAMPAIGN_CONTACT"):
        asyncio.run(fetch())
    Network(Settings(home=Path("/nonexistent"), resolve=Resolve("127.0.0.1", 1, 1))).ready()


def test_the_user_agent_names_us_and_the_contact() -> None:
    assert Network(OPEN).user_agent.startswith("campaign_assets/")
    assert Network(OPEN).user_agent.endswith("(+ops@agency.example)")


def test_a_dns_answer_for_the_fetcher_is_judged_in_its_own_connector() -> None:
    async def answer(host: str, port: int) -> list[str]:
        return ["169.254.169.254"]

    async def fetch() -> None:
        fetcher = Fetcher(Network(OPEN, answer))
        try:
            await fetcher.get("http://metadata.attacker.example/")
        finally:
            await fetcher.close()

    with pytest.raises(SiteError) as refused:
        asyncio.run(fetch())
    assert refused.value.reason == "address_refused"


@pytest.mark.parametrize(
    ("host", "ascii_name"),
    [
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("例え.jp", "xn--r8jz45g.jp"),
        ("ＳＩＴＥ.example.", "site.example"),
    ],
)
def test_a_host_in_another_script_is_known_by_its_ascii_name(host: str, ascii_name: str) -> None:
    assert ascii_host(host) == ascii_name
