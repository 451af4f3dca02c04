"""The gate's decision (run, stop or ignore) and its reason."""

from __future__ import annotations

from enum import StrEnum

from infx.gate.facts import Reuse
from infx.policy.model import Effect, SweepScope
from infx.policy.stage import Stage
from infx.records import record


class GateVerdict(StrEnum):
    """The answer of the gate for the sweep of a pull request."""

    RUN = "run"  # start a sweep and replace a running one
    STOP = "stop"  # start no sweep and cancel a running one
    IGNORE = "ignore"  # start nothing and cancel nothing


class Reason(StrEnum):
    """The reason of a decision. `infx.gate.rules` has the words, the condition and the order of each."""

    READY = "ready"
    # The event neither starts nor stops a sweep.
    OTHER_EVENT = "other-event"
    MERGE_GROUP = "merge-group"
    COMMENT = "comment"
    UNRELATED_ACTION = "unrelated-action"
    OTHER_BASE = "other-base"
    STALE_HEAD = "stale-head"
    UNRELATED_LABEL = "unrelated-label"
    REOPENED = "reopened"
    RUN_EXISTS = "run-exists"
    SENDER_CANNOT_START = "sender-cannot-start"
    # The pull request is not ready.
    CLOSED = "closed"
    CONFLICTING_LABELS = "conflicting-labels"
    NO_PRIMARY_LABEL = "no-primary-label"
    SKIP_MARKER = "skip-marker"
    DRAFT = "draft"
    MERGE_CONFLICT = "merge-conflict"
    MERGEABLE_UNKNOWN = "mergeable-unknown"
    CHANGELOG_UNTOUCHED = "changelog-untouched"
    CHANGELOG_INVALID = "changelog-invalid"
    APPROVAL_MISSING = "approval-missing"
    APPROVAL_STALE = "approval-stale"
    APPROVED_ELSEWHERE = "approved-elsewhere"
    REUSED = "reused"
    REUSE_REFUSED = "reuse-refused"
    LABEL_STARTED_NOTHING = "label-started-nothing"
    # A push or a dispatch.
    BASE_UNKNOWN = "base-unknown"
    ON_MERGE_NOTHING = "on-merge-nothing"
    ON_MERGE_NOT_REUSED = "on-merge-not-reused"
    DISPATCH_INPUTS = "dispatch-inputs"
    FOREIGN_COMMIT = "foreign-commit"
    TEST_MERGE = "test-merge"


@record
class Decision:
    """One answer of the gate.

    Attributes:
        words: what the reason means here: a clause without a full stop that may contain text of the pull request.
        fix: what a person who wants a sweep should do, in full sentences; None if there is nothing to do.
        refused: whether a request for a sweep cannot be fulfilled, so that the run should be red.
        head_sha, merge_sha: what is measured; `merge_sha` only for an approved revision of a fork.
        base_sha: commit that the head's changelog is compared with; None for the tip of the base branch.
        stage: how strictly the changelog is validated; None if a command asks for rows instead.
        command: the words of that command, for `infx matrix`.
        scope, canary, fail_fast, effects, reusable: how the sweep runs, or would run; None if that is unknown.
        only: ids of the rows that run; empty: the others of `complete`, or all rows without it.
        complete: the run whose good rows the sweep repeats in its results.
        group: concurrency group of the job that follows, unique to the run unless it belongs to a sweep.
        reuse: the reuse that decided; None if another reason did.
        labels: labels of the pull request that the policy knows; they decide priorities.
        notes: what else a reader should know, in full sentences.
        also: further reasons that still apply if this one is resolved.
    """

    verdict: GateVerdict
    reason: Reason
    words: str
    group: str
    fix: str | None = None
    refused: bool = False
    pull: int | None = None
    head_sha: str | None = None
    merge_sha: str | None = None
    base_sha: str | None = None
    stage: Stage | None = Stage.PR
    command: tuple[str, ...] = ()
    scope: SweepScope | None = None
    canary: bool = False
    fail_fast: bool = False
    effects: tuple[Effect, ...] = ()
    reusable: bool = True
    only: tuple[str, ...] = ()
    complete: int | None = None
    reuse: Reuse | None = None
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    also: tuple[Reason, ...] = ()

    @property
    def runs(self) -> bool:
        return self.verdict is GateVerdict.RUN

    @property
    def sentence(self) -> str:
        """Return the whole answer for a reader: what happens, why, and what to do."""
        return f"{'Sweep' if self.runs else 'No sweep'}: {self.cause}"

    @property
    def cause(self) -> str:
        """Return the reason and the fix."""
        return " ".join(filter(None, (f"{self.words}.", self.fix)))
