from __future__ import annotations

import pytest

from infx.bench.keys import NamedKeys, match_keys, resolve_keys
from infx.errors import ProblemsError
from infx.matrix.filters import Filter, select_configs, select_label_or_nodes, select_nodes
from tests.matrix.inputs import load, multi, pair, single

ROW = "{tp: 8, conc-list: [4]}"
INPUTS = load(
    single("m1-fp8-h200-vllm", ROW),
    single("m1-fp4-h200-trt", ROW, precision="fp4", framework="trt"),
    multi("m2-fp8-gb200-dynamo", pair("[4]"), runner="cluster:gb200-a", model_prefix="other"),
)


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        (Filter(), "m1-fp8-h200-vllm m1-fp4-h200-trt m2-fp8-gb200-dynamo"),
        (Filter(key_prefixes=("m2",)), "m2-fp8-gb200-dynamo"),  # the start of the key, not of the field
        (Filter(key_prefixes=("other",)), ""),
        (Filter(key_prefixes=("m2", "m1-fp4")), "m1-fp4-h200-trt m2-fp8-gb200-dynamo"),
        (Filter(precisions=("fp4",)), "m1-fp4-h200-trt"),
        (Filter(frameworks=("vllm", "dynamo-vllm")), "m1-fp8-h200-vllm m2-fp8-gb200-dynamo"),
        (Filter(runner_labels=("cluster:gb200-a",)), "m2-fp8-gb200-dynamo"),
        (Filter(single_node=True), "m1-fp8-h200-vllm m1-fp4-h200-trt"),
        (Filter(multi_node=True), "m2-fp8-gb200-dynamo"),
        (
            Filter(single_node=True, multi_node=True),
            "m1-fp8-h200-vllm m1-fp4-h200-trt m2-fp8-gb200-dynamo",
        ),
        (Filter(precisions=("fp8",), single_node=True), "m1-fp8-h200-vllm"),
    ],
)
def test_a_filter_selects_configurations(wanted: Filter, left: str) -> None:
    chosen = select_configs(INPUTS.configs.values(), wanted, INPUTS.runners)
    assert " ".join(config.key for config in chosen) == left


def test_every_unknown_runner_label_is_reported_with_similar_ones() -> None:
    with pytest.raises(ProblemsError) as error:
        select_configs([], Filter(runner_labels=("h2000", "h200", "gb200-a")), INPUTS.runners)
    assert str(error.value).splitlines() == [
        "runners.yaml has no runner label 'gb200-a'. Did you mean cluster:gb200-a?",
        "runners.yaml has no runner label 'h2000'. Did you mean h200?",
    ]


@pytest.mark.parametrize(
    ("part", "nodes", "with_label"),
    [
        (None, None, None),
        ("_0", ["h200-a_0", "h200-b_0"], ["h200-a_0", "h200-b_0"]),
        ("h200", ["h200-a_0", "h200-a_1", "h200-b_0"], ["h200", "h200-a_0", "h200-a_1", "h200-b_0"]),
        ("b200", [], []),
    ],
)
def test_nodes_behind_a_label(
    part: str | None, nodes: list[str] | None, with_label: list[str] | None
) -> None:
    assert select_nodes("h200", INPUTS.runners, part) == nodes
    assert select_label_or_nodes("h200", INPUTS.runners, part) == with_label


KEYS = ("m1-fp8", "m1-fp4", "m1.fp8", "m10-fp8")


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("m1-fp8", ["m1-fp8"]),
        ("m1*", ["m1-fp8", "m1-fp4", "m1.fp8", "m10-fp8"]),
        ("m1?fp8", ["m1-fp8", "m1.fp8"]),
        ("m1.fp8", ["m1.fp8"]),  # a dot is not special
        ("*", list(KEYS)),
        ("m1", []),  # whole keys only
        ("m1-fp[48]", []),  # no character classes
        ("M1-fp8", []),
        ("*1*8", ["m1-fp8", "m1.fp8", "m10-fp8"]),
        ("m1**fp?", ["m1-fp8", "m1-fp4", "m1.fp8", "m10-fp8"]),
        ("*m1-fp8*", ["m1-fp8"]),
        ("*-*-*", []),
        ("m1-fp8*8", []),  # a character matches only one part of the pattern
        ("*1" * 30 + "*", []),
    ],
)
def test_wildcards(pattern: str, matches: list[str]) -> None:
    assert match_keys(pattern, KEYS) == matches
    assert [key for key in KEYS if key in NamedKeys(patterns=(pattern,))] == matches


def test_a_pattern_with_many_stars_is_matched_quickly() -> None:
    """With backtracking, this pattern would take forever, and a pull request could block infx."""
    assert match_keys("*?" * 30 + "no", ["m" * 80]) == []


def test_each_key_is_resolved_once_in_the_order_of_the_names() -> None:
    keys, problems = resolve_keys(["m10*", "*-fp8", "m1-fp8"], KEYS)
    assert (keys, problems) == (["m10-fp8", "m1-fp8"], [])


def test_unmatched_names_are_reported_with_their_line_and_similar_keys() -> None:
    _, problems = resolve_keys(["m1-fp9", "x*y", "m1-fp8"], KEYS, path="perf-changelog.yaml", line=7)
    assert [str(problem) for problem in problems] == [
        "perf-changelog.yaml:7: There is no configuration 'm1-fp9'; 4 are known. "
        "Did you mean m1-fp8 or m1-fp4 or m10-fp8?",
        "perf-changelog.yaml:7: No configuration matches the pattern 'x*y'; 4 are known. Name a key of a master file.",
    ]
