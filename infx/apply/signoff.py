"""Verification of a pull request's sign-offs, end to end: gather, judge, and bring what stands there in line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, TypeVar

from infx.apply.reconcile import GitClone
from infx.apply.writes import Applier, WriteOutcome
from infx.comments.sticky import Sticky
from infx.errors import InfxError, UnavailableError
from infx.gate.approval import pick_approval
from infx.gather.signoff import SignoffGatherer, SignoffReader
from infx.gather.signoff_clone import open_revisions
from infx.gather.signoff_links import FetchPage
from infx.git import Git
from infx.github.errors import RateLimitError
from infx.model import Comment, CommentKind, CommentReference, CommitStatus, PullRequest
from infx.policy.model import Policy
from infx.reconcile.actions import Action, DeleteComment, SetStatus
from infx.reconcile.desired import plan_comments
from infx.reconcile.ports import Writer
from infx.signoff.checklist import holds_phrase
from infx.signoff.facts import SignoffFacts
from infx.signoff.judge import judge
from infx.signoff.publish import Assessment, find_former, find_withdrawn, make_comment, make_status
from infx.signoff.record import Record, Standing, bind, find_our_comment, find_record, rebind
from infx.signoff.request import (
    find_foreign_words,
    find_outdated,
    find_refusal,
    find_scope_refusal,
    find_signer_refusal,
)
from infx.signoff.scope import SignoffScope, decide_scope
from infx.signoff.wake import Trigger

_S = TypeVar("_S")
_T = TypeVar("_T")

MAX_SIGNOFFS = 10  # of one pull request that are assessed, newest first
MAX_SIGNERS = 12  # whose role is asked for, newest first
MAX_FORKS = 20  # that are asked whose run a dispatched one is


class Client(SignoffReader, Writer, Protocol):
    """What verification asks for and what it writes."""

    def now(self) -> datetime: ...
    def look_then_write(self, look: Callable[[], _S], write: Callable[[_S], _T]) -> _T: ...
    def editors(self, comments: Sequence[Comment]) -> dict[str, str]: ...


@dataclass(frozen=True, kw_only=True)
class Verified:
    """pull: as it was when everything was read. passed_over: comments that look like sign-offs, and why they are
    none. stickies: the comments that should stand there. comments: the conversation. statuses: those on the head,
    None if nobody had to ask. unread: what GitHub should have told and did not, in sentences; it must be looked at again.
    """

    pull: PullRequest
    scope: SignoffScope
    assessments: tuple[Assessment, ...]
    passed_over: tuple[tuple[Comment, str], ...]
    stickies: tuple[Sticky, ...]
    comments: tuple[Comment, ...]
    statuses: tuple[CommitStatus, ...] | None = None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PassedOver:
    """A pull request about whose sign-offs nothing is said. why: a sentence."""

    pull: PullRequest
    why: str


@dataclass(frozen=True, kw_only=True)
class Verifier:
    """clone: of the repository, to fetch into. git: the same, to read from."""

    github: Client
    git: Git
    clone: GitClone | None
    policy: Policy
    policy_path: str
    repository: str
    fetch_page: FetchPage

    def verify(self, number: int, only: CommentReference | None = None) -> Verified | PassedOver:
        """Every sign-off of a pull request. only: raise if this comment is not one of them."""
        pull = self.github.pull(number)
        if why := find_scope_refusal(pull, self.policy.base_branch):
            if only is not None:
                raise InfxError(f"This comment starts no verification: {why}")
            return PassedOver(pull=pull, why=why)
        gatherer = self._open(pull)
        comments = gatherer.conversation(pull)
        signoffs, passed_over = self._find(comments, gatherer)
        editors = self._ask_editors(_select(signoffs, only), comments)
        for comment, why in find_foreign_words(signoffs, editors):
            signoffs.remove(comment)
            passed_over.append((comment, why))
        if only is not None:
            _require(only, signoffs, passed_over, comments)
        shared = gatherer.shared(pull, comments, signoffs[0] if signoffs else _nobody(pull))
        records = {s.url: find_record(comments, s, self.policy, editors) for s in _select(signoffs, only)}
        assessments = tuple(self._assess(_select(signoffs, only), shared, records, gatherer))
        stickies = [make_comment(a, pull.head_sha, self.policy) for a in assessments if a.unread is None]
        stickies += find_withdrawn(comments, signoffs, self.policy)
        return Verified(
            pull=pull,
            scope=decide_scope(shared, self.policy.signoff),
            assessments=assessments,
            passed_over=tuple(passed_over),
            stickies=tuple(stickies),
            comments=comments,
            statuses=gatherer.statuses,
            unread=(
                *(f"{c.url}: {w}" for c, w in passed_over if gatherer.is_unknown(c.author.login)),
                *(f"{a.signoff.url}: {a.unread}" for a in assessments if a.unread),
            ),
        )

    def _open(self, pull: PullRequest) -> SignoffGatherer:
        base = pull.base_sha
        if self.clone is not None:
            base = self.clone.fetch(pull.base_ref, [pull.number])
        return SignoffGatherer(
            github=self.github,
            revisions=open_revisions(self.git, self.policy, base, pull.head_sha),
            policy=self.policy,
            policy_path=self.policy_path,
            repository=self.repository,
            now=self.github.now(),
            fetch_page=self.fetch_page,
        )

    def _find(
        self, comments: Sequence[Comment], gatherer: SignoffGatherer
    ) -> tuple[list[Comment], list[tuple[Comment, str]]]:
        """Sign-offs by people who may sign, oldest first, and what merely looks like one."""
        phrase = self.policy.signoff.phrase
        alike = [comment for comment in comments if holds_phrase(comment.body, phrase)]
        alike.sort(key=lambda comment: (comment.created_at, comment.id))
        outdated = find_outdated(comments)
        refusals = [
            outdated[comment.id]
            if comment.kind is CommentKind.REVIEW and comment.id in outdated
            else find_refusal(comment, phrase)
            if gatherer.is_read(comment)
            else find_signer_refusal(gatherer.person(comment.author.login), comment.author.login)
            for comment in alike
        ]
        people = [c.author.login for c, why in zip(alike, refusals, strict=True) if why is None]
        asked = list(dict.fromkeys(reversed(people)))[:MAX_SIGNERS]
        signoffs: list[Comment] = []
        passed_over: list[tuple[Comment, str]] = []
        for comment, refusal in zip(alike, refusals, strict=True):
            login = comment.author.login
            why = refusal or find_signer_refusal(gatherer.person(login) if login in asked else None, login)
            if why is None:
                signoffs.append(comment)
            else:
                passed_over.append((comment, why))
        return signoffs, passed_over

    def _ask_editors(self, signoffs: Sequence[Comment], comments: Sequence[Comment]) -> Mapping[str, str]:
        """Who edited sign-offs, and our own comments about them: whoever may write here may edit every comment.
        GitHub's list of reviews does not even tell that one was edited.
        """
        ours = [own for s in signoffs if (own := find_our_comment(comments, s, self.policy))]
        edited = [
            comment
            for comment in (*signoffs, *ours)
            if comment.kind is CommentKind.REVIEW or comment.updated_at != comment.created_at
        ]
        return self.github.editors(edited) if edited else {}

    def _assess(
        self,
        signoffs: Sequence[Comment],
        shared: SignoffFacts,
        records: Mapping[str, Record | None],
        gatherer: SignoffGatherer,
    ) -> list[Assessment]:
        """What GitHub or git did not let us read is waited for; anything else that stops a judgement is a failure."""
        evidence: SignoffFacts | None = None
        assessments = []
        for signoff in signoffs:
            binding = bind(records[signoff.url], signoff, shared.pull.head_sha, shared.diff, shared.now)
            assessment = Assessment(signoff=signoff, binding=binding)
            try:
                if binding.standing is not Standing.STALE:
                    evidence = evidence or gatherer.evidence(shared)
                    assessment = self._judge(assessment, evidence, gatherer)
            except UnavailableError as error:
                assessment = replace(assessment, unread=str(error))
            except InfxError as error:
                assessment = replace(assessment, error=str(error))
            assessments.append(assessment)
        return assessments

    def _judge(self, assessment: Assessment, evidence: SignoffFacts, gatherer: SignoffGatherer) -> Assessment:
        signoff, head_sha = assessment.signoff, evidence.pull.head_sha
        binding = assessment.binding
        if binding.standing is Standing.FRESH:
            binding = rebind(binding, signoff, head_sha, gatherer.sightings(evidence))
        assessment = replace(assessment, binding=binding)
        if binding.standing.is_open:
            return assessment
        reported_at = None if binding.standing is Standing.FRESH else binding.record.since
        facts = gatherer.for_signoff(evidence, signoff, reported_at)
        return replace(assessment, facts=facts, judgement=judge(facts, self.policy))

    def verify_and_publish(
        self, number: int, only: CommentReference | None, outcome: WriteOutcome
    ) -> Verified | PassedOver:
        """What was found, once it stands there; what was written goes into `outcome` as it happens."""

        def write(found: Verified | PassedOver) -> Verified | PassedOver:
            if isinstance(found, Verified):
                self.publish(found, outcome)
            return found

        return self.github.look_then_write(lambda: self.verify(number, only), write)

    def publish(self, verified: Verified, outcome: WriteOutcome) -> None:
        """Comments and status as they should be; nothing is written where it stands there already, and nothing
        green on a head that is no longer the one that was looked at.
        """
        pull = verified.pull
        live = self.github.pull(pull.number)
        if why := find_scope_refusal(live, self.policy.base_branch):
            raise UnavailableError(f"While #{pull.number} was looked at, it changed: {why}")
        if live.head_sha != pull.head_sha:
            raise UnavailableError(
                f"#{pull.number} was pushed to while it was looked at.", hint="The push starts this again."
            )
        own = replace(self.policy, identities=self.policy.publisher)
        actions: list[Action] = [*plan_comments(verified.stickies, pull.number, verified.comments, own)]
        actions += [
            DeleteComment(pull=pull.number, key="former verdict", id=comment.id)
            for comment in find_former(verified.comments, self.policy)
        ]
        status = make_status(verified.scope, verified.assessments, self.policy)
        if status:
            there = verified.statuses
            if there is None:
                there = tuple(self.github.statuses(pull.head_sha))
            if not status.is_there(there, own.identities):
                actions.append(SetStatus(pull=pull.number, sha=pull.head_sha, status=status))
        Applier(self.github, own).apply(actions, verified.stickies, outcome)

    def find_pulls(self, wake: Trigger) -> list[int]:
        """Open pull requests that an event speaks of."""
        if wake.pull is not None:
            return [wake.pull]
        if wake.head_sha is None:
            return []
        open_pulls = self.github.pulls(state="open")
        found = [pull.number for pull in open_pulls if pull.head_sha == wake.head_sha]
        if wake.run_id is not None:
            forks = [pull for pull in open_pulls if pull.is_fork][:MAX_FORKS]
            found += [pull.number for pull in forks if self._may_be_approved_for(pull.head_sha, wake.run_id)]
        return list(dict.fromkeys(found))

    def _may_be_approved_for(self, head_sha: str, run_id: int) -> bool:
        try:
            approval = pick_approval(head_sha, self.github.statuses(head_sha), self.policy)
        except RateLimitError:
            raise
        except InfxError:
            return True  # its own turn tells what is wrong, and keeps nobody from theirs
        return approval is not None and approval.run_id == run_id


def _select(signoffs: Sequence[Comment], only: CommentReference | None) -> list[Comment]:
    """Those that are assessed; of what is left out the comments stay as they are."""
    newest = signoffs[-MAX_SIGNOFFS:]
    return [s for s in signoffs if s in newest or (only and (s.kind, s.id) == (only.kind, only.id))]


def _require(
    only: CommentReference,
    signoffs: Sequence[Comment],
    passed_over: Sequence[tuple[Comment, str]],
    comments: Sequence[Comment],
) -> None:
    key = (only.kind, only.id)
    if any((signoff.kind, signoff.id) == key for signoff in signoffs):
        return
    for comment, why in passed_over:
        if (comment.kind, comment.id) == key:
            raise InfxError(f"This comment starts no verification: {why}")
    if not any((comment.kind, comment.id) == key for comment in comments):
        raise InfxError(f"#{only.pull_number} has no {only.kind} {only.id}.", hint="Copy its whole address.")
    raise InfxError(
        "This comment is no sign-off.", hint="Its first paragraph starts with the policy's phrase."
    )


def _nobody(pull: PullRequest) -> Comment:
    """In the place of a sign-off where there is none and only the scope is asked for."""
    from infx.model import GHOST

    return Comment(
        id=0,
        kind=CommentKind.ISSUE,
        author=GHOST,
        body="",
        created_at=pull.created_at,
        updated_at=pull.created_at,
        url="",
        pull_number=pull.number,
    )
