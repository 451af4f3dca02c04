"""Convert GitHub's JSON to the values of `infx.model`.

Unusual but valid answers become ordinary values: no user (a deleted account), no body, no fork, an unknown
user type or conclusion.
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

_LAST = datetime.max.replace(
    tzinfo=UTC
).isoformat()  # time of a draft review, later than every submitted review


def convert(parse: Callable[[Any], _T], data: Any) -> _T:
    """Apply a parse function. Raises UnexpectedReplyError if the JSON is not as GitHub describes it."""
    try:
        return parse(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        name = parse.__name__.strip("_").removeprefix("parse_").replace("_", " ")
        message = f"GitHub's answer is not a valid {name}: {type(error).__name__} {error}."
        raise UnexpectedReplyError(message) from None


def parse_user(data: Any) -> User:
    """Convert an account."""
    if not data or not data.get("login"):
        return GHOST
    kind = data.get("type")  # an unknown or missing type counts as a bot: it must not get a person's rights
    return User(login=data["login"], type=UserType(kind) if kind in set(UserType) else UserType.BOT)


def parse_moment(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError(f"a time without a zone: {text}")
    return value


def _parse_optional_moment(text: str | None) -> datetime | None:
    return parse_moment(text) if text else None


def parse_pull_request(data: Any) -> PullRequest:
    return PullRequest(
        **_parse_pull_fields(data),
        body=data.get("body") or "",
        is_merged=bool(data["merged"]),
        mergeable=data["mergeable"],
        changed_files=data["changed_files"],
        commits=data["commits"],
        comments=data.get("comments") or 0,
    )


def parse_pull_summary(data: Any) -> PullSummary:
    return PullSummary(**_parse_pull_fields(data), is_merged=bool(data.get("merged_at")))


def _parse_pull_fields(data: Any) -> dict[str, Any]:
    """Convert the fields that lists of pull requests have, too."""
    return {
        "number": data["number"],
        "title": data["title"],
        "author": parse_user(data.get("user")),
        "labels": tuple(label["name"] for label in data.get("labels") or ()),
        "is_open": data["state"] == "open",
        "is_draft": bool(data.get("draft")),
        "base_ref": data["base"]["ref"],
        "base_sha": data["base"]["sha"],
        "head_ref": data["head"]["ref"],
        "head_sha": data["head"]["sha"],
        "head_repository": data["head"]["repo"]["full_name"] if data["head"].get("repo") else None,
        "base_repository": data["base"]["repo"]["full_name"],
        "created_at": parse_moment(data["created_at"]),
        "updated_at": parse_moment(data["updated_at"]),
        "closed_at": _parse_optional_moment(data.get("closed_at")),
    }


def parse_changed_file(data: Any) -> ChangedFile:
    """Convert a changed file; its paths start at the repository's root, without a leading slash."""
    previous = data.get("previous_filename")
    return ChangedFile(
        path=data["filename"].lstrip("/"),
        status=FileStatus(data["status"]),
        previous_path=previous.lstrip("/") if previous else None,
        patch=data.get("patch"),
    )


def parse_listed_commit(data: Any) -> Commit:
    """Convert a commit of a list or of `commits/{ref}`."""
    return Commit(
        sha=data["sha"],
        parents=tuple(parent["sha"] for parent in data["parents"]),
        message=data["commit"]["message"],
    )


def parse_git_commit(data: Any) -> Commit:
    """Convert a commit of the git database, which has mail addresses but no accounts."""
    return Commit(
        sha=data["sha"],
        parents=tuple(parent["sha"] for parent in data["parents"]),
        message=data["message"],
    )


def _parse_pull_number(url: str) -> int:
    """Return the number of a comment's pull request, which only a URL contains."""
    return int(url.rsplit("/", 1)[1])


def parse_issue_comment(data: Any) -> Comment:
    return _parse_comment(data, CommentKind.ISSUE, _parse_pull_number(data["issue_url"]), data["updated_at"])


def parse_review_comment(data: Any) -> Comment:
    return _parse_comment(
        data, CommentKind.REVIEW_COMMENT, _parse_pull_number(data["pull_request_url"]), data["updated_at"]
    )


def parse_review(data: Any) -> Comment:
    """Convert a review; GitHub has the time of its submission, but not of edits of its summary."""
    is_draft = data["state"] == ReviewState.PENDING
    submitted_at = _LAST if is_draft else data["submitted_at"]
    return _parse_comment(
        {**data, "created_at": submitted_at},
        CommentKind.REVIEW,
        _parse_pull_number(data["pull_request_url"]),
        submitted_at,
    )


def _parse_comment(data: Any, kind: CommentKind, pull_number: int, updated_at: str) -> Comment:
    state = data.get("state") if kind is CommentKind.REVIEW else None
    return Comment(
        id=data["id"],
        kind=kind,
        author=parse_user(data.get("user")),
        body=data.get("body") or "",
        created_at=parse_moment(data["created_at"]),
        updated_at=parse_moment(updated_at),
        url=data["html_url"],
        pull_number=pull_number,
        commit_sha=data.get("commit_id"),
        path=data.get("path"),
        review_state=ReviewState(state) if state else None,
        node_id=data.get("node_id") or "",
        association=data.get("author_association") or "",
        reactions=_parse_counts(data.get("reactions")),
    )


def _parse_counts(data: Any) -> tuple[str, ...] | None:
    """Return the kinds of reactions that GitHub counts at a comment, or None if it does not count them."""
    if data is None:
        return None
    return tuple(sorted(kind for kind in _REACTIONS.values() if data[kind]))


def parse_editors(data: Any) -> dict[str, str]:
    edited = [node for node in data["nodes"] if node["lastEditedAt"]]
    return {node["id"]: parse_actor(node.get("editor")).login for node in edited}


# GraphQL's names of reactions → those of REST
_REACTIONS = {
    "THUMBS_UP": "+1",
    "THUMBS_DOWN": "-1",
    "LAUGH": "laugh",
    "CONFUSED": "confused",
    "HEART": "heart",
    "HOORAY": "hooray",
    "ROCKET": "rocket",
    "EYES": "eyes",
}


def _parse_reaction_groups(data: Any) -> tuple[str, ...] | None:
    """Return the kinds of reactions at a comment of GraphQL, which lists every kind, with a time if it is used."""
    if data is None:
        return None
    used = [
        _require(str, group["content"])
        for group in data
        if _require(bool, group["viewerHasReacted"]) or group["createdAt"]
    ]
    return tuple(sorted(_REACTIONS.get(kind, kind.lower()) for kind in used))


def parse_actor(data: Any) -> User:
    """Convert GraphQL's account; None is a deleted one."""
    if data is None:
        return GHOST
    login, kind = _require(str, data["login"]), _require(str, data["__typename"])
    # GraphQL leaves `[bot]` out of an app's login, and a person may have the same login
    return parse_user({"login": f"{login}[bot]" if kind == "Bot" else login, "type": kind})


def parse_overview(data: Any) -> Overview:
    """Convert a pull request of GraphQL. data: with the comments of every page."""
    pull = _parse_overview_pull(data)
    (last,) = data["commits"]["nodes"]
    if last["commit"]["oid"] != pull.head_sha or _require(bool, data["labels"]["pageInfo"]["hasNextPage"]):
        raise ValueError("the head changed meanwhile, or there are more labels")
    status = last["commit"]["status"]
    contexts = status["contexts"] if status is not None and pull.is_open else ()
    events = data["timelineItems"]
    return Overview(
        pull=pull,
        comments=tuple(_parse_graph_comment(comment, pull.number) for comment in data["comments"]),
        statuses=tuple(_parse_status_context(context) for context in contexts),
        label_events=tuple(_parse_graph_label_event(event) for event in events["nodes"]),
        has_older_events=_require(bool, events["pageInfo"]["hasPreviousPage"]),
    )


def _require(kind: type[_T], value: Any) -> _T:
    """Return a value that GitHub's schema promises. Raises TypeError if it is missing or of another type."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value


def require_text(value: Any) -> str:
    """Return a name or SHA. Raises TypeError for null, which `str` would turn into "None"."""
    return _require(str, value)


def _is_open(state: str) -> bool:
    return {"OPEN": True, "CLOSED": False, "MERGED": False}[state]


_MERGEABLE = {"MERGEABLE": True, "CONFLICTING": False, "UNKNOWN": None}


def _parse_overview_pull(data: Any) -> PullRequest:
    head = data["headRepository"]
    return PullRequest(
        number=_require(int, data["number"]),
        title=_require(str, data["title"]),
        body=data["body"] or "",
        author=parse_actor(data["author"]),
        labels=tuple(_require(str, label["name"]) for label in data["labels"]["nodes"]),
        is_open=_is_open(data["state"]),
        is_merged=data["state"] == "MERGED",
        is_draft=_require(bool, data["isDraft"]),
        mergeable=_MERGEABLE[data["mergeable"]] if _is_open(data["state"]) else None,
        base_ref=_require(str, data["baseRefName"]),
        base_sha=_require(str, data["baseRefOid"]),
        head_ref=_require(str, data["headRefName"]),
        head_sha=_require(str, data["headRefOid"]),
        head_repository=_require(str, head["nameWithOwner"]) if head is not None else None,
        base_repository=_require(str, data["baseRepository"]["nameWithOwner"]),
        changed_files=_require(int, data["changedFiles"]),
        commits=_require(int, data["commits"]["totalCount"]),
        comments=len(data["comments"]),
        created_at=parse_moment(data["createdAt"]),
        updated_at=parse_moment(data["updatedAt"]),
        closed_at=_parse_optional_moment(data["closedAt"]),
    )


def _parse_graph_comment(data: Any, pull_number: int) -> Comment:
    return Comment(
        id=int(data["fullDatabaseId"]),  # ids have outgrown the 32 bits of `databaseId`
        kind=CommentKind.ISSUE,
        author=parse_actor(data["author"]),
        body=_require(str, data["body"]),
        created_at=parse_moment(data["createdAt"]),
        updated_at=parse_moment(data["updatedAt"]),
        url=_require(str, data["url"]),
        pull_number=pull_number,
        node_id=_require(str, data["id"]),
        editor=parse_actor(data["editor"]) if data["lastEditedAt"] else None,
        association=_require(str, data["authorAssociation"]),
        reactions=_parse_reaction_groups(data["reactionGroups"]),
    )


def _parse_status_context(data: Any) -> CommitStatus:
    state = data["state"].lower()  # EXPECTED: a required status that no one has set
    return CommitStatus(
        context=_require(str, data["context"]),
        state=StatusState.PENDING if state == "expected" else StatusState(state),
        description=data["description"] or "",
        target_url=data["targetUrl"] or "",
        creator=parse_actor(data["creator"]),
        created_at=parse_moment(data["createdAt"]),
    )


def _parse_graph_label_event(data: Any) -> LabelEvent:
    return LabelEvent(
        label=_require(str, data["label"]["name"]),
        added=_require(str, data["__typename"]) == "LabeledEvent",
        actor=parse_actor(data["actor"]),
        created_at=parse_moment(data["createdAt"]),
    )


def parse_reaction(data: Any) -> Reaction:
    return Reaction(id=data["id"], content=data["content"], author=parse_user(data.get("user")))


def parse_label_event(data: Any) -> LabelEvent:
    return LabelEvent(
        label=data["label"]["name"],
        added=data["event"] == "labeled",
        actor=parse_user(data.get("actor")),
        created_at=parse_moment(data["created_at"]),
    )


def _parse_conclusion(text: str | None) -> Conclusion | None:
    """Convert a conclusion; an unknown one counts as a failure, so that it never makes a success."""
    if text is None:
        return None
    with contextlib.suppress(ValueError):
        return Conclusion(text)
    return Conclusion.FAILURE


def _parse_pull_numbers(data: Any) -> tuple[int, ...]:
    """Return a run's pull requests in its repository; GitHub also lists those of forks with the branch."""
    pulls = data.get("pull_requests") or ()
    return tuple(p["number"] for p in pulls if p["base"]["repo"]["id"] == data["repository"]["id"])


def parse_run(data: Any) -> Run:
    repository = data.get("head_repository")
    return Run(
        id=data["id"],
        attempt=data.get("run_attempt") or 1,
        path=data["path"].split("@", 1)[0],
        event=data["event"],
        status=data["status"],
        conclusion=_parse_conclusion(data["conclusion"]),
        head_sha=data["head_sha"],
        head_branch=data.get("head_branch"),
        head_repository=repository["full_name"] if repository else None,
        url=data["html_url"],
        created_at=parse_moment(data["created_at"]),
        updated_at=parse_moment(data["updated_at"]),
        title=data.get("display_title") or "",
        pull_numbers=_parse_pull_numbers(data),
        actor=parse_user(data.get("actor")),
        triggering_actor=parse_user(data.get("triggering_actor")),
    )


def parse_job(data: Any) -> Job:
    return Job(
        id=data["id"],
        run_id=data["run_id"],
        attempt=data.get("run_attempt") or 1,
        name=data["name"],
        status=data["status"],
        conclusion=_parse_conclusion(data["conclusion"]),
        url=data.get("html_url") or "",
        started_at=_parse_optional_moment(data.get("started_at")),
        completed_at=_parse_optional_moment(data.get("completed_at")),
        failed_steps=tuple(
            step["name"] for step in data.get("steps") or () if step["conclusion"] == "failure"
        ),
    )


def parse_artifact(data: Any) -> Artifact:
    source = data["workflow_run"]
    return Artifact(
        id=data["id"],
        name=data["name"],
        size=data["size_in_bytes"],
        expired=data["expired"],
        run_id=source["id"],
        head_sha=source["head_sha"],
        created_at=parse_moment(data["created_at"]),
    )


def parse_commit_status(data: Any) -> CommitStatus:
    return CommitStatus(
        context=data["context"],
        state=StatusState(data["state"]),
        description=data.get("description") or "",
        target_url=data.get("target_url") or "",
        creator=parse_user(data.get("creator")),
        created_at=_parse_optional_moment(data.get("created_at")),
    )


def parse_collaborator(data: Any) -> Collaborator:
    account = data.get("user") or {}
    return Collaborator(
        login=account.get("login") or "",
        permission=_require(str, data["permission"]),
        role=data.get("role_name") or data["permission"],
    )
