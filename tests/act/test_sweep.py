"""The repository's own workflows from an event to a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.hub.hub import Hub
from tests.act.harness import ROOT, Act

KEY = "dsv41flash-fp4-b300-vllm-agentic-dspark"
ENTRY = """
- config-keys:
    - {key}
  description:
    - "Measure it anew"
  pr-link: https://github.com/acme/bench/pull/XXX
"""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with Hub(tmp_path / "hub") as hub:
        hub.is_limited = False
        hub.account("cody", role="write")
        hub.push("main", {str(path.relative_to(ROOT)): path.read_bytes() for path in _files()})
        yield hub


def _files() -> list[Path]:
    return [*(path for path in (ROOT / "configs").rglob("*") if path.is_file()), ROOT / "perf-changelog.yaml"]


def test_a_labelled_pull_request_is_measured(hub: Hub, tmp_path: Path) -> None:
    changelog = (ROOT / "perf-changelog.yaml").read_text() + ENTRY.format(key=KEY)
    hub.push("feat-x", {"perf-changelog.yaml": changelog})
    pull = hub.open_pull("feat-x", by="cody")
    hub.label(pull.number, "full-sweep-fail-fast")
    hub.add_run("run-sweep.yml", pull=pull.number, run_id=700)
    event = {
        "action": "labeled",
        "number": pull.number,
        "label": {"name": "full-sweep-fail-fast"},
        "pull_request": {"number": pull.number, "head": {"sha": pull.head_sha}},
        "sender": {"login": "cody"},
        "repository": {"full_name": "acme/bench", "default_branch": "main"},
    }
    outcome = Act(hub, tmp_path).run("run-sweep.yml", "pull_request", event)
    print(outcome.log[-6000:])
    print(outcome.jobs)
    assert outcome.code == 0
