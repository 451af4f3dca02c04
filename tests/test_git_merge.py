"""Test merges, patches, fetches and commits without a working tree, in real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.git import Git, GitError
from tests.repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.init(tmp_path / "origin")
    repository.commit({"log": "a\n", "run.sh": "true\n", "folder/x": "x\n"})
    return repository


def sides(repository: Repository, ours: dict[str, str], theirs: dict[str, str]) -> tuple[str, str]:
    repository.branch("feat")
    head = repository.commit(ours)
    repository.checkout("main")
    return repository.commit(theirs), head


def test_a_clean_merge_and_one_that_conflicts(repository: Repository) -> None:
    base, head = sides(repository, {"log": "a\nb\n", "run.sh": "1\n"}, {"log": "a\nc\n", "run.sh": "2\n"})
    assert repository.git.test_merge(base, head).conflicts == ("log", "run.sh")
    clean = repository.git.test_merge(base, base)
    assert clean.conflicts == ()
    assert clean.tree == repository.git.line("rev-parse", f"{base}^{{tree}}")


@pytest.mark.parametrize("place", [".git/info/attributes", ".gitattributes"])
@pytest.mark.parametrize("driver", ["union", "ours-always"])
def test_merge_drivers_are_not_used_because_github_has_none(
    repository: Repository, place: str, driver: str
) -> None:
    repository.git.run("config", "merge.ours-always.driver", "true")
    base, head = sides(repository, {"log": "a\nb\n"}, {"log": "a\nc\n"})
    repository.write({place: f"log merge={driver}\n"})
    assert repository.git.test_merge(base, head).conflicts == ("log",)


def test_a_merge_leaves_branch_and_working_tree_alone(repository: Repository) -> None:
    base, head = sides(repository, {"log": "a\nb\n"}, {"log": "a\nc\n"})
    before = repository.git.run("status", "--porcelain"), repository.git.refs("refs")
    repository.git.test_merge(base, head)
    assert (repository.git.run("status", "--porcelain"), repository.git.refs("refs")) == before


def test_a_file_deleted_on_one_side_conflicts(repository: Repository) -> None:
    repository.branch("feat")
    head = repository.commit({"log": "a\nb\n"})
    repository.checkout("main")
    (repository.path / "log").unlink()
    base = repository.commit({})
    assert repository.git.test_merge(base, head).conflicts == ("log",)


def test_changed_paths_have_both_sides_of_a_rename(repository: Repository) -> None:
    base = repository.git.commit("HEAD")
    (repository.path / "run.sh").rename(repository.path / "go äö.sh")
    head = repository.commit({})
    assert repository.git.changed_paths(base, head) == ["go äö.sh", "run.sh"]


def test_a_commit_of_a_tree_with_one_other_file(repository: Repository) -> None:
    git, head = repository.git, repository.git.commit("HEAD")
    new_commit = git.commit_file(
        head, "folder/x", b"other\n", parents=[head], message="Why\n", author="bench-bot[bot]"
    )
    assert git.changed_paths(head, new_commit) == ["folder/x"]
    assert git.read(new_commit, "folder/x") == b"other\n"
    assert git.line("log", "-1", "--format=%an %ae %P", new_commit) == (
        f"bench-bot[bot] bench-bot[bot]@users.noreply.github.com {head}"
    )
    assert git.commit("HEAD") == head


def test_the_mode_of_a_file_is_kept(repository: Repository) -> None:
    (repository.path / "run.sh").chmod(0o755)
    head = repository.commit({})
    new_commit = repository.git.commit_file(head, "run.sh", b"x", parents=[head], message="m", author="mia")
    assert repository.git.line("ls-tree", new_commit, "run.sh").startswith("100755 ")


def clone(repository: Repository, tmp_path: Path) -> Git:
    Git(tmp_path).run("clone", "--quiet", str(repository.path), "clone")
    return Git(tmp_path / "clone")


def test_fetching_mirrors_refs_and_deletes_missing_refs(repository: Repository, tmp_path: Path) -> None:
    head = repository.git.commit("HEAD")
    repository.git.run("update-ref", "refs/pull/7/head", head)
    repository.git.run("update-ref", "refs/heads/queue/one", head)
    copy = clone(repository, tmp_path)
    specs = (
        "refs/heads/main:refs/infx/base",
        "refs/pull/7/head:refs/infx/pull/7",
        "refs/heads/queue/*:refs/infx/queue/*",
    )
    copy.fetch("origin", *specs)
    assert copy.refs("refs/infx") == {"base": head, "pull/7": head, "queue/one": head}
    repository.git.run("update-ref", "-d", "refs/heads/queue/one")
    moved = repository.commit({"log": "b\n"})
    copy.fetch("origin", *specs)
    assert copy.refs("refs/infx") == {"base": moved, "pull/7": head}


def test_a_push_needs_the_branch_at_the_expected_commit(repository: Repository, tmp_path: Path) -> None:
    repository.branch("feat")
    seen = repository.commit({"log": "b\n"})
    repository.checkout("main")
    copy = clone(repository, tmp_path)
    new_commit = copy.commit_file(seen, "log", b"c\n", parents=[seen], message="m", author="mia")
    copy.push("origin", new_commit, "feat", expect=seen)
    assert repository.git.commit("feat") == new_commit
    with pytest.raises(GitError, match="stale info"):
        copy.push("origin", seen, "feat", expect=seen)


def test_a_token_is_passed_only_through_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Replace git by a script that records its arguments and variables."""
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\necho "$@" > args\nenv | grep GIT_CONFIG_ | sort > env\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    Git(tmp_path).fetch("origin", "main", token="secret-token")
    assert "secret" not in (tmp_path / "args").read_text()
    shown = (tmp_path / "env").read_text()
    assert "GIT_CONFIG_KEY_0=http.extraHeader" in shown
    assert "Authorization: Basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0LXRva2Vu" in shown
