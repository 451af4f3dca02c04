"""Tokens and their permissions, the headers of refusals, and rate limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from infx.github.api import GitHub
from infx.github.errors import BadCredentialsError, PermissionDeniedError, PrimaryLimitError
from infx.hub import Event, Fault, FaultKind, Hub
from infx.model import StatusState

Client = Callable[[str | None], GitHub]


def test_a_forks_token_reads_and_never_writes(hub: Hub, client: Client, waits: list[float]) -> None:
    github = client(hub.fork_token())
    sha = github.pull(77).head_sha
    writes: list[Callable[[], object]] = [
        lambda: github.create_comment(77, "hello"),
        lambda: github.add_reaction(11001, "+1"),
        lambda: github.create_status(sha, context="c", state=StatusState.SUCCESS, description="d"),
        lambda: github.dispatch_workflow("run-sweep.yml", ref="main", inputs={}),
    ]
    for write in writes:
        with pytest.raises(PermissionDeniedError):
            write()
    assert waits == []
    assert hub.writes == len(writes)
    assert github.issue_comments(77) == []


@pytest.mark.parametrize(
    ("scopes", "ask", "permission"),
    [
        ({}, lambda g: g.pull(77), "pull-requests: read"),
        ({"issues": "write"}, lambda g: g.issue_comments(77), "pull-requests: read"),
        ({}, lambda g: g.labels(77), "issues: read or pull-requests: read"),
        (
            {"pull-requests": "read"},
            lambda g: g.create_comment(77, "x"),
            "issues: write or pull-requests: write",
        ),
        ({}, lambda g: g.statuses("main"), "statuses: read"),
        ({}, lambda g: g.runs(), "actions: read"),
        ({"actions": "read"}, lambda g: g.cancel_run(1), "actions: write"),
        ({}, lambda g: g.read_file("README.md", "main"), "contents: read"),
    ],
)
def test_each_request_needs_its_permission(
    hub: Hub, client: Client, scopes: dict[str, str], ask: Callable[[GitHub], object], permission: str
) -> None:
    with pytest.raises(PermissionDeniedError) as caught:
        ask(client(hub.workflow_token(scopes)))
    assert caught.value.permission == permission


def test_either_permission_is_enough_for_a_comment(hub: Hub, client: Client) -> None:
    client(hub.workflow_token(issues="write")).create_comment(77, "a")
    client(hub.workflow_token(pull_requests="write")).create_comment(77, "b")
    assert len(hub.comments_of(77)) == 2


def test_an_app_has_a_separate_identity(hub: Hub, client: Client) -> None:
    hub.comment(77, "<!-- marker -->", by="github-actions[bot]")
    mine = client(hub.app_token("bench-bot[bot]", issues="write")).create_comment(77, "<!-- marker -->")
    assert mine.author.login == "bench-bot[bot]"
    assert not mine.author.is_human


def test_of_a_workflow_tokens_actions_only_a_dispatch_starts_runs(hub: Hub, client: Client) -> None:
    hub.push("main", {".github/workflows/x.yml": "on: workflow_dispatch\n"}, by="mia")
    workflow = client(hub.workflow_token(pull_requests="write", actions="write", contents="write"))
    app = client(hub.app_token("bench-bot[bot]", pull_requests="write"))
    start = len(hub.state.events)
    workflow.create_comment(77, "a")
    workflow.dispatch_workflow("x.yml", ref="main", inputs={})
    app.create_comment(77, "b")
    hub.label(77, "c", by="mia")
    assert [(event.name, event.starts_runs) for event in hub.state.events[start:]] == [
        ("issue_comment", False),
        ("workflow_dispatch", True),
        ("workflow_run", False),
        ("issue_comment", True),
        ("pull_request", True),
    ]


def test_listeners_get_every_event(hub: Hub) -> None:
    events: list[Event] = []
    hub.listeners.append(events.append)
    hub.label(77, "x", by="mia")
    (event,) = events
    assert (event.name, event.action, event.sender) == ("pull_request", "labeled", "mia")
    assert event.payload["label"]["name"] == "x"
    assert event.payload["sender"]["login"] == "mia"
    assert [label["name"] for label in event.payload["pull_request"]["labels"]] == ["x"]


@pytest.mark.parametrize(
    ("role", "base", "permission", "can_write"),
    [
        ("admin", None, "admin", True),
        ("maintain", None, "write", True),
        ("write", None, "write", True),
        ("triage", None, "read", False),
        ("read", None, "read", False),
        ("release-manager", "write", "write", False),
    ],
)
def test_permission_and_role(
    hub: Hub, github: GitHub, role: str, base: str | None, permission: str, can_write: bool
) -> None:
    hub.account("noor", role=role, custom_base=base)
    noor = github.permission("noor")
    assert (noor.permission, noor.role, noor.can_write) == (permission, role, can_write)


def test_asking_for_permissions_needs_push_access(hub: Hub, client: Client) -> None:
    hub.account("eve")
    assert client(hub.user_token("cody")).permission("mia").is_admin
    with pytest.raises(PermissionDeniedError, match="Must have push access"):
        client(hub.user_token("eve")).permission("mia")


def test_teams_are_hidden_from_the_repositorys_token(hub: Hub, client: Client) -> None:
    hub.state.teams |= {"acme/core": {"mia"}}
    hub.account("mia", role="write")
    workflow = client(hub.workflow_token())
    assert workflow.team_members("acme", "core") is None
    assert workflow.permission("mia").can_write
    app = client(hub.app_token("bench-bot[bot]", members="read"))
    assert app.team_members("acme", "core") == frozenset({"mia"})
    assert app.team_members("acme", "none") is None


def test_unknown_tokens_and_no_token(hub: Hub, client: Client) -> None:
    with pytest.raises(BadCredentialsError, match="Bad credentials"):
        client("nonsense").pull(77)
    assert client(None).pull(77).number == 77  # the repository is public
    with pytest.raises(BadCredentialsError, match="Requires authentication"):
        client(None).create_comment(77, "x")


def test_a_used_up_limit_refuses_requests_until_its_reset(
    hub: Hub, client: Client, waits: list[float]
) -> None:
    github = client(hub.workflow_token(pull_requests="read"))
    for _ in range(1000):
        hub.spend(hub.tokens["workflow-token-1"])
    hub.faults.add(Fault(kind=FaultKind.SLOW, seconds=0.001, nth=2))
    with pytest.raises(PrimaryLimitError, match="used up"):
        github.pull(77)
    assert github.requests.remaining == 0
    hub.refill()
    github.pull(77)
    assert github.requests.remaining == 999


def test_the_server_of_artifacts_refuses_tokens(hub: Hub) -> None:
    artifact = hub.add_artifact(hub.add_run(pull=77).id, "a", {"b": "c"})
    token = {"Authorization": f"token {hub.workflow_token(actions='read')}"}
    url = f"{hub.api}/repos/acme/bench/actions/artifacts/{artifact.id}/zip"
    link = requests.get(url, headers=token, allow_redirects=False, timeout=5).headers["Location"]
    assert urlsplit(link).netloc != urlsplit(hub.api).netloc
    assert requests.get(link, timeout=5).content == artifact.data
    for authorization in (token["Authorization"], "token unknown", "Bearer x", "Basic eDp5"):
        refused = requests.get(link, headers={"Authorization": authorization}, timeout=5)
        assert refused.status_code == 403, authorization
    assert requests.get(link.split("?", maxsplit=1)[0], timeout=5).status_code == 403
    assert requests.get(f"{hub.store}/repos/acme/bench/pulls/77", timeout=5).status_code == 404
    path, query = urlsplit(link).path, urlsplit(link).query
    assert requests.get(f"{hub.api}{path}?{query}", timeout=5).status_code == 404


def test_a_client_that_follows_the_link_does_not_send_its_token(hub: Hub, client: Client) -> None:
    """This holds for infx's client and for a library that follows redirects to another server."""
    artifact = hub.add_artifact(hub.add_run(pull=77).id, "a", {"b": "c"})
    secret = hub.workflow_token(actions="read")
    assert client(secret).download_artifact(artifact.id) == artifact.data
    url = f"{hub.api}/repos/acme/bench/actions/artifacts/{artifact.id}/zip"
    answer = requests.get(url, headers={"Authorization": f"token {secret}"}, timeout=5)
    assert (answer.status_code, answer.content) == (200, artifact.data)
    stored = [exchange for exchange in hub.log if exchange.path.startswith("/_store/")]
    assert [("authorization" in exchange.headers, exchange.status) for exchange in stored] == [
        (False, 200)
    ] * 2


def test_a_download_uses_neither_netrc_nor_a_proxy(
    hub: Hub, github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login eve password secret\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    artifact = hub.add_artifact(hub.add_run(pull=77).id, "a", {"b": "c"})
    assert github.download_artifact(artifact.id) == artifact.data
    assert "authorization" not in hub.log[-1].headers


def test_scopes_that_do_not_exist_are_refused(hub: Hub) -> None:
    with pytest.raises(ValueError, match="is not a valid permission"):
        hub.workflow_token({"pull_request": "write"})
    with pytest.raises(ValueError, match="is not a valid permission"):
        hub.workflow_token(members="read")  # `permissions` of a job cannot ask for it


def test_a_body_that_is_not_json_is_refused(hub: Hub) -> None:
    headers = {"Authorization": f"token {hub.user_token('mia')}"}
    url = f"{hub.api}/repos/acme/bench/issues/77/comments"
    answer = requests.post(url, data=b"{", headers=headers, timeout=5)
    assert (answer.status_code, answer.json()["message"]) == (400, "Problems parsing JSON")


def test_pages_follow_links(hub: Hub) -> None:
    for number in range(250):
        hub.comment(77, str(number))
    url = f"{hub.api}/repos/acme/bench/issues/77/comments"
    first = requests.get(url, timeout=5)
    assert len(first.json()) == 30
    middle = requests.get(url, params={"per_page": 100, "page": 2}, timeout=5)
    assert {name: link["url"].split("?")[1] for name, link in middle.links.items()} == {
        "prev": "per_page=100&page=1",
        "first": "per_page=100&page=1",
        "next": "per_page=100&page=3",
        "last": "per_page=100&page=3",
    }
    assert len(requests.get(url, params={"per_page": 500}, timeout=5).json()) == 100
    assert requests.get(url, params={"page": 99}, timeout=5).json() == []
