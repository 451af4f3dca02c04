"""Run the workflow of shadow mode: it answers for each event and each night, and the hub is as it was before."""

from __future__ import annotations

from pathlib import Path

from infx.hub import Hub
from tests.act.bench import make_changelog, make_payload
from tests.act.harness import Act


def test_shadow_mode_answers_and_writes_nothing(hub: Hub, tmp_path: Path) -> None:
    """The entry has an unknown key: that fails no run, because infx must not block pull requests yet."""
    hub.push("feat-x", {"perf-changelog.yaml": make_changelog("no-such-key")})
    pull = hub.open_pull("feat-x", title="Measure again")
    hub.label(pull.number, "full-sweep-enabled")
    labeled = next(event for event in reversed(hub.state.events) if event.action == "labeled")
    act, start = Act(hub, tmp_path), hub.writes
    played = act.play("shadow.yml", labeled)
    assert played.jobs["pull-request"] == ["success"], played.log[-3000:]
    assert "### A sweep starts" in played.summaries[0]
    assert "no-such-key" in played.summaries[-1]
    nightly = act.run("shadow.yml", "schedule", make_payload(hub, schedule="47 4 * * *"), run_id=701)
    assert nightly.jobs["repository"] == ["success"], nightly.log[-3000:]
    summary = nightly.summaries[-1]
    assert summary.startswith("### What would change (nothing was written)\n")
    assert "PR 1: create the greeting comment" in summary
    assert hub.writes == start
    assert hub.comments_of(pull.number) == []
