"""Routes for pull requests, their labels and their timeline."""

from __future__ import annotations

from typing import Any

from infx.hub import render
from infx.hub.exchange import Answer
from infx.hub.refusal import Refused, refuse_field
from infx.hub.router import Call, Field, paginate, route
from infx.hub.state import Pull

REPO = "/repos/{owner}/{repo}"
READ = "pull_requests=read"
WRITE = "pull_requests=write"
EITHER_READ = "issues=read; pull_requests=read"
EITHER_WRITE = "issues=write; pull_requests=write"
BODY = Field(is_nullable=True, longest=65_536)
MAX_FILES, MAX_COMMITS = 3000, 250  # GitHub cuts longer lists without a warning


def find_pull(call: Call) -> Pull:
    pull = call.hub.state.pulls.get(call.number("number"))
    if pull is None:
        raise Refused(404, "Not Found")
    return pull


@route("GET", f"{REPO}/pulls", needs=READ)
def list_pulls(call: Call) -> Answer:
    query = call.query
    state = query.get("state", "open")
    matching = [
        pull
        for pull in call.hub.state.pulls.values()
        if state == "all" or pull.is_open == (state == "open")
        if query.get("base") in {None, pull.base_ref}
        if query.get("head") in {None, f"{pull.head_owner}:{pull.head_ref}"}
    ]
    by_update = query.get("sort") == "updated"
    matching.sort(key=lambda pull: (pull.updated_at if by_update else pull.created_at, pull.number))
    if query.get("direction", "desc") == "desc":
        matching.reverse()
    return paginate(call, matching, render=render.pull_summary)


@route(
    "POST",
    f"{REPO}/pulls",
    needs=WRITE,
    role="none",
    resource="PullRequest",
    fields={
        "title": Field(is_required=True),
        "head": Field(is_required=True),
        "head_repo": Field(),
        "base": Field(is_required=True),
        "body": BODY,
        "maintainer_can_modify": Field(kind=bool),
        "draft": Field(kind=bool),
        "issue": Field(kind=int),
    },
)
def create_pull(call: Call) -> Answer:
    """Open a pull request from a branch of this repository (if the person may push) or of a fork."""
    if "issue" in call.body:
        raise refuse_field("This hub has no issues.", resource="PullRequest", field="issue")
    owner, _, ref = call.body["head"].rpartition(":")
    own = call.hub.repository.split("/")
    repository = None if owner in {"", own[0]} else f"{owner}/{own[1]}"
    if repository is None and call.is_person_without("write"):
        raise Refused(403, "Resource not accessible by personal access token")
    pull = call.hub.open_pull(
        ref,
        title=call.body["title"],
        body=call.body.get("body"),
        by=call.login,
        base=call.body["base"],
        repository=call.body.get("head_repo", repository),
        draft=call.body.get("draft", False),
    )
    data = render.pull(call.hub, pull)
    return Answer(status=201, data=data, headers={"Location": data["url"]})


@route("GET", f"{REPO}/pulls/{{number:int}}", needs=READ)
def get_pull(call: Call) -> Answer:
    """Return a pull request, and compute its test merge, which on GitHub may not finish at once."""
    pull = find_pull(call)
    if pull.unknown_reads > 0:
        pull.unknown_reads -= 1
        return Answer(data={**render.pull(call.hub, pull), "mergeable": None, "mergeable_state": "unknown"})
    call.hub.compute_merge(pull)
    return Answer(data=render.pull(call.hub, pull))


@route(
    "PATCH",
    f"{REPO}/pulls/{{number:int}}",
    needs=WRITE,
    role="none",
    resource="PullRequest",
    fields={
        "title": Field(),
        "body": BODY,
        "state": Field(choices=("open", "closed")),
        "base": Field(),
        "maintainer_can_modify": Field(kind=bool),
    },
)
def edit_pull(call: Call) -> Answer:
    """Edit a pull request: its author may, and others with write, or with triage to close and reopen it."""
    pull, body = find_pull(call), call.body or {}
    least = "triage" if body.keys() <= {"state"} else "write"
    if call.login != pull.author and call.is_person_without(least):
        raise Refused(403, "Resource not accessible by personal access token")
    changes = {name: body.get(name) for name in ("title", "body", "base", "state")}
    call.hub.edit_pull(pull.number, by=call.login, **changes)
    return Answer(data=render.pull(call.hub, pull))


@route("GET", f"{REPO}/pulls/{{number:int}}/files", needs=READ)
def list_files(call: Call) -> Answer:
    pull = find_pull(call)
    changes = call.hub.git.changes(call.hub.find_base(pull), pull.head_sha)[:MAX_FILES]
    return paginate(call, changes, render=lambda hub, change: render.changed_file(hub, change, pull.head_sha))


@route("GET", f"{REPO}/pulls/{{number:int}}/commits", needs=READ)
def list_commits(call: Call) -> Answer:
    pull = find_pull(call)
    shas = call.hub.git.commits_between(call.hub.find_base(pull), pull.head_sha)[:MAX_COMMITS]
    return paginate(call, shas, render=lambda hub, sha: render.commit(hub, hub.git.commit(sha)))


@route("GET", f"{REPO}/commits/{{sha}}/pulls", needs=READ)
def list_pulls_of_commit(call: Call) -> Answer:
    """List the merged pull requests that brought a commit; if there are none, the open ones that contain it."""
    hub, sha = call.hub, call.arguments["sha"]
    if hub.git.object(sha) is None:
        raise Refused(422, f"No commit found for SHA: {sha}")
    pulls = sorted(hub.state.pulls.values(), key=lambda pull: pull.number)
    holders = [
        pull
        for pull in pulls
        if sha == pull.merge_sha or sha in hub.git.commits_between(hub.find_base(pull), pull.head_sha)
    ]
    merged = [pull for pull in holders if pull.merged_at is not None]
    return paginate(call, merged or [pull for pull in holders if pull.is_open], render=render.pull_summary)


@route(
    "PUT",
    f"{REPO}/pulls/{{number:int}}/merge",
    needs="contents=write",
    resource="PullRequest",
    fields={
        "commit_title": Field(),
        "commit_message": Field(),
        "sha": Field(),
        "merge_method": Field(choices=("merge", "squash", "rebase")),
    },
)
def merge_pull(call: Call) -> Answer:
    """Merge a pull request; an app must have `workflows: write` if the pull request changes workflow files."""
    body, pull = call.body or {}, find_pull(call)
    if not call.allows("workflows=write"):
        call.hub.check_workflow_files(call.hub.find_base(pull), pull.head_sha)
    sha = call.hub.merge_pull(
        pull.number,
        by=call.login,
        method=body.get("merge_method", "merge"),
        sha=body.get("sha"),
        title=body.get("commit_title"),
        message=body.get("commit_message"),
    )
    return Answer(data={"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


@route("GET", f"{REPO}/pulls/{{number:int}}/merge", needs=READ)
def is_merged(call: Call) -> Answer:
    if find_pull(call).merged_at is None:
        raise Refused(404, "Not Found")
    return Answer(status=204)


@route("GET", f"{REPO}/issues/{{number:int}}/labels", needs=EITHER_READ)
def list_labels(call: Call) -> Answer:
    return paginate(call, find_pull(call).labels, render=render.label)


@route("POST", f"{REPO}/issues/{{number:int}}/labels", needs=EITHER_WRITE, role="triage")
def add_labels(call: Call) -> Answer:
    pull = find_pull(call)
    labels = call.body.get("labels") if isinstance(call.body, dict) else call.body
    items = labels if isinstance(labels, list) else []
    names: list[Any] = [item.get("name") if isinstance(item, dict) else item for item in items]
    if not names or not all(isinstance(name, str) and name for name in names):
        raise refuse_field("labels must be names", field="labels", resource="Label")
    call.hub.label(pull.number, *names, by=call.login)
    return Answer(data=[render.label(call.hub, label) for label in pull.labels])


@route("DELETE", f"{REPO}/issues/{{number:int}}/labels/{{name}}", needs=EITHER_WRITE, role="triage")
def remove_label(call: Call) -> Answer:
    pull = find_pull(call)
    if not call.hub.unlabel(pull.number, call.arguments["name"], by=call.login):
        raise Refused(404, "Label does not exist")
    return Answer(data=[render.label(call.hub, label) for label in pull.labels])


@route("GET", f"{REPO}/issues/{{number:int}}/timeline", needs=EITHER_READ)
def list_timeline(call: Call) -> Answer:
    """List the timeline: commits first, then all other events by time."""
    hub, pull = call.hub, find_pull(call)
    shas = hub.git.commits_between(hub.find_base(pull), pull.head_sha)
    commits = [{**render.git_commit(hub, hub.git.commit(sha)), "event": "committed"} for sha in shas]
    dated = [
        (entry.created_at, render.timeline_entry(hub, entry))
        for entry in hub.state.timeline
        if entry.pull == pull.number
    ]
    dated += [(c.created_at, render.timeline_comment(hub, c)) for c in hub.all_comments_of(pull.number)]
    dated.sort(key=lambda item: item[0])
    return paginate(call, commits + [item for _, item in dated])
