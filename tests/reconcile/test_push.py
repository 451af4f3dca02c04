"""Check which commit infx pushes to fix a branch, and when infx pushes no commit."""

from __future__ import annotations

import pytest

from infx.git import GitError
from infx.reconcile.actions import PushCommit
from tests.reconcile.world import BASE, LABEL, World, entry

OTHER = entry("other", "https://github.com/acme/bench/pull/70")
OWN = entry("new", "https://github.com/acme/bench/pull/77")


def file(world: World, revision: str = "feat-x", path: str = "perf-changelog.yaml") -> str:
    blob = world.hub.git.file(revision, path)
    assert blob is not None
    return blob[2].decode()


def conflicting(world: World, path: str = "benchmarks/b.sh") -> str:
    world.pull({"perf-changelog.yaml": BASE + entry(), "benchmarks/a.sh": "mine\n"}, labels=[LABEL])
    return world.hub.push("main", {"perf-changelog.yaml": BASE + OTHER, path: "theirs\n"})


def pushes(world: World) -> list[PushCommit]:
    report = world.reconcile(push_token="app")
    assert not report.failed
    return [action for action in report.done if isinstance(action, PushCommit)]


def test_a_conflict_in_only_the_changelog_is_resolved(world: World) -> None:
    base = conflicting(world)
    before = world.hub.state.pulls[77].head_sha
    assert len(pushes(world)) == 1
    assert file(world) == BASE + OTHER + OWN  # the base branch's bytes, then the new entry with its link
    assert file(world, path="benchmarks/a.sh") == "mine\n"
    assert file(world, path="benchmarks/b.sh") == "theirs\n"
    pushed = world.hub.git.commit(world.hub.git.resolve("feat-x") or "")
    assert pushed.parents == (before, base)
    assert pushed.message == "Merge main, with its changelog entries first"
    assert pushes(world) == []
    assert not [line for line in world.bot_comments() if "conflict" in line]


@pytest.mark.parametrize(
    ("path", "is_kept"),
    [
        ("README.md", True),
        ("configs/amd-master.yaml", True),
        ("benchmarks/b.sh", False),
        ("benchmarks/notes.md", False),
    ],
)
def test_a_merge_skips_a_sweep_unless_rows_may_use_its_files(
    world: World, path: str, *, is_kept: bool
) -> None:
    """If the earlier sweep does not count for the merge, the merge must start another sweep."""
    conflicting(world, path)
    world.sweep(done=0, running=2)
    head = world.hub.state.pulls[77].head_sha
    assert pushes(world) == []  # no sweep and no merge needs the commit yet
    world.hub.set_status(head, "codeowner-signoff-verify", "success")
    assert len(pushes(world)) == 1
    pushed = world.hub.git.commit(world.hub.git.resolve("feat-x") or "")
    assert pushed.message == "Merge main, with its changelog entries first" + " [skip-sweep]" * is_kept


def test_links_are_made_canonical_after_the_sign_off(world: World) -> None:
    world.pull(labels=[LABEL])
    world.sweep(done=2, status="completed", conclusion="success")
    assert pushes(world) == []
    head = world.hub.state.pulls[77].head_sha
    world.hub.set_status(head, "codeowner-signoff-verify", "success")
    assert len(pushes(world)) == 1
    assert file(world) == BASE + OWN
    pushed = world.hub.git.commit(world.hub.git.resolve("feat-x") or "")
    assert pushed.message == "Make changelog links canonical [skip-sweep]"
    assert pushed.parents == (head,)


@pytest.mark.parametrize("creator", ["eve", "coverage[bot]"])
def test_a_sign_off_status_of_another_account_is_ignored(world: World, creator: str) -> None:
    world.pull(labels=[LABEL])
    world.sweep(done=2, status="completed", conclusion="success")
    world.hub.set_status(
        world.hub.state.pulls[77].head_sha, "codeowner-signoff-verify", "success", by=creator
    )
    assert pushes(world) == []


def test_without_an_app_token_a_notice_shows_the_command(world: World) -> None:
    conflicting(world)
    world.reconcile()
    assert any("infx changelog resolve" in body for body in world.comments())
    assert file(world) == BASE + entry()


def test_without_a_label_nothing_is_pushed(world: World) -> None:
    conflicting(world)
    world.hub.unlabel(77, LABEL)
    assert pushes(world) == []


def test_a_queued_branch_is_not_pushed_to(world: World) -> None:
    """The merge queue would drop the push."""
    conflicting(world)
    base = world.hub.git.resolve("main")
    world.hub.push(f"gh-readonly-queue/main/pr-77-{base}", {"x": "y"}, start="feat-x")
    assert pushes(world) == []


def test_a_conflict_in_another_file_is_left_to_the_author(world: World) -> None:
    conflicting(world)
    world.hub.push("main", {"benchmarks/a.sh": "theirs too\n"})
    assert pushes(world) == []


def test_a_fork_is_never_pushed_to(world: World) -> None:
    world.hub.push("fork-x", {"perf-changelog.yaml": BASE + entry()}, repository="eve/bench")
    world.hub.open_pull("fork-x", number=77, repository="eve/bench", by="eve", labels=[LABEL])
    world.hub.push("main", {"perf-changelog.yaml": BASE + OTHER})
    assert pushes(world) == []


def test_a_conflict_with_an_edited_entry_is_left_to_the_author(world: World) -> None:
    conflicting(world)
    world.hub.push("feat-x", {"perf-changelog.yaml": BASE.replace("old one", "edited") + entry()})
    assert pushes(world) == []


def test_a_branch_with_a_newer_head_is_not_overwritten(world: World) -> None:
    conflicting(world)
    reconciler = world.reconciler(push_token="app")
    clone = reconciler.clone
    assert clone is not None
    clone.fetch("main", [77])
    world.clone.run("fetch", "--quiet", "origin")
    stale = world.hub.git.resolve("main~1") or ""
    with pytest.raises(GitError, match="stale info"):
        world.clone.push("origin", stale, "feat-x", expect=stale)
    assert file(world) == BASE + entry()


def test_a_refused_push_does_not_stop_the_notice(world: World) -> None:
    """For example, branch protection refuses a push."""
    conflicting(world)
    hook = world.hub.git.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no workflows permission >&2\nexit 1\n")
    hook.chmod(0o755)
    try:
        report = world.reconcile(push_token="app")
        second_report = world.reconcile(push_token="app")
    finally:
        hook.unlink()
    assert not report.failed
    ((action, error),) = report.refused
    assert isinstance(action, PushCommit)
    assert "no workflows permission" in str(error)
    assert any("infx changelog resolve" in body for body in world.comments())
    assert second_report.done == []
