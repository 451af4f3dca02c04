"""The launches that travel with a plan: a line for each row and each cluster whose runners have the row's label."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infx.bench.config import Runners
from infx.bench.row import Row
from infx.launch.clusters import load_clusters
from infx.matrix.launches import render_launches
from infx.policy.load import default_policy
from infx.rowfile.errors import RowError
from infx.rowfile.launch_steps import LaunchForm, find_driver, parse_job, read_launch
from infx.rowfile.plan import LAUNCHES
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row
from tests.results.made import make_jobs

CLUSTERS = b"""\
defaults: {gpu: h200, scripts: [bench.sh]}
clusters:
  h200-a: {allocate: salloc, time: 60, gres: "gpu:{gpus}", image: {squash: "/images/{key}.sqsh"}}
  h200-b: {allocate: none, image: {from: docker}, model: {set: [MODEL_PATH], paths: {m2/fp8: /models/m2}}}
  h200-c: {allocate: none, image: {from: none}}
"""
RUNNERS = Runners(
    labels={
        "h200": ("h200-a_0", "h200-b_0", "h200-a_1", "h200-x_0"),
        "cluster:h200-a": ("h200-a_0", "h200-a_1"),
        "cluster:h200-c": ("h200-c_0",),
    },
    hardware={},
    path="runners.yaml",
)


def cut(*rows: Row) -> list[dict[str, Any]]:
    lines = render_launches(
        make_jobs(rows), default_policy(), RUNNERS, load_clusters(CLUSTERS, "clusters.yaml")
    )
    return [json.loads(line) for line in lines]


def test_every_cluster_that_may_get_a_row_has_a_variant() -> None:
    """The label h200 is that of two described clusters; a row that names a cluster has one variant."""
    lines = cut(row(replace(FIXED, runner="h200"), 8), row(AGENTIC, 8))
    assert [(line["cluster"], line["runners"]) for line in lines] == [
        ("h200-a", ["h200-a_0", "h200-a_1"]),
        ("h200-b", ["h200-b_0"]),
        ("h200-a", ["h200-a_0", "h200-a_1"]),
    ]
    assert lines[0]["launch"]["driver"] == "slurm"


def test_a_cluster_that_cannot_run_a_row_says_why() -> None:
    [_, refused] = cut(row(replace(FIXED, runner="h200"), 8))
    assert "launch" not in refused
    assert "does not have the model acme/m1" in refused["refused"]


def test_a_row_on_several_nodes_has_no_launch() -> None:
    assert cut(row(DISAGG, 4)) == []


@pytest.fixture
def plan(tmp_path: Path) -> str:
    """Return the folder of a plan with one row."""
    lines = cut(row(replace(FIXED, runner="h200"), 8))
    (tmp_path / LAUNCHES).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "id").write_text(lines[0]["row"])
    return str(tmp_path)


def test_a_machine_finds_the_variant_of_its_runner(plan: str) -> None:
    row_id = Path(plan, "id").read_text()
    form = read_launch(plan, row_id, "h200-a_1")
    assert isinstance(form, LaunchForm)
    assert [step.name for step in form.steps] == ["allocate", "import", "run"]
    assert form.steps[0].grants_job
    assert read_launch(plan, "another", "h200-a_1") is None
    with pytest.raises(RowError, match=r"The row cannot run on h200-b_0: .*does not have the model"):
        read_launch(plan, row_id, "h200-b_0")
    with pytest.raises(RowError, match=r"'h200-x_0' belongs to no cluster .* one of h200-a, h200-b"):
        read_launch(plan, row_id, "h200-x_0")


def test_a_machine_finds_its_driver(plan: str) -> None:
    assert find_driver(plan, "h200-a_0") == ("slurm", "infx-{runner}")
    assert find_driver(plan, "h200-x_0") == ("", "")


@pytest.mark.parametrize("text", ["{", '{"row": 1}\n', "{}\n", "[]\n"])
def test_damaged_launches_are_refused(text: str, plan: str) -> None:
    row_id = Path(plan, "id").read_text()
    Path(plan, LAUNCHES).write_text(f'{{"row": "{row_id}", "x": 1}}\n{text}')
    with pytest.raises(RowError, match="the launches of the plan cannot be read") as caught:
        read_launch(plan, row_id, "h200-a_0")
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("lines", "job"),
    [
        (["salloc: Granted job allocation 4242"], "4242"),
        (
            [
                "salloc: Pending job allocation 7",
                "salloc: Granted job allocation 7",
                "salloc: Nodes n1 are ready",
            ],
            "7",
        ),
        (["salloc: Pending job allocation 7", "salloc: job 7 queued and waiting for resources"], ""),
        (["Submitted batch job 8"], "8"),
        (["Job 9 submitted, logs in outputs/9"], "9"),
        (["salloc: Granted job allocation 7x"], ""),
        ([], ""),
    ],
)
def test_the_id_of_the_allocation_is_that_of_its_grant(lines: list[str], job: str) -> None:
    assert parse_job(lines) == job
