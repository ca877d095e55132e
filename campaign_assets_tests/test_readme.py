"""README.md says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from campaign_assets.cli.entry import campaign
from campaign_assets.settings import Resolve, Settings
from campaign_assets.states import TRANSITIONS, Stage
from campaign_assets_tests.readme_parts import README, renewed, states, variables

TEXT = README.read_text("utf-8")


def test_the_generated_parts_are_those_of_the_code() -> None:
    assert renewed(TEXT) == TEXT, "run `python -m campaign_assets_tests.readme_parts`"


def test_the_diagram_has_every_transition_and_no_other() -> None:
    drawn = {
        (source, target, event)
        for source, target, events in re.findall(r"^    (\w+) --> (\w+): (.+)$", states(), re.MULTILINE)
        for event in events.split(", ")
    }
    assert drawn == {(source, row.target, row.event) for row in TRANSITIONS for source in row.sources}


def test_the_table_of_settings_has_every_setting() -> None:
    everything = Settings(Path("/h"), "a", "b", Resolve("c", 1, 2), "d", "e").to_environment()
    assert re.findall(r"^\| `(CAMPAIGN_\w+)` \|", variables(), re.MULTILINE) == list(everything)


def test_every_command_that_the_readme_types_exists() -> None:
    for name, rest in re.findall(r"(?:^|`)campaign ([a-z]+)([^`\n#]*)", TEXT, re.MULTILINE):
        assert name in campaign.commands
        below = getattr(campaign.commands[name], "commands", None)
        assert below is None or rest.split()[0] in below, f"campaign {name} {rest}"


def test_every_option_that_the_readme_types_exists() -> None:
    for name, rest in re.findall(r"(?:^|`)campaign ([a-z]+)([^`\n#]*)", TEXT, re.MULTILINE):
        command = campaign.commands[name]
        command = getattr(command, "commands", {}).get(rest.split()[0] if rest.strip() else "", command)
        options = {
            option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
        }
        typed = set(re.findall(r"(?<= )--?[a-z-]+", rest))
        assert typed <= options | {"--help"}, f"campaign {name} has no {typed - options}"


def test_every_file_that_the_readme_names_exists() -> None:
    for place in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (README.parent / place).exists(), place


def test_every_stage_and_every_word_of_the_glossary_is_there() -> None:
    for stage in Stage:
        assert f"| `{stage}` |" in TEXT
    for word in (
        "tenant", "campaign", "publisher", "stage", "unit", "page", "claim", "epoch", "attempt", "outcome", "deadline",
        "scheduler, reaper", "filing", "unresolved", "held", "attention", "settled",
    ):  # fmt: skip
        assert f"\n| {word} | " in TEXT
