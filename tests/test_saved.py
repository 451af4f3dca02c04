"""Saved values are equal after reading, and wrong values are refused with their place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import pytest

from infx.errors import UsageError
from infx.policy.load import default_policy
from infx.policy.model import Policy
from infx.saved import dump_json, from_json, parse_json, to_json


class Color(StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


@dataclass(frozen=True, kw_only=True)
class Inner:
    some_count: int
    share: float = 0.5


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: str
    when: datetime
    color: Color
    inner: Inner
    is_on: bool = False
    maybe: Inner | None = None
    many: tuple[Inner, ...] = ()
    by_name: Mapping[str, Inner] = field(default_factory=dict)
    unknown: bool | None = None


VALUE = Outer(
    name="x\n::y::\u202e",
    when=datetime(2026, 1, 31, 12, tzinfo=UTC),
    color=Color.DARK_BLUE,
    inner=Inner(some_count=3),
    maybe=Inner(some_count=1, share=0.25),
    many=(Inner(some_count=1), Inner(some_count=2)),
    by_name=MappingProxyType({"a-b": Inner(some_count=9)}),
    unknown=False,
)


def test_a_saved_value_is_equal_after_reading() -> None:
    text = dump_json(VALUE)
    assert text.endswith("}\n")
    assert json.loads(text)["inner"] == {"some-count": 3, "share": 0.5}
    assert parse_json(Outer, text.encode(), "f") == VALUE


def test_a_missing_key_has_its_default() -> None:
    data = {
        "name": "x",
        "when": "2026-01-31T12:00:00Z",
        "color": "red",
        "inner": {"some-count": 1, "share": 1},
    }
    value = from_json(Outer, data)
    assert (value.maybe, value.many, value.unknown) == (None, (), None)
    assert isinstance(value.inner.share, float)


def test_the_whole_default_policy_survives() -> None:
    policy = default_policy()
    assert parse_json(Policy, dump_json(policy).encode(), "f") == policy


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ((), [], "The file: found []; expected a mapping."),
        (("name",), 3, "name: found 3; expected text."),
        (("is-on",), 1, "is-on: found 1; expected true or false."),
        (("inner", "some-count"), True, "inner.some-count: found true; expected a whole number."),
        (("inner", "share"), "1", 'inner.share: found "1"; expected a number.'),
        (("inner", "share"), 10**400, "expected a finite number."),
        (("name",), "\ud800", 'name: found "\\ud800"; expected valid Unicode'),
        (("color",), "green", 'color: found "green"; expected one of red, dark-blue.'),
        (("when",), "today", "when: found"),
        (("when",), "2026-01-31", "expected a time with its zone."),
        (("when",), None, "when: found null"),
        (("many",), {}, "many: found {}; expected a list."),
        (("many", 1, "some-count"), None, "many.1.some-count: found null; expected a whole number."),
        (("by-name",), [], "by-name: found []; expected a mapping."),
        (("by-name", "a-b"), 3, "by-name.a-b: found 3; expected a mapping."),
        (("colors",), 1, 'found "colors"; expected one of name, when'),
        (("inner",), {}, "inner: found {}; expected the key some-count."),
    ],
)
def test_wrong_values_are_refused_with_their_place(
    path: tuple[str | int, ...], value: Any, words: str
) -> None:
    data: Any = to_json(VALUE)
    if path:
        place: Any = data
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
    else:
        data = value
    with pytest.raises(UsageError) as caught:
        parse_json(Outer, json.dumps(data).encode(), "facts.json")
    assert words in caught.value.message
    assert caught.value.where == "facts.json"


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000])
def test_other_data_than_json_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError):
        parse_json(Outer, data, "facts.json")
