"""infx row run: it gathers a command's files, and names those that it found and those that are missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from infx.bench.jobs import RowJob
from infx.bench.row import Row
from infx.cli.row_process import find_missing_results
from infx.matrix.folder import read_jobs
from tests.calling import Called, call
from tests.cli.plans import write_plan
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row
from tests.results.made import make_jobs

ROWS = {
    "fixed": row(FIXED, 8),
    "agentic": row(AGENTIC, 8),
    "multi-node": row(DISAGG, 4, 8),
    "accuracy": row(FIXED, 8, eval_only=True),
}


def play(
    planned: Row, script: str, monkeypatch: pytest.MonkeyPatch, folder: Path, *, on_actions: bool = False
) -> tuple[Called, RowJob]:
    """Run a script as the row command in its own folder; `{name}` in it is the row's result name."""
    monkeypatch.chdir(folder)
    write_plan(folder / "plan.json", [planned])
    assert call("shards", "--plan", "plan.json", "--out", "sweep-plan").code == 0
    [job] = read_jobs((folder / "sweep-plan" / "jobs.jsonl").read_text().splitlines())
    text = f"import os, pathlib, sys\nname = os.environ['RESULT_FILENAME']\n{script}\n"
    (folder / "work.py").write_text(text)
    (folder / "policy.yaml").write_text(
        f"repository: acme/bench\nsweep: {{row-command: [{sys.executable}, work.py]}}\n"
    )
    monkeypatch.setenv("INFX_POLICY", "policy.yaml")
    if on_actions:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
    return call("row", "run", "--plan", "sweep-plan", "--id", job.id, "--out", "out"), job


SAMPLE = "import infx.results.sample as s; s.main(os.environ, pathlib.Path.cwd())"
LEAVES = {
    "fixed": "agg_{name}*.json",
    "agentic": "agg_{name}*.json",
    "multi-node": "agg_{name}*.json",
    "accuracy": "meta_env.json and results*.json",
}


@pytest.mark.parametrize("kind", ROWS)
def test_gathered_files_are_named(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called, _ = play(ROWS[kind], SAMPLE, monkeypatch, tmp_path)
    assert called.code == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    counted = "1 file" if len(names) == 1 else f"{len(names)} files"
    assert f"Gathered {counted} in out: {' and '.join(names)}.\n" in called.err
    assert "left no" not in called.err


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize(("ends", "code"), [(0, 1), (3, 3)])
def test_a_command_without_results_has_failed(
    ends: int,
    code: int,
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called, job = play(ROWS[kind], f"sys.exit({ends})", monkeypatch, tmp_path)
    assert called.code == code
    lacking = LEAVES[kind].format(name=job.result_name)
    assert called.err == f"The row command exited with {ends} and wrote no new {lacking}.\n"
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "script", "lacking"),
    [
        ("fixed", "pathlib.Path('meta_env.json').write_text('{}')", "agg_{name}*.json"),
        ("fixed", "pathlib.Path('agg_other.json').write_text('{}')", "agg_{name}*.json"),
        ("accuracy", "pathlib.Path('meta_env.json').write_text('{}')", "results*.json"),
        ("accuracy", "pathlib.Path('results.json').write_text('{}')", "meta_env.json"),
        ("accuracy", "pathlib.Path('samples_x.jsonl').write_text('{}')", "meta_env.json and results*.json"),
        ("accuracy", "pathlib.Path(f'agg_{name}.json').write_text('{}')", "meta_env.json and results*.json"),
    ],
)
def test_files_of_another_kind_are_not_the_result(
    kind: str,
    script: str,
    lacking: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called, job = play(ROWS[kind], script, monkeypatch, tmp_path)
    assert called.code == 1
    assert f"wrote no new {lacking.format(name=job.result_name)}." in called.err


def test_an_earlier_result_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "path = pathlib.Path(f'agg_{name}.json'); path.write_text('{}'); os.utime(path, (1, 1))"
    called, _ = play(ROWS["fixed"], script, monkeypatch, tmp_path)
    assert called.code == 1
    assert "wrote no new agg_" in called.err


def test_earlier_files_are_not_gathered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row that ran there last may have ended just before."""
    called, job = play(ROWS["fixed"], SAMPLE, monkeypatch, tmp_path)
    assert called.code == 0
    (tmp_path / "work.py").write_text("")
    words = ["row", "run", "--plan", "sweep-plan", "--id", job.id, "--out", "again"]
    called = call(*words)
    assert called.code == 1
    assert called.err == f"The row command exited with 0 and wrote no new agg_{job.result_name}*.json.\n"
    assert list((tmp_path / "again").iterdir()) == []


def test_results_may_stay_in_the_folder_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, job = play(ROWS["fixed"], "", monkeypatch, tmp_path)
    (tmp_path / "work.py").write_text(f"import os, pathlib\n{SAMPLE}\n")
    words = ["row", "run", "--plan", "sweep-plan", "--id", job.id, "--out", str(tmp_path)]
    called = call(*words)
    assert called.code == 0
    assert f"Gathered 1 file in {tmp_path}: agg_{job.result_name}.json.\n" in called.err


def test_names_of_files_may_be_hostile_and_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "pathlib.Path(f'agg_{name}.json').write_text('{}')\n"
        "pathlib.Path('results\\n::error::x.json').write_text('{}')\n"
        "for number in range(30): pathlib.Path(f'results{number:02}.json').write_text('{}')"
    )
    called, _ = play(ROWS["fixed"], script, monkeypatch, tmp_path, on_actions=True)
    assert called.code == 0
    assert "Gathered 32 files in out: agg_" in called.err
    assert "and 12 more." in called.err
    assert r"results\n::error::x.json" in called.err


@pytest.mark.parametrize("kind", ROWS)
def test_no_file_is_never_a_complete_result(kind: str) -> None:
    """This must hold for kinds of rows that do not exist yet."""
    [job] = make_jobs([ROWS[kind]])
    assert find_missing_results([], job)
    assert find_missing_results(["samples_x.jsonl", "notes.json"], job)
