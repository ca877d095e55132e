"""Everything Dagster loads, assembled. Needs no environment and no database; refuses a setting that could
file a form twice.
"""

from dagster import Definitions, in_process_executor

from campaign_assets.assets import STAGES
from campaign_assets.graph import IO_MANAGER
from campaign_assets.guard import refuse_op_retries
from campaign_assets.io_manager import paged_io_manager
from campaign_assets.jobs import OPERATOR_JOBS, STAGE_JOBS
from campaign_assets.publication import record
from campaign_assets.sensors import reaper, scheduler

refuse_op_retries(STAGES, STAGE_JOBS)

defs = Definitions(
    assets=STAGES,
    jobs=[*STAGE_JOBS.values(), *OPERATOR_JOBS, record],
    sensors=[scheduler, reaper],
    resources={IO_MANAGER: paged_io_manager},
    executor=in_process_executor,
)
