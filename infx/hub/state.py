"""The hub's state outside its git repository: plain values that can be copied and restored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from infx.hub.rules import Protection, Ruleset
from infx.hub.settings import Settings
from infx.model import CommentKind, UserType

ROLES = ("none", "read", "triage", "write", "maintain", "admin")  # each includes the roles before it


@dataclass(kw_only=True)
class Account:
    id: int
    login: str
    type: UserType = UserType.USER
    role: str = "none"  # one of ROLES, or a custom role
    custom_base: str | None = None  # the role that a custom role extends

    @property
    def permission(self) -> str:
        """GitHub's `permission` field, in which maintain is `write` and triage is `read`."""
        role = self.custom_base or self.role
        return {"maintain": "write", "triage": "read"}.get(role, role)

    def has_role(self, least: str) -> bool:
        return ROLES.index(self.custom_base or self.role) >= ROLES.index(least)


@dataclass(kw_only=True)
class Label:
    id: int
    name: str


@dataclass(kw_only=True)
class Pull:
    id: int
    number: int
    title: str
    body: str | None
    author: str | None  # None: the account was deleted
    head_ref: str
    head_owner: str
    head_repository: str | None  # None: the fork was deleted
    head_sha: str
    base_ref: str
    base_sha: str
    created_at: str
    updated_at: str
    draft: bool = False
    locked: bool = False  # only people with write access may comment; a workflow's token may not
    labels: list[Label] = field(default_factory=list)
    closed_at: str | None = None
    merged_at: str | None = None
    merged_by: str | None = None
    merge_sha: str | None = None  # of the test merge; after the merge, of the merge
    merge_of: tuple[str, str] | None = None  # base and head of the test merge
    mergeable: bool | None = None
    unknown_reads: int = 0  # how many more times `mergeable` is answered with null

    @property
    def is_open(self) -> bool:
        return self.closed_at is None


@dataclass(kw_only=True)
class Reaction:
    id: int
    content: str
    author: str
    created_at: str


@dataclass(kw_only=True)
class Comment:
    """A comment of one of the three kinds, which have separate ids."""

    id: int
    kind: CommentKind
    pull: int
    author: str | None
    body: str | None
    created_at: str
    updated_at: str
    commit_sha: str | None = None
    path: str | None = None
    line: int | None = None
    state: str | None = None  # of a review
    editor: str | None = None  # the last editor
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(kw_only=True)
class TimelineEntry:
    """An event in a pull request's timeline."""

    id: int
    pull: int
    event: str  # labeled, unlabeled, closed, reopened, merged, ready_for_review, convert_to_draft, …
    actor: str | None
    created_at: str
    label: str | None = None
    reason: str | None = None  # why the pull request left the merge queue, in the timeline's words
    group_sha: str | None = None  # the commit of its group at that time


@dataclass(kw_only=True)
class Status:
    id: int
    sha: str
    context: str
    state: str
    description: str | None
    target_url: str | None
    creator: str
    created_at: str


@dataclass(kw_only=True)
class Run:
    id: int
    workflow: str  # file name
    number: int
    attempt: int
    event: str
    status: str
    conclusion: str | None
    head_sha: str
    head_branch: str | None
    head_repository: str
    actor: str
    triggering_actor: str
    title: str
    pulls: list[int]
    created_at: str
    updated_at: str
    inputs: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Job:
    id: int
    run: int
    attempt: int
    name: str
    status: str
    conclusion: str | None
    runner: str | None
    created_at: str
    started_at: str | None = None
    completed_at: str | None = None
    failed_step: str | None = None


@dataclass(kw_only=True)
class Artifact:
    id: int
    run: int
    name: str
    data: bytes
    created_at: str
    expired: bool = False

    @property
    def signature(self) -> str:
        """The signature in the link to the artifact's bytes."""
        return str(self.id * 7919)


@dataclass(kw_only=True)
class QueueEntry:
    """A pull request in a branch's merge queue."""

    id: int
    pull: int
    base: str
    head_sha: str  # at the time of queueing: this commit is merged, whatever is pushed later
    by: str
    by_workflow: bool  # a workflow's token queued it, so its events start no runs
    enqueued_at: str
    state: str = "QUEUED"  # AWAITING_CHECKS, MERGEABLE or UNMERGEABLE later
    group_base: str | None = (
        None  # the commit that the group is built on: the entry ahead, or the base branch
    )
    group_sha: str | None = None
    built_at: int = 0  # seconds since 1970


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event that GitHub would send to workflows."""

    name: str
    action: str | None
    sender: str
    payload: dict[str, Any]
    starts_runs: bool  # False for an action by a workflow token, except a dispatch
    waits_for_approval: bool = (
        False  # GitHub makes the runs, but a person with write access must approve them
    )


@dataclass(kw_only=True)
class State:
    accounts: dict[str, Account] = field(default_factory=dict)  # by login in lower case
    labels: dict[str, Label] = field(default_factory=dict)  # by name in lower case
    pulls: dict[int, Pull] = field(default_factory=dict)
    comments: dict[tuple[CommentKind, int], Comment] = field(default_factory=dict)
    timeline: list[TimelineEntry] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    workflows: list[str] = field(default_factory=list)
    runs: dict[int, Run] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    artifacts: dict[int, Artifact] = field(default_factory=dict)
    teams: dict[str, set[str]] = field(default_factory=dict)  # `org/team` → logins
    apps: dict[str, int] = field(default_factory=dict)  # login of an app → its id
    rulesets: list[Ruleset] = field(default_factory=list)
    protections: dict[str, Protection] = field(default_factory=dict)  # by branch
    methods: tuple[str, ...] = ("merge", "squash")  # that the repository's settings allow
    queue: list[QueueEntry] = field(default_factory=list)  # of all branches, first to last
    events: list[Event] = field(default_factory=list)
    # other repositories that take `repository_dispatch`, with the events that they got: name, payload, login
    neighbors: dict[str, list[tuple[str, dict[str, Any], str]]] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    ids: dict[str, int] = field(default_factory=dict)
