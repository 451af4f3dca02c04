"""Run the workflow for a push to a pull request whose finished sweep someone asked to reuse."""

from __future__ import annotations

from pathlib import Path

from infx.hub.hub import Hub
from tests.act.bench import make_changelog
from tests.act.harness import Act


def test_a_reused_sweep_starts_no_row(hub: Hub, tmp_path: Path) -> None:
    """The gate's token may read all that the decision needs."""
    hub.push("feat-x", {"perf-changelog.yaml": make_changelog()}, "more")
    pull = hub.open_pull("feat-x")
    hub.label(pull.number, "full-sweep-fail-fast")
    hub.add_run("run-sweep.yml", pull=pull.number, run_id=650)
    hub.add_artifact(650, "results_bmk", {"agg_bmk.json": "[]"})
    hub.finish_run(650, "success")
    hub.comment(pull.number, "/use 650", by="cody")
    hub.push("feat-x", {"README.md": "words\n"}, "words")
    hub.add_run("run-sweep.yml", pull=pull.number, run_id=700)
    event = [event for event in hub.state.events if event.name == "pull_request"][-1]
    outcome = Act(hub, tmp_path).play("run-sweep.yml", event)
    assert outcome.code == 0, outcome.log[-3000:]
    assert outcome.output("reason") == "reused"
    assert outcome.output("reuse-source-run-id") == "650"
    assert outcome.rows == []
    assert outcome.jobs["sweep-status"] == ["success"]
    assert "the results of run 650 are reused, incomplete" in "\n".join(outcome.summaries)
