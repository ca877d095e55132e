"""What `make setup` has to leave behind so that a run's worker starts fast."""

from __future__ import annotations

from importlib.util import cache_from_source, find_spec
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "module", ["dagster", "dagster_graphql.schema.runs", "sqlalchemy.dialects.oracle.base"]
)
def test_the_packages_are_compiled_ahead_whether_or_not_python_may_write_bytecode(module: str) -> None:
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    compiled = Path(cache_from_source(spec.origin))
    assert compiled.exists(), f"{compiled} is missing: each worker compiles {module} anew"
