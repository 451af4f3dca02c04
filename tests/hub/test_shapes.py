"""Shapes that the slice of GitHub's description does not hold, written from GitHub's documentation."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
import requests

from infx.hub import Hub

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
    found = hub.git.file("main", "README.md")
    assert found is not None
    check(BLOB, requests.get(f"{hub.api}/repos/acme/bench/git/blobs/{found[0]}", timeout=5).json())
    assert requests.get(f"{hub.api}/repos/acme/bench/git/blobs/{'0' * 40}", timeout=5).status_code == 404


def test_a_member_is_204_or_404(hub: Hub) -> None:
    hub.state.teams["acme"] = {"mia"}
    token = {"Authorization": f"token {hub.app_token('bench-bot[bot]', members='read')}"}
    answers = [
        requests.get(f"{hub.api}/orgs/acme/members/{login}", headers=token, timeout=5)
        for login in ("mia", "eve")
    ]
    assert [(answer.status_code, answer.content == b"") for answer in answers] == [(204, True), (404, False)]


def test_graphql_tells_who_edited_a_comment(hub: Hub) -> None:
    plain, edited, gone = (hub.comment(77, "hello", by="amy") for _ in range(3))
    hub.edit_comment(edited.id, "hello again", by="cody")
    hub.edit_comment(gone.id, "hello again", by="ghost")
    token = {"Authorization": f"token {hub.workflow_token(pull_requests='read')}"}
    text = "query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Comment { lastEditedAt editor { __typename login } } } }"

    def ask(*ids: str, text: str = text) -> Any:
        body: Any = {"query": text, "variables": {"ids": list(ids)}}
        return requests.post(f"{hub.api}/graphql", headers=token, json=body, timeout=5).json()

    found = ask(*(f"IC_{comment.id}" for comment in (plain, edited, gone)))["data"]["nodes"]
    nobody = {"type": "null"}
    check(shape(id=TEXT, lastEditedAt=nobody, editor=nobody), found[0])
    check(shape(id=TEXT, lastEditedAt=TEXT, editor=shape(__typename=TEXT, login=TEXT)), found[1])
    check(shape(id=TEXT, lastEditedAt=TEXT, editor=nobody), found[2])
    assert found[1]["editor"]["login"] == "cody"
    assert ask("IC_1")["errors"][0]["type"] == "NOT_FOUND"
    assert "data" not in ask(text="{ viewer { login } }")


def play(hub: Hub) -> None:
    hub.label(77, "x", by="mia")
    hub.unlabel(77, "x", by="mia")
    hub.push("feat-x", {"late": "x"})
    comment = hub.comment(77, "hello")
    hub.edit_comment(comment.id, "hello again")
    hub.delete_comment(comment.id)
    review = hub.review(77, "fine")
    hub.edit_review(review.id, "finer")
    hub.dismiss_review(review.id)
    hub.review_comment(77, "here", path="README.md")
    hub.set_draft(77, True)
    hub.set_draft(77, False)
    hub.finish_run(hub.add_run(pull=77).id)
    hub.close_pull(77)
    hub.reopen_pull(77)
    hub.merge_pull(77)


EVENTS: dict[str, dict[str, Any]] = {
    "pull_request": shape(number=NUMBER, pull_request=PULL),
    "issue_comment": shape(issue=ISSUE, comment=COMMENT),
    "pull_request_review": shape(review=shape(id=NUMBER, body=TEXT, state=TEXT), pull_request=PULL),
    "pull_request_review_comment": shape(comment=shape(id=NUMBER, path=TEXT), pull_request=PULL),
    "workflow_run": shape(workflow_run=RUN),
    "push": shape(ref=TEXT, before=SHA, after=SHA),
}
MORE: dict[tuple[str, str | None], dict[str, Any]] = {
    ("pull_request", "labeled"): shape(label=LABEL),
    ("pull_request", "unlabeled"): shape(label=LABEL),
    ("pull_request", "synchronize"): shape(before=SHA, after=SHA),
    ("issue_comment", "edited"): shape(changes=shape(body=shape(**{"from": TEXT}))),
}


def test_events_are_as_workflows_get_them(hub: Hub) -> None:
    play(hub)
    for event in hub.state.events:
        check(shape(repository=REPOSITORY, sender=USER), event.payload)
        check(EVENTS[event.name], event.payload)
        check(MORE.get((event.name, event.action), {}), event.payload)
        assert event.payload.get("action") == event.action
    happened = {(event.name, event.action) for event in hub.state.events}
    assert happened >= MORE.keys()
    actions = {"opened", "labeled", "unlabeled", "synchronize", "closed", "reopened"}
    assert {action for name, action in happened if name == "pull_request"} == {
        *actions,
        "converted_to_draft",
        "ready_for_review",
    }


@pytest.mark.parametrize(
    "path", ["/", "/repos/acme", "/repos/acme/bench/nothing", "/repos/acme/bench/pulls/x"]
)
def test_what_is_no_route(hub: Hub, path: str) -> None:
    answer = requests.get(f"{hub.api}{path}", timeout=5)
    assert (answer.status_code, answer.json()["message"]) == (404, "Not Found")
