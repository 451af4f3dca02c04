"""docs/launching.md: its examples are valid, and it explains every field, placeholder and rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from infx import schema
from infx.launch.cluster_rules import CLUSTER_RULES, FILE_RULES
from infx.launch.clusters import load_clusters, parse_clusters
from infx.launch.render import render_row_launch
from infx.launch.texts import ALL_NAMES
from tests.conftest import ROOT
from tests.launch.samples import task

TEXT = (ROOT / "docs/launching.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml clusters\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_complete(example: str) -> None:
    assert parse_clusters(example.encode(), "clusters.yaml")[1] == []
    clusters = load_clusters(example.encode(), "clusters.yaml")
    for name in clusters.fields:
        assert render_row_launch(task(), name, clusters).steps


def test_every_field_is_explained() -> None:
    explained = {word for span in re.findall(r"`([^`\n]+)`", TEXT) for word in re.findall(r"[a-z-]+", span)}
    assert set(_iterate_fields(schema.read_schema("clusters"))) - explained == set()


def _iterate_fields(value: Any) -> Iterator[str]:
    """Yield the names of all fields; conditions on rows have the names of a row's fields."""
    if isinstance(value, dict):
        properties = value.get("properties", {})
        if isinstance(properties, dict) and "spec-decoding" not in properties:
            yield from properties
        for child in value.values():
            yield from _iterate_fields(child)
    elif isinstance(value, list):
        for child in value:
            yield from _iterate_fields(child)


def test_every_placeholder_is_explained() -> None:
    table = TEXT.partition("## Placeholders")[2].partition("\n## ")[0]
    assert set(re.findall(r"`\{([a-z-]+)\}`", table)) == ALL_NAMES


def test_every_rule_is_explained() -> None:
    table = TEXT.partition("| rule | problem |")[2].partition("\n## ")[0]
    ids = {rule.id for rule in FILE_RULES} | {rule.id for rule in CLUSTER_RULES}
    assert set(re.findall(r"^\| `([a-z-]+)`", table, re.MULTILINE)) == ids
