"""The lines of a page's charts: a line has the results of one deployment, in all layouts and concurrencies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from infx.bench.config import KvOffloading, SpecDecoding
from infx.bench.names import AGENTIC, name_sequence
from infx.page.chart import ChartLine, ChartPoint, read_values
from infx.page.facts import PlannedResult
from infx.records import record
from infx.results.compare import ComparedRow
from infx.results.series import Series

MAX_TEXT = 160  # characters of a foreign text


@record
class LineName:
    """What the points of a line have in common; everything of a series except its layout."""

    model: str
    lengths: str
    hardware: str
    words: str

    def __str__(self) -> str:
        return f"{self.hardware} {self.words}"


def name_line(series: Series) -> LineName:
    """Return the name of the line that has the points of a series."""
    offload = f"KV {series.kv_offloading} {series.kv_offload_backend or ''}".strip()
    words = [
        series.framework,
        series.precision,
        series.spec_decoding if series.spec_decoding != SpecDecoding.NONE else "",
        "disagg" if series.disagg else "",
        offload if series.kv_offloading != KvOffloading.NONE else "",
    ]
    return LineName(
        model=series.model_prefix[:MAX_TEXT],
        lengths=AGENTIC if series.is_agentic else name_sequence(series.isl, series.osl),
        hardware=series.hardware[:MAX_TEXT],
        words=" ".join(filter(None, words))[:MAX_TEXT],
    )


def make_lines(
    rows: Iterable[ComparedRow], planned: Iterable[PlannedResult]
) -> dict[LineName, tuple[ChartLine, tuple[ComparedRow, ...]]]:
    """Return each line with the rows of its points, sorted by name. Lines without a result are left out."""
    measured: dict[LineName, list[ComparedRow]] = defaultdict(list)
    for row in rows:
        measured[name_line(row.row.series)].append(row)
    known = {(row.row.series.key, row.row.conc) for points in measured.values() for row in points}
    missing: dict[LineName, set[int]] = defaultdict(set)
    for item in planned:
        if item.series is not None:
            absent = {conc for conc in item.concs if (item.series.key, conc) not in known}
            missing[name_line(item.series)] |= absent
    return {
        name: (_make_line(name, points, missing[name]), tuple(points))
        for name, points in sorted(
            measured.items(), key=lambda item: (item[0].model, item[0].lengths, str(item[0]))
        )
    }


def _make_line(name: LineName, points: Iterable[ComparedRow], missing: Iterable[int]) -> ChartLine:
    return ChartLine(
        name=str(name),
        points=tuple(
            ChartPoint(
                conc=row.row.conc,
                values=read_values(row.row.numbers),
                baseline=read_values(row.numbers or {}),
                words=" ".join(row.row.series.spell_layout())[:MAX_TEXT],
            )
            for row in points
        ),
        groups={"model": name.model, "lengths": name.lengths, "hardware": name.hardware},
        missing=tuple(sorted(missing)),
    )
