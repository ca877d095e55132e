"""What the sandbox remembers: requests, posts, entries and violations, in memory and as append-only JSON lines.

A line is written before the answer that it belongs to, so a killed sandbox has lost nothing that anybody was told.
Requests that are not posts are bounded, in memory and on disk; posts, entries and violations are kept for ever.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from campaign_assets.sandbox.parts import Moderation

REQUESTS_KEPT = 50_000


@dataclass(slots=True)
class Request:
    """One request as it arrived. `status` is None while it is unanswered and 0 where the client left before that."""

    method: str
    scheme: str
    host: str
    path: str
    time: float
    user_agent: str
    status: int | None = None


@dataclass(slots=True)
class Post(Request):
    """A request that posts a form: its fields, and the canonical host that was filed with it."""

    number: int = 0
    form: str = ""
    target: str = ""
    fields: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored listing. It is public from `visible_at` (seconds since 1970) on; None: not yet, or never."""

    number: int
    host: str
    form: str
    target: str
    slug: str
    values: dict[str, str]
    time: float
    visible_at: float | None
    moderation: Moderation = "none"
    token: str = ""

    def visible(self, now: float) -> bool:
        return self.visible_at is not None and self.visible_at <= now


@dataclass(frozen=True, slots=True)
class Violation:
    """Something a careful person would not have done: honeypot, paid, captcha, invented, foreign, newsletter …"""

    host: str
    kind: str
    target: str


class Journal:
    """The sandbox's memory. With a `directory` it survives its process; without one it is memory only."""

    def __init__(self, directory: Path | None = None, requests_kept: int = REQUESTS_KEPT) -> None:
        self.posts: list[Post] = []
        self.violations: list[Violation] = []
        self.marks: dict[tuple[str, str], float] = {}
        self.in_work: set[tuple[str, str]] = set()
        """(host, target) of stored submissions whose slow answer is still to come; of this process only."""
        self._requests: deque[Request] = deque(maxlen=requests_kept)
        self._entries: dict[int, Entry] = {}
        self._by_host: defaultdict[str, list[int]] = defaultdict(list)
        self._kept = requests_kept
        self._facts: _Lines | None = None
        self._visits: _Lines | None = None
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
            self._restore(directory)

    # ------------------------------------------------------------------------------------------------------ writing

    def arrived(self, request: Request) -> None:
        """A request is here; it is on disk once `answered`, a post at once."""
        if isinstance(request, Post):
            request.number = len(self.posts)
            self.posts.append(request)
            self._write("post", asdict(request))
        else:
            self._requests.append(request)

    def answered(self, request: Request, status: int) -> None:
        """Its answer is about to be sent, or (0) nobody is there any more to hear it."""
        request.status = status
        if isinstance(request, Post):
            self._write("status", {"number": request.number, "status": status})
        elif self._visits is not None:
            self._visits.append(asdict(request), self._kept)

    def store(self, entry: Entry) -> Entry:
        """A listing is stored, under the next number."""
        numbered = replace(entry, number=len(self._entries) + 1)
        self._keep(numbered)
        self._write("entry", asdict(numbered))
        return numbered

    def publish(self, token: str) -> Entry | None:
        """The entry whose confirmation link was opened becomes public; None for an unknown token."""
        for entry in self._entries.values():
            if token and entry.token == token:
                published = replace(entry, visible_at=entry.visible_at or time.time())
                self._keep(published)
                self._write("entry", asdict(published))
                return published
        return None

    def violate(self, violation: Violation) -> None:
        self.violations.append(violation)
        self._write("violation", asdict(violation))

    def mark(self, host: str, name: str, moment: float) -> None:
        """Remember a moment for a host, such as when it may be asked again."""
        self.marks[host, name] = moment
        self._write("mark", {"host": host, "name": name, "moment": moment})

    # ------------------------------------------------------------------------------------------------------ reading

    def entries(self, host: str | None = None) -> list[Entry]:
        """Stored listings, oldest first: of one host or of all."""
        if host is None:
            return list(self._entries.values())
        return [self._entries[number] for number in self._by_host[host]]

    def requests(self, host: str | None = None) -> list[dict[str, Any]]:
        """Remembered requests and all posts, in the order of their arrival."""
        both = [*self._requests, *self.posts]
        return [asdict(one) for one in sorted(both, key=lambda one: one.time) if host in (None, one.host)]

    def summary(self) -> list[dict[str, Any]]:
        """How often each form was posted for each target, and how many entries were stored for it."""
        posts = Counter((post.host, post.form, post.target) for post in self.posts)
        stored = Counter((entry.host, entry.form, entry.target) for entry in self._entries.values())
        return [
            {
                "host": host,
                "form": form,
                "target": target,
                "posts": count,
                "stored": stored[host, form, target],
            }
            for (host, form, target), count in sorted(posts.items())
        ]

    def close(self) -> None:
        for lines in (self._facts, self._visits):
            if lines is not None:
                lines.close()

    # ---------------------------------------------------------------------------------------------------- internals

    def _keep(self, entry: Entry) -> None:
        if entry.number not in self._entries:
            self._by_host[entry.host].append(entry.number)
        self._entries[entry.number] = entry

    def _write(self, event: str, value: dict[str, Any]) -> None:
        if self._facts is not None:
            self._facts.append({"event": event, **value})

    def _restore(self, directory: Path) -> None:
        facts, visits = _Lines(directory / "facts.jsonl"), _Lines(directory / "requests.jsonl")
        for value in facts.read():
            self._replay(value.pop("event"), value)
        self._requests.extend(Request(**value) for value in visits.read())
        self._facts, self._visits = facts, visits

    def _replay(self, event: str, value: dict[str, Any]) -> None:
        if event == "post":
            self.posts.append(Post(**value))
        elif event == "status":
            self.posts[value["number"]].status = value["status"]
        elif event == "entry":
            self._keep(Entry(**value))
        elif event == "violation":
            self.violations.append(Violation(**value))
        elif event == "mark":
            self.marks[value["host"], value["name"]] = value["moment"]


class _Lines:
    """An append-only file of JSON lines. One line is one write, so that a kill leaves whole lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._older = path.with_suffix(".older.jsonl")
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._count = 0
        self._end_torn_line()

    def append(self, value: dict[str, Any], keep: int | None = None) -> None:
        """Write a line; with `keep`, at most two files of so many lines remain."""
        if keep is not None and self._count >= keep:
            os.close(self._file)
            os.replace(self._path, self._older)
            self._file, self._count = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), 0
        os.write(self._file, json.dumps(value, ensure_ascii=False).encode() + b"\n")
        self._count += 1

    def read(self) -> Iterator[dict[str, Any]]:
        """Every whole line, oldest first; a line torn by a crash of the machine is skipped."""
        for path in (self._older, self._path):
            if not path.exists():
                continue
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    self._count += path == self._path
                    try:
                        yield json.loads(line)
                    except json.JSONDecodeError:
                        continue

    def close(self) -> None:
        os.close(self._file)

    def _end_torn_line(self) -> None:
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")
