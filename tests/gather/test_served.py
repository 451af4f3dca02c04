"""Reading a clone that a hub will serve: its name, its base branch, and the branches that become pull requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.errors import InfxError, UnknownNamesError, UsageError
from infx.gather.served import read_served
from infx.git import Git, GitError
from tests.repository import Repository


def make(path: Path, policy: str = "") -> Repository:
    """Return a repository with the branches main and feat."""
    repository = Repository.init(path)
    repository.commit({"a": "1", **({"configs/policy.yaml": policy} if policy else {})})
    repository.branch("feat")
    repository.checkout("main")
    return repository


@pytest.mark.parametrize(
    ("policy", "remote", "name", "expected"),
    [
        ("", "", None, None),
        ("", "https://github.com/acme/app.git", None, "acme/app"),
        ("repository: acme/bench\n", "https://github.com/eve/app.git", None, "acme/bench"),
        ("", "https://github.com/acme/app.git", "mia/try", "mia/try"),
    ],
)
def test_the_name_is_the_options_or_the_policys_or_the_remotes(
    tmp_path: Path, policy: str, remote: str, name: str | None, expected: str | None
) -> None:
    repository = make(tmp_path, policy)
    if remote:
        repository.git.run("remote", "add", "origin", remote)
    assert read_served(tmp_path, name=name, chosen=()).name == expected


def test_a_name_that_the_policy_contradicts_is_refused(tmp_path: Path) -> None:
    make(tmp_path, "repository: acme/bench\n")
    with pytest.raises(UsageError, match="names the repository acme/bench, not mia/try"):
        read_served(tmp_path, name="mia/try", chosen=())


def test_the_base_branch_may_exist_only_at_origin(tmp_path: Path) -> None:
    """A clone often has no local copy of the base branch, nor of the branch with published results."""
    there = make(tmp_path / "there", "base-branch: trunk\n")
    for branch in ("trunk", "infx-results"):
        there.git.run("branch", branch)
    Git(tmp_path).run("clone", "--quiet", "--branch", "feat", str(there.path), "here")
    served = read_served(tmp_path / "here", name=None, chosen=())
    assert (served.base, served.branches, served.has_policy) == ("trunk", ("feat",), True)
    assert set(served.refspecs) == {
        "refs/heads/*:refs/heads/*",
        "refs/remotes/origin/trunk:refs/heads/trunk",
        "refs/remotes/origin/infx-results:refs/heads/infx-results",
    }


def test_a_missing_base_branch_is_refused_with_the_key_to_set(tmp_path: Path) -> None:
    make(tmp_path).git.run("branch", "--move", "main", "master")
    with pytest.raises(UsageError, match="main does not exist") as caught:
        read_served(tmp_path, name=None, chosen=())
    assert "base-branch" in (caught.value.hint or "")


def test_a_branch_that_does_not_exist_is_refused_with_the_nearest(tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(UnknownNamesError, match=r"no local branch faet\. Did you mean feat"):
        read_served(tmp_path, name=None, chosen=("faet",))


def test_a_folder_without_a_repository_and_a_shallow_clone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(GitError, match="not inside a git repository"):
        read_served(tmp_path / "folder", name=None, chosen=())
    there = make(tmp_path / "there")
    there.commit({"a": "2"})
    Git(tmp_path).run("clone", "--quiet", "--depth=1", there.path.as_uri(), "shallow")
    with pytest.raises(InfxError, match="shallow"):
        read_served(tmp_path / "shallow", name=None, chosen=())
