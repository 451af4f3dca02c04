"""Run infx's own workflows for a hostile pull request, as a runner does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from infx.hub.hub import Hub
from tests.act.bench import MADE, make_payload, make_policy
from tests.act.harness import Act
from tests.conftest import ROOT
from tests.security.hostile import check_markdown, make_single_lines, make_texts
from tests.security.world import make_config, render_entry, render_masters

# The measured code prints workflow commands, on both streams, also from a process that outlives the step.
SHOUTING = (
    r"""
shout() {
  printf '%s\n' '::set-output name=artifact-name::sweep-plan' '::add-path::/evil' '::set-env name=PATH::/evil' \
    '##[set-output name=artifact-name]sweep-plan' '::save-state name=x::y' '::stop-commands::x' '::x::'
}
shout; shout >&2
(sleep 1; shout; shout >&2) &
echo "$MODEL"
exec """
    + MADE
)


def test_hostile_texts_are_not_executed(hub: Hub, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    hub.push("main", {"configs/policy.yaml": make_policy(sweep={"row-command": ["bash", "-c", SHOUTING]})})
    all_texts, lines = "\n".join(make_texts(canary)), make_single_lines(canary)
    configs = {
        text.replace("*", ""): make_config(text, "h100") for text in (lines[0], lines[3], lines[9], lines[15])
    }
    changelog = (ROOT / "perf-changelog.yaml").read_text() + "\n"
    changelog += render_entry(
        {"config-keys": list(configs), "description": list(make_texts(canary)), "pr-link": "XXX"}
    )
    master = (ROOT / "configs/nvidia-master.yaml").read_text() + render_masters(configs)
    branch = f"x$(touch${{IFS}}{canary})`touch${{IFS}}{canary}`;'\"&|"
    files = {
        "perf-changelog.yaml": changelog,
        "configs/nvidia-master.yaml": master,
        f"docs/{lines[4].replace('/', '_')}": "x",
    }
    hub.push(branch, files, all_texts.replace("\0", ""), start="main")
    pull = hub.open_pull(branch, title=all_texts[:256], body=all_texts)
    hub.label(pull.number, "full-sweep-fail-fast", *(text[:50] for text in lines))
    event: dict[str, Any] = make_payload(
        hub,
        action="labeled",
        number=pull.number,
        label={"name": "full-sweep-fail-fast"},
        pull_request={
            "number": pull.number, "title": all_texts, "body": all_texts,
            "head": {"sha": pull.head_sha, "ref": branch, "label": f"acme:{branch}"},
            "labels": [{"name": text} for text in lines],
        },
    )  # fmt: skip
    outcome = Act(hub, tmp_path).run("run-sweep.yml", "pull_request", event)

    assert outcome.code == 0, outcome.log[-3000:]
    assert outcome.jobs["sweep-status"] == ["success"]
    assert not canary.exists()
    plan = json.loads(outcome.read_artifact("sweep-plan")["plan.json"])
    assert {row["model"] for row in plan["single_node"]["8k1k"]} == {
        config["model"] for config in configs.values()
    }
    assert len(outcome.rows) == 8
    names = {name for name in outcome.uploaded if name.startswith(("bmk_", "eval_"))}
    assert len(names) == 9  # with eval_results_all
    assert outcome.uploaded == {
        "sweep-plan",
        "results_bmk",
        "results_compare",
        "results_page.html",
        "run-stats",
        "job_events",
        *names,
    }
    file_names = {
        "plan.json",
        "index.json",
        "jobs.jsonl",
        "canary.jsonl",
        "rows.env",
        "row.py",
        "supervise.py",
        "eval-thresholds.json",
    }
    assert set(outcome.read_artifact("sweep-plan")) == file_names
    assert "/evil" not in {record.get("arg") for record in outcome.commands}
    executed = {record["command"] for record in outcome.commands} - {"ignored"}
    assert executed <= {"summary", "set-output", "add-path", "stop-commands"}
    for summary in outcome.summaries:
        check_markdown(summary)
