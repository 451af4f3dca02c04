"""Incomplete clones: distinguished from damage, and usable if git can fetch the missing objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from infx.errors import UnavailableError
from infx.gather.changelog import read_base_versions
from infx.gather.clone import open_clone
from infx.git import (
    CorruptRepositoryError,
    Git,
    GitError,
    MissingRevisionError,
    PartialCloneError,
    ShallowHistoryError,
    UnsafeRepositoryError,
)
from infx.reconcile.facts import RepositoryContext
from tests.calling import call
from tests.changelog.samples import BASE, KEY, PATH, RUNNERS, config, link, new
from tests.repository import Repository

POLICY = "repository: acme/bench\nmaster-configs: [configs/nvidia.yaml]\n"
PLACE = RepositoryContext(server="https://github.com", repository="acme/bench")
OURS, THEIRS = BASE + new(link(80), text='"main"'), BASE + new("XXX", text='"feat"')


@pytest.fixture
def origin(tmp_path: Path) -> Repository:
    """Return a repository whose branches both append to the changelog; feat renames a file that main changes."""
    repository = Repository.init(tmp_path / "acme" / "bench")
    repository.git.run("config", "uploadpack.allowFilter", "true")
    repository.git.run("config", "uploadpack.allowAnySHA1InWant", "true")
    files = {
        "configs/nvidia.yaml": config(KEY),
        "configs/runners.yaml": RUNNERS,
        "configs/policy.yaml": POLICY,
    }
    repository.commit({**files, PATH: BASE, "run.sh": "one\n" * 9, "old/x": "x\n" * 9})
    repository.branch("feat")
    (repository.path / "run.sh").rename(repository.path / "go.sh")
    repository.commit({PATH: THEIRS, "old/x": "x\n" * 8 + "y\n"})
    repository.checkout("main")
    repository.commit({PATH: OURS, "run.sh": "one\n" * 9 + "two\n", "new/y": "y\n"})
    return repository


Clone = Callable[..., Repository]


@pytest.fixture
def clone(origin: Repository, tmp_path: Path) -> Clone:
    def make(*options: str) -> Repository:
        target = tmp_path / "clone"
        origin.git.run("clone", "--quiet", "--no-checkout", *options, origin.path.as_uri(), str(target))
        return Repository(target)

    return make


def remove_remote(origin: Repository) -> None:
    origin.path.rename(origin.path.with_name("elsewhere"))


FILTERS = ["--filter=blob:none", "--filter=tree:0", "--filter=blob:limit=10"]


@pytest.mark.parametrize("option", FILTERS)
def test_a_partial_clone_gives_the_results_of_a_full_clone(
    origin: Repository, clone: Clone, option: str
) -> None:
    git = clone(option).git
    base, head = origin.git.commit("main"), origin.git.commit("feat")
    assert git.is_partial()
    assert not origin.git.is_partial()
    assert git.test_merge(base, head) == origin.git.test_merge(base, head)
    assert git.test_merge(base, head).conflicts == (PATH,)
    assert git.read_many([(base, PATH), (head, PATH), (head, "nope")]) == [OURS, THEIRS, None]
    assert git.changed_paths(base, head) == origin.git.changed_paths(base, head)
    assert git.message(head) == "change\n"
    tree, parents = git.test_merge(base, head).tree, (head, base)
    git.commit_file(tree, PATH, OURS, parents=parents, message="x", author="bot")


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_commands_work_in_a_partial_clone(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(clone("--filter=blob:none").path)
    words = ["plan"] if command == "plan" else ["changelog", "validate", "--pr", "77"]
    options = [
        "--base-ref",
        "origin/main",
        "--head-ref",
        "origin/feat",
        "--policy",
        "origin/main:configs/policy.yaml",
    ]
    assert call(*words, *options).code == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda git: git.test_merge("origin/main", "origin/feat"),
        lambda git: git.read("origin/feat", PATH),
        lambda git: git.run("diff", "origin/main", "origin/feat"),
    ],
    ids=["test_merge", "read", "diff"],
)
def test_a_partial_clone_without_its_remote_is_an_error(
    origin: Repository, clone: Clone, ask: Callable[[Git], object]
) -> None:
    git = clone("--filter=blob:none").git
    remove_remote(origin)
    with pytest.raises(PartialCloneError) as caught:
        ask(git)
    assert caught.value.exit_code == 3
    assert "The clone is partial" in caught.value.message
    assert "does not appear to be a git repository" in caught.value.message, "git's own message"
    assert caught.value.hint == "Let git reach the remote (network, credentials), or clone without --filter."


def test_commands_in_a_partial_clone_without_its_remote_are_exit_3(
    origin: Repository, clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone("--filter=blob:none").path)
    remove_remote(origin)
    for words in (["changelog", "validate"], ["plan"]):
        called = call(*words, "--base-ref", "origin/main", "--head-ref", "origin/feat")
        assert called.code == 3
        assert "The clone is partial" in called.err
        assert "damaged" not in called.err


def test_a_commit_that_a_partial_clone_lacks_was_not_fetched(origin: Repository, clone: Clone) -> None:
    """Report it with and without the remote, because a partial clone never leaves out commits."""
    git = clone("--filter=blob:none").git
    for _ in range(2):
        assert not git.has_commit("d" * 40)
        assert not git.is_ancestor("d" * 40, "origin/main")
        with pytest.raises(MissingRevisionError):
            git.commit("d" * 40)
        if origin.path.exists():
            remove_remote(origin)


@pytest.mark.parametrize("name", [f"main:{PATH}", "main^{tree}", "feat:old", "feat^{tree}"])
@pytest.mark.parametrize("damage", ["missing", "garbage"])
def test_damage_in_a_full_clone_is_damage(origin: Repository, damage: str, name: str) -> None:
    """Include folders, which git would treat as empty, so that nothing in them would conflict."""
    sha = origin.git.line("rev-parse", name)
    file = origin.path / ".git/objects" / sha[:2] / sha[2:]
    file.chmod(0o644)
    file.unlink() if damage == "missing" else file.write_bytes(b"garbage")
    if name.endswith(PATH):
        with pytest.raises(CorruptRepositoryError, match="The repository is damaged"):
            origin.git.read("main", PATH)
    with pytest.raises(CorruptRepositoryError, match="The repository is damaged"):
        origin.git.test_merge("main", "feat")


def test_garbage_in_a_partial_clone_is_damage(origin: Repository, clone: Clone) -> None:
    partial = clone("--filter=blob:none")
    assert partial.git.read("origin/main", PATH) == OURS
    sha = partial.git.line("rev-parse", "origin/main^{commit}")
    loose = partial.path / ".git/objects" / sha[:2] / sha[2:]
    loose.parent.mkdir(exist_ok=True)
    for pack in (partial.path / ".git/objects/pack").glob("*"):
        pack.chmod(0o644)
        pack.write_bytes(b"garbage")
    with pytest.raises(CorruptRepositoryError):
        partial.git.read("origin/main", PATH)


def test_a_shallow_clone_that_is_deep_enough_merges(origin: Repository, clone: Clone) -> None:
    """Do not treat the end of its history as a missing object."""
    start = origin.git.commit("main~1")
    origin.checkout("main")
    shallow = clone("--depth=2", "--no-single-branch")
    base, head = origin.git.commit("main"), origin.git.commit("feat")
    assert shallow.git.is_shallow()
    assert shallow.git.merge_base(base, head) == start
    assert shallow.git.test_merge(base, head) == origin.git.test_merge(base, head)


def test_a_shallow_clone_that_is_not_deep_enough_is_an_error(origin: Repository, clone: Clone) -> None:
    git = clone("--depth=1", "--no-single-branch").git
    for ask in (git.merge_base, git.test_merge):
        with pytest.raises(ShallowHistoryError, match=r"History too shallow.*fetch-depth: 0"):
            ask("origin/main", "origin/feat")


def test_unrelated_histories_are_not_damage(origin: Repository) -> None:
    origin.git.run("checkout", "--quiet", "--orphan", "other")
    origin.commit({"b": "1"})
    with pytest.raises(GitError, match="unrelated histories") as caught:
        origin.git.test_merge("main", "other")
    assert type(caught.value) is GitError


@pytest.mark.parametrize(
    "words", ["Could not read from remote repository", "could not read Username for 'x'"]
)
def test_a_remote_that_cannot_be_read_is_not_damage(
    origin: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "fatal: {words}" >&2\nexit 1\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH", str(ssh))
    with pytest.raises(GitError, match="git fetch failed") as caught:
        origin.git.fetch("ssh://git@nowhere.test/acme/bench", "refs/heads/main:refs/infx/base")
    assert type(caught.value) is GitError


@pytest.mark.parametrize(
    "ask",
    [
        lambda git: git.commit("main"),
        lambda git: git.read("main", PATH),
        lambda git: git.root(),
        lambda git: git.refs("refs/heads"),
        lambda git: git.origin_url(),
        lambda git: git.has_commit("d" * 40),
        lambda git: git.test_merge("main", "feat"),
        lambda git: git.fetch("origin", "refs/heads/main:refs/infx/base"),
        lambda git: open_clone(git, PLACE, None),
    ],
)
def test_a_repository_of_another_owner_is_always_an_error(
    origin: Repository, monkeypatch: pytest.MonkeyPatch, ask: Callable[[Git], object]
) -> None:
    origin.git.run("remote", "add", "origin", "https://github.com/acme/bench")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UnsafeRepositoryError) as caught:
        ask(origin.git)
    assert caught.value.exit_code == 3
    assert f"detected dubious ownership in repository at '{origin.path}'" in caught.value.message
    assert f"git config --global --add safe.directory {origin.path}" in (caught.value.hint or "")


COMMANDS = [
    ["changelog", "validate", "--repo", "acme/bench"],
    ["changelog", "resolve"],
    ["plan", "--base-ref", "main", "--head-ref", "feat"],
    ["reconcile", "--pr", "77"],
    ["signoff", "verify", "--pr", "77"],
    ["gate", "--pr", "77", "--policy", "main:configs/policy.yaml"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("folder", ["", "configs"])
def test_commands_in_a_clone_of_another_owner_are_exit_3(
    origin: Repository,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    folder: str,
) -> None:
    """Make no request before git refuses the clone: the token and the address are not valid."""
    origin.git.run("remote", "add", "origin", "https://github.com/acme/bench")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    monkeypatch.chdir(origin.path / folder)
    monkeypatch.setenv("GITHUB_TOKEN", "x")
    called = call(*words)
    assert called.code == 3
    assert "dubious ownership" in called.err
    assert f"safe.directory {origin.path}" in called.err


def test_outside_a_repository_there_is_no_clone(tmp_path: Path) -> None:
    assert Git(tmp_path).origin_url() is None
    assert open_clone(Git(tmp_path), PLACE, None) is None


def test_a_broken_repository_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    with pytest.raises(UnavailableError):
        open_clone(Git(tmp_path), PLACE, None)


def test_without_the_base_branchs_file_main_is_not_guessed(origin: Repository, clone: Clone) -> None:
    git = clone("--filter=blob:none").git
    remove_remote(origin)
    with pytest.raises(PartialCloneError):
        read_base_versions(git, "main", PATH, "acme/bench")
