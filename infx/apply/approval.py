"""Approve a fork's head on GitHub: set the approval status, dispatch the sweep, and link its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from infx.comments.progress import read_sweep
from infx.comments.status import fit_description
from infx.errors import InfxError
from infx.gate.approval import ApprovalAnswer, ApprovalDecision, ApprovalFacts, describe_approver
from infx.gate.event import DispatchInputs
from infx.gather.gate import NEWEST_RUNS
from infx.github.errors import UnexpectedReplyError, UnknownOutcomeError
from infx.model import CommitStatus, DispatchedRun, Job, Reaction, Run, StatusState
from infx.policy.identity import is_identity
from infx.policy.model import Policy

_T = TypeVar("_T")

PATIENCE = (1.0, 2.0, 4.0)  # seconds between searches for a run that may have been started


class ApprovalWriter(Protocol):
    def create_status(
        self, sha: str, *, context: str, state: StatusState, description: str, target_url: str = ""
    ) -> CommitStatus: ...
    def dispatch_workflow(self, workflow: str, *, ref: str, inputs: Mapping[str, str]) -> DispatchedRun: ...
    def add_reaction(self, comment_id: int, content: str) -> Reaction: ...
    def runs(self, *, workflow: str, event: str, branch: str, newest: int) -> list[Run]: ...
    def jobs(self, run_id: int, *, every_attempt: bool) -> list[Job]: ...
    def pause(self, seconds: float) -> None: ...
    def write_then_look(self, write: Callable[[], _T], look: Callable[[], _T | None]) -> _T: ...


def publish_approval(
    facts: ApprovalFacts, decision: ApprovalDecision, policy: Policy, github: ApprovalWriter
) -> DispatchedRun | None:
    """Publish the answer to an approval command, and return the run that the approval started.

    The run may have been started by an earlier attempt of this job. If GitHub refuses the dispatch, revoke
    the approval and raise. If the outcome of the dispatch is unknown, keep the approval for the run that may
    exist.
    """
    comment = facts.comment
    if decision.answer is ApprovalAnswer.NOTHING:
        return None
    if decision.answer is ApprovalAnswer.REFUSED or decision.head_sha is None or decision.inputs is None:
        github.add_reaction(comment.id, "-1")
        return None
    who = describe_approver(comment.author.login, decision.inputs.merge_sha)
    sign = _Signer(github, policy, decision.head_sha, who)
    # The status comes before the dispatch, because the gate of the run requires it.
    sign(StatusState.SUCCESS, "Approved by {who}", comment.url)
    dispatch = _Dispatch(github, policy, decision.inputs, comment.created_at)
    try:
        run = dispatch.find() or dispatch.start()
    except InfxError:
        if not dispatch.may_have_started:
            words = "Approved by {who}, but the sweep could not be dispatched"
            sign(StatusState.ERROR, words, comment.url)
        raise
    sign(StatusState.SUCCESS, "Approved by {who}; the sweep is linked", run.url)
    github.add_reaction(comment.id, "+1")
    return run


@dataclass(frozen=True)
class _Signer:
    github: ApprovalWriter
    policy: Policy
    sha: str
    who: str

    def __call__(self, state: StatusState, words: str, url: str) -> None:
        """Set the approval status."""
        description = fit_description(words.format(who=self.who), self.policy.limits.status_characters)
        context = self.policy.sweep.contexts.approval
        self.github.write_then_look(
            lambda: self.github.create_status(
                self.sha, context=context, state=state, description=description, target_url=url
            ),
            lambda: None,  # after an unknown outcome write again: the same status twice does no harm
        )


@dataclass
class _Dispatch:
    """The single run that an approval starts, even if its job is rerun.

    Attributes:
        since: when the comment was created, by GitHub's clock. Earlier runs belong to earlier comments.
        may_have_started: whether a dispatch was sent and its outcome is unknown.
    """

    github: ApprovalWriter
    policy: Policy
    inputs: DispatchInputs
    since: datetime
    may_have_started: bool = False

    def find(self) -> DispatchedRun | None:
        """Return the run that this approval started, or None. The title of the run names the head."""
        runs = self.github.runs(
            workflow=self.policy.sweep.workflow_file,
            event="workflow_dispatch",
            branch=self.policy.base_branch,
            newest=NEWEST_RUNS,
        )
        own_run = next((run for run in runs if self._is_own(run)), None)
        return DispatchedRun(id=own_run.id, url=own_run.url) if own_run else None

    def _is_own(self, run: Run) -> bool:
        """Return whether this approval started a run; a run that ended without a sweep does not count."""
        wanted = (self.inputs.pull, self.inputs.head_ref)
        if run.dispatched_for != wanted or run.completes or run.created_at < self.since:
            return False
        if not is_identity(run.actor, self.policy.identities):
            return False
        if not run.is_completed:
            return True
        jobs = self.github.jobs(run.id, every_attempt=run.attempt > 1)
        return bool(read_sweep(run, jobs, self.policy.sweep.job).swept)

    def start(self) -> DispatchedRun:
        """Start the run once: if the reply is lost, search for the run before sending the request again."""
        return self.github.write_then_look(self._send, self._find_patiently)

    def _send(self) -> DispatchedRun:
        inputs = {
            "pr": str(self.inputs.pull),
            "base-ref": self.inputs.base_ref,
            "head-ref": self.inputs.head_ref,
            "merge-sha": self.inputs.merge_sha,
        }
        workflow = self.policy.sweep.workflow_file
        try:
            run = self.github.dispatch_workflow(workflow, ref=self.policy.base_branch, inputs=inputs)
        except UnknownOutcomeError:
            self.may_have_started = True
            raise
        except UnexpectedReplyError as error:  # the run was started, but the reply does not name it
            self.may_have_started = True
            raise UnknownOutcomeError(error.message, status=error.status, hint=error.hint) from error
        return run

    def _find_patiently(self) -> DispatchedRun | None:
        """Return the run that this approval started, or None; wait, because GitHub lists a new run late."""
        for seconds in PATIENCE if self.may_have_started else ():
            if run := self.find():
                return run
            self.github.pause(seconds)
        return self.find()
