"""Properties of plans for any configurations and any entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from infx import schema
from infx.bench.config import Concurrency, Config, SearchRow
from infx.bench.row import Recipe, Row, RowReader, render_row
from infx.errors import ProblemsError
from infx.matrix.evals import EvalMode, apply_evals
from infx.matrix.load import PlanInputs
from infx.matrix.planned import Planned
from infx.matrix.points import collect_points
from infx.matrix.sweep import SweepRequest, sweep_all
from infx.matrix.trim import trim_rows
from tests.matrix.inputs import (
    AUGUST,
    DEFAULT,
    agentic,
    entry,
    load,
    multi,
    multi_agentic,
    pair,
    plan,
    single,
)

CONC = st.lists(st.sampled_from([1, 4, 16, 32, 64]), min_size=1, max_size=3).map(str)
TP = st.sampled_from([1, 2, 4])
FLAG = st.sampled_from(["", "dp-attn: true, ", "spec-decoding: mtp, "])
IMAGE = st.sampled_from(["acme/vllm:v1", "acme/vllm:v2"])
OFFLOAD = st.sampled_from(
    ["kv-offloading: none", "kv-offloading: dram, kv-offload-backend: {name: mooncake}"]
)
SINGLE = st.builds("{{tp: {}, {}conc-list: {}}}".format, TP, FLAG, CONC)
AGENTIC = st.builds("{{tp: {}, {}{}, conc-list: {}}}".format, TP, FLAG, OFFLOAD, CONC)
PAIR = st.builds(lambda conc, tp: pair(conc, f"num-worker: 1, tp: {tp}"), CONC, st.sampled_from([4, 8]))
PROFILES = {"default": DEFAULT, "august": AUGUST}
PROFILE = st.sampled_from(sorted(PROFILES))
MAKERS: list[tuple[Callable[..., str], st.SearchStrategy[str]]] = [
    (single, SINGLE),
    (agentic, AGENTIC),
    (multi, PAIR),
    (multi_agentic, PAIR),
]
KINDS = st.sampled_from(MAKERS)


@st.composite
def configurations(draw: st.DrawFn) -> list[str]:
    """Draw one to four configurations k0, k1, … with few topologies, so that they have points in common."""
    texts = []
    for index in range(draw(st.integers(1, 4))):
        make, row = draw(KINDS)
        rows = draw(st.lists(row, min_size=1, max_size=3))
        texts.append(make(f"k{index}", *rows, image=draw(IMAGE)))
    return texts


@st.composite
def entries(draw: st.DrawFn, count: int) -> str:
    keys = draw(
        st.lists(st.sampled_from([f"k{index}" for index in range(count)] + ["k*"]), min_size=1, max_size=3)
    )
    fields = draw(
        st.sampled_from(
            [{}, {"evals_only": "true"}, {"all_evals": "true"}, {"no_evals": "true"}, {"eval_min_prefill_ep": "2"},
             {"scenario_type": "[agentic-coding]"}, {"scenario_type": "[fixed-seq-len]"}]
        )
    )  # fmt: skip
    return entry(*keys, **fields)


def count_rows(planned: Iterable[Planned]) -> Counter[Row]:
    return Counter(item.row for item in planned)


@given(st.data(), configurations(), PROFILE, st.booleans())
def test_rows_do_not_depend_on_the_order_of_entries(
    data: st.DataObject, configs: list[str], profile: str, trim: bool
) -> None:
    inputs = load(*configs)
    texts = data.draw(st.lists(entries(len(configs)), min_size=2, max_size=4))
    shuffled = data.draw(st.permutations(texts))
    first = plan(inputs, *texts, profile=PROFILES[profile], trim=trim)
    second = plan(inputs, *shuffled, profile=PROFILES[profile], trim=trim)
    assert count_rows(first.evals) == count_rows(second.evals)
    assert count_rows(first.throughput) == count_rows(second.throughput)


@given(st.data(), configurations())
def test_a_configuration_has_each_point_once(data: st.DataObject, configs: list[str]) -> None:
    made = load(*configs)
    texts = data.draw(st.lists(entries(len(configs)), min_size=1, max_size=4))
    result = plan(made, *texts)
    points = Counter(
        (item.key, item.row.recipe, conc) for item in result.throughput for conc in item.row.conc
    )
    assert set(points.values()) <= {1}


def measured(rows: Iterable[Row]) -> set[tuple[Recipe, int]]:
    return {(recipe, conc) for recipe, concs in collect_points(rows).items() for conc in concs}


@given(configurations())
def test_trimming_adds_no_point_and_loses_no_recipe(configs: list[str]) -> None:
    made = load(*configs)
    rows = sweep_all(made.configs, made.runners, SweepRequest(profile=DEFAULT, mode=EvalMode.NONE))
    trimmed = trim_rows(rows)
    assert measured(trimmed) <= measured(rows)
    assert [row.recipe for row in trimmed] == list(collect_points(rows))


@given(st.data(), configurations())
def test_a_delta_has_exactly_the_points_that_the_base_lacks(data: st.DataObject, configs: list[str]) -> None:
    """After points of the head are removed to make a base, the delta has exactly these points."""
    made = load(*configs)
    before = PlanInputs(
        configs={key: thin(config, data) for key, config in made.configs.items()},
        raw=made.raw,
        runners=made.runners,
        documents=made.documents,
    )
    texts = [entry("k*", append_only="true")]
    whole = [item.row for item in plan(made, entry("k*")).throughput]
    known = [item.row for item in plan(before, entry("k*")).throughput]
    try:
        delta = plan(made, *texts, base=before)
    except ProblemsError:
        event("refused")  # there is no new point, or a new point is on no curve
        return
    event("planned")
    assert measured(item.row for item in delta.throughput) == measured(whole) - measured(known)
    assert delta.evals == ()


def thin(config: Config, data: st.DataObject) -> Config:
    """Return the configuration without some points of its search rows."""

    def fewer(space: tuple[SearchRow, ...]) -> tuple[SearchRow, ...]:
        return tuple(
            replace(search, concurrency=Concurrency(values=shorter(search.concurrency.values or ())))
            for search in space
        )

    def shorter(values: tuple[int, ...]) -> tuple[int, ...]:
        return values[: data.draw(st.integers(1, len(values)))]

    return replace(
        config,
        fixed=tuple(replace(item, search_space=fewer(item.search_space)) for item in config.fixed),
        agentic=tuple(replace(item, search_space=fewer(item.search_space)) for item in config.agentic),
    )


@given(configurations(), PROFILE, st.sampled_from(EvalMode))
@pytest.mark.parametrize("smoke", [False, True])
def test_every_row_fits_the_schema_and_can_be_read_back(
    smoke: bool, configs: list[str], profile: str, mode: EvalMode
) -> None:
    made = load(*configs)
    rows = sweep_all(
        made.configs, made.runners, SweepRequest(profile=PROFILES[profile], mode=mode, smoke=smoke)
    )
    planned = plan(made, entry("k*"), profile=PROFILES[profile], fast=True, all_evals=mode is EvalMode.ALL)
    for row in (*rows, *(item.row for item in planned.rows)):
        values = render_row(row)
        assert schema.is_valid("matrix-row", values)
        assert RowReader().read(values) == row


@given(configurations(), PROFILE)
def test_accuracy_runs_are_points_of_the_sweep(configs: list[str], profile: str) -> None:
    made = load(*configs)
    rows = sweep_all(made.configs, made.runners, SweepRequest(profile=PROFILES[profile], mode=EvalMode.NONE))
    for mode in (EvalMode.MARKED, EvalMode.SUBSET, EvalMode.ALL):
        assert measured(apply_evals(rows, mode, PROFILES[profile])) <= measured(rows)
