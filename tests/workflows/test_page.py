"""docs/workflows.md says of the workflows and actions what their files say, and shows what the command prints."""

from __future__ import annotations

import re
from typing import Any

from infx import yaml12
from infx.policy.load import default_policy
from infx.workflows.check import RULES, check_files
from tests.conftest import ROOT

PAGE = (ROOT / "docs/workflows.md").read_text(encoding="utf-8")
WORKFLOWS: dict[str, Any] = {
    path.name: yaml12.load(path.read_bytes(), path.name).value
    for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
}


def read_table(name: str) -> list[list[str]]:
    found = re.search(rf"<!-- table: {name} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    assert found is not None
    return [line.strip("| ").split(" | ") for line in found[1].splitlines()[2:]]


def say_permissions(workflow: Any) -> str:
    """What its jobs are granted together; of a scope, the most."""
    grants = {grant for job in workflow["jobs"].values() for grant in job["permissions"].items()}
    writes = sorted(scope for scope, level in grants if level == "write")
    reads = sorted(scope for scope, level in grants if level == "read" and scope not in writes)
    parts = [
        f"{level} {', '.join(scopes)}" for level, scopes in (("reads", reads), ("writes", writes)) if scopes
    ]
    return "; ".join(parts) or "none"


def test_every_workflow_stands_there_with_its_events_and_what_its_token_may() -> None:
    expected = [
        [
            f"[`{name}`](../.github/workflows/{name})",
            ", ".join(f"`{event}`" for event in workflow["on"]),
            say_permissions(workflow),
        ]
        for name, workflow in WORKFLOWS.items()
    ]
    rows = read_table("workflows")
    assert [row[:3] for row in rows] == expected
    assert all(row[3].endswith(".") for row in rows)


def test_every_rule_stands_there_once() -> None:
    """Its words are compared in test_check.py."""
    names = [row[0].strip("`") for row in read_table("rules")]
    assert len(set(names)) == len(names)
    assert set(names) == {rule.id for rule in RULES}


def test_every_action_is_named() -> None:
    """What goes in and out of each stands in docs/adopting.md."""
    section = PAGE.partition("\n## The actions\n")[2].partition("\n## ")[0]
    actions = {path.parent.name for path in (ROOT / ".github/actions").glob("*/action.yml")}
    assert set(re.findall(r"`([a-z]+)`", section)) == actions


def test_no_job_that_may_write_lays_out_a_pull_request_s_code() -> None:
    """The page's claim: every checkout of such a job is of the default branch."""
    default = "${{ github.event.repository.default_branch }}"
    writing = {
        name: job
        for workflow in WORKFLOWS.values()
        for name, job in workflow["jobs"].items()
        if "write" in job["permissions"].values()
    }
    assert set(writing) == {"again", "approve", "reconcile", "verify"}
    checkouts = [
        step
        for job in writing.values()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert {step["with"]["ref"] for step in checkouts} == {default}


def test_the_secrets_are_where_nothing_of_a_pull_request_runs() -> None:
    holders = [
        path.name for path in (ROOT / ".github/workflows").glob("*.yml") if "secrets." in path.read_text()
    ]
    assert holders == ["reconcile.yml"]


def test_the_example_is_what_the_command_prints() -> None:
    found = re.search(
        r"`(\.github/\S+\.yml)`\n\n```yaml\n(.*?)```\n.*?\$ infx workflows check\n(.*?)```", PAGE, re.DOTALL
    )
    assert found is not None
    path, source, printed = found.groups()
    problems = check_files({path: source.encode()}, default_policy())
    marks = {"warning": "warning: ", "error": ""}
    assert printed.splitlines() == [f"{marks[problem.level]}{problem}" for problem in problems]


def test_its_links_lead_somewhere() -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", PAGE)]
    own = [link for link in links if not link.startswith("https://")]
    assert [link for link in own if not (ROOT / "docs" / link).exists()] == []
