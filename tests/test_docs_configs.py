"""The examples of docs/configs.md are valid, and its tables are complete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from infx import schema
from infx.matrix import (
    cluster_agreement,
    file_rules,
    inventory,
    launch_check,
    launch_rules,
    length_rules,
    overlap,
    parse,
    setting_rules,
    silences,
    tables,
)
from infx.matrix.parse import parse_master
from infx.matrix.row_rules import ROW_RULES
from infx.matrix.rules import CONFIG_RULES, SCENARIO_RULES
from infx.matrix.runner_rules import CLUSTER_RULES, FILE_RULES
from infx.matrix.runners import parse_runners
from tests.conftest import ROOT

TEXT = (ROOT / "docs/configs.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", [text for text in EXAMPLES if not text.startswith("#")])
def test_examples_have_no_problems(example: str) -> None:
    if example.startswith("labels:"):
        assert parse_runners(example.encode(), "runners.yaml")[1] == []
    else:
        file = parse_master(example.encode(), "master.yaml")
        assert file.configs
        assert file.problems == ()


def test_every_rule_is_explained() -> None:
    tables_of_rules = (CONFIG_RULES, SCENARIO_RULES, ROW_RULES, FILE_RULES, CLUSTER_RULES)
    ids = {rule.id for rules in tables_of_rules for rule in rules} | {inventory.UNKNOWN_RUNNER}
    modules = (
        cluster_agreement, file_rules, inventory, launch_check, launch_rules, length_rules, overlap, parse, setting_rules,
        silences, tables,
    )  # fmt: skip
    for module in modules:
        source = (ROOT / str(module.__file__)).read_text(encoding="utf-8")
        ids |= set(re.findall(r'rule ?= ?"([a-z-]+)"', source))
    explained = set(re.findall(r"`([a-z-]+)`", TEXT[TEXT.index("| rule | problem |") :]))
    assert len(ids) > 45
    assert ids | silences.SILENCEABLE <= explained


def test_the_page_lists_the_rules_that_can_be_silenced() -> None:
    (listed,) = re.findall(r"Rules that can be silenced: (.*?)\.\s", TEXT, re.DOTALL)
    assert set(re.findall(r"`([a-z-]+)`", listed)) == silences.SILENCEABLE


@pytest.mark.parametrize("name", ["master-config", "runners"])
def test_every_field_of_a_configuration_is_explained(name: str) -> None:
    for field in set(_iterate_fields(schema.read_schema(name))):
        assert re.search(rf"(?<![\w-]){re.escape(field)}(?![\w-])", TEXT), f"{field} is not explained"


def _iterate_fields(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        properties = value.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        for child in value.values():
            yield from _iterate_fields(child)
