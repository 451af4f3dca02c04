"""How much of a merge's plan a finished sweep covers: row by row, against the plan that is recomputed from git."""

from __future__ import annotations

from collections.abc import Set

from infx.evidence.rows import SweepKind
from infx.phrases import count
from infx.records import record


@record
class MergeRow:
    """A row that the merge plans.

    Attributes:
        id: the row's id.
        key: its configuration.
        files: recipe files that serve the configuration.
    """

    id: str
    key: str
    files: tuple[str, ...] = ()


@record
class MergePlan:
    """The full sweep of a merge.

    Attributes:
        rows: what the merge plans.
        problem: why the merge cannot be planned, as a clause; None if it can.
    """

    rows: tuple[MergeRow, ...] = ()
    problem: str | None = None


@record
class SourceSweep:
    """What a run has swept, and what has changed since.

    Attributes:
        kind: the kind of sweep whose rows the run has; None if it could not be planned at its own base and head.
        foreign: ids of rows that its own plan does not have.
        done: ids of rows that succeeded, in the newest attempt of each row.
        edits: workflows and policy files that the measured commit changed; None if git does not have the commit.
        changed_keys: configurations that differ between the measured commit and the merge.
        changed_files: recipe files that differ.
        shared_files: other files that differ and that any row may use.
    """

    kind: SweepKind | None = None
    foreign: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    edits: tuple[str, ...] | None = ()
    changed_keys: tuple[str, ...] = ()
    changed_files: tuple[str, ...] = ()
    shared_files: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Return whether git has the measured commit and its plan, without which no row counts as covered."""
        return self.kind is not None and self.edits is not None


@record
class Coverage:
    """The ids of the rows that a merge plans, by how a sweep covers them, each list in the plan's order.

    Attributes:
        covered: the row succeeded, and nothing that it was made of has changed since.
        stale: the row succeeded, but its configuration or a recipe file has changed since.
        missing: the row failed, or the sweep does not have it.
    """

    covered: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return len(self.covered) + len(self.stale) + len(self.missing)

    @property
    def is_complete(self) -> bool:
        return not self.stale and not self.missing

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Return the ids of the rows that a follow-up sweep has to run."""
        return self.missing + self.stale

    @property
    def words(self) -> str:
        """Return the counts as a noun phrase: `5 of 40 rows (30 missing, 5 stale)`."""
        gaps = [
            f"{len(ids):,} {name}" for name, ids in (("missing", self.missing), ("stale", self.stale)) if ids
        ]
        tail = f" ({', '.join(gaps)})" if gaps else ""
        return f"{len(self.covered):,} of {count(self.total, 'row')}{tail}"


def compute_coverage(plan: MergePlan, sweep: SourceSweep | None) -> Coverage | None:
    """Return how a sweep covers a plan; None if the plan or what the sweep measured is unknown."""
    if plan.problem is not None or sweep is None or not sweep.is_known:
        return None
    done = frozenset(sweep.done)
    covered, stale, missing = [], [], []
    for row in plan.rows:
        if row.id not in done:
            missing.append(row.id)
        elif _is_stale(row, sweep, frozenset(sweep.changed_files)):
            stale.append(row.id)
        else:
            covered.append(row.id)
    return Coverage(covered=tuple(covered), stale=tuple(stale), missing=tuple(missing))


def _is_stale(row: MergeRow, sweep: SourceSweep, changed: Set[str]) -> bool:
    return bool(sweep.shared_files) or row.key in sweep.changed_keys or not changed.isdisjoint(row.files)
