"""GraphQL of the hub has GitHub's answers, refusals and prices."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from infx.hub import Hub
from tests.hub.conftest import ask

BOT = "github-actions[bot]"


def make_query(selection: str, number: int = 77) -> str:
    return f'{{ repository(owner: "acme", name: "bench") {{ pullRequest(number: {number}) {{ {selection} }} }} }}'


def pull(hub: Hub, selection: str) -> Any:
    return ask(hub, make_query(selection))["data"]["repository"]["pullRequest"]


def test_names_variables_aliases_and_fragments(hub: Hub) -> None:
    hub.comment(77, "hi", by=BOT)
    text = """
    # a comment
    query Named($owner: String!, $size: Int = 5) {
      repository(owner: $owner, name: "bench") { a: pullRequest(number: 77) { ...One ...Two } }
    }
    fragment One on PullRequest { state comments(first: $size) { totalCount } }
    fragment Two on PullRequest {
      comments(first: $size) { nodes { __typename ... on Comment { body } author { __typename login ... on User { id: login } } } }
    }
    """
    shown = {
        "__typename": "IssueComment",
        "body": "hi",
        "author": {"__typename": "Bot", "login": "github-actions"},
    }
    assert ask(hub, text, owner="acme")["data"]["repository"] == {
        "a": {"state": "OPEN", "comments": {"totalCount": 1, "nodes": [shown]}}
    }


def test_pages_forwards_and_backwards(hub: Hub) -> None:
    """A cursor keeps its place when its item is deleted."""
    ids = [hub.comment(77, str(index)).id for index in range(5)]
    page = "{ nodes { body } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }"
    first = pull(hub, f"comments(first: 2) {page}")["comments"]
    assert [node["body"] for node in first["nodes"]] == ["0", "1"]
    assert (first["pageInfo"]["hasNextPage"], first["pageInfo"]["hasPreviousPage"]) == (True, False)
    hub.delete_comment(ids[1])
    cursor = first["pageInfo"]["endCursor"]
    second = pull(hub, f'comments(first: 2, after: "{cursor}") {page}')["comments"]
    assert [node["body"] for node in second["nodes"]] == ["2", "3"]
    last = pull(hub, f"comments(last: 2) {page}")["comments"]
    assert [node["body"] for node in last["nodes"]] == ["3", "4"]
    assert (last["pageInfo"]["hasNextPage"], last["pageInfo"]["hasPreviousPage"]) == (False, True)
    before = pull(hub, f'comments(last: 9, before: "{last["pageInfo"]["startCursor"]}") {page}')["comments"]
    assert [node["body"] for node in before["nodes"]] == ["0", "2"]
    assert (
        "valid cursor"
        in ask(hub, make_query('comments(first: 1, after: "x") { totalCount }'))["errors"][0]["message"]
    )


def test_statuses_are_the_newest_of_each_context(hub: Hub) -> None:
    of_head = "commits(last: 1) { nodes { commit { oid status { contexts { context state creator { login } } } } } }"
    sha = hub.state.pulls[77].head_sha
    assert pull(hub, of_head)["commits"]["nodes"][0]["commit"] == {"oid": sha, "status": None}
    hub.set_status(sha, "ci", "pending", by="cody")
    hub.set_status(sha, "ci", "failure", by=BOT)
    shown = {"context": "ci", "state": "FAILURE", "creator": {"login": "github-actions"}}
    assert pull(hub, of_head)["commits"]["nodes"][0]["commit"]["status"] == {"contexts": [shown]}


def test_the_timeline_by_kinds(hub: Hub) -> None:
    hub.label(77, "x", by="mia")
    hub.unlabel(77, "x", by="cody")
    nodes = "nodes { __typename ... on LabeledEvent { label { name } actor { login } } }"
    everything = pull(hub, f"timelineItems(first: 9) {{ {nodes} }}")["timelineItems"]["nodes"]
    assert everything == [
        {"__typename": "LabeledEvent", "label": {"name": "x"}, "actor": {"login": "mia"}},
        {"__typename": "UnlabeledEvent"},
    ]
    only = pull(hub, f"timelineItems(first: 9, itemTypes: [UNLABELED_EVENT]) {{ {nodes} }}")["timelineItems"]
    assert only["nodes"] == [{"__typename": "UnlabeledEvent"}]


def test_a_missing_pull_request_is_null_and_the_others_are_answered(hub: Hub) -> None:
    text = '{ repository(owner: "acme", name: "bench") { a: pullRequest(number: 77) { number } b: pullRequest(number: 9) { number } } }'
    answer = ask(hub, text)
    assert answer["data"]["repository"] == {"a": {"number": 77}, "b": None}
    (error,) = answer["errors"]
    assert (error["type"], error["path"]) == ("NOT_FOUND", ["repository", "b"])
    assert ask(hub, '{ repository(owner: "x", name: "y") { nameWithOwner } }')["data"] == {"repository": None}


def test_a_missing_permission_is_null_at_its_place(hub: Hub) -> None:
    of_head = make_query(
        "number commits(last: 1) { nodes { commit { oid status { contexts { context } } } } }"
    )
    answer = ask(hub, of_head, hub.workflow_token(pull_requests="read"))
    (error,) = answer["errors"]
    assert error["type"] == "FORBIDDEN"
    assert error["path"] == ["repository", "pullRequest", "commits", "nodes", 0, "commit", "status"]
    assert answer["data"]["repository"]["pullRequest"]["number"] == 77
    assert ask(hub, of_head, hub.workflow_token(statuses="read"))["data"]["repository"]["pullRequest"] is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (make_query("nonsense"), "Field 'nonsense' doesn't exist on type 'PullRequest'"),
        (make_query("comments(first: 1) { nonsense }"), "doesn't exist on type 'IssueCommentConnection'"),
        (make_query("... on Nothing { number }"), "No such type Nothing"),
        (make_query("...Nothing"), "Fragment Nothing was used, but not defined"),
        (make_query("comments { totalCount }"), "You must provide a `first` or `last` value"),
        (
            make_query("comments(first: 101) { totalCount }"),
            "Requesting 101 records on the `comments` connection",
        ),
        (make_query("author"), "must have selections"),
        (make_query("number { x }"), "must not have selections"),
        (make_query("number") + "}", "Parse error"),
        (make_query("number")[:-1], "Parse error"),
        ("", "no operations"),
    ],
)
def test_a_query_that_github_refuses_costs_nothing(hub: Hub, text: str, words: str) -> None:
    hub.clear_log()
    answer = ask(hub, text)
    assert "data" not in answer
    assert words in answer["errors"][0]["message"]
    assert hub.points == 0


@pytest.mark.parametrize(
    ("pulls", "points"),
    # two connections each; the price is requests / 100, rounded, and at least 1
    [(1, 1), (50, 1), (74, 1), (75, 2), (125, 3)],
)
def test_the_price_follows_githubs_formula(hub: Hub, pulls: int, points: int) -> None:
    each = "pullRequest(number: 77) { comments(first: 100) { totalCount } labels(first: 9) { totalCount } }"
    aliases = " ".join(f"p{index}: {each}" for index in range(pulls))
    limit = "rateLimit { cost limit remaining used nodeCount resetAt }"
    hub.refill()
    hub.clear_log()
    answer = ask(hub, f'{{ {limit} repository(owner: "acme", name: "bench") {{ {aliases} }} }}')["data"]
    rate = answer["rateLimit"]
    assert rate["resetAt"].endswith("Z")
    assert rate["cost"] == hub.points == points
    assert (rate["limit"], rate["remaining"], rate["used"]) == (1000, 1000 - points, points)
    assert rate["nodeCount"] == pulls * 109


def test_points_and_requests_are_counted_separately(hub: Hub) -> None:
    hub.refill()
    token = hub.workflow_token(pull_requests="read")
    headers = {"Authorization": f"token {token}"}
    ask(hub, make_query("number"), token)
    answer = requests.get(f"{hub.api}/rate_limit", headers=headers, timeout=5).json()["resources"]
    assert (answer["core"]["used"], answer["graphql"]["used"]) == (0, 1)
    assert hub.log[-2].reply_headers is not None
    assert hub.log[-2].reply_headers["X-RateLimit-Resource"] == "graphql"
    assert hub.log[-2].reply_headers["X-RateLimit-Remaining"] == "999"
    hub.spend_points(hub.tokens[token], 999)
    assert ask(hub, make_query("number"), token)["errors"][0]["type"] == "RATE_LIMITED"
    pull_url = f"{hub.api}/repos/acme/bench/pulls/77"
    assert requests.get(pull_url, headers=headers, timeout=5).status_code == 200


def test_a_query_needs_a_token(hub: Hub) -> None:
    answer = requests.post(f"{hub.api}/graphql", json={"query": make_query("number")}, timeout=5)
    assert answer.status_code == 401
