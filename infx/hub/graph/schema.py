"""The hub's part of GitHub's GraphQL schema: types, their fields, and a function that reads each field.

The names and types are from GitHub's public schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from infx.hub import render
from infx.hub.graph import queue
from infx.hub.graph.basis import Arguments, ConnectionItems, FieldError, Spec, Thing, actor, plain, require
from infx.hub.router import Call
from infx.hub.state import Comment, Pull
from infx.model import CommentKind

NODES = {CommentKind.ISSUE: "IC", CommentKind.REVIEW: "PRR", CommentKind.REVIEW_COMMENT: "PRRC"}
_COMMENT_TYPES = {
    CommentKind.ISSUE: "IssueComment",
    CommentKind.REVIEW: "PullRequestReview",
    CommentKind.REVIEW_COMMENT: "PullRequestReviewComment",
}
_EVENT_TYPES = {
    "labeled": "LabeledEvent",
    "unlabeled": "UnlabeledEvent",
    "added_to_merge_queue": "AddedToMergeQueueEvent",
    "removed_from_merge_queue": "RemovedFromMergeQueueEvent",
}

# the names of reactions → those of REST
REACTIONS = {
    "THUMBS_UP": "+1",
    "THUMBS_DOWN": "-1",
    "LAUGH": "laugh",
    "HOORAY": "hooray",
    "CONFUSED": "confused",
    "HEART": "heart",
    "ROCKET": "rocket",
    "EYES": "eyes",
}

# interface or union → its types
MEMBERS = {
    "Node": {*_COMMENT_TYPES.values(), "PullRequest"},
    "Comment": {*_COMMENT_TYPES.values(), "PullRequest"},
    "Actor": {"User", "Bot", "Mannequin", "Organization"},
    "PullRequestTimelineItems": set(_EVENT_TYPES.values()),
}


def _repository(call: Call, value: Any, arguments: Arguments) -> Thing:
    name = f"{arguments.get('owner')}/{arguments.get('name')}"
    if name.lower() != call.hub.repository.lower():
        raise FieldError("NOT_FOUND", f"Could not resolve to a Repository with the name '{name}'.")
    return Thing("Repository", call.hub.repository)


def _nodes(call: Call, value: Any, arguments: Arguments) -> list[Thing | FieldError]:
    require(call, "pull_requests=read")
    known = {render.node(NODES[c.kind], c.id): c for c in call.hub.state.comments.values()}
    return [
        Thing(_COMMENT_TYPES[known[node].kind], known[node])
        if node in known
        else FieldError("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'")
        for node in arguments.get("ids") or ()
    ]


def _pull(call: Call, value: Any, arguments: Arguments) -> Thing:
    require(call, "pull_requests=read")
    number = arguments.get("number")
    if number not in call.hub.state.pulls:
        raise FieldError("NOT_FOUND", f"Could not resolve to a PullRequest with the number of {number}.")
    return Thing("PullRequest", call.hub.state.pulls[number])


def _mergeable(call: Call, pull: Pull, arguments: Arguments) -> str:
    # as in REST, GitHub computes it when a client asks
    if pull.unknown_reads > 0:
        pull.unknown_reads -= 1
        return "UNKNOWN"
    call.hub.compute_merge(pull)
    known = pull.mergeable if pull.is_open else None
    return {None: "UNKNOWN", True: "MERGEABLE", False: "CONFLICTING"}[known]


def _state(pull: Pull) -> str:
    return "OPEN" if pull.is_open else "MERGED" if pull.merged_at else "CLOSED"


def _comments(call: Call, pull: Pull, arguments: Arguments) -> ConnectionItems:
    comments = call.hub.comments_of(pull.number)
    return ConnectionItems([(comment.id, Thing("IssueComment", comment)) for comment in comments])


def _labels(call: Call, pull: Pull, arguments: Arguments) -> ConnectionItems:
    return ConnectionItems(
        [(index, Thing("Label", label.name)) for index, label in enumerate(pull.labels, 1)]
    )


def _commits(call: Call, pull: Pull, arguments: Arguments) -> ConnectionItems:
    shas = call.hub.git.commits_between(call.hub.find_base(pull), pull.head_sha)
    return ConnectionItems([(index, Thing("PullRequestCommit", sha)) for index, sha in enumerate(shas, 1)])


def _timeline(call: Call, pull: Pull, arguments: Arguments) -> ConnectionItems:
    """Return the events of the types that this schema has."""
    wanted = arguments.get("itemTypes") or [f"{event.upper()}_EVENT" for event in _EVENT_TYPES]
    entries = [entry for entry in call.hub.state.timeline if entry.pull == pull.number]
    shown = [entry for entry in entries if f"{entry.event.upper()}_EVENT" in wanted]
    return ConnectionItems(
        [(e.id, Thing(_EVENT_TYPES[e.event], e)) for e in shown if e.event in _EVENT_TYPES]
    )


def _status(call: Call, sha: str, arguments: Arguments) -> Thing | None:
    """Return the newest status of each context, or None for a commit without statuses."""
    require(call, "statuses=read")
    newest = {status.context: status for status in call.hub.state.statuses if status.sha == sha}
    return Thing("Status", list(newest.values())) if newest else None


def _url(call: Call, comment: Comment, arguments: Arguments) -> str:
    shown = {
        CommentKind.ISSUE: render.issue_comment,
        CommentKind.REVIEW: render.review,
        CommentKind.REVIEW_COMMENT: render.review_comment,
    }
    return str(shown[comment.kind](call.hub, comment)["html_url"])


def _reaction_groups(call: Call, comment: Comment, arguments: Arguments) -> list[Thing]:
    """Return a group for every kind of reaction; one that no one has used has no time."""
    groups = []
    for kind, content in REACTIONS.items():
        reactions = [reaction for reaction in comment.reactions if reaction.content == content]
        group = {
            "content": kind,
            "createdAt": reactions[0].created_at if reactions else None,
            "viewerHasReacted": any(reaction.author == call.login for reaction in reactions),
        }
        groups.append(Thing("ReactionGroup", group))
    return groups


def _named(name: str | None) -> Thing | None:
    return None if name is None else Thing("Repository", name)


_ACTOR = {"login": plain(lambda login: login)}
_COMMENT = {
    "id": plain(lambda comment: render.node(NODES[comment.kind], comment.id)),
    "author": actor(lambda comment: comment.author),
    "authorAssociation": Spec(lambda call, comment, arguments: call.hub.association(comment.author)),
    "body": plain(lambda comment: comment.body or ""),
    "createdAt": plain(lambda comment: comment.created_at),
    "updatedAt": plain(lambda comment: comment.updated_at),
    "lastEditedAt": plain(lambda comment: comment.updated_at if comment.editor else None),
    "editor": actor(lambda comment: comment.editor),
}
_FULL_COMMENT = {
    **_COMMENT,
    "fullDatabaseId": plain(lambda comment: str(comment.id)),  # JSON has a BigInt as text
    "url": Spec(_url),
    "reactionGroups": Spec(_reaction_groups, "ReactionGroup"),
}


_LABEL_EVENT = {
    "actor": actor(lambda entry: entry.actor),
    "createdAt": plain(lambda entry: entry.created_at),
    "label": Spec(lambda call, entry, arguments: Thing("Label", entry.label), "Label"),
}

SCHEMA: dict[str, dict[str, Spec]] = {
    "Mutation": queue.MUTATIONS,
    "EnqueuePullRequestPayload": queue.PAYLOAD,
    "DequeuePullRequestPayload": queue.PAYLOAD,
    "MergeQueue": queue.QUEUE,
    "MergeQueueEntry": queue.ENTRY,
    "AddedToMergeQueueEvent": queue.ADDED,
    "RemovedFromMergeQueueEvent": queue.REMOVED,
    "Query": {
        "repository": Spec(_repository, "Repository"),
        "nodes": Spec(_nodes, "Node"),
        "viewer": Spec(lambda call, value, arguments: Thing("User", call.login), "Actor"),
        "rateLimit": Spec(lambda call, value, arguments: Thing("RateLimit", value), "RateLimit"),
    },
    "RateLimit": {
        name: plain(itemgetter(name))
        for name in ("cost", "limit", "nodeCount", "remaining", "resetAt", "used")
    },
    "Repository": {
        "nameWithOwner": plain(lambda name: name),
        "pullRequest": Spec(_pull, "PullRequest"),
        "mergeQueue": Spec(queue.read_queue, "MergeQueue"),
    },
    "PullRequest": {
        **queue.PULL,
        "id": plain(lambda pull: render.node("PR", pull.id)),
        "number": plain(lambda pull: pull.number),
        "title": plain(lambda pull: pull.title),
        "body": plain(lambda pull: pull.body or ""),
        "author": actor(lambda pull: pull.author),
        "state": plain(_state),
        "isDraft": plain(lambda pull: pull.draft),
        "mergeable": Spec(_mergeable),
        "baseRefName": plain(lambda pull: pull.base_ref),
        "baseRefOid": plain(lambda pull: pull.base_sha),
        "headRefName": plain(lambda pull: pull.head_ref),
        "headRefOid": plain(lambda pull: pull.head_sha),
        "headRepository": Spec(lambda call, pull, arguments: _named(pull.head_repository), "Repository"),
        "baseRepository": Spec(lambda call, pull, arguments: _named(call.hub.repository), "Repository"),
        "changedFiles": Spec(
            lambda call, pull, arguments: len(call.hub.git.changes(call.hub.find_base(pull), pull.head_sha))
        ),
        "createdAt": plain(lambda pull: pull.created_at),
        "updatedAt": plain(lambda pull: pull.updated_at),
        "closedAt": plain(lambda pull: pull.closed_at),
        "labels": Spec(_labels, "Label", pages=True),
        "comments": Spec(_comments, "IssueComment", pages=True),
        "commits": Spec(_commits, "PullRequestCommit", pages=True),
        "timelineItems": Spec(_timeline, "PullRequestTimelineItems", pages=True),
    },
    "Label": {"name": plain(lambda name: name)},
    "PullRequestCommit": {"commit": Spec(lambda call, sha, arguments: Thing("Commit", sha), "Commit")},
    "Commit": {"oid": plain(lambda sha: sha), "status": Spec(_status, "Status")},
    "Status": {
        "contexts": Spec(
            lambda call, statuses, arguments: [Thing("StatusContext", status) for status in statuses],
            "StatusContext",
        )
    },
    "StatusContext": {
        "context": plain(lambda status: status.context),
        "state": plain(lambda status: status.state.upper()),
        "description": plain(lambda status: status.description),
        "targetUrl": plain(lambda status: status.target_url),
        "creator": actor(lambda status: status.creator),
        "createdAt": plain(lambda status: status.created_at),
    },
    "LabeledEvent": _LABEL_EVENT,
    "UnlabeledEvent": _LABEL_EVENT,
    **dict.fromkeys(_COMMENT_TYPES.values(), _FULL_COMMENT),
    **dict.fromkeys(MEMBERS["Actor"], _ACTOR),
    "ReactionGroup": {name: plain(itemgetter(name)) for name in ("content", "createdAt", "viewerHasReacted")},
    "Node": {"id": _COMMENT["id"]},
    "Comment": _COMMENT,
    "Actor": _ACTOR,
    "PullRequestTimelineItems": {},
    "PageInfo": {
        name: plain(itemgetter(name))
        for name in ("hasNextPage", "hasPreviousPage", "startCursor", "endCursor")
    },
}


def find_fields(kind: str) -> Mapping[str, Spec]:
    """Return the fields of a type, or of the connection type `XConnection` of a type `X`."""
    item = kind.removesuffix("Connection")
    if item == kind:
        return SCHEMA[kind]
    return {
        "totalCount": plain(lambda page: page["totalCount"]),
        "pageInfo": Spec(lambda call, page, arguments: Thing("PageInfo", page["pageInfo"]), "PageInfo"),
        "nodes": Spec(lambda call, page, arguments: page["nodes"], item),
    }


def is_of_type(concrete: str, kind: str | None) -> bool:
    """Return whether a concrete type is `kind` or belongs to it, if `kind` is an interface or union."""
    return kind is None or concrete == kind or concrete in MEMBERS.get(kind, ())
