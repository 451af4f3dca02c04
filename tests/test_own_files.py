"""The project's own configurations and changelog, which newcomers read as an example, follow every rule."""

from __future__ import annotations

import fnmatch
import json
import re
from collections import Counter
from functools import cache
from typing import Any

import pytest

from infx import yaml12
from infx.bench.config import Config, KvOffloading
from infx.bench.entry import Entry
from infx.changelog.delta import read_entries
from infx.launch.clusters import Clusters, load_clusters
from infx.launch.render import render_row_launch
from infx.launch.steps import StepName
from infx.matrix.launches import find_clusters, make_task, parse_row_job
from infx.matrix.parse import parse_master
from infx.matrix.runners import parse_runners
from infx.policy.load import parse_policy
from infx.policy.model import Policy
from tests.calling import call
from tests.conftest import ROOT

OPEN_ENGINES = {"vllm", "dynamo-vllm", "sglang", "sglang-disagg", "dynamo-sglang"}


@cache
def policy() -> Policy:
    return parse_policy((ROOT / "configs/policy.yaml").read_bytes(), "configs/policy.yaml")


@cache
def configs() -> dict[str, Config]:
    by_key: dict[str, Config] = {}
    for path in policy().master_configs:
        by_key |= parse_master((ROOT / path).read_bytes(), path).configs
    return by_key


def entries() -> tuple[Entry, ...]:
    return read_entries((ROOT / policy().changelog).read_bytes(), policy().changelog)


def load(path: str, *, text_keys: bool = False) -> dict[str, Any]:
    value: dict[str, Any] = yaml12.load((ROOT / path).read_bytes(), path, text_keys=text_keys).value
    return value


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def rows_of(key: str) -> list[dict[str, Any]]:
    called = call("matrix", "test-config", "--config-key", key, "--no-evals")
    assert called.code == 0
    rows: list[dict[str, Any]] = json.loads(called.out)
    return rows


def test_the_projects_own_configurations_have_no_problems() -> None:
    called = call("config", "check", "--format", "json")
    assert called.code == 0
    report = json.loads(called.out)
    assert (report["ok"], report["problems"]) == (True, [])


def test_they_cover_what_infx_can_plan() -> None:
    """They have both vendors, one and several nodes, one and two roles, fixed lengths and sessions, DRAM and none."""
    kinds = Counter(
        (config.multinode, config.disagg, bool(config.fixed), bool(config.agentic))
        for config in configs().values()
    )
    assert len(configs()) == 29
    assert set(kinds) == {
        (False, False, True, False), (False, False, False, True),
        (True, False, True, False), (True, False, False, True),
        (True, True, True, False), (True, True, False, True),
    }  # fmt: skip
    rows = [row for c in configs().values() for fixed in c.fixed for row in fixed.search_space]
    rows += [row for c in configs().values() for agentic in c.agentic for row in agentic.search_space]
    assert {row.kv_offloading for row in rows} == {None, KvOffloading.NONE, KvOffloading.DRAM}
    assert any(row.worker and row.num_nodes for row in rows), "the newer form of one role over several nodes"
    assert any(row.decode and row.decode.num_worker == 0 for row in rows), "the older form of it"
    assert {(s.isl, s.osl) for c in configs().values() for s in c.fixed} == {(8192, 1024), (1024, 1024)}
    assert all({c.path for c in configs().values()} >= {path} for path in policy().master_configs)


def test_an_offload_recipe_on_four_gpus_gets_360_gb() -> None:
    # A node has 860,160 MiB; the fraction is 0.4, and the recipe uses 4 of its 4 GPUs.
    rows = rows_of("dsv41flash-fp4-gb200-vllm-agentic-dspark-mooncake")
    assert [row["conc"] for row in rows] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert {row["total-cpu-dram-gb"] for row in rows} == {360}
    assert {(row["runner"], row["tp"], row["spec-decoding"]) for row in rows} == {
        ("cluster:gb200-nv", 4, "mtp")
    }


def test_two_new_arms_and_the_unchanged_grid_are_14_rows() -> None:
    rows = rows_of("dsv41flash-fp4-b300-vllm-agentic-dspark")
    arms = {(row["ep"], row["dp-attn"]): [] for row in rows}  # type: dict[tuple[int, bool], list[int]]
    for row in rows:
        arms[row["ep"], row["dp-attn"]].append(row["conc"])
        assert row.get("router") == ({"name": "vllm-router", "version": "0.1.14"} if row["dp-attn"] else None)
        assert (row["tp"], row["total-cpu-dram-gb"]) == (4, 0)
    assert arms == {
        (1, False): [1, 2, 4, 8, 16, 32, 64, 128],
        (4, False): [32, 64, 128],
        (4, True): [32, 64, 128],
    }


def test_a_disaggregated_run_records_its_budget() -> None:
    # The fraction is 0.75 of 2,861,022 MiB, the most memory of a node that counts.
    (row,) = rows_of("kimik3-fp4-b300-dynamo-vllm-agentic-dspark-mooncake-dcp8-disagg-1p1d")
    assert (row["conc"], row["total-cpu-dram-gb"], row["disagg"]) == ([48], 2249, True)
    for role in ("prefill", "decode"):
        assert (row[role]["num-worker"], row[role]["tp"], row[role]["dcp-size"]) == (1, 8, 8)
    assert row["router"]["version"].startswith("ba83080e")


def test_open_engines_come_first() -> None:
    """A vendor's own framework comes after an open framework for the same model and runner."""
    opened = set()
    for config in configs().values():
        if config.framework in OPEN_ENGINES:
            opened.add((config.model_prefix, config.runner))
        else:
            assert (config.model_prefix, config.runner) in opened, config.key


def test_every_model_is_supported_in_its_scenarios() -> None:
    models = load("configs/models.yaml")["models"]
    names = {(8192, 1024): "8k1k", (1024, 1024): "1k1k"}
    for config in configs().values():
        model = models[config.model_prefix]
        assert config.precision in model.get("precisions", [config.precision])
        wanted = {names[scenario.isl, scenario.osl] for scenario in config.fixed}
        assert wanted | ({"agentic-coding"} if config.agentic else set()) <= set(model["scenarios"]), (
            config.key
        )
        assert "deprecated" not in model


def test_deprecations_have_their_days() -> None:
    support = load("configs/models.yaml")
    days = {name: scenario.get("deprecated") for name, scenario in support["scenarios"].items()}
    assert days == {"agentic-coding": None, "8k1k": None, "1k1k": "2026-07-17", "1k8k": "2026-03-27"}
    assert support["models"]["dsv4"]["scenarios"]["8k1k"] == {"deprecated": "2026-09-09"}
    assert {prefix for prefix, model in support["models"].items() if "deprecated" in model} == {
        "glm5", "glm5.1", "kimik2.5", "minimaxm2.5", "gptoss", "llama70b",
    }  # fmt: skip


def test_thresholds() -> None:
    thresholds = load("configs/eval-thresholds.yaml")
    assert {task: score for task, score in thresholds["default"].items() if score} == {
        "gsm8k": 0.9, "gpqa_diamond_cot_n_shot": 0.3, "swebench_lite": 0.5,
    }  # fmt: skip
    assert {prefix: tasks["gsm8k"] for prefix, tasks in thresholds["models"].items()} == {
        "dsr1": 0.91, "dsv4": 0.91, "glm5": 0.94, "glm5.1": 0.93, "gptoss": 0.91, "minimaxm2.5": 0.92, "qwen3.5": 0.94,
    }  # fmt: skip


def test_golden_lengths_name_their_model_method_and_run() -> None:
    folder = ROOT / "configs/golden-al"
    prefixes = {config.model_prefix for config in configs().values()}
    for path in folder.glob("*.yaml"):
        prefix, _, method = path.stem.partition("_")
        assert prefix in prefixes
        assert method in {"mtp", "eagle", "nextn", "eagle3", "eagle3_gqa", "dspark"}
        assert path.read_text().startswith("# Measured ")
    flash = load("configs/golden-al/dsv41flash_dspark.yaml", text_keys=True)
    assert flash == {"deepseek-v4.1-flash": {"thinking_on": {"5": 3.51}}}


def test_every_configuration_has_an_entry_and_no_entry_is_without_one() -> None:
    named = [pattern for entry in entries() for pattern in entry.config_keys]
    assert [key for key in configs() if not any(fnmatch.fnmatchcase(key, pattern) for pattern in named)] == []
    assert [pattern for pattern in named if not fnmatch.filter(configs(), pattern)] == []


def test_links_are_canonical_and_ascend() -> None:
    link = re.compile(f"https://github.com/{policy().repository}/pull/([1-9][0-9]*)")
    numbers = [int(match[1]) for entry in entries() if (match := link.fullmatch(entry.pr_link or ""))]
    assert len(numbers) == len(entries()) == 15
    assert numbers == sorted(set(numbers))


def test_the_changelogs_bytes_follow_the_rules() -> None:
    data = (ROOT / policy().changelog).read_bytes()
    assert data.startswith(b"- config-keys:\n")
    assert data.endswith(b"\n")
    assert not data.endswith(b"\n\n")
    assert b"\n\n\n" not in data
    assert not re.search(rb"[\r\t\0]| \n", data)
    assert data.count(b"\n\n- config-keys:\n") == len(entries()) - 1


def test_every_file_tells_editors_its_schema() -> None:
    paths = [*(ROOT / "configs").rglob("*.yaml"), ROOT / "infx/policy/default.yaml"]
    assert len(paths) > 12
    for path in paths:
        match = re.search(r"^# yaml-language-server: \$schema=(\S+)$", path.read_text(), flags=re.MULTILINE)
        assert match, path
        assert (path.parent / match[1]).resolve().is_relative_to(ROOT / "infx/schemas")
        assert (path.parent / match[1]).is_file()


def own_clusters() -> Clusters:
    return load_clusters((ROOT / policy().clusters).read_bytes(), policy().clusters)


def test_every_runner_belongs_to_its_cluster_in_both_files() -> None:
    inventory = load(policy().runners)
    for label, runners in inventory["labels"].items():
        if label.startswith("cluster:"):
            assert {own_clusters().find_name(runner) for runner in runners} == {
                label.removeprefix("cluster:")
            }
    assert own_clusters().fields.keys() == inventory["clusters"].keys()


def test_both_files_describe_the_same_slurm() -> None:
    """The inventory is for schedulers of runners, the clusters file for launches."""
    for name, record in load(policy().runners)["clusters"].items():
        cluster = own_clusters().plain[name]
        slurm = record["slurm"]
        assert (cluster.partition, cluster.is_exclusive) == (slurm["partition"], slurm["exclusive"]), name


def test_every_single_node_row_can_be_launched_where_it_may_land() -> None:
    rows = [row for key, config in configs().items() if not config.multinode for row in rows_of(key)]
    runners, _ = parse_runners((ROOT / policy().runners).read_bytes(), policy().runners)
    assert len(rows) > 50
    for row in rows:
        task = make_task(parse_row_job(json.dumps(row).encode(), "row"), policy())
        names = find_clusters(row["runner"], runners, own_clusters())
        assert names
        for name in names:
            launch = render_row_launch(task, name, own_clusters())
            assert launch.steps[0].name is StepName.ALLOCATE
