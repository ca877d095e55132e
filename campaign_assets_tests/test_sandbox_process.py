"""The sandbox as a process: start, stop, kill, ports, certificates, silence and its record of requests."""

from __future__ import annotations

import asyncio
import http.client
import os
import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from campaign_assets.sandbox import Address, serve
from campaign_assets.sandbox.journal import Journal, Post, Request
from campaign_assets.sandbox.sites import named_sites, site_for
from campaign_assets_tests.sandbox_fixture import Sandbox, running, sandbox
from campaign_assets_tests.sandbox_visitor import TARGET, submit

__all__ = ["sandbox"]


def host_of(kind: str) -> str:
    return next(site.host for site in named_sites() if site.kind.name == kind)


def certificate(sandbox: Sandbox, name: str) -> dict[str, object]:
    """The certificate that the sandbox shows for a name, verified against its authority."""
    context = ssl.create_default_context(cafile=sandbox.ca)
    with (
        socket.create_connection(("127.0.0.1", sandbox.https), timeout=60) as raw,
        context.wrap_socket(raw, server_hostname=name) as secure,
    ):
        return dict(secure.getpeercert() or {})


@pytest.mark.parametrize("name", ["brightlist.example", "www.github.com", "xn--mnchen-3ya.de"])
def test_every_host_has_a_certificate_of_its_own(sandbox: Sandbox, name: str) -> None:
    assert certificate(sandbox, name)["subjectAltName"] == (("DNS", name),)


def test_a_name_that_no_certificate_can_carry_is_still_answered(sandbox: Sandbox) -> None:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", sandbox.https), timeout=60) as raw,
        context.wrap_socket(raw, server_hostname="under_score.example") as secure,
    ):
        secure.sendall(b"GET /robots.txt HTTP/1.1\r\nHost: under_score.example\r\nConnection: close\r\n\r\n")
        assert secure.recv(100).startswith(b"HTTP/1.1 200")


def test_a_killed_sandbox_remembers_everything_it_answered(tmp_path: Path) -> None:
    site, trap = site_for(host_of("plain")), site_for(host_of("honeypot-display"))
    with running(tmp_path) as first:
        submit(first, site)
        submit(first, trap, contact_me_by_fax="x")
        before = (first.posts(), first.violations(), first.requests())
        authority = Path(first.ca).read_bytes()
        first.kill()
    with running(tmp_path) as second:
        assert (second.posts(), second.violations(), second.requests()) == before
        assert Path(second.ca).read_bytes() == authority
        assert second.get(site.host, f"{site.listing_path}tallyhopper").status == 200
        submit(second, site)
        counted = [one for one in second.posts() if one["host"] == site.host]
        assert [(one["posts"], one["stored"]) for one in counted] == [(2, 2)]


def test_a_torn_last_line_costs_only_itself(tmp_path: Path) -> None:
    site = site_for(host_of("plain"))
    with running(tmp_path) as first:
        submit(first, site)
        first.kill()
    with (tmp_path / "facts.jsonl").open("a") as facts:
        facts.write('{"event": "viol')
    with running(tmp_path) as second:
        submit(second, site)
        second.kill()
    with running(tmp_path) as third:
        assert [one["posts"] for one in third.posts()] == [2]
        assert third.violations() == []


def test_a_terminated_sandbox_ends_cleanly_beside_a_client_that_waits_for_a_silent_site(
    tmp_path: Path,
) -> None:
    with (
        running(tmp_path) as started,
        socket.create_connection(("127.0.0.1", started.http), timeout=60) as client,
    ):
        client.sendall(f"GET / HTTP/1.1\r\nHost: {host_of('silent')}\r\n\r\n".encode())
        while not started.requests(host_of("silent")):
            pass
        assert started.stop() == 0
        assert client.recv(1) == b""


def test_a_silent_site_sends_nothing_and_is_noted_as_unanswered_when_the_client_leaves(
    sandbox: Sandbox,
) -> None:
    host = host_of("silent")
    with socket.create_connection(("127.0.0.1", sandbox.http), timeout=0.5) as client:
        client.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        with pytest.raises(TimeoutError):
            client.recv(1)
        assert [one["status"] for one in sandbox.requests(host)] == [None]
    while sandbox.requests(host)[0]["status"] is None:
        pass
    assert sandbox.requests(host)[0]["status"] == 0


def test_a_dropping_site_closes_without_an_answer(sandbox: Sandbox) -> None:
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        sandbox.get(host_of("dropped"))


def test_a_slow_site_stores_at_once_and_tells_a_second_post_that_the_first_is_in_work(tmp_path: Path) -> None:
    site = site_for(host_of("slow"))
    with running(tmp_path, slow=3.0) as started:
        answers: list[int] = []
        patient = threading.Thread(target=lambda: answers.append(submit(started, site).status))
        patient.start()
        while not started.posts():
            pass
        assert [(one["posts"], one["stored"]) for one in started.posts()] == [(1, 1)]
        fields = started.requests(site.host)[-1]["fields"]
        again = started.post(site.host, site.submit_path, {name: sent[0] for name, sent in fields.items()})
        assert (again.status, "being processed" in again.text) == (409, True)
        patient.join()
        assert answers == [200]
        assert [(one["posts"], one["stored"]) for one in started.posts()] == [(2, 1)]


def test_a_slow_sites_entry_stays_when_its_client_leaves(tmp_path: Path) -> None:
    site = site_for(host_of("slow"))
    with running(tmp_path / "quick", slow=0.0) as quick:
        submit(quick, site)
        fields = quick.requests(site.host)[-1]["fields"]
    with running(tmp_path / "slow", slow=600.0) as started:
        connection = http.client.HTTPConnection("127.0.0.1", started.http, timeout=1.0)
        body = "&".join(
            f"{name}={sent[0].replace(' ', '+')}" for name, sent in fields.items() if name != "tags"
        )
        kind = {"Host": site.host, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", site.submit_path, body, kind)
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()
        assert [(one["target"], one["stored"]) for one in started.posts()] == [(TARGET, 1)]


def test_a_post_is_noted_with_its_fields_and_the_senders_agent(sandbox: Sandbox) -> None:
    host = "noted.example"
    path = site_for(host).submit_path
    sandbox.post(host, f"{path}?from=home", {"anything": "ü"}, {"User-Agent": "careful/1"})
    noted = sandbox.requests(host)[-1]
    assert (noted["method"], noted["path"], noted["user_agent"]) == ("POST", f"{path}?from=home", "careful/1")
    assert (noted["form"], noted["fields"]) == (path, {"anything": ["ü"]})


def test_the_record_of_requests_is_bounded_and_posts_are_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path, requests_kept=10)
    journal.arrived(Post("POST", "http", "a.example", "/submit", 0.0, "", form="/submit"))
    for number in range(1, 100):
        journal.arrived(request := Request("GET", "http", "a.example", "/", float(number), ""))
        journal.answered(request, 200)
    journal.close()
    kept = Journal(tmp_path, requests_kept=10)
    assert [one["time"] for one in kept.requests()] == [0.0, *map(float, range(90, 100))]
    kept.close()
    lines = [len(path.read_text().splitlines()) for path in tmp_path.glob("requests*")]
    assert sum(lines) <= 20


def test_the_api_answers_on_any_host_and_says_what_can_be_asked(sandbox: Sandbox) -> None:
    for host in ("127.0.0.1", f"localhost:{sandbox.http}", "brightlist.example", host_of("silent")):
        assert sandbox.get(host, "/_sandbox/healthz").json()["ok"] is True
    assert "/_sandbox/posts" in sandbox.get("127.0.0.1", "/_sandbox/nothing").json()["error"]
    assert sandbox.get("127.0.0.1", "/").status == 404
    assert [site["host"] for site in sandbox.sites()] == [site.host for site in named_sites()]


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "campaign_assets.sandbox", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def test_a_port_in_use_is_one_sentence(sandbox: Sandbox) -> None:
    failed = start("--http-port", str(sandbox.http))
    assert failed.returncode == 2
    assert (
        failed.stderr
        == f"Port {sandbox.http} on 127.0.0.1 is in use: choose another port, or 0 for a free one.\n"
    )


def test_a_state_directory_that_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    failed = start("--state-dir", str(tmp_path / "file"))
    assert failed.returncode == 2
    assert failed.stderr.count("\n") == 1
    assert "name another directory" in failed.stderr


def test_serve_can_run_inside_another_program_and_ends_when_cancelled() -> None:
    async def once() -> Address:
        told: asyncio.Future[Address] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(serve(ready=told.set_result))
        address = await told
        assert authority_of(address).startswith("-----BEGIN CERTIFICATE")
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        return address

    def authority_of(address: Address) -> str:
        return Path(address.ca).read_text()

    address = asyncio.run(once())
    assert address.resolve == f"127.0.0.1:{address.http}:{address.https}"
    assert not Path(address.ca).exists()
