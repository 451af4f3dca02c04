"""Closed standard streams and readers that go away do not change the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.tree import LEAVES

ENDLESS = {("demo",), ("hub", "serve")}  # only their help is called
CALLS = [["--version"], ["--help"], ["nope"]]
CALLS += [[*path, "--help"] for path, _ in LEAVES]
CALLS += [[*path] for path, _ in LEAVES if path not in ENDLESS]

CLOSED: list[tuple[int, ...]] = [(), (1,), (2,), (1, 2), (0, 1, 2)]

# Calls every command in a process of its own, with descriptors closed as by a shell's `>&-`. The
# modules are imported before the fork, so that 300 processes need not import them.
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
    """Return closed descriptors → command line → exit code."""
    arguments = [sys.executable, "-c", DRIVER, json.dumps(CALLS), json.dumps(CLOSED)]
    process = subprocess.run(arguments, cwd=tmp_path_factory.mktemp("empty"), capture_output=True, check=True)
    assert b"Traceback" not in process.stderr
    lines = [" ".join(call) for call in CALLS]
    codes = [
        dict(zip(lines, exit_codes_of_lines, strict=True))
        for exit_codes_of_lines in json.loads(process.stdout)
    ]
    return dict(zip(CLOSED, codes, strict=True))


@pytest.mark.parametrize("closed", CLOSED[1:])
def test_closed_streams_change_no_exit_code(
    closed: tuple[int, ...], exit_codes: dict[tuple[int, ...], dict[str, int]]
) -> None:
    """Call every command without arguments in an empty folder, and with --help."""
    assert set(exit_codes[()].values()) >= {0, 2, 3}
    assert exit_codes[closed] == exit_codes[()]


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a line in bash, with this infx on the path."""
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
        ("infx config check 2>&1 | true", 2),  # the reader of stderr is gone, but the exit code remains
        ("infx changelog validate 2>&1 | true", 3),
        ("infx config check 2>/dev/full", 2),
        ("infx --help >/dev/full", 3),  # a result that could not be written is an error
    ],
)
def test_a_shell_gets_the_commands_own_exit_code(line: str, code: int, tmp_path: Path) -> None:
    process = shell(line, tmp_path)
    assert process.returncode == code
    assert b"Traceback" not in process.stderr
    assert b"Exception ignored" not in process.stderr


def test_output_does_not_go_into_a_written_file(tmp_path: Path) -> None:
    """If stdout is closed, the next file that is opened would become stdout and get the output."""
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


def test_a_command_continues_after_its_reader_has_gone(tmp_path: Path) -> None:
    """The output is larger than a pipe's buffer, so the write fails before the command ends."""
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
    process = subprocess.run(
        [sys.executable, "-c", script], stdout=write, stderr=subprocess.PIPE, cwd=tmp_path, check=False
    )
    os.close(write)
    assert (process.returncode, process.stderr) == (1, b"")
