"""Queue a pull request again that GitHub removed from the merge queue because of an entry ahead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from infx.apply.merge import Merger
from infx.github.api import GitHub
from infx.merge.facts import MergeRequest
from infx.merge.requeue import may_requeue
from infx.merge.steps import Done, Refuse
from infx.policy.model import Policy
from infx.reconcile.facts import ReconcileFacts


@dataclass
class Requeuer:
    """Queues pull requests again, through the steps of a merge.

    Attributes:
        open_merger: called for the first pull request that may be queued again.
    """

    github: GitHub
    policy: Policy
    open_merger: Callable[[], Merger]
    merger: Merger | None = field(default=None, init=False)
    has_queue: bool | None = field(default=None, init=False)  # None: GitHub was not asked

    def __call__(self, facts: ReconcileFacts) -> Sequence[str]:
        """Take the steps of a merge without waiting, if the policy allows it; return what was done or is missing."""
        number = facts.pull.number
        if self.has_queue is None:
            self.has_queue = self.github.branch_rules(self.policy.base_branch).queue is not None
        if not self.has_queue or not may_requeue(self.github.queue_state(number), self.policy):
            return ()
        merger = self.merger = self.merger or self.open_merger()
        report = merger.run(MergeRequest(pull=number, sha=facts.pull.head_sha))
        if isinstance(report.end, Refuse):
            return (f"PR {number} left the merge queue and is not queued again: {report.end.words}",)
        assert isinstance(report.end, Done)
        return (f"PR {number} left the merge queue because of an entry ahead and is queued again.",)
