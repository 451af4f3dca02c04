"""The rules of the gate: one table for each kind of event, asked from top to bottom; the first that holds decides.

Here is the table of pull requests; those of dispatches and pushes are in `other_rules.py`.

docs/sweeps.md shows the same tables. In `words` and `fix` the names in braces are those of `infx.gate.words`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from infx.gate.case import Case
from infx.gate.decision import GateVerdict, Reason
from infx.gate.event import EventAction
from infx.gate.facts import starts_or_changes
from infx.policy.model import Drafts


@dataclass(frozen=True, kw_only=True)
class GateRule:
    """when, test: the same condition for readers and for the program.

    words: a clause that begins with a word of ours, because it may become a sentence and names keep their case; fix:
    full sentences. refused: see `Decision`. stops_on: actions on which the verdict is stop
    although it is ignore otherwise. of_event: about the event, so it does not count when somebody merely asks.
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


APPROVE = "Somebody with write access can approve it by the comment `{approve} {head_sha}`."

# About the event: is it one that may start or stop anything?

UNRELATED_ACTION = GateRule(
    reason=Reason.UNRELATED_ACTION,
    when="the event is none of opened, reopened, synchronize, labeled, unlabeled, ready_for_review, closed",
    test=lambda case: case.action is EventAction.OTHER,
    verdict=GateVerdict.IGNORE,
    words="this event does not concern sweeps",
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
    fix="The newest push has a run of its own, unless it skipped it; `{dispatch}` starts one by hand.",
    of_event=True,
)
UNRELATED_LABEL = GateRule(
    reason=Reason.UNRELATED_LABEL,
    when="a label was put on or taken off that is neither primary nor a modifier",
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
    when="the pull request was closed, and is open again",
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
    when="two or more primary labels are on",
    test=lambda case: len(case.labels.primary) > 1,
    verdict=GateVerdict.STOP,
    words="the PR has {primaries_on}",
    fix="{remove}",
    refused=True,
)
NO_PRIMARY_LABEL = GateRule(
    reason=Reason.NO_PRIMARY_LABEL,
    when="no primary label is on",
    test=lambda case: not case.labels.primary,
    verdict=GateVerdict.IGNORE,
    stops_on=(EventAction.UNLABELED,),
    words="the PR has no label that starts one{modifiers_alone}",
    fix="Put on one of {primaries}.",
)
SKIP_MARKER = GateRule(
    reason=Reason.SKIP_MARKER,
    when="the head commit says {marker} in its subject or on a line of its own",
    test=lambda case: case.marker.counts,
    verdict=GateVerdict.IGNORE,
    words="the head commit says {marker} {marker_place}",
    fix="Push a commit without it to start a sweep; one that runs already goes on.",
)
MERGE_CONFLICT = GateRule(
    reason=Reason.MERGE_CONFLICT,
    when="the branch conflicts with the base branch",
    test=lambda case: case.pull.mergeable is False,
    verdict=GateVerdict.STOP,
    words="blocked by a merge conflict with {base} ({conflicts})",
    fix="Merge {base} into the branch, resolve the conflict and push; GitHub starts no run before that.",
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
    when="the pull request leaves the changelog alone",
    test=lambda case: case.facts.changelog.touched is False,
    verdict=GateVerdict.STOP,
    words="the PR is labeled, but it leaves {changelog} alone, so there is nothing to run",
    fix="Append an entry that names the configurations to run, or take the label off.",
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
    when="the pull request comes from a fork, a deleted one included, and nobody has approved its head",
    test=lambda case: case.pull.is_fork and not case.is_approved,
    verdict=GateVerdict.IGNORE,
    words="the PR comes from {fork}, and nobody has approved its head {head}",
    fix=APPROVE,
)
APPROVED_ELSEWHERE = GateRule(
    reason=Reason.APPROVED_ELSEWHERE,
    when="the head of the fork is approved, so its sweep runs by a dispatch of its own",
    test=lambda case: case.pull.is_fork and case.is_approved,
    verdict=GateVerdict.IGNORE,
    words="the head {head} of the fork is approved and has a dispatched run of its own{approval_link}",
    fix="The same comment, made again, starts it anew with the labels of then.",
)
CHANGELOG_INVALID = GateRule(
    reason=Reason.CHANGELOG_INVALID,
    when="the changelog breaks a rule",
    test=lambda case: bool(case.facts.changelog.problems),
    verdict=GateVerdict.STOP,
    words="the changelog {changelog} has {problem_count}: {first_problem}",
    fix="`infx changelog validate` shows them all.",
    refused=True,
)
REUSE_REFUSED = GateRule(
    reason=Reason.REUSE_REFUSED,
    when="the reuse of another run is authorized, but that run cannot be used",
    test=lambda case: case.reuse is not None and case.reuse.problem is not None,
    verdict=GateVerdict.IGNORE,
    words="run {reuse_run} was to be reused, but {reuse_problem}",
    fix="Name another run, or withdraw the request.",
    refused=True,
)
REUSED = GateRule(
    reason=Reason.REUSED,
    when="the results of another run stand in, on a push to the pull request or on the merge",
    test=lambda case: case.reuse is not None,
    verdict=GateVerdict.IGNORE,
    words="the results of run {reuse_run} are reused",
)
RUN_EXISTS = GateRule(
    reason=Reason.RUN_EXISTS,
    when="on opened, reopened and ready_for_review: the head has a sweep already",
    test=lambda case: case.run_in_the_way,
    verdict=GateVerdict.IGNORE,
    words="the head {head} has one already ({run_state}, {run_url})",
    fix="Push, or take the label off and put it on again, to start another.",
)
SENDER_CANNOT_START = GateRule(
    reason=Reason.SENDER_CANNOT_START,
    when="whoever caused the event, or asked for the re-run, has no write access",
    test=lambda case: not case.actor_may_start,
    verdict=GateVerdict.IGNORE,
    words="the account {actor} has no write access to the repository",
    fix="Somebody who has can take the label off and put it on again.",
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
    when="the label was put on by the workflow token, whose events start nothing, or by somebody without write access",
    test=lambda case: case.started_by_no_event,
    verdict=GateVerdict.IGNORE,
    words="the label {primaries_on} was put on by {label_actor}, {in_vain}",
    fix="Somebody with write access can start it with `{dispatch}`, or take the label off and put it on again.",
)
READY = GateRule(
    reason=Reason.READY,
    when="nothing above holds",
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
# What a row of a later attempt asks before it takes a GPU: a partial re-run keeps the first attempt's answers.
ROW = frozenset(
    {
        Reason.STALE_HEAD,
        Reason.CLOSED,
        Reason.NO_PRIMARY_LABEL,
        Reason.APPROVAL_STALE,
        Reason.APPROVAL_MISSING,
    }
)
