"""Compare docs/workflows.md with the workflow files, with the actions, and with the command's output."""

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
    table = re.search(rf"<!-- table: {name} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    assert table is not None
    return [line.strip("| ").split(" | ") for line in table[1].splitlines()[2:]]


def render_permissions(workflow: Any) -> str:
    """Return the highest permission of each scope that a job of the workflow has."""
    grants = {grant for job in workflow["jobs"].values() for grant in job["permissions"].items()}
    writes = sorted(scope for scope, level in grants if level == "write")
    reads = sorted(scope for scope, level in grants if level == "read" and scope not in writes)
    parts = [
        f"{level} {', '.join(scopes)}" for level, scopes in (("reads", reads), ("writes", writes)) if scopes
    ]
    return "; ".join(parts) or "none"


def test_the_page_lists_every_workflow_with_events_and_permissions() -> None:
    expected = [
        [
            f"[`{name}`](../.github/workflows/{name})",
            ", ".join(f"`{event}`" for event in workflow["on"]),
            render_permissions(workflow),
        ]
        for name, workflow in WORKFLOWS.items()
    ]
    rows = read_table("workflows")
    assert [row[:3] for row in rows] == expected
    assert all(row[3].endswith(".") for row in rows)


def test_the_page_lists_every_rule_once() -> None:
    """test_check.py compares the text."""
    names = [row[0].strip("`") for row in read_table("rules")]
    assert len(set(names)) == len(names)
    assert set(names) == {rule.id for rule in RULES}


def test_the_page_names_every_action() -> None:
    """test_actions.py compares the table of inputs and outputs."""
    section = PAGE.partition("\n## The actions\n")[2].partition("\n### ")[0]
    actions = {path.parent.name for path in (ROOT / ".github/actions").glob("*/action.yml")}
    assert set(re.findall(r"`([a-z]+)`", section)) == actions


def test_jobs_with_write_permissions_check_out_the_default_branch() -> None:
    """The page claims that no such job checks out a pull request's code."""
    default = "${{ github.event.repository.default_branch }}"
    writing = {
        name: job
        for workflow in WORKFLOWS.values()
        for name, job in workflow["jobs"].items()
        if "write" in job["permissions"].values()
    }
    assert set(writing) == {
        "again", "approve", "deliver", "merge", "publish", "reconcile", "stage", "verify",
    }  # fmt: skip
    checkouts = [
        step
        for job in writing.values()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert {step["with"]["ref"] for step in checkouts} == {default}


def test_only_a_workflow_without_pull_request_code_has_secrets() -> None:
    holders = {
        path.name for path in (ROOT / ".github/workflows").glob("*.yml") if "secrets." in path.read_text()
    }
    assert holders == {"merge.yml", "publish.yml", "reconcile.yml", "stage.yml"}


def test_the_example_shows_the_output_of_the_command() -> None:
    example = re.search(
        r"`(\.github/\S+\.yml)`\n\n```yaml\n(.*?)```\n.*?\$ infx workflows check\n(.*?)```", PAGE, re.DOTALL
    )
    assert example is not None
    path, source, printed = example.groups()
    problems = check_files({path: source.encode()}, default_policy())
    marks = {"warning": "warning: ", "error": ""}
    assert printed.splitlines() == [f"{marks[problem.level]}{problem}" for problem in problems]


def test_every_link_of_the_page_has_a_target() -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", PAGE)]
    local_links = [link for link in links if not link.startswith("https://")]
    assert [link for link in local_links if not (ROOT / "docs" / link).exists()] == []
