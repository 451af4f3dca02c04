"""Commands between a plan and its jobs: shards, rows and row."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from infx.bench.row import render_row
from tests.calling import Called, call
from tests.cli.plans import write_plan
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [row(FIXED, conc) for conc in range(1, 301)]
    rows += [row(AGENTIC, 8), row(DISAGG, 4, 8), row(FIXED, 8, eval_only=True)]
    write_plan(tmp_path / "plan.json", rows)
    succeed("shards", "--plan", "plan.json", "--out", "sweep-plan")
    return tmp_path / "sweep-plan"


def test_a_plan_with_rows_that_config_check_refuses_is_not_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_plan(tmp_path / "plan.json", [row(FIXED), row(replace(FIXED, image="a/b:v1:v2"))])
    refused = call("shards", "--plan", "plan.json", "--out", "sweep-plan")
    assert refused.code == 1
    assert refused.err.startswith('plan.json: single_node/8k1k/1: found "a/b:v1:v2"; ')
    assert not (tmp_path / "sweep-plan").exists()


def succeed(*arguments: str) -> Called:
    called = call(*arguments)
    assert called.code == 0, called.err
    return called


def test_303_rows_are_two_shards_that_hold_every_row_once(folder: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    assert (index["rows"], index["shards"]) == (303, 2)
    called = [succeed("rows", "--plan", str(folder), "--shard", number) for number in "01"]
    lists = [command.json for command in called]
    assert [len(jobs) for jobs in lists] == [256, 47]
    ids = [job["id"] for jobs in lists for job in jobs]
    assert len(set(ids)) == 303
    assert {key for jobs in lists for job in jobs for key in job} == {"id", "runs-on", "name"}
    assert [command.outputs["count"] for command in called] == ["256", "47"]


@pytest.mark.parametrize("number", ["2", "-1"])
def test_an_unknown_shard_is_refused(folder: Path, number: str) -> None:
    refused = call("rows", "--plan", str(folder), "--shard", number)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == f"{folder}: The plan has no shard {number}; it has 2, counted from 0.\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("jobs.jsonl", "", "The plan folder is not complete: this shard has no row."),
        ("index.json", "", "The plan folder cannot be read"),
        ("index.json", "[]", "The plan folder cannot be read"),
        ("index.json", '{"rows": [], "shards": []}', "The plan folder cannot be read"),
    ],
)
def test_a_plan_folder_that_has_lost_its_rows_is_refused(
    folder: Path, name: str, text: str, words: str
) -> None:
    """Otherwise the rows' job would be skipped, and nothing would be red."""
    original = (folder / name).read_text()
    (folder / name).write_text(text)
    try:
        collect = ("results", "collect", "--plan", str(folder), "--artifacts", str(folder), "--out", "out")
        refused = call("rows", "--plan", str(folder), "--shard", "0")
        assert (refused.code, refused.out, words in refused.err) == (2, "", True)
        assert call(*collect).code == 2
    finally:
        (folder / name).write_text(original)


def test_the_canary_runs_alone_and_only_once(folder: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    (canary,) = succeed("rows", "--plan", str(folder), "--canary").json
    assert canary["id"] == index["canary"]
    assert canary["name"].startswith(f"{canary['id']} · canary · ")
    others = succeed("rows", "--plan", str(folder), "--shard", "0", "--without", canary["id"]).json
    assert len(others) == 255
    assert canary["id"] not in {job["id"] for job in others}


def test_the_outputs_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_plan(tmp_path / "plan.json", [row(FIXED, conc) for conc in range(1, 258)])
    outputs = succeed("shards", "--plan", "plan.json", "--out", "cut", "--no-canary").outputs
    sums = outputs.pop("sums")
    assert len(sums) < 1000
    assert list(outputs.items()) == [
        ("shards", "[0, 1]"),
        ("shard-count", "2"),
        ("row-count", "257"),
        ("canary-id", ""),
    ]


def test_a_shell_reads_a_row_without_running_it(folder: Path) -> None:
    """A setting with quotes and blanks keeps its value."""
    lines = (folder / "jobs.jsonl").read_text().splitlines()
    (wanted,) = [json.loads(line) for line in lines if '"multi-node 8k1k"' in line]
    script = succeed("row", "env", "--plan", str(folder), "--id", wanted["id"]).out
    process = subprocess.run(
        ["bash", "-euc", f'{script}\nprintf "%s|%s|%s" "$NCCL_DEBUG" "$CONC_LIST" "$RESULT_FILENAME"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout == f"a b'c|4 8|{wanted['result-name']}"


def test_show_prints_the_row(folder: Path) -> None:
    (canary,) = succeed("rows", "--plan", str(folder), "--canary").json
    shown = json.loads(succeed("row", "show", "--plan", str(folder), "--id", canary["id"]).out)
    assert shown["row"] == render_row(row(FIXED, 1))


def test_plan_diff_of_two_files(tmp_path: Path) -> None:
    before = write_plan(tmp_path / "a.json", [row(FIXED, 1)])
    after = write_plan(tmp_path / "b.json", [row(FIXED, 1), row(FIXED, 2)])
    words = succeed("plan-diff", str(before), str(after), "--format", "table").out
    assert words == "+ 1 row of m1 fp8 vllm on cluster:h200-a, single-node 8k1k, TP8 (c2)\n"
    values = json.loads(succeed("plan-diff", str(before), str(after), "--format", "json").out)
    assert values == {"added": [render_row(row(FIXED, 2))], "removed": [], "changed": []}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["shards", "--plan", "none.json", "--out", "x"], 2, "none.json: The plan cannot be read"),
        (["shards", "--plan", "bad.json", "--out", "x"], 2, "bad.json: The plan is not JSON"),
        (["shards", "--plan", "deep.json", "--out", "x"], 2, "deep.json: The plan is not JSON"),
        (
            ["shards", "--plan", "odd.json", "--out", "x"],
            1,
            "odd.json: single_node/8k1k/0 is not a row of a plan.",
        ),
        (["shards", "--plan", "plan.json", "--out", "sweep-plan"], 2, "The folder exists already"),
        (["rows", "--plan", "sweep-plan"], 2, "Name either a shard or the canary."),
        (["rows", "--plan", "nowhere", "--shard", "0"], 2, "There is no plan folder here"),
        (["row", "show", "--plan", "sweep-plan", "--id", "0"], 2, "The plan has no row 0."),
    ],
)
@pytest.mark.usefixtures("folder")
def test_errors_are_explained(arguments: list[str], code: int, words: str) -> None:
    Path("bad.json").write_text("{")
    Path("deep.json").write_text("[" * 200_000)
    Path("odd.json").write_text('{"single_node": {"8k1k": [{"image": 1}]}}')
    refused = call(*arguments)
    assert refused.code == code
    assert words in refused.err
    assert not Path("x").exists()


def test_a_plan_is_cut_without_a_file_of_priorities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workflow always names the policy's file at the base branch's tip, even if it does not exist."""
    monkeypatch.chdir(tmp_path)
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *arguments], check=True)
    write_plan(tmp_path / "plan.json", [row(FIXED, 8)])
    cut = ["shards", "--plan", "plan.json", "--out"]
    succeed(*cut, "one", "--priorities", "HEAD:configs/ci-priority.yaml")
    refused = call(*cut, "two", "--priorities", "HEAD:configs/ci-prioritie.yaml")
    assert refused.code == 2
    assert "There is no priorities configs/ci-prioritie.yaml at HEAD." in refused.err
