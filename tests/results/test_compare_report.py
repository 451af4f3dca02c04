"""The comparison in a run's summary, and as JSON."""

from __future__ import annotations

import json

import cmarkgfm
import pytest

from infx.records import replace
from infx.results.compare import compare, read_results
from infx.results.compare_report import render_json, render_summary
from infx.shorten import count_bytes
from tests.results.comparisons import ROLES, compare_results, result
from tests.results.made import RULES

ROOM = 1024 * 1024


def test_the_whole_summary() -> None:
    comparison = compare_results(
        [result(tput_per_gpu=120.0), result(conc=8), result(ROLES, disagg=True), result(tp=None)],
        result(),
        result(ROLES, disagg=True, tput_per_gpu=400.0),
    )
    lines = render_summary(comparison, ROOM).splitlines()
    texts = [line for line in lines if not line.startswith("|")]
    assert (
        "\n".join(texts)
        == """\
## Comparison with published results

2 of 3 results have a published baseline; throughput per GPU: 1 better and 1 worse; 1 without a baseline. 1 result cannot be compared.

### Largest changes


Baselines: run 2 (2026-08-03) and run 1 (2026-08-02).

### Not comparable (1)

- `agg.json, result 4`: tp is missing

### Single-Node Comparison vs. Most Recent


### Multi-Node Comparison vs. Most Recent

"""[:-1]
    )
    tables = [line for line in lines if line.startswith("|")]
    assert tables[:4] == [
        "| result | metric | this sweep | baseline | change |",
        "| :-- | :-- | --: | --: | :-- |",
        "| `m1 b200 vllm fp4 none 1024-1024 disagg prefill 2 tp4 ep4 dpa decode 1 tp8 ep8 c64` "
        "| TPUT/GPU | 100 | 400 | 🔴 -300.00 (-75.0%) |",
        "| `m1 b200 vllm fp4 none 1024-1024 tp4 c64` | TPUT/GPU | 120 | 100 | 🟢 +20.00 (+20.0%) |",
    ]
    assert tables[6].startswith(
        "| `m1` | `acme/m1` | `B200` | `VLLM` | `FP4` | 1024 | 1024 | 4 | 1 | `false` | 8 | 100 | N/A | 200 | N/A |"
    )
    assert tables[7].startswith(
        "| `m1` | `acme/m1` | `B200` | `VLLM` | `FP4` | 1024 | 1024 | 4 | 1 | `false` | 64 | 120 | 🟢 +20.00 (+20.0%) "
        "| 200 | +0.0000 (+0.0%) | N/A | N/A |"
    )


def test_a_summary_that_is_too_long_keeps_the_largest_changes() -> None:
    """Row N changes by N percent, so the last rows are the ones that stay, the last one first."""
    current = [result(conc=number, tput_per_gpu=100.0 + number) for number in range(1, 201)]
    comparison = compare_results(current, *(result(conc=number) for number in range(1, 201)))
    whole = render_summary(comparison, ROOM)
    room = count_bytes(whole) // 2
    cut = render_summary(comparison, room)
    assert "did not fit" not in whole
    assert room - 6000 < count_bytes(cut) <= room
    rows = [line for line in cut.splitlines() if line.startswith("| `m1` |")]
    concs = [int(row.split(" | ")[10]) for row in rows]
    assert concs == list(range(200, 200 - len(concs), -1))
    assert f"\n{200 - len(concs)} rows with smaller changes did not fit" in cut


@pytest.mark.parametrize("room", [0, 100, 4000])
def test_there_is_no_table_without_room(room: int) -> None:
    comparison = compare_results([result(), result(conc=8)], result())
    assert "2 rows with smaller changes did not fit" in render_summary(comparison, room)


def test_rows_without_a_baseline_are_cut_first() -> None:
    comparison = compare_results(
        [*(result(conc=number) for number in range(1, 100)), result(conc=500)], result(conc=500)
    )
    cut = render_summary(comparison, 8000)
    assert next(line for line in cut.splitlines() if line.startswith("| `m1` |")).split(" | ")[10] == "500"


def test_hostile_names_stay_text() -> None:
    name = "x|`@octocat <img src=x onerror=alert(1)> #1 \n\n# title"
    comparison = compare_results(
        [
            result(infmax_model_prefix=name, model=name, framework=name, dp_attention=name),
            result(hw=5, isl=name),
        ]
    )
    html = cmarkgfm.github_flavored_markdown_to_html(render_summary(comparison, ROOM))
    assert "<img" not in html
    assert html.count("<h1>") == 0
    outside_code = "".join(part.split("</code>")[-1] for part in html.split("<code>"))
    assert "@octocat" not in outside_code


def test_a_store_that_cannot_be_read_is_said_without_tables() -> None:
    comparison = compare(read_results([("a", result())], RULES), {}, fault="the branch *x* is gone")
    assert render_summary(comparison, ROOM) == (
        "## Comparison with published results\n\nNo baseline could be read from the store of published results.\n\n"
        "The reason: the branch \\*x\\* is gone.\n"
    )


def test_no_result_has_a_baseline() -> None:
    assert "No result of 1 has a published baseline." in render_summary(compare_results([result()]), ROOM)


def test_nothing_to_compare() -> None:
    comparison = replace(compare_results([]), left_out=2)
    assert render_summary(comparison, ROOM) == (
        "## Comparison with published results\n\nThere is nothing to compare.\n\n"
        "2 AgentX results have no metric that is compared.\n"
    )


def test_json_has_null_for_what_is_not_known() -> None:
    comparison = compare_results([result(tput_per_gpu=120.0), result(conc=8), result(tp=None)], result())
    value = json.loads(json.dumps(render_json(comparison), allow_nan=False))
    assert (value["results"], value["compared"], value["left-out"], value["fault"]) == (2, 1, 0, None)
    without, with_baseline = value["rows"]
    assert (without["conc"], without["baseline"]) == (8, None)
    assert with_baseline["baseline"]["run"] == 1
    assert with_baseline["metrics"][0] == {
        "metric": "tput_per_gpu",
        "value": 120.0,
        "baseline": 100.0,
        "difference": 20.0,
        "percent": 20.0,
        "trend": "better",
    }
    assert set(without["metrics"][0].values()) == {"tput_per_gpu", 100.0, None}
    assert value["not-comparable"] == [{"where": "agg.json, result 3", "faults": ["tp is missing"]}]
