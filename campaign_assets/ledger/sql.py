"""How the ledger's SQL is written down: whole statements as text, with named fragments put in for `$name`.

Values never go through here; they are bound parameters (`:name`). Fragments are constants of this package.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import Template

from sqlalchemy import TextClause, text

BOUND_TENANT = "(select nullif(current_setting('app.tenant_id', true), '')::uuid)"
"""The bound tenant's id or NULL. As a subquery it is evaluated once a statement, not once a row."""


def fragment(template: str, **fragments: str) -> str:
    """`template` with each `$name` replaced by its fragment; KeyError for one that is missing."""
    return Template(template).substitute(fragments)


def statement(template: str, **fragments: str) -> TextClause:
    """A whole statement made of fragments."""
    return text(fragment(template, **fragments))


def quoted(words: Iterable[str]) -> str:
    """Enum values as a list of SQL literals: `'failed', 'held'`, in alphabetical order."""
    return ", ".join(f"'{word}'" for word in sorted(words))


def storable(words: str) -> str:
    """`words` without what PostgreSQL cannot store: NUL becomes a replacement character, a lone surrogate a `?`."""
    return words.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
