"""A hostile pull request through our own workflows, as the runner plays them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from infx.hub.hub import Hub
from tests.act.bench import payload, policy
from tests.act.harness import Act
from tests.conftest import ROOT
from tests.security.hostile import check_markdown, lines_of_text, texts
from tests.security.world import config, entry_text, masters

# The measured code says, on both streams and with a process that it leaves behind, what only a step of ours may say.
SHOUTING = r"""
shout() {
  printf '%s\n' '::set-output name=artifact-name::sweep-plan' '::add-path::/evil' '::set-env name=PATH::/evil' \
    '##[set-output name=artifact-name]sweep-plan' '::save-state name=x::y' '::stop-commands::x' '::x::'
}
shout; shout >&2
(sleep 1; shout; shout >&2) &
echo "$MODEL"
exec python -m infx.results.sample
"""


def test_texts_stay_texts(hub: Hub, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    hub.push("main", {"configs/policy.yaml": policy(sweep={"row-command": ["bash", "-c", SHOUTING]})})
    every, found = "\n".join(texts(canary)), lines_of_text(canary)
    configs = {
        text.replace("*", ""): config(text, "h100") for text in (found[0], found[3], found[9], found[15])
    }
    changelog = (ROOT / "perf-changelog.yaml").read_text() + "\n"
    changelog += entry_text(
        {"config-keys": list(configs), "description": list(texts(canary)), "pr-link": "XXX"}
    )
    master = (ROOT / "configs/nvidia-master.yaml").read_text() + masters(configs)
    branch = f"x$(touch${{IFS}}{canary})`touch${{IFS}}{canary}`;'\"&|"
    files = {
        "perf-changelog.yaml": changelog,
        "configs/nvidia-master.yaml": master,
        f"docs/{found[4].replace('/', '_')}": "x",
    }
    hub.push(branch, files, every.replace("\0", ""), start="main")
    pull = hub.open_pull(branch, title=every[:256], body=every)
    hub.label(pull.number, "full-sweep-fail-fast", *(text[:50] for text in found))
    event: dict[str, Any] = payload(
        hub,
        action="labeled",
        number=pull.number,
        label={"name": "full-sweep-fail-fast"},
        pull_request={
            "number": pull.number, "title": every, "body": every,
            "head": {"sha": pull.head_sha, "ref": branch, "label": f"acme:{branch}"},
            "labels": [{"name": text} for text in found],
        },
    )  # fmt: skip
    outcome = Act(hub, tmp_path).run("run-sweep.yml", "pull_request", event)

    assert outcome.code == 0, outcome.log[-3000:]
    assert outcome.jobs["sweep-status"] == ["success"]
    assert not canary.exists()
    plan = json.loads(outcome.artifact("sweep-plan")["plan.json"])
    assert {row["model"] for row in plan["single_node"]["8k1k"]} == {
        config["model"] for config in configs.values()
    }
    assert len(outcome.rows) == 8
    names = {name for name in outcome.uploaded if name.startswith(("bmk_", "eval_"))}
    assert len(names) == 9  # with eval_results_all
    assert outcome.uploaded == {"sweep-plan", "results_bmk", *names}
    file_names = {"plan.json", "index.json", "jobs.jsonl", "canary.jsonl", "row.json", "row.pyz"}
    assert set(outcome.artifact("sweep-plan")) == file_names
    assert "/evil" not in {record.get("arg") for record in outcome.commands}
    obeyed = {record["command"] for record in outcome.commands} - {"ignored"}
    assert obeyed <= {"summary", "set-output", "add-path", "stop-commands"}
    for summary in outcome.summaries:
        check_markdown(summary)
