"""A processed replay is a result that collect accepts: its identity is the plan's, and its numbers have names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from infx.bench.row import Row
from infx.bench.uploads import artifact_name
from infx.matrix.environment import project_job
from infx.results.collect import Collection, RowState, collect
from infx.rowfile.agentic_process import process_agentic
from tests.conftest import ROOT
from tests.matrix.rows import AGENTIC, row
from tests.results.made import RULES, artifact, make_jobs
from tests.rowfile.replays import record, write_replay

PAGE = (ROOT / "docs/results.md").read_text(encoding="utf-8")


def play(folder: Path, planned: Row, records: list[dict[str, Any]]) -> Collection:
    """Process a replay with the environment of a planned row, and collect what it leaves."""
    [job] = make_jobs([planned])
    write_replay(folder, records)
    environment = project_job(job, max_bytes=100_000)
    path = process_agentic(environment, str(folder / "results"), str(folder)).path
    data = Path(path).read_bytes()
    return collect([job], [artifact(artifact_name(job), {Path(path).name: data})], RULES)


def test_a_processed_replay_completes_its_row(tmp_path: Path) -> None:
    """Three requests of 1 s each, with 100 tokens in and 50 out, on 8 GPUs."""
    collection = play(tmp_path, row(AGENTIC, 8), [record(0), record(1), record(2)])
    assert [item.state for item in collection.coverage] == [RowState.PRESENT], collection.rejected
    [point] = collection.points
    assert (point.row.conc, point.row.isl, point.row.osl) == (8, 0, 0)
    assert point.row.metrics["p90_e2el"] == 1
    assert point.row.metrics["p90_e2e_norm_intvty"] == 50
    assert point.row.metrics["tput_per_gpu"] == pytest.approx(150 / 8)
    assert point.row.metrics["total_token_throughput"] == 150
    assert point.row.metrics["duration"] == 3


def test_a_replay_with_too_many_failures_fails_its_row(tmp_path: Path) -> None:
    bad = [record(number, error={"code": 500}) for number in range(2)]
    collection = play(tmp_path, row(AGENTIC, 8), [record(number) for number in range(10)] + bad)
    [item] = collection.coverage
    assert item.state is RowState.FAILED
    assert "2 of 12 requests failed, at most 10 % may" in item.faults[0]


def test_a_replay_without_a_good_record_fails_its_row(tmp_path: Path) -> None:
    collection = play(tmp_path, row(AGENTIC, 8), [record(0, error={"code": 500})])
    assert [item.state for item in collection.coverage] == [RowState.FAILED]
    assert collection.points == ()


def test_the_names_of_collected_numbers_are_listed(tmp_path: Path) -> None:
    collection = play(tmp_path, row(AGENTIC, 8), [record(number) for number in range(3)])
    [point] = collection.points
    table = PAGE.partition("<!-- table: agentic-requests -->")[2].partition("<!-- end -->")[0]
    listed = {
        name for line in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", line.split("|")[4])
    }
    statistics = "mean", "p50", "p75", "p90", "p95", "std"
    expanded = {name.replace("<statistic>", statistic) for name in listed for statistic in statistics}
    measured = {
        name
        for name in point.row.metrics
        if re.match("(mean|p[0-9]+|std|qps)_|.*throughput|.*_per_gpu|duration", name)
    }
    assert len(measured) > 50
    assert measured <= expanded
