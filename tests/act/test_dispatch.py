"""Run sweeps that are not started by a pull request event: an approved fork, two revisions, a command, a merge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infx.hub.hub import Hub
from tests.act.bench import KEY, ROW_COMMAND, SMALL, make_changelog, make_payload, make_policy
from tests.act.harness import Act, Outcome


@pytest.fixture(autouse=True)
def _policy(hub: Hub) -> None:
    sweep = {"row-command": ROW_COMMAND}
    hub.push("main", {"configs/policy.yaml": make_policy(sweep=sweep)})


def dispatch(
    hub: Hub, folder: Path, inputs: dict[str, str], *, by: str = "cody", run_id: int = 700
) -> Outcome:
    event = make_payload(hub, inputs=inputs, workflow=".github/workflows/run-sweep.yml")
    event["sender"] = {"login": by}
    return Act(hub, folder).run("run-sweep.yml", "workflow_dispatch", event, run_id=run_id)


def find_tip(hub: Hub, branch: str) -> str:
    return hub.git.resolve(f"refs/heads/{branch}") or ""


def read_plan(outcome: Outcome) -> Any:
    return json.loads(outcome.read_artifact("sweep-plan")["plan.json"])


def check_measured(outcome: Outcome, rows: int, revision: str) -> None:
    """Check that every planned row ran once, in this revision, and has a result."""
    assert outcome.code == 0, outcome.log[-3000:]
    assert outcome.jobs["sweep-status"] == ["success"]
    assert len(outcome.rows) == rows
    assert sorted(row for row, _ in outcome.ledger) == sorted(name.split(" ")[0] for name in outcome.rows)
    assert {row_revision for _, row_revision in outcome.ledger} == {revision}
    assert f"## Sweep: {rows} of {rows} rows" in "\n".join(outcome.summaries)


def test_a_fork_is_approved_and_its_test_merge_is_measured(hub: Hub, tmp_path: Path) -> None:
    """The comment dispatches a run, and this run measures the test merge."""
    hub.account("eve", role="read")
    hub.push(
        "patch", {"perf-changelog.yaml": make_changelog()}, by="eve", repository="eve/bench", start="main"
    )
    pull = hub.open_pull("patch", by="eve", repository="eve/bench")
    hub.label(pull.number, "sweep-enabled", "evals-only", by="mia")
    hub.push("main", {"docs.md": "main has changed"})
    hub.compute_merge(pull)
    comment = hub.comment(pull.number, f"/approve-sweep {pull.head_sha}", by="mia")
    issue = {"number": pull.number, "pull_request": {}}
    event = make_payload(hub, action="created", issue=issue, comment={"id": comment.id, "body": comment.body})
    approved = Act(hub, tmp_path / "approve").run("approve-fork.yml", "issue_comment", event)
    assert approved.jobs == {"approve": ["success"]}, approved.log[-3000:]
    run = max(hub.state.runs.values(), key=lambda run: run.id)
    assert run.event == "workflow_dispatch"
    assert run.inputs["merge-sha"] == pull.merge_sha

    outcome = dispatch(hub, tmp_path, run.inputs, by="github-actions[bot]", run_id=run.id)
    check_measured(outcome, 3, pull.merge_sha or "")
    plan = read_plan(outcome)
    assert (plan["single_node"].get("agentic", []), len(plan["agentic_evals"])) == (
        [],
        3,
    )  # the label evals-only
    assert plan["changelog_metadata"]["head_ref"] == pull.head_sha
    assert plan["changelog_metadata"]["base_ref"] == hub.git.merge_base("refs/heads/main", pull.head_sha)


@pytest.mark.nightly
def test_a_dispatch_measures_the_two_revisions_of_its_inputs(hub: Hub, tmp_path: Path) -> None:
    """The base is the named commit, not main, which already has the entry."""
    before = find_tip(hub, "main")
    after = hub.push("main", {"perf-changelog.yaml": make_changelog()})
    hub.push("main", {"docs.md": "main has changed"})
    inputs = {
        "base-ref": before,
        "head-ref": after,
        "trim": "true",
        "fail-fast": "true",
        "modifiers": "evals-only",
    }
    outcome = dispatch(hub, tmp_path, inputs)
    check_measured(outcome, 3, after)
    assert all(" agentic eval " in name for name in outcome.rows)


@pytest.mark.nightly
def test_a_dispatched_command_selects_the_rows(hub: Hub, tmp_path: Path) -> None:
    hub.push("feat-x", {"docs.md": "x"}, start="main")
    inputs = {
        "command": f"test-config --config-key {KEY} --conc 64 --no-evals",
        "head-ref": "feat-x",
        "fail-fast": "true",
    }
    outcome = dispatch(hub, tmp_path, inputs)
    check_measured(outcome, 3, find_tip(hub, "feat-x"))


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"command": "full-sweep; touch canary"}, "must start with full-sweep or test-config"),
        ({"command": "full-sweep --conc 4", "base-ref": "main"}, "must give either a command, or base-ref"),
        ({"base-ref": "main", "head-ref": "$(touch canary)"}, "there is no commit $(touch canary)"),
    ],
)
def test_other_inputs_are_refused_with_a_message(
    hub: Hub, tmp_path: Path, inputs: dict[str, str], words: str
) -> None:
    outcome = dispatch(hub, tmp_path, inputs)
    assert words in outcome.log
    assert outcome.jobs["sweep-status"] == ["failure"]
    assert {"plan", "stop"}.isdisjoint(outcome.jobs)
    assert not list(tmp_path.rglob("canary"))


def test_a_merge_starts_no_sweep(hub: Hub, tmp_path: Path) -> None:
    before = find_tip(hub, "main")
    link = make_changelog(SMALL).replace("XXX", "77")
    after = hub.push("main", {"perf-changelog.yaml": link}, "Merge")
    event = make_payload(hub, ref="refs/heads/main", before=before, after=after)
    outcome = Act(hub, tmp_path).run("run-sweep.yml", "push", event)
    assert outcome.code == 0, outcome.log[-3000:]
    assert outcome.jobs["sweep-status"] == ["success"]
    assert "plan" not in outcome.jobs
