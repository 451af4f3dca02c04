"""The metrics of a server during a replay, as `server_metrics_export.json` has them: each metric is a list of series."""

from __future__ import annotations

from typing import Any, Iterator

from .values import parse_finite

PERCENTAGE = 1.5  # a share above this number is a percentage
_COUNTER = ("total", "sum", "max", "avg")  # the first of these statistics that a series of a counter has
_GAUGE = ("max", "avg", "sum", "total")
_MEAN = ("avg", "max", "sum", "total")


class ServerSeries:
    """The metrics of a server by name.

    Attributes:
        names: of all metrics.
    """

    def __init__(self, metrics: dict[str, Any]) -> None:
        self.names = list(metrics)
        self._metrics = metrics

    def count(self, *names: str) -> float | None:
        """Return a counter summed over its series; of several names, the first that has a number."""
        for name in names:
            numbers = [number for _, number in self._read(name, _COUNTER)]
            if numbers:
                return sum(numbers)
        return None

    def count_by(self, name: str, label: str) -> dict[str, float]:
        """Return the sum of a counter for each value of a label; series without the label are left out."""
        sums: dict[str, float] = {}
        for labels, number in self._read(name, _COUNTER):
            if label in labels:
                value = str(labels[label])
                sums[value] = sums.get(value, 0.0) + number
        return sums

    def sum_gauges(self, name: str) -> float | None:
        """Return the largest value of each series, summed: for an amount that each engine has a part of."""
        numbers = [number for _, number in self._read(name, _GAUGE)]
        return sum(numbers) if numbers else None

    def largest_share(self, *names: str) -> float | None:
        """Return the largest value of a gauge, as a share; of several names, the first that has a number."""
        for name in names:
            numbers = [number for _, number in self._read(name, _GAUGE)]
            if numbers:
                return _as_share(max(numbers))
        return None

    def mean_share(self, name: str) -> float | None:
        """Return the mean of a gauge over its series, as a share."""
        numbers = [number for _, number in self._read(name, _MEAN)]
        return _as_share(sum(numbers) / len(numbers)) if numbers else None

    def _read(self, name: str, statistics: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], float]]:
        """Yield labels and value of each series that has a number. A server may add `_total` to a counter's name."""
        metric = self._metrics.get(name, self._metrics.get(name + "_total"))
        series = metric.get("series") if isinstance(metric, dict) else None
        for item in series if isinstance(series, list) else ():
            labels, values = (
                (item.get("labels"), item.get("stats")) if isinstance(item, dict) else (None, None)
            )
            numbers = (
                [parse_finite(values.get(key)) for key in statistics] if isinstance(values, dict) else []
            )
            number = next((number for number in numbers if number is not None), None)
            if number is not None:
                yield labels if isinstance(labels, dict) else {}, number


def _as_share(value: float) -> float:
    return value / 100 if value > PERCENTAGE else value
