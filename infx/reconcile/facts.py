"""The facts that infx's comments and statuses on one pull request are decided from."""

from __future__ import annotations

from dataclasses import field

from infx.comments.progress import SweepProgress, latest_first
from infx.errors import Problem
from infx.evidence.proof import Proof
from infx.gate.facts import GateFacts
from infx.model import Comment, CommitStatus, PullRequest, Reaction, StatusState
from infx.records import record
from infx.results.compare_digest import ComparisonDigest
from infx.reuse.facts import ReuseFacts


@record
class RepositoryContext:
    """The repository that infx works on."""

    server: str  # such as https://github.com
    repository: str  # owner/name
    run_id: int | None = None  # the run whose summary shows the complete text of shortened comments

    @property
    def url(self) -> str:
        return f"{self.server}/{self.repository}"


@record
class Changes:
    """The changes of a pull request, read from a clone or, in part, from the API.

    Attributes:
        paths: every changed file, with both sides of a rename; None if the list is incomplete.
        problems: those of the changelog.
        entries: the number of appended changelog entries; None if unknown.
    """

    paths: tuple[str, ...] | None = None
    problems: tuple[Problem, ...] = ()
    entries: int | None = None


@record
class Resolution:
    """A commit that would resolve a conflict in the changelog, or make the branch's links canonical.

    Attributes:
        tree: a revision that has every file except the changelog.
        parents: the head, then the base branch's tip if the commit is a merge.
        keeps_sweep: whether a sweep of the head also counts for the new commit.
    """

    changelog: bytes
    tree: str
    parents: tuple[str, ...]
    keeps_sweep: bool = True


@record
class Group:
    """A merge group of this pull request: its head and the newest statuses on that head."""

    sha: str
    statuses: tuple[CommitStatus, ...]


@record
class PlacedReaction:
    """A reaction of any account, and the comment that it is on."""

    comment_id: int
    reaction: Reaction


@record
class ReuseRequests:
    """The reuse commands of a pull request, as far as infx answers them.

    Attributes:
        facts: what the decision depends on; None if no command can count.
        reactions: those on comments that infx may have answered.
    """

    facts: ReuseFacts | None = None
    reactions: tuple[PlacedReaction, ...] = ()


@record
class ReconcileFacts:
    """Everything that is known about one pull request.

    Attributes:
        gate: the facts that the gate decides by.
        comments: the conversation.
        statuses: the newest status of each context on the head.
        sweeps: all sweeps of this pull request, newest first.
        current: commits whose sweeps count for the head, the head first.
        dispatched: runs that were dispatched for this head.
        resolution: None if no commit can resolve anything.
        signoff: infx's own sign-off status on the head.
        base_files: the files linked by the greeting that exist on the base branch.
        proof: the evidence for the current sweep if it succeeded; None without a clone.
        reuse: None if the answers to reuse commands stay as they are.
        comparison: of the newest sweep that has results with published results; None if there is none.
        page: the artifact with the page of the same sweep's results; None if there is none.
    """

    gate: GateFacts
    pull: PullRequest
    changes: Changes
    comments: tuple[Comment, ...] = ()
    statuses: tuple[CommitStatus, ...] = ()
    sweeps: tuple[SweepProgress, ...] = ()
    current: tuple[str, ...] = ()
    dispatched: tuple[int, ...] = ()
    resolution: Resolution | None = None
    signoff: CommitStatus | None = None
    groups: tuple[Group, ...] = ()
    base_files: frozenset[str] = frozenset()
    proof: Proof | None = None
    reuse: ReuseRequests | None = field(default_factory=ReuseRequests)
    comparison: ComparisonDigest | None = None
    page: int | None = None

    @property
    def signed_off(self) -> bool:
        return self.signoff is not None and self.signoff.state is StatusState.SUCCESS

    @property
    def sweep(self) -> SweepProgress | None:
        """Return the latest run that swept for the head; a run whose gate started no sweep does not count."""
        counting = (sweep for sweep in self.sweeps if self.is_for_head(sweep) and sweep.swept)
        return min(counting, key=lambda sweep: latest_first(sweep.run), default=None)

    def is_for_head(self, sweep: SweepProgress) -> bool:
        """Return whether a sweep counts for the head."""
        return sweep.run.head_sha in self.current or sweep.run.id in self.dispatched
