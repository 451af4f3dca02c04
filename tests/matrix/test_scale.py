"""Memory of the largest plan that two nested matrices hold, 65,536 rows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.matrix.large import write_large, write_plan

LARGEST = 256 * 256

# The reported peak is that of the largest child so far, so each command is measured in a process of its own.
_MEASURED = (
    "import resource, subprocess, sys\n"
    "command = [sys.executable, '-m', 'infx', *sys.argv[1:]]\n"
    "subprocess.run(command, stdout=open('stdout', 'wb'), stderr=subprocess.DEVNULL, check=True)\n"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
)


def megabytes(folder: Path, arguments: Sequence[str]) -> int:
    """Run a command in a folder and return its peak memory; its output goes to the file `stdout` there."""
    command = [sys.executable, "-c", _MEASURED, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_a_plan_of_65536_rows_takes_less_than_400_mb(tmp_path: Path) -> None:
    folder = write_large(tmp_path / "large", LARGEST)
    assert megabytes(folder, ["plan", "--base-ref", "HEAD~1", "--head-ref", "HEAD"]) < 400
    plan = json.loads((folder / "stdout").read_bytes())
    assert len(plan["single_node"]["8k1k"]) == LARGEST
    assert (
        len(plan["evals"]) == 16
    )  # two concurrencies of eight topologies; images are not part of a topology


@pytest.mark.nightly
def test_its_shards_take_less_than_400_mb_too(tmp_path: Path) -> None:
    write_plan(tmp_path / "plan.json", LARGEST)
    assert megabytes(tmp_path, ["shards", "--plan", "plan.json", "--out", "cut"]) < 400
    assert json.loads((tmp_path / "cut/index.json").read_bytes())["shards"] == 256
    with (tmp_path / "cut/jobs.jsonl").open(encoding="utf-8") as lines:
        assert sum(1 for _ in lines) == LARGEST
