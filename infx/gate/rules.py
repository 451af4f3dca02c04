"""The gate's rules for pull requests, as one table. The first rule that matches decides.

`other_rules.py` has the tables for dispatches and pushes; docs/sweeps.md shows all of them. `infx.gate.words` fills in
the names in braces in `words` and `fix`.
"""

from __future__ import annotations

from collections.abc import Callable

from infx.gate.case import Case
from infx.gate.decision import GateVerdict, Reason
from infx.gate.event import EventAction
from infx.gate.facts import starts_or_changes
from infx.policy.model import Drafts
from infx.records import record


@record
class GateRule:
    """A condition and the decision that follows from it.

    Attributes:
        when, test: the same condition for readers and for the program.
        words: a clause. It begins with a plain word, because it may become a sentence and names must keep their case.
        fix: full sentences.
        refused: see `Decision`.
        stops_on: actions on which the verdict is stop instead of ignore.
        of_event: whether the rule is about the event, so that it is skipped for a question.
    """

    reason: Reason
    when: str
    test: Callable[[Case], bool]
    verdict: GateVerdict
    words: str
    fix: str = ""
    refused: bool = False
    stops_on: tuple[EventAction, ...] = ()
    of_event: bool = False


APPROVE = "Someone with write access can approve it with the comment `{approve} {head_sha}`."

# About the event: may it start or stop a sweep?

UNRELATED_ACTION = GateRule(
    reason=Reason.UNRELATED_ACTION,
    when="the event is not opened, reopened, synchronize, labeled, unlabeled, ready_for_review or closed",
    test=lambda case: case.action is EventAction.OTHER,
    verdict=GateVerdict.IGNORE,
    words="this event does not affect sweeps",
    of_event=True,
)
OTHER_BASE = GateRule(
    reason=Reason.OTHER_BASE,
    when="the pull request is not for the base branch",
    test=lambda case: case.pull.base_ref != case.policy.base_branch,
    verdict=GateVerdict.IGNORE,
    words="the PR does not go into {base}",
    fix="Sweeps run only for PRs into {base}.",
)
STALE_HEAD = GateRule(
    reason=Reason.STALE_HEAD,
    when="the event is about a commit that is no longer the head",
    test=lambda case: case.head_is_stale,
    verdict=GateVerdict.IGNORE,
    words="the event is about {event_head}, but the head is {head}",
    fix="The newest push has its own run, unless that push skipped the sweep; `{dispatch}` starts one by hand.",
    of_event=True,
)
UNRELATED_LABEL = GateRule(
    reason=Reason.UNRELATED_LABEL,
    when="the label that was added or removed is neither primary nor a modifier",
    test=lambda case: (
        case.action in {EventAction.LABELED, EventAction.UNLABELED}
        and not starts_or_changes(case.facts.event.label or "", case.policy.labels)
    ),
    verdict=GateVerdict.IGNORE,
    words="the label {label} neither starts nor changes a sweep",
    of_event=True,
)
REOPENED = GateRule(
    reason=Reason.REOPENED,
    when="the pull request was closed, but is open again",
    test=lambda case: case.action is EventAction.CLOSED and case.pull.is_open,
    verdict=GateVerdict.IGNORE,
    words="the PR was closed, but is open again",
    of_event=True,
)

# About the pull request: is it ready?

CLOSED = GateRule(
    reason=Reason.CLOSED,
    when="the pull request is closed or merged",
    test=lambda case: not case.pull.is_open,
    verdict=GateVerdict.STOP,
    words="the PR is {state}",
)
CONFLICTING_LABELS = GateRule(
    reason=Reason.CONFLICTING_LABELS,
    when="the pull request has two or more primary labels",
    test=lambda case: len(case.labels.primary) > 1,
    verdict=GateVerdict.STOP,
    words="the PR has {primaries_on}",
    fix="{remove}",
    refused=True,
)
NO_PRIMARY_LABEL = GateRule(
    reason=Reason.NO_PRIMARY_LABEL,
    when="the pull request has no primary label",
    test=lambda case: not case.labels.primary,
    verdict=GateVerdict.IGNORE,
    stops_on=(EventAction.UNLABELED,),
    words="the PR has no label that starts a sweep{modifiers_alone}",
    fix="Add one of {primaries}.",
)
SKIP_MARKER = GateRule(
    reason=Reason.SKIP_MARKER,
    when="the head commit message has {marker} in its subject or on its own line",
    test=lambda case: case.marker.counts,
    verdict=GateVerdict.IGNORE,
    words="the head commit message has {marker} {marker_place}",
    fix="Push a commit without it to start a sweep; a running sweep continues.",
)
MERGE_CONFLICT = GateRule(
    reason=Reason.MERGE_CONFLICT,
    when="the branch conflicts with the base branch",
    test=lambda case: case.pull.mergeable is False,
    verdict=GateVerdict.STOP,
    words="blocked by a merge conflict with {base} ({conflicts})",
    fix="Merge {base} into the branch, resolve the conflict and push; until then GitHub starts no run.",
)
DRAFT = GateRule(
    reason=Reason.DRAFT,
    when="the pull request is a draft and the policy says `drafts: ignore`",
    test=lambda case: case.pull.is_draft and case.policy.drafts is Drafts.IGNORE,
    verdict=GateVerdict.STOP,
    words="the PR is a draft",
    fix="Mark it as ready for review.",
)
CHANGELOG_UNTOUCHED = GateRule(
    reason=Reason.CHANGELOG_UNTOUCHED,
    when="the pull request does not change the changelog",
    test=lambda case: case.facts.changelog.touched is False,
    verdict=GateVerdict.STOP,
    words="the PR has a sweep label, but does not change {changelog}, so there is nothing to run",
    fix="Append an entry that names the configurations to run, or remove the label.",
)
APPROVAL_STALE = GateRule(
    reason=Reason.APPROVAL_STALE,
    when="the pull request comes from a fork and an earlier revision was approved",
    test=lambda case: case.pull.is_fork and case.approval_is_stale,
    verdict=GateVerdict.STOP,
    words="the approval is for {approved}, but the head of the fork is {head}",
    fix=APPROVE,
)
APPROVAL_MISSING = GateRule(
    reason=Reason.APPROVAL_MISSING,
    when="the pull request comes from a fork (even a deleted one), and its head is not approved",
    test=lambda case: case.pull.is_fork and not case.is_approved,
    verdict=GateVerdict.IGNORE,
    words="the PR comes from {fork}, and its head {head} is not approved",
    fix=APPROVE,
)
APPROVED_ELSEWHERE = GateRule(
    reason=Reason.APPROVED_ELSEWHERE,
    when="the head of the fork is approved, so a separate dispatched run measures it",
    test=lambda case: case.pull.is_fork and case.is_approved,
    verdict=GateVerdict.IGNORE,
    words="the head {head} of the fork is approved and has its own dispatched run{approval_link}",
    fix="Post the approval comment again to start another sweep with the current labels.",
)
CHANGELOG_INVALID = GateRule(
    reason=Reason.CHANGELOG_INVALID,
    when="the changelog breaks a rule",
    test=lambda case: bool(case.facts.changelog.problems),
    verdict=GateVerdict.STOP,
    words="the changelog {changelog} has {problem_count}: {first_problem}",
    fix="`infx changelog validate` lists them all.",
    refused=True,
)
REUSE_REFUSED = GateRule(
    reason=Reason.REUSE_REFUSED,
    when="on a push to the pull request or on the merge: someone with authority asked for the reuse of a finished sweep, but no run can be used",
    test=lambda case: case.reuse is not None and not case.reuse.is_accepted,
    verdict=GateVerdict.IGNORE,
    words="a finished sweep was to be reused, but {reuse_problem}",
    fix="{reuse_fix}",
    refused=True,
)
REUSED = GateRule(
    reason=Reason.REUSED,
    when="on a push to the pull request or on the merge: the results of a finished sweep are reused",
    test=lambda case: case.reuse is not None and case.reuse.is_accepted,
    verdict=GateVerdict.IGNORE,
    words="the results of run {reuse_run} are reused{reuse_extent}",
)
RUN_EXISTS = GateRule(
    reason=Reason.RUN_EXISTS,
    when="on opened, reopened and ready_for_review: the head already has a sweep",
    test=lambda case: case.has_run_already,
    verdict=GateVerdict.IGNORE,
    words="the head {head} already has a sweep ({run_state}, {run_url})",
    fix="Push, or remove the label and add it again, to start another sweep.",
)
SENDER_CANNOT_START = GateRule(
    reason=Reason.SENDER_CANNOT_START,
    when="the account that caused the event or the re-run has no write access",
    test=lambda case: not case.actor_may_start,
    verdict=GateVerdict.IGNORE,
    words="the account {actor} has no write access to the repository",
    fix="Someone with write access can remove the label and add it again.",
    of_event=True,
)
MERGEABLE_UNKNOWN = GateRule(
    reason=Reason.MERGEABLE_UNKNOWN,
    when="GitHub has not computed whether the branch conflicts",
    test=lambda case: case.pull.mergeable is None,
    verdict=GateVerdict.IGNORE,
    words="GitHub does not know yet whether the PR conflicts with {base}",
    fix="Ask again in a minute.",
)
LABEL_STARTED_NOTHING = GateRule(
    reason=Reason.LABEL_STARTED_NOTHING,
    when="the label was added by the workflow token, whose events start nothing, or by someone without write access",
    test=lambda case: case.label_started_nothing,
    verdict=GateVerdict.IGNORE,
    words="the label {primaries_on} was added by {label_actor}, {why_no_start}",
    fix="Someone with write access can start it with `{dispatch}`, or remove the label and add it again.",
)
READY = GateRule(
    reason=Reason.READY,
    when="no other rule matches",
    test=lambda case: True,
    verdict=GateVerdict.RUN,
    words="{how}",
)

PULL_REQUEST = (
    UNRELATED_ACTION,
    OTHER_BASE,
    STALE_HEAD,
    UNRELATED_LABEL,
    REOPENED,
    CLOSED,
    CONFLICTING_LABELS,
    NO_PRIMARY_LABEL,
    SKIP_MARKER,
    MERGE_CONFLICT,
    DRAFT,
    CHANGELOG_UNTOUCHED,
    APPROVAL_STALE,
    APPROVAL_MISSING,
    APPROVED_ELSEWHERE,
    CHANGELOG_INVALID,
    REUSE_REFUSED,
    REUSED,
    RUN_EXISTS,
    SENDER_CANNOT_START,
    MERGEABLE_UNKNOWN,
    LABEL_STARTED_NOTHING,
    READY,
)
