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

# Calls every command in a process of its own, with the descriptors closed as a shell's `>&-` closes them.
DRIVER = """
import json, os, sys
from infx.cli import main
calls, closed = json.loads(sys.argv[1]), json.loads(sys.argv[2])
report = os.dup(1)
os.dup2(os.open(os.devnull, os.O_RDWR), 1)
codes = []
for call in calls:
    child = os.fork()
    if child == 0:
        for number in closed:
            os.close(number)
            setattr(sys, ("stdin", "stdout", "stderr")[number], None)
        sys.argv = ["infx", *call]
        try:
            main()
        except SystemExit as ended:
            os._exit(ended.code)
        except BaseException:
            os._exit(99)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.write(report, json.dumps(codes).encode())
"""


def exit_codes(closed: list[int], cwd: Path) -> dict[str, int]:
    arguments = [sys.executable, "-c", DRIVER, json.dumps(CALLS), json.dumps(closed)]
    done = subprocess.run(arguments, cwd=cwd, capture_output=True, check=True)
    assert b"Traceback" not in done.stderr
    return dict(zip((" ".join(call) for call in CALLS), json.loads(done.stdout), strict=True))


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    return exit_codes([], tmp_path_factory.mktemp("usual"))


@pytest.mark.parametrize("closed", [[1], [2], [1, 2], [0, 1, 2]])
def test_closed_streams_change_no_exit_code(closed: list[int], usual: dict[str, int], tmp_path: Path) -> None:
    """Of any command, called without arguments in an empty folder, and asked for its help."""
    assert set(usual.values()) >= {0, 2, 3}
    assert exit_codes(closed, tmp_path) == usual


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
