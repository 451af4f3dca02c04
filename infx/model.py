"""What GitHub holds, as values: only what infx decides by, already read, normalized and frozen.

Times are aware `datetime`s in UTC. Logins are as GitHub spells them; a deleted account is `GHOST`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_FILES = 3000  # GitHub lists no more of one pull request, and does not say so


class UserType(StrEnum):
    USER = "User"
    BOT = "Bot"
    MANNEQUIN = "Mannequin"
    ORGANIZATION = "Organization"


@dataclass(frozen=True, kw_only=True)
class User:
    login: str
    type: UserType = UserType.USER

    @property
    def is_human(self) -> bool:
        """A person with a login: only such a one commands, signs or settles."""
        return self.type is UserType.USER and self.login.lower() not in {"", GHOST.login}


GHOST = User(login="ghost")


@dataclass(frozen=True, kw_only=True)
class Collaborator:
    """Both answers of GitHub about one person: `permission` knows only admin, write, read and none; `role`
    may be the name of a custom role, which never counts as one of the five. is_known: False where GitHub knows no such
    account; of somebody who has just said something, that is no answer.
    """

    login: str
    permission: str
    role: str
    is_known: bool = True

    @property
    def can_write(self) -> bool:
        return self.permission in {"admin", "write"} and self.role in {"admin", "maintain", "write"}

    @property
    def is_admin(self) -> bool:
        return self.permission == self.role == "admin"


def is_same_repository(one: str | None, other: str | None) -> bool:
    """GitHub does not tell upper and lower case apart in names; None: the repository was deleted."""
    return (one or "").lower() == (other or "").lower()


@dataclass(frozen=True, kw_only=True)
class PullRequest:
    number: int
    title: str
    body: str
    author: User
    labels: tuple[str, ...]
    is_open: bool
    is_merged: bool
    is_draft: bool
    mergeable: bool | None  # None: GitHub has not computed it yet
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: str | None  # None: the fork was deleted
    base_repository: str
    changed_files: int
    commits: int
    updated_at: datetime
    created_at: datetime
    comments: int = 0  # in the conversation
    closed_at: datetime | None = None

    @property
    def is_fork(self) -> bool:
        """A deleted fork is still a fork."""
        return not is_same_repository(self.head_repository, self.base_repository)


@dataclass(frozen=True, kw_only=True)
class PullSummary:
    """A pull request as lists show it: GitHub leaves `mergeable` and all counts out there."""

    number: int
    title: str
    author: User
    labels: tuple[str, ...]
    is_open: bool
    is_merged: bool
    is_draft: bool
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: str | None
    base_repository: str
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None

    @property
    def is_fork(self) -> bool:
        return not is_same_repository(self.head_repository, self.base_repository)


@dataclass(frozen=True, kw_only=True)
class Commit:
    sha: str
    parents: tuple[str, ...]
    message: str


class FileStatus(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    MODIFIED = "modified"
    RENAMED = "renamed"
    COPIED = "copied"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, kw_only=True)
class ChangedFile:
    path: str
    status: FileStatus
    previous_path: str | None = None
    patch: str | None = None  # None: binary or too large

    @property
    def paths(self) -> tuple[str, ...]:
        """Both sides of a rename."""
        return (self.path,) if self.previous_path is None else (self.previous_path, self.path)


class CommentKind(StrEnum):
    """Three endpoints, three number ranges; the value is the fragment in GitHub's URLs."""

    ISSUE = "issuecomment"
    REVIEW = "pullrequestreview"
    REVIEW_COMMENT = "discussion_r"


class ReviewState(StrEnum):
    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    COMMENTED = "COMMENTED"
    DISMISSED = "DISMISSED"
    PENDING = "PENDING"


@dataclass(frozen=True, kw_only=True)
class Comment:
    id: int
    kind: CommentKind
    author: User
    body: str
    created_at: datetime
    updated_at: datetime
    url: str
    pull_number: int
    commit_sha: str | None = None  # reviews and their comments: the head they were written on
    path: str | None = None  # review comments: the file
    review_state: ReviewState | None = None  # reviews only
    node_id: str = ""  # its name in GraphQL
    editor: User | None = None  # who edited it last, where GraphQL told; nobody did, or nobody was asked


@dataclass(frozen=True, kw_only=True)
class CommentReference:
    """A comment as its URL names it; an id alone says neither the kind nor the pull request."""

    repository: str
    pull_number: int
    kind: CommentKind
    id: int


@dataclass(frozen=True, kw_only=True)
class Reaction:
    id: int
    content: str  # "+1", "-1", "eyes", ...
    author: User


@dataclass(frozen=True, kw_only=True)
class LabelEvent:
    """A label put on or taken off, from the timeline."""

    label: str
    added: bool
    actor: User
    created_at: datetime


class Conclusion(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    NEUTRAL = "neutral"
    TIMED_OUT = "timed_out"
    ACTION_REQUIRED = "action_required"
    STARTUP_FAILURE = "startup_failure"
    STALE = "stale"


@dataclass(frozen=True, kw_only=True)
class Run:
    """A workflow run; `conclusion` is None until it has completed."""

    id: int
    attempt: int
    path: str  # .github/workflows/run-sweep.yml
    event: str
    status: str
    conclusion: Conclusion | None
    head_sha: str
    head_branch: str | None
    head_repository: str | None
    url: str
    created_at: datetime
    updated_at: datetime
    title: str = ""
    pull_numbers: tuple[int, ...] = ()
    actor: User = GHOST
    triggering_actor: User = GHOST

    @property
    def is_completed(self) -> bool:
        return self.status == "completed"

    @property
    def dispatched_for(self) -> tuple[int, str] | None:
        """The pull request and the revision that a dispatch was for: GitHub tells its inputs only in the title."""
        told = re.fullmatch(r"PR ([1-9][0-9]*) at (.+)", self.title)
        return (int(told[1]), told[2]) if told and self.event == "workflow_dispatch" else None

    def is_dispatched_for(self, pull: PullRequest) -> bool:
        """Whether the run was dispatched for the current head."""
        return self.dispatched_for == (pull.number, pull.head_sha)

    @property
    def commit(self) -> str:
        """The commit that was measured. A dispatch runs on a branch and names another commit in its title."""
        named = self.dispatched_for
        return named[1] if named and re.fullmatch(r"[0-9a-f]{40}", named[1]) else self.head_sha


def read_run_id(url: str) -> int | None:
    """The run that an address on GitHub's pages is of, or of a part of."""
    found = re.search(r"/actions/runs/([0-9]{1,18})(?![0-9])", url)
    return int(found[1]) if found else None


@dataclass(frozen=True, kw_only=True)
class Job:
    id: int
    run_id: int
    attempt: int
    name: str
    status: str
    conclusion: Conclusion | None
    url: str
    started_at: datetime | None = None
    completed_at: datetime | None = None
    failed_steps: tuple[str, ...] = ()  # names


@dataclass(frozen=True, kw_only=True)
class Artifact:
    id: int
    name: str
    size: int  # bytes
    expired: bool
    run_id: int
    head_sha: str
    created_at: datetime


class StatusState(StrEnum):
    ERROR = "error"
    FAILURE = "failure"
    PENDING = "pending"
    SUCCESS = "success"


@dataclass(frozen=True, kw_only=True)
class CommitStatus:
    context: str
    state: StatusState
    description: str
    target_url: str
    creator: User = GHOST
    created_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Overview:
    """A pull request and what stands on it. comments: the conversation, oldest first. statuses: of the head, the newest
    of each context. label_events: oldest first; the newest of them, if `has_older_events`.
    """

    pull: PullRequest
    comments: tuple[Comment, ...]
    statuses: tuple[CommitStatus, ...]
    label_events: tuple[LabelEvent, ...] = ()
    has_older_events: bool = False


@dataclass(frozen=True, kw_only=True)
class DispatchedRun:
    """The run that a dispatch started."""

    id: int
    url: str
