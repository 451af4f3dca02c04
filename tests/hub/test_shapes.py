"""Shapes that the available part of GitHub's description lacks, written from GitHub's documentation."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
import requests

from infx.github.api import GitHub
from infx.hub import Hub
from infx.hub.settings import Toolkit
from infx.model import ReviewState

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
SHA = {"type": "string", "pattern": "^[0-9a-f]{40}$"}


def shape(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(fields), "properties": fields}


USER = shape(login=TEXT, id=NUMBER, type={"enum": ["User", "Bot", "Organization", "Mannequin"]})
REPOSITORY = shape(full_name=TEXT, default_branch=TEXT, owner=USER)
SIDE = shape(ref=TEXT, sha=SHA, label=TEXT, repo={"anyOf": [REPOSITORY, {"type": "null"}]})
LABEL = shape(name=TEXT, id=NUMBER)
PULL = shape(
    number=NUMBER,
    state=TEXT,
    draft=FLAG,
    head=SIDE,
    base=SIDE,
    labels={"items": LABEL},
    user=USER,
    merged=FLAG,
)
ISSUE = shape(number=NUMBER, pull_request=shape(url=TEXT), labels={"items": LABEL}, user=USER)
COMMENT = shape(id=NUMBER, body=TEXT, user=USER, html_url=TEXT, issue_url=TEXT)
RUN = shape(
    id=NUMBER,
    path=TEXT,
    head_sha=SHA,
    event=TEXT,
    run_attempt=NUMBER,
    pull_requests={"type": "array"},
    conclusion={"type": ["string", "null"]},
)
BLOB = shape(sha=SHA, size=NUMBER, encoding={"const": "base64"}, content=TEXT, url=TEXT, node_id=TEXT)


def check(expected: dict[str, Any], value: Any) -> None:
    jsonschema_rs.Draft202012Validator(expected).validate(value)


def test_a_blob(hub: Hub) -> None:
    entry = hub.git.file("main", "README.md")
    assert entry is not None
    check(BLOB, requests.get(f"{hub.api}/repos/acme/bench/git/blobs/{entry[0]}", timeout=5).json())
    assert requests.get(f"{hub.api}/repos/acme/bench/git/blobs/{'0' * 40}", timeout=5).status_code == 404


def test_an_app_is_known_after_its_first_write(hub: Hub) -> None:
    url = f"{hub.api}/apps/bench-bot"
    assert requests.get(url, timeout=5).status_code == 404
    hub.comment(77, "hello", by="bench-bot[bot]")
    answer = requests.get(url, timeout=5).json()
    check(shape(id=NUMBER, slug={"const": "bench-bot"}, name=TEXT), answer)
    assert answer["id"] == hub.app_id("bench-bot[bot]")


def test_graphql_has_the_editor_of_a_comment(hub: Hub) -> None:
    plain, edited, gone = (hub.comment(77, "hello", by="amy") for _ in range(3))
    hub.edit_comment(edited.id, "hello again", by="cody")
    hub.edit_comment(gone.id, "hello again", by="ghost")
    token = {"Authorization": f"token {hub.workflow_token(pull_requests='read')}"}
    text = "query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Comment { lastEditedAt editor { __typename login } } } }"

    def ask(*ids: str, text: str = text) -> Any:
        body: Any = {"query": text, "variables": {"ids": list(ids)}}
        return requests.post(f"{hub.api}/graphql", headers=token, json=body, timeout=5).json()

    nodes = ask(*(f"IC_{comment.id}" for comment in (plain, edited, gone)))["data"]["nodes"]
    null = {"type": "null"}
    check(shape(id=TEXT, lastEditedAt=null, editor=null), nodes[0])
    check(shape(id=TEXT, lastEditedAt=TEXT, editor=shape(__typename=TEXT, login=TEXT)), nodes[1])
    check(shape(id=TEXT, lastEditedAt=TEXT, editor=null), nodes[2])
    assert nodes[1]["editor"]["login"] == "cody"
    assert ask("IC_1")["errors"][0]["type"] == "NOT_FOUND"
    assert "data" not in ask(text="{ licenses { name } }")


def play(hub: Hub) -> None:
    hub.label(77, "x", by="mia")
    hub.unlabel(77, "x", by="mia")
    hub.push("feat-x", {"late": "x"})
    comment = hub.comment(77, "hello")
    hub.edit_comment(comment.id, "hello again")
    hub.delete_comment(comment.id)
    for state in ("APPROVED", "CHANGES_REQUESTED"):
        hub.review(77, "fine", state=state, by="mia")
    review = hub.review(77, "fine")
    hub.edit_review(review.id, "finer")
    hub.dismiss_review(review.id)
    hub.review_comment(77, "here", path="README.md")
    hub.set_draft(77, True)
    hub.set_draft(77, False)
    hub.finish_run(hub.add_run(pull=77).id)
    hub.edit_pull(77, title="New")
    hub.close_pull(77)
    hub.reopen_pull(77)
    hub.set_status(hub.state.pulls[77].head_sha, "infx/sweep", "success")
    hub.dispatch("run-sweep.yml", ref="main", inputs={"pr": "77"})
    hub.push("feat-x", {"b": "1"}, start="main", force=True)
    hub.merge_pull(77)
    hub.delete_branch("feat-x")


PATHS = {"type": "array", "items": TEXT}
PUSHED = shape(
    id=SHA,
    tree_id=SHA,
    distinct=FLAG,
    message=TEXT,
    timestamp=TEXT,
    url=TEXT,
    author=shape(name=TEXT, email=TEXT),
    committer=shape(name=TEXT, email=TEXT),
    added=PATHS,
    removed=PATHS,
    modified=PATHS,
)
EVENTS: dict[str, dict[str, Any]] = {
    "pull_request": shape(number=NUMBER, pull_request=PULL),
    "issue_comment": shape(issue=ISSUE, comment=COMMENT),
    "pull_request_review": shape(
        review=shape(
            id=NUMBER,
            body=TEXT,
            state={"enum": ["commented", "approved", "changes_requested", "dismissed"]},
        ),
        pull_request=PULL,
    ),
    "pull_request_review_comment": shape(comment=shape(id=NUMBER, path=TEXT), pull_request=PULL),
    "workflow_run": shape(workflow_run=RUN),
    "push": shape(
        ref=TEXT,
        before=SHA,
        after=SHA,
        created=FLAG,
        deleted=FLAG,
        forced=FLAG,
        compare=TEXT,
        commits={"type": "array", "items": PUSHED},
        head_commit={"anyOf": [PUSHED, {"type": "null"}]},
        pusher=shape(name=TEXT, email=TEXT),
    ),
    "status": shape(sha=SHA, context=TEXT, state=TEXT),
    "workflow_dispatch": shape(inputs={"type": "object"}, ref=TEXT, workflow=TEXT),
}
MORE: dict[tuple[str, str | None], dict[str, Any]] = {
    ("pull_request", "labeled"): shape(label=LABEL),
    ("pull_request", "unlabeled"): shape(label=LABEL),
    ("pull_request", "synchronize"): shape(before=SHA, after=SHA),
    ("issue_comment", "edited"): shape(changes=shape(body=shape(**{"from": TEXT}))),
}


def test_events_have_the_shapes_that_workflows_get(hub: Hub) -> None:
    play(hub)
    for event in hub.state.events:
        check(shape(repository=REPOSITORY, sender=USER), event.payload)
        check(EVENTS[event.name], event.payload)
        check(MORE.get((event.name, event.action), {}), event.payload)
        assert event.payload.get("action") == event.action
    happened = {(event.name, event.action) for event in hub.state.events}
    assert happened >= MORE.keys()
    assert {event.name for event in hub.state.events} == EVENTS.keys()
    actions = {"opened", "labeled", "unlabeled", "synchronize", "closed", "reopened", "edited"}
    assert {action for name, action in happened if name == "pull_request"} == {
        *actions,
        "converted_to_draft",
        "ready_for_review",
    }


def pushes(hub: Hub) -> list[dict[str, Any]]:
    return [event.payload for event in hub.state.events if event.name == "push"]


def test_a_push_names_its_commits_oldest_first(hub: Hub) -> None:
    tip = hub.state.pulls[77].head_sha
    after = hub.push_commits(
        "feat-x", [({"a": "1", "README.md": "x\n"}, "one"), ({"docs/new.md": None}, "two")]
    )
    pushed = pushes(hub)[-1]
    assert (pushed["before"], pushed["after"], pushed["ref"]) == (tip, after, "refs/heads/feat-x")
    assert (pushed["created"], pushed["deleted"], pushed["forced"]) == (False, False, False)
    assert [commit["message"] for commit in pushed["commits"]] == ["one", "two"]
    touched = [[commit[kind] for kind in ("added", "removed", "modified")] for commit in pushed["commits"]]
    assert touched == [[["a"], [], ["README.md"]], [[], ["docs/new.md"], []]]
    assert pushed["head_commit"] == pushed["commits"][-1]
    assert pushed["head_commit"]["id"] == after


def test_a_push_event_has_created_forced_and_deleted(hub: Hub) -> None:
    main = hub.git.resolve("refs/heads/main")
    hub.push("new", {"n": "1"})
    created = pushes(hub)[-1]
    assert (created["created"], created["forced"], created["before"]) == (True, False, "0" * 40)
    assert len(created["commits"]) == 1  # commits on main are not new
    hub.push("new", {"n": "2"}, start="main", force=True)
    forced = pushes(hub)[-1]
    assert (forced["created"], forced["forced"], forced["before"]) == (False, True, created["after"])
    assert [commit["id"] for commit in forced["commits"]] == [forced["after"]]
    hub.delete_branch("new")
    deleted = pushes(hub)[-1]
    assert (deleted["deleted"], deleted["before"], deleted["after"]) == (True, forced["after"], "0" * 40)
    assert (deleted["commits"], deleted["head_commit"]) == ([], None)
    hub.merge_pull(77, method="merge")
    merged = pushes(hub)[-1]
    assert (merged["ref"], merged["before"], merged["forced"]) == ("refs/heads/main", main, False)
    assert [commit["message"].split("\n")[0] for commit in merged["commits"]] == [
        "second",
        "Merge pull request #77 from acme/feat-x",
    ]


def test_the_state_of_a_review_is_in_capitals_only_in_the_api(hub: Hub, github: GitHub) -> None:
    hub.review(77, "fine", state="APPROVED")
    assert hub.state.events[-1].payload["review"]["state"] == "approved"
    answer = requests.get(f"{hub.api}/repos/acme/bench/pulls/77/reviews", timeout=5).json()
    assert [review["state"] for review in answer] == ["APPROVED"]
    assert [review.review_state for review in github.reviews(77)] == [ReviewState.APPROVED]


@pytest.mark.parametrize(
    "path", ["/", "/repos/acme", "/repos/acme/bench/nothing", "/repos/acme/bench/pulls/x"]
)
def test_an_unknown_path_is_404(hub: Hub, path: str) -> None:
    answer = requests.get(f"{hub.api}{path}", timeout=5)
    assert (answer.status_code, answer.json()["message"]) == (404, "Not Found")


SECRETS = shape(total_count=NUMBER, secrets={"items": shape(name=TEXT, created_at=TEXT, updated_at=TEXT)})
INSTALLATION = shape(
    id=NUMBER,
    app_id=NUMBER,
    app_slug=TEXT,
    permissions={"type": "object"},
    repository_selection={"enum": ["all", "selected"]},
    suspended_at={"type": ["string", "null"]},
)
APPROVALS = ["first_time_contributors_new_to_github", "first_time_contributors", "all_external_contributors"]
# GitHub's description of these routes is not in the available part.
SETTINGS = {
    "repos/acme/bench/environments/reconcile/secrets": SECRETS,
    "orgs/acme/installations": shape(total_count=NUMBER, installations={"items": INSTALLATION}),
    "repos/acme/bench/actions/permissions/selected-actions": shape(
        github_owned_allowed=FLAG, verified_allowed=FLAG, patterns_allowed={"items": TEXT}
    ),
    "repos/acme/bench/actions/permissions/fork-pr-contributor-approval": shape(
        approval_policy={"enum": APPROVALS}
    ),
    "repos/acme/bench/actions/permissions/fork-pr-workflows-private-repos": shape(
        run_workflows_from_fork_pull_requests=FLAG,
        send_write_tokens_to_workflows=FLAG,
        send_secrets_and_variables=FLAG,
        require_approval_for_fork_pr_workflows=FLAG,
    ),
    "repos/acme/infx/actions/permissions/access": shape(
        access_level={"enum": ["none", "user", "organization", "enterprise"]}
    ),
}


@pytest.mark.parametrize("path", SETTINGS)
def test_settings(hub: Hub, path: str) -> None:
    hub.add_environment("reconcile", branches=["main"], secrets=["KEY"])
    hub.install_app("bench-bot", {"contents": "write"}, app_id=7)
    settings = hub.state.settings
    settings.actions.allowed = "selected"
    settings.toolkits["acme/infx"] = Toolkit(is_private=True)
    settings.is_private = "private-repos" in path
    headers = {"Authorization": f"token {hub.user_token('mia')}"}
    check(SETTINGS[path], requests.get(f"{hub.api}/{path}", headers=headers, timeout=5).json())
    reader = {"Authorization": f"token {hub.user_token('zoe')}"}
    assert requests.get(f"{hub.api}/{path}", headers=reader, timeout=5).status_code == 403
