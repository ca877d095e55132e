"""What a run keeps of what it saw: screenshots and documents, as files under CAMPAIGN_HOME named by their
content.

`evidence/<tenant id>/<campaign id>/<sha256>.<ext>`, directories 0700, files 0600, written beside and renamed,
so that a file with its final name is complete. Refuses to know what a file means: that is the ledger's record
of it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from uuid import UUID, uuid4

from campaign_assets.model import Evidence

_EXTENSIONS = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "text/html": "html",
    "text/plain": "txt",
    "application/json": "json",
    "application/pdf": "pdf",
}


class EvidenceFolder:
    """One campaign's evidence."""

    def __init__(self, home: Path, tenant: UUID, campaign: UUID) -> None:
        self.home = home
        self.folder = Path("evidence", str(tenant), str(campaign))

    def keep(self, kind: str, content: bytes, media_type: str) -> Evidence:
        """Store `content` (once, however often it is given) and return its record."""
        digest = hashlib.sha256(content).hexdigest()
        extension = _EXTENSIONS.get(media_type.partition(";")[0].strip(), "bin")
        relative = self.folder / f"{digest}.{extension}"
        target = self.home / relative
        if not target.exists():
            self._write(target, content)
        return Evidence(
            kind=kind, path=str(relative), media_type=media_type, sha256=digest, size=len(content)
        )

    def _write(self, target: Path, content: bytes) -> None:
        for directory in (self.home / "evidence", target.parent.parent, target.parent):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = target.with_name(f".{uuid4().hex}")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        beside.replace(target)
