"""GitHub's objects as frozen, normalized values, with only the fields that infx decides by.

Times are aware `datetime`s in UTC. Logins are as GitHub spells them; a deleted account is `GHOST`.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum

from infx.records import record

MAX_FILES = 3000  # GitHub lists no more files of a pull request, without saying so


class UserType(StrEnum):
    USER = "User"
    BOT = "Bot"
    MANNEQUIN = "Mannequin"
    ORGANIZATION = "Organization"


@record
class User:
    login: str
    type: UserType = UserType.USER

    @property
    def is_human(self) -> bool:
        """Return whether this is a person with a login: only a person may give commands or sign off."""
        return self.type is UserType.USER and self.login.lower() not in {"", GHOST.login}


GHOST = User(login="ghost")


@record
class Collaborator:
    """A person's rights in a repository, as GitHub reports them."""

    login: str
    permission: str  # admin, write, read or none
    role: str  # one of the five standard roles, or the name of a custom role, which never counts as one of the five
    is_known: bool = (
        True  # False if GitHub does not know the account, which cannot be true for a comment's author
    )

    @property
    def can_write(self) -> bool:
        return self.permission in {"admin", "write"} and self.role in {"admin", "maintain", "write"}

    @property
    def is_admin(self) -> bool:
        return self.permission == self.role == "admin"


def is_same_repository(one: str | None, other: str | None) -> bool:
    """Compare two repository names, ignoring case as GitHub does. None: the repository was deleted."""
    return (one or "").lower() == (other or "").lower()


@record
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
        """Return whether the head is in another repository, even if that repository was deleted."""
        return not is_same_repository(self.head_repository, self.base_repository)


@record
class PullSummary:
    """A pull request in a list, where GitHub leaves out `mergeable` and all counts."""

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


@record
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


@record
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
    """The kinds of comments, each with its own endpoint and ids; the value is the fragment in GitHub's URLs."""

    ISSUE = "issuecomment"
    REVIEW = "pullrequestreview"
    REVIEW_COMMENT = "discussion_r"


class ReviewState(StrEnum):
    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    COMMENTED = "COMMENTED"
    DISMISSED = "DISMISSED"
    PENDING = "PENDING"


@record
class Comment:
    id: int
    kind: CommentKind
    author: User
    body: str
    created_at: datetime
    updated_at: datetime
    url: str
    pull_number: int
    commit_sha: str | None = None  # reviews and their comments: the head at that time
    path: str | None = None  # review comments: the file
    review_state: ReviewState | None = None  # reviews only
    node_id: str = ""  # its id in GraphQL
    editor: User | None = None  # the last editor, from GraphQL; None: never edited, or not asked for
    association: str = ""  # the author's, such as MEMBER; GitHub computes it whenever the comment is read
    reactions: tuple[str, ...] | None = None  # kinds that any account left, such as "+1"; None: unknown


@record
class CommentReference:
    """A comment's identity from its URL; an id alone does not give the kind or the pull request."""

    repository: str
    pull_number: int
    kind: CommentKind
    id: int


THUMBS_UP, THUMBS_DOWN = "+1", "-1"  # the kinds of reactions by which infx answers a comment


@record
class Reaction:
    id: int
    content: str  # "+1", "-1", "eyes", ...
    author: User


@record
class LabelEvent:
    """A label added or removed, from the timeline."""

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


@record
class Run:
    """A workflow run."""

    id: int
    attempt: int
    path: str  # .github/workflows/run-sweep.yml
    event: str
    status: str
    conclusion: Conclusion | None  # None until the run has completed
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
        """The pull request and the revision of a dispatch, from the title: GitHub does not return its inputs."""
        match = self._match_title()
        return (int(match[1]), match[2]) if match else None

    @property
    def completes(self) -> int | None:
        """Return the run that a follow-up sweep completes, from the title; None for any other run."""
        match = self._match_title()
        return int(match[3]) if match and match[3] else None

    def _match_title(self) -> re.Match[str] | None:
        if self.event != "workflow_dispatch":
            return None
        return re.fullmatch(r"PR ([1-9][0-9]*) at (.+?)(?:, completes run ([1-9][0-9]{0,17}))?", self.title)

    def is_dispatched_for(self, pull: PullRequest) -> bool:
        """Return whether the run was dispatched for the current head."""
        return self.dispatched_for == (pull.number, pull.head_sha)

    @property
    def commit(self) -> str:
        """The measured commit: a dispatch runs on a branch and names the commit in its title."""
        target = self.dispatched_for
        return target[1] if target and re.fullmatch(r"[0-9a-f]{40}", target[1]) else self.head_sha


def read_run_id(url: str) -> int | None:
    """Return the run id in the URL of a run or of a part of it; None for another URL."""
    match = re.search(r"/actions/runs/([0-9]{1,18})(?![0-9])", url)
    return int(match[1]) if match else None


@record
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


@record
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


@record
class CommitStatus:
    context: str
    state: StatusState
    description: str
    target_url: str
    creator: User = GHOST
    created_at: datetime | None = None


@record
class Overview:
    """A pull request with its comments, statuses and label events."""

    pull: PullRequest
    comments: tuple[Comment, ...]  # the conversation, oldest first
    statuses: tuple[CommitStatus, ...]  # the newest of each context on the head
    label_events: tuple[LabelEvent, ...] = ()  # oldest first
    has_older_events: bool = False  # whether `label_events` holds only the newest events


@record
class DispatchedRun:
    """The run that a dispatch started."""

    id: int
    url: str


WORKFLOW_LOGIN = (
    "github-actions[bot]"  # the account of every workflow's own token, whose writes start no workflow
)
ACTIONS_APP = 15368  # the app of every check that a workflow's job makes


class MergeMethod(StrEnum):
    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"


@record
class CheckRun:
    """A check that an app reports for a commit, such as a job of a workflow."""

    id: int
    name: str
    status: str
    conclusion: Conclusion | None  # None until the check has completed
    app_id: int | None
    url: str


@record
class RequiredCheck:
    """A check or status that must be green before a merge."""

    context: str
    app_id: int | None = None  # only this app's reports count; None: those of everyone


@record
class BranchRules:
    """What GitHub requires before a branch may change, from rulesets and from classic protection.

    Attributes:
        is_strict: the head must contain the branch's tip.
        methods: the methods of merging that the rules allow.
        queue: the method of the branch's merge queue; None if merges need no queue.
    """

    checks: tuple[RequiredCheck, ...] = ()
    is_strict: bool = False
    methods: tuple[MergeMethod, ...] = tuple(MergeMethod)
    queue: MergeMethod | None = None


@record
class QueueEvent:
    """A pull request was added to a merge queue or left the queue, from the timeline."""

    added: bool
    actor: User
    created_at: datetime
    reason: str = ""  # why the pull request left, such as merge_conflict


@record
class QueueState:
    """A pull request and its base branch's merge queue."""

    node_id: str  # the pull request's id in GraphQL
    is_queued: bool
    events: tuple[QueueEvent, ...] = ()  # the newest, oldest first
