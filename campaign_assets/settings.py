"""All settings of the installation, read from the environment in one typed place; `campaign settings` prints them.

| variable | meaning |
|---|---|
| CAMPAIGN_HOME | data, logs, embedded server, evidence; default `~/.campaign_assets` |
| CAMPAIGN_DATABASE_URL | the ledger's database, as its owner; unset: the embedded server |
| CAMPAIGN_DAGSTER_DATABASE_URL | Dagster's database; unset: database `dagster` on the same server |
| CAMPAIGN_RESOLVE | ADDR:HTTPPORT:HTTPSPORT: every outgoing connection by name goes there (the sandbox) |
| CAMPAIGN_BROWSER_PATH | the Chromium to use; unset: searched |
| CAMPAIGN_CONTACT | an address for the User-Agent; needed for any site but the sandbox |
| CAMPAIGN_POLICY | `production` or `sandbox`: the profile of the policy table |
| CAMPAIGN_LOG_LEVEL | debug, info, warning or error |
| CAMPAIGN_RUNS | runs in flight at most, over all campaigns |
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from campaign_assets.errors import ConfigError


@dataclass(frozen=True)
class Resolve:
    """Where every connection by name goes instead: one address, one port for http and one for https."""

    address: str
    http_port: int
    https_port: int

    @classmethod
    def parse(cls, text: str) -> Resolve:
        address, _, ports = (
            text.strip().partition("]:") if text.startswith("[") else text.strip().partition(":")
        )
        http, _, https = ports.partition(":")
        if not address or not _is_port(http) or not _is_port(https):
            raise ConfigError(
                f"CAMPAIGN_RESOLVE is {text!r}; give it as ADDR:HTTPPORT:HTTPSPORT, for example 127.0.0.1:8080:8443."
            )
        return cls(address.strip("[]"), int(http), int(https))

    def __str__(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{host}:{self.http_port}:{self.https_port}"


@dataclass(frozen=True)
class Settings:
    """One installation's settings. Build with `Settings.from_environment()`; tests build it directly."""

    home: Path
    database_url: str | None = None
    dagster_database_url: str | None = None
    resolve: Resolve | None = None
    browser_path: str | None = None
    contact: str | None = None
    policy: str = "production"
    log_level: str = "info"
    runs: int = 4

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read and check every variable; ConfigError names the first that is wrong and its fix."""
        resolve = environment.get("CAMPAIGN_RESOLVE")
        return cls(
            home=Path(environment.get("CAMPAIGN_HOME") or "~/.campaign_assets").expanduser().absolute(),
            database_url=environment.get("CAMPAIGN_DATABASE_URL") or None,
            dagster_database_url=environment.get("CAMPAIGN_DAGSTER_DATABASE_URL") or None,
            resolve=Resolve.parse(resolve) if resolve else None,
            browser_path=environment.get("CAMPAIGN_BROWSER_PATH") or None,
            contact=environment.get("CAMPAIGN_CONTACT") or None,
            policy=_choice(environment, "CAMPAIGN_POLICY", ("production", "sandbox")),
            log_level=_choice(environment, "CAMPAIGN_LOG_LEVEL", ("info", "debug", "warning", "error")),
            runs=_count(environment, "CAMPAIGN_RUNS", 4),
        )

    def to_environment(self) -> dict[str, str]:
        """The same settings as variables for a child process."""
        values = {
            "CAMPAIGN_HOME": str(self.home),
            "CAMPAIGN_DATABASE_URL": self.database_url,
            "CAMPAIGN_DAGSTER_DATABASE_URL": self.dagster_database_url,
            "CAMPAIGN_RESOLVE": str(self.resolve) if self.resolve else None,
            "CAMPAIGN_BROWSER_PATH": self.browser_path,
            "CAMPAIGN_CONTACT": self.contact,
            "CAMPAIGN_POLICY": self.policy,
            "CAMPAIGN_LOG_LEVEL": self.log_level,
            "CAMPAIGN_RUNS": str(self.runs),
        }
        return {name: value for name, value in values.items() if value is not None}


def _is_port(text: str) -> bool:
    return text.isdecimal() and 0 < int(text) <= 65535


def _choice(environment: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    value = environment.get(name) or allowed[0]
    if value not in allowed:
        raise ConfigError(f"{name} is {value!r}; it must be one of {', '.join(sorted(allowed))}.")
    return value


def _count(environment: Mapping[str, str], name: str, default: int) -> int:
    value = environment.get(name) or str(default)
    if not value.isdigit() or int(value) < 1:
        raise ConfigError(f"{name} is {value!r}; it must be a whole number of at least 1.")
    return int(value)
