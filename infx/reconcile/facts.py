"""Everything that the bot's state on one pull request follows from, gathered once and then frozen."""

from __future__ import annotations

from dataclasses import dataclass

from infx.comments.progress import SweepProgress, latest_first
from infx.errors import Problem
from infx.evidence.proof import Proof
from infx.gate.facts import GateFacts
from infx.model import Comment, CommitStatus, PullRequest, StatusState


@dataclass(frozen=True, kw_only=True)
class RepositoryContext:
    """server: such as https://github.com. repository: owner/name. run_id: of the run whose summary shows what of a comment
    was cut; None: there is no such page.
    """

    server: str
    repository: str
    run_id: int | None = None

    @property
    def url(self) -> str:
        return f"{self.server}/{self.repository}"


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What the pull request's commits say, read with git or, without a clone, as far as the API tells.

    paths: every file it changes, both sides of a rename; None if the list was cut.
    problems: of the changelog. entries: how many it appends; None if nobody looked.
    """

    paths: tuple[str, ...] | None = None
    problems: tuple[Problem, ...] = ()
    entries: int | None = None


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """The commit that would end a conflict in the changelog alone, or make the branch's links canonical.

    tree: everything but the changelog, whose bytes are `changelog`. parents: the head first, the base branch's tip
    second if it is a merge. keeps_sweep: whether a sweep of the head would stand for the new commit, too.
    """

    changelog: bytes
    tree: str
    parents: tuple[str, ...]
    keeps_sweep: bool = True


@dataclass(frozen=True, kw_only=True)
class Group:
    """The head of a merge group that was made for this pull request, and the newest statuses on it."""

    sha: str
    statuses: tuple[CommitStatus, ...]


@dataclass(frozen=True, kw_only=True)
class ReconcileFacts:
    """gate: what the gate decides by, its pull request among it. comments: the conversation. statuses: of the
    head, the newest of each context. sweeps: all of this pull request, newest first. current: commits whose sweep
    stands for the head, the head first. dispatched: runs that somebody started for this head by hand.
    resolution: where one is possible. signoff: status of the head's sign-off, if ours. groups: see there. base_files:
    those of the files that the greeting links that the base branch has. proof: what speaks for the sweep that stands,
    if it ended well; None where there is no clone to look into.
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

    @property
    def signed_off(self) -> bool:
        return self.signoff is not None and self.signoff.state is StatusState.SUCCESS

    @property
    def sweep(self) -> SweepProgress | None:
        """The last run that stands for the head; one whose own gate decided against a sweep does not."""
        standing = (sweep for sweep in self.sweeps if self.stands(sweep) and sweep.swept)
        return min(standing, key=lambda sweep: latest_first(sweep.run), default=None)

    def stands(self, sweep: SweepProgress) -> bool:
        return sweep.run.head_sha in self.current or sweep.run.id in self.dispatched
