"""A dispatch's command as a plan: the rows that a changelog entry would plan, by a policy it cannot choose."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infx.bench.family import read_rows
from infx.bench.identity import row_ids
from infx.cli import infx
from infx.cli.shell import run
from infx.gate.decision import Decision, GateVerdict, Reason
from infx.gate.show import render_decision
from tests.conftest import ROOT
from tests.repository import Repository

KEY = "dsv41flash-fp4-b300-vllm-agentic-dspark"
ENTRY = f"""
- config-keys:
    - {KEY}
  description:
    - Measure it anew
  pr-link: XXX
"""
Call = Callable[..., int]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The project's own configurations; main, and a branch that measures one of them anew."""
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
def call(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """infx plan for words that a dispatch gives, or for the branch's entry."""
    monkeypatch.chdir(repository.path)

    def call(*words: str, head: str = "feat-x") -> int:
        decision = Decision(
            verdict=GateVerdict.RUN, reason=Reason.READY, words="full", group="sweep-run-9", command=words
        )
        path = tmp_path / "decision.json"
        path.write_text(json.dumps(render_decision(decision)))
        options = ["--base-ref", "main", "--head-ref", head, "--decision", str(path), "--strict"]
        return run(infx, ["plan", *options, "--format", "json"], {})

    return call


def rows_of(out: str) -> list[str]:
    return row_ids(read_rows(json.loads(out), "plan.json"))


def test_named_configurations_are_the_rows_that_an_entry_would_plan(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    """14 of throughput and 3 of accuracy, each with the id that it has in a pull request's sweep."""
    assert call() == 0
    by_entry = rows_of(capsys.readouterr().out)
    assert call("test-config", "--config-key", KEY) == 0
    out = capsys.readouterr().out
    assert sorted(rows_of(out)) == sorted(by_entry)
    assert len(by_entry) == 17
    plan: dict[str, Any] = json.loads(out)
    assert len(plan["single_node"]["agentic"]) == 14
    assert len(plan["agentic_evals"]) == 3
    assert plan["changelog_metadata"]["entries"] == []


@pytest.mark.parametrize(
    ("words", "throughput", "evals"),
    [
        (("test-config", "--config-key", KEY, "--no-evals"), 14, 0),
        (("test-config", "--config-key", KEY, "--evals-only"), 0, 3),
        (("test-config", "--config-key", KEY, "--conc", "64"), 3, 3),
        (("full-sweep", "--model-prefix", "dsv41flash-fp4-b300", "--framework", "vllm", "--trim-conc"), 3, 3),
    ],
)
def test_options_narrow_it(
    call: Call, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], throughput: int, evals: int
) -> None:
    assert call(*words) == 0
    rows = read_rows(json.loads(capsys.readouterr().out), "plan.json")
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
        (("full-sweep", "--model-prefix", "gone"), 1, "No row fits the command."),
        (("full-sweep", "--config-file", "gone.yaml"), 2, "cannot be read"),
    ],
)
def test_what_it_does_not_do(
    call: Call,
    capsys: pytest.CaptureFixture[str],
    repository: Repository,
    words: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    assert call(*words) == code
    found = capsys.readouterr()
    assert message in found.err
    assert found.out == ""
    assert not (repository.path / "pwned").exists()


def test_it_reads_the_working_tree_and_says_so(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("test-config", "--config-key", KEY, head="main") == 2
    assert "reads the working tree, which is not at --head-ref" in capsys.readouterr().err


def test_labels_nobody_serves_are_refused(
    repository: Repository, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    """As for a delta: GitHub would let such a job wait for a day."""
    path = repository.path / "configs/runners.yaml"
    before = path.read_text()
    try:
        path.write_text(before.replace("cluster:b300-nv", "cluster:b300-xx"))
        assert call("test-config", "--config-key", KEY) == 1
        assert "cluster:b300-nv" in capsys.readouterr().err
    finally:
        path.write_text(before)
