"""Measure planned rows on this machine: servers and a client under supervision, and what the row's job would upload."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infx.bench.jobs import RowJob
from infx.bench.row import Row
from infx.bench.uploads import artifact_name
from infx.matrix.environment import project_job
from infx.matrix.row_file import pack_row_file, pack_supervise
from infx.results.collect import Collection, collect, render_files
from tests.demo.servers import BENCHMARKS, SECONDS
from tests.results.made import RULES, artifact, make_jobs

ENGINE = ["${PYTHON}", "-S", "${HERE}/engine.py", "${MODEL}", "--port", "${PORT_ENGINE}", "--time-scale", "${TIME_SCALE}",
          "--stream-interval", "64", "--tensor-parallel-size", "${TP:-8}", "--fail", "${FAULT:-error-every=1000}"]  # fmt: skip
ROUTER = ["${PYTHON}", "-S", "${HERE}/router.py", "--port", "${PORT_ROUTER}"]
HEALTH = {"path": "/health", "seconds": SECONDS}
SINGLE: dict[str, Any] = {
    "processes": {
        "engine": {"argv": [*ENGINE, "--workers", "2"], "ports": ["engine"], "ready": HEALTH, "grace": 5}
    }
}
ROLES: dict[str, Any] = {
    "processes": {
        "prefill": {"argv": [*ENGINE], "ports": ["engine"], "ready": HEALTH},
        "decode": {
            "argv": ["${PORT_DECODE}" if word == "${PORT_ENGINE}" else word for word in ENGINE],
            "ports": ["decode"],
            "ready": HEALTH,
        },
        "router": {
            "argv": [
                *ROUTER,
                "--health",
                "own",
                "--prefill",
                "127.0.0.1:${PORT_ENGINE}",
                "--decode",
                "127.0.0.1:${PORT_DECODE}",
            ],
            "ports": ["router"],
            "after": ["prefill", "decode"],
            "ready": HEALTH,
        },
    },
    "entry": "router",
}
CLIENT = """\
case "$EVAL_ONLY $IS_AGENTIC $IS_MULTINODE" in
true*) "$PYTHON" -S "$HERE/client.py" accuracy --questions 20 ;;
"false 1 "*) "$PYTHON" -S "$HERE/client.py" replay && "$PYTHON" row.py process && "$PYTHON" row.py check-replay --metric vllm: ;;
*true) "$PYTHON" -S "$HERE/client.py" throughput && "$PYTHON" row.py process --all ;;
*) "$PYTHON" -S "$HERE/client.py" throughput && "$PYTHON" row.py process ;;
esac
"""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A row that was measured, successfully or not."""

    job: RowJob
    folder: Path
    code: int
    err: str

    def collect(self) -> Collection:
        """Collect what the row's job would upload."""
        names = ("agg*.json", "meta_env.json", "results*.json")
        files = {path.name: path.read_bytes() for name in names for path in self.folder.glob(name)}
        return collect([self.job], [artifact(artifact_name(self.job), files)], RULES)

    def read(self, name: str) -> dict[str, Any]:
        values: dict[str, Any] = json.loads((self.folder / name).read_text())
        return values


def measure(
    folder: Path,
    planned: Row,
    spec: Mapping[str, Any] = SINGLE,
    scale: float = 500,
    client: str = CLIENT,
    **variables: str,
) -> Measured:
    """Run servers and client of a row under supervision, in a folder of its own."""
    [job] = make_jobs([planned])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("supervise.py", pack_supervise()),
        ("row.py", pack_row_file()),
        ("spec.json", json.dumps(spec)),
    ):
        (folder / name).write_text(text)
    own = {
        "HERE": str(BENCHMARKS),
        "PYTHON": sys.executable,
        "TIME_SCALE": str(scale),
        "RESULT_DIR": str(folder),
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", "supervise.py", "spec.json", "--", "sh", "-c", client],
        cwd=folder,
        env={**os.environ, **project_job(job, max_bytes=131_071), **own, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=4 * SECONDS,
    )
    return Measured(job=job, folder=folder, code=done.returncode, err=done.stderr)


def write_collection(collection: Collection, folder: Path) -> None:
    """Write what `infx results collect` writes."""
    for name, text in render_files(collection).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def read_chart(page: Path) -> Any:
    """Return the lines of a page's chart."""
    data = re.search(r'id="chart-data">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert data is not None
    return json.loads(data[1])["sets"]["results"]
