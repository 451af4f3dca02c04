"""Find the baseline of a result, and compare their metrics."""

from __future__ import annotations

from typing import Any

import pytest

from infx.results.artifact import JsonFaultError
from infx.results.compare import ComparedRow, compare, flatten_results, read_results
from infx.results.compare_metrics import ABSENT, METRICS, ComparedMetric, MetricChange, Trend
from infx.results.compare_tables import identify_cells, make_tables
from tests.results.comparisons import ROLES, agentic, compare_results, result, with_aliases
from tests.results.made import RULES


def change_of(row: ComparedRow, label: str) -> MetricChange:
    (change,) = (change for change in row.changes if change.metric.label == label)
    return change


def find_run(row: ComparedRow) -> int | None:
    return row.baseline.run if row.baseline else None


def test_the_newest_row_of_the_same_series_and_concurrency_is_the_baseline() -> None:
    comparison = compare_results(
        [result()], result(tput_per_gpu=50.0), result(tput_per_gpu=80.0), result(conc=32)
    )
    (row,) = comparison.rows
    assert find_run(row) == 2
    change = change_of(row, "TPUT/GPU")
    assert (change.difference_text, change.percent_text, change.trend) == ("+20.00", "+25.0%", Trend.BETTER)


@pytest.mark.parametrize(
    "published",
    [
        {"image": "acme/vllm:v2"},  # a new image is measured to be compared with the image before
        {"recipe_fingerprint": "f" * 64},
        {"hw": "B200-TRT"},
        {"tp": "4", "conc": "64", "disagg": "False"},
        {"pp": 1, "dcp_size": 1},
        {"framework": "VLLM", "infmax_model_prefix": "M1"},
    ],
    ids=str,
)
def test_other_forms_of_the_same_measurement_are_its_baseline(published: dict[str, Any]) -> None:
    assert find_run(compare_results([result()], result(**published)).rows[0]) == 1


@pytest.mark.parametrize(
    "published",
    [
        {"infmax_model_prefix": "m1.1"}, {"hw": "h200"}, {"hw": "b200-trt-x"}, {"precision": "fp8"}, {"isl": 8192},
        {"spec_decoding": "mtp"}, {"tp": 8}, {"ep": 4}, {"pp": 2}, {"dcp_size": 2}, {"pcp_size": 2},
        {"dp_attention": "true"}, {"framework": "sglang"}, {"conc": 128},
    ],
    ids=str,
)  # fmt: skip
def test_another_measurement_is_not_a_baseline(published: dict[str, Any]) -> None:
    comparison = compare_results([result()], result(**published))
    assert comparison.compared == ()
    assert {change.difference_text for change in comparison.rows[0].changes} == {ABSENT}


@pytest.mark.parametrize("name", ["prefill_num_workers", "decode_num_workers", "prefill_pp", "decode_ep"])
def test_each_role_belongs_to_the_series(name: str) -> None:
    current = result(ROLES, disagg="true")
    assert find_run(compare_results([current], result(ROLES, disagg=True)).rows[0]) == 1
    assert not compare_results([current], result(ROLES, disagg=True, **{name: 3})).compared


def test_a_role_without_a_number_of_workers_has_one() -> None:
    roles = {name: value for name, value in ROLES.items() if not name.endswith("num_workers")}
    published = {**ROLES, "prefill_num_workers": 1}
    assert find_run(compare_results([result(roles)], result(published)).rows[0]) == 1


def test_an_alias_of_the_model_prefix_finds_rows_with_that_prefix() -> None:
    published = (result(infmax_model_prefix="m1"), result(infmax_model_prefix="m1-120b"))
    rules = with_aliases(M1=["M1-120B"])
    assert find_run(compare_results([result()], *published, rules=rules).rows[0]) == 2
    assert find_run(compare_results([result()], *published[::-1], rules=rules).rows[0]) == 2
    assert find_run(compare_results([result()], *published).rows[0]) == 1
    # the list of the prefix counts, not lists that contain it
    assert not compare_results([published[1]], result(), rules=rules).compared


@pytest.mark.parametrize("baseline", [0, 0.0, None, "12", True])
def test_a_missing_or_zero_value_of_the_baseline_is_not_compared(baseline: Any) -> None:
    (row,) = compare_results([result()], result(tput_per_gpu=baseline)).rows
    change = change_of(row, "TPUT/GPU")
    assert (change.difference_text, change.percent_text, change.trend) == (ABSENT, ABSENT, None)
    assert change_of(row, "TTFT Median (ms)").trend is Trend.EQUAL


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_the_direction_of_each_metric(metric: ComparedMetric) -> None:
    """Throughput and interactivity are better if they are higher, times if they are lower."""
    lower = any(part in metric.key for part in ("ttft", "e2el"))
    values: list[dict[str, Any]] = [{metric.key: 2.0}, {metric.key: 1.0}]
    (row,) = compare_results([result(**values[0])], result(**values[1])).rows
    assert change_of(row, metric.label).trend is (Trend.WORSE if lower else Trend.BETTER)


def test_a_difference_that_rounds_to_zero_still_has_a_direction() -> None:
    (row,) = compare_results([result(tput_per_gpu=99.9999)], result(tput_per_gpu=100.0)).rows
    change = change_of(row, "TPUT/GPU")
    assert (change.difference_text, change.percent_text, change.trend) == ("-0.00", "-0.0%", Trend.WORSE)


@pytest.mark.parametrize(("value", "baseline"), [(1e308, 5e-324), (1.7e308, -1.7e308), (10**400, 1)])
def test_enormous_numbers_are_shown_in_few_characters(value: Any, baseline: Any) -> None:
    (row,) = compare_results([result(tput_per_gpu=value)], result(tput_per_gpu=baseline)).rows
    change = change_of(row, "TPUT/GPU")
    assert len(change.difference_text + change.percent_text + change.value_text) < 60


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"tp": None}, "tp is missing"),
        ({"ep": None}, "ep is missing"),
        ({"isl": None}, "isl is missing"),
        ({"conc": None}, "conc is missing"),
        ({"model": None}, "model is missing"),
        ({"framework": None}, "framework is missing"),
        ({"hw": ["b200"]}, "hw is a list, expected text of at most 200 characters"),
    ],
    ids=str,
)
def test_a_row_without_a_field_is_named_and_others_are_compared(changes: dict[str, Any], fault: str) -> None:
    comparison = compare_results([result(conc=8), result(**changes)], result(conc=8))
    assert [(item.where, item.faults) for item in comparison.refused] == [("agg.json, result 2", (fault,))]
    assert len(comparison.compared) == 1


@pytest.mark.parametrize("value", [7, "x", None, [1], JsonFaultError("it is not JSON")], ids=str)
def test_a_value_that_is_not_a_row_is_named(value: Any) -> None:
    read = read_results([("a.json", value)], RULES)
    assert (len(read.rows), [item.where for item in read.refused]) == (0, ["a.json"])


def test_lists_of_results_are_flattened() -> None:
    assert flatten_results([("a.json", [1, 2]), ("b.json", 3)]) == [
        ("a.json, result 1", 1),
        ("a.json, result 2", 2),
        ("b.json", 3),
    ]


@pytest.mark.parametrize(("text", "is_on"), [("True", True), ("none", False), ("", False), (True, True)])
def test_texts_of_dp_attention(text: Any, is_on: bool) -> None:
    """The table shows the text of the row; the series has the boolean."""
    comparison = compare_results([result(dp_attention=text)], result(dp_attention=is_on))
    (row,) = comparison.compared
    assert identify_cells(row.row)[9] == str(text)


def test_rows_are_sorted_by_name_lengths_and_concurrency() -> None:
    current = [
        result(infmax_model_prefix="b"), result(conc=128), result(conc=8), result(isl=8192, conc=1), result(hw="a100"),
        result(framework="sglang", conc=512),
    ]  # fmt: skip
    rows = compare_results(current).rows
    assert [current.index(dict(row.row.values)) for row in rows] == [0, 4, 5, 2, 1, 3]


def test_agentx_results_are_compared_by_their_own_metrics() -> None:
    """The existing comparison leaves them out."""
    comparison = compare_results([agentic(p50=0.5), result()], agentic(p50=0.4), result())
    first, second = make_tables(comparison.rows)
    assert (first.title, second.title) == (
        "Single-Node Comparison vs. Most Recent",
        "AgentX Single-Node Comparison vs. Most Recent",
    )
    change = change_of(second.rows[0], "TTFT P50 (ms)")
    assert (change.difference_text, change.trend) == ("+100.0000", Trend.WORSE)
    assert change_of(second.rows[0], "TPUT/GPU").trend is Trend.EQUAL
    assert len(second.columns) == len(second.heads) + 2 * len(second.metrics)
    assert len(identify_cells(second.rows[0].row)) == len(second.heads)


def test_agentx_results_may_have_nested_or_flat_numbers() -> None:
    """Existing tools nest the numbers, and published rows do not."""
    flat = {**result(scenario_type="agentic-coding", p50_ttft=0.4, tput_per_gpu=50.0), "isl": 0, "osl": 0}
    (row,) = compare_results([agentic(p50=0.5)], flat).rows
    assert change_of(row, "TTFT P50 (ms)").difference_text == "+100.0000"
    assert change_of(row, "TPUT/GPU").difference_text == "+10.00"


def test_agentx_results_without_these_metrics_are_counted() -> None:
    comparison = compare_results([result(scenario_type="agentic-coding")])
    assert (comparison.rows, comparison.left_out) == ((), 1)


def test_without_a_store_there_is_no_baseline() -> None:
    results = read_results([("a", result())], RULES)
    comparison = compare(results, {}, fault="the branch cannot be read")
    assert (comparison.compared, comparison.fault) == ((), "the branch cannot be read")
