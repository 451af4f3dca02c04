"""Save frozen values as JSON and read them back, so that a later command can decide by the same facts.

Keys are the fields' names with `-` for `_`; times are ISO 8601 in UTC. A missing key has the field's default; an
unknown key or a wrong value is refused with its place. A class may have its own form: `to_saved` returns it, and
`from_saved` reads it or raises ValueError with the expected form.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Hashable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from infx.errors import UsageError
from infx.files import decode_json

_T = TypeVar("_T")


def dump_json(value: Any) -> str:
    """Return a dataclass, with all nested values, as indented JSON with a final newline."""
    return json.dumps(to_json(value), ensure_ascii=False, indent=2) + "\n"


def to_json(value: Any) -> Any:
    if hasattr(value, "to_saved"):
        return value.to_saved()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {_key(field.name): to_json(getattr(value, field.name)) for field in fields}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    return value


def parse_json(cls: type[_T], data: bytes, path: str) -> _T:
    """Return a dataclass from a file that `dump_json` or a person wrote. Raises UsageError."""
    return parse_value(cls, decode_json(data, "file", path), path)


def parse_value(cls: type[_T], value: Any, path: str) -> _T:
    """Return a dataclass from the value of such a file. Raises UsageError."""
    try:
        return typing.cast("_T", from_json(cls, value))
    except _MisfitError as error:
        raise UsageError(
            str(error), hint="Save it again with this version of infx, or fix it.", where=path
        ) from None


class _MisfitError(Exception):
    """Raised when a value does not have the expected type."""

    def __init__(self, expected: str, value: object, at: tuple[str, ...] = ()) -> None:
        self.expected, self.value, self.at = expected, value, at
        shown = json.dumps(value, default=str)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        super().__init__(f"{'.'.join(at) or 'The file'}: found {shown}; expected {expected}.")

    def inside(self, step: str) -> _MisfitError:
        return _MisfitError(self.expected, self.value, (step, *self.at))


def from_json(hint: Any, value: Any) -> Any:
    if hasattr(hint, "from_saved"):
        return _own_form(hint, value)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        inner = next(argument for argument in arguments if argument is not type(None))
        return None if value is None else from_json(inner, value)
    if origin is tuple:
        return _list(arguments[0], value)
    if origin is Mapping:
        return types.MappingProxyType(_mapping(arguments[1], value))
    if dataclasses.is_dataclass(hint):
        return _record(typing.cast("type", hint), value)
    if hint is datetime:
        return _time(value)
    if issubclass(hint, StrEnum):
        return _choice(hint, value)
    return _plain(hint, value)


def _own_form(cls: Any, value: Any) -> Any:
    try:
        json.dumps(value, ensure_ascii=False).encode()  # fails for lone surrogates
        return cls.from_saved(value)
    except UnicodeEncodeError:
        raise _MisfitError("valid Unicode (no lone surrogates)", value) from None
    except ValueError as error:
        raise _MisfitError(str(error), value) from None


def _record(cls: type, value: Any) -> Any:
    if not isinstance(value, dict):
        raise _MisfitError("a mapping", value)
    hints = _hints(typing.cast("Hashable", cls))
    if unknown := [key for key in value if key not in hints]:
        raise _MisfitError(f"one of {', '.join(hints)}", unknown[0])
    fields = {}
    for key, (name, hint, is_required) in hints.items():
        if key in value:
            fields[name] = _at(key, hint, value[key])
        elif is_required:
            raise _MisfitError(f"the key {key}", value)
    return cls(**fields)


@functools.cache
def _hints(cls: Hashable) -> dict[str, tuple[str, Any, bool]]:
    """Return key → (field, type, whether it is required)."""
    types_ = typing.get_type_hints(typing.cast("type", cls))
    fields = dataclasses.fields(typing.cast("Any", cls))
    absent = dataclasses.MISSING
    return {
        _key(field.name): (
            field.name,
            types_[field.name],
            field.default is absent and field.default_factory is absent,
        )
        for field in fields
    }


def _at(step: str, hint: Any, value: Any) -> Any:
    try:
        return from_json(hint, value)
    except _MisfitError as error:
        raise error.inside(step) from None


def _list(hint: Any, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _MisfitError("a list", value)
    return tuple(_at(str(index), hint, item) for index, item in enumerate(value))


def _mapping(hint: Any, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _MisfitError("a mapping", value)
    return {key: _at(key, hint, item) for key, item in value.items()}


def _time(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _MisfitError("a time such as 2026-01-31T12:00:00+00:00", value) from None
    if moment.tzinfo is None:
        raise _MisfitError("a time with its zone", value)
    return moment


def _choice(hint: type[StrEnum], value: Any) -> StrEnum:
    try:
        return hint(value)
    except ValueError:
        raise _MisfitError(f"one of {', '.join(hint)}", value) from None


def _plain(hint: type, value: Any) -> Any:
    names = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
    try:
        if hint is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, str):
            value.encode()
    except OverflowError:
        raise _MisfitError("a finite number", value) from None
    except UnicodeEncodeError:
        raise _MisfitError("valid Unicode (no lone surrogates)", value) from None
    if not isinstance(value, hint) or (hint is not bool and isinstance(value, bool)):
        raise _MisfitError(names.get(hint, hint.__name__), value)
    return value


def _key(name: str) -> str:
    return name.replace("_", "-")
