"""The steps of a merge, as values: each is one thing to do, or the end."""

from __future__ import annotations

from enum import StrEnum

from infx.model import MergeMethod
from infx.reconcile.actions import PushCommit
from infx.records import record


class RefusalReason(StrEnum):
    """Why a pull request is not merged, as one word for programs."""

    CLOSED = "closed"
    OTHER_BASE = "other-base"
    HEAD_MOVED = "head-moved"
    DRAFT = "draft"
    LABELS = "labels"
    EXCLUDING_LABEL = "excluding-label"
    CHANGELOG = "changelog"
    CONFLICT = "conflict"
    CHANGELOG_CONFLICT = "changelog-conflict"
    REUSE = "reuse"
    OTHER_RUN = "other-run"
    SWEEP = "sweep"
    SIGNOFF = "sign-off"
    FORK = "fork"
    NO_APP_TOKEN = "no-app-token"  # noqa: S105 - a reason
    PUSH = "push"
    CHECKS = "checks"
    METHOD = "method"
    GITHUB = "github"
    TIMEOUT = "timeout"


class WaitReason(StrEnum):
    """What GitHub or a workflow still has to do."""

    HEAD = "head"  # GitHub shows a pushed commit a moment later
    TEST_MERGE = "test-merge"
    STATUSES = "statuses"
    SWEEP = "sweep"
    CHECKS = "checks"
    QUEUE = "queue"


class MergeOutcome(StrEnum):
    MERGED = "merged"
    QUEUED = "queued"


@record
class Done:
    """Nothing is left to do."""

    outcome: MergeOutcome
    words: str

    def __str__(self) -> str:
        return self.words


@record
class Refuse:
    """The pull request cannot be merged now.

    Attributes:
        words: the missing fact, as a sentence.
        fix: what to do, as a sentence.
        command: the command line that does it, if there is one.
    """

    reason: RefusalReason
    words: str
    fix: str
    command: str = ""

    @property
    def advice(self) -> str:
        return f"{self.fix} {self.command}".rstrip()

    def __str__(self) -> str:
        return f"{self.words} {self.advice}".rstrip()


@record
class Wait:
    """Something becomes true without a person.

    Attributes:
        words: what is missing, as a sentence.
        fix: what to do if it stays so, as a sentence.
    """

    reason: WaitReason
    words: str
    fix: str = ""

    def __str__(self) -> str:
        return f"Wait: {self.words}"


@record
class UpdateBranch:
    """Push the commit that the branch needs."""

    push: PushCommit

    def __str__(self) -> str:
        return f"Push {self.push.message!r} to {self.push.branch}."


@record
class PublishStatuses:
    """Bring infx's comments and statuses on the head up to date."""

    sha: str

    def __str__(self) -> str:
        return f"Update infx's comments and statuses for {self.sha[:12]}."


@record
class MergePull:
    """Merge the pull request if its head is still `sha`."""

    sha: str
    method: MergeMethod

    def __str__(self) -> str:
        return f"Merge {self.sha[:12]} by the method {self.method}."


@record
class Enqueue:
    """Add the pull request to the merge queue if its head is still `sha`."""

    sha: str
    node_id: str
    method: MergeMethod

    def __str__(self) -> str:
        return f"Add {self.sha[:12]} to the merge queue, which merges by the method {self.method}."


Action = UpdateBranch | PublishStatuses | MergePull | Enqueue
Step = Done | Refuse | Wait | Action
