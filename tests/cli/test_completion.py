"""Shell completion: click's own scripts, through groups that import a command only when it is called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from infx.cli import COMMANDS
from infx.cli.completion import SHELLS, VARIABLE
from tests.cli.tree import EVERY, LEAVES, name_of

ROOT = Path(__file__).parents[2]


def start(instruction: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run infx in its own process, as a shell starts it."""
    environ = {**os.environ, VARIABLE: instruction, **variables}
    return subprocess.run(
        [sys.executable, "-P", "-m", "infx"],
        cwd=cwd,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def complete(line: str, cwd: Path = ROOT) -> list[str]:
    """Return the words that bash would offer at the end of a line."""
    position = str(len(line.split(" ")) - 1)
    process = start("bash_complete", cwd, COMP_WORDS=line, COMP_CWORD=position)
    assert (process.returncode, process.stderr) == (0, "")
    return [item.partition(",")[2] for item in process.stdout.splitlines() if item]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_its_script(shell: str, tmp_path: Path) -> None:
    process = start(f"{shell}_source", tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    assert f"{VARIABLE}={shell}_complete" in process.stdout
    assert "infx" in process.stdout


@pytest.mark.parametrize("page", ["README.md", "README_zh.md"])
def test_the_readme_says_how_to_enable_completion(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [shell for shell in SHELLS if f"{VARIABLE}={shell}_source infx" in text] == list(SHELLS)


def test_bash_offers_words_after_it_has_read_the_script(tmp_path: Path) -> None:
    """Read the script in bash, then call its completion function."""
    # The script calls infx by its name, so it must be on the path.
    program = tmp_path / "infx"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m infx "$@"\n')
    program.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    lines = (
        f'eval "$({VARIABLE}=bash_source infx)"',
        "complete -p infx >&2",
        "COMP_WORDS=(infx changelog val); COMP_CWORD=2",
        "_infx_completion infx",
        'echo "${COMPREPLY[@]}"',
    )
    process = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(lines)],
        env=environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert process.stdout.split() == ["validate"]
    assert "-F _infx_completion infx" in process.stderr


def test_commands_come_from_the_table() -> None:
    assert complete("infx ") == list(COMMANDS)
    assert complete("infx cha") == ["changelog"]
    assert complete("infx changelog va") == ["validate"]


def test_completing_a_command_imports_no_command(tmp_path: Path) -> None:
    """Completion must be fast at each press of the tab key."""
    script = (
        "import os, sys, json\n"
        f"os.environ.update({VARIABLE}='bash_complete', COMP_WORDS='infx ', COMP_CWORD='1')\n"
        "from infx.cli import infx\nfrom infx.cli.shell import run\n"
        "code = run(infx, [], os.environ)\n"
        "names = [m for m in sys.modules if m.startswith('infx.')]\n"
        "print(json.dumps([code, names]), file=sys.stderr)\n"
    )
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, cwd=tmp_path)
    code, names = json.loads(process.stderr)
    assert code == 0
    assert set(names) <= {
        "infx.cli",
        "infx.cli.group",
        "infx.cli.shell",
        "infx.cli.completion",
        "infx.errors",
        "infx.records",
    }


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=[name_of(path) for path, _ in LEAVES])
def test_options_of_every_command_are_offered(path: tuple[str, ...], command: click.Command) -> None:
    """Ask click's completion in this process, through the lazy groups."""
    from click.shell_completion import ShellComplete

    from infx.cli import infx

    completion = ShellComplete(infx, {}, "infx", VARIABLE)
    offered = {item.value for item in completion.get_completions(list(path), "--")}
    options = {
        name
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
        for name in (*option.opts, *option.secondary_opts)
        if name.startswith("--")
    }
    assert offered == options | {"--help"}


def test_parameters_that_take_a_path_complete_paths() -> None:
    for path, command in EVERY:
        context = click.Context(command)
        for parameter in command.params:
            if parameter.make_metavar(context) in {"FILE", "DIRECTORY"}:
                kinds = {item.type for item in parameter.shell_complete(context, "x")}
                assert kinds <= {"file", "dir"}, (path, parameter.name)
                assert kinds, (path, parameter.name)


def test_keys_are_offered_unless_the_policy_is_broken(tmp_path: Path) -> None:
    line = "infx changelog add --config-key qwen"
    keys = complete(line)
    assert keys
    assert all(key.startswith("qwen") for key in keys)
    assert complete(line, tmp_path) == []
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "policy.yaml").write_text("drafts: maybe\n")
    assert complete(line, tmp_path) == []


@pytest.mark.parametrize("instruction", ["x", "bash", "bash_", "tcsh_source", "bash_nope", "bash_complete"])
def test_an_unknown_instruction_is_a_usage_error(instruction: str, tmp_path: Path) -> None:
    process = start(instruction, tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert "Traceback" not in process.stderr
    assert "_source" in process.stderr
