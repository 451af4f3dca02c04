"""What the reuse of a finished sweep depends on, gathered once and then frozen."""

from __future__ import annotations

from dataclasses import field

from infx.gate.event import Event
from infx.gate.facts import Approval
from infx.model import Collaborator, Comment, PullRequest, PullSummary, Run
from infx.records import record
from infx.reuse.coverage import MergePlan, SourceSweep


@record
class AskedPull:
    """A pull request for which reuse may have been asked.

    Attributes:
        number: of the pull request.
        comments: those of its conversation that hold a command, oldest first.
    """

    number: int
    comments: tuple[Comment, ...] = ()


@record
class SourceArtifact:
    """An artifact of a run, as far as reuse needs it."""

    name: str
    expired: bool = False


@record
class SourceRun:
    """A run that may be reused.

    Attributes:
        run: the newest attempt.
        artifacts: what the run left; None if nothing was asked, because the run is refused for another reason.
        sweep: what the run swept; None if nothing was asked.
        completes: runs whose rows this run's results repeat; only a follow-up sweep has them.
    """

    run: Run
    artifacts: tuple[SourceArtifact, ...] | None = None
    sweep: SourceSweep | None = None
    completes: tuple[int, ...] = ()


@record
class ReuseFacts:
    """Everything that `decide_reuse` needs, except for the policy.

    Attributes:
        event: a push to the base branch is a merge; a question names the pull request.
        pulls: the pull requests that the event concerns. A pushed commit may belong to several or none.
        people: what the authors of commands may do here; who is not among them may not command.
        pull: the pull request if there is exactly one, as it is now.
        commits: the pull request's commits.
        has_all_commits: False if GitHub's list ended at its limit and git was not there to prove the others.
        approvals: approved commits of a fork, each with its run.
        same_branch: other pull requests of the same head branch, closed ones too.
        runs: candidates, newest first. With a pin, the named run only.
        has_older_runs: there are more candidates than were looked at.
        plan: the merge's plan.
    """

    event: Event
    pulls: tuple[AskedPull, ...] = ()
    people: tuple[Collaborator, ...] = ()
    pull: PullRequest | None = None
    commits: tuple[str, ...] = ()
    has_all_commits: bool = True
    approvals: tuple[Approval, ...] = ()
    same_branch: tuple[PullSummary, ...] = ()
    runs: tuple[SourceRun, ...] = ()
    has_older_runs: bool = False
    plan: MergePlan = field(default_factory=MergePlan)
