"""The Pareto frontier of measured points: those that no other point beats in cost and gain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

_Point = TypeVar("_Point")


def select_frontier(
    points: Iterable[_Point], cost: Callable[[_Point], float], gain: Callable[[_Point], float]
) -> list[_Point]:
    """Return the points on the frontier, in order of their cost.

    A point stays if its gain is at least the highest so far, so plateaus stay. Of equal costs only the highest gain counts.
    """
    frontier: list[_Point] = []
    for point in sorted(points, key=lambda item: (cost(item), -gain(item))):
        if frontier and (cost(point) == cost(frontier[-1]) or gain(point) < gain(frontier[-1])):
            continue
        frontier.append(point)
    return frontier
