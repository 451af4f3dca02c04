"""Compare the rows of a run with the rows of a plan: ids in job names against ids recomputed from git."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import combinations

from infx.gate.facts import LabelSet
from infx.phrases import count
from infx.policy.model import Effect, Labels, SweepScope
from infx.records import record

_FLAGS = {Effect.ALL_EVALS: "all_evals", Effect.EVALS_ONLY: "evals_only", Effect.FAST: "fast"}


@record
class SweepKind:
    """The kind of sweep that the labels of a pull request ask for; its fields are options of the planner."""

    trim: bool = False
    all_evals: bool = False
    evals_only: bool = False
    fast: bool = False


FULL = SweepKind()


@record
class KindRows:
    """The ids of the rows that a sweep of one kind runs."""

    kind: SweepKind
    ids: frozenset[str]


def list_kinds(labels: Labels) -> tuple[SweepKind, ...]:
    """Return every kind of sweep that the policy's labels can ask for, the full sweep first."""
    scopes = [scope for scope in SweepScope if scope in {label.scope for label in labels.primary.values()}]
    effects = [effect for effect in Effect if effect in {m.effect for m in labels.modifiers.values()}]
    subsets = [subset for size in range(len(effects) + 1) for subset in combinations(effects, size)]
    return tuple(
        dict.fromkeys([FULL, *(_make_kind(scope, subset) for subset in subsets for scope in scopes)])
    )


def find_kind(labels: LabelSet) -> SweepKind | None:
    """Return the kind of sweep that the labels ask for, or None unless exactly one label starts a sweep."""
    if len(labels.primary) != 1:
        return None
    return _make_kind(labels.primary[0][1].scope, labels.effects)


def _make_kind(scope: SweepScope, effects: Sequence[Effect]) -> SweepKind:
    return SweepKind(trim=scope is SweepScope.TRIMMED, **{_FLAGS[effect]: True for effect in effects})


def find_gap(
    done: Set[str], seen: Set[str], planned: Sequence[KindRows], asked: SweepKind | None = None
) -> str | None:
    """Return how the rows of a run differ from the plan, as a clause, or None if they are the same.

    A kind of sweep without rows counts only if a full sweep has no rows either.

    Args:
        done: ids of rows that succeeded.
        seen: ids of all rows that have a job.
        planned: the kinds of sweep that can be planned, the full sweep first.
        asked: the kind that the current labels ask for. If it is None, any kind is accepted, because a label
            may be removed after its sweep.
    """
    full = planned[0].ids
    wanted = next((rows.ids for rows in planned if rows.kind == asked), frozenset[str]())
    for rows in planned:
        if rows.ids == seen == done and (rows.ids or not full) and wanted <= done:
            return None
    return _describe_gap(done, seen, planned, wanted)


def _describe_gap(done: Set[str], seen: Set[str], planned: Sequence[KindRows], wanted: Set[str]) -> str:
    known = frozenset[str]().union(*(rows.ids for rows in planned))
    target = wanted or max((rows.ids for rows in planned), key=lambda ids: (len(ids & seen), len(ids)))
    parts = []
    if missing := target - done:
        parts.append(f"{len(missing)} of {count(len(target), 'planned row')} did not succeed in it")
    if unplanned := seen - known:
        are = "is" if len(unplanned) == 1 else "are"
        parts.append(f"{count(len(unplanned), 'row')} of it {are} not planned")
    return " and ".join(parts) or f"it is not the planned sweep of {count(len(planned[0].ids), 'row')}"
