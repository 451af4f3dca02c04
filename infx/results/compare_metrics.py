"""The metrics by which a result is compared with its baseline: labels, units, directions, and how a change is written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from infx.records import record
from infx.results.row import is_finite

ABSENT = "N/A"
_MAX_PLAIN = 1e12  # larger numbers are written with an exponent


@record
class ComparedMetric:
    """A metric of result rows.

    Attributes:
        scale: the factor from the row's unit to the unit of the label.
        digits: decimals of a shown value.
        path: the place of the number in a result with nested numbers, as AgentX's tools write it.
    """

    key: str
    label: str
    is_higher_better: bool
    digits: int = 4
    scale: int = 1
    path: tuple[str, ...] = ()


_PERCENTILES = ("median", "p90", "p99", "p99.9")


def _title(name: str) -> str:
    return name.capitalize()  # `Median`, `P99.9`


# In the order of the columns.
METRICS = (
    ComparedMetric(key="tput_per_gpu", label="TPUT/GPU", is_higher_better=True, digits=2),
    *(
        ComparedMetric(
            key=f"{name}_ttft", label=f"TTFT {_title(name)} (ms)", is_higher_better=False, scale=1000
        )
        for name in _PERCENTILES
    ),
    ComparedMetric(key="median_intvty", label="Intvty Median", is_higher_better=True),
    # A percentile of the interactivity is computed from the same percentile of the time per output token.
    *(
        ComparedMetric(key=f"{name}_intvty", label=f"Intvty@{_title(name)} TPOT", is_higher_better=True)
        for name in _PERCENTILES[1:]
    ),
    *(
        ComparedMetric(key=f"{name}_e2el", label=f"E2EL {_title(name)} (s)", is_higher_better=False)
        for name in _PERCENTILES
    ),
)


# Metrics of AgentX results, which have other statistics.
AGENTIC_METRICS = (
    ComparedMetric(
        key="tput_per_gpu",
        label="TPUT/GPU",
        is_higher_better=True,
        digits=2,
        path=("request_metrics", "throughput", "per_gpu", "total_tput_tps"),
    ),
    *(
        ComparedMetric(
            key=f"{name}_{part}",
            label=label.format(_title(name)),
            is_higher_better=is_higher_better,
            scale=scale,
            path=("request_metrics", "latency", part, name),
        )
        for part, label, is_higher_better, scale in (
            ("ttft", "TTFT {} (ms)", False, 1000),
            ("intvty", "Intvty@{} ITL", True, 1),
            ("e2el", "E2EL {} (s)", False, 1),
        )
        for name in ("p50", "p90", "p95")
    ),
)
# Only AgentX results have these; without them, a result has nothing that is compared.
AGENTIC_MEDIANS = frozenset(metric.key for metric in AGENTIC_METRICS if metric.key.startswith("p50_"))


class Trend(StrEnum):
    """The direction of a change."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"


@record
class MetricChange:
    """A metric of a row, its baseline's value, and the change between them.

    Attributes:
        value: in the unit of the label, like `baseline`; None if the row does not have the metric.
        baseline: None if there is no baseline, or if the baseline does not have the metric.
    """

    metric: ComparedMetric
    value: float | None
    baseline: float | None

    @property
    def difference(self) -> float | None:
        """Return the row's value minus the baseline's; None without a value, or without a baseline other than 0."""
        # Tools write 0 for a metric that was not measured.
        return self.value - self.baseline if self.value is not None and self.baseline else None

    @property
    def share(self) -> float | None:
        """Return the difference as a share of the baseline; None if the change is not known."""
        difference = self.difference
        if difference is None or not self.baseline:
            return None
        share = difference / abs(self.baseline)
        return share if math.isfinite(share) else None

    @property
    def trend(self) -> Trend | None:
        difference = self.difference
        if difference is None:
            return None
        if not difference:
            return Trend.EQUAL
        return Trend.BETTER if (difference > 0) is self.metric.is_higher_better else Trend.WORSE

    @property
    def value_text(self) -> str:
        return self._write(self.value)

    @property
    def baseline_text(self) -> str:
        return self._write(self.baseline)

    @property
    def difference_text(self) -> str:
        """Return the signed difference, such as `+20.00`; `N/A` if the change is not known."""
        difference = self.difference
        return ABSENT if difference is None else self._format(difference, "+")

    @property
    def percent_text(self) -> str:
        """Return the signed change in percent, such as `+25.0%`; `N/A` if the change is not known."""
        share = self.share
        return ABSENT if share is None else f"{100 * share:+{'.1f' if abs(share) < _MAX_PLAIN else '.6g'}}%"

    def _write(self, value: float | None) -> str:
        text = ABSENT if value is None else self._format(value)
        return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text

    def _format(self, number: float, sign: str = "") -> str:
        form = f".{self.metric.digits}f" if abs(number) < _MAX_PLAIN else ".6g"
        return f"{number:{sign}{form}}"


def find_numbers(values: Mapping[str, Any], metrics: Iterable[ComparedMetric]) -> dict[str, float]:
    """Return the finite numbers of a row's metrics, by key, in the units of result rows."""
    numbers = {}
    for metric in metrics:
        number = _find_number(values, metric)
        if isinstance(number, int | float) and not isinstance(number, bool) and is_finite(number):
            numbers[metric.key] = float(number)
    return numbers


def _find_number(values: Mapping[str, Any], metric: ComparedMetric) -> object:
    if metric.key in values or not metric.path:
        return values.get(metric.key)
    value: Any = values
    for part in metric.path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def compare_metrics(
    numbers: Mapping[str, float], baseline: Mapping[str, float] | None, metrics: Iterable[ComparedMetric]
) -> tuple[MetricChange, ...]:
    """Return the change of every metric. numbers, baseline: from `find_numbers`; baseline: None if there is none."""
    return tuple(
        MetricChange(metric=metric, value=_scale(numbers, metric), baseline=_scale(baseline or {}, metric))
        for metric in metrics
    )


def _scale(numbers: Mapping[str, float], metric: ComparedMetric) -> float | None:
    number = numbers.get(metric.key)
    scaled = None if number is None else number * metric.scale
    return scaled if scaled is not None and math.isfinite(scaled) else None
