"""infx plan for a dispatch's command: it plans the rows of an entry, and the command cannot choose the policy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from infx.bench.family import read_rows
from infx.bench.identity import row_ids
from infx.gate.decision import Decision, GateVerdict, Reason
from infx.gate.show import render_decision
from tests.calling import Called, call
from tests.conftest import ROOT
from tests.repository import Repository

KEY = "dsv41flash-fp4-b300-vllm-agentic-dspark"
ENTRY = f"""
- config-keys:
    - {KEY}
  description:
    - Measure it again
  pr-link: XXX
"""
Call = Callable[..., Called]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository with the project's configurations: main, and a branch that measures one of them again."""
    repository = Repository.init(tmp_path_factory.mktemp("bench"))
    paths = [path for path in (ROOT / "configs").rglob("*") if path.is_file()]
    files = {
        str(path.relative_to(ROOT)): path.read_bytes() for path in [*paths, ROOT / "perf-changelog.yaml"]
    }
    repository.commit(files)
    repository.branch("feat-x")
    repository.commit({"perf-changelog.yaml": files["perf-changelog.yaml"].decode() + ENTRY})
    return repository


@pytest.fixture
def plan(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Call infx plan for a dispatch's words, or for the branch's entry."""
    monkeypatch.chdir(repository.path)

    def plan(*words: str, head: str = "feat-x") -> Called:
        decision = Decision(
            verdict=GateVerdict.RUN, reason=Reason.READY, words="full", group="sweep-run-9", command=words
        )
        path = tmp_path / "decision.json"
        path.write_text(json.dumps(render_decision(decision)))
        options = ["--base-ref", "main", "--head-ref", head, "--decision", str(path), "--strict"]
        return call("plan", *options, "--format", "json")

    return plan


def rows_of(called: Called) -> list[str]:
    return row_ids(read_rows(called.json, "plan.json"))


def test_named_configurations_give_the_rows_of_an_entry(plan: Call) -> None:
    """There are 14 throughput and 3 accuracy runs, with the same ids as in a pull request's sweep."""
    by_entry, by_command = plan(), plan("test-config", "--config-key", KEY)
    assert (by_entry.code, by_command.code) == (0, 0)
    assert sorted(rows_of(by_command)) == sorted(rows_of(by_entry))
    assert len(rows_of(by_entry)) == 17
    plan_of_command = by_command.json
    assert len(plan_of_command["single_node"]["agentic"]) == 14
    assert len(plan_of_command["agentic_evals"]) == 3
    assert plan_of_command["changelog_metadata"]["entries"] == []


@pytest.mark.parametrize(
    ("words", "throughput", "evals"),
    [
        (("test-config", "--config-key", KEY, "--no-evals"), 14, 0),
        (("test-config", "--config-key", KEY, "--evals-only"), 0, 3),
        (("test-config", "--config-key", KEY, "--conc", "64"), 3, 3),
        (("full-sweep", "--model-prefix", "dsv41flash-fp4-b300", "--framework", "vllm", "--trim-conc"), 3, 3),
    ],
)
def test_options_select_rows(plan: Call, words: tuple[str, ...], throughput: int, evals: int) -> None:
    called = plan(*words)
    assert called.code == 0
    rows = read_rows(called.json, "plan.json")
    assert (sum(not row.eval_only for row in rows), sum(bool(row.eval_only) for row in rows)) == (
        throughput,
        evals,
    )


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("full-sweep", "--policy", "mine.yaml"), 2, "The command names a policy"),
        (("full-sweep", "--help"), 2, "No such option '--help'"),
        (("full-sweep", "; touch pwned"), 2, "unexpected extra argument"),
        (("full-sweep", "$(touch pwned)", "`touch pwned`"), 2, "unexpected extra arguments"),
        (("test-config",), 2, "Missing option '--config-key'"),
        (("test-config", "--config-key", "gone"), 2, "gone"),
        (("full-sweep", "--model-prefix", "gone"), 1, "No row matches the command."),
        (("full-sweep", "--config-file", "gone.yaml"), 2, "cannot be read"),
    ],
)
def test_commands_that_are_refused(
    plan: Call,
    repository: Repository,
    words: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    called = plan(*words)
    assert called.code == code
    assert message in called.err
    assert called.out == ""
    assert not (repository.path / "pwned").exists()


def test_the_working_tree_must_be_at_the_head(plan: Call) -> None:
    called = plan("test-config", "--config-key", KEY, head="main")
    assert called.code == 2
    assert "reads the working tree, which is not at --head-ref" in called.err


def test_labels_without_runners_are_refused(repository: Repository, plan: Call) -> None:
    """GitHub would let such a job wait for a day."""
    path = repository.path / "configs/runners.yaml"
    before = path.read_text()
    try:
        path.write_text(before.replace("cluster:b300-nv", "cluster:b300-xx"))
        called = plan("test-config", "--config-key", KEY)
        assert called.code == 1
        assert "cluster:b300-nv" in called.err
    finally:
        path.write_text(before)
