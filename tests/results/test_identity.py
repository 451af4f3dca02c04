"""Compare the identity of results with the plan: every field, for both kinds of results."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from infx.bench.config import Component, KvOffloading, Parallelism, SpecDecoding, Worker
from infx.bench.row import AgenticWorkload, FixedWorkload, Recipe, Roles, Row
from infx.bench.uploads import artifact_name
from infx.results.collect import RowState, collect
from infx.results.identity import (
    ENGINE,
    FIELDS,
    Accepted,
    find_eval_mismatches,
    find_mismatches,
    plan_identity,
)
from infx.schema import read_schema
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row
from tests.results.made import RULES, artifact, harness, make_jobs, result

AGGREGATED = replace(
    DISAGG,
    disagg=False,
    layout=Roles(
        prefill=Worker(num_worker=2, tp=8, ep=8, dp_attn=True), decode=Worker(num_worker=0, tp=8, ep=8)
    ),
)
HETEROGENEOUS = replace(
    DISAGG,
    layout=Roles(
        prefill=Worker(num_worker=1, tp=4, hardware="b200"),
        decode=Worker(num_worker=2, tp=8, hardware="h200"),
    ),
)
KINDS = {
    "fixed": replace(row(FIXED, 64), recipe_fingerprint="1" * 64),
    "agentic": row(AGENTIC, 8),
    "disaggregated": row(DISAGG, 4, 8),
    "aggregated": row(AGGREGATED, 4),
    "two kinds of hardware": row(HETEROGENEOUS, 4),
    "named suite": replace(row(FIXED, 64), eval_framework="lm-eval", eval_suite="gsm8k"),
}


def as_json(value: object) -> Any:
    return dataclasses.asdict(value) if isinstance(value, Component) else value


def stated(planned: Row) -> dict[str, Any]:
    """Return every field with the plan's value, in the form of a result."""
    identity = plan_identity(planned)
    return {name: as_json(accepted[0]) for name, accepted in identity.items() if accepted}


def other(value: Any) -> Any:
    """Return a value of the same type that is not planned."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1000
    return {**value, "name": "other"} if isinstance(value, dict) else f"other-{value}"


def text_of(value: Any) -> Any:
    return str(value).lower() if isinstance(value, int) else value


def may_be_either(planned: Row, name: str) -> bool:
    """Return whether both values of a flag match, because the two roles differ."""
    accepted: Accepted = plan_identity(planned).get(name, ())
    return set(accepted) == {True, False}


@pytest.mark.parametrize("kind", KINDS)
def test_each_field_of_a_throughput_row_is_compared(kind: str) -> None:
    planned = KINDS[kind]
    values = stated(planned)
    assert find_mismatches(values, planned) == []
    for name in plan_identity(planned):
        if may_be_either(planned, name):
            continue
        wrong = other(values.get(name, "nothing"))
        clauses = find_mismatches({**values, name: wrong}, planned)
        assert len(clauses) == 1, (name, clauses)
        assert re.fullmatch(rf"{name} is \S+( \S+)?, the plan (says .+|has none)", clauses[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", [as_json, text_of], ids=["typed", "as text"])
def test_each_field_of_an_accuracy_result_is_compared(kind: str, form: Callable[[Any], Any]) -> None:
    """Harnesses may write numbers and flags as text, so both forms are tested."""
    planned = KINDS[kind]
    values = {key: form(value) for key, value in stated(planned).items()}
    assert find_eval_mismatches(values, planned) == []
    for name in plan_identity(planned):
        compared = name != "conc" and not (planned.recipe.is_multinode and name in ENGINE)
        wrong = form(other(stated(planned).get(name, "nothing")))
        mismatches = find_eval_mismatches({**values, name: wrong}, planned)
        named = [clause.split(" ")[0] for clause in mismatches]
        assert named == ([name] if compared else []), name


def test_every_listed_field_is_compared_somewhere() -> None:
    assert {name for planned in KINDS.values() for name in plan_identity(planned)} == set(FIELDS)
    assert len(set(FIELDS)) == len(FIELDS)


def test_every_field_of_the_schema_is_compared_or_a_number() -> None:
    """A new field of the schema must be compared, unless it is a measurement."""
    schema = read_schema("result-row")
    measured = {"tput_per_gpu", "benchmark_outcome"}
    assert set(schema["properties"]) - measured <= set(FIELDS)
    patterns = [
        pattern
        for pattern, value in schema["patternProperties"].items()
        if value.get("type") != "number" and value.get("$ref") != "#/$defs/done"
    ]
    named = {name for name in FIELDS for pattern in patterns if re.search(pattern, name)}
    assert {name for name in FIELDS if name not in schema["properties"]} == named | {
        "eval_framework", "eval_suite",  # fields of accuracy results only
    }  # fmt: skip


# Fields of a planned row that results do not repeat. A new field must be added here, or compared.
NOT_REPEATED = {
    Recipe: {"srt_recipe", "eval_srt_recipe", "node_count", "power"},
    Row: {"exp_name", "run_eval", "eval_only", "eval_conc", "eval_all_concs"},
    FixedWorkload: {"max_model_len", "require_power"},
    AgenticWorkload: {"total_cpu_dram_gb", "duration"},
    Parallelism: set(),
    Worker: {"additional_settings"},
}
CHANGES: dict[str, Any] = {
    "spec_decoding": SpecDecoding.DRAFT_MODEL,
    "router": Component(name="other"),
    "kv_offloading": KvOffloading.NONE,
    "kv_offload_backend": Component(name="other"),
    "conc": (7,),
    "runner": "other",
}


def changed(value: object, name: str) -> object:
    """Return the dataclass with another value in one field."""
    before = getattr(value, name)
    after = CHANGES.get(name)
    if after is None:
        after = other(before) if before is not None else "other"
    return replace(value, **{name: after})  # type: ignore[type-var]


def fields_of(kind: type) -> list[str]:
    made = {"layout", "workload", "recipe", "_hash"}  # its own fields are tested
    return [field.name for field in dataclasses.fields(kind) if field.name not in made | NOT_REPEATED[kind]]


@pytest.mark.parametrize("name", fields_of(Recipe))
def test_every_field_of_a_recipe_is_part_of_the_identity(name: str) -> None:
    recipe = changed(DISAGG, name)
    assert isinstance(recipe, Recipe)
    assert plan_identity(row(recipe, 4)) != plan_identity(row(DISAGG, 4))


@pytest.mark.parametrize("name", fields_of(Row))
def test_every_field_of_a_row_is_part_of_the_identity(name: str) -> None:
    planned = changed(KINDS["named suite"], name)
    assert isinstance(planned, Row)
    assert plan_identity(planned) != plan_identity(KINDS["named suite"])


@pytest.mark.parametrize("recipe", [FIXED, AGENTIC], ids=["fixed", "agentic"])
def test_every_field_of_a_workload_is_part_of_the_identity(recipe: Recipe) -> None:
    for name in fields_of(type(recipe.workload)):
        workload: Any = changed(recipe.workload, name)
        assert plan_identity(row(replace(recipe, workload=workload))) != plan_identity(row(recipe)), name


@pytest.mark.parametrize("role", ["prefill", "decode"])
@pytest.mark.parametrize("name", fields_of(Worker))
def test_every_field_of_a_worker_is_part_of_the_identity(role: str, name: str) -> None:
    layout = DISAGG.layout
    assert isinstance(layout, Roles)
    worker: Any = changed(getattr(layout, role), name)
    recipe = replace(DISAGG, layout=replace(layout, **{role: worker}))
    assert plan_identity(row(recipe, 4)) != plan_identity(row(DISAGG, 4))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"image": "x/y:1"}, "image is x/y:1, the plan says vllm/vllm-openai:v1"),
        ({"model": "/models/m1"}, "model is /models/m1, the plan says acme/m1"),
        ({"disagg": True}, "disagg is true, the plan says false"),
        ({"tp": 4}, "tp is 4, the plan says 8"),
        ({"recipe_fingerprint": "0" * 64}, f"recipe_fingerprint is {'0' * 64}, the plan says {'1' * 64}"),
        ({"router": {"name": "r", "version": "1"}}, "router is r 1, the plan has none"),
        ({"image": "x" * 500}, f"image is {'x' * 199}…, the plan says vllm/vllm-openai:v1"),
    ],
)
def test_a_mismatch_names_both_values(changes: dict[str, Any], words: str) -> None:
    assert find_mismatches(result(**changes), KINDS["fixed"]) == [words]


def test_any_planned_concurrency_matches() -> None:
    values = stated(KINDS["disaggregated"])
    assert find_mismatches({**values, "conc": 8}, KINDS["disaggregated"]) == []
    mismatches = find_mismatches({**values, "conc": 16}, KINDS["disaggregated"])
    assert mismatches == ["conc is 16, the plan says 4 or 8"]


def test_a_component_may_leave_out_its_version() -> None:
    planned = row(DISAGG, 4)
    values = stated(planned)
    assert find_mismatches({**values, "router": {"name": "dynamo-router"}}, planned) == []
    assert find_mismatches({**values, "router": {"name": "dynamo-router", "version": "2"}}, planned) == [
        "router is dynamo-router 2, the plan says dynamo-router 1"
    ]


def test_sizes_of_a_role_without_workers_are_ignored() -> None:
    """The existing tools write 0, or the sizes of the other role."""
    planned = KINDS["aggregated"]
    for size in (0, 8, 3):
        assert find_mismatches({**stated(planned), "decode_tp": size}, planned) == []
    assert find_mismatches({**stated(planned), "decode_num_workers": 1}, planned)


def test_null_values_of_a_harness_are_not_compared() -> None:
    assert find_eval_mismatches(dict.fromkeys(FIELDS), KINDS["fixed"]) == []
    assert find_eval_mismatches({"note": "x"}, KINDS["fixed"]) == []
    assert find_eval_mismatches({"hw": "unknown"}, KINDS["fixed"]) == [
        "hw is unknown, the plan says cluster:h200-a"
    ]


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", ["", " ", [], {}, {"name": 1}, ["x"], 1e308, "8.0", "\n::error::x", nested(900)]
)
def test_foreign_values_can_be_compared(value: object) -> None:
    for name in ("hw", "isl", "disagg", "router"):
        [clause] = find_eval_mismatches({name: value}, KINDS["disaggregated"])
        assert clause.startswith(f"{name} is ")


@pytest.mark.parametrize(
    "changes",
    [
        {"image": "x/y:1"},
        {"model": "m2"},
        {"hw": "b200"},
        {"framework": "sglang"},
        {"precision": "fp4"},
        {"isl": 1},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_result_of_another_identity_is_not_published(changes: dict[str, Any]) -> None:
    throughput, accuracy = make_jobs([row(FIXED, 64), row(FIXED, 64, eval_only=True)])
    artifacts = [
        artifact(artifact_name(throughput), {"agg.json": result(**changes)}),
        artifact(artifact_name(accuracy), {"meta_env.json": changes, "results.json": harness()}),
    ]
    collection = collect([throughput, accuracy], artifacts, RULES)
    assert [item.state for item in collection.coverage] == [RowState.FAILED, RowState.FAILED]
    assert (collection.points, collection.evals) == ((), ())
    [name] = changes
    assert all(f"{name} is " in item.faults[0] for item in collection.rejected)
