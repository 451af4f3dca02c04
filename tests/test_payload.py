from __future__ import annotations

from typing import Any

import pytest

from infx.payload import Payload

PAYLOAD = Payload(
    {"a": {"text": "x", "number": 7, "flag": True, "list": [{"id": "1"}, "stray"], "null": None}}
)


@pytest.mark.parametrize(
    ("path", "text", "number"),
    [
        (("a", "text"), "x", None),
        (("a", "number"), None, 7),
        (("a", "flag"), None, None),  # a truth value is not a number
        (("a", "null"), None, None),
        (("a", "text", "deeper"), None, None),
        (("a", "list", "0"), None, None),
        (("b", "text"), None, None),
        ((), None, None),
    ],
)
def test_values_of_another_type_are_none(path: tuple[str, ...], text: str | None, number: int | None) -> None:
    assert (PAYLOAD.text(*path), PAYLOAD.number(*path)) == (text, number)


def test_items_of_another_type_keep_their_places() -> None:
    items = PAYLOAD.items("a", "list")
    assert items is not None
    assert [item.text("id") for item in items] == ["1", None]


@pytest.mark.parametrize("values", [{}, {"a": {}}, {"a": {"list": "text"}}, {"a": []}])
def test_without_a_list_there_are_no_items(values: dict[str, Any]) -> None:
    assert Payload(values).items("a", "list") is None
