from __future__ import annotations

import json
import re
import subprocess
import sys

import click
import pytest

from infx.cli import COMMANDS
from tests.calling import call
from tests.cli.tree import EVERY, LEAVES, load, name_of
from tests.pages import name_missing, parse

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


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_repeats_the_first_line_of_each_help(name: str) -> None:
    command = load(name)
    assert command.name == name
    assert command.help is not None
    assert " ".join(command.help.split("\n\n", 1)[0].split()) == COMMANDS[name][1]


@pytest.mark.parametrize(("path", "command"), EVERY, ids=[name_of(path) for path, _ in EVERY])
def test_every_command_and_option_has_help(path: tuple[str, ...], command: click.Command) -> None:
    called = call(*path, "--help")
    assert called.code == 0
    assert called.out.startswith(f"Usage: infx {' '.join(path)} ")
    assert command.help
    assert command.help.split("\n\n", 1)[0].rstrip().endswith(".")
    silent = [p.name for p in command.params if isinstance(p, click.Option) and not p.hidden and not p.help]
    assert silent == []


@pytest.mark.parametrize(("path", "command"), EVERY, ids=[name_of(path) for path, _ in EVERY])
def test_placeholders_of_options_are_the_same_in_all_commands(
    path: tuple[str, ...], command: click.Command
) -> None:
    """A file is FILE and a number is N, not PATH, INTEGER or INTEGER RANGE."""
    context = click.Context(command, info_name=" ".join(path))
    for option in command.params:
        if isinstance(option, click.Option) and not option.is_flag and not option.hidden:
            shown = option.make_metavar(context)
            assert shown not in {"PATH", "INTEGER", "INTEGER RANGE", "REF"}, option.name
            assert shown == "N" or option.name not in {"pr", "number", "numbers", "run"}, option.name


@pytest.mark.parametrize(
    ("path", "command"),
    LEAVES,
    ids=[name_of(path) for path, _ in LEAVES],
)
def test_every_command_for_people_has_a_complete_example(
    path: tuple[str, ...], command: click.Command
) -> None:
    lines = re.findall(r"(?m)^  (infx .+)$", command.epilog or "")
    assert lines or path == ("changelog", "merge-driver"), "only git calls this command"
    for line in lines:
        named, given = parse(line)
        assert (named, list(name_missing(named, given))) == (command, [])


def test_help_names_the_demo_and_explains_exit_codes() -> None:
    called = call("--help")
    assert called.code == 0
    text = " ".join(called.out.split())
    assert "infx demo plays six pull requests" in text
    for words in (
        "0 done;",
        "1 refused,",
        "2 wrong usage;",
        "3 GitHub, git or the network",
        "4 a bug in infx.",
    ):
        assert words in text


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.__stderr__)"
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    return set(json.loads(process.stderr))


def test_help_imports_nothing_heavy() -> None:
    """The list of commands must appear as fast as click's own."""
    loaded = modules_after(
        "from infx.cli import infx\nfrom infx.cli.shell import run\nrun(infx, ['--help'], {})"
    )
    assert loaded.isdisjoint(HEAVY)
    assert not [name for name in loaded if name.startswith("infx.") and name not in {
        "infx.cli", "infx.cli.group", "infx.cli.shell", "infx.errors", "infx.records",
    }]  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_imports_nothing_heavy(name: str) -> None:
    loaded = modules_after(
        f"from infx.cli import infx\nfrom infx.cli.shell import run\nrun(infx, [{name!r}, '--help'], {{}})"
    )
    assert loaded.isdisjoint({"rich", "github", "jsonschema", "jsonschema_rs", "markdown_it", "requests"})
