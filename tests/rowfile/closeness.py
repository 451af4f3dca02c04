"""Compare JSON values: numbers to 1e-9, everything else exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator


def find_differences(ours: object, theirs: object, place: str = "") -> Iterator[str]:
    """Yield a line for each place where two JSON values differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in {**ours, **theirs}:
            if key not in ours or key not in theirs:
                yield f"{place}/{key}: only {'ours' if key in ours else 'theirs'} has it"
            else:
                yield from find_differences(ours[key], theirs[key], f"{place}/{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            yield from find_differences(our, their, f"{place}/{at}")
    elif not _is_equal(ours, theirs):
        yield f"{place}: {ours!r}, not {theirs!r}"


def _is_equal(ours: object, theirs: object) -> bool:
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return math.isclose(ours, theirs, rel_tol=1e-9)
    return ours == theirs
