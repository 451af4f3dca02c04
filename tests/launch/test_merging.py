"""Layers of a clusters file: which value wins."""

from __future__ import annotations

from typing import Any

import pytest

from infx.launch.merging import apply_changes, find_family_faults, merge_fields, resolve_fields


@pytest.mark.parametrize(
    ("under", "over", "expected"),
    [
        pytest.param({"a": 1}, {"b": 2}, {"a": 1, "b": 2}, id="both"),
        pytest.param({"a": 1}, {"a": 2}, {"a": 2}, id="the upper value wins"),
        pytest.param({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}, id="maps merge"),
        pytest.param({"a": {"b": 1}}, {"a": {}}, {"a": {}}, id="an empty map empties"),
        pytest.param({"a": [1]}, {"a": [2]}, {"a": [2]}, id="lists replace"),
        pytest.param({"a": [1]}, {"a": ["+", 2]}, {"a": [1, 2]}, id="a list with + appends"),
        pytest.param({}, {"a": ["+", 2]}, {"a": [2]}, id="a list with + and nothing below"),
        pytest.param({"a": {"b": True}}, {"a": {"b": None}}, {"a": {"b": None}}, id="null is a value"),
        pytest.param({"a": 8888}, {"a": {"base": 1}}, {"a": {"base": 1}}, id="a map replaces a number"),
    ],
)
def test_layers_merge(under: dict[str, Any], over: dict[str, Any], expected: dict[str, Any]) -> None:
    before = repr((under, over))
    assert merge_fields(under, over) == expected
    assert repr((under, over)) == before  # families are merged into many clusters


def test_families_lie_between_defaults_and_the_cluster() -> None:
    families: dict[str, dict[str, Any]] = {
        "a": {"x": "a", "y": "a", "z": "a"},
        "b": {"extends": "a", "y": "b", "z": "b"},
        "c": {"z": "c"},
    }
    defaults = {"w": "d", "x": "d", "own": "d"}
    fields = resolve_fields({"extends": ["b", "c"], "own": "own"}, families, defaults)
    assert fields == {"w": "d", "x": "a", "y": "b", "z": "c", "own": "own"}


def test_a_family_reached_twice_appends_once() -> None:
    families: dict[str, dict[str, Any]] = {"cache": {"mounts": ["+", "c"]}, "site": {"extends": "cache"}}
    assert resolve_fields({"extends": ["site", "cache"]}, families, {"mounts": ["m"]}) == {
        "mounts": ["m", "c"]
    }


@pytest.mark.parametrize(
    ("families", "expected"),
    [
        ({"a": {"extends": "b"}, "b": {}}, []),
        ({"a": {"extends": ["b", "x"]}, "b": {}}, ['there is no family "x"']),
        ({"a": {"extends": "a"}}, ["the family extends itself: a, a"]),
        ({"a": {"extends": "b"}, "b": {"extends": "a"}}, ["the family extends itself: a, b, a"]),
        ({"a": {"extends": "b"}, "b": {"extends": "b"}}, []),  # a fault of b
    ],
)
def test_unusable_families_are_found(families: dict[str, Any], expected: list[str]) -> None:
    assert list(find_family_faults(families["a"], families, "a")) == expected


@pytest.mark.parametrize(
    ("condition", "is_met"),
    [
        ({"framework": "vllm"}, True),
        ({"framework": "sglang"}, False),
        ({"framework": ["atom", "vllm"]}, True),
        ({"model": "acme/M1*"}, True),
        ({"model": "acme/m1*"}, False),  # capital letters matter
        ({"framework": "vllm", "tp": 8}, True),
        ({"framework": "vllm", "tp": 4}, False),
        ({"tp": "8"}, False),
        ({"disagg": False}, True),
        ({"disagg": 0}, False),
        ({"image": "*"}, False),  # the row has no such field
    ],
)
def test_a_change_needs_all_its_conditions(condition: dict[str, Any], is_met: bool) -> None:
    row = {"framework": "vllm", "model": "acme/M1-FP8", "tp": 8, "disagg": False}
    fields = {"mount-at": "/workspace", "when": [{**condition, "set": {"mount-at": "/ix"}}]}
    assert apply_changes(fields, row) == {"mount-at": "/ix" if is_met else "/workspace"}


def test_changes_apply_in_order() -> None:
    fields = {"when": [{"tp": 8, "set": {"time": 1, "mem": 1}}, {"tp": 8, "set": {"time": 2}}]}
    assert apply_changes(fields, {"tp": 8}) == {"time": 2, "mem": 1}
