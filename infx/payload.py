"""Read a webhook's payload without trust: a missing value, or a value of another type, is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Payload:
    """A payload, or a part of it, whose values are read by the keys that lead to them."""

    values: Mapping[str, Any]

    def at(self, *path: str) -> object:
        """Return the value at a path, whatever its type."""
        value: object = self.values
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def text(self, *path: str) -> str | None:
        value = self.at(*path)
        return value if isinstance(value, str) else None

    def number(self, *path: str) -> int | None:
        value = self.at(*path)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def items(self, *path: str) -> list[Payload] | None:
        """Return the objects of a list; None if the value is not a list."""
        values = self.at(*path)
        if not isinstance(values, list):
            return None
        return [Payload(item if isinstance(item, Mapping) else {}) for item in values]
