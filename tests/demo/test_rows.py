"""The rows of the demo are benchmarks of real processes: their records say what ran, and why one failed."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from typing import Any

from infx.bench.config import Parallelism
from infx.bench.jobs import RowJob
from infx.bench.uploads import artifact_name
from infx.demo.play import Play
from infx.demo.workflows import DemoMachines
from infx.rowfile.record import RECORD


def read_records(played: Play) -> Iterator[tuple[RowJob, dict[str, Any]]]:
    """Yield the rows that ran, each with the record of its job."""
    for sweep in played.stage.sweeps:
        data = {a.name: a.data for a in played.hub.state.artifacts.values() if a.run == sweep.run}
        for row in sweep.rows:
            if row.conclusion != "cancelled":
                with zipfile.ZipFile(io.BytesIO(data[artifact_name(row.job)])) as archive:
                    yield row.job, json.loads(archive.read(RECORD))


def list_servers(job: RowJob) -> set[str]:
    """Return the servers that a row needs: two engines if prefill and decode are separate, and a router if it has one."""
    recipe = job.row.recipe
    if recipe.disagg:
        return {"prefill", "decode", "router"}
    has_router = isinstance(recipe.layout, Parallelism) and recipe.layout.dp_attn
    return {"engine", "router"} if has_router else {"engine"}


def test_every_row_measured_its_servers(played: Play) -> None:
    stages = {"check", "gpu-memory", "start", "client", "stop", "gpu-memory-back"}  # of supervise.py
    for job, record in read_records(played):
        assert {item["name"] for item in record["supervised"]} - stages == list_servers(job), job.name


def test_rows_on_one_node_are_launched(played: Play) -> None:
    """A row on several nodes runs the row command."""
    seen = set()
    for job, record in read_records(played):
        is_launched = "release" in {stage["stage"] for stage in record["stages"]}
        assert is_launched is not job.row.recipe.is_multinode
        seen.add(is_launched)
    assert seen == {True, False}


def test_the_failed_row_has_the_last_words_of_its_engine(played: Play) -> None:
    """The engine died behind a router that lives on, so only the watch over the engine stops the client."""
    [error] = [record["error"] for _, record in read_records(played) if record["error"]]
    assert (error["stage"], error["type"], error["cause"]) == ("client", "process-ended", "benchmark")
    assert error["message"] == "The process engine ended with 1 before the client ended."
    assert error["evidence"][-1].startswith("torch.OutOfMemoryError: ")


def test_rows_have_the_mark_of_their_play(played: Play) -> None:
    """Without it, two demos on a machine would have the same runners, and end each other's processes."""
    machines = played.story.machines
    assert isinstance(machines, DemoMachines)
    environ = machines.make_row_environ("b300-nv_00")
    assert environ == {"RUNNER_NAME": "b300-nv_00", "INFX_LAUNCH": f"play-{os.getpid()}"}
