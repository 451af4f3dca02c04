"""Re-run rows alone, with the decisions of the first attempt."""

from __future__ import annotations

from pathlib import Path

from infx.hub.hub import Hub
from tests.act.bench import ROW_COMMAND, SMALL, make_changelog, make_payload, make_policy
from tests.act.harness import Act


def test_a_row_of_a_later_attempt_asks_the_gate_first(hub: Hub, tmp_path: Path) -> None:
    base = hub.push("main", {"configs/policy.yaml": make_policy(sweep={"row-command": ROW_COMMAND})})
    hub.push("feat-x", {"perf-changelog.yaml": make_changelog(SMALL)})
    pull = hub.open_pull("feat-x")
    hub.label(pull.number, "sweep-enabled", "evals-only")  # two rows
    event = make_payload(
        hub,
        action="labeled",
        label={"name": "sweep-enabled"},
        number=pull.number,
        pull_request={"number": pull.number, "head": {"sha": pull.head_sha}},
    )
    act = Act(hub, tmp_path)
    first = act.run("run-sweep.yml", "pull_request", event)
    assert (first.code, len(first.rows), len(first.ledger)) == (0, 2, 2), first.log[-3000:]

    inputs = {"canary": "false", "shard": 0, "without": "", "base-sha": base, "fail-fast": "false"}
    inputs["sums"] = first.output("sums")
    event["inputs"] = {**inputs, "head-sha": pull.head_sha, "measured-sha": pull.head_sha}
    again = act.run("benchmark.yml", "workflow_call", event, attempt=2, called_by="pull_request")
    assert (again.code, sorted(again.rows), len(again.ledger)) == (0, sorted(first.rows), 4), again.log[
        -3000:
    ]

    hub.unlabel(pull.number, "sweep-enabled")
    refused = act.run("benchmark.yml", "workflow_call", event, attempt=3, called_by="pull_request")
    assert refused.code != 0
    assert {result for name in refused.rows for result in refused.jobs[name]} == {"failure"}
    assert len(refused.rows) == 2
    assert len(refused.ledger) == 4, "no row's command was started"
    words = (
        "This row may not run again: pull request {} has 0 labels that start a sweep; exactly one must be on."
    )
    assert words.format(pull.number) in refused.log
