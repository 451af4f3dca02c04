"""From GitHub's JSON to the values of `infx.model`.

Odd but legal answers become ordinary values here: no user (a deleted account), no body, no fork, a user type or a
conclusion that this version does not know.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from infx.github.errors import UnexpectedReplyError
from infx.model import (
    GHOST,
    Artifact,
    ChangedFile,
    Collaborator,
    Comment,
    CommentKind,
    Commit,
    CommitStatus,
    Conclusion,
    FileStatus,
    Job,
    LabelEvent,
    Overview,
    PullRequest,
    PullSummary,
    Reaction,
    ReviewState,
    Run,
    StatusState,
    User,
    UserType,
)

_T = TypeVar("_T")

_LAST = datetime.max.replace(tzinfo=UTC).isoformat()  # of a draft, which is newer than whatever was submitted


def convert(kind: Callable[[Any], _T], data: Any) -> _T:
    """Raises UnexpectedReplyError where the JSON lacks what GitHub's description promises."""
    try:
        return kind(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        name = kind.__name__.strip("_").replace("_", " ")
        message = f"GitHub's answer is no {name}: {type(error).__name__} {error}."
        raise UnexpectedReplyError(message) from None


def user(data: Any) -> User:
    """Mannequins and organizations keep their type; types to come and none at all count as machines, so that nobody
    takes them for a person.
    """
    if not data or not data.get("login"):
        return GHOST
    kind = data.get("type")
    return User(login=data["login"], type=UserType(kind) if kind in set(UserType) else UserType.BOT)


def moment(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError(f"a time without a zone: {text}")
    return value


def _moment(text: str | None) -> datetime | None:
    return moment(text) if text else None


def pull_request(data: Any) -> PullRequest:
    return PullRequest(
        **_pull_fields(data),
        body=data.get("body") or "",
        is_merged=bool(data["merged"]),
        mergeable=data["mergeable"],
        changed_files=data["changed_files"],
        commits=data["commits"],
        comments=data.get("comments") or 0,
    )


def pull_summary(data: Any) -> PullSummary:
    return PullSummary(**_pull_fields(data), is_merged=bool(data.get("merged_at")))


def _pull_fields(data: Any) -> dict[str, Any]:
    """What a list of pull requests says as the pull request itself does."""
    return {
        "number": data["number"],
        "title": data["title"],
        "author": user(data.get("user")),
        "labels": tuple(label["name"] for label in data.get("labels") or ()),
        "is_open": data["state"] == "open",
        "is_draft": bool(data.get("draft")),
        "base_ref": data["base"]["ref"],
        "base_sha": data["base"]["sha"],
        "head_ref": data["head"]["ref"],
        "head_sha": data["head"]["sha"],
        "head_repository": data["head"]["repo"]["full_name"] if data["head"].get("repo") else None,
        "base_repository": data["base"]["repo"]["full_name"],
        "created_at": moment(data["created_at"]),
        "updated_at": moment(data["updated_at"]),
        "closed_at": _moment(data.get("closed_at")),
    }


def changed_file(data: Any) -> ChangedFile:
    """Paths from the root of the repository, never with a slash in front."""
    previous = data.get("previous_filename")
    return ChangedFile(
        path=data["filename"].lstrip("/"),
        status=FileStatus(data["status"]),
        previous_path=previous.lstrip("/") if previous else None,
        patch=data.get("patch"),
    )


def listed_commit(data: Any) -> Commit:
    """A commit as lists and `commits/{ref}` show it."""
    return Commit(
        sha=data["sha"],
        parents=tuple(parent["sha"] for parent in data["parents"]),
        message=data["commit"]["message"],
    )


def git_commit(data: Any) -> Commit:
    """A commit as the git database shows it: it knows addresses, not accounts."""
    return Commit(
        sha=data["sha"],
        parents=tuple(parent["sha"] for parent in data["parents"]),
        message=data["message"],
    )


def _number(url: str) -> int:
    """The pull request that a comment belongs to; only its address says so."""
    return int(url.rsplit("/", 1)[1])


def issue_comment(data: Any) -> Comment:
    return _comment(data, CommentKind.ISSUE, _number(data["issue_url"]), data["updated_at"])


def review_comment(data: Any) -> Comment:
    return _comment(data, CommentKind.REVIEW_COMMENT, _number(data["pull_request_url"]), data["updated_at"])


def review(data: Any) -> Comment:
    """GitHub says when a review was submitted, never when its summary was edited. A draft was not submitted yet."""
    is_draft = data["state"] == ReviewState.PENDING
    submitted_at = _LAST if is_draft else data["submitted_at"]
    return _comment(
        {**data, "created_at": submitted_at},
        CommentKind.REVIEW,
        _number(data["pull_request_url"]),
        submitted_at,
    )


def _comment(data: Any, kind: CommentKind, pull_number: int, updated_at: str) -> Comment:
    state = data.get("state") if kind is CommentKind.REVIEW else None
    return Comment(
        id=data["id"],
        kind=kind,
        author=user(data.get("user")),
        body=data.get("body") or "",
        created_at=moment(data["created_at"]),
        updated_at=moment(updated_at),
        url=data["html_url"],
        pull_number=pull_number,
        commit_sha=data.get("commit_id"),
        path=data.get("path"),
        review_state=ReviewState(state) if state else None,
        node_id=data.get("node_id") or "",
    )


def editors(data: Any) -> dict[str, str]:
    edited = [node for node in data["nodes"] if node["lastEditedAt"]]
    return {node["id"]: actor(node.get("editor")).login for node in edited}


def actor(data: Any) -> User:
    """GraphQL leaves `[bot]` out of an app's login, and anybody may be called like one. None: the account is gone."""
    if data is None:
        return GHOST
    login, kind = _must(str, data["login"]), _must(str, data["__typename"])
    return user({"login": f"{login}[bot]" if kind == "Bot" else login, "type": kind})


def overview(data: Any) -> Overview:
    """As GraphQL tells it. data: with the comments of every page."""
    pull = _overview_pull(data)
    (last,) = data["commits"]["nodes"]
    if last["commit"]["oid"] != pull.head_sha or _must(bool, data["labels"]["pageInfo"]["hasNextPage"]):
        raise ValueError("it is not of one moment, or not all of it")
    status = last["commit"]["status"]
    contexts = status["contexts"] if status is not None and pull.is_open else ()
    events = data["timelineItems"]
    return Overview(
        pull=pull,
        comments=tuple(_graph_comment(comment, pull.number) for comment in data["comments"]),
        statuses=tuple(_status_context(context) for context in contexts),
        label_events=tuple(_graph_label_event(event) for event in events["nodes"]),
        has_older_events=_must(bool, events["pageInfo"]["hasPreviousPage"]),
    )


def _must(kind: type[_T], value: Any) -> _T:
    """Where GitHub's schema promises something."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def text(value: Any) -> str:
    """A name or a SHA that must be there: null is none, not the word."""
    return _must(str, value)


def _is_open(state: str) -> bool:
    return {"OPEN": True, "CLOSED": False, "MERGED": False}[state]


_MERGEABLE = {"MERGEABLE": True, "CONFLICTING": False, "UNKNOWN": None}


def _overview_pull(data: Any) -> PullRequest:
    head = data["headRepository"]
    return PullRequest(
        number=_must(int, data["number"]),
        title=_must(str, data["title"]),
        body=data["body"] or "",
        author=actor(data["author"]),
        labels=tuple(_must(str, label["name"]) for label in data["labels"]["nodes"]),
        is_open=_is_open(data["state"]),
        is_merged=data["state"] == "MERGED",
        is_draft=_must(bool, data["isDraft"]),
        mergeable=_MERGEABLE[data["mergeable"]] if _is_open(data["state"]) else None,
        base_ref=_must(str, data["baseRefName"]),
        base_sha=_must(str, data["baseRefOid"]),
        head_ref=_must(str, data["headRefName"]),
        head_sha=_must(str, data["headRefOid"]),
        head_repository=_must(str, head["nameWithOwner"]) if head is not None else None,
        base_repository=_must(str, data["baseRepository"]["nameWithOwner"]),
        changed_files=_must(int, data["changedFiles"]),
        commits=_must(int, data["commits"]["totalCount"]),
        comments=len(data["comments"]),
        created_at=moment(data["createdAt"]),
        updated_at=moment(data["updatedAt"]),
        closed_at=_moment(data["closedAt"]),
    )


def _graph_comment(data: Any, pull_number: int) -> Comment:
    """Ids have outgrown the 32 bits of `databaseId`."""
    return Comment(
        id=int(data["fullDatabaseId"]),
        kind=CommentKind.ISSUE,
        author=actor(data["author"]),
        body=_must(str, data["body"]),
        created_at=moment(data["createdAt"]),
        updated_at=moment(data["updatedAt"]),
        url=_must(str, data["url"]),
        pull_number=pull_number,
        node_id=_must(str, data["id"]),
        editor=actor(data["editor"]) if data["lastEditedAt"] else None,
    )


def _status_context(data: Any) -> CommitStatus:
    """`EXPECTED` stands for a required status that nobody has set."""
    state = data["state"].lower()
    return CommitStatus(
        context=_must(str, data["context"]),
        state=StatusState.PENDING if state == "expected" else StatusState(state),
        description=data["description"] or "",
        target_url=data["targetUrl"] or "",
        creator=actor(data["creator"]),
        created_at=moment(data["createdAt"]),
    )


def _graph_label_event(data: Any) -> LabelEvent:
    return LabelEvent(
        label=_must(str, data["label"]["name"]),
        added=_must(str, data["__typename"]) == "LabeledEvent",
        actor=actor(data["actor"]),
        created_at=moment(data["createdAt"]),
    )


def reaction(data: Any) -> Reaction:
    return Reaction(id=data["id"], content=data["content"], author=user(data.get("user")))


def label_event(data: Any) -> LabelEvent:
    return LabelEvent(
        label=data["label"]["name"],
        added=data["event"] == "labeled",
        actor=user(data.get("actor")),
        created_at=moment(data["created_at"]),
    )


def _conclusion(text: str | None) -> Conclusion | None:
    """A conclusion that is not known here counts as a failure: nothing turns green by a new word."""
    if text is None:
        return None
    with contextlib.suppress(ValueError):
        return Conclusion(text)
    return Conclusion.FAILURE


def _pull_numbers(data: Any) -> tuple[int, ...]:
    """Of the run's own repository: GitHub also lists what forks have open from the same branch, such as main."""
    found = data.get("pull_requests") or ()
    return tuple(p["number"] for p in found if p["base"]["repo"]["id"] == data["repository"]["id"])


def run(data: Any) -> Run:
    repository = data.get("head_repository")
    return Run(
        id=data["id"],
        attempt=data.get("run_attempt") or 1,
        path=data["path"].split("@", 1)[0],
        event=data["event"],
        status=data["status"],
        conclusion=_conclusion(data["conclusion"]),
        head_sha=data["head_sha"],
        head_branch=data.get("head_branch"),
        head_repository=repository["full_name"] if repository else None,
        url=data["html_url"],
        created_at=moment(data["created_at"]),
        updated_at=moment(data["updated_at"]),
        title=data.get("display_title") or "",
        pull_numbers=_pull_numbers(data),
        actor=user(data.get("actor")),
        triggering_actor=user(data.get("triggering_actor")),
    )


def job(data: Any) -> Job:
    return Job(
        id=data["id"],
        run_id=data["run_id"],
        attempt=data.get("run_attempt") or 1,
        name=data["name"],
        status=data["status"],
        conclusion=_conclusion(data["conclusion"]),
        url=data.get("html_url") or "",
        started_at=_moment(data.get("started_at")),
        completed_at=_moment(data.get("completed_at")),
        failed_steps=tuple(
            step["name"] for step in data.get("steps") or () if step["conclusion"] == "failure"
        ),
    )


def artifact(data: Any) -> Artifact:
    source = data["workflow_run"]
    return Artifact(
        id=data["id"],
        name=data["name"],
        size=data["size_in_bytes"],
        expired=data["expired"],
        run_id=source["id"],
        head_sha=source["head_sha"],
        created_at=moment(data["created_at"]),
    )


def commit_status(data: Any) -> CommitStatus:
    return CommitStatus(
        context=data["context"],
        state=StatusState(data["state"]),
        description=data.get("description") or "",
        target_url=data.get("target_url") or "",
        creator=user(data.get("creator")),
        created_at=_moment(data.get("created_at")),
    )


def collaborator(data: Any) -> Collaborator:
    account = data.get("user") or {}
    return Collaborator(
        login=account.get("login") or "",
        permission=_must(str, data["permission"]),
        role=data.get("role_name") or data["permission"],
    )
