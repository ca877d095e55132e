"""https for any host: an own certificate authority, and a certificate for each name, made when first asked for.

The authority is kept in a directory, so that a restarted sandbox is trusted by whoever trusted it before. It exists for
this machine's tests and demo; nothing else ever trusts it.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from pathlib import Path

import trustme

NAMES_KEPT = 2_048
"""A context weighs about 20 kB and takes milliseconds to make."""


class Authority:
    """Issues certificates; `path` is the PEM file a client has to trust."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / "ca.pem"
        self._ca = self._load_or_make(directory / "ca-key.pem")
        self._of = lru_cache(maxsize=NAMES_KEPT)(self._make)

    def server_context(self, address: str) -> ssl.SSLContext:
        """A server's context that answers each name with its own certificate, and `address` or no name with one too."""
        context = self._make(address)
        context.sni_callback = self._choose
        return context

    def _choose(
        self, connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, context: ssl.SSLContext
    ) -> None:
        if name:
            try:
                connection.context = self._of(name)
            except ValueError:
                # Names that are no host names (underscores, labels of 64 and more) get the address's certificate.
                return

    def _make(self, name: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        self._ca.issue_cert(name).configure_cert(context)
        return context

    def _load_or_make(self, key: Path) -> trustme.CA:
        if key.exists() and self.path.exists():
            return trustme.CA.from_pem(self.path.read_bytes(), key.read_bytes())
        ca = trustme.CA(organization_name="campaign_assets sandbox")
        _write(key, ca.private_key_pem.bytes())
        _write(self.path, ca.cert_pem.bytes())
        return ca


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, readable by its owner only."""
    draft = path.with_suffix(".new")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    draft.replace(path)
