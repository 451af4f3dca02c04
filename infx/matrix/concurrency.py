"""Numbers of simultaneous clients: what a search row asks for, and what the options leave of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infx.bench.config import Concurrency
from infx.phrases import count

DEFAULT_STEP = 2
SHOWN = 16  # points that a message names


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """step: factor between two points of a range. minimum, maximum: None for no bound. only: the points wanted."""

    step: int = DEFAULT_STEP
    minimum: int | None = None
    maximum: int | None = None
    only: frozenset[int] | None = None

    @property
    def exclude_all(self) -> bool:
        return any(bound is not None and bound <= 0 for bound in (self.minimum, self.maximum))

    def __contains__(self, point: int) -> bool:
        return (
            (self.minimum is None or point >= self.minimum)
            and (self.maximum is None or point <= self.maximum)
            and (self.only is None or point in self.only)
        )


def expand_range(start: int, end: int, step: int = DEFAULT_STEP) -> tuple[int, ...]:
    """start, start x step, … and always `end`: 4..100 is 4, 8, 16, 32, 64, 100. Needs start <= end and step > 1."""
    points = []
    while start < end:
        points.append(start)
        start *= step
    return (*points, end)


def expand_all(concurrency: Concurrency, step: int = DEFAULT_STEP) -> tuple[int, ...]:
    """Every point of a list or a range."""
    if concurrency.values is not None:
        return concurrency.values
    return expand_range(*_ends(concurrency), step)


def expand_filtered(concurrency: Concurrency, bounds: Bounds) -> tuple[int, ...]:
    """AgentX: what lies within the bounds; nothing is invented."""
    return tuple(point for point in expand_all(concurrency, bounds.step) if point in bounds)


def expand_capped(concurrency: Concurrency, bounds: Bounds) -> tuple[int, ...]:
    """Lists and multi-node ranges: where every point is too large, the largest allowed one stands in."""
    if bounds.exclude_all:
        return ()
    points = expand_all(concurrency, bounds.step)
    large_enough = [point for point in points if bounds.minimum is None or point >= bounds.minimum]
    if bounds.maximum is not None and large_enough and min(large_enough) > bounds.maximum:
        large_enough = [bounds.maximum]
    return tuple(point for point in large_enough if point in bounds)


def expand_clipped(concurrency: Concurrency, bounds: Bounds) -> tuple[int, ...]:
    """A single-node range is clipped before it is expanded, so that a bound inside it becomes a point."""
    if concurrency.values is not None:
        return expand_capped(concurrency, bounds)
    start, end = _ends(concurrency)
    if bounds.minimum is not None:
        start = max(start, bounds.minimum)
    if bounds.exclude_all or start > end:
        return ()
    if bounds.maximum is not None:
        start, end = min(start, bounds.maximum), min(end, bounds.maximum)
    points = expand_range(start, end, bounds.step)
    return tuple(point for point in points if bounds.only is None or point in bounds.only)


def show_points(points: Sequence[int]) -> list[str]:
    """For messages; of very many the first, and how many more there are."""
    shown = [str(point) for point in points[:SHOWN]]
    return [*shown, count(len(points) - SHOWN, "other")] if len(points) > SHOWN else shown


def _ends(concurrency: Concurrency) -> tuple[int, int]:
    """Whoever built a Concurrency without values gave both ends (the schema demands it)."""
    assert concurrency.start is not None
    assert concurrency.end is not None
    return concurrency.start, concurrency.end
