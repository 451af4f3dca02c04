"""What the gate answers: run, stop or ignore, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from infx.policy.model import Effect, SweepScope
from infx.policy.stage import Stage


class GateVerdict(StrEnum):
    """run: start a sweep. stop: start none and cancel the one that runs. ignore: start nothing, cancel nothing."""

    RUN = "run"
    STOP = "stop"
    IGNORE = "ignore"


class Reason(StrEnum):
    """Why; a closed set, so that comments, statuses and documents can go by it.

    The words of each, when it applies and in which order they are asked stand in `infx.gate.rules`.
    """

    READY = "ready"
    # The event is not one that starts or stops anything.
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


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One answer of the gate.

    words: what the reason means here, a clause without a full stop, holding text of the pull request.
    fix: what the person who wants a sweep should do, full sentences; None where nothing is to be done.
    refused: somebody asked for a sweep in a way that cannot be followed; the run should look red.
    head_sha, merge_sha: what is measured; `merge_sha` only for an approved revision of a fork.
    base_sha: what the head's changelog is compared with; None for the tip of the base branch.
    stage: how strictly the changelog is validated; None where rows are asked for by a command instead.
    command: the words of that command, for `infx matrix`.
    scope, canary, fail_fast, effects, reusable: how; without a sweep the values that would hold, or None.
    group: concurrency group of the job that follows, unique to the run unless it belongs to a sweep.
    labels: those of the pull request that the policy knows; priorities go by them.
    notes: what else a reader should know, full sentences.
    also: further reasons that would still hold if this one were gone.
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
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    also: tuple[Reason, ...] = ()

    @property
    def runs(self) -> bool:
        return self.verdict is GateVerdict.RUN

    @property
    def sentence(self) -> str:
        """All of it for a reader: what happens, why, and what to do."""
        return f"{'Sweep' if self.runs else 'No sweep'}: {self.cause}"

    @property
    def cause(self) -> str:
        """Why, and what to do."""
        return " ".join(filter(None, (f"{self.words}.", self.fix)))
