"""A plan folder of one row, and its row file as the runner starts it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from infx.bench.jobs import RowJob
from infx.bench.row import Row
from infx.matrix.folder import read_jobs
from infx.matrix.row_file import ROW_FILE
from tests.calling import call
from tests.cli.plans import write_plan

PLAN = "sweep-plan"
OLDER = ("3.8", "3.9", "3.10")  # than the Python that infx itself needs


@dataclass(frozen=True, kw_only=True)
class Played:
    """The outcome of a row: the program's exit code, its output and errors, and the row's job."""

    code: int
    out: str
    err: str
    job: RowJob


def cut_plan(folder: Path, planned: Row, command: list[str], *options: str, minutes: int = 5) -> RowJob:
    """Write a plan folder of one row into the current folder, and return its job."""
    (folder / "policy.yaml").write_text(
        f"repository: acme/bench\nsweep: {{row-command: {command}, row-minutes: {minutes}}}\n"
    )
    write_plan(folder / "plan.json", [planned])
    called = call("shards", "--policy", "policy.yaml", "--plan", "plan.json", "--out", PLAN, *options)
    assert called.code == 0, called.err
    [job] = read_jobs((folder / PLAN / "jobs.jsonl").read_text().splitlines())
    return job


def program(row_id: str, *, out: str = "out", python: str = sys.executable) -> list[str]:
    """Return the command line that the workflow has."""
    return [python, "-I", "-S", f"{PLAN}/{ROW_FILE}", "run", "--plan", PLAN, "--id", row_id, "--out", out]


def play(job: RowJob, *, out: str = "out", python: str = sys.executable, **variables: str) -> Played:
    """Run the row file in the current folder, with these variables and those of the test."""
    done = subprocess.run(
        program(job.id, out=out, python=python),
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return Played(code=done.returncode, out=done.stdout, err=done.stderr, job=job)


def replace_in(name: str, old: str, new: str) -> None:
    """Change a file of the plan, as no user can."""
    path = Path(PLAN, name)
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def find_python(version: str) -> str | None:
    """Return an interpreter of this version that works; a launcher on PATH may have none behind it."""
    roots = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *map(str, roots.glob(f"{version}.*/bin/python3"))]
    for candidate in filter(None, candidates):
        asked = subprocess.run(
            [candidate, "-c", "import sys; sys.stdout.write(sys.version)"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.stdout.startswith(f"{version}."):
            return candidate
    return None
