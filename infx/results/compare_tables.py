"""The tables of a comparison, without a form: columns, rows, and the change of each metric."""

from __future__ import annotations

from collections.abc import Sequence

from infx.records import record
from infx.results.compare import ComparedRow, MeasuredRow
from infx.results.compare_metrics import AGENTIC_METRICS, METRICS, ComparedMetric
from infx.results.identity import ROLES

_NAMES = ("Model", "Served Model", "Hardware", "Framework", "Precision")


@record
class ComparedTable:
    """The rows of one kind.

    Attributes:
        heads: of the columns that identify a row; each metric adds two columns, its value and the change.
    """

    title: str
    heads: tuple[str, ...]
    metrics: tuple[ComparedMetric, ...]
    rows: tuple[ComparedRow, ...]

    @property
    def columns(self) -> list[str]:
        return [
            *self.heads,
            *(text for metric in self.metrics for text in (metric.label, f"{metric.label} Delta")),
        ]


def make_tables(rows: Sequence[ComparedRow]) -> list[ComparedTable]:
    """Return a table for each kind of row that there is; the rows keep their order."""
    tables = []
    for is_agentic, is_multinode in ((False, False), (False, True), (True, False), (True, True)):
        shown = tuple(
            row
            for row in rows
            if (row.row.series.is_agentic, row.row.series.is_multinode) == (is_agentic, is_multinode)
        )
        if shown:
            nodes = "Multi-Node" if is_multinode else "Single-Node"
            table = ComparedTable(
                title=f"{'AgentX ' if is_agentic else ''}{nodes} Comparison vs. Most Recent",
                heads=_list_heads(is_agentic=is_agentic, is_multinode=is_multinode),
                metrics=AGENTIC_METRICS if is_agentic else METRICS,
                rows=shown,
            )
            tables.append(table)
    return tables


def _list_heads(*, is_agentic: bool, is_multinode: bool) -> tuple[str, ...]:
    lengths = () if is_agentic else ("ISL", "OSL")
    sizes = (
        ("Prefill TP", "Prefill EP", "Decode TP", "Decode EP")
        if is_multinode
        else ("TP", "EP", "DP Attention")
    )
    return (*_NAMES, *lengths, *sizes, "Conc")


def identify_cells(row: MeasuredRow) -> list[str]:
    """Return the texts of the columns that identify a row."""
    values, series = row.values, row.series
    sizes = [f"{role}_{name}" for role in ROLES for name in ("tp", "ep")]
    names = sizes if series.is_multinode else ["tp", "ep", "dp_attention"]
    return [
        str(values["infmax_model_prefix"]),
        str(values.get("model", "")),
        series.hardware.upper(),
        *(str(values[name]).upper() for name in ("framework", "precision")),
        *([] if series.is_agentic else [str(series.isl), str(series.osl)]),
        *(str(values.get(name, "")) for name in names),
        str(row.conc),
    ]
