"""Make what a pull request should have: one comment for each sign-off, and a status on the head. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from infx.comments.status import DesiredStatus, fit_description
from infx.comments.sticky import Sticky
from infx.model import Comment, CommentKind, StatusState
from infx.phrases import count, join_some
from infx.policy.identity import is_identity, is_listed
from infx.policy.model import Policy
from infx.policy.signoff import CheckStatus
from infx.records import record
from infx.signoff.facts import SignoffFacts
from infx.signoff.judge import Judgment, make_verdict
from infx.signoff.outcome import code
from infx.signoff.record import UNKNOWN, Binding, Standing, make_marker
from infx.signoff.scope import SignoffScope
from infx.signoff.verdict import render_failure, render_verdict

_OF = r"<!-- of (issuecomment|pullrequestreview|discussion_r) ([0-9]{1,18}) -->"


@record
class SignoffReading:
    """One sign-off and what was read for it."""

    signoff: Comment
    binding: Binding
    facts: SignoffFacts | None = None  # None if they were not needed or could not be read
    error: str | None = None  # why no judgment is possible, in sentences; the status then fails
    # Why GitHub or git did not answer. The status is then pending, and an earlier comment stays.
    unread: str | None = None


@record
class Assessment(SignoffReading):
    """One sign-off and its judgment."""

    judgment: Judgment | None = None  # None if the sign-off is stale, in error or unread


def make_comment(assessment: Assessment, head_sha: str, policy: Policy) -> Sticky:
    """Return the comment about a sign-off."""
    signoff = assessment.signoff
    return Sticky(
        key="sign-off",
        marker=make_marker(signoff.kind, signoff.id, policy),
        text=f"{_render_record(assessment.binding)}{_render_text(assessment, head_sha, policy)}",
    )


def _render_record(binding: Binding) -> str:
    # Of a sign-off of an unknown commit nothing is recorded: a later run may find the commit.
    return "" if binding.standing is Standing.UNSEEN else f"{binding.record}\n"


def _render_text(assessment: Assessment, head_sha: str, policy: Policy) -> str:
    signoff, record = assessment.signoff, assessment.binding.record
    if assessment.binding.standing is Standing.STALE:
        return _render_stale(signoff, record.sha, head_sha)
    if assessment.binding.standing is Standing.UNSEEN:
        return _render_unseen(signoff, head_sha)
    if assessment.error or assessment.judgment is None or assessment.facts is None:
        return render_failure(signoff.author.login, head_sha, assessment.error or "It was not assessed.")
    return render_assessment(assessment, head_sha, policy)


def render_assessment(assessment: Assessment, head_sha: str, policy: Policy) -> str:
    """Return the verdict on the commit that was assessed first, with the head that it still covers."""
    assert assessment.judgment is not None
    assert assessment.facts is not None
    verdict = make_verdict(assessment.judgment, assessment.facts, policy)
    sha = assessment.binding.record.sha
    return render_verdict(replace(verdict, sha=sha, covered_sha=head_sha if sha != head_sha else None))


def _render_unseen(signoff: Comment, head_sha: str) -> str:
    return (
        f"### Sign-off of an unknown commit\n\nIt is unknown whether `{head_sha}` was the head when "
        f"{code(signoff.author.login)} signed off. Edit the sign-off to sign that commit, or sign in a review.\n"
    )


def _render_stale(signoff: Comment, sha: str, head_sha: str) -> str:
    signer = code(signoff.author.login)
    if sha == UNKNOWN:
        return (
            "### Sign-off out of date\n\n"
            f"Someone else edited this comment, so the commit that {signer} signed off is unknown. "
            "Edit the sign-off or post the checklist again.\n"
        )
    return (
        "### Sign-off out of date\n\n"
        f"{signer} signed off at `{sha}`. The head is now `{head_sha}`, and its diff is different. "
        "Review the new changes, then edit the sign-off or post the checklist again.\n"
    )


def find_withdrawn(comments: Iterable[Comment], signoffs: Sequence[Comment], policy: Policy) -> list[Sticky]:
    """Return infx's comments on sign-offs that were deleted, dismissed or edited into something else."""
    present = {(signoff.kind, signoff.id) for signoff in signoffs}
    withdrawn: dict[tuple[CommentKind, int], Sticky] = {}
    for comment in comments:
        lines = comment.body.splitlines()
        if not is_identity(comment.author, policy.publisher) or lines[:1] != [policy.signoff.marker]:
            continue
        match = re.fullmatch(_OF, lines[1].strip()) if len(lines) > 1 else None
        if match is None or (CommentKind(match[1]), int(match[2])) in present:
            continue
        kind, number = CommentKind(match[1]), int(match[2])
        text = "### Sign-off withdrawn\n\nThe sign-off was deleted or no longer qualifies.\n"
        withdrawn[kind, number] = Sticky(
            key="withdrawn sign-off", marker=make_marker(kind, number, policy), text=text
        )
    return list(withdrawn.values())


def find_former(comments: Iterable[Comment], policy: Policy) -> list[Comment]:
    """Return the verdicts of identities that no longer publish; infx does not trust them."""
    former = [name for name in policy.identities if not is_listed(name, policy.publisher)]
    return [c for c in comments if is_identity(c.author, former) and c.body.startswith(policy.signoff.marker)]


def make_status(
    scope: SignoffScope, assessments: Sequence[Assessment], policy: Policy
) -> DesiredStatus | None:
    """Return the status of the best sign-off; None if the policy sets no status."""
    if policy.signoff.status is None:
        return None
    state, text = _judge(scope, assessments)
    return DesiredStatus(
        context=policy.signoff.status,
        state=state,
        description=fit_description(text, policy.limits.status_characters),
        target_url=_find_target(assessments, state),
    )


def _judge(scope: SignoffScope, assessments: Sequence[Assessment]) -> tuple[StatusState, str]:
    if not scope.is_required:
        return StatusState.SUCCESS, f"No sign-off is required. {scope.reason}"
    by_state = {state: [a for a in assessments if decide_state(a) is state] for state in StatusState}
    if good := by_state[StatusState.SUCCESS]:
        return StatusState.SUCCESS, _describe_good(good[0])
    pending = by_state[StatusState.PENDING]
    if waiting := [a for a in pending if not a.binding.standing.is_open]:
        # One sign-off that only waits outweighs any that failed.
        return StatusState.PENDING, _describe_pending(waiting[-1])
    if bad := by_state[StatusState.FAILURE]:
        return StatusState.FAILURE, _describe_bad(bad[-1])
    if pending:
        return StatusState.PENDING, _describe_pending(pending[-1])
    if not scope.owners:
        return StatusState.PENDING, f"Waiting for a sign-off. {scope.reason.replace('`', '')}"
    return StatusState.PENDING, f"Waiting for the sign-off of one owner: {join_some(scope.owners, 4)}"


def decide_state(assessment: Assessment) -> StatusState:
    if assessment.binding.standing.is_open:
        return StatusState.PENDING
    judgment = assessment.judgment
    if assessment.unread:
        return StatusState.PENDING
    if assessment.error or judgment is None:
        return StatusState.FAILURE
    if judgment.is_good:
        return StatusState.SUCCESS
    return StatusState.PENDING if judgment.is_waiting else StatusState.FAILURE


def _describe_good(assessment: Assessment) -> str:
    who, sha = assessment.signoff.author.login, assessment.binding.record.sha[:12]
    results = assessment.judgment.results if assessment.judgment else ()
    settled = sum(result.settlement is not None for result in results)
    carried = ", carried over to the same diff" if assessment.binding.standing is Standing.CARRIED else ""
    warnings = f", {count(settled, 'warning')} settled" if settled else ""
    return f"Signed off by {who} at {sha}{warnings}{carried}"


def _describe_bad(assessment: Assessment) -> str:
    who = assessment.signoff.author.login
    if assessment.error or assessment.judgment is None:
        return f"The sign-off of {who} could not be verified"
    failing = [
        str(result.check.number)
        for result in assessment.judgment.results
        if result.outcome.status is CheckStatus.FAIL
    ]
    return f"Sign-off of {who} rejected by {_name_checks(failing)}"


def _describe_pending(assessment: Assessment) -> str:
    who, sha = assessment.signoff.author.login, assessment.binding.record.sha[:12]
    if assessment.unread:
        return f"The sign-off of {who} could not be read yet: {assessment.unread}"
    if assessment.binding.standing is Standing.UNSEEN:
        return f"Unknown whether {sha} was the head when {who} signed off; edit the sign-off to sign it"
    if assessment.binding.standing is Standing.STALE or assessment.judgment is None:
        if assessment.binding.record.sha == UNKNOWN:
            return f"Someone else edited infx's comment on the sign-off of {who}; sign again"
        return f"{who} signed off at {sha}; the diff has changed since"
    bad = [result for result in assessment.judgment.results if not result.is_good]
    waiting = [str(result.check.number) for result in bad if result.outcome.status is CheckStatus.FAIL]
    open_ = [str(result.check.number) for result in bad if result.outcome.status is CheckStatus.WARN]
    verb = "wait" if len(waiting) > 1 else "waits"
    parts = [f"{_name_checks(waiting)} {verb} for a sweep"] if waiting else []
    parts += [f"{_name_checks(open_)} must be settled"] if open_ else []
    return f"Sign-off of {who}: {'; '.join(parts)}"


def _name_checks(numbers: Sequence[str]) -> str:
    return f"check{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"


def _find_target(assessments: Sequence[Assessment], state: StatusState) -> str:
    fitting = [assessment for assessment in assessments if decide_state(assessment) is state]
    return fitting[0].signoff.url if fitting else ""
