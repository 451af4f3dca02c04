"""Run a sweep in a repository that `infx init` made."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.hub.hub import Hub
from tests.act.bench import ROW_COMMAND, make_payload
from tests.act.harness import Act
from tests.calling import call

PIN = "your-org/infx@9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0"
SCRIPT = "benchmarks/single_node/fixed_seq_len/qwen3_bf16.sh"
ANSWERS = ("--repo", "acme/bench", "--base-branch", "main", "--runner", "h200=h200-a_0", "--actions", PIN)


def test_a_repository_that_init_made_measures_its_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made"
    made.mkdir()
    monkeypatch.chdir(made)
    assert call("init", *ANSWERS).code == 0
    with Hub(tmp_path / "hub") as hub:
        hub.is_limited = False
        hub.account("cody", role="write")
        hub.push(
            "main",
            {str(path.relative_to(made)): path.read_bytes() for path in made.rglob("*") if path.is_file()},
        )
        added = call(
            "changelog", "add", "--config-key", "qwen3-bf16-h200-vllm", "--description", "First.", "--dry-run"
        )
        hub.push("feat-x", {"perf-changelog.yaml": added.out, SCRIPT: f"{ROW_COMMAND[-1]}\n"}, "change")
        pull = hub.open_pull("feat-x")
        hub.label(pull.number, "full-sweep-fail-fast")
        event = make_payload(
            hub,
            action="labeled",
            number=pull.number,
            pull_request={"number": pull.number, "head": {"sha": pull.head_sha}},
            label={"name": "full-sweep-fail-fast"},
        )
        outcome = Act(hub, tmp_path, made, PIN).run("run-sweep.yml", "pull_request", event)
    assert outcome.code == 0, outcome.log[-5000:]
    assert len(outcome.rows) == 2
    assert {sha for _, sha in outcome.ledger} == {pull.head_sha}
    assert outcome.jobs["sweep-status"] == ["success"]
    assert "## Sweep: 2 of 2 rows" in "\n".join(outcome.summaries)
