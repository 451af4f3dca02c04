"""`infx launch render` as people and scripts call it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.calling import Called, call
from tests.launch.samples import CLUSTERS, ROW, SCRIPT
from tests.launch.srt_samples import MULTI_ROW, SRT

CANARY = "hf_canary_token_that_nothing_may_show"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with clusters, a row's script, and the row in a file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.setenv("HF_TOKEN", CANARY)
    for name, text in {
        ".git/HEAD": "",
        "configs/clusters.yaml": CLUSTERS,
        "srt.yaml": SRT,
        SCRIPT: "",
        "row.json": json.dumps(ROW),
        "multi.json": json.dumps(MULTI_ROW),
        "host.json": json.dumps({"job": "17", "paths": [SCRIPT]}),
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def render(*arguments: str, row: str = "row.json", runner: str = "h200-a_00") -> Called:
    return call("launch", "render", "--row", row, "--runner", runner, *arguments)


def test_steps_are_json_for_scripts(folder: Path) -> None:
    called = render()
    assert called.code == 0, called.err
    assert [step["name"] for step in called.json["steps"]] == ["allocate", "import", "run"]
    assert called.json["job-name"] == "infx-h200-a_00"
    assert called.json["steps"][2]["argv"][-2:] == ["bash", SCRIPT]
    assert f"{folder}:/workspace" in next(
        part for part in called.json["steps"][2]["argv"] if part.startswith("--container-mounts=")
    )


def test_steps_are_a_table_for_people(folder: Path) -> None:
    called = render("--format", "table", "--host", "host.json")
    assert called.code == 0, called.err
    assert "allocate  120 min  salloc --partition=batch" in called.out
    assert "released by: scancel 17" in called.out
    assert "(script)" in called.out
    assert called.out.endswith(
        "h200-a: slurm. Secrets by name: HF_TOKEN, MODAL_TOKEN_ID, MODAL_TOKEN_SECRET.\n"
    )


@pytest.mark.parametrize("form", ["json", "table"])
@pytest.mark.parametrize("runner", ["h200-a_00", "h200-once_1", "h200-docker_1", "h200-bare_1"])
def test_the_value_of_a_secret_is_never_shown(folder: Path, runner: str, form: str) -> None:
    called = render("--format", form, runner=runner)
    assert called.code == 0, called.err
    assert "HF_TOKEN" in called.out
    assert CANARY not in called.out + called.err


def test_a_row_on_several_nodes_takes_srt_slurm(folder: Path) -> None:
    called = call(
        "launch", "render", "--row", "multi.json", "--runner", "h200-a_0", "--srt", "srt.yaml", "--format", "json"
    )  # fmt: skip
    assert called.code == 0, called.err
    assert [step["name"] for step in called.json["steps"]] == [
        "fetch", "checkout", "overlay", "install", "import", "import", "configure", "edit-recipe", "submit", "run",
        "collect",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--runner", "h200-a_0"], 2, "The row is missing. Give --plan with --id, or --row."),
        (["--runner", "h200-a_0", "--plan", "configs"], 2, "The row is missing."),
        (["--runner", "h200-a_0", "--row", "row.json", "--id", "x"], 2, "The row is missing."),
        (["--runner", "h200-a_0", "--row", "host.json"], 2, "host.json: This is not a row of a plan"),
        (["--runner", "h200-a_0", "--row", "srt.yaml"], 2, "srt.yaml: The row is not JSON"),
        (["--runner", "h200-b_0", "--row", "row.json"], 1, 'The runner "h200-b_0" belongs to no cluster'),
        (["--runner", "h200-a_0", "--row", "multi.json"], 1, "Name the file with --srt"),
        (["--runner", "h200-a_0", "--row", "row.json", "--clusters", "srt.yaml"], 1, 'unknown key "tool"'),
        (["--runner", "h200-a_0", "--row", "row.json", "--host", "row.json"], 2, "The host facts are not valid"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(folder: Path, arguments: list[str], code: int, message: str) -> None:
    called = call("launch", "render", *arguments)
    assert called.code == code
    assert message in called.err


def test_a_row_without_a_script_is_refused(folder: Path) -> None:
    (folder / SCRIPT).unlink()
    called = render()
    assert called.code == 1
    assert called.err.startswith("None of the candidates for script exists: benchmarks/single_node/")


def test_config_check_reports_problems_of_clusters(folder: Path) -> None:
    (folder / "configs/clusters.yaml").write_text(CLUSTERS.replace("gpu: h200}", "gpus: 8}", 1))
    (folder / "configs/nvidia-master.yaml").write_text("{}\n")
    problems: list[dict[str, Any]] = call("config", "check", "--format", "json").json["problems"]
    (problem,) = (problem for problem in problems if problem["path"] == "configs/clusters.yaml")
    assert problem["line"] == 9
    assert 'unknown key "gpus"' in problem["message"]
