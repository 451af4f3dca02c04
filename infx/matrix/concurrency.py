"""Expand the concurrencies (numbers of simultaneous clients) of a search row, within the options' bounds."""

from __future__ import annotations

from collections.abc import Sequence

from infx.bench.config import Concurrency
from infx.phrases import count
from infx.records import record

DEFAULT_STEP = 2
SHOWN = 16  # points that a message names


@record
class Bounds:
    """The concurrencies that the options allow; None means no bound."""

    step: int = DEFAULT_STEP  # factor between two points of a range
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
    """Return start, start x step, … and always `end`: 4..100 is 4, 8, 16, 32, 64, 100.

    Needs start <= end and step > 1.
    """
    points = []
    while start < end:
        points.append(start)
        start *= step
    return (*points, end)


def expand_all(concurrency: Concurrency, step: int = DEFAULT_STEP) -> tuple[int, ...]:
    """Return every point of a list or a range."""
    if concurrency.values is not None:
        return concurrency.values
    return expand_range(*_ends(concurrency), step)


def expand_filtered(concurrency: Concurrency, bounds: Bounds) -> tuple[int, ...]:
    """Return the points within the bounds and add none (AgentX)."""
    return tuple(point for point in expand_all(concurrency, bounds.step) if point in bounds)


def expand_capped(concurrency: Concurrency, bounds: Bounds) -> tuple[int, ...]:
    """Return a list's or multi-node range's points within the bounds, or the maximum if all are larger."""
    if bounds.exclude_all:
        return ()
    points = expand_all(concurrency, bounds.step)
    large_enough = [point for point in points if bounds.minimum is None or point >= bounds.minimum]
    if bounds.maximum is not None and large_enough and min(large_enough) > bounds.maximum:
        large_enough = [bounds.maximum]
    return tuple(point for point in large_enough if point in bounds)


def expand_clipped(concurrency: Concurrency, bounds: Bounds) -> tuple[int, ...]:
    """Clip a single-node range before expanding it, so that a bound inside the range becomes a point."""
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
    """Return the points as words of a message; a long list is cut and its remainder counted."""
    shown = [str(point) for point in points[:SHOWN]]
    return [*shown, count(len(points) - SHOWN, "other")] if len(points) > SHOWN else shown


def _ends(concurrency: Concurrency) -> tuple[int, int]:
    """Return both ends of a range."""
    # The schema requires both ends when there is no list.
    assert concurrency.start is not None
    assert concurrency.end is not None
    return concurrency.start, concurrency.end
