"""What Dagster loads: eight assets in a line, nothing that could file twice, nothing needed to look at them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dagster import AssetKey, Definitions, DynamicPartitionsDefinition, RetryPolicy, define_asset_job

from campaign_assets.assets import STAGES, submission
from campaign_assets.definitions import defs
from campaign_assets.errors import ConfigError
from campaign_assets.graph import GROUP, stage_asset
from campaign_assets.guard import refuse_op_retries
from campaign_assets.io_manager import Pages
from campaign_assets.jobs import STAGE_JOBS
from campaign_assets.policy import policies
from campaign_assets.publication import PUBLISHERS
from campaign_assets.states import Stage

ROOT = Path(__file__).parent.parent


def work(stage: Stage) -> Any:
    """The work op of a stage's asset."""
    (asset,) = [a for a in STAGES if a.key == AssetKey(str(stage))]
    return asset.node_def.node_named("work").definition  # type: ignore[attr-defined]


def test_the_eight_stages_are_eight_assets_one_after_the_other() -> None:
    graph = defs.resolve_asset_graph()
    assert [asset.key.path[-1] for asset in STAGES] == [str(stage) for stage in Stage]
    parents = {
        key.path[-1]: {parent.path[-1] for parent in graph.get(key).parent_keys}
        for key in graph.get_all_asset_keys()
    }
    assert parents == {str(stage): {str(stage.upstream)} if stage.upstream else set() for stage in Stage}


def test_every_asset_says_what_it_is_and_has_the_publishers_as_partitions() -> None:
    graph = defs.resolve_asset_graph()
    for stage in Stage:
        node = graph.get(AssetKey(str(stage)))
        assert node.description
        assert node.kinds
        assert node.owners
        assert node.group_name == GROUP
        assert isinstance(node.partitions_def, DynamicPartitionsDefinition)
        assert node.partitions_def.name == PUBLISHERS


@pytest.mark.parametrize("stage", Stage)
def test_retries_and_pool_of_a_step_come_from_its_row_of_the_policy_table(stage: Stage) -> None:
    row, op = policies("production")[stage], work(stage)
    assert op.pool == row.pool
    assert (op.retry_policy.max_retries if op.retry_policy else 0) == row.op_retries


def test_the_asset_around_a_stage_can_be_called_as_a_function_over_pages() -> None:
    mapped = work(Stage.SCORING).compute_fn.decorated_fn(Pages())
    assert mapped.body.__name__ == "scoring"


def test_there_is_a_job_for_each_stage_and_for_each_thing_an_operator_does() -> None:
    names = {job.name for job in defs.resolve_all_job_defs()}
    assert {f"{stage}_run" for stage in Stage} | {"restart", "rerun", "resolve", "decide"} <= names
    for name in ("restart", "rerun", "resolve", "decide"):
        assert defs.resolve_job_def(name).description


@pytest.mark.parametrize("stage", Stage)
def test_each_asset_alone_makes_a_job_as_the_ui_asks_for_one(stage: Stage) -> None:
    alone = (
        defs.get_repository_def().get_job("__ASSET_JOB").get_subset(asset_selection={AssetKey(str(stage))})
    )
    assert alone.get_job_snapshot().dep_structure_snapshot.node_invocation_snaps[0].node_name == stage


def test_both_sensors_are_on_by_default() -> None:
    statuses = {sensor.name: sensor.default_status.value for sensor in defs.sensors or []}
    assert statuses == {"scheduler": "RUNNING", "reaper": "RUNNING"}


def test_the_submission_asset_has_no_retry_policy_and_none_is_taken() -> None:
    refuse_op_retries(STAGES, STAGE_JOBS)
    assert work(Stage.SUBMISSION).retry_policy is None


def test_a_retry_policy_on_the_submission_op_is_refused() -> None:
    op = submission.node_def.node_named("work").definition  # type: ignore[attr-defined]
    op._retry_policy = RetryPolicy(max_retries=1)
    try:
        with pytest.raises(ConfigError, match="could file a form twice"):
            refuse_op_retries(STAGES, STAGE_JOBS)
    finally:
        op._retry_policy = None


def test_a_retry_policy_on_the_submission_job_is_refused() -> None:
    job = define_asset_job(
        "submission_run", selection=["submission"], op_retry_policy=RetryPolicy(max_retries=1)
    )
    with pytest.raises(ConfigError, match="The submission job"):
        refuse_op_retries(STAGES, STAGE_JOBS | {Stage.SUBMISSION: job})


def test_a_stage_that_is_no_stage_cannot_become_an_asset() -> None:
    def shipping(pages: Pages) -> Any:
        """Not a stage."""

    with pytest.raises(ValueError, match="shipping"):
        stage_asset(kinds={"python"})(shipping)


def _in_empty_environment(code: str) -> Any:
    """Run Python with an environment that holds nothing but PYTHONPATH; its last line of output as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT)},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_graph_loads_with_an_empty_environment_and_no_database() -> None:
    keys = _in_empty_environment(
        "import json; from campaign_assets.definitions import defs;"
        "defs.get_repository_def();"
        "print(json.dumps(sorted(k.to_user_string() for k in defs.resolve_asset_graph().get_all_asset_keys())))"
    )
    assert keys == sorted(map(str, Stage))


@pytest.mark.parametrize("stage", ["scoring", "content"])
def test_a_stage_without_a_browser_imports_no_browser(stage: str) -> None:
    imported = _in_empty_environment(
        f"import json, sys; import campaign_assets.definitions, campaign_assets.world, campaign_assets.stages.{stage};"
        "print(json.dumps([m for m in ('playwright', 'alembic', 'lxml') if m in sys.modules]))"
    )
    assert "playwright" not in imported
    assert "alembic" not in imported


def test_the_shipped_instance_file_keeps_run_retries_off_and_pools_wide_enough() -> None:
    import yaml

    from campaign_assets.dispatch import POOL_SLOTS

    shipped = yaml.safe_load((ROOT / "dagster.yaml").read_text())
    assert shipped["run_retries"] == {"enabled": False}
    assert shipped["telemetry"] == {"enabled": False}
    assert shipped["run_monitoring"]["enabled"] is True
    assert shipped["concurrency"]["pools"]["default_limit"] >= max(POOL_SLOTS.values())
    assert shipped["storage"]["postgres"]["postgres_url"] == {"env": "CAMPAIGN_DAGSTER_URL"}


def test_definitions_are_definitions() -> None:
    assert isinstance(defs, Definitions)
    Definitions.validate_loadable(defs)
