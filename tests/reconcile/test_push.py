"""A branch put right without a human: which commit, when, and what keeps it from being made."""

from __future__ import annotations

import pytest

from infx.git import GitError
from infx.reconcile.actions import PushCommit
from tests.reconcile.world import BASE, LABEL, World, entry

OTHER = entry("other", "https://github.com/acme/bench/pull/70")
OWN = entry("new", "https://github.com/acme/bench/pull/77")


def file(world: World, revision: str = "feat-x", path: str = "perf-changelog.yaml") -> str:
    found = world.hub.git.file(revision, path)
    assert found is not None
    return found[2].decode()


def conflicting(world: World, path: str = "benchmarks/b.sh") -> str:
    world.pull({"perf-changelog.yaml": BASE + entry(), "benchmarks/a.sh": "mine\n"}, labels=[LABEL])
    return world.hub.push("main", {"perf-changelog.yaml": BASE + OTHER, path: "theirs\n"})


def pushes(world: World) -> list[PushCommit]:
    report = world.reconcile(push_token="app")
    assert not report.failed
    return [action for action in report.done if isinstance(action, PushCommit)]


def test_a_conflict_in_the_changelog_alone_is_merged_away(world: World) -> None:
    base = conflicting(world)
    before = world.hub.state.pulls[77].head_sha
    assert len(pushes(world)) == 1
    assert file(world) == BASE + OTHER + OWN  # the base's bytes, then ours with their link
    assert file(world, path="benchmarks/a.sh") == "mine\n"
    assert file(world, path="benchmarks/b.sh") == "theirs\n"
    made = world.hub.git.commit(world.hub.git.resolve("feat-x") or "")
    assert made.parents == (before, base)
    assert made.message == "Merge main, with its changelog entries first"
    assert pushes(world) == []
    assert not [line for line in world.ours() if "conflict" in line]


@pytest.mark.parametrize(
    ("path", "is_kept"),
    [
        ("README.md", True),
        ("configs/amd-master.yaml", True),
        ("benchmarks/b.sh", False),
        ("benchmarks/notes.md", False),
    ],
)
def test_a_sweep_is_kept_unless_the_merge_brings_what_rows_may_run(
    world: World, path: str, *, is_kept: bool
) -> None:
    """A new commit for which the sweep would not stand must start another, so it may not skip it."""
    conflicting(world, path)
    world.sweep(done=0, running=2)
    head = world.hub.state.pulls[77].head_sha
    assert pushes(world) == []  # nothing waits for it
    world.hub.set_status(head, "codeowner-signoff-verify", "success")
    assert len(pushes(world)) == 1
    made = world.hub.git.commit(world.hub.git.resolve("feat-x") or "")
    assert made.message == "Merge main, with its changelog entries first" + " [skip-sweep]" * is_kept


def test_links_are_made_canonical_once_somebody_has_signed_off(world: World) -> None:
    world.pull(labels=[LABEL])
    world.sweep(done=2, status="completed", conclusion="success")
    assert pushes(world) == []
    head = world.hub.state.pulls[77].head_sha
    world.hub.set_status(head, "codeowner-signoff-verify", "success")
    assert len(pushes(world)) == 1
    assert file(world) == BASE + OWN
    made = world.hub.git.commit(world.hub.git.resolve("feat-x") or "")
    assert made.message == "Make changelog links canonical [skip-sweep]"
    assert made.parents == (head,)


@pytest.mark.parametrize("creator", ["eve", "coverage[bot]"])
def test_a_sign_off_that_somebody_else_claims_moves_nothing(world: World, creator: str) -> None:
    world.pull(labels=[LABEL])
    world.sweep(done=2, status="completed", conclusion="success")
    world.hub.set_status(
        world.hub.state.pulls[77].head_sha, "codeowner-signoff-verify", "success", by=creator
    )
    assert pushes(world) == []


def test_without_an_app_s_token_the_command_is_told(world: World) -> None:
    conflicting(world)
    world.reconcile()
    assert any("infx changelog resolve" in body for body in world.comments())
    assert file(world) == BASE + entry()


def test_without_a_label_nothing_waits(world: World) -> None:
    conflicting(world)
    world.hub.unlabel(77, LABEL)
    assert pushes(world) == []


def test_a_queued_branch_is_left_alone_because_the_push_would_be_lost(world: World) -> None:
    conflicting(world)
    base = world.hub.git.resolve("main")
    world.hub.push(f"gh-readonly-queue/main/pr-77-{base}", {"x": "y"}, start="feat-x")
    assert pushes(world) == []


def test_another_file_in_conflict_is_for_a_person(world: World) -> None:
    conflicting(world)
    world.hub.push("main", {"benchmarks/a.sh": "theirs too\n"})
    assert pushes(world) == []


def test_a_fork_is_never_pushed_to(world: World) -> None:
    world.hub.push("fork-x", {"perf-changelog.yaml": BASE + entry()}, repository="eve/bench")
    world.hub.open_pull("fork-x", number=77, repository="eve/bench", by="eve", labels=[LABEL])
    world.hub.push("main", {"perf-changelog.yaml": BASE + OTHER})
    assert pushes(world) == []


def test_what_is_not_append_beside_append_is_for_a_person(world: World) -> None:
    conflicting(world)
    world.hub.push("feat-x", {"perf-changelog.yaml": BASE.replace("old one", "edited") + entry()})
    assert pushes(world) == []


def test_a_branch_that_moved_in_the_meantime_is_not_overwritten(world: World) -> None:
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


def test_a_push_that_is_refused_keeps_nobody_from_what_is_to_be_said(world: World) -> None:
    """Such as by a protected branch, or for a workflow file in the base branch's commits."""
    conflicting(world)
    hook = world.hub.git.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no workflows permission >&2\nexit 1\n")
    hook.chmod(0o755)
    try:
        report = world.reconcile(push_token="app")
        again = world.reconcile(push_token="app")
    finally:
        hook.unlink()
    assert not report.failed
    ((action, error),) = report.refused
    assert isinstance(action, PushCommit)
    assert "no workflows permission" in str(error)
    assert any("infx changelog resolve" in body for body in world.comments())
    assert again.done == []
