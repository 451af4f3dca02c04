"""Requests as PyGithub sends them: each once, with the headers that GitHub asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import requests
import responses

from infx import __version__
from infx.errors import UsageError
from infx.github.api import GitHub, connect
from infx.github.errors import (
    BadCredentialsError,
    ConflictError,
    GitHubError,
    NotFoundError,
    ServerError,
    UnexpectedReplyError,
    UnknownOutcomeError,
    UnreachableError,
)

API = "https://api.github.com:443"  # PyGithub always names the port
COMMENTS = f"{API}/repos/acme/bench/issues/77/comments"


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def github(waits: list[float]) -> GitHub:
    return connect("acme/bench", environ={"GH_TOKEN": "secret"}, sleep=waits.append)


@responses.activate
def test_every_request_names_version_token_and_tool(github: GitHub) -> None:
    responses.get(COMMENTS, json=[])
    assert github.issue_comments(77) == []
    sent = responses.calls[0].request
    assert sent.headers["X-GitHub-Api-Version"] == "2022-11-28"
    assert sent.headers["Accept"] == "application/vnd.github+json"
    assert sent.headers["Authorization"] == "token secret"
    assert sent.headers["User-Agent"] == f"infx/{__version__}"
    assert sent.url == f"{COMMENTS}?page=1&per_page=100"


@responses.activate
def test_anonymous_requests_have_no_token() -> None:
    responses.get(COMMENTS, json=[])
    connect("acme/bench", environ={}).issue_comments(77)
    assert "Authorization" not in responses.calls[0].request.headers


@pytest.mark.parametrize("status", [500, 502, 503, 504])
@responses.activate
def test_a_failed_write_goes_out_once(github: GitHub, waits: list[float], status: int) -> None:
    """PyGithub's own retry would post the comment again."""
    responses.post(COMMENTS, status=status, json={"message": "Server Error"})
    with pytest.raises(UnknownOutcomeError):
        github.create_comment(77, "hello")
    assert (len(responses.calls), waits) == (1, [])


@pytest.mark.parametrize(
    "error",
    [
        requests.ConnectionError("reset"),
        requests.ReadTimeout("slow"),
        requests.ConnectTimeout("slow"),
        requests.exceptions.ChunkedEncodingError("half a reply"),
    ],
)
@responses.activate
def test_a_write_without_a_reply_goes_out_once(github: GitHub, error: Exception) -> None:
    responses.post(COMMENTS, body=error)
    with pytest.raises(UnknownOutcomeError):
        github.create_comment(77, "hello")
    assert len(responses.calls) == 1


@pytest.mark.parametrize(
    "error",
    [requests.ConnectionError("reset"), requests.ReadTimeout("slow"), requests.ConnectTimeout("slow")],
)
@responses.activate
def test_a_read_without_a_reply_is_repeated(github: GitHub, waits: list[float], error: Exception) -> None:
    responses.get(COMMENTS, body=error)
    responses.get(COMMENTS, json=[])
    assert github.issue_comments(77) == []
    assert waits == [1]


@responses.activate
def test_the_error_for_a_missing_network_has_its_reason(github: GitHub) -> None:
    for _ in range(5):
        responses.get(COMMENTS, body=requests.ConnectionError("name resolution failed"))
    with pytest.raises(UnreachableError, match=r"No reply .* name resolution failed\.") as caught:
        github.issue_comments(77)
    assert caught.value.exit_code == 3


@responses.activate
def test_pygithub_sends_no_further_request_after_202_or_301(github: GitHub) -> None:
    """By default it asks again after 202, and follows 301 without the query string."""
    responses.post(f"{API}/repos/acme/bench/actions/runs/5/cancel", status=202, json={})
    assert github.cancel_run(5) is True
    responses.get(COMMENTS, status=202, json=[])
    github.issue_comments(77)
    responses.get(
        f"{API}/repos/acme/bench/actions/runs", status=301, headers={"Location": f"{API}/repositories/1/x"}
    )
    responses.get(f"{API}/repositories/1", json={"full_name": "acme/gauge"})
    with pytest.raises(UnexpectedReplyError, match="renamed to acme/gauge"):
        github.runs(head_sha="a" * 40)
    assert len(responses.calls) == 4
    assert responses.calls[3].request.url == f"{API}/repositories/1"


@responses.activate
def test_a_reply_that_is_not_json_is_an_error(github: GitHub) -> None:
    responses.get(COMMENTS, body="<html>Unicorn!</html>", status=200)
    with pytest.raises(UnexpectedReplyError):
        github.issue_comments(77)
    responses.get(f"{API}/repos/acme/bench/pulls/77", body="<html>Unicorn!</html>", status=502)
    with pytest.raises(ServerError, match="no reason given"):
        github.pull(77)


@responses.activate
def test_a_path_on_the_server_is_kept() -> None:
    """GitHub Enterprise Server has its API below a path."""
    responses.get("https://ghe.example.com:443/api/v3/repos/acme/bench/issues/77/comments", json=[])
    environ = {"GITHUB_API_URL": "https://ghe.example.com/api/v3"}
    assert connect("acme/bench", environ=environ).issue_comments(77) == []


@responses.activate
def test_names_are_quoted(github: GitHub) -> None:
    responses.get(
        f"{API}/repos/acme/bench/actions/workflows/a%2Fb%20c%3Fd/runs",
        json={"total_count": 0, "workflow_runs": []},
    )
    assert github.runs_page("a/b c?d", 1) == ([], True)
    responses.get(
        f"{API}/repos/acme/bench/contents/dir/a%20b%23.md", status=404, json={"message": "Not Found"}
    )
    assert github.read_file("dir/a b#.md", "feat/x") is None
    assert responses.calls[1].request.params == {"ref": "feat/x"}  # type: ignore[attr-defined]  # responses adds it


@pytest.mark.parametrize(
    ("environ", "token"),
    [
        ({"GH_TOKEN": "one", "GITHUB_TOKEN": "two"}, "one"),
        ({"GITHUB_TOKEN": "two"}, "two"),
        ({"GH_TOKEN": " one\n"}, "one"),
    ],
)
@responses.activate
def test_gh_token_wins_over_github_token(environ: dict[str, str], token: str) -> None:
    responses.get(COMMENTS, json=[])
    connect("acme/bench", environ=environ).issue_comments(77)
    assert responses.calls[0].request.headers["Authorization"] == f"token {token}"


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"GH_TOKEN": ""}, "GH_TOKEN is set but empty"),
        ({"GITHUB_TOKEN": " "}, "GITHUB_TOKEN is set but empty"),
        ({"GITHUB_API_URL": "api.github.com"}, "not an http or https address"),
    ],
)
def test_an_invalid_environment_is_refused(environ: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        connect("acme/bench", environ=environ)


ZIP = f"{API}/repos/acme/bench/actions/artifacts/9/zip"
STORE = "https://store.example.com/9?sig=x"


@responses.activate
def test_the_file_store_gets_no_token(github: GitHub) -> None:
    responses.get(ZIP, status=302, headers={"Location": STORE})
    responses.get(STORE, body=b"zip")
    assert github.download_artifact(9) == b"zip"
    assert "Authorization" not in responses.calls[1].request.headers


@pytest.mark.parametrize("store", [STORE, f"{API}/_store/9?sig=x", "http://127.0.0.1:9/x"])
@responses.activate
def test_no_credentials_go_to_a_store_wherever_it_is(
    github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    """The store is on another, GitHub's or this host, and redirects; ~/.netrc has a password for all."""
    netrc = tmp_path / "netrc"
    netrc.write_text("default login eve password secret\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    responses.get(ZIP, status=302, headers={"Location": store})
    responses.get(store, status=302, headers={"Location": "https://mirror.example.com/9"})
    responses.get("https://mirror.example.com/9", body=b"zip")
    assert github.download_artifact(9) == b"zip"
    sent = ["Authorization" in call.request.headers for call in responses.calls]
    assert sent == [True, False, False]


@responses.activate
def test_a_failed_download_is_repeated_and_a_refused_one_is_not(github: GitHub, waits: list[float]) -> None:
    responses.get(ZIP, status=302, headers={"Location": STORE})
    responses.get(STORE, status=503)
    responses.get(STORE, body=b"zip")
    assert github.download_artifact(9) == b"zip"
    assert waits == [1]
    responses.replace(responses.GET, STORE, status=403)
    with pytest.raises(GitHubError, match="The file store answered 403"):
        github.download_artifact(9)


@responses.activate
def test_a_download_without_a_link_is_refused(github: GitHub) -> None:
    responses.get(ZIP, body=b"zip")
    with pytest.raises(UnexpectedReplyError, match="no download link for artifact 9"):
        github.download_artifact(9)


REFUSALS: list[tuple[int, type[GitHubError]]] = [
    (401, BadCredentialsError),
    (404, NotFoundError),
    (409, ConflictError),
]


@pytest.mark.parametrize(("status", "kind"), REFUSALS)
@responses.activate
def test_refusals_arrive_as_their_class(github: GitHub, status: int, kind: type[GitHubError]) -> None:
    body: dict[str, Any] = {"message": "No"}
    responses.get(f"{API}/repos/acme/bench/pulls/77", status=status, json=body)
    with pytest.raises(kind):
        github.pull(77)


@responses.activate
@pytest.mark.parametrize(
    ("api", "graphql"),
    [
        ("https://api.github.com", "https://api.github.com:443/graphql"),
        ("https://ghe.example/api/v3", "https://ghe.example:443/api/graphql"),
    ],
)
def test_github_enterprise_server_has_graphql_below_api(api: str, graphql: str) -> None:
    responses.post(graphql, json={"data": {"nodes": []}})
    github = connect("acme/bench", environ={"GH_TOKEN": "secret", "GITHUB_API_URL": api})
    assert github.editors([]) == {}
    assert len(responses.calls) == 1
