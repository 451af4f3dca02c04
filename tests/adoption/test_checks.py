"""Check that the files of `infx init` pass every check, whatever the answers are."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adoption.made import APP, RENAMED, SIGNOFFS, init, make_repository, read_files
from tests.calling import call
from tests.conftest import ROOT

CHECKS = (("config", "check"), ("changelog", "validate"), ("workflows", "check"))
OWN = {  # files of a repository that has benchmarks already
    "configs/amd-master.yaml": (ROOT / "configs/amd-master.yaml").read_bytes(),
    "configs/runners.yaml": (ROOT / "configs/runners.yaml").read_bytes(),
    "perf-changelog.yaml": b"",
}
MORE_RUNNERS = ("--runner", "cluster:b200-x", "--runner", "cluster-b200-x=b200-x_1", "--runner", "007=box-7")
CHOICES = ((), SIGNOFFS), ((), APP), ((), MORE_RUNNERS)
SOME = [
    ("main", {}, ()),
    ("main", {}, (*SIGNOFFS, *APP, *MORE_RUNNERS)),
    ("release/1.0", {}, (*RENAMED, *SIGNOFFS)),
    ("main", OWN, SIGNOFFS),
]
ALL = [
    (branch, files, tuple(itertools.chain(*parts, names)))
    for branch, files, names in (("main", {}, ()), ("release/1.0", {}, RENAMED), ("main", OWN, ()))
    for parts in itertools.product(*CHOICES)
]


def check_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[str, dict[str, bytes], tuple[str, ...]]
) -> None:
    branch, files, options = case
    repository = make_repository(folder, branch)
    repository.commit(files)
    monkeypatch.chdir(folder)
    assert init(*options).code == 0
    made = read_files(folder)
    assert {path: made[path] for path in files} == files
    repository.commit({})
    for check in CHECKS:
        called = call(*check, "--format", "json")
        assert called.code == 0, called.err
        problems = [problem["rule"] for problem in called.json["problems"]]
        # The person must state what protects the runners.
        assert problems == ["runner-boundary"] * (check == ("workflows", "check"))
    again = init(*options)
    assert (again.code, read_files(folder)) == (0, made)
    assert init(*options, "--diff").out == ""


@pytest.mark.parametrize("case", SOME, ids=["least", "most", "renamed", "own files"])
def test_made_files_pass_all_checks_and_stay_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[str, dict[str, bytes], tuple[str, ...]]
) -> None:
    check_made(tmp_path, monkeypatch, case)


@pytest.mark.nightly
@pytest.mark.parametrize("case", ALL)
def test_made_files_pass_all_checks_for_every_combination(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[str, dict[str, bytes], tuple[str, ...]]
) -> None:
    check_made(tmp_path, monkeypatch, case)


@pytest.mark.parametrize("options", [(), (*RENAMED, *SIGNOFFS, *APP)], ids=["least", "most"])
def test_actionlint_and_zizmor_accept_made_workflows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    make_repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert init(*options).code == 0
    tools = Path(sys.executable).parent
    for command in (
        ("actionlint", "-shellcheck", str(tools / "shellcheck")),
        ("zizmor", "--offline", "--quiet", "--persona", "auditor", ".github"),
        ("shellcheck", "benchmarks/single_node/fixed_seq_len/qwen3_bf16.sh"),
    ):
        done = subprocess.run(
            [tools / command[0], *command[1:]], cwd=tmp_path, capture_output=True, check=False, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_doctor_misses_nothing_if_the_runners_are_protected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make_repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert init(*SIGNOFFS, *APP, "--runner-boundary", "Runner group gpu: only benchmark.yml.").code == 0
    repository.commit({})
    called = call("doctor", "--offline", "--format", "json")
    lacks = {line["rule"]: line["state"] for line in called.json["lines"] if line["state"] != "ok"}
    assert lacks.pop("version") in {
        "wrong",
        "unknown",
    }  # the pinned commit of the tests is not the installed one
    assert lacks == {"merge-driver": "advice"}, called.err


@pytest.mark.parametrize(
    ("files", "script"),
    [({}, "benchmarks/single_node/fixed_seq_len/qwen3_bf16.sh"), (OWN, "benchmarks/run.sh")],
    ids=["example", "own files"],
)
def test_an_unwritten_benchmark_fails_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes], script: str
) -> None:
    make_repository(tmp_path).commit(files)
    monkeypatch.chdir(tmp_path)
    assert init().code == 0
    done = subprocess.run(["bash", script], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{script} measures nothing yet. Write the benchmark of this row there.\n"
