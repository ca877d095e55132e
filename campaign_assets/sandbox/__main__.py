"""`python -m campaign_assets.sandbox`: the sandbox as a program."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from campaign_assets.errors import UserError
from campaign_assets.sandbox.server import run


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m campaign_assets.sandbox", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: the loopback)")
    parser.add_argument("--http-port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--https-port", type=int, default=0, help="0 takes a free one")
    parser.add_argument(
        "--state-dir", type=Path, help="keep posts, entries and the certificate authority here"
    )
    parser.add_argument("--ready-file", type=Path, help="written as JSON once both ports listen")
    parser.add_argument("--slow", type=float, default=30.0, help="seconds that slow sites take")
    parser.add_argument(
        "--moderation", type=float, default=40.0, help="seconds until a moderated listing appears"
    )
    return parser.parse_args()


def main() -> int:
    """Run until stopped; 0 after a clean stop, 2 with one sentence where it cannot run."""
    try:
        run(**vars(_arguments()))
    except UserError as error:
        print(error.sentence, file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
