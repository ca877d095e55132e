"""The tags by which our runs are known: set on a RunRequest by the scheduler, read by the run and by both
sensors.
"""

TENANT = "campaign/tenant"
CAMPAIGN = "campaign/slug"
CAMPAIGN_ID = "campaign/id"
STAGE = "campaign/stage"
QUARANTINE = "campaign/alone"
"""This run takes the units whose last worker died, one by one."""
