"""Publish a merge, and show a sweep before the merge, with the permissions of the workflows' jobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infx.bench.family import family_of
from infx.bench.identity import identify_rows
from infx.evidence.rows import FULL
from infx.gather.plan import Planner
from infx.git import Git
from infx.hub.hub import Hub
from infx.policy.load import parse_policy
from infx.store.open import open_store
from tests.act.bench import SMALL, make_changelog, make_policy
from tests.act.harness import Act
from tests.publish.world import upload_results

TARGET = "acme/app"


@pytest.fixture
def policy(hub: Hub) -> str:
    """Let a policy apply that sweeps merges and names a target."""
    publish = {"target": TARGET, "stage": {"target": TARGET}}
    text = make_policy(publish=publish) + "on-merge: reuse-or-sweep\n"
    hub.push("main", {"configs/policy.yaml": text})
    hub.add_neighbor(TARGET)
    return text


def test_a_merge_is_stored_and_sent(hub: Hub, policy: str, tmp_path: Path) -> None:
    hub.push("feat-x", {"perf-changelog.yaml": make_changelog(SMALL)}, start="main")
    pull = hub.open_pull("feat-x")
    before = hub.tip("main")
    hub.merge_pull(pull.number, method="squash")
    push = [event for event in hub.state.events if event.name == "push"][-1]
    sha = hub.tip("main")
    Git(tmp_path).run("clone", "--quiet", str(hub.git.path), str(tmp_path / "clone"))
    git = Git(tmp_path / "clone")
    planner = Planner(git, parse_policy(policy.encode(), "policy.yaml"))
    rows = identify_rows(planner.open(before, sha).rows(FULL))
    run = hub.add_run(event="push", branch="main", head_sha=sha)
    for row in rows:
        name = f"sweep / rows (0) / row / {row.id} · {family_of(row.row)} · {row.recipe.runner} · {row.text}"
        hub.add_job(run.id, name)
    upload_results(hub, run.id, [row.row for row in rows])
    hub.finish_run(run.id, "success")
    outcome = Act(hub, tmp_path).play("publish.yml", push, variables={"INFX_TARGET_APP_ID": "1"})
    assert outcome.code == 0, outcome.log[-3000:]
    assert outcome.jobs == {"validate": ["success"], "deliver": ["success"]}
    assert outcome.uploaded == {"publish", "changelog-metadata"}
    metadata = json.loads(outcome.read_artifact("changelog-metadata")["changelog_metadata.json"])
    assert [entry["config-keys"] for entry in metadata["entries"]] == [[SMALL]]
    store = open_store("branch:infx-results", git, author="github-actions[bot]")
    (summary,) = store.list_publications()
    assert (summary.run, summary.commit, summary.row_count) == (run.id, sha, 1)
    ((name, payload, _),) = hub.state.neighbors[TARGET]
    assert (name, payload["source-run-id"], payload["merge-run-id"]) == (
        "ingest-agentic-results", str(run.id), "700",
    )  # fmt: skip
    status = [status for status in hub.state.statuses if status.context == "infx/published"][-1]
    assert (status.sha, status.state) == (sha, "success")


def test_a_comment_shows_a_sweep(hub: Hub, policy: str, tmp_path: Path) -> None:
    hub.push("feat-x", {"perf-changelog.yaml": make_changelog(SMALL)}, start="main")
    pull = hub.open_pull("feat-x")
    hub.label(pull.number, "full-sweep-fail-fast", by="mia")
    run = hub.add_run(pull=pull.number)
    for name in ("sweep-plan", "results_bmk"):
        hub.add_artifact(run.id, name, {"x.json": "[]"})
    hub.finish_run(run.id, "success")
    comment = hub.comment(pull.number, "/stage-results", by="cody")
    event = next(event for event in reversed(hub.state.events) if event.name == "issue_comment")
    outcome = Act(hub, tmp_path).play("stage.yml", event, variables={"INFX_TARGET_APP_ID": "1"})
    assert outcome.code == 0, outcome.log[-3000:]
    ((name, payload, _),) = hub.state.neighbors[TARGET]
    assert (name, payload["run-id"], payload["comment-id"]) == ("stage-results", str(run.id), str(comment.id))
    answer = hub.comments_of(pull.number)[-1]
    assert answer.author == "github-actions[bot]"
    assert "<!-- sent " in (answer.body or "")
