"""Compare raw results with the aggregates that were made from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from infx.errors import Problem
from infx.phrases import count, join_some
from infx.results.collect import EVALS, POINTS
from infx.results.lenient import ResultIdentity, ResultKind
from infx.reuse.raw_evals import RawEval
from infx.reuse.source_results import SourceResults, SourceRow

_Key = tuple[ResultIdentity, str | None, str | None]
_T = TypeVar("_T")
_HINT = "Collect the results of the source run again, or name another run."


def compare_rows(kind: ResultKind, raw: Sequence[SourceRow], aggregate: Sequence[SourceRow]) -> list[Problem]:
    """Return a problem for each result that only one side has, or has with other numbers."""
    raw_rows, aggregate_rows = _group(raw), _group(aggregate)
    problems = []
    for key in dict.fromkeys([*raw_rows, *aggregate_rows]):
        raw_part, aggregate_part = raw_rows.get(key, []), aggregate_rows.get(key, [])
        if len(raw_part) > len(aggregate_part):
            problems.append(_describe_missing(kind, key, raw_part[0].path))
        elif not raw_part:
            problems.append(_describe_unexpected(kind, key, aggregate_part[0].path))
        elif len(raw_part) < len(aggregate_part):
            problems.append(_describe_repeated(kind, key, aggregate_part))
        elif changed := _find_changed(raw_part, aggregate_part):
            problems.append(_describe_changed(kind, key, aggregate_part[0].path, changed))
    return problems


def find_repeated(kind: ResultKind, rows: Iterable[SourceRow]) -> list[Problem]:
    """Return a problem for each result that one side has more than once."""
    return [_describe_repeated(kind, key, part) for key, part in _group(rows).items() if len(part) > 1]


def compare_evals(raw_evals: Sequence[RawEval], aggregate: Sequence[SourceRow]) -> list[Problem]:
    """Return a problem for each accuracy run without a row for each of its tasks, and each row without a run."""
    kind = ResultKind.ACCURACY
    runs = {raw.identity: raw for raw in raw_evals}
    problems = []
    tasks: dict[ResultIdentity, set[str | None]] = {}
    for row in aggregate:
        tasks.setdefault(row.identity, set()).add(row.task)
        run = runs.get(row.identity)
        if run is None or (run.tasks is not None and row.task not in run.tasks):
            problems.append(_describe_unexpected(kind, _key_of(row), row.path))
    for identity, run in runs.items():
        collected = tasks.get(identity, set())
        wanted: set[str | None] = set(run.tasks) if run.tasks else set() if collected else {None}
        problems += [
            _describe_missing(kind, (identity, task, None), run.path)
            for task in sorted(wanted - collected, key=str)
        ]
    return problems


def find_absent_aggregates(source: SourceResults, counts: Mapping[ResultKind, int]) -> list[Problem]:
    """Return a problem for each aggregate that does not exist or is empty although it must have results."""
    names = {
        POINTS if kind is not ResultKind.ACCURACY else EVALS for kind, number in counts.items() if number
    }
    return [
        Problem(
            rule="accuracy-aggregate-missing" if name == EVALS else "results-aggregate-missing",
            message=f"There are raw results, but no artifact {name} with results.",
            path=name,
            hint=_HINT,
        )
        for name in sorted(names)
        if name not in source.names or (name in source.whole and not source.has_rows(name))
    ]


def limit_problems(problems: Iterable[Problem], most: int = 1000) -> list[Problem]:
    """Return the first problems of each rule, and for each rule the number of the remaining ones."""
    by_rule: dict[str, list[Problem]] = {}
    for problem in problems:
        by_rule.setdefault(problem.rule, []).append(problem)
    kept = []
    for rule, found in by_rule.items():
        kept += found[:most]
        if len(found) > most:
            words = f"{len(found) - most:,} more of these."
            kept.append(Problem(rule=rule, message=words, level=found[most].level))
    return kept


def _group(rows: Iterable[SourceRow]) -> dict[_Key, list[SourceRow]]:
    groups: dict[_Key, list[SourceRow]] = {}
    for row in rows:
        groups.setdefault(_key_of(row), []).append(row)
    return groups


def _key_of(row: SourceRow) -> _Key:
    return row.identity, row.task, row.row_id


def _find_changed(raw: Sequence[SourceRow], aggregate: Sequence[SourceRow]) -> list[str]:
    """Return the names of the numbers that differ; several results of one identity are compared as a whole."""
    difference = Counter(row.metrics for row in raw)
    difference.subtract(Counter(row.metrics for row in aggregate))
    sides = [{*metrics} for metrics, times in difference.items() if times]
    if not sides:
        return []
    shared = set.intersection(*sides) if len(sides) > 1 else set()
    return sorted({name for side in sides for name, _ in side - shared})


def _name(key: _Key) -> str:
    identity, task, row_id = key
    words = (str(identity), f"task {task[:200]}" if task else "", f"row {row_id[:50]}" if row_id else "")
    return ", ".join(filter(None, words))


def _aggregate_of(kind: ResultKind) -> str:
    return EVALS if kind is ResultKind.ACCURACY else POINTS


def _describe_missing(kind: ResultKind, key: _Key, path: str) -> Problem:
    return Problem(
        rule=f"{kind.value}-not-collected",
        message=f"{_name(key)} is in {path}, but not in {_aggregate_of(kind)}.",
        path=_aggregate_of(kind),
        hint=_HINT,
    )


def _describe_unexpected(kind: ResultKind, key: _Key, path: str) -> Problem:
    return Problem(
        rule=f"{kind.value}-without-raw", message=f"{_name(key)} has no raw result.", path=path, hint=_HINT
    )


def _describe_repeated(kind: ResultKind, key: _Key, rows: Sequence[SourceRow]) -> Problem:
    paths = join_some(list(dict.fromkeys(row.path for row in rows)), 5)
    return Problem(
        rule=f"{kind.value}-duplicate",
        message=f"{_name(key)} has {count(len(rows), 'result')} ({paths}), expected one.",
        path=rows[0].path,
        hint=_HINT,
    )


def _describe_changed(kind: ResultKind, key: _Key, path: str, changed: Sequence[str]) -> Problem:
    return Problem(
        rule=f"{kind.value}-changed",
        message=f"{_name(key)} differs from its raw result in {join_some([name[:100] for name in changed], 10)}.",
        path=path,
        hint=_HINT,
    )
