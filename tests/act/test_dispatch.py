"""Sweeps that no event of a pull request starts: an approved fork, two revisions, a command, a merge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infx.hub.hub import Hub
from tests.act.bench import KEY, ROW_COMMAND, SMALL, changelog, payload, policy
from tests.act.harness import Act, Outcome


@pytest.fixture(autouse=True)
def _policy(hub: Hub) -> None:
    sweep = {"row-command": ROW_COMMAND}
    hub.push("main", {"configs/policy.yaml": policy(sweep=sweep)})


def dispatch(
    hub: Hub, folder: Path, inputs: dict[str, str], *, by: str = "cody", run_id: int = 700
) -> Outcome:
    event = payload(hub, inputs=inputs, workflow=".github/workflows/run-sweep.yml")
    event["sender"] = {"login": by}
    return Act(hub, folder).run("run-sweep.yml", "workflow_dispatch", event, run_id=run_id)


def tip(hub: Hub, branch: str) -> str:
    return hub.git.resolve(f"refs/heads/{branch}") or ""


def plan_of(outcome: Outcome) -> Any:
    return json.loads(outcome.artifact("sweep-plan")["plan.json"])


def check_measured(outcome: Outcome, rows: int, revision: str) -> None:
    """Every planned row was started once, in this revision and no other, and came back."""
    assert outcome.code == 0, outcome.log[-3000:]
    assert outcome.jobs["sweep-status"] == ["success"]
    assert len(outcome.rows) == rows
    assert sorted(row for row, _ in outcome.ledger) == sorted(name.split(" ")[0] for name in outcome.rows)
    assert {found for _, found in outcome.ledger} == {revision}
    assert f"## Sweep: {rows} of {rows} rows" in "\n".join(outcome.summaries)


def test_a_fork_is_approved_and_its_test_merge_is_measured(hub: Hub, tmp_path: Path) -> None:
    """From the comment on: the dispatch that it makes is the one that runs."""
    hub.account("eve", role="read")
    hub.push("patch", {"perf-changelog.yaml": changelog()}, by="eve", repository="eve/bench", start="main")
    pull = hub.open_pull("patch", by="eve", repository="eve/bench")
    hub.label(pull.number, "sweep-enabled", "evals-only", by="mia")
    hub.push("main", {"docs.md": "main goes on"})
    hub.compute_merge(pull)
    comment = hub.comment(pull.number, f"/approve-sweep {pull.head_sha}", by="mia")
    issue = {"number": pull.number, "pull_request": {}}
    said = payload(hub, action="created", issue=issue, comment={"id": comment.id, "body": comment.body})
    approved = Act(hub, tmp_path / "approve").run("approve-fork.yml", "issue_comment", said)
    assert approved.jobs == {"approve": ["success"]}, approved.log[-3000:]
    run = max(hub.state.runs.values(), key=lambda run: run.id)
    assert run.event == "workflow_dispatch"
    assert run.inputs["merge-sha"] == pull.merge_sha

    outcome = dispatch(hub, tmp_path, run.inputs, by="github-actions[bot]", run_id=run.id)
    check_measured(outcome, 3, pull.merge_sha or "")
    plan = plan_of(outcome)
    assert (plan["single_node"].get("agentic", []), len(plan["agentic_evals"])) == (
        [],
        3,
    )  # as its labels say
    assert plan["changelog_metadata"]["head_ref"] == pull.head_sha
    assert plan["changelog_metadata"]["base_ref"] == hub.git.merge_base("refs/heads/main", pull.head_sha)


def test_two_revisions_go_as_the_inputs_say(hub: Hub, tmp_path: Path) -> None:
    """The base is the one that is named, not main, which has the entry already."""
    before = tip(hub, "main")
    after = hub.push("main", {"perf-changelog.yaml": changelog()})
    hub.push("main", {"docs.md": "main goes on"})
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


def test_a_command_says_its_rows_itself(hub: Hub, tmp_path: Path) -> None:
    hub.push("feat-x", {"docs.md": "x"}, start="main")
    inputs = {
        "command": f"test-config --config-key {KEY} --conc 64 --no-evals",
        "head-ref": "feat-x",
        "fail-fast": "true",
    }
    outcome = dispatch(hub, tmp_path, inputs)
    check_measured(outcome, 3, tip(hub, "feat-x"))


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"command": "full-sweep; touch canary"}, "must start with full-sweep or test-config"),
        ({"command": "full-sweep --conc 4", "base-ref": "main"}, "must give either a command, or base-ref"),
        ({"base-ref": "main", "head-ref": "$(touch canary)"}, "there is no commit $(touch canary)"),
    ],
)
def test_other_inputs_are_refused_aloud(hub: Hub, tmp_path: Path, inputs: dict[str, str], words: str) -> None:
    outcome = dispatch(hub, tmp_path, inputs)
    assert words in outcome.log
    assert outcome.jobs["sweep-status"] == ["failure"]
    assert {"plan", "stop"}.isdisjoint(outcome.jobs)
    assert not list(tmp_path.rglob("canary"))


def test_a_merge_starts_no_sweep(hub: Hub, tmp_path: Path) -> None:
    before = tip(hub, "main")
    link = changelog(SMALL).replace("XXX", "77")
    after = hub.push("main", {"perf-changelog.yaml": link}, "Merge")
    event = payload(hub, ref="refs/heads/main", before=before, after=after)
    outcome = Act(hub, tmp_path).run("run-sweep.yml", "push", event)
    assert outcome.code == 0, outcome.log[-3000:]
    assert outcome.jobs["sweep-status"] == ["success"]
    assert "plan" not in outcome.jobs
