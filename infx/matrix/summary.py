"""Summarize a plan for readers: its configurations, reasons, hardware, estimated time and accuracy runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from infx.bench.config import Runners
from infx.bench.entry import Entry
from infx.bench.row import Row
from infx.bench.topology import count_gpus, count_nodes
from infx.errors import Level, Problem
from infx.escape import foreign, table, table_code
from infx.matrix.estimate import Load, estimate_gpu_hours, estimate_loads
from infx.matrix.plan import Plan
from infx.matrix.planned import Planned
from infx.phrases import count
from infx.policy.model import Policy
from infx.records import record

_MAX_WHY = 80  # characters of an entry's first sentence


@record
class SummaryLine:
    """The rows of one configuration for one entry."""

    key: str
    why: str  # the entry's line and first sentence, or that a command requests the rows
    throughput: int
    evals: int
    conc: tuple[int, ...]
    evaluated: tuple[str, ...]  # suite and concurrency of each accuracy run, such as `gsm8k c64`
    gpus: int  # of the largest row
    nodes: int  # of the largest row
    gpu_hours: float  # of all rows, estimated


@record
class PlanSummary:
    """The configurations of a plan, and the load on each runner label."""

    lines: tuple[SummaryLine, ...]
    loads: tuple[Load, ...]
    asked: bool  # whether entries or a command request rows; a correction of links requests none

    @property
    def rows(self) -> int:
        return sum(line.throughput + line.evals for line in self.lines)

    @property
    def gpu_hours(self) -> float:
        return sum(line.gpu_hours for line in self.lines)


def summarize(plan: Plan, runners: Runners, policy: Policy) -> PlanSummary:
    """Summarize a plan: lines in the plan's order, loads with the busiest runner label first."""
    groups: dict[tuple[str, int | None], list[Planned]] = defaultdict(list)
    for planned in plan.rows:
        groups[planned.key, planned.entry].append(planned)
    lines = [
        _summarize_group(
            key, _describe_reason(plan.entries, entry), [planned.row for planned in group], runners, policy
        )
        for (key, entry), group in groups.items()
    ]
    loads = estimate_loads((planned.row for planned in plan.rows), runners, policy.estimates)
    return PlanSummary(lines=tuple(lines), loads=tuple(loads), asked=bool(plan.entries or lines))


def _summarize_group(
    key: str, why: str, rows: Sequence[Row], runners: Runners, policy: Policy
) -> SummaryLine:
    evals = [row for row in rows if row.eval_only]
    points = {conc for row in rows if not row.eval_only for conc in row.conc}
    recipes = {row.recipe for row in rows}
    return SummaryLine(
        key=key,
        why=why,
        throughput=len(rows) - len(evals),
        evals=len(evals),
        conc=tuple(sorted(points)),
        evaluated=tuple(dict.fromkeys(map(_describe_eval, evals))),
        gpus=max(map(count_gpus, recipes)),
        nodes=max(count_nodes(recipe, runners) for recipe in recipes),
        gpu_hours=estimate_gpu_hours(rows, policy.estimates),
    )


def _describe_reason(entries: Sequence[Entry], index: int | None) -> str:
    if index is None:
        return "requested by a command"
    entry = entries[index]
    text = " ".join(entry.description[0].split()) if entry.description else ""
    short = text if len(text) <= _MAX_WHY else text[: _MAX_WHY - 1].rstrip() + "…"
    return f"line {entry.line}: {short}"


def _describe_eval(row: Row) -> str:
    suite = f"{row.eval_suite} " if row.eval_suite else ""
    return f"{suite}c{','.join(map(str, row.eval_concs))}"


def find_long_queues(summary: PlanSummary, limit_hours: int) -> list[Problem]:
    """Return a warning for each label whose jobs would wait longer than GitHub allows."""
    return [
        Problem(
            rule="queue-too-long",
            message=(
                f"{load.label}: about {load.hours:,.0f} hours for {count(load.rows, 'row')} on "
                f"{count(load.runners, 'runner')}; GitHub cancels a job that waits {limit_hours}."
            ),
            hint="Sweep fewer points at once, or add runners.",
            level=Level.WARNING,
        )
        for load in summary.loads
        if load.hours is not None and load.hours > limit_hours
    ]


CONFIG_COLUMNS = (
    "configuration",
    "why",
    "rows",
    "concurrency",
    "accuracy",
    "evaluated",
    "GPUs",
    "nodes",
    "GPU-hours",
)
LABEL_COLUMNS = ("runner label", "rows", "runners", "GPU-hours", "hours until done")


def config_cells(line: SummaryLine) -> tuple[str, ...]:
    return (
        line.key,
        line.why,
        str(line.throughput),
        ", ".join(map(str, line.conc)),
        str(line.evals),
        "; ".join(line.evaluated),
        str(line.gpus),
        str(line.nodes),
        f"{line.gpu_hours:.0f}",
    )


def label_cells(load: Load) -> tuple[str, ...]:
    hours = "no runner" if load.hours is None else f"{load.hours:.1f}"
    return (load.label, str(load.rows), str(load.runners), f"{load.gpu_hours:.0f}", hours)


def describe_total(summary: PlanSummary) -> str:
    if not summary.asked:
        return "Nothing to run: the changelog only corrects links."
    if not summary.lines:
        return "Nothing to run: no row matches the request."
    configs = len({line.key for line in summary.lines})
    evals = sum(line.evals for line in summary.lines)
    return (
        f"{count(summary.rows, 'row')} of {count(configs, 'configuration')}, {evals} of them accuracy runs; "
        f"about {summary.gpu_hours:.0f} GPU-hours."
    )


def render_markdown(summary: PlanSummary) -> str:
    """Render the summary of a workflow run."""
    # Keys, labels and sentences come from a pull request, so they are escaped.
    if not summary.lines:
        return f"## Plan\n\n{describe_total(summary)}\n"
    configs = [
        (table_code(key), foreign(why), rows, conc, evals, foreign(evaluated), *rest)
        for key, why, rows, conc, evals, evaluated, *rest in map(config_cells, summary.lines)
    ]
    labels = [(table_code(label), *rest) for label, *rest in map(label_cells, summary.loads)]
    parts = (
        "## Plan",
        describe_total(summary),
        table(CONFIG_COLUMNS, configs),
        "### Runners",
        table(LABEL_COLUMNS, labels),
    )
    return "\n\n".join(parts) + "\n"
