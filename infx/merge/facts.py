"""Everything that the next step of a merge is decided from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from infx.comments.status import DesiredStatus
from infx.model import BranchRules, CheckRun, MergeMethod, PullRequest
from infx.reconcile.facts import ReconcileFacts, Resolution
from infx.records import record


@record
class MergeRequest:
    """The merge that a person asks for.

    Attributes:
        sha: the head that may be merged; a head with the same changes, on a newer base, may be merged too.
        run_id: the run whose results must be the reused ones.
        method: None for the policy's.
    """

    pull: int
    sha: str
    run_id: int | None = None
    method: MergeMethod | None = None


@record
class Ability:
    """What the tokens of this process can do.

    Attributes:
        can_start: a push, a merge and a queued pull request start workflows, because they are not the workflow token's.
        can_publish: infx trusts the statuses that this process writes.
    """

    can_start: bool = True
    can_publish: bool = True


class Trouble(StrEnum):
    """A write that this process tried and that did not happen."""

    PUSH = "push"
    MERGE = "merge"


@record
class Progress:
    """What this process has done; no decision about the pull request depends on it alone.

    Attributes:
        pushed: the head that this process, or another one at the same time, pushed.
        parent: the head before that push.
        published: the head whose statuses were compared and written.
        trouble, words: the last refusal, for the head `troubled`.
    """

    pushed: str | None = None
    parent: str | None = None
    published: str | None = None
    trouble: Trouble | None = None
    troubled: str | None = None
    words: str = ""


@record
class MergeFacts:
    """Everything that `decide_step` needs, except for the policy.

    Attributes:
        state: the facts that infx's comments and statuses follow from.
        has_same_changes: the head is the requested one, or has the same changes on a newer base.
        status: the sweep status as it should be; None if the pull request needs none.
        update: the commit that the branch needs before it can be merged, if any.
        checks: the newest check runs on the head.
        apps: the account of a status' author, in lower case → the id of its app.
        node_id: the pull request's id in GraphQL; None without a merge queue.
    """

    request: MergeRequest
    state: ReconcileFacts
    has_same_changes: bool = True
    status: DesiredStatus | None = None
    update: Resolution | None = None
    rules: BranchRules = field(default_factory=BranchRules)
    checks: tuple[CheckRun, ...] = ()
    apps: Mapping[str, int] = field(default_factory=dict)
    node_id: str | None = None
    is_queued: bool = False
    ability: Ability = field(default_factory=Ability)
    progress: Progress = field(default_factory=Progress)

    @property
    def pull(self) -> PullRequest:
        return self.state.pull

    @property
    def head(self) -> str:
        return self.state.pull.head_sha

    @property
    def is_published(self) -> bool:
        """Return whether this process compared the statuses of this head."""
        return self.progress.published == self.head
