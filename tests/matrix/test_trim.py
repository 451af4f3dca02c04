from __future__ import annotations

from dataclasses import replace

import pytest

from infx.bench.row import Row
from infx.matrix.trim import trim_rows
from tests.matrix.inputs import agentic, load, multi, pair, points, single
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

INPUTS = load(
    single("a", "{tp: 8, conc-list: [64, 4]}", "{tp: 4, conc-list: [32]}"),
    multi("b", pair("[64, 4, 16]")),
    agentic(
        "c",
        "{tp: 8, kv-offloading: dram, kv-offload-backend: {name: lmcache, version: '0.3'}, conc-list: [8, 2]}",
    ),
)


def expand_all() -> list[Row]:
    from infx.matrix.expand import expand_config

    return [row for config in INPUTS.configs.values() for row in expand_config(config, INPUTS.runners)]


@pytest.mark.parametrize("backwards", [False, True])
def test_the_lightest_point_of_every_recipe_is_kept(backwards: bool) -> None:
    rows = expand_all()[::-1] if backwards else expand_all()
    assert sorted(points(trim_rows(rows))) == ["1xtp4+1xtp4@4", "tp4@32", "tp8@2", "tp8@4"]


def test_an_accuracy_run_moves_to_the_kept_point() -> None:
    heavy = replace(row(FIXED, 64), run_eval=True, eval_framework="lm-eval", eval_suite="")
    (left,) = trim_rows([row(FIXED, 4), heavy])
    assert left == replace(heavy, conc=(4,))


def test_the_evaluated_concurrency_of_a_list_becomes_the_lowest() -> None:
    (left,) = trim_rows([replace(row(DISAGG, 256, 16), run_eval=True, eval_conc=256)])
    assert left == replace(row(DISAGG, 16), run_eval=True, eval_conc=16)


def test_eval_only_rows_are_trimmed_by_task() -> None:
    tasks = [
        replace(row(AGENTIC, conc, eval_only=True), eval_framework=framework)
        for framework in ("lm-eval", "kimi-vendor")
        for conc in (8, 2)
    ]
    left = trim_rows([row(AGENTIC, 4), *tasks])
    assert [(item.conc, item.eval_only, item.eval_framework) for item in left] == [
        ((4,), None, None),
        ((2,), True, "lm-eval"),
        ((2,), True, "kimi-vendor"),
    ]
