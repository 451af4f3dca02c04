"""Prepare installations from wheels in a folder: by the script of the actions, and in full."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote

from tests.conftest import ROOT
from tests.locks import read_lock
from tests.speed.measure import SkippedError
from tests.workflows.wheels import pack_wheels

TEMP = "temp"
UV = Path(sys.executable).with_name("uv")
PYTHON = Path(sys.base_prefix) / "bin/python3"

# An environment with its own pip, every package of the whole lock, and infx, all compiled.
IN_FULL = """\
"$INFX_PYTHON" -m venv "$RUNNER_TEMP/full"
"$RUNNER_TEMP/full/bin/pip" install --quiet --require-hashes --only-binary :all: -r toolkit/requirements/run.txt
"$RUNNER_TEMP/full/bin/pip" install --quiet --no-deps --no-build-isolation ./toolkit
"""


def lay_out_toolkit(tool: str) -> Callable[[Path], Path]:
    """Copy infx with the wheels of its locks, and write the scripts actions.sh and full.sh. tool: pip or uv."""

    def prepare(folder: Path) -> Path:
        if tool == "uv" and not UV.exists():
            raise SkippedError("uv is not installed next to this Python")
        if (
            tool == "pip"
            and subprocess.run(
                [PYTHON, "-m", "pip", "--python", PYTHON, "--version"], capture_output=True, check=False
            ).returncode
        ):
            raise SkippedError(f"{PYTHON} has no pip, or one older than 22.3")
        toolkit, wheels, tools = folder / "toolkit", folder / "wheels", folder / "tools"
        shutil.copytree(ROOT / "infx", toolkit / "infx", ignore=shutil.ignore_patterns("__pycache__"))
        for name in (
            ".github/actions/install.sh",
            "requirements/uv.txt",
            "pyproject.toml",
            "README.md",
            "LICENSE",
        ):
            (toolkit / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, toolkit / name)
        packed = pack_wheels((ROOT / "requirements/run.txt").read_text(), wheels)
        (toolkit / "requirements/run.txt").write_text(packed)
        names = read_lock("actions")
        lines = [line for line in packed.splitlines(keepends=True) if line.partition("==")[0] in names]
        (toolkit / "requirements/actions.txt").write_text("".join(lines))
        tools.mkdir()
        if tool == "uv":
            (tools / "uv").symlink_to(UV)
        _write_scripts(folder)
        return folder

    return prepare


def _write_scripts(folder: Path) -> None:
    variables = {
        "PATH": f"{folder / 'tools'}:/usr/bin:/bin",
        "HOME": folder,
        "RUNNER_TEMP": folder / TEMP,
        "GITHUB_PATH": folder / "path",
        "INFX_PYTHON": PYTHON,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": folder / "wheels",
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": folder / "wheels",
    }
    exports = "".join(f"export {name}={quote(str(value))}\n" for name, value in variables.items())
    start = f'set -eu\n{exports}mkdir -p "$RUNNER_TEMP"\n'
    (folder / "actions.sh").write_text(f"{start}exec bash toolkit/.github/actions/install.sh\n")
    (folder / "full.sh").write_text(start + IN_FULL)
