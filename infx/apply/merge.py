"""Merge a pull request: decide the next step from current facts, do it, and look again, until nothing is left to do.

No step depends on what an earlier process did: a stopped merge continues where the facts are, and two merges at once end
in one, because each write names the head that it is for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from infx.apply.push import push_commit, read_tip
from infx.gather.clone import GitClone
from infx.gather.merge import MergeGatherer, show_head
from infx.git import GitError
from infx.github.api import GitHub
from infx.github.errors import ConflictError, UnknownOutcomeError
from infx.merge.decide import decide_step, list_steps
from infx.merge.facts import MergeFacts, MergeRequest, Progress, Trouble
from infx.merge.steps import (
    Done,
    Enqueue,
    MergeOutcome,
    MergePull,
    PublishStatuses,
    RefusalReason,
    Refuse,
    Step,
    UpdateBranch,
    Wait,
)
from infx.policy.model import Policy
from infx.records import record

MAX_STEPS = 30  # looks at the facts in one command, without those while waiting
MAX_TRIES = 3  # writes of one kind for one head
LONGEST_PAUSE = 30.0  # seconds between two looks while waiting


class StatusPublisher(Protocol):
    """Brings infx's comments and statuses up to date, and raises if that is impossible."""

    def __call__(self, number: int, *, signoff: bool) -> None: ...


@record
class MergeReport:
    """The end of a merge.

    Attributes:
        head: the head at the last look.
        steps: everything that was decided, in order.
    """

    pull: int
    head: str
    steps: tuple[Step, ...]

    @property
    def end(self) -> Step:
        return self.steps[-1]


@dataclass
class Merger:
    """Merges pull requests.

    Attributes:
        github: the client whose statuses count, if the token is the publisher's.
        starter: the client whose writes start workflows; None if there is none.
        clone: its push token is the starter's.
        publish: writes infx's statuses.
        wait: seconds that the command may wait for GitHub and for workflows.
        tell: called with each step before it is done.
    """

    github: GitHub
    starter: GitHub | None
    gatherer: MergeGatherer
    clone: GitClone
    policy: Policy
    publish: StatusPublisher
    wait: float = 0.0
    tell: Callable[[Step], None] = lambda step: None
    waited: float = field(default=0.0, init=False)
    pause: float = field(default=1.0, init=False)  # seconds until the next look; grows until a step is taken
    tries: dict[tuple[Trouble, str], int] = field(default_factory=dict, init=False)

    def list_steps(self, request: MergeRequest) -> tuple[MergeFacts, Sequence[Step]]:
        """Return the facts, and the steps that a merge would take now; write nothing."""
        facts = self.gatherer.gather(request, Progress())
        return facts, list_steps(facts, self.policy)

    def run(self, request: MergeRequest) -> MergeReport:
        """Take steps until the pull request is merged or queued, or something is missing."""
        progress, steps = Progress(), list[Step]()
        for _ in range(MAX_STEPS):
            facts, step, progress = self.github.look_then_write(
                functools.partial(self._look, request, progress), self._act
            )
            steps.append(step)
            if isinstance(step, Done | Refuse):
                return MergeReport(pull=request.pull, head=facts.head, steps=tuple(steps))
        raise ConflictError(f"Pull request {request.pull} changed too often while it was merged.")

    def _look(self, request: MergeRequest, progress: Progress) -> tuple[MergeFacts, Step]:
        facts = self.gatherer.gather(request, progress)
        return facts, decide_step(facts, self.policy)

    def _act(self, seen: tuple[MergeFacts, Step]) -> tuple[MergeFacts, Step, Progress]:
        """Do the step, and return the last step with what this process has done."""
        facts, step = seen
        self.tell(step)
        progress = facts.progress
        if not isinstance(step, Wait):
            self.pause = 1.0
        match step:
            case UpdateBranch():
                progress = self._push(step, facts)
            case PublishStatuses():
                self.publish(facts.request.pull, signoff=not facts.state.signed_off)
                progress = replace(progress, published=facts.head)
            case MergePull() | Enqueue():
                return self._finish(step, facts)
            case Wait():
                if not self._await(facts):
                    words = f"After {self.waited:.0f} s: {step.words}"
                    return facts, Refuse(reason=RefusalReason.TIMEOUT, words=words, fix=step.fix), progress
        return facts, step, progress

    def _push(self, step: UpdateBranch, facts: MergeFacts) -> Progress:
        """Push the commit; if the branch has moved, take the commit that it points to."""
        try:
            pushed = push_commit(self.clone, step.push, self.policy)
        except GitError as error:
            tip = read_tip(self.clone, step.push.branch)
            if tip is None or tip == facts.head:
                return self._note(Trouble.PUSH, facts, str(error))
            pushed = tip
        return replace(facts.progress, pushed=pushed, parent=facts.head)

    def _finish(self, step: MergePull | Enqueue, facts: MergeFacts) -> tuple[MergeFacts, Step, Progress]:
        """Merge or queue. After a refusal or an unknown outcome, the next look shows what happened."""
        assert self.starter is not None, "decided before"
        name = f"Pull request {facts.pull.number}"
        try:
            if isinstance(step, Enqueue):
                self.starter.enqueue(step.node_id, sha=step.sha)
                done = Done(outcome=MergeOutcome.QUEUED, words=f"{name} is in the merge queue.")
            else:
                merged = self.starter.merge(facts.pull.number, sha=step.sha, method=step.method)
                done = Done(outcome=MergeOutcome.MERGED, words=f"{name} is merged as {merged[:12]}.")
        except (ConflictError, UnknownOutcomeError) as error:
            return facts, step, self._retry(facts, error)
        return facts, done, facts.progress

    def _retry(self, facts: MergeFacts, error: ConflictError | UnknownOutcomeError) -> Progress:
        """Allow a few more tries, because GitHub refuses a merge while the base branch moves."""
        key = (Trouble.MERGE, facts.head)
        self.tries[key] = self.tries.get(key, 0) + 1
        if self.tries[key] < MAX_TRIES:
            self.github.pause(float(self.tries[key]))
            return facts.progress
        if isinstance(error, UnknownOutcomeError):
            raise error
        return self._note(Trouble.MERGE, facts, error.message)

    def _note(self, trouble: Trouble, facts: MergeFacts, words: str) -> Progress:
        return replace(facts.progress, trouble=trouble, troubled=facts.head, words=words)

    def _await(self, facts: MergeFacts) -> bool:
        """Wait until GitHub shows something else for the head; return False when the time is over."""
        before = show_head(facts.pull, facts.state.statuses, facts.checks)
        while self.waited < self.wait:
            seconds = min(self.pause, self.wait - self.waited)
            self.github.pause(seconds)
            self.waited += seconds
            self.pause = min(2 * self.pause, LONGEST_PAUSE)
            if self.gatherer.look(facts) != before:
                return True
        return False
