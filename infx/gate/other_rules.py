"""The gate's rules for dispatches and for pushes to the base branch."""

from __future__ import annotations

from dataclasses import replace

from infx.gate.decision import GateVerdict, Reason
from infx.gate.rules import (
    APPROVAL_MISSING,
    APPROVAL_STALE,
    APPROVE,
    CHANGELOG_INVALID,
    CHANGELOG_UNTOUCHED,
    CLOSED,
    CONFLICTING_LABELS,
    DRAFT,
    MERGE_CONFLICT,
    MERGEABLE_UNKNOWN,
    NO_PRIMARY_LABEL,
    OTHER_BASE,
    READY,
    REUSE_REFUSED,
    REUSED,
    SENDER_CANNOT_START,
    STALE_HEAD,
    GateRule,
)
from infx.policy.model import OnMerge

DISPATCH_INPUTS = GateRule(
    reason=Reason.DISPATCH_INPUTS,
    when="the inputs are neither a command, nor two revisions, nor a pull request",
    test=lambda case: case.check_inputs() is not None,
    verdict=GateVerdict.IGNORE,
    words="{inputs_problem}",
    fix="Dispatch again with other inputs.",
    refused=True,
)
FOREIGN_COMMIT = GateRule(
    reason=Reason.FOREIGN_COMMIT,
    when="head-ref is a SHA that is on no branch of the repository and has no approval",
    test=lambda case: case.names_foreign_commit,
    verdict=GateVerdict.IGNORE,
    words="the commit {dispatched_head} is not on any checked branch of the repository",
    fix="Name the branch that has it, or dispatch on that branch; a commit of a fork needs an approval.",
    refused=True,
)
TEST_MERGE = GateRule(
    reason=Reason.TEST_MERGE,
    when="the pull request comes from a fork, or merge-sha is given, and merge-sha is not the test merge of its head",
    test=lambda case: bool(case.pull.is_fork or case.inputs.merge_sha) and not case.has_test_merge,
    verdict=GateVerdict.IGNORE,
    words="the given merge-sha is not GitHub's test merge of {head} into {base}",
    fix=APPROVE,
    refused=True,
)
OTHER_BRANCH = replace(
    OTHER_BASE,
    when="the push went to another branch, or deleted the branch",
    test=lambda case: (
        case.facts.event.ref != f"refs/heads/{case.policy.base_branch}"
        or not (case.facts.event.head_sha or "").strip("0")
    ),
    words="the push did not go to {base}",
    fix="",
)
NOTHING_TO_RUN = replace(
    CHANGELOG_UNTOUCHED,
    when="the push does not change the changelog",
    verdict=GateVerdict.IGNORE,
    words="the push does not change {changelog}",
    fix="",
)
ON_MERGE_NOTHING = GateRule(
    reason=Reason.ON_MERGE_NOTHING,
    when="the policy says `on-merge: nothing`",
    test=lambda case: case.policy.on_merge is OnMerge.NOTHING,
    verdict=GateVerdict.IGNORE,
    words="a merge starts no sweep in this repository (policy: on-merge)",
)
ON_MERGE_NOT_REUSED = GateRule(
    reason=Reason.ON_MERGE_NOT_REUSED,
    when="the policy says `on-merge: reuse`, and no one with authority asked for reuse",
    test=lambda case: case.policy.on_merge is OnMerge.REUSE and case.reuse is None,
    verdict=GateVerdict.IGNORE,
    words="the policy says on-merge: reuse, and there is no sweep to reuse{reuse_absence}",
    fix="Ask for one with a comment in the pull request and run this job again, or dispatch a sweep of the two revisions.",
    refused=True,
)
BASE_UNKNOWN = GateRule(
    reason=Reason.BASE_UNKNOWN,
    when="the push has no previous revision (the branch was just created), and the parent of its first commit is unknown",
    test=lambda case: case.pushed_base is None,
    verdict=GateVerdict.IGNORE,
    words="the base revision is unavailable: the push has no previous revision",
    fix="Dispatch a sweep of two revisions: `base-ref` and `head-ref`.",
    refused=True,
)

# A dispatch that names the pull request overrides the skip marker, an earlier run and a reuse.
DISPATCH_FOR_PULL = (
    DISPATCH_INPUTS,
    OTHER_BASE,
    STALE_HEAD,
    CLOSED,
    CONFLICTING_LABELS,
    NO_PRIMARY_LABEL,
    MERGE_CONFLICT,
    DRAFT,
    CHANGELOG_UNTOUCHED,
    APPROVAL_STALE,
    APPROVAL_MISSING,
    MERGEABLE_UNKNOWN,
    TEST_MERGE,
    CHANGELOG_INVALID,
    SENDER_CANNOT_START,
    READY,
)
DISPATCH = (
    DISPATCH_INPUTS,
    FOREIGN_COMMIT,
    replace(SENDER_CANNOT_START, fix="Someone with write access can dispatch it."),
    READY,
)
# The account that pushed to the base branch may start its sweep. The skip marker has no effect there.
PUSH = (
    OTHER_BRANCH,
    NOTHING_TO_RUN,
    ON_MERGE_NOTHING,
    replace(CHANGELOG_INVALID, verdict=GateVerdict.IGNORE),
    REUSE_REFUSED,
    REUSED,
    ON_MERGE_NOT_REUSED,
    BASE_UNKNOWN,
    READY,
)
