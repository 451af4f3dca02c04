"""Check that composite actions agree with the commands that they run and with the page that lists them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest

from infx import yaml12
from infx.cli import infx
from tests.workflows.tables import compare_table

ROOT = Path(__file__).parents[2]
ACTIONS = sorted((ROOT / ".github/actions").glob("*/action.yml"))
INSTALL = '"$GITHUB_ACTION_PATH/../install.sh"'


def load(path: Path) -> Any:
    return yaml12.load(path.read_bytes(), str(path)).value


def find_commands(action: Any) -> list[str]:
    """Return every line of an action's scripts that calls infx."""
    scripts = "\n".join(step.get("run", "") for step in action["runs"]["steps"])
    return re.findall(r"(?:^|\s)infx ([^\n|;]+)", scripts.replace("\\\n", " "))


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.parent.name)
def test_an_action_only_installs_and_runs_infx(path: Path) -> None:
    """It installs infx from its own files, and every input and output has a description."""
    action = load(path)
    assert action["runs"]["steps"][0]["run"] == INSTALL
    assert find_commands(action)
    for declared in (*action.get("inputs", {}).values(), *action.get("outputs", {}).values()):
        assert declared["description"]


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.parent.name)
def test_the_commands_of_an_action_exist_with_their_options(path: Path) -> None:
    for line in find_commands(load(path)):
        words = line.split()
        command: click.Command = infx
        context = click.Context(infx)
        while isinstance(command, click.Group) and words and not words[0].startswith(("-", "$", '"')):
            subcommand = command.get_command(context, words.pop(0))
            assert subcommand is not None, line
            command = subcommand
        assert not isinstance(command, click.Group), line
        options = {option for parameter in command.params for option in parameter.opts}
        used_options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", " ".join(words)))
        assert used_options <= options, line


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.parent.name)
def test_every_input_is_used_and_every_variable_is_set(path: Path) -> None:
    action = load(path)
    text = path.read_text()
    for name in action.get("inputs", {}):
        assert f"inputs.{name}" in text, name
    for step in action["runs"]["steps"]:
        used = set(re.findall(r"\$\{?([A-Z_]+)", step.get("run", "")))
        provided = set(step.get("env", {})) | {
            name for name in used if name.startswith(("GITHUB_", "RUNNER_"))
        }
        assert used <= provided, step


def test_the_page_lists_every_action() -> None:
    lines = ["| action | what it does | inputs | outputs |", "| --- | --- | --- | --- |"]
    for path in ACTIONS:
        action = load(path)
        inputs = ", ".join(f"`{name}`" for name in action.get("inputs", {}))
        outputs = ", ".join(f"`{name}`" for name in action.get("outputs", {})) or "—"
        lines.append(f"| `{path.parent.name}` | {action['description']} | {inputs} | {outputs} |")
    compare_table(ROOT / "docs/workflows.md", "actions", lines)
