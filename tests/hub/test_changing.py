"""Opening, changing, closing and reopening pull requests by HTTP, with GitHub's refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests

from infx.github.api import GitHub
from infx.hub import Event, Hub
from infx.hub.refusal import Refused

Ask = Callable[..., tuple[int, Any]]


@pytest.fixture
def ask(hub: Hub) -> Ask:
    """Return a function that sends a request, by default as mia, and returns its status and reply."""
    headers = {"Authorization": f"token {hub.user_token('mia')}"}

    def send(method: str, path: str, body: Any = None, *, token: str | None = None) -> tuple[int, Any]:
        url = f"{hub.api}/repos/acme/bench/{path}"
        sent = headers if token is None else {"Authorization": f"token {token}"}
        answer = requests.request(method, url, headers=sent, json=body, timeout=5)
        return answer.status_code, answer.json() if answer.content else None

    return send


def words(reply: Any) -> str:
    return str(reply["errors"][0]["message"]) if "errors" in reply else str(reply["message"])


def happened(hub: Hub) -> list[tuple[str, str | None]]:
    return [(event.name, event.action) for event in hub.state.events]


def last(hub: Hub, name: str) -> Event:
    return next(event for event in reversed(hub.state.events) if event.name == name)


@pytest.mark.parametrize("way", ["by git", "by method"])
def test_a_pull_request_closes_with_its_head_branch(hub: Hub, ask: Ask, way: str) -> None:
    match way:
        case "by git":
            hub.git.update_ref("refs/heads/feat-x", None)
        case "by method":
            hub.delete_branch("feat-x")
    _, pull = ask("GET", "pulls/77")
    assert (pull["state"], pull["merged"]) == ("closed", False)
    assert pull["closed_at"] is not None
    assert ask("GET", "pulls?state=open") == (200, [])
    assert happened(hub)[-1] == ("pull_request", "closed")
    assert [entry.event for entry in hub.state.timeline[-2:]] == ["head_ref_deleted", "closed"]
    status, reply = ask("PATCH", "pulls/77", {"state": "open"})
    assert (status, words(reply)) == (422, "state cannot be changed. The feat-x branch has been deleted.")


def test_a_forks_pull_request_closes_with_its_branch_too(hub: Hub, ask: Ask) -> None:
    hub.account("eve")
    hub.push("patch", {"x": "y"}, by="eve", repository="eve/bench", start="main")
    number = hub.open_pull("patch", by="eve", repository="eve/bench").number
    before = len(hub.state.events)
    hub.delete_branch("patch", by="eve", repository="eve/bench")
    assert ask("GET", f"pulls/{number}")[1]["state"] == "closed"
    assert ask("GET", "pulls/77")[1]["state"] == "open"
    assert happened(hub)[before:] == [("pull_request", "closed")]  # the push was in the fork


def test_a_pull_request_of_a_deleted_fork_has_no_branch_here(hub: Hub, ask: Ask) -> None:
    """A branch with the same name in this repository is a different branch."""
    sha = hub.push("patch", {"x": "y"}, by="eve", repository="eve/bench", start="main")
    number = hub.open_pull("patch", by="eve", repository="eve/bench").number
    hub.state.pulls[number].head_repository = None
    hub.push("patch", {"x": "z"})
    hub.delete_branch("patch")
    status, pull = ask("GET", f"pulls/{number}")
    assert (status, pull["head"]["sha"], pull["state"]) == (200, sha, "open")
    assert ask("PATCH", f"pulls/{number}", {"state": "closed"})[0] == 200
    assert ask("PATCH", f"pulls/{number}", {"state": "open"})[0] == 422


def test_a_pull_request_closes_with_its_base_branch(hub: Hub, ask: Ask) -> None:
    hub.push("release", {"r": "1"}, by="mia")
    hub.push("feat-y", {"y": "1"}, start="release")
    number = hub.open_pull("feat-y", base="release").number
    hub.delete_branch("release")
    assert ask("GET", f"pulls/{number}")[1]["state"] == "closed"
    assert ask("GET", "pulls/77")[1]["state"] == "open"


def test_a_merged_pull_request_outlives_its_branch(hub: Hub, ask: Ask) -> None:
    assert ask("PUT", "pulls/77/merge", {})[0] == 200
    hub.delete_branch("feat-x")
    assert ask("GET", "pulls/77")[1]["merged"] is True
    status, reply = ask("PATCH", "pulls/77", {"state": "open"})
    assert (status, words(reply)) == (422, "state cannot be changed. The pull request is merged.")
    assert ask("PATCH", "pulls/77", {"state": "closed"})[0] == 200


@pytest.mark.parametrize("branch", ["main", "none"])
def test_a_missing_or_default_branch_cannot_be_deleted(hub: Hub, ask: Ask, branch: str) -> None:
    with pytest.raises(Refused):
        hub.delete_branch(branch)
    assert hub.git.resolve("refs/heads/main")
    assert ask("GET", "pulls/77")[1]["state"] == "open"


def test_a_new_base_branch_is_in_the_reply_and_the_event(hub: Hub, ask: Ask) -> None:
    before = hub.state.pulls[77].base_sha
    tip = hub.push("release", {"README.md": "zero\n"}, by="mia")
    status, reply = ask("PATCH", "pulls/77", {"base": "release"})
    assert (status, reply["base"]["ref"], reply["base"]["sha"]) == (200, "release", tip)
    event = last(hub, "pull_request")
    assert (event.action, event.payload["changes"]) == (
        "edited",
        {"base": {"ref": {"from": "main"}, "sha": {"from": before}}},
    )
    assert event.payload["pull_request"]["base"]["ref"] == "release"
    assert ask("GET", "pulls/77")[1]["mergeable"] is False  # release has another first line
    assert ask("GET", "pulls?base=release")[1][0]["number"] == 77
    assert ask("GET", "pulls?base=main")[1] == []


def test_a_change_of_texts_emits_one_event(hub: Hub, ask: Ask) -> None:
    start = len(hub.state.events)
    assert ask("PATCH", "pulls/77", {"title": "New", "body": "Why."})[0] == 200
    assert ask("PATCH", "pulls/77", {"title": "New", "state": "open"})[0] == 200
    assert happened(hub)[start:] == [("pull_request", "edited")]
    assert hub.state.events[-1].payload["changes"] == {"title": {"from": "Add two"}, "body": {"from": ""}}
    assert (hub.state.pulls[77].title, hub.state.pulls[77].body) == ("New", "Why.")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"state": "foo"}, "state is not included in the list"),
        ({"state": ""}, "state is not included in the list"),
        ({"title": ""}, "title can't be blank"),
        ({"title": " \n"}, "title can't be blank"),
        ({"title": "x" * 257}, "title is too long (maximum is 256 characters)"),
        ({"body": "x" * 65_537}, "body is too long (maximum is 65536 characters)"),
        ({"base": "none"}, "Proposed base branch 'none' was not found"),
        ({"base": "feat-x"}, "No commits between feat-x and feat-x"),
        ({"base": "beyond"}, "No commits between beyond and feat-x"),
        ({"base": "orphan"}, "no history in common"),
    ],
)
def test_a_change_that_github_refuses_changes_nothing(
    hub: Hub, ask: Ask, change: dict[str, str], problem: str
) -> None:
    hub.push("beyond", {"z": "1"}, start="feat-x")
    tree = hub.git.commit(hub.state.pulls[77].head_sha).tree
    hub.git.update_ref("refs/heads/orphan", hub.git.commit_tree(tree, (), "x", author="mia", seconds=1))
    before = hub.snapshot()
    status, reply = ask("PATCH", "pulls/77", {"title": "New", "body": "New", **change})
    assert status == 422
    assert problem in words(reply)
    assert hub.state == before.state


def test_a_closed_pull_request_keeps_its_base(hub: Hub, ask: Ask) -> None:
    hub.push("release", {"r": "1"}, by="mia")
    hub.close_pull(77)
    assert ask("PATCH", "pulls/77", {"base": "release"})[0] == 422


def test_a_branch_may_have_one_pull_request_for_each_base(hub: Hub, ask: Ask) -> None:
    hub.push("release", {"r": "1"}, by="mia")
    body = {"title": "Backport", "head": "feat-x", "base": "release"}
    status, second = ask("POST", "pulls", body)
    assert (status, second["base"]["ref"], second["number"]) == (201, "release", 78)
    status, reply = ask("POST", "pulls", body)
    assert (status, words(reply)) == (422, "A pull request already exists for acme:feat-x.")
    status, reply = ask("PATCH", "pulls/78", {"base": "main"})
    assert (status, words(reply)) == (422, "A pull request already exists for acme:feat-x.")
    hub.push("feat-x", {"late": "1"})
    assert {hub.state.pulls[number].head_sha for number in (77, 78)} == {hub.git.resolve("feat-x")}


def test_a_forks_branch_with_the_same_name_is_a_different_branch(hub: Hub, ask: Ask) -> None:
    hub.push("feat-x", {"x": "y"}, by="eve", repository="eve/bench", start="main")
    body = {"title": "t", "head": "eve:feat-x", "base": "main"}
    assert ask("POST", "pulls", body)[0] == 201
    status, reply = ask("POST", "pulls", body)
    assert (status, words(reply)) == (422, "A pull request already exists for eve:feat-x.")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"title": ""}, "title is missing"),
        ({"title": "  "}, "title can't be blank"),
        ({"title": "x" * 257}, "title is too long"),
        ({"head": "none"}, "head is invalid"),
        ({"base": "none"}, "Proposed base branch 'none' was not found"),
        ({"head": "main"}, "No commits between main and main"),
        ({"head": "same"}, "No commits between main and same"),
        ({"head": "past"}, "No commits between main and past"),
        ({"head": "feat-x"}, "A pull request already exists for acme:feat-x."),
        ({"head": "acme:feat-x"}, "A pull request already exists for acme:feat-x."),
    ],
)
def test_a_pull_request_that_github_refuses_is_not_opened(
    hub: Hub, ask: Ask, body: dict[str, str], problem: str
) -> None:
    main = hub.git.resolve("refs/heads/main")
    hub.git.update_ref("refs/heads/past", main)
    hub.git.update_ref("refs/heads/same", hub.push("main", {"later": "1"}, by="mia"))
    hub.push("new", {"n": "1"})
    before = hub.snapshot()
    status, reply = ask("POST", "pulls", {"title": "t", "head": "new", "base": "main", **body})
    assert status == 422
    assert problem in words(reply)
    assert hub.state == before.state


def test_a_reopened_pull_request_has_the_newest_push(hub: Hub, ask: Ask) -> None:
    hub.close_pull(77)
    head = hub.push("feat-x", {"late": "1"})
    assert ask("GET", "pulls/77")[1]["head"]["sha"] != head
    status, reply = ask("PATCH", "pulls/77", {"state": "open"})
    assert (status, reply["state"], reply["head"]["sha"]) == (200, "open", head)
    assert happened(hub)[-1] == ("pull_request", "reopened")


def test_a_pull_request_stays_closed_after_a_forced_push(hub: Hub, ask: Ask) -> None:
    hub.close_pull(77)
    hub.push("feat-x", {"other": "1"}, start="main", force=True)
    status, reply = ask("PATCH", "pulls/77", {"state": "open"})
    assert (status, "force-pushed or recreated" in words(reply)) == (422, True)


def test_a_pull_request_is_not_reopened_next_to_its_successor(hub: Hub, ask: Ask) -> None:
    hub.close_pull(77)
    hub.open_pull("feat-x")
    status, reply = ask("PATCH", "pulls/77", {"state": "open"})
    assert (status, words(reply)) == (422, "A pull request already exists for acme:feat-x.")


@pytest.mark.parametrize(
    ("role", "may"),
    [
        ("none", {"comment", "own comment", "react", "own pull"}),
        ("read", {"comment", "own comment", "react", "own pull"}),
        ("triage", {"comment", "own comment", "react", "own pull", "label", "close"}),
        ("write", {"comment", "own comment", "react", "own pull", "label", "close", "others' comment", "title", "status", "dispatch"}),
    ],
)  # fmt: skip
def test_the_role_decides_what_a_person_may_do(hub: Hub, ask: Ask, role: str, may: set[str]) -> None:
    """Everyone may comment on a public repository and propose from a fork; the rest needs a role."""
    token = hub.user_token("eve")
    hub.account("eve", role=role)  # the role at the time of the request counts
    hub.push("patch", {"x": "y"}, by="eve", repository="eve/bench", start="main")
    hub.push("spare", {"x": "y"})
    theirs, own = hub.comment(77, "hello", by="cody").id, hub.comment(77, "hi", by="eve").id
    sha = hub.state.pulls[77].head_sha
    requests_ = {
        "comment": ("POST", "issues/77/comments", {"body": "Looks good."}),
        "own comment": ("PATCH", f"issues/comments/{own}", {"body": "hi all"}),
        "react": ("POST", f"issues/comments/{theirs}/reactions", {"content": "+1"}),
        "own pull": ("POST", "pulls", {"title": "t", "head": "eve:patch", "base": "main"}),
        "label": ("POST", "issues/77/labels", {"labels": ["x"]}),
        "others' comment": ("PATCH", f"issues/comments/{theirs}", {"body": "forged"}),
        "title": ("PATCH", "pulls/77", {"title": "forged"}),
        "status": ("POST", f"statuses/{sha}", {"state": "success"}),
        "dispatch": ("POST", "actions/workflows/run-sweep.yml/dispatches", {"ref": "main"}),
        "close": ("PATCH", "pulls/77", {"state": "closed"}),
    }
    answers = {name: ask(*request, token=token)[0] for name, request in requests_.items()}
    assert {name for name, status in answers.items() if status < 300} == may
    assert {status for status in answers.values() if status >= 300} <= {403}


def test_an_author_may_change_and_close_the_pull_request(hub: Hub, ask: Ask) -> None:
    hub.push("patch", {"x": "y"}, by="eve", repository="eve/bench", start="main")
    hub.open_pull("patch", by="eve", repository="eve/bench", number=80)
    token = hub.user_token("eve")
    assert ask("PATCH", "pulls/80", {"title": "Better"}, token=token)[0] == 200
    assert ask("PATCH", "pulls/80", {"state": "closed"}, token=token)[0] == 200
    assert hub.state.pulls[80].title == "Better"


def test_opening_a_pull_request_from_a_branch_here_needs_write(hub: Hub, ask: Ask) -> None:
    hub.account("eve", role="read")
    hub.push("spare", {"x": "y"})
    body = {"title": "t", "head": "spare", "base": "main"}
    assert ask("POST", "pulls", body, token=hub.user_token("eve"))[0] == 403


def test_readers_cannot_comment_in_a_locked_conversation(hub: Hub, ask: Ask, github: GitHub) -> None:
    hub.account("eve", role="read")
    hub.state.pulls[77].locked = True
    eve = hub.user_token("eve")
    status, reply = ask("POST", "issues/77/comments", {"body": "x"}, token=eve)
    assert (status, reply["message"]) == (403, "Unable to create comment because issue is locked.")
    assert ask("POST", "issues/77/comments", {"body": "x"})[0] == 201
    assert len(github.issue_comments(77)) == 1
