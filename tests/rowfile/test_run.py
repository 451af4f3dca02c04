"""The row file: a command's files are gathered, and the job's log says which came and which did not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from infx.bench.row import Row
from infx.bench.uploads import artifact_name, list_required
from infx.rowfile.record import RECORD
from tests import made_results
from tests.calling import call, read_outputs
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row
from tests.results.made import make_jobs
from tests.rowfile.playing import OLDER, PLAN, Played, cut_plan, find_python, play, program, replace_in

ROWS = {
    "fixed": row(FIXED, 8),
    "agentic": row(AGENTIC, 8),
    "multi-node": row(DISAGG, 4, 8),
    "accuracy": row(FIXED, 8, eval_only=True),
}
MADE = f"import runpy; runpy.run_path({made_results.__file__!r}, run_name='__main__')"
REQUIRED = {
    "fixed": "agg_{name}*.json",
    "agentic": "agg_{name}*.json",
    "multi-node": "agg_{name}*.json",
    "accuracy": "meta_env.json or results*.json",
}


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def play_script(planned: Row, script: str, **variables: str) -> Played:
    """Run a row whose command is a Python script; the script may name `name`, the row's result name."""
    text = f"import os, pathlib, sys\nname = os.environ['RESULT_FILENAME']\n{script}\n"
    Path("work.py").write_text(text)
    return play(cut_plan(Path.cwd(), planned, [sys.executable, "work.py"]), **variables)


def find_results(folder: str) -> list[str]:
    """Return the names of the gathered files; every job also leaves its record."""
    names = sorted(path.name for path in Path(folder).iterdir())
    assert RECORD in names
    return [name for name in names if name != RECORD]


@pytest.mark.parametrize("kind", ROWS)
def test_the_log_names_the_gathered_files(kind: str) -> None:
    played = play_script(ROWS[kind], MADE)
    assert played.code == 0
    names = find_results("out")
    counted = "1 file" if len(names) == 1 else f"{len(names)} files"
    first, *judged = played.err.splitlines()
    assert first == f"Gathered {counted} in out: {', '.join(names)}."
    assert {line[:4] for line in judged} == ({"PASS"} if kind == "accuracy" else set())


@pytest.mark.parametrize("version", OLDER)
def test_an_older_python_is_enough(version: str) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    Path("work.py").write_text(f"import os, pathlib\n{MADE}\n")
    job = cut_plan(Path.cwd(), ROWS["fixed"], [sys.executable, "work.py"])
    played = play(job, python=python)
    assert (played.code, played.err) == (0, f"Gathered 1 file in out: agg_{job.result_name}.json.\n")


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7"])
def test_a_python_that_is_too_old_says_so(version: str) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    job = cut_plan(Path.cwd(), ROWS["fixed"], ["true"])
    command = [python, f"{PLAN}/row.py", *program(job.id)[4:]]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stderr) == (
        2,
        "error: the row file needs Python 3.8 or newer on this machine; set INFX_PYTHON to one.\n",
    )


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize(("ends", "code"), [(0, 1), (3, 3)])
def test_a_command_that_leaves_nothing_has_failed(ends: int, code: int, kind: str) -> None:
    played = play_script(ROWS[kind], f"sys.exit({ends})")
    assert played.code == code
    required = REQUIRED[kind].format(name=played.job.result_name)
    assert played.err == f"The row command ended with {ends} and left no new {required}.\n"
    assert find_results("out") == []


@pytest.mark.parametrize(
    ("kind", "script", "missing"),
    [
        ("fixed", "pathlib.Path('meta_env.json').write_text('{}')", "agg_{name}*.json"),
        ("fixed", "pathlib.Path('agg_other.json').write_text('{}')", "agg_{name}*.json"),
        ("fixed", "pathlib.Path(f'agg_{name}.json').symlink_to('/dev/null')", "agg_{name}*.json"),
        ("fixed", "pathlib.Path(f'agg_{name}.json').mkdir()", "agg_{name}*.json"),
        ("accuracy", "pathlib.Path('meta_env.json').write_text('{}')", "results*.json"),
        ("accuracy", "pathlib.Path('results.json').write_text('{}')", "meta_env.json"),
        ("accuracy", "pathlib.Path('samples_x.jsonl').write_text('{}')", "meta_env.json or results*.json"),
        ("accuracy", "pathlib.Path(f'agg_{name}.json').write_text('{}')", "meta_env.json or results*.json"),
    ],
)
def test_files_of_another_kind_are_not_the_result(kind: str, script: str, missing: str) -> None:
    played = play_script(ROWS[kind], script)
    assert played.code == 1
    assert f"left no new {missing.format(name=played.job.result_name)}." in played.err


def test_an_old_result_does_not_count() -> None:
    script = "path = pathlib.Path(f'agg_{name}.json'); path.write_text('{}'); os.utime(path, (1, 1))"
    played = play_script(ROWS["fixed"], script)
    assert played.code == 1
    assert "left no new agg_" in played.err


def test_a_result_from_before_the_start_is_not_gathered() -> None:
    """However short a time before: the row that ran there last may have ended just now."""
    played = play_script(ROWS["fixed"], MADE)
    assert played.code == 0
    Path("work.py").write_text("")
    again = play(played.job, out="again")
    assert again.code == 1
    assert again.err == f"The row command ended with 0 and left no new agg_{played.job.result_name}*.json.\n"
    assert find_results("again") == []


def test_results_may_stay_in_the_folder_of_the_command() -> None:
    Path("work.py").write_text(f"import os, pathlib\n{MADE}\n")
    job = cut_plan(Path.cwd(), ROWS["fixed"], [sys.executable, "work.py"])
    played = play(job, out=".")
    assert (played.code, played.err) == (0, f"Gathered 1 file in .: agg_{job.result_name}.json.\n")


def test_names_of_files_are_foreign_and_may_be_many() -> None:
    script = (
        "pathlib.Path(f'agg_{name}.json').write_text('{}')\n"
        "pathlib.Path('results\\n::error::x.json').write_text('{}')\n"
        "pathlib.Path('results##[error]x.json').write_text('{}')\n"
        "for number in range(30): pathlib.Path(f'results{number:02}.json').write_text('{}')"
    )
    played = play_script(ROWS["fixed"], script, GITHUB_ACTIONS="true")
    assert played.code == 0
    assert played.err.startswith("Gathered 33 files in out: agg_")
    assert played.err.endswith("and 13 more.\n")
    assert r"results\n::error::x.json" in played.err
    assert "##[" not in played.err


def test_commands_of_the_runner_are_off_before_the_row_starts() -> None:
    played = play_script(ROWS["fixed"], "print('::error::x')", GITHUB_ACTIONS="true")
    first, second = played.out.splitlines()
    assert first.startswith("::stop-commands::")
    assert len(first) > len("::stop-commands::") + 20
    assert second == "::error::x"


def test_the_row_command_gets_no_token_and_no_file_of_the_runner() -> None:
    withheld = dict.fromkeys(
        ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENV", "GITHUB_PATH", "ACTIONS_RUNTIME_TOKEN"), "secret"
    )
    script = f"print([name for name in {list(withheld)} if name in os.environ], os.environ['TP'], os.environ['HOME'])"
    played = play_script(
        ROWS["fixed"], script, HOME="/home/runner", GITHUB_OUTPUT=str(Path("o").absolute()), **withheld
    )
    assert played.out == "[] 8 /home/runner\n"


def test_the_upload_gets_its_name_before_the_command_runs() -> None:
    script = "print(pathlib.Path('o').read_text())"
    played = play_script(ROWS["fixed"], script, GITHUB_OUTPUT=str(Path("o").absolute()))
    assert read_outputs(Path("o").read_text()) == {"artifact-name": artifact_name(played.job)}
    assert artifact_name(played.job) in played.out


def test_a_command_that_takes_too_long_is_stopped() -> None:
    """The plan holds whole minutes; a test has less time."""
    Path("work.py").write_text("import time; time.sleep(200)")
    job = cut_plan(Path.cwd(), ROWS["fixed"], [sys.executable, "work.py"])
    replace_in("rows.env", "minutes=5\0", "minutes=0.01\0")
    played = play(job)
    assert played.code == 124
    assert played.err.startswith("error: The row command ran longer than 0.01 minutes and was stopped.\n")


def test_a_command_that_does_not_exist() -> None:
    played = play(cut_plan(Path.cwd(), ROWS["fixed"], ["no-such-program"]))
    assert played.code == 2
    assert played.err == (
        "error: The row command no-such-program cannot be started: No such file or directory."
        " The policy names it, under sweep.row-command.\n"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: Path(PLAN, "rows.env").unlink(), "there is no plan folder here: No such file or directory."),
        (lambda: replace_in("rows.env", "minutes=5", "minutes=x"), "the plan folder cannot be read: "),
        (lambda: replace_in("rows.env", "minutes=5", "minutes"), "the plan folder cannot be read: "),
        (lambda: replace_in("rows.env", "minutes=5\0", ""), "the plan folder cannot be read: "),
        (lambda: Path(PLAN, "rows.env").write_text(""), "the plan has no row "),
    ],
)
def test_a_damaged_plan(change: object, message: str) -> None:
    job = cut_plan(Path.cwd(), ROWS["fixed"], ["true"])
    assert callable(change)
    change()
    played = play(job)
    assert played.code == 2
    assert played.err.startswith(f"error: {PLAN}: {message}")


@pytest.mark.parametrize("kind", ROWS)
def test_every_kind_of_row_requires_a_file(kind: str) -> None:
    """Also for a kind of row that does not exist yet."""
    [job] = make_jobs([ROWS[kind]])
    assert list_required(job)


def test_equal_plans_have_equal_row_files(tmp_path: Path) -> None:
    """So that the sums of a repeated plan job are those that the rows of an earlier attempt know."""
    job = cut_plan(tmp_path, ROWS["fixed"], ["true"])
    first = Path(PLAN, "row.py").read_bytes()
    shutil.rmtree(PLAN)
    assert cut_plan(tmp_path, ROWS["fixed"], ["true"]) == job
    assert Path(PLAN, "row.py").read_bytes() == first


def test_the_row_file_explains_itself() -> None:
    job = cut_plan(Path.cwd(), ROWS["fixed"], ["true"])
    asked = subprocess.run([*program(job.id)[:5], "--help"], capture_output=True, text=True, check=False)
    assert asked.returncode == 0
    assert "where the row command runs (default: the current folder)" in asked.stdout


def test_the_sums_are_those_that_sha256sum_checks() -> None:
    cut_plan(Path.cwd(), ROWS["fixed"], ["true"])
    shutil.rmtree(PLAN)
    called = call("shards", "--policy", "policy.yaml", "--plan", "plan.json", "--out", PLAN)
    check = ["sha256sum", "--check", "--strict", "--quiet"]
    for expected in (0, 1):
        checked = subprocess.run(check, input=called.outputs["sums"], text=True, cwd=PLAN, check=False)
        assert checked.returncode == expected
        with Path(PLAN, "row.py").open("ab") as file:
            file.write(b"#")
    assert len(called.outputs["sums"].splitlines()) == len(list(Path(PLAN).iterdir()))
