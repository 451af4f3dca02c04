"""infx results: a cut plan and artifacts in folders or at GitHub, to files, a summary and an exit code."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.cli import infx
from infx.cli.shell import run
from infx.hub import Hub
from infx.matrix.environment import project_job
from infx.matrix.folder import read_jobs
from infx.matrix.jobs import Job
from infx.results.collect import artifact_name
from infx.results.sample import make_files
from tests.cli.test_shards import write_plan
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """A sweep of four rows, each of which has left its result."""
    monkeypatch.chdir(tmp_path)
    write_plan(
        tmp_path / "plan.json",
        [row(FIXED, 64), row(AGENTIC, 8), row(DISAGG, 4, 8), row(FIXED, 8, eval_only=True)],
    )
    assert run(infx, ["shards", "--plan", "plan.json", "--out", "sweep-plan"], {}) == 0
    jobs = list(read_jobs((tmp_path / "sweep-plan" / "jobs.jsonl").read_text().splitlines()))
    for job in jobs:
        folder = tmp_path / "artifacts" / artifact_name(job)
        folder.mkdir(parents=True)
        for name, value in make_files(project_job(job, max_bytes=131_071)).items():
            (folder / name).write_text(json.dumps(value))
    return jobs


COLLECT = ["results", "collect", "--plan", "sweep-plan", "--artifacts", "artifacts", "--out", "out"]
REPORT = ["results", "report", "--plan", "sweep-plan", "--artifacts", "artifacts"]


def read(path: str) -> list[dict[str, object]]:
    value: list[dict[str, object]] = json.loads(Path(path).read_text())
    return value


def test_a_whole_sweep(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", "output")
    assert run(infx, COLLECT, {}) == 0
    assert len(read("out/results_bmk/agg_bmk.json")) == 4
    assert len(read("out/eval_results_all/agg_eval_all.json")) == 1
    assert read("out/rejected_rows.json") == []
    assert "present<<" in Path("output").read_text()
    capsys.readouterr()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary")
    assert run(infx, REPORT, {}) == 0
    text = capsys.readouterr().out
    assert text.startswith("## Sweep: 4 of 4 rows")
    assert Path("summary").read_text() == text


def test_a_bad_row_is_exit_1_and_the_good_ones_are_published(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("policy.yaml").write_text("repository: acme/bench\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("INFX_POLICY", "policy.yaml")
    path = next(Path("artifacts").glob("bmk_*/agg_*.json"))
    path.write_text('{"conc": "many"}')
    assert run(infx, COLLECT, os.environ) == 1
    assert len(read("out/results_bmk/agg_bmk.json")) == 3
    assert len(read("out/rejected_rows.json")) == 1
    assert f"::error file={path.relative_to('artifacts')}" in capsys.readouterr().err


def test_what_is_missing_is_no_error_of_the_collector(jobs: list[Job]) -> None:
    """The job that did not run is red already; collecting the rest has succeeded."""
    for path in Path("artifacts").glob("eval_*/*"):
        path.unlink()
    next(Path("artifacts").glob("eval_*")).rmdir()
    assert run(infx, COLLECT, {}) == 0
    coverage = json.loads(Path("out/coverage.json").read_text())
    assert (coverage["present"], coverage["missing"]) == (3, 1)


def test_where_nothing_came_no_artifact_says_that_there_are_results(jobs: list[Job]) -> None:
    """After a canary that failed: who looks for results_bmk would link an empty run."""
    evals = next(Path("artifacts").glob("eval_*")).name
    for path in [*Path("artifacts").iterdir()]:
        path.rename(path.name)
    assert run(infx, COLLECT, {}) == 0
    assert {path.name for path in Path("out").iterdir()} == {"coverage.json", "rejected_rows.json"}
    Path(evals).rename(Path("artifacts") / evals)
    assert run(infx, COLLECT, {}) == 0  # accuracy alone is a result, and the artifact that says so is there
    assert read("out/results_bmk/agg_bmk.json") == []


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub() as hub:
        hub.push("main", {"x": "1"})
        for name, value in hub.environ(hub.workflow_token(actions="read")).items():
            monkeypatch.setenv(name, value)
        yield hub


def test_what_the_folder_lacks_is_fetched_from_the_run(jobs: list[Job], hub: Hub) -> None:
    """The download action shows at most 1,000 artifacts; here three are there already, and one is not."""
    made = hub.add_run()
    for number in range(120):  # more than a page
        hub.add_artifact(made.id, f"log_{number}", {"log.txt": "x"})
    folder = next(Path("artifacts").glob("bmk_agentic_*"))
    files = {path.name: path.read_text() for path in folder.iterdir()}
    hub.add_artifact(made.id, folder.name, files)
    for path in [*folder.iterdir()]:
        path.unlink()
    folder.rmdir()
    assert run(infx, COLLECT, {}) == 0
    assert json.loads(Path("out/coverage.json").read_text())["missing"] == 1
    hub.clear_log()
    assert run(infx, [*COLLECT, "--run", str(made.id)], {}) == 0
    assert json.loads(Path("out/coverage.json").read_text())["present"] == 4
    assert hub.reads <= 5  # two pages, the artifact's link, the file


def test_no_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(infx, COLLECT, {}) == 2
    assert "no cut plan" in capsys.readouterr().err.lower()
