"""Closed standard streams, and readers that go away: the command ends as it would have ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.tree import LEAVES

ENDLESS = {("demo",), ("hub", "serve")}  # these are only asked for their help
CALLS = [["--version"], ["--help"], ["nope"]]
CALLS += [[*path, "--help"] for path, _ in LEAVES]
CALLS += [[*path] for path, _ in LEAVES if path not in ENDLESS]

CLOSED: list[tuple[int, ...]] = [(), (1,), (2,), (1, 2), (0, 1, 2)]

# Calls every command in a process of its own, with the descriptors closed as a shell's `>&-` closes them. What the
# commands import is imported before: 300 processes would do it otherwise.
DRIVER = """
import json, os, sys
import click, github, jsonschema_rs, rich.console, rich.table, yaml
from infx.cli import infx, main

def load(command):
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            load(command.get_command(context, name))

def call(words, closed):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for number in closed:
        os.close(number)
        setattr(sys, ("stdin", "stdout", "stderr")[number], None)
    sys.argv = ["infx", *words]
    try:
        main()
    except SystemExit as ended:
        os._exit(ended.code)
    except BaseException:
        os._exit(99)

load(infx)
calls, variants = json.loads(sys.argv[1]), json.loads(sys.argv[2])
report = os.dup(1)
os.dup2(os.open(os.devnull, os.O_RDWR), 1)
codes = [[call(words, closed) for words in calls] for closed in variants]
os.write(report, json.dumps(codes).encode())
"""


@pytest.fixture(scope="module")
def exit_codes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, ...], dict[str, int]]:
    """Closed descriptors → command line → exit code."""
    arguments = [sys.executable, "-c", DRIVER, json.dumps(CALLS), json.dumps(CLOSED)]
    done = subprocess.run(arguments, cwd=tmp_path_factory.mktemp("empty"), capture_output=True, check=True)
    assert b"Traceback" not in done.stderr
    lines = [" ".join(call) for call in CALLS]
    codes = [dict(zip(lines, found, strict=True)) for found in json.loads(done.stdout)]
    return dict(zip(CLOSED, codes, strict=True))


@pytest.mark.parametrize("closed", CLOSED[1:])
def test_closed_streams_change_no_exit_code(
    closed: tuple[int, ...], exit_codes: dict[tuple[int, ...], dict[str, int]]
) -> None:
    """Of any command, called without arguments in an empty folder, and asked for its help."""
    assert set(exit_codes[()].values()) >= {0, 2, 3}
    assert exit_codes[closed] == exit_codes[()]


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """What bash makes of a line in which `infx` is ours."""
    start = f'set -o pipefail; infx() {{ "{sys.executable}" -P -m infx "$@"; }}; '
    return subprocess.run(["bash", "-c", start + line], cwd=cwd, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("infx --help >&-", 0),
        ("infx --help <&- >&- 2>&-", 0),
        ("infx config check >&-", 2),
        ("infx config check 2>&-", 2),
        ("infx --help | true", 0),
        ("infx config check 2>&1 | true", 2),  # the reader of the complaint is gone, the complaint holds
        ("infx changelog validate 2>&1 | true", 3),
        ("infx config check 2>/dev/full", 2),
        ("infx --help >/dev/full", 3),  # a result that could not be written is not done
    ],
)
def test_a_shell_sees_the_commands_own_exit_code(line: str, code: int, tmp_path: Path) -> None:
    done = shell(line, tmp_path)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_a_file_that_a_command_writes_holds_only_its_own(tmp_path: Path) -> None:
    """With stdout closed, the next file that is opened would become stdout and get what is printed."""
    script = (
        "import os, sys\n"
        "os.close(1)\n"
        "sys.stdout = None\n"
        "from infx.cli.streams import secure_streams\n"
        "secure_streams()\n"
        "file = open('out.json', 'w')\n"
        "print('words')\n"
        "file.write('{}')\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "out.json").read_text() == "{}"


def test_a_command_goes_on_after_its_reader_has_gone(tmp_path: Path) -> None:
    """More than a pipe holds: the loss is seen in the middle, and the command still ends with its own code."""
    script = (
        "import sys, click\n"
        "from infx.cli.shell import run\n"
        "from infx.cli.streams import secure_streams\n"
        "@click.command()\n"
        "def c():\n"
        "    for n in range(100_000): click.echo(n)\n"
        "    return 1\n"
        "secure_streams()\n"
        "sys.exit(run(c, [], {}))\n"
    )
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=write, stderr=subprocess.PIPE, cwd=tmp_path, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")
