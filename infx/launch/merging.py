"""Merge the layers of a clusters file: defaults, families, the cluster, and the changes for some rows.

Maps merge, but an empty map empties; lists replace, but a list that begins with `+` appends; any other value replaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

Fields: TypeAlias = Mapping[str, Any]

APPEND = "+"


def merge_fields(under: Fields, over: Fields) -> dict[str, Any]:
    """Return the fields of both layers; the upper layer wins."""
    merged = dict(under)
    for key, value in over.items():
        merged[key] = _merge_value(merged.get(key), value)
    return merged


def _merge_value(under: Any, over: Any) -> Any:
    if isinstance(over, Mapping) and over:
        return merge_fields(under if isinstance(under, Mapping) else {}, over)
    if isinstance(over, list) and over[:1] == [APPEND]:
        return [*(under if isinstance(under, list) else ()), *over[1:]]
    return over


def resolve_fields(fields: Fields, families: Mapping[str, Fields], defaults: Fields) -> dict[str, Any]:
    """Return a cluster's fields with those of its families and the defaults below them.

    Families must exist and must not extend themselves; see `find_family_faults`.
    """
    merged = dict(defaults)
    for name in dict.fromkeys(_list_families(fields, families)):  # a list of a family is appended once
        merged = merge_fields(merged, _own(families[name]))
    return merge_fields(merged, _own(fields))


def _list_families(fields: Fields, families: Mapping[str, Fields]) -> Iterator[str]:
    """Yield the families of a layer, each after the families that it extends."""
    for name in parents_of(fields):
        yield from _list_families(families[name], families)
        yield name


def parents_of(fields: Fields) -> Sequence[str]:
    extends = fields.get("extends", ())
    return [extends] if isinstance(extends, str) else list(extends)


def _own(fields: Fields) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != "extends"}


def find_family_faults(
    fields: Fields, families: Mapping[str, Fields], name: str | None = None
) -> Iterator[str]:
    """Yield a message for each named family that does not exist, and for a family that extends itself.

    name: of the family that has the fields; None for a cluster.
    """
    for parent in parents_of(fields):
        if parent not in families:
            yield f'there is no family "{parent}"'
    waiting: list[tuple[str, ...]] = [(parent,) for parent in parents_of(fields)]
    seen: set[str] = set()
    while waiting:
        path = waiting.pop(0)
        if path[-1] == name:
            yield f"the family extends itself: {', '.join((name, *path))}"
        elif path[-1] not in seen and path[-1] in families:
            seen.add(path[-1])
            waiting += [(*path, parent) for parent in parents_of(families[path[-1]])]


def apply_changes(fields: Fields, row: Fields) -> dict[str, Any]:
    """Return the fields with the changes whose conditions a row meets, in the file's order.

    row: a row in JSON form.
    """
    merged = {key: value for key, value in fields.items() if key != "when"}
    for change in fields.get("when", ()):
        if is_met(change, row):
            merged = merge_fields(merged, change["set"])
    return merged


def is_met(change: Fields, row: Fields) -> bool:
    """Return whether a row meets all conditions of a change."""
    return all(_has_value(row.get(key), expected) for key, expected in change.items() if key != "set")


def _has_value(value: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return any(_has_value(value, item) for item in expected)
    if isinstance(expected, str) and isinstance(value, str):
        return fnmatchcase(value, expected)
    return type(value) is type(expected) and bool(value == expected)
