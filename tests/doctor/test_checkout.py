"""`infx doctor --offline`: everything right is exit 0; each fault gives its own line only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from infx.doctor.rules import RULES
from tests.calling import call
from tests.doctor.adopter import COMMIT, POLICY, list_workflows, make_adopter
from tests.repository import Repository


@pytest.fixture
def adopter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    repository = make_adopter(tmp_path / "bench")
    monkeypatch.chdir(repository.path)
    monkeypatch.setattr("infx.gather.doctor_checkout.read_installed", lambda: COMMIT)
    return repository


def find_faults() -> list[tuple[str, str]]:
    """Return rule and state of each line that is not ok."""
    called = call("doctor", "--offline")
    lines = called.json["lines"]
    faults = [(line["rule"], line["state"]) for line in lines if line["state"] != "ok"]
    assert called.code == int(bool(faults))
    assert called.json["ok"] is not bool(faults)
    assert all(line["fix"] for line in lines if line["state"] in {"missing", "wrong"})
    return faults


def test_a_repository_with_everything_is_healthy(adopter: Repository) -> None:
    called = call("doctor", "--offline")
    assert {line["rule"] for line in called.json["lines"]} == {
        rule.id for rule in RULES.values() if rule.part == "checkout"
    }
    assert find_faults() == []


Break = Callable[[Repository], object]


def edit(path: str, old: str, new: str, *, committed: bool = True) -> Break:
    """Return a function that replaces a text in a file."""

    def change(repository: Repository) -> None:
        text = (repository.path / path).read_text("utf-8")
        assert old in text
        files = {path: text.replace(old, new)}
        repository.commit(files) if committed else repository.write(files)

    return change


def remove(*paths: str) -> Break:
    def change(repository: Repository) -> None:
        for path in paths:
            (repository.path / path).unlink()
        repository.commit({})

    return change


def run_git(*arguments: str) -> Break:
    return lambda repository: repository.git.run(*arguments)


WORKFLOWS = tuple(list_workflows())
ROWS, RECONCILE = ".github/workflows/benchmark.yml", ".github/workflows/reconcile.yml"


@pytest.mark.parametrize(
    ("breaks", "faults"),
    [
        (run_git("checkout", "--quiet", "-b", "feature"), []),
        (run_git("branch", "-m", "other"), [("base-policy", "unknown"), ("changelog", "unknown"), ("base-workflows", "unknown")]),
        (run_git("remote", "set-url", "origin", "https://github.com/foo/bench"), [("repository", "wrong")]),
        (edit("configs/policy.yaml", POLICY, POLICY + "models: configs/other.yaml\n"), [("file", "missing")]),
        (edit("configs/nvidia-master.yaml", "precision: fp8", "precision: 8"), [("config", "wrong")]),
        (edit("perf-changelog.yaml", "Measure", "Re-measure", committed=False), [("changelog", "wrong")]),
        (edit(ROWS, "timeout-minutes: 780", ""), [("workflows", "wrong")]),
        (remove(".github/workflows/changelog.yml"), [("needed-workflow", "missing")]),
        (edit(RECONCILE, f"reconcile@{COMMIT}", "reconcile@v1"), [("pin", "wrong"), ("pin", "wrong")]),
        (edit("configs/policy.yaml", "  runner-boundary", "  # "), [("runner-boundary", "missing")]),
        (remove(".github/CODEOWNERS"), [("codeowners", "wrong")]),
        (edit(".github/CODEOWNERS", "* @mia", "* @mia\n!x @mia"), [("codeowners", "wrong")]),
        (remove("docs/PR_REVIEW_CHECKLIST.md"), [("checklist", "wrong")]),
        (remove("benchmarks/run.sh"), [("row-command", "missing")]),
        (remove(".gitattributes"), [("merge-driver", "missing")]),
        (run_git("config", "--unset", "merge.infx-changelog.driver"), [("merge-driver", "missing")]),
        (edit(".pre-commit-config.yaml", "{id: infx-config-check}, ", ""), [("pre-commit", "missing")]),
    ],
)  # fmt: skip
def test_a_fault_gives_only_its_line(
    adopter: Repository, breaks: Break, faults: list[tuple[str, str]]
) -> None:
    breaks(adopter)
    assert find_faults() == faults


def test_a_policy_that_is_not_on_the_base_branch_is_missing(adopter: Repository) -> None:
    """Workflows and policy in one branch: neither works before the merge."""
    files = {path: (adopter.path / path).read_bytes() for path in ("configs/policy.yaml", *WORKFLOWS)}
    remove(*files)(adopter)
    adopter.branch("feature")
    adopter.commit(files)
    assert find_faults() == [("base-policy", "missing"), ("base-workflows", "missing")]


def test_a_broken_policy_is_the_only_line(adopter: Repository) -> None:
    adopter.write({"configs/policy.yaml": "labels: 7\n"})
    assert find_faults() == [("policy", "wrong")]


def test_a_repository_without_anything_has_no_line_that_is_ok_unseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    called = call("doctor", "--offline")
    states = {line["rule"]: line["state"] for line in called.json["lines"]}
    assert called.code == 1
    assert {rule for rule, state in states.items() if state == "ok"} == set()
    assert states["policy"] == "missing"
    assert states["config"] == states["changelog"] == states["workflows"] == "unknown"


@pytest.mark.parametrize(("installed", "state"), [("2e" * 20, "wrong"), (None, "unknown")])
def test_another_version_than_the_pinned_one_is_reported(
    adopter: Repository, monkeypatch: pytest.MonkeyPatch, installed: str | None, state: str
) -> None:
    from infx.doctor.lines import Unseen

    found = installed or Unseen(reason="It was not installed from a commit.")
    monkeypatch.setattr("infx.gather.doctor_checkout.read_installed", lambda: found)
    assert find_faults() == [("version", state)]
    (line,) = [line for line in call("doctor", "--offline").json["lines"] if line["rule"] == "version"]
    assert line["fix"] == f'pip install "git+https://github.com/acme/infx@{COMMIT}"'


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
