"""infx plan and infx matrix: from files and revisions to JSON, warnings and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.calling import call
from tests.matrix.inputs import RUNNERS, agentic, entry, single
from tests.repository import Repository

ROW = "{tp: 8, conc-list: [4, 64]}"
CONFIG = single("m1-fp8-h200-vllm", ROW)
FILES = {
    "configs/nvidia-master.yaml": CONFIG,
    "configs/amd-master.yaml": "{}\n",
    "configs/runners.yaml": RUNNERS,
    "perf-changelog.yaml": entry("gone-fp8-h100-vllm") + "\n",
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository.init(tmp_path)
    made.commit(FILES)
    made.branch("pull")
    monkeypatch.chdir(tmp_path)
    return made


def append(repository: Repository, text: str, **files: str) -> None:
    """Make a commit on the branch with a new entry and other changes."""
    before = (repository.path / "perf-changelog.yaml").read_text()
    changed = {f"configs/{name}-master.yaml": content for name, content in files.items()}
    repository.commit({"perf-changelog.yaml": before + text, **changed})


def plan(*arguments: str) -> dict[str, Any]:
    called = call("plan", "--base-ref", "main", "--head-ref", "pull", *arguments)
    assert called.code == 0, called.err
    result: dict[str, Any] = json.loads(called.out)
    return result


def count(values: dict[str, Any]) -> dict[str, int]:
    """Return bucket → number of rows, without empty buckets."""
    counts = {
        f"{name}.{kind}": len(rows)
        for name in ("single_node", "multi_node")
        for kind, rows in values[name].items()
    }
    counts |= {name: len(values[name]) for name in values if name.endswith("evals")}
    return {name: rows for name, rows in counts.items() if rows}


def test_configurations_are_read_at_the_head_not_from_the_working_tree(repository: Repository) -> None:
    append(repository, entry("*"), nvidia=CONFIG.replace("[4, 64]", "[8]"))
    repository.checkout("main")
    assert [row["conc"] for row in plan()["single_node"]["8k1k"]] == [8]


def test_the_base_is_the_merge_base(repository: Repository) -> None:
    """Entries that main has gained since are not planned, and their absence is not an error."""
    append(repository, entry("m1-fp8-h200-vllm"))
    head = repository.git.commit("HEAD")
    base = repository.git.commit("main")
    repository.checkout("main")
    append(repository, entry("other"))
    metadata = plan()["changelog_metadata"]
    assert (metadata["base_ref"], metadata["head_ref"]) == (base, head)
    assert [entry["config-keys"] for entry in metadata["entries"]] == [["m1-fp8-h200-vllm"]]


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ([], {"single_node.8k1k": 2, "evals": 1}),
        (["--trim-conc"], {"single_node.8k1k": 1, "evals": 1}),
        (["--evals-only"], {"evals": 1}),
        (["--all-evals"], {"single_node.8k1k": 2, "evals": 2}),
        (["--all-evals", "--evals-only"], {"evals": 2}),
        (["--strict", "--fast"], {"single_node.8k1k": 2, "evals": 1}),
    ],
)
def test_options(repository: Repository, options: list[str], rows: dict[str, int]) -> None:
    append(repository, entry("m1-fp8-h200-vllm"))
    assert count(plan(*options)) == rows


def test_a_correction_of_links_plans_zero_rows(repository: Repository) -> None:
    text = FILES["perf-changelog.yaml"].replace("XXX", "https://github.com/acme/bench/pull/9")
    repository.commit({"perf-changelog.yaml": text})
    assert count(plan()) == {}


def test_append_only_entries_are_compared_with_the_base_revision(repository: Repository) -> None:
    append(
        repository,
        entry("m1-fp8-h200-vllm", append_only="true"),
        nvidia=CONFIG.replace("[4, 64]", "[4, 32, 64]"),
    )
    values = plan()
    assert [row["conc"] for row in values["single_node"]["8k1k"]] == [32]
    assert count(values) == {"single_node.8k1k": 1}


def test_errors_at_the_base_do_not_refuse_the_head(repository: Repository) -> None:
    repository.checkout("main")
    base = repository.commit({"configs/nvidia-master.yaml": CONFIG.replace("tp: 8", "tp: 0")})
    repository.branch("other")
    append(repository, entry("m1-fp8-h200-vllm", append_only="true"), nvidia=CONFIG)
    called = call("plan", "--base-ref", "main", "--head-ref", "other")
    where = "m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[0].tp"
    assert (called.code, called.err) == (
        1,
        f"{base[:12]}:configs/nvidia-master.yaml:14: {where}: found 0; expected at least 1.\n",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Nothing was added to the changelog, so there is nothing to plan. Append an entry."),
        (entry("m1-fp8-h200-vlm"), "perf-changelog.yaml:5: There is no configuration 'm1-fp8-h200-vlm'"),
        ("  - wrong\n", "perf-changelog.yaml:5: This is not YAML"),
    ],
)
def test_refusals_print_no_plan(repository: Repository, text: str, words: str) -> None:
    append(repository, text)
    called = call("plan", "--base-ref", "main", "--head-ref", "pull")
    assert (called.code, called.out) == (1, "")
    assert words in called.err


def test_a_label_without_runners_is_a_warning_or_a_strict_error(repository: Repository) -> None:
    append(repository, entry("*"), nvidia=single("m1-fp8-h200-vllm", ROW, runner="h20"))
    arguments = ("plan", "--base-ref", "main", "--head-ref", "pull", "--format", "json")
    words = 'configs/nvidia-master.yaml:8: m1-fp8-h200-vllm.runner: configs/runners.yaml has no runner label "h20".'
    called = call(*arguments)
    assert (called.code, len(json.loads(called.out)["single_node"]["8k1k"])) == (0, 2)
    assert f"warning: {words} Did you mean h200?" in called.err
    called = call(*arguments, "--strict")
    assert (called.code, called.out) == (1, "")
    assert called.err.startswith(words)


def test_configurations_that_no_entry_names_are_not_checked(repository: Repository) -> None:
    broken = "other:\n  image: 7\n"
    append(repository, entry("m1-*"), nvidia=CONFIG + broken)
    assert count(plan("--strict")) == {"single_node.8k1k": 2, "evals": 1}


def test_a_file_of_the_policy_that_the_head_lacks(repository: Repository) -> None:
    append(repository, entry("*"))
    repository.git.run("rm", "--quiet", "configs/amd-master.yaml")
    repository.git.run("commit", "--quiet", "--message", "gone")
    called = call("plan", "--base-ref", "main", "--head-ref", "pull")
    assert called.code == 2
    assert called.err.startswith("configs/amd-master.yaml does not exist at ")


@pytest.mark.parametrize(("base", "head"), [("main", "main"), ("feat-x", "main"), ("feat-x", "feat-x")])
def test_a_base_that_contains_the_head_is_a_usage_error(repository: Repository, base: str, head: str) -> None:
    """The caller has probably lost the base."""
    repository.branch("feat-x", "main")
    repository.commit({"README": "x"})
    called = call("plan", "--base-ref", base, "--head-ref", head)
    assert (called.code, called.out) == (2, "")
    assert "The base already contains the head" in called.err


def test_an_unknown_revision(repository: Repository) -> None:
    called = call("plan", "--base-ref", "nowhere", "--head-ref", "pull")
    assert (called.code, "Fetch it first" in called.err) == (3, True)


def test_matrix_reads_the_policys_files_from_any_folder(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.path / "configs")
    called = call("matrix", "full-sweep")
    assert called.code == 0
    assert [(row["tp"], row["conc"], row["run-eval"]) for row in json.loads(called.out)] == [
        (8, 4, False),
        (8, 64, True),
    ]


def test_two_files_with_one_key(repository: Repository) -> None:
    repository.write({"configs/amd-master.yaml": CONFIG})
    called = call("matrix", "full-sweep")
    assert called.code == 1
    assert (
        "configs/amd-master.yaml:1: m1-fp8-h200-vllm: the key is also in configs/nvidia-master.yaml:1."
        in called.err
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--no-evals", "--evals-only"], "--no-evals and --evals-only contradict each other."),
        (["--no-evals", "--all-evals"], "--no-evals and --all-evals contradict each other."),
        (["--smoke", "--trim-conc"], "--smoke and --trim-conc contradict each other."),
        (["--smoke", "--no-evals"], "--smoke and --no-evals contradict each other."),
        (["--min-conc", "8", "--max-conc", "4"], "--min-conc 8 is larger than --max-conc 4."),
        (["--step-size", "1"], "1 is not in the range x>=2"),
        (["--seq-len", "1k8k"], "'1k8k' is not one of"),
        (["--config-file", "nowhere.yaml"], "nowhere.yaml: The file cannot be read"),
    ],
)
def test_wrong_options_are_a_usage_error(repository: Repository, arguments: list[str], words: str) -> None:
    called = call("matrix", "full-sweep", *arguments)
    assert (called.code, called.out) == (2, "")
    assert words in called.err


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (["--config-key", "m1-*"], ["4", "64", "1", "8"]),
        (["--config-key", "*-agentic", "--config-key", "*-vllm"], ["1", "8", "4", "64"]),
        (["--config-key", "m1-*", "--conc", "8", "--conc", "4"], ["4", "8"]),
        (["--config-key", "m1-*", "--seq-len", "1k1k"], ["1", "8"]),  # AgentX has no sequence length
        (["--config-key", "m1-*", "--scenario-type", "fixed-seq-len"], ["4", "64"]),
        (["--config-key", "m1-*", "--multi-node"], []),
        (["--config-key", "m1-*", "--exp-name", "m1_tp4_conc8_kvnone"], ["8"]),
        (["--config-key", "m1-*", "--trim-conc"], ["4", "1"]),
        (["--config-key", "m1-*", "--smoke"], ["4", "1", "64", "8"]),
        (["--config-key", "*-agentic", "--runner-node-filter", "a_0"], ["1", "8"]),
    ],
)
def test_test_config(repository: Repository, arguments: list[str], rows: list[str]) -> None:
    coding = agentic("m1-fp8-h200-vllm-agentic", "{tp: 4, kv-offloading: none, conc-list: [1, 8]}")
    repository.write({"configs/nvidia-master.yaml": CONFIG + coding})
    called = call("matrix", "test-config", *arguments)
    assert called.code == 0, called.err
    assert [str(row["conc"]) for row in json.loads(called.out)] == rows
    assert ("No row of the configurations matches these options." in called.err) is (rows == [])


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["m1_8k1k"], "'m1_8k1k' matches 2 rows; expected one."),
        (["m1_8k2k"], "'m1_8k2k' is not a row of this selection. Did you mean m1_8k1k?"),
        (["m1_8k2k", "m1_8k2k"], "'m1_8k2k' is named twice. Name it once."),
    ],
)
def test_an_experiment_name_must_match_one_row(repository: Repository, names: list[str], words: str) -> None:
    options = [part for name in names for part in ("--exp-name", name)]
    called = call("matrix", "test-config", "--config-key", "*", *options)
    assert called.code == 2
    assert f"The experiment name {words}" in called.err


def test_smoke_rows_have_their_usual_accuracy_row(repository: Repository) -> None:
    called = call("matrix", "test-config", "--config-key", "*", "--smoke")
    rows = [(row["conc"], row["run-eval"], row.get("eval-only")) for row in json.loads(called.out)]
    assert rows == [(4, False, None), (64, True, True)]
