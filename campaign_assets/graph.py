"""How a stage becomes an asset: a graph of a gate and the work, partitioned by publisher.

Runs of a stage carry no partition key (they pull what is due), and Dagster refuses such a run where a
partitioned upstream is an ordinary input; so the upstream arrives as `Nothing` at a gate that does nothing,
and only the gate's end reaches the work. What a stage may cost Dagster (retries of the step, pool) comes from
its row of the policy table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

from dagster import (
    AssetIn,
    AssetsDefinition,
    Backoff,
    DynamicPartitionsDefinition,
    In,
    Nothing,
    OpDefinition,
    Out,
    RetryPolicy,
    graph_asset,
    op,
)

from campaign_assets.io_manager import Mapped, Pages
from campaign_assets.policy import Policy, policies
from campaign_assets.publication import PUBLISHERS
from campaign_assets.states import Stage

IO_MANAGER = "io_manager"
"""Dagster's own default key: whoever chooses one asset alone gets a job without what none of its ops names."""
GROUP = "campaign"
OWNER = "team:campaigns"
STEP_RETRY_DELAY = 5.0
"""Seconds before Dagster tries a step again: well below what a silent run is taken for lost."""
partitions = DynamicPartitionsDefinition(name=PUBLISHERS)


def stage_asset(*, kinds: set[str]) -> Callable[[Callable[[Pages], Mapped]], AssetsDefinition]:
    """Decorates `def stage(pages) -> pages.map(body)`: the function's name is the stage, its docstring the
    description.
    """

    def decorate(function: Callable[[Pages], Mapped]) -> AssetsDefinition:
        stage = Stage(function.__name__)
        work = _work(stage, function, policies("production")[stage])
        return _asset(stage, inspect.cleandoc(function.__doc__ or ""), work, kinds)

    return decorate


def _asset(stage: Stage, description: str, work: OpDefinition, kinds: set[str]) -> AssetsDefinition:
    upstream = stage.upstream
    shared: dict[str, Any] = {
        "name": str(stage),
        "description": description,
        "partitions_def": partitions,
        "group_name": GROUP,
        "kinds": kinds,
        "owners": [OWNER],
        "tags": {"filed": "once"} if stage is Stage.SUBMISSION else {},
    }
    run = work.alias("work")
    if upstream is None:

        @graph_asset(**shared)
        def first() -> Any:
            return run()

        return cast(AssetsDefinition, first)

    gate = _gate(stage)

    @graph_asset(ins={"upstream": AssetIn(str(upstream), dagster_type=Nothing)}, **shared)
    def later(upstream: Any) -> Any:
        return run(start=gate(upstream))

    return later


def _gate(stage: Stage) -> Any:
    @op(
        name=f"{stage}_gate",
        description="Lets the work begin after the upstream.",
        ins={"upstream": In(Nothing)},
        out=Out(Nothing),
    )
    def gate() -> None: ...

    return gate.alias("gate")


def _work(stage: Stage, function: Callable[[Pages], Mapped], policy: Policy) -> OpDefinition:
    """The op that hands out the pages; the I/O manager claims, works and commits when it takes over the
    result.
    """
    ins = {"pages": In(input_manager_key=IO_MANAGER)}
    if stage.upstream is not None:
        ins["start"] = In(Nothing)

    @op(
        name=f"{stage}_work",
        description=function.__doc__,
        ins=ins,
        out=Out(io_manager_key=IO_MANAGER),
        retry_policy=_retries(policy),
        pool=policy.pool,
    )
    def work(pages: Any) -> Any:
        return function(pages)

    return work


def _retries(policy: Policy) -> RetryPolicy | None:
    """For infrastructure errors of the step; a unit's own tries are the ledger's. None where a retry could
    file a form.
    """
    if not policy.op_retries:
        return None
    return RetryPolicy(max_retries=policy.op_retries, delay=STEP_RETRY_DELAY, backoff=Backoff.EXPONENTIAL)
