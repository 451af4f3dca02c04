"""Drop what a later accuracy run of the same measurement supersedes.

A flaky accuracy job that is run again leaves a second raw artifact, and often a second row in the aggregate. The newest
run counts, by the time in the names of its files. Without a time nothing says which one is the newest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from infx.errors import Problem
from infx.phrases import count, join_some
from infx.records import record
from infx.results.lenient import SIZES, ResultIdentity, Scalar
from infx.reuse.raw_evals import RawEval
from infx.reuse.source_results import SourceRow

# Fields that aggregates of other tools leave out.
_LEFT_OUT = frozenset(
    {"recipe_fingerprint", *(f"{role}{name}" for role in ("", "prefill_", "decode_") for name in SIZES)}
)


@record
class Newest:
    """Accuracy runs and rows of the aggregate without superseded ones."""

    raw_evals: tuple[RawEval, ...]
    evals: tuple[SourceRow, ...]
    superseded: tuple[RawEval, ...] = ()
    problems: tuple[Problem, ...] = ()


def select_newest(
    raw_evals: Sequence[RawEval], evals: Sequence[SourceRow], *, are_distinct: bool = False
) -> Newest:
    """Return the newest run of each measurement, and the rows of the aggregate that were not made from an older one.

    are_distinct: no two runs are of the same measurement, whatever their metadata says. That holds for infx, where a
    job that is run again replaces its artifact.
    """
    groups: dict[ResultIdentity, list[RawEval]] = {}
    for raw in raw_evals:
        groups.setdefault(raw.identity, []).append(raw)
    newest: list[RawEval] = []
    superseded: list[RawEval] = []
    problems: list[Problem] = []
    for identity, runs in groups.items():
        if are_distinct:
            newest += runs
            continue
        if any(run.moment is None for run in runs) and len(runs) > 1:
            problems.append(_describe_ambiguous(identity, runs))
            newest.append(runs[-1])
            continue
        *older, last = sorted(runs, key=lambda run: (run.moment or 0, run.artifact))
        newest.append(last)
        superseded += older
    rows = [_complete(row, groups) for row in evals]
    dropped = {(run.identity, run.artifact) for run in superseded}
    return Newest(
        raw_evals=tuple(newest),
        evals=tuple(row for row in rows if not _is_dropped(row, dropped)),
        superseded=tuple(superseded),
        problems=tuple(problems),
    )


def _is_dropped(row: SourceRow, dropped: set[tuple[ResultIdentity, str]]) -> bool:
    return any((row.identity, folder) in dropped for folder in row.origin.split("/"))


def _describe_ambiguous(identity: ResultIdentity, runs: Sequence[RawEval]) -> Problem:
    names = join_some([run.artifact for run in runs], 5)
    return Problem(
        rule="accuracy-ambiguous",
        message=f"{count(len(runs), 'accuracy run')} of {identity} ({names}), and at least one has no time in the names "
        "of its result files, so the newest is unknown.",
        path=runs[0].path,
        hint="Delete the artifacts of the older ones, or run the accuracy job again.",
    )


def _complete(row: SourceRow, raw: Mapping[ResultIdentity, object]) -> SourceRow:
    """Return the row with the fields that it leaves out, if exactly one raw result can be meant."""
    if row.identity in raw or not (unknown := _find_unknown(row)):
        return row
    known = _without(row.identity, unknown)
    candidates = [identity for identity in raw if _without(identity, unknown) == known]
    return replace(row, identity=candidates[0]) if len(candidates) == 1 else row


def _find_unknown(row: SourceRow) -> frozenset[str]:
    return frozenset(name for name in _LEFT_OUT if row.values.get(name) is None)


def _without(identity: ResultIdentity, names: frozenset[str]) -> tuple[tuple[str, Scalar], ...]:
    return tuple(item for item in identity.fields if item[0] not in names)
