"""A row of the pull request's code replaces the plan of its run, which any job of a run can do."""

from __future__ import annotations

from pathlib import Path

from infx.hub.hub import Hub
from tests.act.bench import MADE, SMALL, make_changelog, make_payload, make_policy
from tests.act.harness import Act, Outcome

# Rows that end at the same time may take the file from under each other's `sed`.
REPLACE = 'sed -i s/bash/sh/ "$ARTIFACTS/sweep-plan/rows.env" || true'
REFUSED = "sha256sum: WARNING: 1 computed checksum did NOT match"


def play(
    hub: Hub, folder: Path, script: str, *labels: str, key: str = SMALL
) -> tuple[Act, Outcome, dict[str, object]]:
    """Run a sweep whose row command is a script; also return the event that started it."""
    command = ["bash", "-c", f'echo "$ROW_ID $(cat HEAD)" >> "$LEDGER"; {script}']
    hub.push("main", {"configs/policy.yaml": make_policy(sweep={"row-command": command})})
    hub.push("feat-x", {"perf-changelog.yaml": make_changelog(key)})
    pull = hub.open_pull("feat-x")
    hub.label(pull.number, *labels)
    event = make_payload(
        hub,
        action="labeled",
        label={"name": labels[0]},
        number=pull.number,
        pull_request={"number": pull.number, "head": {"sha": pull.head_sha}},
    )
    act = Act(hub, folder)
    return act, act.run("run-sweep.yml", "pull_request", event), event


def test_a_later_row_refuses(hub: Hub, tmp_path: Path) -> None:
    """Few jobs run at a time, so most of the 17 rows start after the first has replaced the plan."""
    label = "non-canary-full-sweep-enabled"
    _, outcome, _ = play(
        hub, tmp_path, f"{MADE}; {REPLACE}", label, key="dsv41flash-fp4-b300-vllm-agentic-dspark"
    )
    results = [result for name in outcome.rows for result in outcome.jobs[name]]
    assert len(results) == 17
    assert 0 < len(outcome.ledger) < 17
    assert results.count("success") <= len(outcome.ledger)  # no row is green without its command
    assert REFUSED in outcome.log


def test_collect_refuses(hub: Hub, tmp_path: Path) -> None:
    """Both rows wait for each other, so that both have the right plan and are green."""
    wait = 'until [ "$(wc -l < "$LEDGER")" -ge 2 ]; do sleep 0.05; done'
    _, outcome, _ = play(hub, tmp_path, f"{wait}; {MADE}; {REPLACE}", "sweep-enabled", "evals-only")
    assert {result for name in outcome.rows for result in outcome.jobs[name]} == {"success"}
    assert len(outcome.ledger) == 2
    assert outcome.jobs["collect"] == ["failure"]
    assert REFUSED in outcome.log
    assert "results_bmk" not in outcome.uploaded
    assert "eval_results_all" not in outcome.uploaded


def test_a_partial_re_run_refuses(hub: Hub, tmp_path: Path) -> None:
    """The sums are outputs of the first attempt's plan job, and no job of the run can change them."""
    act, first, event = play(hub, tmp_path, MADE, "sweep-enabled", "evals-only")
    assert (first.code, len(first.ledger)) == (0, 2), first.log[-3000:]
    common = first.artifacts / "sweep-plan/rows.env"
    common.write_text(common.read_text().replace("bash", "sh"))
    head = event["pull_request"]["head"]["sha"]  # type: ignore[index]
    inputs = {
        "canary": "false",
        "shard": 0,
        "without": "",
        "fail-fast": "false",
        "sums": first.output("sums"),
    }
    event["inputs"] = {
        **inputs,
        "base-sha": hub.git.resolve("refs/heads/main"),
        "head-sha": head,
        "measured-sha": head,
    }
    again = act.run("benchmark.yml", "workflow_call", event, attempt=2, called_by="pull_request")
    assert again.jobs == {"list": ["failure"]}
    assert REFUSED in again.log
    assert len(again.ledger) == 2, "no row's command was started"
