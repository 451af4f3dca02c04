"""Tables of accuracy results: one for a single engine, one for deployments with roles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from infx.records import record
from infx.results.eval_row import EvalRow, EvalScoreValue, describe_attention
from infx.results.identity import show_value
from infx.results.normalize import Normalized, is_multinode

UNKNOWN = "unknown"
_FIRST = ("Model Prefix", "Hardware", "Framework", "Precision", "Spec Decode", "ISL", "OSL")
_LAST = ("Task", "Score", "EM Strict", "EM Flexible", "N (eff)", "Model")
_SINGLE = (*_FIRST, "TP", "EP", "Conc", "DP Attention", *_LAST)
_MULTI = (
    *_FIRST, "Prefill TP", "Prefill EP", "Prefill DP Attn", "Prefill Workers",
    "Decode TP", "Decode EP", "Decode DP Attn", "Decode Workers", "Conc", *_LAST,
)  # fmt: skip


@record
class EvalTable:
    """A table of accuracy results, sorted."""

    title: str
    headers: tuple[str, ...]
    lines: tuple[tuple[str, tuple[str, ...]], ...]  # id of the planned row, and its cells


def make_tables(rows: Iterable[tuple[str, EvalRow]], *, by_hardware: bool = False) -> list[EvalTable]:
    """Return the tables that have rows. by_hardware: sort by hardware first, and not by model."""
    ordered = sorted(rows, key=lambda item: _make_sort_key(item[1], by_hardware))
    single = [item for item in ordered if not is_multinode(item[1].layout)]
    multi = [item for item in ordered if is_multinode(item[1].layout)]
    tables = (
        ("Single-Node Eval Results", _SINGLE, single, _render_single),
        ("Multi-Node Eval Results", _MULTI, multi, _render_multi),
    )
    return [
        EvalTable(
            title=title,
            headers=headers,
            lines=tuple(
                (row_id, (*_render_first(row), *render(row), *_render_last(row))) for row_id, row in part
            ),
        )
        for title, headers, part, render in tables
        if part
    ]


def _make_sort_key(row: EvalRow, by_hardware: bool) -> tuple[Any, ...]:
    layout = row.layout
    texts = _read_texts(row)
    sizes = (
        f"{prefix}{name}" for prefix in ("", "prefill_", "decode_") for name in ("tp", "ep", "num_workers")
    )
    numbers = [_read_size(layout, name) for name in ("isl", "osl", *sizes)]
    return (*texts[1 if by_hardware else 0 :], *numbers, row.conc or 0, row.task)


def _read_texts(row: EvalRow) -> tuple[str, ...]:
    names = ("infmax_model_prefix", "hw", "framework", "precision", "spec_decoding")
    return tuple(show_value(row.layout.get(name, UNKNOWN)) for name in names)


def _read_size(layout: Normalized, name: str, default: int = 0) -> int:
    value = layout.get(name, default)
    return value if isinstance(value, int) else default


def _render_first(row: EvalRow) -> Sequence[str]:
    model, hw, framework, precision, spec = _read_texts(row)
    lengths = (str(_read_size(row.layout, name)) for name in ("isl", "osl"))
    return (model, hw.upper(), framework.upper(), precision.upper(), spec, *lengths)


def _render_single(row: EvalRow) -> Sequence[str]:
    sizes = (str(_read_size(row.layout, name, 1)) for name in ("tp", "ep"))
    return (*sizes, str(row.conc or 0), describe_attention(row.layout))


def _render_multi(row: EvalRow) -> Sequence[str]:
    cells = []
    for role in ("prefill", "decode"):
        cells += [str(_read_size(row.layout, f"{role}_{name}", 1)) for name in ("tp", "ep")]
        cells.append(show_value(row.layout.get(f"{role}_dp_attention", "none")))
        cells.append(str(_read_size(row.layout, f"{role}_num_workers", 1)))
    return (*cells, str(row.conc or 0))


def _render_last(row: EvalRow) -> Sequence[str]:
    scores = (row.best[1] if row.best else None, row.strict, row.flexible)
    return (row.task, *map(_render_score, scores), str(row.samples or ""), row.served or "")


def _render_score(score: EvalScoreValue | None) -> str:
    if score is None:
        return "N/A"
    return f"{score.value:.2%}" + ("" if score.error is None else f" ±{score.error:.2%}")
