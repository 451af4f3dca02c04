"""Read numbers and words that other programs wrote: as JSON values, and as variables of the environment."""

from __future__ import annotations

import math
import re
from typing import Mapping

from .faults import RowFault

_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
MAX_SHOWN = 200  # characters of a foreign value in a message


def show_value(value: object) -> str:
    """Return a foreign value for a message, cut if it is long."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def parse_number(value: object) -> float | None:
    """Return a number that may be written as text, also if it is not finite; None for every other value."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except ValueError:
        return None
    except OverflowError:  # an integer that is larger than every float
        return math.inf


def parse_finite(value: object) -> float | None:
    """Return a finite number that may be written as text, or None."""
    number = parse_number(value)
    return number if number is not None and math.isfinite(number) else None


def parse_whole(value: object) -> int | None:
    """Return a whole number that may be written as text, or None."""
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value.strip()) else None
    number = parse_finite(value)
    return int(number) if number is not None and number.is_integer() else None


def is_true(text: str) -> bool:
    """Return whether a text is the word `true`, in any case."""
    return text.strip().lower() == "true"


class Variables:
    """Reads variables of a row's environment and keeps a fault for each that is missing or wrong.

    Attributes:
        faults: all faults of values that were read.
        missing: names of required variables that are not set.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.faults: list[RowFault] = []
        self.missing: list[str] = []

    def require(self, name: str) -> str:
        """Return a variable; an empty one counts as set. One that is not set is noted, and read as empty."""
        if name not in self._environment:
            self.missing.append(name)
            return ""
        return self._environment[name]

    def find(self, name: str) -> str:
        """Return an optional variable, or an empty text."""
        return self._environment.get(name, "")

    def is_set(self, name: str) -> bool:
        """Return whether a variable is set and not empty."""
        return self.find(name) != ""

    def require_whole(self, name: str, rule: str = "not-a-whole-number") -> int:
        """Return a whole number of 0 or more; a missing or wrong one is noted, and read as 0."""
        if name not in self._environment:
            self.missing.append(name)
            return 0
        number = self._parse(name, rule)
        if number < 0:
            self.refuse("size-negative", name + " is " + str(number) + "; expected 0 or more.")
        return number

    def find_size(self, name: str) -> int:
        """Return an optional size of more than 0; the default is 1. A wrong one is noted."""
        if name not in self._environment:
            return 1
        faults = len(self.faults)
        size = self._parse(name, "not-a-whole-number")
        if size <= 0 and len(self.faults) == faults:
            self.refuse("size-not-positive", name + " is " + str(size) + "; expected 1 or more.")
        return size

    def refuse(self, rule: str, message: str) -> None:
        """Note a fault."""
        self.faults.append(RowFault(rule, message))

    def find_faults(self) -> list[RowFault]:
        """Return all faults; the missing variables are one of them."""
        if not self.missing:
            return self.faults
        names = ", ".join(self.missing)
        message = (
            "These variables are not set: " + names + ". The row's environment has them; pass all of it on."
        )
        return [RowFault("missing-environment", message), *self.faults]

    def _parse(self, name: str, rule: str) -> int:
        number = parse_whole(self._environment[name])
        if number is None:
            self.refuse(
                rule, name + " is " + show_value(self._environment[name]) + "; expected a whole number."
            )
            return 0
        return number
