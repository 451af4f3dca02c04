"""Pull requests on the hub, with real merges and files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from infx.git import Git
from infx.github.api import GitHub, connect
from infx.github.errors import IncompleteListError, NotFoundError
from infx.hub import Hub
from infx.hub.refusal import Refused
from infx.model import FileStatus


def test_the_test_merge_is_real(hub: Hub, github: GitHub) -> None:
    pull = github.pull(77)
    merge = github.ref("pull/77/merge")
    assert pull.mergeable is True
    assert merge is not None
    assert github.commit(merge).parents == (hub.git.resolve("refs/heads/main"), pull.head_sha)
    assert github.ref("pull/77/head") == pull.head_sha
    assert github.read_file("README.md", merge) == b"one\ntwo\n"


def test_a_conflict_keeps_the_last_test_merge(hub: Hub, github: GitHub) -> None:
    """`refs/pull/N/merge` is up to date only while `mergeable` is true."""
    assert github.pull(77).mergeable is True
    before = github.ref("pull/77/merge")
    hub.push("main", {"README.md": "another\n"}, by="mia")
    assert github.pull(77).mergeable is False
    assert github.ref("pull/77/merge") == before
    hub.push("feat-x", {"README.md": "another\n"})
    assert github.pull(77).mergeable is True


def test_a_push_to_the_base_branch_makes_a_new_test_merge(hub: Hub, github: GitHub) -> None:
    github.pull(77)
    before = github.ref("pull/77/merge")
    tip = hub.push("main", {"other.md": "x"}, by="mia")
    head = github.pull(77).head_sha
    after = github.ref("pull/77/merge")
    assert after is not None
    assert after != before
    assert github.commit(after).parents == (tip, head)


def test_mergeable_takes_a_while(hub: Hub, github: GitHub, waits: list[float]) -> None:
    hub.state.pulls[77].unknown_reads = 2
    assert github.settled_pull(77).mergeable is True
    assert waits == [1, 2]


def test_files_of_every_status(hub: Hub, github: GitHub) -> None:
    long = "".join(f"line {number}\n" for number in range(50))
    hub.push("main", {"old name.md": long, "gone.md": "x\n", "binary": b"\0\1"}, by="mia")
    changes = {"old name.md": None, "new näme.md": long + "more\n", "gone.md": None, "binary": b"\0\2"}
    hub.push("moves", changes)
    number = hub.open_pull("moves").number
    files = {file.path: file for file in github.files(github.pull(number))}
    assert {path: file.status for path, file in files.items()} == {
        "binary": FileStatus.MODIFIED,
        "gone.md": FileStatus.REMOVED,
        "new näme.md": FileStatus.RENAMED,
    }
    assert files["new näme.md"].paths == ("old name.md", "new näme.md")
    assert files["binary"].patch is None
    assert files["gone.md"].patch == "@@ -1 +0,0 @@\n-x"


def test_files_are_those_of_the_pull_request_alone(hub: Hub, github: GitHub) -> None:
    """They are compared with the merge base, so later commits on main do not appear."""
    hub.push("main", {"mains.md": "x"}, by="mia")
    assert [file.path for file in github.files(github.pull(77))] == ["README.md", "docs/new.md"]
    hub.merge_base_branch(77)
    assert [file.path for file in github.files(github.pull(77))] == ["README.md", "docs/new.md"]


def test_many_files_and_commits_take_pages_and_have_caps(hub: Hub, github: GitHub) -> None:
    hub.push_commits("many", [({f"f/{number:03}": "x"}, f"commit {number}") for number in range(240)])
    pull = github.pull(hub.open_pull("many").number)
    assert [commit.message for commit in github.commits(pull)] == [f"commit {n}" for n in range(240)]
    assert len(github.files(pull)) == 240
    hub.push_commits("many", [({f"g/{number:03}": "x"}, "more") for number in range(20)])
    pull = github.pull(pull.number)
    with pytest.raises(IncompleteListError, match="260 commits"):
        github.commits(pull)
    late = hub.git.commits_between(hub.find_base(hub.state.pulls[pull.number]), pull.head_sha)[254]
    assert github.is_ancestor(late, pull.head_sha)
    assert not github.is_ancestor(late, pull.base_sha)


def test_a_cut_list_of_3200_files_is_noticed(hub: Hub, github: GitHub) -> None:
    hub.push("huge", {f"f/{number:04}": "x" for number in range(3200)})
    pull = github.pull(hub.open_pull("huge").number)
    assert pull.changed_files == 3200
    with pytest.raises(IncompleteListError, match="3,200 files"):
        github.files(pull)


def test_a_forks_pull_request(hub: Hub, github: GitHub) -> None:
    hub.account("eve")
    hub.push("main", {"README.md": "theirs\n"}, by="eve", repository="eve/bench")
    number = hub.open_pull("main", by="eve", repository="eve/bench").number
    pull = github.pull(number)
    assert (pull.is_fork, pull.head_repository, pull.head_ref) == (True, "eve/bench", "main")
    assert github.ref("heads/main") != pull.head_sha
    assert github.ref(f"pull/{number}/head") == pull.head_sha
    hub.state.pulls[number].head_repository = None
    gone = github.pull(number)
    assert (gone.head_repository, gone.is_fork) == (None, True)


def test_a_push_moves_the_head_and_emits_an_event(hub: Hub, github: GitHub) -> None:
    before = github.pull(77).head_sha
    after = hub.push("feat-x", {"a": "b"})
    assert github.pull(77).head_sha == after == github.ref("pull/77/head")
    (event,) = [event for event in hub.state.events if event.action == "synchronize"]
    assert (event.payload["before"], event.payload["after"]) == (before, after)
    assert event.payload["pull_request"]["head"]["sha"] == after


def test_a_push_with_git_is_noticed(hub: Hub, github: GitHub) -> None:
    old = github.pull(77)
    tree = hub.git.commit(old.head_sha).tree
    made = hub.git.commit_tree(tree, [old.head_sha], "by git", author="cody", seconds=1)
    Git(hub.git.path).run("update-ref", "refs/heads/feat-x", made)
    assert github.pull(77).head_sha == made
    assert [event.action for event in hub.state.events][-1] == "synchronize"


def test_a_forced_push_is_in_the_timeline(hub: Hub) -> None:
    hub.push("feat-x", {"b": "1"}, start="main", force=True)
    assert hub.state.timeline[-1].event == "head_ref_force_pushed"


@pytest.mark.parametrize(("method", "parents"), [("squash", 1), ("merge", 2)])
def test_merging(hub: Hub, github: GitHub, method: str, parents: int) -> None:
    head = github.pull(77).head_sha
    merged = hub.merge_pull(77, sha=head, method=method, title="Add two (#77)", message="Why.")
    commit = github.commit(merged)
    assert github.ref("heads/main") == merged
    assert len(commit.parents) == parents
    assert commit.message == "Add two (#77)\n\nWhy."
    pull = github.pull(77)
    assert (pull.is_open, pull.is_merged, hub.state.pulls[77].merge_sha) == (False, True, merged)
    assert pull.changed_files == 2


def test_merges_that_github_refuses(hub: Hub, github: GitHub) -> None:
    head = github.pull(77).head_sha
    hub.push("feat-x", {"late.md": "x"})
    with pytest.raises(Refused, match="Head branch was modified"):
        hub.merge_pull(77, sha=head)
    with pytest.raises(Refused, match="Rebase merges are not allowed"):
        hub.merge_pull(77, method="rebase")
    hub.set_draft(77, True)
    with pytest.raises(Refused, match="not mergeable"):
        hub.merge_pull(77)
    assert github.pull(77).is_merged is False


def test_lists_of_pull_requests(hub: Hub, github: GitHub) -> None:
    hub.push("other", {"x": "y"})
    hub.open_pull("other", number=78)
    hub.close_pull(78)
    assert [pull.number for pull in github.pulls()] == [77]
    assert [pull.number for pull in github.pulls(state="closed")] == [78]
    assert {pull.number for pull in github.pulls(state="all")} == {77, 78}
    assert [pull.number for pull in github.pulls(state="all", head="acme:other")] == [78]
    assert github.pulls(base="release") == []


def test_lists_since_a_time(tmp_path: Path) -> None:
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    with Hub(tmp_path / "hub", clock=lambda: now) as hub:
        hub.push("main", {"a": "0"})
        sha = hub.push("feat-x", {"a": "1"})
        for number in range(1, 131):  # a minute apart
            hub.git.update_ref(f"refs/heads/feat-{number}", sha)
            hub.open_pull(f"feat-{number}")
            now += timedelta(minutes=1)
        old = hub.comment(7, "old")
        now += timedelta(minutes=1)
        hub.comment(7, "new")
        github = connect("acme/bench", environ=hub.environ(hub.user_token("cody")))
        hub.clear_log()
        pulls = github.pulls(updated_since=now - timedelta(minutes=30))
        assert [pull.number for pull in pulls] == [7, *range(130, 101, -1)]
        assert hub.reads == 1  # the list begins with the last updated, so one page is enough
        since = datetime.fromisoformat(old.updated_at) + timedelta(seconds=1)
        assert [comment.body for comment in github.issue_comments(7, since=since)] == ["new"]


def test_labels_keep_their_first_spelling(hub: Hub, github: GitHub) -> None:
    hub.label(77, "Full-Sweep")
    hub.label(77, "full-sweep")
    assert github.labels(77) == ("Full-Sweep",)
    hub.unlabel(77, "FULL-SWEEP")
    events = github.label_events(77)
    assert [(event.label, event.added) for event in events] == [("Full-Sweep", True), ("Full-Sweep", False)]


def test_missing_pull_requests_refs_and_files(github: GitHub) -> None:
    with pytest.raises(NotFoundError):
        github.pull(404)
    with pytest.raises(NotFoundError):
        github.at("acme/other").pull(77)
    assert github.ref("heads/none") is None
    assert github.read_file("none.md", "main") is None
    assert github.read_file("README.md", "none") is None


def test_a_file_too_large_for_contents_is_read(hub: Hub, github: GitHub) -> None:
    data = b"0123456789" * 120_000
    hub.push("big", {"dir/big file.bin": data})
    assert github.read_file("dir/big file.bin", "big") == data


def test_a_snapshot_restores_the_state_and_the_refs(hub: Hub, client: Callable[[str | None], GitHub]) -> None:
    github = client(hub.workflow_token({"pull-requests": "write", "contents": "write"}))
    before, kept = github.pull(77), hub.snapshot()
    for _ in range(2):
        github.create_comment(77, "hello")
        hub.push("new", {"a": "b"})
        hub.merge_pull(77)
        hub.restore(kept)
        assert github.pull(77) == before
        assert github.issue_comments(77) == []
        assert github.ref("heads/new") is None
