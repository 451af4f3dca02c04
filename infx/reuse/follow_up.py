"""Choose the rows that a follow-up sweep runs, so that its results and those of an earlier run make a whole sweep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from infx.bench.follow_up import CompletedRun, FollowUp, RowOrigin
from infx.bench.uploads import ACCURACY, THROUGHPUT
from infx.errors import InfxError
from infx.gate.words import dispatch_command
from infx.policy.model import Policy
from infx.reuse.coverage import Coverage, compute_coverage, map_rows
from infx.reuse.facts import EarlierRun, ReuseFacts, SourceRun
from infx.reuse.source import find_plan_fault, find_run_fault, list_sweeps


def choose_rows(facts: ReuseFacts, only: Sequence[str], policy: Policy) -> FollowUp:
    """Return the rows that run, and the run and attempt of each row that does not.

    Raises InfxError if the run cannot be completed. The facts have that run alone, with the artifacts of every run.

    Args:
        only: ids of the rows that run; empty: those that the run does not cover.
    """
    source = next(iter(facts.runs), None)
    if source is None:
        raise InfxError("The run that the sweep completes was not found.", hint="Name another run.")
    fault = find_run_fault(source, facts, policy) or find_plan_fault(source)
    if fault is not None:
        message = f"Run {source.run.id} cannot be completed, because {fault.words}."
        raise InfxError(message, hint="Name another run, or start a whole sweep.")
    origins = _find_origins(source, _compute_coverage(source, facts))
    kept = {origin.id for origin in origins}
    chosen = tuple(only) or tuple(row.id for row in facts.plan.rows if row.id not in kept)
    if not chosen:
        message = f"Run {source.run.id} covers every row of the plan, so there is nothing to run."
        raise InfxError(message, hint=f"Reuse run {source.run.id}.")
    return FollowUp(
        only=chosen,
        runs=tuple(CompletedRun(run=one.run.id, attempt=one.run.attempt) for one in _list_runs(source)),
        origins=tuple(origin for origin in origins if origin.id not in chosen),
    )


def _compute_coverage(source: SourceRun, facts: ReuseFacts) -> Coverage:
    coverage = compute_coverage(facts.plan, *list_sweeps(source))
    if coverage is None:
        why = facts.plan.problem or "the run's own plan cannot be recomputed"
        message = f"It is unknown which rows run {source.run.id} covers: {why}."
        raise InfxError(message, hint="Start a whole sweep.")
    return coverage


def _find_origins(source: SourceRun, coverage: Coverage) -> list[RowOrigin]:
    """Return the covered rows whose artifacts still exist, with the runs that have measured them."""
    runs = _list_runs(source)
    sweeps = [run.sweep for run in runs if run.sweep is not None]
    holders = map_rows(sweeps)
    uploaded = [_find_uploaded(run) for run in runs]
    origins = []
    for row_id in coverage.covered:
        place = holders[row_id]
        if row_id in uploaded[place]:
            attempt = sweeps[place].attempts.get(row_id, 1)
            origins.append(RowOrigin(id=row_id, run=runs[place].run.id, attempt=attempt))
    return origins


def _list_runs(source: SourceRun) -> tuple[EarlierRun, ...]:
    """Return the run and those whose rows its results repeat, newest first."""
    own = EarlierRun(run=source.run, artifacts=source.artifacts, sweep=source.sweep)
    return own, *source.completes


def _find_uploaded(run: EarlierRun) -> frozenset[str]:
    """Return the ids in the names of the run's artifacts that can be downloaded."""
    names = (artifact.name for artifact in run.artifacts or () if not artifact.expired)
    return frozenset(name.rpartition("_")[2] for name in names if name.startswith((THROUGHPUT, ACCURACY)))


def render_command(run_id: int, facts: ReuseFacts, policy: Policy) -> str | None:
    """Return the command that starts a follow-up sweep of a run; None if the pull request cannot have one now."""
    pull = facts.pull
    if pull is None or not pull.is_open:
        return None
    command = f"{dispatch_command(policy, pull)} -f complete={run_id}"
    if not pull.is_fork:
        return command
    merges: Iterable[str] = (
        approval.merge_sha
        for approval in facts.approvals
        if approval.sha == pull.head_sha and approval.merge_sha
    )
    return next((f"{command} -f merge-sha={merge}" for merge in merges), None)
