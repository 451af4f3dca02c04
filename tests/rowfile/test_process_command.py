"""`row.py process` on a row's machine: the row command finds it, and it needs nothing but Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from infx.bench.row import Row
from infx.bench.uploads import artifact_name
from infx.matrix.row_file import pack_row_file
from infx.rowfile.clients import CLIENTS
from tests.calling import call
from tests.matrix.rows import DISAGG, FIXED, row
from tests.rowfile.outputs import ENVIRONMENT, SGLANG, VLLM, read_row, write_output
from tests.rowfile.playing import OLDER, PLAN, cut_plan, find_python, play

# A row command in a shell, as a recipe has it.
MAKE_ROW = 'cp output.json "$RESULT_FILENAME.json" && python3 "$INFX_ROW_FILE" process'
MAKE_ROWS = 'cp output.json "${RESULT_FILENAME}_conc8_gpus_32_ctx_16_gen_16.json" && python3 "$INFX_ROW_FILE" process --all --out .'


@dataclass(frozen=True)
class Ended:
    """A process that has ended."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, python: str = sys.executable, **variables: str) -> Ended:
    """Run the program as a row command does."""
    if not Path("row.py").exists():
        Path("row.py").write_text(pack_row_file())
    done = subprocess.run(
        [python, "-I", "-S", "row.py", *arguments],
        env={**os.environ, **ENVIRONMENT, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def test_a_row_command_makes_its_row() -> None:
    write_output("output.json", VLLM)
    played = play(cut_plan(Path.cwd(), row(FIXED, 8), ["sh", "-c", MAKE_ROW]))
    name = f"agg_{played.job.result_name}.json"
    assert (played.code, played.out) == (0, f"Wrote ./{name}.\n")
    assert f"Gathered 1 file in out: {name}.\n" in played.err
    assert Path("out", name).read_bytes() == Path(name).read_bytes()


def test_a_multi_node_row_command_makes_all_rows() -> None:
    write_output("output.json", VLLM)
    played = play(cut_plan(Path.cwd(), row(DISAGG, 8), ["sh", "-c", MAKE_ROWS]))
    assert played.code == 0, played.err
    assert [path.name for path in Path("out").iterdir() if path.name.startswith("agg_")] == [
        f"agg_{played.job.result_name}_conc8_gpus_32_ctx_16_gen_16.json"
    ]


def test_a_refused_row_fails_the_row() -> None:
    write_output("output.json", {**VLLM, "max_concurrency": None})
    played = play(cut_plan(Path.cwd(), row(FIXED, 8), ["sh", "-c", MAKE_ROW]), GITHUB_ACTIONS="true")
    assert played.code == 1
    assert f"\nerror: {played.job.result_name}.json: The client's output has no concurrency." in played.out
    assert f"left no new agg_{played.job.result_name}*.json" in played.err


@pytest.mark.parametrize("version", OLDER)
def test_an_older_python_makes_rows(version: str) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    Path("gpu_metrics.csv").write_text("timestamp, index, power.draw [W]\n2026/08/21 08:13:20.250, 0, 4 W\n")
    write_output("r.jsonl", SGLANG)
    ended = run("process", "--requests", "100", python=python)
    assert (ended.code, ended.err) == (0, "Wrote ./agg_r.json.\n")
    assert read_row()["conc"] == 8


def test_every_fault_is_a_line_of_the_log() -> None:
    write_output("r.json", {**VLLM, "max_concurrency": None})
    ended = run("process", TP="four", GITHUB_ACTIONS="true")
    assert ended.code == 1
    assert ended.err.splitlines() == [
        "::error title=infx row::TP is 'four'; expected a whole number.",
        "::error title=infx row::r.json: The client's output has no concurrency. Run the client with a limit "
        "(--max-concurrency).",
    ]


def test_a_measurement_with_failed_requests_ends_with_1() -> None:
    write_output("r.json", {**VLLM, "completed": 90, "failed": 10})
    ended = run("process")
    assert ended.code == 1
    assert "90 of 100 requests completed: 10 % failed, at most 5 % may." in ended.err
    assert "Wrote ./agg_r.json." in ended.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--result"], "Wrong arguments. See row.py process --help."),
        (["--results", "x"], "Wrong arguments. See row.py process --help."),
        (["x"], "Wrong arguments. See row.py process --help."),
        (["--client", "llama"], "No client is called llama. See row.py process --help."),
        (["--requests", "0"], "--requests is 0; expected a number of 1 or more."),
        (["--requests", "²"], "--requests is ²; expected a number of 1 or more."),
        (["--all", "--result", "nowhere"], "nowhere: No such file or directory."),
        (["--out", "r.json"], "r.json/agg_r.json: Not a directory."),
    ],
)
def test_a_wrong_command_line(arguments: list[str], problem: str) -> None:
    write_output("r.json", VLLM)
    ended = run("process", *arguments)
    assert (ended.code, ended.err) == (2, f"error: {problem}\n")


def test_the_help_lists_the_clients() -> None:
    ended = run("process", "--help")
    assert ended.code == 0
    assert all(client.name in ended.out for client in CLIENTS)


def test_the_start_of_a_row_reads_nothing_of_the_packed_part() -> None:
    """The last line has the modules that only other subcommands need; unpacking it costs a row's start."""
    text = pack_row_file()
    Path("row.py").write_text(text[: text.rindex("#")])
    assert run("run", "--help").code == 0
    assert run("process", "--help").code != 0


@pytest.mark.parametrize(
    ("planned", "script", "tput"),
    [(row(FIXED, 8), MAKE_ROW, 3000 / 8), (row(DISAGG, 8), MAKE_ROWS, 3000 / 32)],
    ids=["one engine", "roles"],
)
def test_the_rows_complete_the_sweep(planned: Row, script: str, tput: float) -> None:
    write_output("output.json", {**VLLM, "model_id": "acme/m1"})
    played = play(cut_plan(Path.cwd(), planned, ["sh", "-c", script]), out="out")
    Path("artifacts").mkdir()
    Path("out").rename(Path("artifacts", artifact_name(played.job)))
    called = call("results", "collect", "--plan", PLAN, "--artifacts", "artifacts", "--out", "results")
    assert called.code == 0, called.err
    [point] = json.loads(Path("results/results_bmk/agg_bmk.json").read_text())
    assert point["tput_per_gpu"] == tput
