"""`python -m campaign_assets.cli`: the same command where its script is not on PATH."""

import sys

from campaign_assets.cli import main

sys.exit(main())
