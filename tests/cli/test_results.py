"""infx results: from a plan folder and artifacts, on disk or on GitHub, to files, a summary and an exit code."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from infx.bench.jobs import RowJob
from infx.bench.uploads import artifact_name
from infx.hub import Hub
from infx.matrix.environment import project_job
from infx.matrix.folder import read_jobs
from tests.calling import call
from tests.cli.plans import write_plan
from tests.conftest import ROOT
from tests.made_results import make_files
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[RowJob]:
    """Write the plan folder and the artifacts of a sweep of four good rows."""
    monkeypatch.chdir(tmp_path)
    write_plan(
        tmp_path / "plan.json",
        [row(FIXED, 64), row(AGENTIC, 8), row(DISAGG, 4, 8), row(FIXED, 8, eval_only=True)],
    )
    assert call("shards", "--plan", "plan.json", "--out", "sweep-plan").code == 0
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


def test_a_complete_sweep(jobs: list[RowJob]) -> None:
    called = call(*COLLECT)
    assert called.code == 0
    assert len(read("out/results_bmk/agg_bmk.json")) == 4
    assert len(read("out/eval_results_all/agg_eval_all.json")) == 1
    assert read("out/rejected_rows.json") == []
    assert "present<<" in called.written
    assert called.err == (
        "4 of 4 planned rows complete, 0 failed, 0 missing; 4 throughput results and 1 accuracy result published.\n"
    )
    assert called.summary.startswith("## Sweep: 4 of 4 rows")
    report = call(*REPORT)
    assert report.code == 0
    assert report.out == called.summary
    assert report.summary == ""  # collect writes it too


def test_a_bad_row_is_exit_1_and_the_good_ones_are_published(
    jobs: list[RowJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("policy.yaml").write_text("repository: acme/bench\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("INFX_POLICY", "policy.yaml")
    path = next(Path("artifacts").glob("bmk_*/agg_*.json"))
    path.write_text('{"conc": "many"}')
    called = call(*COLLECT)
    assert called.code == 1
    assert len(read("out/results_bmk/agg_bmk.json")) == 3
    assert len(read("out/rejected_rows.json")) == 1
    assert f"::error file={path.relative_to('artifacts')}" in called.err


def remove(folder: Path) -> dict[str, str]:
    """Remove an artifact, and return its files."""
    files = {path.name: path.read_text() for path in folder.iterdir()}
    for name in files:
        (folder / name).unlink()
    folder.rmdir()
    return files


@pytest.mark.parametrize("lost", [1, 4])
def test_a_planned_row_without_a_result_is_exit_1(lost: int, jobs: list[RowJob]) -> None:
    """The row's job may be green, or may never have started."""
    for job in jobs[:lost]:
        remove(Path("artifacts") / artifact_name(job))
    called = call(*COLLECT)
    assert called.code == 1
    assert f"## Sweep: {4 - lost} of 4 rows" in called.summary
    assert f"### Missing ({lost})" in called.summary
    for job in jobs:
        is_lost = job in jobs[:lost]
        assert (f"The row {job.id} has no result" in called.err) is is_lost
        assert (f"| `{job.id}` | {job.family} |" in called.summary) is is_lost
    coverage = json.loads(Path("out/coverage.json").read_text())
    assert (coverage["present"], coverage["missing"]) == (4 - lost, lost)


def test_no_rows_is_a_success_only_if_no_rows_were_planned(jobs: list[RowJob]) -> None:
    """A plan that has lost its rows must not look like a plan without rows."""
    Path("sweep-plan/jobs.jsonl").write_text("")
    called = call(*COLLECT)
    assert called.code == 2
    assert "index.json says 4 rows, jobs.jsonl has 0 rows" in called.err
    assert not Path("out").exists()
    write_plan(Path("nothing.json"), [])
    assert call("shards", "--plan", "nothing.json", "--out", "no-rows").code == 0
    Path("none").mkdir()
    arguments = ["results", "collect", "--plan", "no-rows", "--artifacts", "none", "--out", "out"]
    called = call(*arguments)
    assert called.code == 0
    assert called.err == "No rows were planned, so there is nothing to collect.\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jobs.jsonl", "{}\n"),
        ("jobs.jsonl", "[1]\n"),
        ("jobs.jsonl", "nonsense\n"),
        ("jobs.jsonl", None),
        ("index.json", "{}"),
        ("index.json", "[]"),
        ("index.json", "nonsense"),
    ],
)
def test_a_plan_that_cannot_be_read_is_refused(name: str, text: str | None, jobs: list[RowJob]) -> None:
    path = Path("sweep-plan") / name
    path.write_text(path.read_text().splitlines()[0] * 4 if text is None else text)
    called = call(*COLLECT)
    assert called.code == 2
    assert "plan folder" in called.err


def test_without_results_no_artifact_claims_results(jobs: list[RowJob]) -> None:
    """The search for results_bmk would link an empty run, for example after a failed canary."""
    evals = next(Path("artifacts").glob("eval_*")).name
    assert call(*COLLECT).code == 0
    for path in [*Path("artifacts").iterdir()]:
        path.rename(path.name)
    assert call(*COLLECT).code == 1
    files = {path.name for path in Path("out").rglob("*") if path.is_file()}
    assert files == {"coverage.json", "rejected_rows.json"}  # the results of the first call are gone
    Path(evals).rename(Path("artifacts") / evals)
    assert call(*COLLECT).code == 1  # accuracy alone is a result, so results_bmk is written
    assert read("out/results_bmk/agg_bmk.json") == []


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub() as hub:
        hub.push("main", {"x": "1"})
        for name, value in hub.environ(hub.workflow_token(actions="read")).items():
            monkeypatch.setenv(name, value)
        yield hub


def test_missing_artifacts_are_fetched_from_the_run(jobs: list[RowJob], hub: Hub) -> None:
    """The download action finds at most 1,000 artifacts; here the folder has three, and one is missing."""
    sweep_run = hub.add_run()
    for number in range(120):  # more than a page
        hub.add_artifact(sweep_run.id, f"log_{number}", {"log.txt": "x"})
    folder = next(Path("artifacts").glob("bmk_agentic_*"))
    hub.add_artifact(sweep_run.id, folder.name, remove(folder))
    assert call(*COLLECT).code == 1
    assert json.loads(Path("out/coverage.json").read_text())["missing"] == 1
    hub.clear_log()
    assert call(*COLLECT, "--run", str(sweep_run.id)).code == 0
    assert json.loads(Path("out/coverage.json").read_text())["present"] == 4
    assert hub.reads <= 5  # two pages, the artifact's link, the file


def commands_of(action: str) -> list[list[str]]:
    """Return the infx commands of a composite action's script."""
    steps = yaml.safe_load((ROOT / f".github/actions/{action}/action.yml").read_text())["runs"]["steps"]
    lines = [line.strip() for step in steps for line in step["run"].splitlines()]
    return [shlex.split(os.path.expandvars(line))[1:] for line in lines if line.startswith("infx ")]


def test_the_action_reads_and_fetches_every_artifact_once(
    jobs: list[RowJob], hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two artifacts are in the folder and two only on GitHub; each is read once."""
    sweep_run = hub.add_run()
    fetched = [
        hub.add_artifact(sweep_run.id, artifact_name(job), remove(Path("artifacts") / artifact_name(job))).id
        for job in jobs[:2]
    ]
    local = sorted(path for path in Path("artifacts").rglob("*.json"))
    for name, value in {
        "PLAN": "sweep-plan", "ARTIFACTS": "artifacts", "OUT": "out", "GITHUB_RUN_ID": str(sweep_run.id), "CLONE": ".",
        "INFX_STORE": "sqlite:none.db",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    opened: Counter[Path] = Counter()
    read_bytes = Path.read_bytes

    def count_read(path: Path) -> bytes:
        opened[path] += 1
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", count_read)
    hub.clear_log()
    collect, compare = commands_of("results")
    called, compared = call(*collect), call(*compare)
    assert (called.code, compared.code) == (0, 0)
    assert Path("out/results_compare/comparison.json").is_file()
    assert {path: number for path, number in opened.items() if "artifacts" in path.parts} == dict.fromkeys(
        local, 1
    )
    links = [exchange.path for exchange in hub.log if exchange.path.endswith("/zip")]
    assert sorted(links) == sorted(
        f"/repos/{hub.repository}/actions/artifacts/{number}/zip" for number in fetched
    )
    lists = [exchange.path for exchange in hub.log if exchange.path.endswith("/artifacts")]
    assert len(lists) == 1  # one page
    assert called.summary.count("## Sweep: 4 of 4 rows") == 1


def test_github_is_not_asked_if_no_artifact_is_missing(jobs: list[RowJob], hub: Hub) -> None:
    hub.clear_log()
    assert call(*COLLECT, "--run", "1").code == 0
    assert hub.log == []


@pytest.mark.parametrize(
    ("expired", "size", "words"), [(True, 1, "it has expired"), (False, 10, "more than the limit of 10")]
)
def test_an_artifact_that_is_not_fetched_fails_its_row_only(
    expired: bool,
    size: int,
    words: str,
    jobs: list[RowJob],
    hub: Hub,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("infx.gather.artifacts.MAX_ZIP", 10)
    sweep_run = hub.add_run()
    name = artifact_name(jobs[0])
    hub.add_artifact(sweep_run.id, name, remove(Path("artifacts") / name), expired=expired)
    called = call(*COLLECT, "--run", str(sweep_run.id))
    assert called.code == 1
    assert words in called.err
    coverage = json.loads(Path("out/coverage.json").read_text())
    assert (coverage["present"], coverage["failed"]) == (3, 1)


def test_a_missing_plan_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    called = call(*COLLECT)
    assert called.code == 2
    assert "no plan folder" in called.err.lower()
