"""A record behaves as the dataclass of the same fields does."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest

from infx import records
from infx.records import record


@record
class Point:
    """A place."""

    x: int
    tags: tuple[str, ...] = ()
    notes: dict[str, int] = field(default_factory=dict, compare=False)
    secret: str = field(default="", repr=False)
    unit: ClassVar[str] = "m"


@record
class Place(Point):
    """A place with a name."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Twin:
    x: int
    tags: tuple[str, ...] = ()
    notes: dict[str, int] = field(default_factory=dict, compare=False)
    secret: str = field(default="", repr=False)


@record
class Lone:
    only: str


@record
class Sum:  # noqa: PLW1641 - as with `dataclass(frozen=True)`, it has the hash of its fields
    parts: tuple[int, ...]
    total: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", sum(self.parts))

    def __repr__(self) -> str:
        return f"<{self.total}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sum) and self.total == other.total


def test_a_record_is_a_dataclass_for_the_standard_library() -> None:
    point = Point(x=1)
    assert is_dataclass(Lone)
    assert [item.name for item in fields(Place)] == ["x", "tags", "notes", "secret", "name"]
    assert asdict(point) == asdict(Twin(x=1)) == {"x": 1, "tags": (), "notes": {}, "secret": ""}
    assert replace(point, tags=("a",)) == Point(x=1, tags=("a",))
    assert repr(point) == repr(Twin(x=1)).replace("Twin", "Point") == "Point(x=1, tags=(), notes={})"


def test_equal_fields_make_equal_records_of_one_class() -> None:
    one, other = Point(x=1, notes={"a": 1}), Point(x=1, notes={"b": 2})
    assert one == other
    assert hash(one) == hash(other)
    assert one != Point(x=2)
    assert one != object()
    assert Point(x=1) != Place(x=1, name="")
    assert {Lone(only="a"): 1}[Lone(only="a")] == 1


@pytest.mark.parametrize("values", [{}, {"y": 1}, {"x": 1, "y": 1}])
def test_missing_and_unknown_arguments_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"^Point lacks .*: (x|x, y|y)$"):
        Point(**values)


def test_a_default_factory_makes_a_value_for_each_record() -> None:
    assert Point(x=1).notes is not Point(x=1).notes


def test_a_record_cannot_be_changed() -> None:
    point = Point(x=1)
    with pytest.raises(FrozenInstanceError, match="'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="'x'"):
        del point.x
    assert point == copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point))


def test_methods_of_the_class_win() -> None:
    assert repr(Sum(parts=(1, 2))) == "<3>"
    assert Sum(parts=(1, 2)) == Sum(parts=(3,))
    assert hash(Sum(parts=(1, 2))) == hash(((1, 2), 3))


@record(eq=False)
class Handle:
    owner: str


def test_a_record_without_equality_equals_only_itself() -> None:
    one, other = Handle(owner="a"), Handle(owner="a")
    assert one == one  # noqa: PLR0124
    assert one != other
    assert len({one, other}) == 2
    with pytest.raises(FrozenInstanceError):
        one.owner = "b"  # type: ignore[misc]


@record
class Area:
    width: int
    height: int = 1

    @cached_property
    def size(self) -> int:
        return self.width * self.height


@pytest.mark.parametrize("copied", [records.replace, replace])
def test_a_changed_copy_keeps_the_other_fields_and_no_cached_property(copied: Any) -> None:
    area = Area(width=2, height=3)
    assert copied(area, width=5) == Area(width=5, height=3)
    assert area.size == 6
    assert copied(area, width=5).size == 15
    assert copied(Sum(parts=(1, 2)), parts=(4,)).total == 4
    assert area == Area(width=2, height=3)


@pytest.mark.parametrize("copied", [records.replace, replace])
def test_a_copy_cannot_change_an_unknown_field(copied: Any) -> None:
    area = Area(width=2)
    with pytest.raises(TypeError, match="depth"):
        copied(area, depth=1)
    assert area.size == 2
    with pytest.raises(TypeError, match="depth"):
        copied(area, depth=1)
