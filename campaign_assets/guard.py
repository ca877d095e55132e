"""Refuses every setting of Dagster by which a submission could be tried again without the ledger's word (R5).

Checked when the definitions load, in each submission run, and by `campaign up`. The ledger's unique index holds
either way; this keeps anybody from relying on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from dagster import (
    AssetsDefinition,
    DagsterInstance,
    GraphDefinition,
    OpDefinition,
    RetryPolicy,
)

from campaign_assets.errors import ConfigError
from campaign_assets.states import Stage

_MAX_RETRIES = "dagster/max_retries"
_FILED_TWICE = "a retry could file a form twice"


def refuse_op_retries(assets: Iterable[AssetsDefinition], jobs: Mapping[Stage, Any]) -> None:
    """ConfigError where a RetryPolicy reaches the submission asset: on an op, on its use in the graph, or on
    its job.
    """
    for asset in assets:
        if any(key.path[-1] == Stage.SUBMISSION for key in asset.keys):
            for name, policy in _policies(cast(OpDefinition | GraphDefinition, asset.node_def)):
                refuse_policy(policy, f"{name} of the submission asset")
    refuse_policy(jobs[Stage.SUBMISSION].op_retry_policy, "The submission job")


def refuse_policy(policy: RetryPolicy | None, where: str) -> None:
    """ConfigError where there is one."""
    if policy is not None:
        raise ConfigError(f"{where} has a RetryPolicy; {_FILED_TWICE}: remove it.")


def refuse_run_retries(instance: DagsterInstance, tags: Mapping[str, str]) -> None:
    """ConfigError where Dagster would start a failed submission run again."""
    if not instance.run_retries_enabled:
        return
    allowed = tags.get(_MAX_RETRIES, str(instance.run_retries_max_retries))
    if allowed != "0":
        raise ConfigError(
            f"Dagster's run_retries are on; {_FILED_TWICE}: set `enabled: false` under them in dagster.yaml."
        )


def _policies(definition: OpDefinition | GraphDefinition) -> Iterator[tuple[str, RetryPolicy | None]]:
    """Every op under `definition` with the policy it declares, and every use of one with the policy given
    there.
    """
    if isinstance(definition, OpDefinition):
        yield f"The op {definition.name}", definition.retry_policy
    if isinstance(definition, GraphDefinition):
        for node in definition.nodes:
            yield f"The node {node.name}", node.retry_policy
            yield from _policies(cast(OpDefinition | GraphDefinition, node.definition))
