"""Where a cluster has a row's weights."""

from __future__ import annotations

from typing import Any

import pytest

from infx.errors import InfxError
from infx.launch.render import render_row_launch
from infx.launch.steps import PathChoice, StepName
from tests.launch.samples import CLUSTERS, change, clusters, task

TABLE = """{set: [MODEL, MODEL_PATH], paths: {m1/fp8: /m/one, "m1/fp8/*V2": /m/two, m1/fp4: [/a, /b], m2/fp8: {any: [/c, /d], holds: "*.safetensors", else: /e, create: true}, m3/fp8: {any: [/f]}}}"""
STAGED = "{set: [MODEL_PATH], staged: /fast, names: [m1], else: /slow}"


def choose(table: str, **fields: Any) -> PathChoice:
    text = change(CLUSTERS, "h200-a: {", f"h200-a: {{model: {table}, ")
    launch = render_row_launch(task(**fields), "h200-a", clusters(text))
    (choice,) = (choice for choice in launch.choices if choice.name == "model-path")
    return choice


@pytest.mark.parametrize(
    ("table", "fields", "expected"),
    [
        (TABLE, {}, PathChoice(name="model-path", paths=(), otherwise="/m/one")),
        (TABLE, {"model": "acme/m1-V2"}, PathChoice(name="model-path", paths=(), otherwise="/m/two")),
        (TABLE, {"precision": "fp4"}, PathChoice(name="model-path", paths=("/a", "/b"), otherwise="/a")),
        (
            TABLE,
            {"model_prefix": "m2"},
            PathChoice(name="model-path", paths=("/c", "/d"), holds="*.safetensors", otherwise="/e", is_created=True),
        ),
        (TABLE, {"model_prefix": "m3"}, PathChoice(name="model-path", paths=("/f",), otherwise="/f")),
        (STAGED, {}, PathChoice(name="model-path", paths=(), otherwise="/fast/m1")),
        (STAGED, {"model": "acme/m2"}, PathChoice(name="model-path", paths=(), otherwise="/slow/m2")),
        (STAGED, {"model": "m2"}, PathChoice(name="model-path", paths=(), otherwise="/slow/m2")),
    ],
)  # fmt: skip
def test_a_table_names_the_path(table: str, fields: dict[str, Any], expected: PathChoice) -> None:
    assert choose(table, **fields) == expected


@pytest.mark.parametrize(
    ("table", "fields"),
    [
        (TABLE, {"model_prefix": "m9"}),
        (TABLE, {"precision": "bf16"}),
        ("{set: [M], staged: /fast, names: [m1]}", {"model": "acme/m2"}),
        (STAGED, {"model": "acme/.."}),
        (STAGED, {"model": "acme/"}),
    ],
)
def test_a_model_that_the_cluster_does_not_have_is_refused(table: str, fields: dict[str, Any]) -> None:
    with pytest.raises(InfxError, match='The cluster "h200-a" does not have the model'):
        choose(table, **fields)


def test_the_row_gets_the_path_instead_of_the_name() -> None:
    text = change(CLUSTERS, "h200-a: {", f"h200-a: {{model: {TABLE}, ")
    launch = render_row_launch(task(), "h200-a", clusters(text))
    (run,) = (step for step in launch.steps if step.name is StepName.RUN)
    assert run.environment["MODEL"] == run.environment["MODEL_PATH"] == "{model-path}"
