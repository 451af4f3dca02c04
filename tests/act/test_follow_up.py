"""Run a follow-up sweep: only the failed row runs again, and the union is published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infx.hub.hub import Hub
from infx.hub.state import Pull
from tests.act.bench import ROW_COMMAND, SMALL, make_changelog, make_payload, make_policy
from tests.act.harness import Act, Outcome

FIRST, SECOND = 700, 701


@pytest.fixture
def pull(hub: Hub) -> Pull:
    hub.push("main", {"configs/policy.yaml": make_policy(sweep={"row-command": ROW_COMMAND})})
    hub.push("feat-x", {"perf-changelog.yaml": make_changelog(SMALL)}, start="main")
    pull = hub.open_pull("feat-x")
    hub.label(pull.number, "full-sweep-enabled", by="mia")
    hub.compute_merge(pull)
    return pull


def dispatch(hub: Hub, folder: Path, pull: Pull, run_id: int, **more: str) -> Outcome:
    inputs = {"pr": str(pull.number), "head-ref": pull.head_sha, **more}
    event = make_payload(hub, inputs=inputs, workflow=".github/workflows/run-sweep.yml")
    return Act(hub, folder).run("run-sweep.yml", "workflow_dispatch", event, run_id=run_id)


def store(hub: Hub, pull: Pull, outcome: Outcome, failed: str) -> None:
    """Store what GitHub would know about the sweep, as a run of the pull request in which a row has failed."""
    hub.add_run(run_id=FIRST, pull=pull.number)
    for name in outcome.rows:
        is_failed = name.startswith(failed)
        hub.add_job(
            FIRST, f"sweep / rows (0) / row / {name}", conclusion="failure" if is_failed else "success"
        )
    for name in outcome.uploaded:
        if name.startswith(("bmk_", "eval_")) and not name.endswith(failed):
            hub.add_artifact(FIRST, name, outcome.read_artifact(name))
    hub.finish_run(FIRST, "failure")
    hub.add_run(run_id=SECOND, branch="main", event="workflow_dispatch")


@pytest.mark.nightly
def test_a_follow_up_runs_the_failed_row_and_publishes_the_union(
    hub: Hub, pull: Pull, tmp_path: Path
) -> None:
    first = dispatch(hub, tmp_path / "first", pull, FIRST)
    assert first.code == 0, first.log[-3000:]
    failed = min(name.split(" ")[0] for name in first.rows)
    store(hub, pull, first, failed)

    second = dispatch(hub, tmp_path / "second", pull, SECOND, complete=str(FIRST))
    assert second.code == 0, second.log[-3000:]
    assert [name.split(" ")[0] for name in second.rows] == [failed]
    assert second.jobs["sweep-status"] == ["success"]
    assert "## Sweep: 3 of 3 rows" in "\n".join(second.summaries)
    lines = [
        json.loads(line)
        for name in ("results_bmk", "eval_results_all")
        for line in second.read_artifact(name)["origins.jsonl"].splitlines()
    ]
    assert {line["row_id"]: line["run"] for line in lines} == {
        name.split(" ")[0]: SECOND if name.startswith(failed) else FIRST for name in first.rows
    }
