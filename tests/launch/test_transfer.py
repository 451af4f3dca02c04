"""The scripts that copy the checkout to a node and results back, run in folders of this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from infx.launch.cluster import WorkspaceTransfer
from infx.launch.steps import Step, StepName
from infx.launch.texts import Texts
from infx.launch.transfer import render_bringing_back, render_sending


@pytest.fixture
def steps(tmp_path: Path) -> dict[StepName, Step]:
    """Return the steps of a copy in a temporary folder, without srun and with placeholders filled."""
    transfer = WorkspaceTransfer(path=f"{tmp_path}/node", brought_back=("LOGS", "*.log", "absent*"))
    texts = Texts(values={})
    environment = {"XDG_RUNTIME_DIR": f"{tmp_path}/runtime", "A": "b"}
    return {
        step.name: step
        for step in (
            *render_sending(transfer, texts, environment, ()),
            *render_bringing_back(transfer, texts, ("agg_*.json",), ()),
        )
    }


def run(step: Step, folder: Path) -> None:
    values = {"{scratch}": f"{folder}/scratch", "{workspace}": f"{folder}/workspace"}
    argv = step.argv
    for placeholder, value in values.items():
        argv = tuple(part.replace(placeholder, value) for part in argv)
    done = subprocess.run(argv, capture_output=True, check=True, cwd=folder)
    if step.output:
        (folder / "scratch/results.tar.gz").write_bytes(done.stdout)


def test_the_checkout_arrives_and_results_come_back(steps: dict[StepName, Step], tmp_path: Path) -> None:
    for name in ("scratch", "workspace/benchmarks", "workspace/.git"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "workspace/benchmarks/a b.sh").write_text("echo")
    (tmp_path / "node").mkdir()
    (tmp_path / "node/stale").write_text("of an earlier row")
    run(steps[StepName.PACK], tmp_path)
    (tmp_path / "scratch/workspace.tar.gz").rename(tmp_path / "node.tar.gz")  # as sbcast does
    run(steps[StepName.UNPACK], tmp_path)
    node = tmp_path / "node"
    assert {path.name for path in node.iterdir()} == {"benchmarks", ".git"}
    assert (node / "benchmarks/a b.sh").read_text() == "echo"
    assert node.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "runtime").stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "node.tar.gz").exists()

    (node / "LOGS").mkdir()
    for name in ("LOGS/server.txt", "a b.log", "agg_1.json", "weights.bin"):
        (node / name).write_text(name)
    run(steps[StepName.BRING_BACK], tmp_path)
    run(steps[StepName.UNPACK_RESULTS], tmp_path)
    workspace = tmp_path / "workspace"
    assert {path.name for path in workspace.iterdir()} == {
        "benchmarks",
        ".git",
        "LOGS",
        "a b.log",
        "agg_1.json",
    }
    assert (workspace / "LOGS/server.txt").read_text() == "LOGS/server.txt"

    run(steps[StepName.REMOVE], tmp_path)
    assert not node.exists()


def test_no_results_are_no_failure(steps: dict[StepName, Step], tmp_path: Path) -> None:
    """The row fails by its missing results, with their names."""
    for name in ("scratch", "workspace", "node"):
        (tmp_path / name).mkdir()
    run(steps[StepName.BRING_BACK], tmp_path)
    run(steps[StepName.UNPACK_RESULTS], tmp_path)
    assert list((tmp_path / "workspace").iterdir()) == []


def test_the_archive_is_sent_to_all_nodes_of_the_allocation(
    steps: dict[StepName, Step], tmp_path: Path
) -> None:
    assert steps[StepName.SEND].argv == (
        "sbcast", "--jobid={job}", "--force", "{scratch}/workspace.tar.gz", f"{tmp_path}/node.tar.gz",
    )  # fmt: skip
