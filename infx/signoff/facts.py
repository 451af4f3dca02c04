"""Everything that the checks look at, as one frozen value: gathered once, saved, argued about, replayed.

Texts are as their authors wrote them and prove nothing by themselves; what the checks judge *by* (owners,
checklist, thresholds, acceptance lengths, models) is of the target branch's tip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from infx.bench.entry import Entry
from infx.bench.identity import Curve, IdentifiedRow
from infx.bench.row import Row
from infx.model import Collaborator, Comment, FileStatus, Job, PullRequest, Run
from infx.signoff.planned import ConfigChange, KnownConfig


@dataclass(frozen=True, kw_only=True)
class AddedLine:
    number: int
    text: str


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """A file of the pull request's diff. added: None where the lines cannot be seen (binary, too large)."""

    path: str
    status: FileStatus
    previous_path: str | None = None
    added: tuple[AddedLine, ...] | None = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Both sides of a rename, from the root of the repository, without a slash in front."""
        sides = (self.path,) if self.previous_path is None else (self.previous_path, self.path)
        return tuple(side.lstrip("/") for side in sides)


@dataclass(frozen=True, kw_only=True)
class TextFile:
    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class JudgedFile:
    """A file that a check judges by: as it is on the target branch, and as the pull request leaves it.

    None: there is no such file there. Where the pull request leaves the file alone, both are the same.
    """

    path: str
    base: str | None = None
    head: str | None = None

    @property
    def is_changed(self) -> bool:
        return self.base != self.head


@dataclass(frozen=True, kw_only=True)
class Membership:
    """is_member is None where the token may not know, which says neither yes nor no."""

    team: str
    login: str
    is_member: bool | None = None


@dataclass(frozen=True, kw_only=True)
class PlanVariant:
    """The rows that a sweep of one kind has. is_complete: whether such a sweep shows all that the plan asks for."""

    name: str
    rows: tuple[IdentifiedRow, ...]
    is_complete: bool = True


@dataclass(frozen=True, kw_only=True)
class RecomputedPlan:
    """Recomputed from git at the head. problem: why it could not be, in a sentence.

    entries: those that the pull request appends, with their keys resolved and the lines of the head's changelog.
    base_rows: what the target branch already measures of the selected configurations.
    """

    entries: tuple[Entry, ...] = ()
    variants: tuple[PlanVariant, ...] = ()
    base_rows: tuple[Row, ...] = ()
    problem: str | None = None

    @property
    def rows(self) -> tuple[IdentifiedRow, ...]:
        """Those of an ordinary full sweep."""
        return self.variants[0].rows if self.variants else ()


@dataclass(frozen=True, kw_only=True)
class EvidenceRun:
    """A run of the sweep's workflow, with the jobs of all its attempts.

    later_paths: files that differ between its commit and the head; edited_rules: workflows and policy files in
    which its commit differs from the target branch, though the head may not any more, and those of another branch that
    it may have been merged with. None where that cannot be told.
    """

    run: Run
    jobs: tuple[Job, ...] = ()
    later_paths: tuple[str, ...] | None = ()
    edited_rules: tuple[str, ...] | None = ()


@dataclass(frozen=True, kw_only=True)
class EvalScore:
    """One task of one accuracy run, and what the run says about itself.

    value: from 0 to 1, None if there is none. samples: that counted. original: of the task, None where nothing says
    how many it has. is_sound: nothing broke down. said: what it says it measured, by the names of results.
    """

    task: str
    value: float | None = None
    samples: int | None = None
    original: int | None = None
    is_sound: bool = True
    row_id: str | None = None
    conc: int | None = None
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MeasuredPoint:
    """One measured throughput row. latency: end to end, seconds. throughput: all tokens per second and GPU."""

    curve: Curve
    conc: int
    latency: float | None = None
    throughput: float | None = None
    on_canonical_frontier: bool | None = None


@dataclass(frozen=True, kw_only=True)
class SweepResults:
    """What the artifacts of one run hold. problems: why something in them could not be read, in sentences."""

    run_id: int
    has_scores: bool = False
    has_points: bool = False
    scores: tuple[EvalScore, ...] = ()
    points: tuple[MeasuredPoint, ...] = ()
    problems: tuple[str, ...] = ()


class LinkState(StrEnum):
    MERGED = "merged"
    OPEN = "open"
    CLOSED = "closed"
    PUBLISHED = "published"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class ResolvedLink:
    """An address in the sign-off that was followed. paths: files that a pull request there touches."""

    url: str
    state: LinkState
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RecipeFile:
    """A script or recipe that serves some of the affected configurations, as the head has it."""

    path: str
    text: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SignoffFacts:
    """base_sha: the target branch's tip. diff: fingerprint of what the pull request changes against it.

    reported_at: when the verdict on this diff was first published, None if it has not been. comments: the
    conversation as far as it holds commands. shortfalls: what should have been read and was not, in sentences;
    with any, nothing passes. people: everybody whose role was asked for. policy_path: where the policy stands.
    """

    repository: str
    pull: PullRequest
    base_sha: str
    diff: str
    now: datetime
    signoff: Comment
    policy_path: str = "configs/policy.yaml"
    signer: Collaborator | None = None
    files: tuple[FileChange, ...] = ()
    commits: tuple[str, ...] = ()
    codeowners: TextFile | None = None
    checklists: tuple[TextFile, ...] = ()
    thresholds: JudgedFile | None = None
    golden: tuple[JudgedFile, ...] = ()
    models: JudgedFile | None = None
    waivers: tuple[JudgedFile, ...] = ()
    memberships: tuple[Membership, ...] = ()
    people: tuple[Collaborator, ...] = ()
    plan: RecomputedPlan | None = None
    configs: tuple[ConfigChange, ...] = ()
    known_configs: tuple[KnownConfig, ...] = ()
    recipes: tuple[RecipeFile, ...] = ()
    runs: tuple[EvidenceRun, ...] = ()
    approved_run: int | None = None
    results: SweepResults | None = None
    links: tuple[ResolvedLink, ...] = ()
    comments: tuple[Comment, ...] = ()
    reported_at: datetime | None = None
    shortfalls: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every changed path, both sides of renames, sorted."""
        return tuple(sorted({path for file in self.files for path in file.paths}))

    def person(self, login: str) -> Collaborator | None:
        known = (person for person in self.people if person.login.lower() == login.lower())
        return next(known, None)

    def is_member(self, team: str, login: str) -> bool | None:
        for membership in self.memberships:
            if (membership.team.lower(), membership.login.lower()) == (team.lower(), login.lower()):
                return membership.is_member
        return None
