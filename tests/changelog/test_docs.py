"""Compare docs/changelog.md with the code."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from infx import yaml12
from infx.changelog.blocks import parse_blocks
from infx.changelog.entries import read_entry
from infx.cli.changelog import COMMANDS, changelog
from tests.changelog.tables import PAGE, judge_real_pulls, read_section, render_pulls, render_rules
from tests.conftest import ROOT

REFRESH = "refresh it with `python -m tests.changelog.tables`"


def test_the_rules() -> None:
    assert read_section("rules") == render_rules(), REFRESH


@pytest.mark.shared
def test_twenty_real_pull_requests(shared: Path, tmp_path: Path) -> None:
    judged = list(judge_real_pulls(tmp_path))
    assert len(judged) == 20
    assert read_section("pulls") == render_pulls(judged), REFRESH


def test_every_named_command_and_option_exists() -> None:
    text = PAGE.read_text()
    named = set(re.findall(r"`(?:infx changelog )?([a-z-]+)(?= `|`| --)", text))
    assert set(COMMANDS) - {"merge-driver"} <= named
    commands = [changelog.get_command(click.Context(changelog), name) for name in COMMANDS]
    known = {
        option for command in commands if command for parameter in command.params for option in parameter.opts
    }
    assert set(re.findall(r"--[a-z][a-z-]+", text)) <= known


def test_the_example_is_an_entry() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (block,) = parse_blocks(example.encode(), "example")
    assert read_entry(block).config_keys == ("qwen3.5-fp8-h100-sglang",)


def test_infxs_own_attributes_have_the_documented_line() -> None:
    (line,) = re.findall(r"^perf-changelog.yaml .*$", PAGE.read_text(), re.MULTILINE)
    assert line in (ROOT / ".gitattributes").read_text().splitlines()


def test_the_stages_are_those_of_the_command() -> None:
    validate = changelog.get_command(click.Context(changelog), "validate")
    assert validate is not None
    (stage,) = (parameter for parameter in validate.params if parameter.name == "stage")
    assert isinstance(stage.type, click.Choice)
    assert re.findall(r"^\| `(pr|merge|main)` ", PAGE.read_text(), re.MULTILINE) == list(stage.type.choices)


def test_the_check_has_the_name_that_may_be_required() -> None:
    file = ROOT / ".github/workflows/changelog.yml"
    assert list(yaml12.load(file.read_bytes(), str(file)).value["jobs"]) == ["changelog"]
