"""Routes for commits, refs, files and statuses."""

from __future__ import annotations

import base64
from typing import Any

from infx.hub import render
from infx.hub.exchange import Answer
from infx.hub.refusal import Refused, refuse_field
from infx.hub.router import Call, Field, paginate, route
from infx.hub.routes.pulls import REPO
from infx.hub.rules import ACTIONS_APP

LONGEST_DESCRIPTION = 140
LONGEST_CONTEXT = 255
MOST_STATUSES = 1000  # of one commit and context
COMPARE_COMMITS, COMPARE_FILES = 250, 300
LARGEST_INLINE = 1_000_000  # bytes of a file that `contents` shows


def _resolve(call: Call, name: str) -> str:
    for candidate in (f"refs/heads/{name}", name):
        if (sha := call.hub.git.resolve(candidate)) is not None:
            return sha
    raise Refused(422, f"No commit found for SHA: {name}")


@route("GET", f"{REPO}/git/ref/{{ref:path}}", needs="contents=read")
def get_ref(call: Call) -> Answer:
    name = f"refs/{call.arguments['ref']}"
    sha = call.hub.git.resolve(name)
    if sha is None:
        raise Refused(404, "Not Found")
    return Answer(data=_ref(call, name, sha))


@route("GET", f"{REPO}/git/matching-refs/{{ref:path}}", needs="contents=read")
def matching_refs(call: Call) -> Answer:
    refs = call.hub.git.refs(f"refs/{call.arguments['ref']}")
    return Answer(data=[_ref(call, name, sha) for name, sha in sorted(refs.items())])


def _ref(call: Call, name: str, sha: str) -> dict[str, Any]:
    return {
        "ref": name,
        "node_id": f"REF_{name}",
        "url": render.address(call.hub, "git", name),
        "object": {"type": "commit", "sha": sha, "url": render.address(call.hub, "git", "commits", sha)},
    }


@route("GET", f"{REPO}/git/commits/{{sha}}", needs="contents=read")
def get_git_commit(call: Call) -> Answer:
    entry = call.hub.git.object(call.arguments["sha"])
    if entry is None or entry[1] != "commit":
        raise Refused(404, "Not Found")
    return Answer(data=render.git_commit(call.hub, call.hub.git.commit(entry[0])))


@route("GET", f"{REPO}/git/blobs/{{sha}}", needs="contents=read")
def get_blob(call: Call) -> Answer:
    entry = call.hub.git.object(call.arguments["sha"])
    if entry is None or entry[1] != "blob":
        raise Refused(404, "Not Found")
    sha, _, data = entry
    blob = {"sha": sha, "node_id": f"B_{sha}", "size": len(data), "encoding": "base64"}
    content = base64.encodebytes(data).decode()
    return Answer(data={**blob, "content": content, "url": render.address(call.hub, "git", "blobs", sha)})


@route("GET", f"{REPO}/contents/{{path:path}}", needs="contents=read")
def get_contents(call: Call) -> Answer:
    ref = call.query.get("ref", call.hub.branch)
    path = call.arguments["path"]
    try:
        entry = call.hub.git.file(_resolve(call, ref.removeprefix("refs/heads/")), path)
    except Refused:
        raise Refused(404, f"No commit found for the ref {ref}") from None
    if entry is None:
        raise Refused(404, "Not Found")
    sha, kind, data = entry
    if kind != "blob":
        return Answer(data=[_entry(call, f"{path}/", line) for line in _tree(call, sha)])
    inline = len(data) <= LARGEST_INLINE
    content = {
        "encoding": "base64" if inline else "none",
        "content": base64.encodebytes(data).decode() if inline else "",
    }
    return Answer(data={**_about(call, path, sha, len(data)), **content})


def _tree(call: Call, sha: str) -> list[str]:
    text = call.hub.git.git.run("ls-tree", "--long", "-z", sha).decode(errors="surrogateescape")
    return [line for line in text.split("\0") if line]


def _entry(call: Call, folder: str, line: str) -> dict[str, Any]:
    about, name = line.split("\t", 1)
    _, kind, sha, size = about.split()
    number = int(size) if size.isdigit() else 0
    return {**_about(call, f"{folder}{name}", sha, number), "type": "file" if kind == "blob" else "dir"}


def _about(call: Call, path: str, sha: str, size: int) -> dict[str, Any]:
    hub, ref = call.hub, call.query.get("ref", call.hub.branch)
    url = f"{render.address(hub, 'contents', path)}?ref={ref}"
    git_url = render.address(hub, "git", "blobs", sha)
    html = render.page(hub, "blob", ref, path)
    return {
        "type": "file",
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": sha,
        "size": size,
        "url": url,
        "git_url": git_url,
        "html_url": html,
        "download_url": html,
        "_links": {"self": url, "git": git_url, "html": html},
    }


@route("GET", f"{REPO}/compare/{{basehead:path}}", needs="contents=read")
def compare(call: Call) -> Answer:
    """Compare two commits: without paging at most 250 commits; at most 300 files, on the first page only."""
    hub = call.hub
    base_name, dots, head_name = call.arguments["basehead"].partition("...")
    try:
        base, head = _resolve(call, base_name), _resolve(call, head_name)
    except Refused:
        raise Refused(404, "Not Found") from None
    start = hub.git.merge_base(base, head)
    if start is None or not dots:
        raise Refused(404, "No common ancestor between the two")
    ahead = hub.git.commits_between(base, head)
    behind = hub.git.commits_between(head, base)
    status = {(False, False): "identical", (True, False): "ahead", (False, True): "behind"}
    page = paginate(call, ahead, render=lambda hub, sha: render.commit(hub, hub.git.commit(sha)))
    if not {"page", "per_page"} & call.query.keys():
        page = Answer(data=[render.commit(hub, hub.git.commit(sha)) for sha in ahead[:COMPARE_COMMITS]])
    html = render.page(hub, "compare", call.arguments["basehead"])
    data = {
        "url": render.address(hub, "compare", call.arguments["basehead"]),
        "html_url": html,
        "permalink_url": html,
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        "base_commit": render.commit(hub, hub.git.commit(base)),
        "merge_base_commit": render.commit(hub, hub.git.commit(start)),
        "status": status.get((bool(ahead), bool(behind)), "diverged"),
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": page.data,
    }
    if call.query.get("page", "1") == "1":
        changes = hub.git.changes(base, head)[:COMPARE_FILES]
        data["files"] = [render.changed_file(hub, change, head) for change in changes]
    return Answer(data=data, headers=page.headers)


@route("GET", f"{REPO}/commits/{{ref:path}}/statuses", needs="statuses=read")
def list_statuses(call: Call) -> Answer:
    """List the statuses of a commit, newest first."""
    sha = _resolve(call, call.arguments["ref"])
    statuses = [status for status in call.hub.state.statuses if status.sha == sha]
    return paginate(call, sorted(statuses, key=lambda status: -status.id), render=render.status)


@route("GET", f"{REPO}/commits/{{ref}}/check-runs", needs="checks=read")
def list_check_runs(call: Call) -> Answer:
    """List the check runs of a commit, which are the jobs of its runs: of a name and run the newest."""
    query = call.query
    jobs = call.hub.find_check_runs(
        _resolve(call, call.arguments["ref"]), every=query.get("filter", "latest") == "all"
    )
    shown = [
        job
        for job in jobs
        if query.get("check_name") in {None, job.name} and query.get("status") in {None, job.status}
        if query.get("app_id") in {None, str(ACTIONS_APP)}
    ]
    return paginate(call, shown, key="check_runs", render=render.check_run)


@route(
    "POST",
    f"{REPO}/statuses/{{sha}}",
    needs="statuses=write",
    resource="Status",
    fields={
        "state": Field(is_required=True, choices=("error", "failure", "pending", "success")),
        "target_url": Field(is_nullable=True),
        "description": Field(is_nullable=True, longest=LONGEST_DESCRIPTION),
        "context": Field(longest=LONGEST_CONTEXT),
    },
)
def create_status(call: Call) -> Answer:
    sha = call.arguments["sha"]
    if call.hub.git.resolve(sha) != sha:
        raise Refused(422, f"No commit found for SHA: {sha}")
    state, description = call.body["state"], call.body.get("description")
    if description is not None and not description.isascii() and max(description) > "\uffff":
        words = "description doesn't accept 4-byte Unicode"
        raise refuse_field(words, resource="Status", field="description", code="custom")
    context = call.body.get("context") or "default"
    before = sum((known.sha, known.context) == (sha, context) for known in call.hub.state.statuses)
    if before >= MOST_STATUSES:
        words = "This SHA and context has reached the maximum number of statuses."
        raise refuse_field(words, resource="Status", code="custom")
    status = call.hub.set_status(
        sha,
        context,
        state,
        description=description,
        target_url=call.body.get("target_url"),
        by=call.login,
    )
    data = render.status(call.hub, status)
    return Answer(status=201, data=data, headers={"Location": data["url"]})
