"""Acceptance lengths of speculative decoding: the committed ones, and those that scripts and recipes simulate."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from infx import schema, yaml12
from infx.errors import ProblemsError
from infx.policy.signoff import SignoffPolicy
from infx.records import record

TOLERANCE = 0.005  # the curves have two decimals


@record
class AcceptanceCell:
    """One committed acceptance length."""

    path: str
    mode: str  # the thinking mode
    tokens: int  # drafted tokens
    length: float  # mean number of accepted tokens

    def __str__(self) -> str:
        return f"{self.length:g} ({self.mode}, {self.tokens} draft tokens, {self.path})"


@record
class SimulatedLength:
    """An acceptance length that a file sets for an engine."""

    path: str
    line: int
    engine: str
    length: float
    tokens: tuple[int, ...] = ()  # the draft lengths in the same file

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


def parse_curve(text: str, path: str) -> tuple[AcceptanceCell, ...]:
    """Parse a file of acceptance lengths. Raises ProblemsError if it does not match the schema."""
    document = yaml12.load_mapping(text.encode(), path, text_keys=True)
    if problems := schema.check("golden-al", document):
        raise ProblemsError(problems)
    return list_cells(document.value, path)


def list_cells(value: Mapping[str, Mapping[str, Mapping[str, Any]]], path: str) -> tuple[AcceptanceCell, ...]:
    """Return the lengths of a file that fits the schema."""
    return tuple(
        AcceptanceCell(path=path, mode=mode, tokens=int(tokens), length=float(length))
        for modes in value.values()
        for mode, cells in modes.items()
        for tokens, length in cells.items()
    )


def find_simulated(path: str, text: str, policy: SignoffPolicy) -> tuple[SimulatedLength, ...]:
    """Return every simulated acceptance length in a file, by the policy's expressions for each engine."""
    text = strip_comments(text)
    tokens = tuple(
        dict.fromkeys(
            int(match[1]) for way in policy.draft_tokens_expressions for match in way.finditer(text)
        )
    )
    simulated = []
    for engine, way in policy.acceptance.items():
        if not all(re.search(needed, text) for needed in way.required):
            continue
        for match in re.finditer(way.pattern, text):
            line = text.count("\n", 0, match.start()) + 1
            length = float(match[1]) + way.offset
            simulated.append(
                SimulatedLength(path=path, line=line, engine=engine, length=length, tokens=tokens)
            )
    return tuple(simulated)


def find_fitting(length: float, cells: Iterable[AcceptanceCell]) -> list[AcceptanceCell]:
    """Return the cells with a length."""
    return [cell for cell in cells if math.isclose(cell.length, length, abs_tol=TOLERANCE)]


def is_curve_of(path: str, prefix: str) -> bool:
    """Return whether a file is named after a model's prefix, alone or with a draft method after it."""
    return re.fullmatch(rf"{re.escape(prefix)}(?:[_-].*)?", get_stem(path)) is not None


def get_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def strip_comments(text: str) -> str:
    """Return a script or recipe with its comment lines emptied: commented-out settings are not in use."""
    return re.sub(r"(?m)^[ \t]*#.*$", "", text)
