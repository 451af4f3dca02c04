from __future__ import annotations

import importlib
import json
import subprocess
import sys

import click
import pytest

from infx.cli import COMMANDS, infx
from infx.cli.shell import run

HEAVY = [
    "yaml",
    "rich",
    "github",
    "jsonschema",
    "jsonschema_rs",
    "markdown_it",
    "requests",
    "difflib",
    "secrets",
    "subprocess",
]


def load(name: str) -> click.Command:
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(importlib.import_module(module), attribute)
    assert isinstance(found, click.Command)
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_is_the_first_of_the_commands_own_help(name: str) -> None:
    found = load(name)
    assert found.name == name
    assert found.help is not None
    assert " ".join(found.help.split("\n\n", 1)[0].split()) == COMMANDS[name][1]


def commands(command: click.Command, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], click.Command]]:
    below = command.commands if isinstance(command, click.Group) else {}
    return [(path, command), *(item for name, sub in below.items() for item in commands(sub, (*path, name)))]


EVERY = [item for name in COMMANDS for item in commands(load(name), (name,))]


@pytest.mark.parametrize(("path", "command"), EVERY, ids=[" ".join(path) for path, _ in EVERY])
def test_every_command_and_option_explains_itself(
    path: tuple[str, ...], command: click.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(infx, [*path, "--help"], {}) == 0
    assert capsys.readouterr().out.startswith(f"Usage: infx {' '.join(path)} ")
    assert command.help
    assert command.help.split("\n\n", 1)[0].rstrip().endswith(".")
    silent = [p.name for p in command.params if isinstance(p, click.Option) and not p.hidden and not p.help]
    assert silent == []


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.__stderr__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    return set(json.loads(done.stderr))


def test_help_imports_nothing_heavy() -> None:
    """The list of commands must come as fast as click itself."""
    loaded = modules_after(
        "from infx.cli import infx\nfrom infx.cli.shell import run\nrun(infx, ['--help'], {})"
    )
    assert loaded.isdisjoint(HEAVY)
    assert not [name for name in loaded if name.startswith("infx.") and name not in {
        "infx.cli", "infx.cli.group", "infx.cli.shell", "infx.errors",
    }]  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_imports_nothing_heavy(name: str) -> None:
    loaded = modules_after(
        f"from infx.cli import infx\nfrom infx.cli.shell import run\nrun(infx, [{name!r}, '--help'], {{}})"
    )
    assert loaded.isdisjoint({"rich", "github", "jsonschema", "jsonschema_rs", "markdown_it", "requests"})
