"""The merge queue in GraphQL: the mutations that queue a pull request, and the fields that show the queue."""

from __future__ import annotations

from infx.hub import render
from infx.hub.graph.basis import Arguments, ConnectionItems, FieldError, Spec, Thing, actor, plain, require
from infx.hub.refusal import Refused
from infx.hub.router import Call
from infx.hub.state import Pull, QueueEntry, TimelineEntry

_NEEDS = "contents=write,pull_requests=write"


def _find_pull(call: Call, node: object) -> Pull:
    for pull in call.hub.state.pulls.values():
        if render.node("PR", pull.id) == node:
            return pull
    raise FieldError("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'")


def _enqueue(call: Call, value: object, arguments: Arguments) -> Thing:
    asked = arguments.get("input") or {}
    pull = _change(call, asked.get("pullRequestId"))
    sha, jump = asked.get("expectedHeadOid"), bool(asked.get("jump"))
    try:
        entry = call.hub.enqueue(pull.number, by=call.login, sha=sha, jump=jump)
    except Refused as refused:
        raise FieldError("UNPROCESSABLE", refused.message) from None
    return Thing("EnqueuePullRequestPayload", (entry, asked.get("clientMutationId")))


def _dequeue(call: Call, value: object, arguments: Arguments) -> Thing:
    asked = arguments.get("input") or {}
    pull = _change(call, asked.get("id"))
    try:
        entry = call.hub.dequeue(pull.number, by=call.login)
    except Refused as refused:
        raise FieldError("UNPROCESSABLE", refused.message) from None
    return Thing("DequeuePullRequestPayload", (entry, asked.get("clientMutationId")))


def _change(call: Call, node: object) -> Pull:
    """Return the pull request that the token may queue. Raises FieldError."""
    if call.is_person_without("write"):
        words = f"{call.login} does not have the correct permissions to execute the mutation"
        raise FieldError("FORBIDDEN", words)
    require(call, _NEEDS)
    return _find_pull(call, node)


def _pull_of(call: Call, entry: QueueEntry, arguments: Arguments) -> Thing:
    return Thing("PullRequest", call.hub.state.pulls[entry.pull])


def _position(call: Call, entry: QueueEntry, arguments: Arguments) -> int:
    """Return the place in the queue, which begins with 1; 0 after the entry has left the queue."""
    entries = call.hub.entries_of(entry.base)
    return entries.index(entry) + 1 if entry in entries else 0


def _commit(sha: str | None) -> Thing | None:
    return None if sha is None else Thing("Commit", sha)


def read_queue(call: Call, value: object, arguments: Arguments) -> Thing | None:
    """Return the queue of the branch that the argument names, by default of the default branch."""
    branch = arguments.get("branch") or call.hub.branch
    return Thing("MergeQueue", branch) if call.hub.queue_rule(branch) is not None else None


def _entries(call: Call, branch: str, arguments: Arguments) -> ConnectionItems:
    entries = enumerate(call.hub.entries_of(branch), 1)
    return ConnectionItems([(index, Thing("MergeQueueEntry", entry)) for index, entry in entries])


def _entry_of(call: Call, pull: Pull, arguments: Arguments) -> Thing | None:
    entry = call.hub.find_entry(pull.number)
    return None if entry is None else Thing("MergeQueueEntry", entry)


def _queue_of(call: Call, pull: Pull, arguments: Arguments) -> Thing | None:
    return read_queue(call, None, {"branch": pull.base_ref})


def _merge_commit(call: Call, pull: Pull, arguments: Arguments) -> Thing | None:
    return _commit(pull.merge_sha if pull.merged_at else None)


MUTATIONS = {
    "enqueuePullRequest": Spec(_enqueue, "EnqueuePullRequestPayload"),
    "dequeuePullRequest": Spec(_dequeue, "DequeuePullRequestPayload"),
}
PAYLOAD = {
    "mergeQueueEntry": Spec(
        lambda call, made, arguments: Thing("MergeQueueEntry", made[0]), "MergeQueueEntry"
    ),
    "clientMutationId": plain(lambda made: made[1]),
}
QUEUE = {
    "id": plain(lambda branch: f"MQ_{branch}"),
    "entries": Spec(_entries, "MergeQueueEntry", pages=True),
    "url": Spec(lambda call, branch, arguments: render.page(call.hub, "queue", branch)),
}
ENTRY = {
    "id": plain(lambda entry: render.node("MQE", entry.id)),
    "position": Spec(_position),
    "state": plain(lambda entry: entry.state),
    "enqueuedAt": plain(lambda entry: entry.enqueued_at),
    "enqueuer": actor(lambda entry: entry.by),
    "baseCommit": Spec(lambda call, entry, arguments: _commit(entry.group_base), "Commit"),
    "headCommit": Spec(lambda call, entry, arguments: _commit(entry.group_sha), "Commit"),
    "pullRequest": Spec(_pull_of, "PullRequest"),
}
PULL = {
    "isInMergeQueue": Spec(lambda call, pull, arguments: call.hub.find_entry(pull.number) is not None),
    "isMergeQueueEnabled": Spec(lambda call, pull, arguments: call.hub.queue_rule(pull.base_ref) is not None),
    "mergeQueueEntry": Spec(_entry_of, "MergeQueueEntry"),
    "mergeQueue": Spec(_queue_of, "MergeQueue"),
    "mergeCommit": Spec(_merge_commit, "Commit"),
    "merged": plain(lambda pull: pull.merged_at is not None),
    "mergedAt": plain(lambda pull: pull.merged_at),
}
ADDED = {
    "actor": actor(lambda entry: entry.actor),
    "createdAt": plain(lambda entry: entry.created_at),
}


def _before(call: Call, entry: TimelineEntry, arguments: Arguments) -> Thing | None:
    return _commit(entry.group_sha)


REMOVED = {
    **ADDED,
    "reason": plain(lambda entry: entry.reason),
    "beforeCommit": Spec(_before, "Commit"),
}
