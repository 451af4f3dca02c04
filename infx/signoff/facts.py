"""The facts about a sign-off: everything that the checks read, in a value that can be saved and replayed.

Texts are as their authors wrote them and prove nothing. The rules that the checks apply (owners, checklist,
thresholds, acceptance lengths, models) come from the tip of the base branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum

from infx.bench.entry import Entry
from infx.bench.identity import Curve, IdentifiedRow
from infx.bench.row import Row
from infx.model import Collaborator, Comment, FileStatus, Job, PullRequest, Run
from infx.records import record
from infx.reuse.facts import ReuseFacts
from infx.signoff.planned import ConfigChange, KnownConfig


@record
class AddedLine:
    number: int
    text: str


@record
class FileChange:
    """A file of the pull request's diff."""

    path: str
    status: FileStatus
    previous_path: str | None = None
    added: tuple[AddedLine, ...] | None = ()  # None where the lines cannot be read (binary, too large)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return both sides of a rename, relative to the repository's root, without a leading slash."""
        sides = (self.path,) if self.previous_path is None else (self.previous_path, self.path)
        return tuple(side.lstrip("/") for side in sides)


@record
class TextFile:
    path: str
    text: str


@record
class JudgedFile:
    """A file whose rules a check applies. Both texts are equal if the pull request does not change it."""

    path: str
    base: str | None = None  # on the base branch; None if it does not exist there
    head: str | None = None  # after the pull request; None if it does not exist then

    @property
    def is_changed(self) -> bool:
        return self.base != self.head


@record
class Membership:
    """The answer to the question whether a person is in a team."""

    team: str
    login: str
    is_member: bool | None = None  # None where the token may not read the team


@record
class PlanVariant:
    """The rows of one kind of sweep."""

    name: str
    rows: tuple[IdentifiedRow, ...]
    is_complete: bool = True  # such a sweep measures everything that the plan requires


@record
class RecomputedPlan:
    """The plan, recomputed from git at the head."""

    # Appended by the pull request, with resolved keys and the line numbers of the head's changelog.
    entries: tuple[Entry, ...] = ()
    variants: tuple[PlanVariant, ...] = ()
    base_rows: tuple[Row, ...] = ()  # of the selected configurations on the base branch
    problem: str | None = None  # why the plan could not be recomputed, in a sentence

    @property
    def rows(self) -> tuple[IdentifiedRow, ...]:
        """Return the rows of an ordinary full sweep."""
        return self.variants[0].rows if self.variants else ()


@record
class EvidenceRun:
    """A run of the sweep workflow, with the jobs of all its attempts."""

    run: Run
    jobs: tuple[Job, ...] = ()
    # Files that differ between the run's commit and the head; None if unknown.
    later_paths: tuple[str, ...] | None = ()
    # Workflows and policy files that differ between the run's commit and the base branch, even if the head no
    # longer changes them, and those of another target that the run may have used; None if unknown.
    edited_rules: tuple[str, ...] | None = ()


@record
class EvalScore:
    """The score of one task in one accuracy run, as the run reports it."""

    task: str
    value: float | None = None  # from 0 to 1; None without a score
    samples: int | None = None  # that counted
    original: int | None = None  # samples of the task; None if the run does not report them
    is_sound: bool = True  # the infrastructure did not fail
    row_id: str | None = None
    conc: int | None = None
    # Image, model and so on, by the results' field names.
    identity: Mapping[str, str] = field(default_factory=dict)


@record
class MeasuredPoint:
    """One measured throughput row."""

    curve: Curve
    conc: int
    latency: float | None = None  # end to end, in seconds
    throughput: float | None = None  # all tokens/s/GPU
    on_canonical_frontier: bool | None = None


@record
class SweepResults:
    """The contents of one run's artifacts."""

    run_id: int
    has_scores: bool = False
    has_points: bool = False
    scores: tuple[EvalScore, ...] = ()
    points: tuple[MeasuredPoint, ...] = ()
    problems: tuple[str, ...] = ()  # why an artifact could not be read, in sentences


class LinkState(StrEnum):
    MERGED = "merged"
    OPEN = "open"
    CLOSED = "closed"
    PUBLISHED = "published"
    MISSING = "missing"
    UNKNOWN = "unknown"


@record
class ResolvedLink:
    """A link of the sign-off, and the state of its target."""

    url: str
    state: LinkState
    paths: tuple[str, ...] = ()  # files that a linked pull request changes


@record
class RecipeFile:
    """A script or recipe that serves some of the affected configurations, at the head."""

    path: str
    text: str
    keys: tuple[str, ...] = ()


@record
class SignoffFacts:
    """Everything that the checks read about one sign-off."""

    repository: str
    pull: PullRequest
    base_sha: str  # the tip of the base branch
    diff: str  # fingerprint of the pull request's changes against the base branch
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
    people: tuple[Collaborator, ...] = ()  # everyone whose role was read
    plan: RecomputedPlan | None = None
    configs: tuple[ConfigChange, ...] = ()
    known_configs: tuple[KnownConfig, ...] = ()
    recipes: tuple[RecipeFile, ...] = ()
    runs: tuple[EvidenceRun, ...] = ()
    approved_run: int | None = None
    results: SweepResults | None = None
    links: tuple[ResolvedLink, ...] = ()
    comments: tuple[Comment, ...] = ()  # that contain commands
    reuse: ReuseFacts | None = None
    reported_at: datetime | None = None  # when a verdict on this diff was first published; None if never
    shortfalls: tuple[str, ...] = ()  # what could not be read, in sentences; with any, no check passes

    @property
    def paths(self) -> tuple[str, ...]:
        """Return every changed path, both sides of renames, sorted."""
        return tuple(sorted({path for file in self.files for path in file.paths}))

    def find_person(self, login: str) -> Collaborator | None:
        return next((person for person in self.people if person.login.lower() == login.lower()), None)

    def is_member(self, team: str, login: str) -> bool | None:
        for membership in self.memberships:
            if (membership.team.lower(), membership.login.lower()) == (team.lower(), login.lower()):
                return membership.is_member
        return None
