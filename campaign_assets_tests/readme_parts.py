"""The parts of README.md that are made from the code: `python -m campaign_assets_tests.readme_parts` writes them anew.

Each stands between `<!-- NAME -->` and `<!-- end NAME -->`; test_readme.py fails when one has drifted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from click.testing import CliRunner

from campaign_assets import policy, settings
from campaign_assets.states import TRANSITIONS, Stage, State

README = Path(__file__).parent.parent / "README.md"


def graph() -> str:
    """The eight stages as they follow each other."""
    arrows = " --> ".join(f'{stage}["{stage}"]' for stage in Stage)
    return f"""```mermaid
flowchart LR
    source[/source lists/] --> {arrows}
    monitoring -. again and again .-> monitoring
    style submission stroke-width:3px
```"""


def states() -> str:
    """TRANSITIONS as a diagram: one arrow for each pair of states, named by the events that take a unit along it."""
    events: dict[tuple[State, State], list[str]] = defaultdict(list)
    for row in TRANSITIONS:
        for source in sorted(row.sources):
            if row.event not in events[source, row.target]:
                events[source, row.target].append(row.event)
    arrows = [
        f"    {source} --> {target}: {', '.join(names)}"
        for (source, target), names in sorted(events.items(), key=_in_order)
    ]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> none", *arrows, "```"])


def _in_order(arrow: tuple[tuple[State, State], list[str]]) -> tuple[int, int]:
    order = list(State)
    return order.index(arrow[0][0]), order.index(arrow[0][1])


def variables() -> str:
    """The table of settings, as settings.py declares it."""
    rows = [line for line in (settings.__doc__ or "").splitlines() if line.startswith("|")]
    return "\n".join(re.sub(r"^\| (CAMPAIGN_\w+) \|", r"| `\1` |", line) for line in rows)


def policies() -> str:
    """The retry policy of each stage, in the production profile."""
    head = [
        "| stage | tries | deadline of a unit | taken from its worker after | in flight a run | looks again after |",
        "|---|---|---|---|---|---|",
    ]
    rows = [
        f"| `{row.stage}` | {row.attempts} | {row.deadline:.0f} s | {row.reap_after:.0f} s | {row.concurrency} "
        f"| {_period(row.recheck)} |"
        for row in policy.policies("production").values()
    ]
    return "\n".join(head + rows)


def _period(seconds: float) -> str:
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds > 60 and seconds % size == 0:
            return f"{seconds // size:.0f} {name}{'s' if seconds > size else ''}"
    return ""


def commands() -> str:
    """`campaign --help`."""
    from campaign_assets.cli.entry import campaign

    return (
        "```\n$ campaign --help\n"
        + CliRunner().invoke(campaign, ["--help"], prog_name="campaign", terminal_width=100).output.rstrip()
        + "\n```"
    )


PARTS = {"graph": graph, "states": states, "settings": variables, "policy": policies, "commands": commands}


def renewed(text: str) -> str:
    """`text` with every part made anew; LookupError where a part has no place."""
    for name, make in PARTS.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if not place.search(text):
            raise LookupError(f"README.md has no place for {name}")
        made = make().replace("\\", r"\\")
        text = place.sub(rf"\g<1>{made}\n\g<2>", text)
    return text


if __name__ == "__main__":
    README.write_text(renewed(README.read_text("utf-8")), "utf-8")
