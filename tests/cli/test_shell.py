from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from infx.cli import infx
from infx.cli.group import LazyGroup
from infx.cli.report import print_json, print_text
from infx.cli.shell import run
from infx.errors import InfxError, Problem, ProblemsError, UnavailableError, UsageError
from infx.git import MissingRevisionError

ACTIONS = {"GITHUB_ACTIONS": "true"}


def command(body: Callable[[], object]) -> click.Command:
    @click.command()
    @click.argument("word", required=False)
    @click.option("--count", type=int)
    def made_up(word: str | None, count: int | None) -> object:
        return body()

    return made_up


def raising(error: BaseException) -> click.Command:
    def body() -> None:
        raise error

    return command(body)


def exiting(code: int) -> click.Command:
    def body() -> None:
        click.get_current_context().exit(code)

    return command(body)


TWO = ProblemsError([
    Problem(rule="r", message="Second.", path="b.yaml", line=2),
    Problem(rule="r", message="First.", path="a.yaml", line=9, hint="Fix it."),
])  # fmt: skip


@pytest.mark.parametrize(
    ("made_up", "code", "stderr"),
    [
        (command(lambda: None), 0, ""),
        (command(lambda: 1), 1, ""),
        (command(lambda: "text is no exit code"), 0, ""),
        (exiting(0), 0, ""),
        (exiting(1), 1, ""),
        (raising(InfxError("Refused.", hint="Ask again.")), 1, "Refused. Ask again.\n"),
        (raising(TWO), 1, "a.yaml:9: First. Fix it.\nb.yaml:2: Second.\n"),
        (raising(UsageError("No policy.", where="p.yaml")), 2, "p.yaml: No policy.\n"),
        (raising(UnavailableError("GitHub is away.")), 3, "GitHub is away.\n"),
        (raising(MissingRevisionError("No such revision.")), 3, "No such revision.\n"),
        (raising(PermissionError(13, "Permission denied", "out.json")), 2, "out.json: Permission denied.\n"),
        (raising(OSError(28, "No space left on device")), 3, "No space left on device.\n"),
        (raising(KeyboardInterrupt()), 130, "Stopped.\n"),
        (raising(click.Abort()), 130, "Stopped.\n"),
    ],
)
def test_every_ending_becomes_an_exit_code_and_words(
    made_up: click.Command, code: int, stderr: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(made_up, [], {}) == code
    assert capsys.readouterr() == ("", stderr)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nope"], "Error: No such option '--nope'."),
        (["--count", "x"], "Error: Invalid value for '--count': 'x' is not a valid integer."),
        (["a", "b"], "Error: Got unexpected extra argument (b)"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command(lambda: None), arguments, {}) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: infx")
    assert words in err


def test_a_file_that_click_cannot_open_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(raising(click.FileError("x.json", "gone")), [], {}) == 2
    assert "x.json" in capsys.readouterr().err


def test_help_and_version_exit_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(infx, ["--version"], {}) == 0
    assert capsys.readouterr().out.startswith("infx 0.")
    assert run(infx, ["-h"], {}) == 0
    assert "Commands:" in capsys.readouterr().out


def test_a_call_without_a_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(infx, [], {}) == 2
    assert "Commands:" in capsys.readouterr().err


def test_a_misspelled_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(infx, ["confg"], {}) == 2
    assert capsys.readouterr().err.endswith("Error: No such command 'confg'. Did you mean config?\n")
    assert run(infx, ["zzzz"], {}) == 2
    assert capsys.readouterr().err.endswith("Error: No such command 'zzzz'. See infx --help.\n")


def test_a_bug_is_reported_with_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(raising(ZeroDivisionError("oops")), [], {}) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback (most recent call last)" in err
    assert "ZeroDivisionError: oops" in err
    assert err.endswith("This is a bug in infx. Please report it with the lines above.\n")


HOSTILE = "x\n::add-mask::secret\r ::error::y ##[group]"


@pytest.mark.parametrize(
    ("made_up", "arguments"),
    [
        (raising(InfxError(HOSTILE)), []),
        (raising(ProblemsError([Problem(rule="r", message=HOSTILE, path="a\n::b::", hint=HOSTILE)])), []),
        (raising(ValueError(HOSTILE)), []),
        (raising(OSError(2, "No such file", HOSTILE)), []),
        (command(lambda: None), ["--count", HOSTILE]),
        (command(lambda: None), ["a", HOSTILE]),
    ],
)
def test_on_actions_no_foreign_line_starts_a_command(
    made_up: click.Command, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The runner must see no commands except infx's own annotations."""
    assert run(made_up, arguments, ACTIONS) != 0
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.replace("\r", "\n").split("\n")
    assert all(
        line.startswith("::error ") for line in lines if line.lstrip().startswith("::") or "##[" in line
    )


def test_on_actions_problems_are_annotations_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(raising(TWO), [], ACTIONS) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[2:] == [
        "::error file=a.yaml,line=9,title=r::First. Fix it.",
        "::error file=b.yaml,line=2,title=r::Second.",
    ]


def test_json_and_text_are_neutralized_differently(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": "ü ##[x]"})
    print_text("::words", ACTIONS)
    print_text("::words", {})
    assert capsys.readouterr() == ('{\n  "a": "ü #\\u0023[x]"\n}\n', "\\::words\n::words\n")


def infx_process(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "infx", *arguments], cwd=cwd, capture_output=True, check=False
    )


def test_the_process_exits_with_the_code(tmp_path: Path) -> None:
    assert infx_process("--version", cwd=tmp_path).returncode == 0
    assert infx_process("nope", cwd=tmp_path).returncode == 2


def test_a_name_that_is_not_utf_8_can_be_printed(tmp_path: Path) -> None:
    """A file's name from a pull request must not cause a traceback."""
    name = os.fsdecode(b"caf\xe9.yaml")
    process = infx_process("config", "check", "--config-file", name, cwd=tmp_path)
    assert process.returncode == 2
    assert b"Traceback" not in process.stderr
    assert b"caf\\udce9.yaml" in process.stderr


def test_commands_are_imported_when_they_are_called() -> None:
    group = LazyGroup(
        "g", commands_by_name={"a": ("no.such.module:x", "Words."), "b": ("click:echo", "More.")}
    )
    context = click.Context(group)
    assert group.list_commands(context) == ["a", "b"]
    assert group.get_command(context, "c") is None
    assert group.get_command(context, "b") is click.echo
    with pytest.raises(ModuleNotFoundError):
        group.get_command(context, "a")
