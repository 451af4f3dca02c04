"""What the publication of a merge depends on, gathered once and then frozen."""

from __future__ import annotations

from dataclasses import field

from infx.model import CommitStatus, Run
from infx.records import record
from infx.reuse.coverage import MergePlan
from infx.reuse.decision import ReuseDecision


@record
class PushedMerge:
    """A change of the base branch.

    Attributes:
        sha: the newest commit of the change.
        base: the commit that the change was made on.
        pull: number of the pull request; None for a commit that belongs to none.
    """

    sha: str
    base: str
    pull: int | None = None


@record
class PublishFacts:
    """Everything that `decide_publication` needs, except for the policy.

    Attributes:
        statuses: every status that was set on the merge, newest first.
        entries: how many entries the merge adds to the changelog.
        plan: the rows that the merge plans, recomputed from git.
        reuse: whether a finished sweep serves as the merge's sweep; None if that does not matter.
        sweep: the newest run of the sweep workflow that the push of the merge started; None if there is none.
    """

    merge: PushedMerge
    statuses: tuple[CommitStatus, ...] = ()
    entries: int = 0
    plan: MergePlan = field(default_factory=MergePlan)
    reuse: ReuseDecision | None = None
    sweep: Run | None = None
