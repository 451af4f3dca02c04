"""Read from git what a plan is made of: the changelog's delta and the configurations that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infx.errors import InfxError, UsageError
from infx.git import Git
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.bench.delta import Delta
    from infx.bench.entry import Entry
    from infx.bench.row import Row
    from infx.evidence.rows import KindRows, SweepKind
    from infx.matrix.load import PlanInputs
    from infx.matrix.planned import Planned

PROFILE = "default"  # the eval profile that sweeps are planned with

# Returns the contents of the files at these paths, None for each missing file.
ReadFiles = Callable[[Sequence[str]], list[bytes | None]]


def read_plan_inputs(
    git: Git, base: str, head: str, policy: Policy
) -> tuple[Delta, PlanInputs, PlanInputs | None]:
    """Return the delta, the head's inputs for its keys, and the base's inputs for append-only entries.

    Raise UsageError if the head lacks a file that the policy names, ProblemsError for problems in the files.
    """
    from infx.changelog.delta import read_delta

    paths = list_paths(policy)
    wanted = [(base, policy.changelog), (head, policy.changelog), *((head, path) for path in paths)]
    before, after, *files = git.read_many(wanted)
    for path, data in zip((policy.changelog, *paths), (after, *files), strict=True):
        if data is None:
            raise UsageError(
                f"{path} does not exist at {head[:12]}.", hint="Add it, or name another file in the policy."
            )
    delta = read_delta(before or b"", after or b"", policy.changelog)

    def read_base(paths: Sequence[str]) -> list[bytes | None]:
        return git.read_many([(base, path) for path in paths])

    return delta, *load_named_inputs(delta.entries, files, read_base, base[:12], policy)


def list_paths(policy: Policy) -> tuple[str, ...]:
    """Return the paths of the files that rows are made of, in the order of `load_named_inputs`."""
    return (policy.runners, *policy.master_configs)


def load_named_inputs(
    entries: Sequence[Entry],
    files: Sequence[bytes | None],
    read_base: ReadFiles,
    base_name: str,
    policy: Policy,
) -> tuple[PlanInputs, PlanInputs | None]:
    """Return the head's inputs for the entries' keys, and the base's inputs for append-only entries.

    Raise ProblemsError for problems in the files.

    Args:
        files: those of the head, in the order of `list_paths`.
    """
    from infx.bench.keys import NamedKeys
    from infx.matrix.load import load_inputs

    paths = list_paths(policy)
    named = NamedKeys(patterns=tuple(pattern for entry in entries for pattern in entry.config_keys))
    appends = any(entry.append_only for entry in entries)  # which may not change any other configuration
    inputs = load_inputs(_pair(paths[1:], files[1:]), (paths[0], files[0] or b""), only=named, whole=appends)
    if not appends:
        return inputs, None
    runners, *masters = read_base(paths)
    # Problems at the base name the revision, because the working tree shows the head.
    names = tuple(f"{base_name}:{path}" for path in paths)
    base_runners = (names[0], runners or b"labels: {}\n")
    return inputs, load_inputs(_pair(names[1:], masters), base_runners, only=named)


def _pair(paths: Sequence[str], contents: Sequence[bytes | None]) -> list[tuple[str, bytes]]:
    return [(path, data) for path, data in zip(paths, contents, strict=True) if data is not None]


@dataclass(frozen=True)
class Planner:
    """Recomputes plans from git, and reads each revision once."""

    git: Git
    policy: Policy
    _read: dict[tuple[str, str], RevisionPlan] = field(default_factory=dict, init=False, repr=False)

    def open(self, base: str, head: str) -> RevisionPlan:
        """Return the plan of a head against its merge base. Raise InfxError for problems in the files."""
        if (base, head) not in self._read:
            self._read[base, head] = RevisionPlan(self, base, head)
        return self._read[base, head]

    def kinds(self, base: str, head: str, kinds: Sequence[SweepKind]) -> tuple[KindRows, ...]:
        """Return the row ids of each kind of sweep, without kinds that an entry forbids.

        Raise InfxError if the first kind cannot be planned.
        """
        from infx.bench.identity import row_ids
        from infx.evidence.rows import KindRows

        plan = self.open(base, head)
        planned = []
        for index, kind in enumerate(kinds):
            try:
                rows = plan.rows(kind)
            except InfxError:
                if index == 0:
                    raise
                continue
            planned.append(KindRows(kind=kind, ids=frozenset(row_ids(rows))))
        return tuple(planned)


class RevisionPlan:
    """The plan of one revision for any kind of sweep; `delta` holds the entries that the revision adds."""

    def __init__(self, planner: Planner, base: str, head: str) -> None:
        self._policy = planner.policy
        self.delta, self.inputs, self.base_inputs = read_plan_inputs(planner.git, base, head, planner.policy)
        self._planned: dict[SweepKind, tuple[Planned, ...]] = {}

    def rows(self, kind: SweepKind) -> tuple[Row, ...]:
        """Return the rows of a kind of sweep, in the plan's order; no rows if no entry was added."""
        return tuple(planned.row for planned in self.planned(kind))

    def planned(self, kind: SweepKind) -> tuple[Planned, ...]:
        """Return the rows with their configurations, in the plan's order; no rows if no entry was added."""
        from dataclasses import asdict

        from infx.matrix.evals import find_profile
        from infx.matrix.plan import Options, plan_delta

        if not self.delta.entries:
            return ()
        if kind not in self._planned:
            options = Options(profile=find_profile(PROFILE, self._policy.evals), **asdict(kind))
            plan = plan_delta(self.delta, self.inputs, self.base_inputs, options, self._policy.changelog)
            self._planned[kind] = plan.rows
        return self._planned[kind]
