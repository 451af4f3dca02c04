"""infx reuse validate: artifacts in a folder or at GitHub, to problems and an exit code."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infx.bench.uploads import artifact_name
from infx.hub import FOREVER, Fault, FaultKind, Hub
from infx.matrix.environment import project_job
from infx.matrix.folder import read_jobs
from tests.calling import call
from tests.cli.plans import write_plan
from tests.made_results import make_files
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

FOLDER = ["reuse", "validate", "--artifacts", "artifacts"]
PLANNED = [*FOLDER, "--plan", "sweep-plan"]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the artifacts of a finished sweep of four rows; its plan lies next to it."""
    monkeypatch.chdir(tmp_path)
    rows = [row(FIXED, 64), row(AGENTIC, 8), row(DISAGG, 4, 8), row(FIXED, 8, eval_only=True)]
    write_plan(tmp_path / "plan.json", rows)
    assert call("shards", "--plan", "plan.json", "--out", "sweep-plan").code == 0
    artifacts = tmp_path / "artifacts"
    for job in read_jobs((tmp_path / "sweep-plan" / "jobs.jsonl").read_text().splitlines()):
        folder = artifacts / artifact_name(job)
        folder.mkdir(parents=True)
        for name, value in make_files(project_job(job, max_bytes=131_071)).items():
            (folder / name).write_text(json.dumps(value))
    collected = call("results", "collect", "--plan", "sweep-plan", "--artifacts", "artifacts", "--out", "out")
    assert collected.code == 0
    for name in ("results_bmk", "eval_results_all"):
        (tmp_path / "out" / name).rename(artifacts / name)
    (artifacts / "sweep-plan").mkdir()
    return artifacts


def test_a_good_source_is_exit_0(source: Path) -> None:
    called = call(*PLANNED)
    assert called.code == 0
    assert called.err.startswith("The source is usable: 3 fixed-length results, 1 AgentX result")
    assert called.json == {
        "ok": True,
        "problems": [],
        "plan": True,
        "results": {"fixed": 3, "agentic": 1, "accuracy": 1},
        "superseded": [],
    }


def test_without_a_plan_the_sentence_says_so(source: Path) -> None:
    called = call(*FOLDER)
    assert called.code == 0
    assert "No plan was given" in called.err
    assert called.json["plan"] is False


def test_problems_are_exit_1_and_annotations(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    Path("policy.yaml").write_text("repository: acme/bench\n")
    aggregate = source / "results_bmk" / "agg_bmk.json"
    rows = json.loads(aggregate.read_text())
    fixed, agentic = (next(row for row in rows if bool(row["isl"]) is is_fixed) for is_fixed in (True, False))
    fixed["tput_per_gpu"] += 1
    aggregate.write_text(json.dumps([*rows, agentic]))
    called = call(*PLANNED, "--policy", "policy.yaml")
    assert called.code == 1
    rules = [problem["rule"] for problem in called.json["problems"]]
    assert rules == ["agentic-duplicate", "fixed-changed"]
    assert called.err.count("::error file=results_bmk/agg_bmk.json") == 2
    assert "The source is not usable" in called.err


def test_an_older_accuracy_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    meta = {"hw": "h100", "infmax_model_prefix": "m1", "framework": "vllm", "precision": "fp8", "conc": 4}
    files = {
        "eval_a/meta_env.json": meta,
        "eval_a/results_2026-08-21T10-00-00.json": {},
        "eval_b/meta_env.json": meta,
        "eval_b/results_2026-08-21T11-00-00.json": {},
        "eval_results_all/agg.json": [{**meta, "task": "gsm8k"}],
    }
    for name, value in files.items():
        path = tmp_path / "artifacts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
    called = call(*FOLDER)
    assert called.code == 0
    assert called.json["superseded"] == [
        {"artifact": "eval_a", "is": "h100 m1 vllm fp8 isl 8192 osl 1024 conc 4"}
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "No artifacts are named."),
        (["--artifacts", "nowhere"], "nowhere"),
        (["--run", "0"], "0 is not in the range"),
        (["--artifacts", ".", "--plan", "nowhere"], "There is no plan folder"),
    ],
)
def test_wrong_usage_is_exit_2(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    called = call("reuse", "validate", *arguments)
    assert called.code == 2
    assert words in called.err


def test_a_hostile_folder_is_read_without_following_or_running_it(source: Path) -> None:
    """Links, devices, deep folders, huge files and strange names are problems, or are not looked at."""
    secret = source.parent / "secret.json"
    secret.write_text(json.dumps({"hw": "secret-value", "conc": "secret-value"}))
    (source / "bmk_link").mkdir()
    (source / "bmk_link" / "agg.json").symlink_to(secret)
    (source / "bmk_elsewhere").symlink_to(source.parent)
    os.mkfifo(source / "results_bmk" / "pipe.json")
    (source / "results_bmk" / "large.json").write_bytes(b" " * 5_000_001)
    (source / "bmk_\x1b[31m\n::error::x").mkdir()
    deep = source / "bmk_deep" / "/".join("abcdefgh")
    deep.mkdir(parents=True)
    (deep / "agg.json").write_text("[")
    Path("policy.yaml").write_text("repository: acme/bench\n")
    for arguments in (FOLDER, PLANNED):
        called = call(*arguments, "--policy", "policy.yaml", environ={"GITHUB_ACTIONS": "true"})
        assert called.code == 1
        assert "secret-value" not in called.err + called.out
        assert "\x1b" not in called.err + called.out
        assert "\n::error::x" not in called.err
        assert "it is a link or a device, not a file" in called.err
        assert "5,000,001 bytes" in called.err


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub() as hub:
        hub.push("main", {"x": "1"})
        for name, value in hub.environ(hub.workflow_token(actions="read")).items():
            monkeypatch.setenv(name, value)
        yield hub


def upload(hub: Hub, folder: Path) -> int:
    """Upload every artifact of a folder, and return the run."""
    made = hub.add_run()
    for path in sorted(folder.iterdir()):
        files = {file.relative_to(path).as_posix(): file.read_text() for file in path.rglob("*.json")}
        hub.add_artifact(made.id, path.name, files)
    return made.id


@pytest.mark.parametrize("with_plan", [True, False])
def test_a_run_is_downloaded_artifact_by_artifact(with_plan: bool, source: Path, hub: Hub) -> None:
    """Only results are downloaded; other artifacts count by their names."""
    run = upload(hub, source)
    for number in range(120):  # more than a page
        hub.add_artifact(run, f"log_{number}", {"log.json": "{"})
    hub.clear_log()
    plan = ["--plan", "sweep-plan"] if with_plan else []
    called = call("reuse", "validate", "--run", str(run), *plan)
    assert (called.code, called.json["problems"]) == (0, [])
    assert hub.reads <= 2 + 2 * 6  # two pages; the link and the file of six artifacts
    assert all(exchange.method == "GET" for exchange in hub.log)


def test_the_newest_artifact_of_a_name_counts(source: Path, hub: Hub) -> None:
    """A job that was run again uploads under the same name, and GitHub lists what both attempts uploaded."""
    run = upload(hub, source)
    aggregate = (source / "results_bmk" / "agg_bmk.json").read_text()
    hub.add_artifact(run, "results_bmk", {"agg_bmk.json": "[]"})
    assert call("reuse", "validate", "--run", str(run), "--plan", "sweep-plan").code == 1
    hub.add_artifact(run, "results_bmk", {"agg_bmk.json": aggregate})
    assert call("reuse", "validate", "--run", str(run), "--plan", "sweep-plan").code == 0


def test_what_the_folder_has_is_not_downloaded(source: Path, hub: Hub) -> None:
    run = upload(hub, source)
    hub.clear_log()
    assert call(*PLANNED, "--run", str(run)).code == 0
    assert hub.reads == 1  # the list


def test_an_expired_artifact_is_a_problem(source: Path, hub: Hub) -> None:
    run = upload(hub, source)
    hub.add_artifact(run, "results_bmk", {"agg_bmk.json": "[]"}, expired=True)
    called = call("reuse", "validate", "--run", str(run), "--plan", "sweep-plan")
    assert called.code == 1
    assert [problem["message"] for problem in called.json["problems"]] == ["it has expired."]


def test_a_run_that_does_not_exist_is_not_a_source_without_results(hub: Hub) -> None:
    called = call("reuse", "validate", "--run", "99")
    assert called.code == 3
    assert called.out == ""


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": FaultKind.DROP},
        {"kind": FaultKind.BAD_GATEWAY},
        {"kind": FaultKind.EMPTY},
        {"kind": FaultKind.FORBIDDEN, "times": FOREVER},
        {"kind": FaultKind.DROP, "times": FOREVER},  # GitHub is gone from here on
    ],
    ids=["dropped", "502", "empty", "forbidden", "gone"],
)
def test_a_fault_at_each_request_never_makes_a_source_usable(
    fault: dict[str, Any], source: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is the same, or exit code 3; an artifact that cannot be read is never without problems."""
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    run = upload(hub, source)
    (source / "results_bmk" / "agg_bmk.json").write_text(
        "[]"
    )  # what the run has is right, the folder's is not read
    arguments = ("reuse", "validate", "--run", str(run), "--plan", "sweep-plan")
    hub.clear_log()
    assert call(*arguments).code == 0
    requests = hub.reads
    assert requests > 6
    for position in range(1, requests + 1):
        hub.faults.clear()
        hub.faults.add(Fault(nth=position, **fault))
        called = call(*arguments)
        if called.code == 0:
            assert called.json["results"] == {"fixed": 3, "agentic": 1, "accuracy": 1}, position
        else:
            assert called.code == 3, (position, called.out, called.err)
    hub.faults.clear()
    assert call(*arguments).code == 0
