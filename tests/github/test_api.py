"""Methods of the client: what they request, how they read unusual answers, when they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from infx.github.api import GitHub
from infx.github.errors import (
    GitHubError,
    IncompleteListError,
    NotFoundError,
    PermissionDeniedError,
    UnexpectedReplyError,
    UnknownOutcomeError,
)
from infx.model import GHOST
from tests.builders import NOW, pull
from tests.github.answers import T0, WEB, issue_comment
from tests.github.scripted import play_github, refusal, reply

# Lists that GitHub cuts without a warning


def test_3200_files_are_refused_without_a_request() -> None:
    github, transport, _ = play_github([])
    with pytest.raises(IncompleteListError, match="has 3,200 files; GitHub lists only 3,000"):
        github.files(pull(changed_files=3200))
    assert transport.sent == []


def test_260_commits_are_refused_without_a_request() -> None:
    github, _, _ = play_github([])
    with pytest.raises(IncompleteListError, match="has 260 commits; GitHub lists only 250"):
        github.commits(pull(commits=260))


def test_fewer_files_than_the_pull_request_has_are_refused() -> None:
    page = [{"filename": "a", "status": "added"}]
    github, _, _ = play_github([reply(data=page)] * 3)
    with pytest.raises(IncompleteListError, match="delivered 1 of 2 items"):
        github.files(pull(changed_files=2))


@pytest.mark.parametrize(
    ("status", "expected"), [("ahead", True), ("identical", True), ("behind", False), ("diverged", False)]
)
def test_a_commit_beyond_250_is_found_by_comparison(status: str, expected: bool) -> None:
    github, transport, _ = play_github([reply(data={"status": status})])
    assert github.is_ancestor("c" * 40, "a" * 40) is expected
    assert transport.sent[0].path == f"/repos/acme/bench/compare/{'c' * 40}...{'a' * 40}"


def test_a_commit_that_does_not_exist_is_not_an_ancestor() -> None:
    github, _, _ = play_github([refusal(404, "Not Found")] * 2)
    assert github.is_ancestor("c" * 40, "a" * 40) is False


def test_a_read_is_repeated_after_404() -> None:
    """GitHub at times answers 404 for things that exist."""
    denied = refusal(404, "Not Found")
    github, _, _ = play_github([denied, reply(data={"status": "ahead"})])
    assert github.is_ancestor("c" * 40, "a" * 40) is True
    github, _, _ = play_github([denied, reply(data={"user": {"login": "mia"}, "permission": "admin"})])
    assert github.permission("mia").is_admin
    github, _, _ = play_github([denied, reply(data={"object": {"sha": "a" * 40}})])
    assert github.ref("heads/main") == "a" * 40
    github, _, _ = play_github([denied, reply(data={"total_count": 0, "workflow_runs": []})])
    assert github.runs(workflow="run-sweep.yml") == []


@pytest.mark.parametrize("verb", ["edit", "delete"])
def test_a_404_to_a_write_is_checked_by_a_read(verb: str) -> None:
    denied = refusal(404, "Not Found")
    github, _, _ = play_github([denied, reply(data=issue_comment(5))])
    with pytest.raises(UnexpectedReplyError, match="But it exists"):
        github.edit_comment(5, "x") if verb == "edit" else github.delete_comment(5)


def test_editing_a_deleted_comment_is_an_error() -> None:
    github, _, _ = play_github([refusal(404, "Not Found")] * 3)
    with pytest.raises(NotFoundError):
        github.edit_comment(5, "x")


@pytest.mark.parametrize("verb", ["cancel", "delete"])
def test_a_write_with_an_unexpected_status_has_an_unknown_outcome(verb: str) -> None:
    """Neither answer has a body, so only its status shows that the write was done."""
    github, _, _ = play_github([reply(200)])
    with pytest.raises(UnknownOutcomeError, match=r"GitHub answered 200, not 20[24]"):
        github.cancel_run(5) if verb == "cancel" else github.delete_comment(5)


# Repeated items, of which the newest counts


def status(number: int, context: str, state: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "context": context, "state": state, "created_at": T0, **more}


def test_the_newest_status_of_each_context_counts() -> None:
    page = [
        status(3, "infx/sweep", "success", creator={"login": "github-actions[bot]", "type": "Bot"}),
        status(2, "other", "failure", description=None, target_url=None, creator=None),
        status(1, "infx/sweep", "pending"),
    ]
    github, _, _ = play_github([reply(data=page)])
    sweep, other = github.statuses("a" * 40)
    assert (sweep.context, sweep.state, sweep.creator.login) == (
        "infx/sweep",
        "success",
        "github-actions[bot]",
    )
    assert (other.context, other.description, other.target_url, other.creator) == ("other", "", "", GHOST)


def artifact(number: int, name: str, **more: Any) -> dict[str, Any]:
    source = {"id": 5, "head_sha": "a" * 40}
    about = {"id": number, "name": name, "size_in_bytes": 1, "expired": False, "created_at": T0}
    return {**about, "workflow_run": source, **more}


def test_the_last_upload_of_an_artifact_name_counts() -> None:
    page = {"total_count": 3, "artifacts": [artifact(3, "a"), artifact(1, "a"), artifact(2, "b")]}
    github, _, _ = play_github([reply(data=page)])
    assert [(artifact.id, artifact.name) for artifact in github.artifacts(5)] == [(2, "b"), (3, "a")]


def test_artifacts_without_a_run_or_a_time_are_left_out() -> None:
    """GitHub's description allows null for both."""
    items = [artifact(3, "r", workflow_run=None), artifact(2, "r", created_at=None), artifact(1, "r")]
    github, _, _ = play_github([reply(data={"total_count": 3, "artifacts": items})])
    assert [artifact.id for artifact in github.named_artifacts("r", since=NOW)] == [1]


def run(**more: Any) -> dict[str, Any]:
    about = {"id": 5, "path": ".github/workflows/run-sweep.yml@refs/heads/main", "event": "pull_request"}
    state = {"status": "completed", "conclusion": "success", "head_sha": "a" * 40, "html_url": WEB}
    return {**about, **state, "created_at": T0, "updated_at": T0, **more}


def test_a_run_of_a_fork_has_no_pull_request() -> None:
    data = run(pull_requests=[], head_repository=None, run_attempt=None, actor=None)
    github, _, _ = play_github([reply(data=data)])
    forks_run = github.run(5)
    assert (forks_run.path, forks_run.attempt) == (".github/workflows/run-sweep.yml", 1)
    assert (forks_run.pull_numbers, forks_run.head_repository, forks_run.actor) == ((), None, GHOST)


def test_a_workflow_that_does_not_exist_yet_has_no_runs() -> None:
    """A 404 for all runs of the repository is an error."""
    github, _, _ = play_github([refusal(404, "Not Found")] * 5)
    assert github.runs(workflow="run-sweep.yml", newest=5) == []
    with pytest.raises(NotFoundError):
        github.runs(newest=5)


@pytest.mark.parametrize(
    "ask", [lambda g: g.runs(workflow="run-sweep.yml", newest=5), lambda g: g.runs_page("run-sweep.yml", 1)]
)
def test_a_404_for_runs_of_an_existing_workflow_is_an_error(ask: Callable[[GitHub], object]) -> None:
    github, _, _ = play_github([refusal(404, "Not Found")] * 2 + [reply(data={"sha": "a" * 40})])
    with pytest.raises(UnexpectedReplyError, match="But it exists"):
        ask(github)


@pytest.mark.parametrize(
    "page", [{"total_count": 1, "artifacts": []}, {"total_count": 1, "artifacts": [None]}]
)
def test_an_incomplete_page_is_an_error(page: object) -> None:
    github, _, _ = play_github([reply(data=page)])
    with pytest.raises(GitHubError):
        github.artifacts_page("results_bmk", 1)


@pytest.mark.parametrize(
    ("ask", "data"),
    [
        (lambda g: g.permission("mia"), {"permission": None, "role_name": None, "user": {"login": "mia"}}),
        (lambda g: g.ref("heads/main"), {"object": {"sha": None}}),
        (lambda g: g.is_ancestor("a" * 40, "b" * 40), {"status": None}),
    ],
    ids=["permission", "ref", "comparison"],
)
def test_null_in_a_required_field_is_an_error(ask: Callable[[GitHub], object], data: object) -> None:
    """Null must become neither the word None nor False."""
    github, _, _ = play_github([reply(data=data)])
    with pytest.raises(UnexpectedReplyError):
        ask(github)


# Permissions


def test_members_of_an_invisible_team_are_unknown() -> None:
    github, _, _ = play_github(
        [
            refusal(404, "Not Found"),
            refusal(403, "Resource not accessible by integration"),
            reply(data={"permission": "write", "role_name": "maintain", "user": {"login": "mia"}}),
        ]
    )
    assert github.team_members("acme", "core") is None
    assert github.team_members("acme", "core") is None
    assert github.permission("mia").can_write


@pytest.mark.parametrize(
    ("permission", "role", "can_write"),
    [
        ("write", "write", True),
        ("write", "maintain", True),
        ("admin", "admin", True),
        ("read", "triage", False),
        ("write", "release-manager", False),  # infx does not know what a custom role may do
        ("none", "none", False),
    ],
)
def test_permission_and_role_must_both_be_enough(permission: str, role: str, can_write: bool) -> None:
    data = {"permission": permission, "role_name": role, "user": {"login": "x"}}
    github, _, _ = play_github([reply(data=data)])
    assert github.permission("x").can_write is can_write


def test_a_stranger_has_no_permission() -> None:
    github, _, _ = play_github([refusal(404, "Not Found")] * 2)
    stranger = github.permission("eve")
    assert (stranger.login, stranger.permission, stranger.can_write, stranger.is_known) == (
        "eve",
        "none",
        False,
        False,
    )


# Waiting for the test merge


def pull_json(**more: Any) -> dict[str, Any]:
    side = {"sha": "a" * 40, "ref": "x", "repo": {"full_name": "acme/bench"}}
    about = {"number": 77, "title": "t", "body": None, "user": None, "state": "open", "merged": False}
    counts = {"changed_files": 1, "commits": 1, "mergeable": None, "merge_commit_sha": None}
    times = {"updated_at": T0, "created_at": T0}
    return {**about, **counts, **times, "base": side, "head": side, "labels": [], **more}


def test_mergeable_is_asked_for_until_it_is_known() -> None:
    unknown, known = reply(data=pull_json()), reply(data=pull_json(mergeable=False))
    github, _, clock = play_github([unknown, unknown, known])
    assert github.settled_pull(77).mergeable is False
    assert clock.waits == [1, 2]


def test_mergeable_may_stay_unknown() -> None:
    github, _, clock = play_github([reply(data=pull_json())] * 3)
    assert github.settled_pull(77, waits=(1, 1)).mergeable is None
    assert clock.waits == [1, 1]


def test_a_closed_pull_request_is_not_waited_for() -> None:
    github, _, clock = play_github([reply(data=pull_json(state="closed"))])
    assert github.settled_pull(77).is_open is False
    assert clock.waits == []


def test_a_deleted_fork_is_still_a_fork() -> None:
    gone = {"sha": "a" * 40, "ref": "x", "repo": None}
    github, _, _ = play_github([reply(data=pull_json(head=gone))])
    forks_pull = github.pull(77)
    assert (forks_pull.head_repository, forks_pull.is_fork) == (None, True)


# Invalid answers

GETTERS: list[Callable[[GitHub], object]] = [
    lambda github: github.pull(77),
    lambda github: github.run(5),
    lambda github: github.permission("x"),
    lambda github: github.ref("heads/main"),
    lambda github: github.commit("a" * 40),
    lambda github: github.issue_comments(77),
    lambda github: github.create_comment(77, "x"),
    lambda github: github.dispatch_workflow("x.yml", ref="main", inputs={}),
    lambda github: github.read_file("a", "main"),
]


@pytest.mark.parametrize("data", [{}, {"id": 1}, [{}], "text", None, 5])
@pytest.mark.parametrize("get", GETTERS)
def test_an_answer_of_the_wrong_shape_is_an_unexpected_reply(get: Any, data: Any) -> None:
    github, _, _ = play_github([reply(data=data)])
    with pytest.raises(UnexpectedReplyError):
        get(github)


def test_a_folder_is_not_a_file() -> None:
    github, _, _ = play_github([reply(data=[{"type": "file", "name": "a"}])])
    with pytest.raises(UnexpectedReplyError):
        github.read_file("docs", "main")


def test_a_large_file_is_read_as_a_blob() -> None:
    small = {"type": "file", "sha": "f" * 40, "encoding": "base64", "content": "aGk=\n"}
    github, transport, _ = play_github(
        [reply(data={**small, "encoding": "none", "content": ""}), reply(data=small)]
    )
    assert github.read_file("big", "main") == b"hi"
    assert transport.sent[1].path == f"/repos/acme/bench/git/blobs/{'f' * 40}"


def test_a_deleted_comment_can_be_deleted_again() -> None:
    github, transport, _ = play_github([refusal(404, "Not Found")] * 3)
    github.delete_comment(5)
    assert [request.verb for request in transport.sent] == ["DELETE", "GET", "GET"]


def test_a_read_only_token_lacks_a_permission() -> None:
    reason = "Resource not accessible by integration"
    headers = {"x-accepted-github-permissions": "issues=write; pull_requests=write"}
    github, transport, clock = play_github([refusal(403, reason, headers)])
    with pytest.raises(PermissionDeniedError) as caught:
        github.create_comment(77, "hello")
    assert caught.value.permission == "issues: write or pull-requests: write"
    assert (len(transport.sent), clock.waits) == (1, [])
