"""`infx config check` as people and workflows call it: exit code, stdout, stderr."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.calling import Called, call
from tests.conftest import ROOT
from tests.matrix.samples import AGGREGATED, CLUSTERS, DISAGG, HARDWARE, LAUNCHED, SINGLE, change

BROKEN = change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, dcp-size: 3, conc-list: [4]}")
WHAT = (
    "m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].dcp-size: dcp-size 3 does not divide tp 8."
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the files of a repository that has no policy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    write(tmp_path, {"nvidia-master": SINGLE + DISAGG, "amd-master": AGGREGATED, "runners": HARDWARE})
    (tmp_path / "perf-changelog.yaml").write_text("")
    return tmp_path


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        target = folder / "configs" / f"{name}.yaml"
        target.parent.mkdir(exist_ok=True, parents=True)
        target.write_text(text, encoding="utf-8")


def check(*arguments: str) -> Called:
    return call("config", "check", *arguments)


def as_json(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = check("--format", "json", *arguments)
    values: dict[str, Any] = json.loads(result.out)
    return result.code, values


def test_valid_files_exit_0_with_a_summary_of_each_configuration(folder: Path) -> None:
    code, values = as_json()
    assert (code, values["ok"], values["problems"]) == (0, True, [])
    assert [config["key"] for config in values["configs"]] == [
        "m1-fp8-h200-vllm",
        "m2-fp4-gb200-dynamo-trt",
        "m3-fp8-gb200-dynamo-vllm",
    ]
    assert values["configs"][2] == {
        "key": "m3-fp8-gb200-dynamo-vllm",
        "path": "configs/amd-master.yaml",
        "line": 1,
        "model": "acme/m3",
        "model-prefix": "m3",
        "runner": "gb200",
        "framework": "dynamo-vllm",
        "precision": "fp8",
        "scenarios": ["8k1k"],
        "rows": 2,
        "errors": 0,
        "warnings": 0,
    }


def test_problems_of_all_files_come_in_one_report(folder: Path) -> None:
    write(
        folder,
        {"amd-master": BROKEN.replace("m1-fp8", "m4-fp8"), "runners": CLUSTERS, "models": "models: {}\n"},
    )
    code, values = as_json()
    assert code == 1
    assert values["ok"] is False
    assert [(problem["rule"], problem["path"], problem["line"]) for problem in values["problems"]] == [
        ("dcp-size", "configs/amd-master.yaml", 15),
        ("schema-missing-key", "configs/models.yaml", 1),
        ("runner-label-unknown", "configs/nvidia-master.yaml", 27),
    ]
    assert values["problems"][0] == {
        "rule": "dcp-size",
        "level": "error",
        "message": WHAT.replace("m1-fp8", "m4-fp8"),
        "path": "configs/amd-master.yaml",
        "line": 15,
        "hint": None,
    }


def test_warnings_alone_exit_0(folder: Path) -> None:
    write(folder, {"amd-master": change(AGGREGATED, "conc-list: [8]", "conc-list: [8, 8]")})
    code, values = as_json()
    assert (code, values["ok"]) == (0, True)
    assert [problem["level"] for problem in values["problems"]] == ["warning"]


@pytest.mark.parametrize("command", [["config", "check"], ["matrix", "full-sweep"]])
def test_a_hardware_record_without_a_label_is_only_a_warning(folder: Path, command: list[str]) -> None:
    write(folder, {"runners": HARDWARE + "  cluster:h100-x: {gpus-per-node: 8}\n"})
    result = call(*command)
    assert result.code == 0
    assert result.err.startswith(
        'warning: configs/runners.yaml:9: hardware.cluster:h100-x: "cluster:h100-x" is not among the labels'
    )


def test_rows_that_no_node_holds_are_planned_with_a_warning(folder: Path) -> None:
    """Rows of a label without runners are planned in the same way; config check reports both as errors."""
    write(
        folder, {"nvidia-master": change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 16, conc-list: [4]}")}
    )
    assert check().code == 1
    result = call("matrix", "full-sweep")
    assert result.code == 0
    assert "search-space[1]: the engine takes 16 GPUs; a node of cluster:h200-a has 8." in result.err


def test_a_table_has_a_line_for_each_configuration(folder: Path) -> None:
    write(folder, {"amd-master": BROKEN.replace("m1-fp8", "m4-fp8")})
    result = check("--format", "table")
    assert result.code == 1
    assert result.out.splitlines() == [
        "configuration            model  runner           framework   precision  scenarios             rows  problems",
        "configs/nvidia-master.yaml",
        "m1-fp8-h200-vllm         m1     cluster:h200-a   vllm        fp8        8k1k, agentic-coding    10",
        "m2-fp4-gb200-dynamo-trt  m2     cluster:gb200-a  dynamo-trt  fp4        8k1k, agentic-coding     2",
        "configs/amd-master.yaml",
        "m4-fp8-h200-vllm         m1     cluster:h200-a   vllm        fp8                                 ?  1 error",
    ]
    assert result.err.splitlines() == [
        f"configs/amd-master.yaml:15: {WHAT.replace('m1-fp8', 'm4-fp8')}",
        "3 configurations in 2 files, 12 rows: 1 error, 0 warnings.",
    ]


def test_it_works_in_a_subfolder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "configs")
    write(folder, {"amd-master": BROKEN.replace("m1-fp8", "m4-fp8")})
    assert [problem["path"] for problem in as_json()[1]["problems"]] == ["amd-master.yaml"]


def test_another_clusters_file_can_be_named(folder: Path) -> None:
    write(folder, {"clusters": LAUNCHED, "short": LAUNCHED.replace("time: 780", "time: 10")})
    assert as_json()[1]["problems"] == []
    code, values = as_json("--clusters", "configs/short.yaml")
    assert code == 0
    assert {(problem["rule"], problem["path"]) for problem in values["problems"]} == {
        ("launch-time", "configs/short.yaml")
    }
    assert check("--clusters", "configs/missing.yaml").code == 2
    assert check("--srt", "configs/missing.yaml").code == 2


def test_scripts_of_the_checkout_are_compared(folder: Path) -> None:
    """The folder has a script for rows of fixed lengths, but none for AgentX."""
    write(folder, {"clusters": LAUNCHED})
    script = folder / "benchmarks/single_node/fixed_seq_len/m1_fp8_h200.sh"
    script.parent.mkdir(parents=True)
    script.write_text("")
    code, values = as_json()
    assert code == 1
    assert [(p["rule"], p["line"]) for p in values["problems"]] == [("launch-script", 1)]


def test_single_files_can_be_named(folder: Path) -> None:
    write(folder, {"mine": BROKEN, "models": "models: {}\n"})
    code, values = as_json("--config-file", "configs/mine.yaml", "--runner-config", "configs/runners.yaml")
    assert code == 1
    assert [problem["path"] for problem in values["problems"]] == ["configs/mine.yaml"]


def test_a_missing_inventory_is_a_warning_if_files_are_named(folder: Path) -> None:
    (folder / "configs/runners.yaml").unlink()
    code, values = as_json("--config-file", "configs/amd-master.yaml")
    assert code == 0
    assert values["problems"] == [
        {
            "rule": "file-missing",
            "level": "warning",
            "message": "There is no such file. Runner labels and memory budgets were not checked.",
            "path": "configs/runners.yaml",
            "line": None,
            "hint": "Add the file, or name another one in the policy or on the command line.",
        }
    ]


@pytest.mark.parametrize("path", ["configs/amd-master.yaml", "configs/runners.yaml", "perf-changelog.yaml"])
def test_a_file_that_the_policy_names_must_exist(folder: Path, path: str) -> None:
    (folder / path).unlink()
    code, values = as_json()
    assert code == 1
    errors = [problem for problem in values["problems"] if problem["level"] == "error"]
    assert [(problem["rule"], problem["path"]) for problem in errors] == [("file-missing", path)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--config-file", "none.yaml"],
            "none.yaml: The file cannot be read: No such file or directory. Check the path.",
        ),
        (
            ["--runner-config", "none.yaml"],
            "none.yaml: The file cannot be read: No such file or directory. Check the path.",
        ),
        (["--config-file", "configs"], "configs: The file cannot be read: Is a directory. Check the path."),
        (
            ["--policy", "none.yaml"],
            "none.yaml: The policy cannot be read: No such file or directory. Check the path.",
        ),
    ],
)
def test_a_named_file_that_cannot_be_read_is_a_usage_error(
    folder: Path, arguments: list[str], words: str
) -> None:
    called = call("config", "check", *arguments)
    assert called.code == 2
    assert called.err.splitlines() == [words]


def test_a_folder_without_configurations_says_what_was_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    called = call("config", "check")
    assert called.code == 2
    assert called.err == (
        "There are no configurations here; expected configs/nvidia-master.yaml or configs/amd-master.yaml. "
        "Run this inside a repository with configurations, name them with --config-file, or make the first ones with infx init.\n"
    )


def test_the_policy_says_where_files_are(folder: Path) -> None:
    write(folder, {"policy": "master-configs: [configs/one.yaml]\nrunners: configs/inventory.yaml\n"})
    (folder / "configs/nvidia-master.yaml").rename(folder / "configs/one.yaml")
    (folder / "configs/runners.yaml").rename(folder / "configs/inventory.yaml")
    code, values = as_json()
    assert code == 0
    assert {config["path"] for config in values["configs"]} == {"configs/one.yaml"}


def test_labels_of_the_queue_are_compared_with_the_policy(folder: Path) -> None:
    write(folder, {"ci-priority": "version: 1\nbase-score: 1.0\nlabels: {skip-queue: {name: skip-queue}}\n"})
    code, values = as_json()
    assert code == 1
    assert [problem["hint"] for problem in values["problems"]] == ["Did you mean skip_queue?"]


def test_every_file_of_golden_lengths_is_checked(folder: Path) -> None:
    write(
        folder,
        {"golden-al/m1_mtp": "acme/m1: {thinking_on: {1: 1.79}}\n", "golden-al/m2_mtp": "acme/m2: {}\n"},
    )
    assert [problem["path"] for problem in as_json()[1]["problems"]] == ["configs/golden-al/m2_mtp.yaml"]


def test_foreign_text_moves_no_cursor_and_starts_no_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, {"amd-master": '"::error::m1\\e[31m": {model: "\\e[2Jx"}\n"m2\\nm3": {}\n'})
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("INFX_POLICY", str(ROOT / "infx/policy/default.yaml"))
    for output in ("table", "json"):
        result = check("--format", output)
        assert result.code == 1
        assert "\x1b" not in result.out + result.err
        foreign = [line for line in result.out.splitlines() if line.lstrip().startswith("::")]
        assert not foreign


def test_an_empty_file_is_a_problem_and_not_in_the_table(folder: Path) -> None:
    write(folder, {"amd-master": ""})
    result = check("--format", "table")
    assert result.code == 1
    assert (
        result.err.splitlines()[0] == "configs/amd-master.yaml:1: The file holds nothing; expected a mapping."
    )


def test_the_projects_own_configurations_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code, values = as_json()
    assert (code, values["problems"]) == (0, [])
    assert len(values["configs"]) >= 25


def test_real_data_has_exactly_the_known_errors(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight configurations name labels without runners; rows and a point are duplicates; three name a partition."""
    monkeypatch.chdir(shared / "inferencex")
    code, values = as_json()
    assert code == 1
    assert len(values["configs"]) == 208
    # 70 rows belong to the eight configurations without runners; the table counts them too.
    assert sum(config["rows"] for config in values["configs"]) == 1820
    errors = [problem for problem in values["problems"] if problem["level"] == "error"]
    assert [
        (problem["rule"], problem["message"].split(".runner: ")[0], problem["hint"]) for problem in errors
    ] == [
        ("runner-label-unknown", key, hint)
        for key, hint in [
            (
                "dsv4-fp8-mi325x-vllm",
                "Did you mean cluster:mi300x-tw or cluster:mi325x-amds or cluster:mi355x-amds?",
            ),
            (
                "dsv4-fp8-mi325x-vllm-mtp",
                "Did you mean cluster:mi300x-tw or cluster:mi325x-amds or cluster:mi355x-amds?",
            ),
            ("dsv4-fp8-h200-sglang", "Did you mean cluster:h200-dgxc?"),
            ("dsv4-fp8-h200-sglang-mtp", "Did you mean cluster:h200-dgxc?"),
            ("dsr1-fp8-gb300-dynamo-trt", "Did you mean cluster:gb300-nv?"),
            ("dsv4-fp4-gb300-dynamo-vllm", "Did you mean cluster:gb300-nv?"),
            ("dsv4-fp4-gb300-dynamo-trt", "Did you mean cluster:gb300-nv?"),
            ("dsv4-fp4-gb300-dynamo-trt-mtp", "Did you mean cluster:gb300-nv?"),
        ]
    ]
    warnings = [problem for problem in values["problems"] if problem["level"] == "warning"]
    assert [(problem["rule"], problem["line"]) for problem in warnings] == [
        ("points-overlap", 856),
        ("rows-identical", 7099),
        ("rows-identical", 7100),
        ("rows-identical", 7114),
        ("launch-setting", 8289),
        ("launch-setting", 9184),
        ("launch-setting", 9219),
    ]
