"""Counts of the checks of launches on upstream's configurations and clusters, as people counted them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

import pytest

from infx.errors import Level, Problem
from infx.launch.clusters import parse_clusters
from infx.matrix.check import File, Files, check_files
from infx.matrix.checkout import RECIPES, SINGLE_NODE, Checkout
from infx.matrix.file_rules import list_scripts
from infx.matrix.landing import find_landings, list_places
from infx.matrix.parse import parse_master
from infx.matrix.row_rules import iterate_settings
from infx.matrix.runners import parse_runners
from infx.policy.load import default_policy
from infx.records import replace
from tests.golden import ROOT, require_data

pytestmark = pytest.mark.golden

JOB_MINUTES = 500  # of upstream's single-node jobs
# The clusters file does not describe how rows on several nodes are imported on this cluster: verbatim, by enroot.
GB300 = '  gb300-nv: {extends: salloc, gpu: gb300, hf-cache: /hf, image: {squash: "/squash/{key}.sqsh"}}\n'
RULES = (
    "launch-cluster", "launch-image", "launch-model", "launch-port", "launch-recipe", "launch-router", "launch-runner",
    "launch-script", "launch-setting", "launch-time", "acceptance-length", "golden-al-repeated", "runner-label-unknown",
)  # fmt: skip


def read(name: str) -> File:
    return File(path=name, data=(ROOT / name).read_bytes())


def read_clusters(more: str = "") -> File:
    file = read("launch/clusters.yaml")
    return File(path=file.path, data=file.data + more.encode())


def check(*, more: str = "", checkout: Checkout | None = None) -> list[Problem]:
    require_data()
    policy = default_policy()
    files = Files(
        masters=tuple(read(path) for path in policy.master_configs),
        runners=read(policy.runners),
        clusters=read_clusters(more),
        srt=read("launch/srt.yaml"),
        checkout=checkout,
        golden_lengths=tuple(
            read(f"golden-al/{path.name}") for path in sorted((ROOT / "golden-al").iterdir())
        ),
    )
    policy = replace(policy, sweep=replace(policy.sweep, row_minutes=JOB_MINUTES))
    return [problem for problem in check_files(files, policy).problems if problem.rule in RULES]


@cache
def check_data() -> list[Problem]:
    """Return the problems without a checkout, on the clusters that the file describes."""
    return check()


def count_rows(problems: Iterable[Problem]) -> tuple[int, int]:
    """Return the rows in the messages of problems, and the number of problems."""
    found = list(problems)
    return sum(int(re.findall(r"(\d+) rows?\b", problem.message)[-1]) for problem in found), len(found)


def select(problems: Iterable[Problem], rule: str, words: str = "") -> list[Problem]:
    return [problem for problem in problems if problem.rule == rule and re.search(words, problem.message)]


def test_only_rows_that_cannot_run_are_errors() -> None:
    """Eight configurations name three labels without runners; their 70 rows wait until GitHub cancels them."""
    errors = [problem for problem in check_data() if problem.level is Level.ERROR]
    labels = Counter(re.findall(r'label "(.*)"', problem.message)[0] for problem in errors)
    assert labels == {"gb300-nv": 4, "h200-dgxc": 2, "cluster:mi325x-tw": 2}
    assert {problem.rule for problem in errors} == {"runner-label-unknown"}


def test_runners_and_clusters() -> None:
    """One cluster has no runner, and seven runners have no cluster."""
    problems = check_data()
    assert [re.findall(r"clusters\.([\w-]+)", p.message) for p in select(problems, "launch-cluster")] == [
        ["h100-cr"]
    ]
    runners = {
        re.findall(r'expected "(.*?)"', p.message)[0]: int(re.findall(r"(\d+) runners", p.message)[0])
        for p in select(problems, "launch-runner")
    }
    assert runners == {"b300-cw": 5, "mi300x-tw": 2}


def test_image_references() -> None:
    """120 rows of 12 configurations have nvcr.io/, 12 of 2 lose their #, and 26 of 4 have a tag with a digest."""
    images = select(check(more=GB300), "launch-image")
    digest = select(images, "launch-image", "digest")
    lost = [problem for problem in images if problem.hint and "keeps the #" in problem.hint]
    verbatim = [problem for problem in images if problem not in digest and problem not in lost]
    assert count_rows(verbatim) == (120, 12)
    assert all("takes nvcr.io for a folder" in problem.message for problem in verbatim)
    assert count_rows(lost) == (12, 2)
    assert {problem.message.split(".image")[0] for problem in lost} == {
        "dsr1-fp8-h200-trt",
        "dsr1-fp8-h200-trt-mtp",
    }
    assert count_rows(digest) == (26, 4)


def test_images_on_the_described_clusters_alone() -> None:
    """Without the cluster gb300-nv, its 44 rows of nvcr.io/ and its 14 with a digest are missing."""
    images = select(check_data(), "launch-image")
    assert count_rows(select(images, "launch-image", "digest")) == (12, 2)
    assert count_rows(select(images, "launch-image", "folder of Docker Hub")) == (120 - 44 + 12, 12 - 6 + 2)


def test_acceptance_lengths() -> None:
    """All 110 rows with a length in their settings have a committed one; two models are in two files each."""
    problems = check_data()
    assert select(problems, "acceptance-length") == []
    repeated = select(problems, "golden-al-repeated")
    assert [problem.message.split(":")[0] for problem in repeated] == ["kimi-k3", "minimax-m3"]


def test_ports() -> None:
    """107 rows are in the range of connections; 78 rows of 12 configurations share b200-cw's nodes, and 14 mi325x's."""
    ports = select(check_data(), "launch-port")
    ranges = select(ports, "launch-port", "Linux takes")
    assert sum(int(re.findall(r"(\d+) rows", problem.message)[0]) for problem in ranges) == 107
    shared = [
        re.findall(r"clusters\.(\S+): (\d+) rows of (\d+)", p.message)[0]
        for p in select(ports, "launch-port", "shared node")
    ]
    assert shared == [("b200-cw", "78", "12"), ("mi325x-amds", "14", "1")]
    (digits,) = select(ports, "launch-port", "runners have the same port")
    pairs = re.findall(r"mi355x-amds_(\d\d)/mi355x-amds_(\d\d)", digits.message)
    assert pairs == [("06", "16"), ("07", "17"), ("08", "18")]


def test_models_that_are_not_staged() -> None:
    models = select(check_data(), "launch-model")
    assert count_rows(models) == (18, 2)
    assert {problem.message.split(".model:")[0] for problem in models} == {
        "dsr1-fp4-b300-sglang",
        "glm5.2-fp4-b300-sglang-agentic-mtp",
    }


def test_settings_that_overrule_a_cluster() -> None:
    settings = select(check_data(), "launch-setting")
    assert count_rows(settings) == (13, 3)
    assert all("SLURM_PARTITION=batch_3" in problem.message for problem in settings)


def test_times() -> None:
    """Six clusters have 180 minutes for jobs of 500, three have 480, and nebius' two have no limit."""
    times = select(check_data(), "launch-time")
    stated = Counter(
        re.findall(r"allocation of (\d+)|(no) time limit", problem.message)[0] for problem in times
    )
    assert stated == {("180", ""): 6, ("480", ""): 3, ("", "no"): 2}


def test_a_removed_script_stops_the_rows_of_one_configuration() -> None:
    """Upstream removed one script of which it kept the variant for drafting; 15 rows of one configuration need it."""
    scripts = find_needed_scripts() - {
        f"{SINGLE_NODE}/agentic/qwen3.5_fp8_h100.sh",
        f"{SINGLE_NODE}/agentic/qwen3.5_fp8_h100_sglang.sh",
    }
    checkout = Checkout(paths=frozenset(scripts), scripts=dict.fromkeys(scripts, ""))
    (problem,) = [p for p in check(checkout=checkout) if p.rule == "launch-script"]
    assert problem.level is Level.ERROR
    assert problem.message.startswith("qwen3.5-fp8-h100-sglang-agentic: ")
    assert count_rows([problem]) == (15, 1)


def test_missing_recipes_are_those_of_one_configuration() -> None:
    """Upstream has the folder of two recipes that three rows name, but not the recipes."""
    missing = ("disagg-gb300-1p6d-dep4-tp4-agentic.yaml", "disagg-gb300-4p1d-dep4-dep8-24-c4096-agentic.yaml")
    recipes = {path for path in find_named_recipes() if not path.endswith(missing)}
    problems = select(check(checkout=Checkout(paths=frozenset(recipes), scripts={})), "launch-recipe")
    assert {problem.message.split(".scenarios")[0] for problem in problems} == {
        "dsv4-fp4-gb300-dynamo-vllm-agentic"
    }
    assert sum(count_rows([problem])[0] for problem in problems) == 3


def find_needed_scripts() -> set[str]:
    """Return the last candidate for every row on every cluster."""
    require_data()
    policy = default_policy()
    runners, _ = parse_runners(read(policy.runners).data, policy.runners)
    clusters, _ = parse_clusters(read_clusters().data, "clusters.yaml")
    masters = [parse_master(read(path).data, path) for path in policy.master_configs]
    configs = [config for master in masters for config in master.configs.values() if not config.multinode]
    return {
        list_scripts(landing.config, place, landing.cluster)[-1]
        for landing in find_landings(configs, runners, clusters)
        for place in landing.places
    }


def find_named_recipes() -> set[str]:
    """Return the paths of all recipes that settings name, as files of the repository's own."""
    require_data()
    paths = set()
    for path in default_policy().master_configs:
        for config in parse_master(read(path).data, path).configs.values():
            for place in list_places(config):
                for _, name, value in iterate_settings(place.row):
                    if name in {"CONFIG_FILE", "EVAL_CONFIG_FILE"}:
                        recipe = value.partition(":")[0]
                        paths.add(
                            recipe.replace("recipes/", f"{RECIPES}/", 1)
                            if recipe.startswith("recipes/")
                            else recipe
                        )
    return paths
