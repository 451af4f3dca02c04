"""Shadow mode: the commands of docs/shadow.md write nothing, and its workflow can only read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infx import yaml12
from infx.git import Git
from infx.hub import Hub
from infx.hub.seed import add_people, seed
from tests.calling import call
from tests.conftest import ROOT

PAGE = (ROOT / "docs/shadow.md").read_text(encoding="utf-8")
COMMANDS = re.findall(
    r"^infx ([^#\n]+?) *#",
    PAGE.partition("<!-- shadow commands -->\n")[2].partition("```\n\n")[0],
    re.MULTILINE,
)
PULLS = ("11", "12", "13", "14")  # the pull requests of `infx hub serve`, each with another problem


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with Hub(tmp_path_factory.mktemp("hub")) as hub:
        add_people(hub)
        seed(hub)
        yield hub


def test_the_page_lists_commands() -> None:
    assert len(COMMANDS) >= 9
    assert {"reconcile --all --dry-run", "config check", "explain --pr 77"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_shadow_mode_writes_nothing(
    command: str, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its token can only read, so a write would fail too; both ends of it are counted."""
    git = Git(tmp_path)
    git.run("clone", "--quiet", str(hub.git.path), "clone")
    monkeypatch.chdir(tmp_path / "clone")
    readable = ("contents", "pull-requests", "actions", "statuses", "checks")
    for name, value in hub.environ(hub.workflow_token(dict.fromkeys(readable, "read"))).items():
        monkeypatch.setenv(name, value)
    writes, refs = hub.writes, Git(hub.git.path).run("for-each-ref", "refs/heads")
    for number in PULLS if "77" in command else PULLS[:1]:
        called = call(*shlex.split(command.replace("77", number)))
        assert called.code in {0, 1}, called.err  # 1: it found problems
    assert hub.writes == writes
    assert Git(hub.git.path).run("for-each-ref", "refs/heads") == refs
    assert Git(tmp_path / "clone").run("status", "--porcelain") == b""


def load(name: str) -> Any:
    return yaml12.load((ROOT / ".github/workflows" / name).read_bytes(), name).value


SHADOW = load("shadow.yml")
STEPS = [step for job in SHADOW["jobs"].values() for step in job["steps"]]


def test_no_job_of_the_workflow_can_write_or_knows_a_secret() -> None:
    assert SHADOW["permissions"] == {}
    for job in SHADOW["jobs"].values():
        assert set(job["permissions"].values()) == {"read"}
        assert "environment" not in job
    assert "secrets." not in (ROOT / ".github/workflows/shadow.yml").read_text()


def test_no_check_fails_a_run_of_the_workflow() -> None:
    checks = [step for step in STEPS if not step.get("uses", "").startswith("actions/checkout@")]
    assert len(checks) >= 5
    assert all(step["continue-on-error"] is True for step in checks)


def test_the_workflow_asks_the_gate_at_the_events_of_a_sweep() -> None:
    assert SHADOW["on"]["pull_request"] == load("run-sweep.yml")["on"]["pull_request"]


def test_its_reconcile_is_a_dry_run() -> None:
    (inputs,) = [step["with"] for step in STEPS if step.get("uses", "").endswith("/reconcile")]
    assert inputs["dry-run"] == "true"


def test_the_page_names_every_check_of_the_workflow() -> None:
    names = [step["name"] for step in STEPS if "name" in step]
    assert [name for name in names if f"| {name} |" not in PAGE] == []
