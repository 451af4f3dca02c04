"""What the reuse of a finished sweep depends on, asked of GitHub and git: no more than the event calls for.

Whatever cannot be read raises UnavailableError; nothing unread counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from infx.errors import UnavailableError, UsageError
from infx.evidence.rows import SweepKind
from infx.gate.approval import pick_approval
from infx.gate.event import SHA, Event, EventName
from infx.gate.facts import Approval, Reuse
from infx.gather.clone import GitClone
from infx.gather.people import People, PeopleReader
from infx.gather.reuse_clone import ReuseRevisions
from infx.gather.reuse_runs import RunReader, RunSearch
from infx.github.errors import IncompleteListError
from infx.model import Comment, Commit, CommitStatus, PullRequest, PullSummary
from infx.policy.model import Policy
from infx.records import record
from infx.reuse.command import find_associated, list_commands
from infx.reuse.coverage import MergePlan
from infx.reuse.decide import decide_early, decide_event, decide_reuse
from infx.reuse.facts import AskedPull, ReuseFacts
from infx.reuse.for_gate import make_gate_reuse

MAX_PEOPLE = 5  # authors of commands whose permission is read, newest command first
MAX_PULLS = 10  # pull requests of one commit
MAX_PUSHED = 20  # commits of one push that are looked at
EARLIER_HEADS = 5  # of a fork, whose approvals are looked at
PATIENCE = (1.0, 2.0, 4.0)  # seconds; GitHub links a merge with its pull request a moment later


class ReuseReader(PeopleReader, RunReader, Protocol):
    """The requests that a decision about reuse makes; all of them only read."""

    def pull(self, number: int) -> PullRequest: ...
    def pulls(self, *, state: str = "open", head: str | None = None) -> list[PullSummary]: ...
    def pulls_of_commit(self, sha: str) -> list[PullSummary]: ...
    def commits(self, pull: PullRequest) -> list[Commit]: ...
    def issue_comments(
        self, number: int, *, since: datetime | None = None, recent: int = 0
    ) -> list[Comment]: ...
    def statuses(self, sha: str) -> list[CommitStatus]: ...
    def pause(self, seconds: float) -> None: ...


@record
class ReuseGatherer:
    """Gathers the facts of reuse.

    Attributes:
        known: what the caller has read of runs already; None: nothing.
        clone: a clone of the repository; without one no plan can be recomputed, so the coverage is unknown.
        policy_path: where the policy is in the repository.
    """

    github: ReuseReader
    policy: Policy
    clone: GitClone | None
    policy_path: str
    known: RunReader | None = None

    def answer(self, event: Event, pull: PullRequest | None = None) -> Reuse:
        """Gather and decide for the gate."""
        return make_gate_reuse(decide_reuse(self.gather(event, pull), self.policy))

    def gather(self, event: Event, pull: PullRequest | None = None) -> ReuseFacts:
        """Gather what an event, or a question about a pull request, calls for.

        Args:
            pull: the pull request of the event, if the caller has read it already.
        """
        facts = ReuseFacts(event=event)
        if event.name is EventName.PUSH:
            pulls = self._find_merged(event)
            facts = self._read_pushed(facts, pulls)
        elif event.pull:
            facts = self._read_asked(facts, event.pull, pull)
        return self.complete(facts)

    def gather_follow_up(self, number: int, run_id: int, kind: SweepKind) -> ReuseFacts:
        """Gather what a follow-up sweep of a pull request's head depends on.

        Args:
            run_id: the run that it completes.
            kind: the kind of sweep that it plans.
        """
        event = Event(name=EventName.ASKED, pull=number)
        pull = self.github.pull(number)
        facts = ReuseFacts(event=event, pulls=(AskedPull(number=number),), pull=pull)
        revisions = self._open_revisions(facts, pull, None)
        if revisions is None:
            raise UsageError(
                "The rows that a run covers are recomputed from git, and this folder is not a clone of the repository.",
                hint="Run it in a clone with the whole history.",
            )
        facts = replace(facts, commits=revisions.find_commits(), plan=revisions.plan_merge(kind))
        facts = self._add_neighbors(facts, pull)
        return RunSearch(self.github, self.policy, facts, pull, revisions).read_completed(run_id)

    def ask(self, pull: PullRequest, comments: Sequence[Comment], *, tip: str | None) -> ReuseFacts:
        """Gather what reuse of a pull request depends on now.

        Args:
            comments: those with a command, oldest first.
            tip: as for `complete`.
        """
        event = Event(name=EventName.ASKED, pull=pull.number)
        asked = AskedPull(number=pull.number, comments=tuple(comments))
        return self.complete(ReuseFacts(event=event, pulls=(asked,), pull=pull), tip=tip)

    def complete(
        self, facts: ReuseFacts, *, tip: str | None = None, people: People | None = None
    ) -> ReuseFacts:
        """Add permissions, and what runs and plans tell if the decision needs them.

        Args:
            facts: with the event, the pull request and its commands, which a caller may have read already.
            tip: the base branch's, if the caller has fetched the base branch and the pull request.
            people: those whose permissions the caller has read already.
        """
        people = people or People(self.github, 0)
        for asked in facts.pulls:
            self._ask_permissions(asked, people)
        facts = replace(facts, people=people.all)
        pull = facts.pull
        if decide_early(facts, self.policy) is not None or pull is None:
            return facts
        revisions = self._open_revisions(facts, pull, tip)
        facts = self._add_commits(facts, pull, revisions)
        facts = self._add_neighbors(facts, pull)
        return RunSearch(self.known or self.github, self.policy, facts, pull, revisions).run()

    def _find_merged(self, event: Event) -> list[int]:
        """Find the pull requests of a pushed commit; GitHub may not know them in the first seconds."""
        if not self._is_relevant(event):
            return []
        sha = event.head_sha or ""
        pulls = self.github.pulls_of_commit(sha)
        for seconds in PATIENCE:
            if pulls:
                break
            self.github.pause(seconds)
            pulls = self.github.pulls_of_commit(sha)
        return [pull.number for pull in pulls if pull.base_ref == self.policy.base_branch][:MAX_PULLS]

    def _is_relevant(self, event: Event) -> bool:
        is_base = event.ref == f"refs/heads/{self.policy.base_branch}"
        return is_base and bool(event.head_sha and event.head_sha.strip("0"))

    def _read_pushed(self, facts: ReuseFacts, numbers: Sequence[int]) -> ReuseFacts:
        if len(numbers) == 1:
            return self._read_asked(facts, numbers[0])
        asked = tuple(self._read_commands(number) for number in numbers)
        return replace(facts, pulls=asked)

    def _read_asked(self, facts: ReuseFacts, number: int, pull: PullRequest | None = None) -> ReuseFacts:
        """Read a pull request and its commands, unless the event has nothing to do with reuse."""
        pending = replace(facts, pulls=(AskedPull(number=number),))
        if decide_event(facts.event, self.policy) is not None:
            return pending
        pull = pull or self.github.pull(number)
        asked = self._read_commands(number, recent=pull.comments) if pull.comments else pending.pulls[0]
        return replace(facts, pull=pull, pulls=(asked,))

    def _read_commands(self, number: int, *, recent: int = 0) -> AskedPull:
        comments = self.github.issue_comments(number, recent=recent)
        commands = list_commands(comments, self.policy.reuse)
        return AskedPull(number=number, comments=tuple(command.comment for command in reversed(commands)))

    def _ask_permissions(self, asked: AskedPull, people: People) -> None:
        """Read permissions until one of the authors may write, the newest command first."""
        commands = find_associated(asked.comments, self.policy.reuse)
        logins = dict.fromkeys(command.comment.author.login for command in commands)
        for login in list(logins)[:MAX_PEOPLE]:
            person = people.ask_one(login)
            if not person.is_known:
                raise UnavailableError(
                    f"GitHub does not tell what {login} may do here, who asked for reuse.",
                    hint="Run it again.",
                )
            if person.can_write:
                break

    def _open_revisions(self, facts: ReuseFacts, pull: PullRequest, tip: str | None) -> ReuseRevisions | None:
        """Fetch the commits that the merge is made of; None without a clone."""
        if self.clone is None:
            return None
        git = self.clone.git
        if tip is None:
            self.clone.deepen(self.policy.base_branch)
            tip = self.clone.fetch(self.policy.base_branch, [pull.number])
        if facts.event.name is EventName.PUSH and facts.event.head_sha:
            head = facts.event.head_sha
            target = base = self._find_base(facts.event, pull)
        else:
            head, target = pull.head_sha, pull.base_sha if pull.is_merged else tip
            base = git.merge_base(target, head)
        return ReuseRevisions(
            git=git,
            policy=self.policy,
            target=target,
            base=base,
            head=head,
            pull_head=pull.head_sha,
            policy_path=self.policy_path,
        )

    def _find_base(self, event: Event, pull: PullRequest) -> str:
        """Find the commit that a merge was made on: one push may bring several merges, or one in several commits."""
        assert self.clone is not None, "only git knows the parents"
        git, before = self.clone.git, event.before or ""
        is_known = bool(re.fullmatch(SHA, before)) and git.has_commit(before)
        base = git.first_parent(event.head_sha or "")
        for _ in range(MAX_PUSHED):
            if base is None:
                raise UnavailableError("The merge has no parent that its plan could be compared with.")
            if base == before or not is_known or not self._brought(base, pull):
                return base
            base = git.first_parent(base)
        message = f"More than {MAX_PUSHED} commits of this push belong to pull request {pull.number}."
        raise UnavailableError(message, hint="Ask about the pull request by its number.")

    def _brought(self, sha: str, pull: PullRequest) -> bool:
        return any(other.number == pull.number for other in self.github.pulls_of_commit(sha))

    def _add_commits(
        self, facts: ReuseFacts, pull: PullRequest, revisions: ReuseRevisions | None
    ) -> ReuseFacts:
        """Add the pull request's commits, proven by git, else as far as GitHub lists them."""
        if revisions is not None:
            return replace(facts, commits=revisions.find_commits(), plan=revisions.plan_merge())
        plan = MergePlan(problem="there is no clone of the repository to recompute the plans from")
        try:
            commits = tuple(commit.sha for commit in self.github.commits(pull))
        except IncompleteListError:
            return replace(facts, has_all_commits=False, plan=plan)
        return replace(facts, commits=commits, plan=plan)

    def _add_neighbors(self, facts: ReuseFacts, pull: PullRequest) -> ReuseFacts:
        """Add what tells the pull request's runs from others: a fork's approvals, or what shares its branch."""
        if pull.is_fork:
            earlier = [sha for sha in reversed(facts.commits) if sha != pull.head_sha]
            heads = [pull.head_sha, *earlier[:EARLIER_HEADS]]
            return replace(facts, approvals=tuple(self._find_approvals(heads)))
        owner = pull.base_repository.partition("/")[0]
        others = self.github.pulls(state="all", head=f"{owner}:{pull.head_ref}")
        return replace(facts, same_branch=tuple(other for other in others if other.number != pull.number))

    def _find_approvals(self, heads: Iterable[str]) -> Iterator[Approval]:
        for sha in heads:
            if approval := pick_approval(sha, self.github.statuses(sha), self.policy):
                yield approval
