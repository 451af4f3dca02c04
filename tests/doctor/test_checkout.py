"""`infx doctor --offline`: everything right is exit 0; each fault gives its own line only."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from infx.doctor.checkout import judge_checkout
from infx.doctor.facts import CheckoutFacts, CheckSummary, MergeDriver
from infx.doctor.lines import Health, Unseen
from infx.doctor.rules import RULES
from infx.doctor.usage import RemoteUse
from infx.policy.model import Policy, WorkflowsPolicy
from infx.records import replace
from tests.calling import call
from tests.doctor.adopter import COMMIT, TOOLKIT, list_workflows
from tests.repository import Repository

UNSEEN = Unseen(reason="It cannot be read.")
FAILED = CheckSummary(errors=2, warnings=1, first="a:1: wrong")
WORKFLOWS = tuple(list_workflows())
OTHER = "2e" * 20


def find_faults() -> list[tuple[str, str]]:
    """Return rule and state of each line that is not ok."""
    called = call("doctor", "--offline")
    faults = [(line["rule"], line["state"]) for line in called.json["lines"] if line["state"] != "ok"]
    assert called.code == int(bool(faults))
    assert called.json["ok"] is not bool(faults)
    return faults


def test_a_repository_with_everything_is_healthy(adopter: Repository) -> None:
    called = call("doctor", "--offline")
    assert {line["rule"] for line in called.json["lines"]} == {
        rule.id for rule in RULES.values() if rule.part == "checkout"
    }
    assert find_faults() == []


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({"has_policy": False}, [("policy", "missing")]),
        ({"base_policy": None}, [("base-policy", "missing")]),
        ({"base_policy": UNSEEN}, [("base-policy", "unknown")]),
        ({"base_policy": False}, []),  # a branch that changes the policy
        ({"repository": None}, [("repository", "missing")]),
        ({"remotes": ("foo/bench", "foo/other")}, [("repository", "wrong")]),
        ({"remotes": ("foo/bench", "Acme/Bench")}, []),  # a clone of a fork
        ({"existing": frozenset()}, [("file", "missing")] * 4 + [("row-command", "missing")]),
        ({"config": FAILED}, [("config", "wrong")]),
        ({"config": UNSEEN}, [("config", "unknown")]),
        ({"changelog": FAILED}, [("changelog", "wrong")]),
        ({"workflows": FAILED}, [("workflows", "wrong")]),
        ({"base_paths": frozenset(WORKFLOWS[1:])}, [("base-workflows", "missing")]),
        ({"base_paths": UNSEEN}, [("base-workflows", "unknown")]),
        ({"installed": OTHER}, [("version", "wrong")]),
        ({"installed": UNSEEN}, [("version", "unknown")]),
        ({"codeowners": "There is no CODEOWNERS file."}, [("codeowners", "wrong")]),
        ({"checklist": "The checklist has no items."}, [("checklist", "wrong")]),
        ({"driver": MergeDriver(has_attribute=False, has_command=True)}, [("merge-driver", "advice")]),
        ({"driver": MergeDriver(has_attribute=True, has_command=False)}, [("merge-driver", "advice")]),
        ({"driver": None}, []),
        ({"hooks": ("infx-config-check",)}, [("pre-commit", "missing")]),
        ({"hooks": None}, []),
    ],
)  # fmt: skip
def test_a_fault_gives_only_its_line(
    healthy: tuple[CheckoutFacts, Policy], changes: Mapping[str, Any], faults: list[tuple[str, str]]
) -> None:
    facts, policy = healthy
    lines = judge_checkout(replace(facts, **changes), policy)
    assert [(line.rule.id, line.health) for line in lines if line.health is not Health.OK] == faults
    assert all(line.fix for line in lines if line.health in {Health.MISSING, Health.WRONG})


def test_a_workflow_that_the_policy_needs_is_missing(healthy: tuple[CheckoutFacts, Policy]) -> None:
    facts, policy = healthy
    kept = {name: paths for name, paths in facts.use.actions.items() if name != "reconcile"}
    lines = judge_checkout(replace(facts, use=replace(facts.use, actions=kept)), policy)
    (line,) = [line for line in lines if line.health is not Health.OK]
    assert line.rule.id == "needed-workflow"
    assert line.fix is not None
    assert ".github/workflows/reconcile.yml" in line.fix


def test_only_called_workflows_do_not_check_the_changelog(healthy: tuple[CheckoutFacts, Policy]) -> None:
    """sweep.yml validates the changelog too, but no pull request starts it by itself."""
    facts, policy = healthy
    events = {**facts.use.events, ".github/workflows/changelog.yml": frozenset({"push"})}
    lines = judge_checkout(replace(facts, use=replace(facts.use, events=events)), policy)
    faults = [line.rule.id for line in lines if line.health is not Health.OK]
    assert faults == ["needed-workflow"]


@pytest.mark.parametrize(
    ("uses", "faults"),
    [
        ("actions/checkout@v7", ["pin"]),
        ("acme/bench/.github/workflows/benchmark.yml@main", []),  # a runner group requires this form
        ("acme/bench/.github/workflows/benchmark.yml@feature", ["pin"]),
    ],
)
def test_every_use_of_another_repository_is_a_commit(
    healthy: tuple[CheckoutFacts, Policy], uses: str, faults: list[str]
) -> None:
    facts, policy = healthy
    remote = (*facts.use.remote, RemoteUse(path=WORKFLOWS[0], uses=uses))
    lines = judge_checkout(replace(facts, use=replace(facts.use, remote=remote)), policy)
    assert [line.rule.id for line in lines if line.health is not Health.OK] == faults


def test_two_commits_of_infx_are_reported(healthy: tuple[CheckoutFacts, Policy]) -> None:
    facts, policy = healthy
    toolkits = frozenset({(TOOLKIT, COMMIT), (TOOLKIT, OTHER)})
    lines = judge_checkout(replace(facts, use=replace(facts.use, toolkits=toolkits)), policy)
    assert [line.rule.id for line in lines if line.health is not Health.OK] == ["pin"]


def test_the_policy_must_state_what_protects_the_runners(healthy: tuple[CheckoutFacts, Policy]) -> None:
    facts, policy = healthy
    silent = replace(policy, workflows=WorkflowsPolicy())
    warned = CheckSummary(errors=0, warnings=1, rules=frozenset({"runner-boundary"}))
    lines = judge_checkout(replace(facts, workflows=warned), silent)
    assert [line.rule.id for line in lines if line.health is not Health.OK] == ["runner-boundary"]
    assert all(line.health is Health.OK for line in judge_checkout(facts, silent))  # no job is exposed


def test_every_fault_of_a_clone_is_read(adopter: Repository) -> None:
    """The faults are independent, so one clone can have all of them."""
    root = adopter.path
    adopter.git.run("remote", "set-url", "origin", "https://github.com/foo/bench")
    adopter.git.run("config", "--unset", "merge.infx-changelog.driver")
    for path in ("benchmarks/run.sh", "docs/PR_REVIEW_CHECKLIST.md", ".github/workflows/reconcile.yml"):
        (root / path).unlink()
    for path, old, new in (
        ("configs/nvidia-master.yaml", "precision: fp8", "precision: 8"),
        ("perf-changelog.yaml", "Measure", "Re-measure"),
        (".github/workflows/benchmark.yml", "timeout-minutes: 780", ""),
        (".github/workflows/changelog.yml", f"@{COMMIT}", "@v1"),
        (".github/CODEOWNERS", "* @mia", "* @mia\n!x @mia"),
        (".pre-commit-config.yaml", "infx-config-check", "other"),
    ):
        text = (root / path).read_text("utf-8")
        assert old in text
        adopter.write({path: text.replace(old, new)})
    assert find_faults() == [
        ("repository", "wrong"),
        ("config", "wrong"),
        ("changelog", "wrong"),
        ("workflows", "wrong"),
        ("needed-workflow", "missing"),
        ("pin", "wrong"),
        ("pin", "wrong"),
        ("codeowners", "wrong"),
        ("checklist", "wrong"),
        ("row-command", "missing"),
        ("merge-driver", "advice"),
        ("pre-commit", "missing"),
    ]


def test_what_only_a_branch_has_is_missing_on_the_base_branch(adopter: Repository) -> None:
    """Workflows and policy in one branch: neither works before the merge."""
    files = {path: (adopter.path / path).read_bytes() for path in ("configs/policy.yaml", *WORKFLOWS)}
    for path in files:
        (adopter.path / path).unlink()
    adopter.commit({})
    adopter.branch("feature")
    adopter.commit(files)
    assert find_faults() == [("base-policy", "missing"), ("base-workflows", "missing")]


def test_without_a_base_branch_nothing_about_it_is_ok(adopter: Repository) -> None:
    adopter.git.run("branch", "-m", "other")
    assert find_faults() == [
        ("base-policy", "unknown"),
        ("changelog", "unknown"),
        ("base-workflows", "unknown"),
    ]


def test_a_broken_policy_is_the_only_line(adopter: Repository) -> None:
    adopter.write({"configs/policy.yaml": "labels: 7\n"})
    assert find_faults() == [("policy", "wrong")]


def test_an_empty_folder_has_no_line_that_is_ok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    called = call("doctor", "--offline")
    states = {line["rule"]: line["state"] for line in called.json["lines"]}
    assert called.code == 1
    assert "ok" not in states.values()
    assert states["policy"] == "missing"
    assert states["config"] == states["changelog"] == states["workflows"] == "unknown"


def test_the_fix_of_another_version_is_the_installation_of_the_pinned_one(
    healthy: tuple[CheckoutFacts, Policy],
) -> None:
    facts, policy = healthy
    for installed in (OTHER, UNSEEN):
        lines = judge_checkout(replace(facts, installed=installed), policy)
        (line,) = [line for line in lines if line.rule.id == "version"]
        assert line.fix == f"pip install git+https://github.com/acme/infx@{COMMIT}"


def test_a_command_quotes_what_workflows_name(healthy: tuple[CheckoutFacts, Policy]) -> None:
    """A person pastes the command into a shell, and a workflow file of a pull request may have any name."""
    facts, policy = healthy
    use = replace(facts.use, toolkits=frozenset({("acme/$(id)", "`id`; id")}))
    lines = judge_checkout(replace(facts, use=use), policy)
    (line,) = [line for line in lines if line.rule.id == "version"]
    assert shlex.split(line.fix or "") == ["pip", "install", "git+https://github.com/acme/$(id)@`id`; id"]


def test_on_actions_the_clone_needs_no_merge_driver(adopter: Repository) -> None:
    adopter.git.run("config", "--unset", "merge.infx-changelog.driver")
    environ = {"GITHUB_ACTIONS": "true", "INFX_POLICY": "configs/policy.yaml"}
    called = call("doctor", "--offline", environ=environ)
    assert called.code == 0, called.out
    assert "merge-driver" not in {line["rule"] for line in called.json["lines"]}


def test_the_table_gives_reason_and_remedy_where_something_is_to_be_done(adopter: Repository) -> None:
    (adopter.path / "benchmarks/run.sh").unlink()
    called = call("doctor", "--offline", "--format", "table")
    assert called.code == 1
    (line,) = [line for line in called.out.splitlines() if line.startswith("missing")]
    assert "there is no benchmarks/run.sh" in line
    assert RULES["row-command"].why in line
    assert "Add the script" in line
    assert called.err.endswith("17 lines: 16 ok and 1 missing.\n")


def test_a_clone_without_the_merge_driver_is_advised_and_healthy(adopter: Repository) -> None:
    adopter.git.run("config", "--unset", "merge.infx-changelog.driver")
    called = call("doctor", "--offline", "--format", "table")
    assert (called.code, called.err) == (0, "17 lines: 16 ok and 1 advice.\n")
    (line,) = [line for line in called.out.splitlines() if line.startswith("advice")]
    assert "infx changelog install-driver" in line
