from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.matrix.large import write_large

# The peak of a process is that of its largest child so far, so the plan gets a process of its own to be measured in.
MEASURED = (
    "import resource, subprocess, sys\n"
    "command = [sys.executable, '-m', 'infx', 'plan', '--base-ref', 'HEAD~1', '--head-ref', 'HEAD']\n"
    "subprocess.run(command, stdout=open('plan.json', 'wb'), stderr=subprocess.DEVNULL, check=True)\n"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
)


def test_a_plan_of_65536_rows_takes_less_than_400_mb(tmp_path: Path) -> None:
    folder = write_large(tmp_path / "large", 65_536)
    done = subprocess.run(
        [sys.executable, "-c", MEASURED], cwd=folder, capture_output=True, text=True, check=True
    )
    plan = json.loads((folder / "plan.json").read_bytes())
    assert len(plan["single_node"]["8k1k"]) == 65_536
    assert len(plan["evals"]) == 16  # two concurrencies of eight topologies; the keys' images do not count
    assert int(done.stdout) < 400
