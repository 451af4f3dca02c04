"""The repository's own workflows from an event to a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infx.hub.hub import Hub
from tests.act.bench import changelog, payload
from tests.act.harness import Act, Outcome
from tests.conftest import ROOT

WIDE = """
wide-fp8-h100-sglang:
  image: lmsysorg/sglang:v0.5.16
  model: acme/wide
  model-prefix: wide
  runner: h100
  precision: fp8
  framework: sglang
  multinode: false
  scenarios:
    fixed-seq-len:
      - isl: 1024
        osl: 1024
        search-space:
          - {{tp: 8, conc-list: {conc}}}
"""


def play(
    hub: Hub,
    folder: Path,
    *,
    files: dict[str, str] | None = None,
    labels: tuple[str, ...] = (),
    action: str = "labeled",
    label: str | None = None,
    message: str = "change",
    repository: str | None = None,
) -> Outcome:
    """A pull request with these labels, and the run that one event about it starts."""
    pushed = {"perf-changelog.yaml": changelog()} if files is None else files
    hub.push("feat-x", pushed, message, repository=repository)
    pull = hub.open_pull("feat-x", repository=repository)
    hub.label(pull.number, *labels)
    hub.add_run("run-sweep.yml", pull=pull.number, run_id=700)
    event = payload(
        hub,
        action=action,
        number=pull.number,
        pull_request={"number": pull.number, "head": {"sha": pull.head_sha}},
    )
    if label or labels:
        event["label"] = {"name": label or labels[0]}
    return Act(hub, folder).run("run-sweep.yml", "pull_request", event)


def test_a_labelled_pull_request_is_measured(hub: Hub, tmp_path: Path) -> None:
    """Scene B's key: 14 rows, and one accuracy row for each of TP4, TEP4 and DEP4."""
    outcome = play(hub, tmp_path, labels=("full-sweep-fail-fast",))
    assert outcome.code == 0, outcome.log[-3000:]
    index = json.loads(outcome.artifact("sweep-plan")["index.json"])
    assert (index["rows"], index["shards"]) == (17, 1)
    names = outcome.rows
    assert len(names) == 17
    assert [name for name in names if " · canary · " in name] == [names[0]]
    assert names[0].startswith(index["canary"])
    published = json.loads(outcome.artifact("results_bmk")["agg_bmk.json"])
    assert len(published) == 14
    assert {"bmk_agentic_", "eval_"} == {
        prefix for prefix in ("bmk_agentic_", "eval_") for n in outcome.uploaded if n.startswith(prefix)
    }
    assert outcome.jobs["sweep-status"] == ["success"]
    summary = "\n".join(outcome.summaries)
    assert "A sweep starts" in summary
    assert "## Plan" in summary


@pytest.mark.parametrize(
    ("given", "words", "status"),
    [
        ({"action": "opened"}, "the PR has no label that starts one", "success"),
        (
            {"labels": ("full-sweep-fail-fast", "full-sweep-enabled")},
            "the PR has both full-sweep-enabled and full-sweep-fail-fast",
            "failure",
        ),
        (
            {"labels": ("full-sweep-fail-fast", "documentation"), "label": "documentation"},
            "the label documentation neither starts nor changes a sweep",
            "success",
        ),
        (
            {"labels": ("full-sweep-enabled",), "message": "Tidy [skip-sweep]"},
            "the head commit says [skip-sweep] in the subject",
            "success",
        ),
        (
            {"labels": ("full-sweep-enabled",), "files": {"README.md": "x"}},
            "it leaves perf-changelog.yaml alone",
            "success",
        ),
        (
            {"labels": ("full-sweep-enabled",), "repository": "eve/bench"},
            "the PR comes from a fork, and nobody has approved its head",
            "success",
        ),
    ],
    ids=["unlabelled", "conflicting labels", "unrelated label", "skip marker", "no entry", "fork"],
)
def test_nothing_runs_and_the_run_says_why(
    hub: Hub, tmp_path: Path, given: dict[str, Any], words: str, status: str
) -> None:
    outcome = play(hub, tmp_path, **given)
    assert outcome.jobs["gate"] == ["success"]
    assert {"plan", "list", "collect"}.isdisjoint(outcome.jobs)
    assert outcome.rows == []
    assert words in outcome.log
    assert outcome.jobs["sweep-status"] == [status]


def test_three_hundred_rows_are_two_shards(hub: Hub, tmp_path: Path) -> None:
    master = (ROOT / "configs/nvidia-master.yaml").read_text() + WIDE.format(conc=list(range(1, 301)))
    files = {"perf-changelog.yaml": changelog("wide-fp8-h100-sglang"), "configs/nvidia-master.yaml": master}
    outcome = play(hub, tmp_path, labels=("full-sweep-enabled",), files=files)
    assert outcome.code == 0, outcome.log[-3000:]
    assert len(outcome.rows) == len(set(outcome.rows)) == 300
    assert outcome.jobs["list"] == ["success"] * 3  # the canary's and two shards'
    assert len(json.loads(outcome.artifact("results_bmk")["agg_bmk.json"])) == 300
