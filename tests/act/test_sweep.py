"""Run the repository's own workflows from an event to a report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from infx.hub.hub import Hub
from infx.phrases import count
from tests.act.bench import KEY, MADE, SMALL, WIDE, make_changelog, make_payload, make_policy
from tests.act.harness import Act, Outcome
from tests.calling import call
from tests.conftest import ROOT


def play(
    hub: Hub,
    folder: Path,
    *,
    files: dict[str, str] | None = None,
    labels: tuple[str, ...] = (),
    action: str = "labeled",
    label: str | None = None,
    message: str = "change",
    repository: str | None = None,
) -> Outcome:
    """Open a pull request with labels, and run the workflow for an event of it."""
    pushed = {"perf-changelog.yaml": make_changelog()} if files is None else files
    hub.push("feat-x", pushed, message, repository=repository)
    pull = hub.open_pull("feat-x", repository=repository)
    hub.label(pull.number, *labels)
    hub.add_run("run-sweep.yml", pull=pull.number, run_id=700)
    event = make_payload(
        hub,
        action=action,
        number=pull.number,
        pull_request={"number": pull.number, "head": {"sha": pull.head_sha}},
    )
    if label or labels:
        event["label"] = {"name": label or labels[0]}
    return Act(hub, folder).run("run-sweep.yml", "pull_request", event)


@pytest.mark.parametrize(
    ("key", "results", "scores"),
    [
        (SMALL, 1, 2),
        # Scene B's key: 14 rows, and one accuracy run for each of TP4, TEP4 and DEP4.
        pytest.param(KEY, 14, 3, marks=pytest.mark.nightly),
    ],
)
def test_a_labeled_pull_request_is_measured(
    hub: Hub, tmp_path: Path, key: str, results: int, scores: int
) -> None:
    rows = results + scores
    files = {"perf-changelog.yaml": make_changelog(key)}
    outcome = play(hub, tmp_path, files=files, labels=("full-sweep-fail-fast",))
    assert outcome.code == 0, outcome.log[-3000:]
    index = json.loads(outcome.read_artifact("sweep-plan")["index.json"])
    assert (index["rows"], index["shards"]) == (rows, 1)
    names = outcome.rows
    assert len(names) == rows
    assert [name for name in names if " · canary · " in name] == [names[0]]
    assert names[0].startswith(index["canary"])
    published = json.loads(outcome.read_artifact("results_bmk")["agg_bmk.json"])
    assert len(published) == results
    assert len(json.loads(outcome.read_artifact("eval_results_all")["agg_eval_all.json"])) == scores
    prefixes, others = sort_artifacts(outcome.uploaded)
    assert {name.split(" ")[0]: "eval_" if " eval " in name else "bmk_agentic_" for name in names} == prefixes
    assert others == {
        "sweep-plan",
        "results_bmk",
        "eval_results_all",
        "results_compare",
        "results_page.html",
        "run-stats",
        "job_events",
    }
    assert outcome.jobs["sweep-status"] == ["success"]
    summary = "\n".join(outcome.summaries)
    assert "### A sweep starts\n\nSweep\\: full, first a canary, stopping at the first failure" in summary
    assert f"## Plan\n\n{rows} rows of 1 configuration, {scores} of them accuracy runs" in summary
    counts = f"{count(results, 'throughput result')} and {scores} accuracy results published."
    assert f"## Sweep: {rows} of {rows} rows\n\n0 failed, 0 missing, {counts}" in summary


def sort_artifacts(uploaded: set[str]) -> tuple[dict[str, str], set[str]]:
    """Return id of a row → prefix of its artifact, and the names of the other artifacts."""
    matches = {name: re.fullmatch(r"(bmk_agentic_|bmk_|eval_).*_([0-9a-f]{12})", name) for name in uploaded}
    prefixes = {match[2]: match[1] for match in matches.values() if match}
    return prefixes, {name for name, match in matches.items() if not match}


def render_report(outcome: Outcome) -> str:
    """Return the report of the job `collect`.

    act stops a run when its called workflow fails, so the report is made here from the run's artifacts.
    tests/workflows/test_own.py checks that the job would run.
    """
    policy, plan = {"INFX_POLICY": str(ROOT / "configs/policy.yaml")}, str(outcome.artifacts / "sweep-plan")
    called = call("results", "report", "--plan", plan, "--artifacts", str(outcome.artifacts), environ=policy)
    assert called.code == 0, called.err
    return called.out


def test_a_failed_row_is_reported_and_the_others_are_published(hub: Hub, tmp_path: Path) -> None:
    command = 'if [ "$EP_SIZE $DP_ATTENTION $EVAL_ONLY" = "4 true false" ]; then exit 1; fi; ' + MADE
    hub.push("main", {"configs/policy.yaml": make_policy(sweep={"row-command": ["bash", "-c", command]})})
    outcome = play(hub, tmp_path, labels=("sweep-enabled",))
    assert outcome.code == 1
    assert len(outcome.rows) == 6
    names = {name for name in outcome.uploaded if name.startswith(("bmk_", "eval_"))} - {"eval_results_all"}
    (artifact,) = {name for name in names if set(outcome.read_artifact(name)) == {"job_event.json"}}
    failed = artifact.rpartition("_")[2]
    report = render_report(outcome)
    assert (
        "## Sweep: 5 of 6 rows\n\n1 failed, 0 missing, 2 throughput results and 3 accuracy results published."
        in report
    )
    assert (
        f"### Failed (1)\n\n| id | family | row | why |\n| --- | --- | --- | --- |\n| `{failed}` | agentic | "
        in report
    )


def test_after_a_failed_canary_no_other_row_runs(hub: Hub, tmp_path: Path) -> None:
    hub.push("main", {"configs/policy.yaml": make_policy(sweep={"row-command": ["false"]})})
    outcome = play(hub, tmp_path, labels=("full-sweep-enabled",))
    assert outcome.code == 1
    assert [" · canary · " in name for name in outcome.rows] == [True]
    (artifact,) = outcome.uploaded - {"sweep-plan"}
    assert set(outcome.read_artifact(artifact)) == {"job_event.json"}
    assert "## Sweep: 0 of 17 rows\n\n1 failed, 16 missing," in render_report(outcome)


@pytest.mark.parametrize(
    ("options", "words", "status"),
    [
        ({"action": "opened"}, "the PR has no label that starts a sweep", "success"),
        (
            {"labels": ("full-sweep-fail-fast", "full-sweep-enabled")},
            "the PR has both full-sweep-enabled and full-sweep-fail-fast",
            "failure",
        ),
        (
            {"labels": ("full-sweep-fail-fast", "documentation"), "label": "documentation"},
            "the label documentation neither starts nor changes a sweep",
            "success",
        ),
        (
            {"labels": ("full-sweep-enabled",), "message": "Tidy [skip-sweep]"},
            "the head commit message has [skip-sweep] in the subject",
            "success",
        ),
        (
            {"labels": ("full-sweep-enabled",), "files": {"README.md": "x"}},
            "does not change perf-changelog.yaml",
            "success",
        ),
        (
            {"labels": ("full-sweep-enabled",), "repository": "eve/bench"},
            "the PR comes from a fork, and its head",
            "success",
        ),
    ],
    ids=["unlabeled", "conflicting labels", "unrelated label", "skip marker", "no entry", "fork"],
)
def test_no_row_runs_and_the_log_says_why(
    hub: Hub, tmp_path: Path, options: dict[str, Any], words: str, status: str
) -> None:
    outcome = play(hub, tmp_path, **options)
    assert outcome.jobs["gate"] == ["success"]
    assert {"plan", "list", "collect"}.isdisjoint(outcome.jobs)
    assert outcome.rows == []
    assert words in outcome.log
    assert outcome.jobs["sweep-status"] == [status]


@pytest.mark.nightly
def test_rows_beyond_one_matrix_are_two_shards(hub: Hub, tmp_path: Path) -> None:
    """The limit is four rows here; tests/matrix checks the default limit of 256."""
    master = (ROOT / "configs/nvidia-master.yaml").read_text() + WIDE.format(conc=[1, 2, 3, 4, 5, 6])
    hub.push("main", {"configs/policy.yaml": make_policy(limits={"matrix-rows": 4})})
    files = {
        "perf-changelog.yaml": make_changelog("wide-fp8-h100-sglang"),
        "configs/nvidia-master.yaml": master,
    }
    outcome = play(hub, tmp_path, labels=("full-sweep-enabled",), files=files)
    assert outcome.code == 0, outcome.log[-3000:]
    index = json.loads(outcome.read_artifact("sweep-plan")["index.json"])
    assert (index["rows"], index["shards"]) == (6, 2)
    assert len(outcome.rows) == len(set(outcome.rows)) == 6
    assert outcome.jobs["list"] == ["success"] * 3  # for the canary and for two shards
    assert len(json.loads(outcome.read_artifact("results_bmk")["agg_bmk.json"])) == 6
