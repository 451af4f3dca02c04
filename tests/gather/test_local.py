"""Find the root, the policy and the repository's name from the current folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.errors import ProblemsError, UsageError
from infx.gather.local import find_repository_name, find_root, load_policy
from infx.git import MissingRevisionError
from infx.policy.load import default_policy, parse_policy
from tests.repository import Repository

OWN = b"repository: acme/bench\n"
OTHER = b"repository: acme/other\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Create a clone with a policy, and make it the current folder."""
    repository = Repository.init(tmp_path / "clone")
    repository.commit({"configs/policy.yaml": OWN, "deep/down/x": "1"})
    monkeypatch.chdir(repository.path)
    return repository


def test_the_root_is_the_folder_with_git(repository: Repository, tmp_path: Path) -> None:
    assert find_root(repository.path / "deep" / "down") == repository.path
    assert find_root(repository.path) == repository.path
    outside = tmp_path / "outside"
    assert find_root(outside) == outside


def test_a_worktree_is_a_root(repository: Repository, tmp_path: Path) -> None:
    # In a worktree, `.git` is a file.
    tree = tmp_path / "tree"
    repository.git.run("worktree", "add", "--quiet", str(tree))
    assert find_root(tree / "deep") == tree


def test_without_an_option_the_repository_s_policy_is_used(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_policy(None).repository == "acme/bench"
    monkeypatch.chdir("deep/down")
    assert load_policy(None).repository == "acme/bench"


def test_a_folder_without_a_policy_uses_the_packaged_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_policy(None) == default_policy()


def test_a_policy_is_read_from_a_file(repository: Repository) -> None:
    repository.write({"other.yaml": OTHER})
    assert load_policy("other.yaml").repository == "acme/other"
    assert load_policy(str(repository.path / "other.yaml")).repository == "acme/other"


def test_a_policy_is_read_from_a_commit(repository: Repository) -> None:
    base = repository.git.commit("HEAD")
    repository.commit({"configs/policy.yaml": OTHER})
    repository.branch("feature/x")
    for commit in (base, base[:8], "HEAD~1", "feature/x~1"):
        assert load_policy(f"{commit}:configs/policy.yaml").repository == "acme/bench"
    assert load_policy("HEAD:configs/policy.yaml").repository == "acme/other"


def test_a_file_named_like_commit_and_path_does_not_win(repository: Repository) -> None:
    """A pull request could add a file with the base commit in its name, to replace the policy."""
    base = repository.git.commit("HEAD")
    name = f"{base}:configs/policy.yaml"
    repository.write({name: OTHER})
    assert load_policy(name).repository == "acme/bench"
    assert load_policy(f"./{name}").repository == "acme/other"  # explicitly a file


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("nope.yaml", UsageError, "nope.yaml: The policy cannot be read: No such file or directory."),
        ("deep", UsageError, "deep: The policy cannot be read: Is a directory."),
        ("", UsageError, "The policy cannot be read"),
        ("HEAD:nope.yaml", UsageError, "There is no policy nope.yaml at HEAD."),
        ("nope:configs/policy.yaml", MissingRevisionError, "The revision 'nope' is not in this repository."),
        ("0000000:configs/policy.yaml", MissingRevisionError, "names no commit"),
        ("-x:configs/policy.yaml", UsageError, "The policy cannot be read"),
    ],
)
def test_a_missing_policy_is_an_error(
    repository: Repository, given: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        load_policy(given)
    assert message in str(caught.value)


def test_problems_name_the_policy_as_on_the_command_line(repository: Repository) -> None:
    repository.commit({"configs/policy.yaml": "drafts: maybe\n"})
    for given, path in [
        (None, "configs/policy.yaml"),
        ("HEAD:configs/policy.yaml", "HEAD:configs/policy.yaml"),
    ]:
        with pytest.raises(ProblemsError) as caught:
            load_policy(given)
        assert [(p.path, p.line) for p in caught.value.problems] == [(path, 1)]


def test_on_actions_the_policy_must_be_named(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkout may be a pull request, which must not bring its own policy."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    with pytest.raises(UsageError, match="On Actions the policy must be named") as caught:
        load_policy(None)
    assert caught.value.exit_code == 2
    assert load_policy("HEAD:configs/policy.yaml").repository == "acme/bench"


def test_the_sources_of_the_repository_s_name_have_an_order(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, nameless = parse_policy(OWN, "p"), default_policy()
    assert find_repository_name(None, nameless) is None
    repository.git.run("remote", "add", "origin", "https://github.com/acme/remote")
    assert find_repository_name(None, nameless) == "acme/remote"
    monkeypatch.setenv("GITHUB_REPOSITORY", "acme/environment")
    assert find_repository_name(None, nameless) == "acme/environment"
    assert find_repository_name(None, own) == "acme/bench"
    assert find_repository_name("acme/given", own) == "acme/given"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/acme/bench", "acme/bench"),
        ("https://github.com/acme/bench.git", "acme/bench"),
        ("https://github.com/acme/bench/", "acme/bench"),
        ("https://x-access-token:secret@github.com/acme/bench.git", "acme/bench"),
        ("git@github.com:acme/bench.git", "acme/bench"),
        ("ssh://git@github.com/acme/bench.git", "acme/bench"),
        ("ssh://git@ssh.github.com:443/acme/bench.git", "acme/bench"),
        ("http://127.0.0.1:8080/acme/bench.git", "acme/bench"),
        ("git@github.com:acme/dotted.name", "acme/dotted.name"),
        ("/srv/git/acme/bench.git", None),
        ("../acme/bench", None),
        ("file:///srv/acme/bench", None),
        ("https://gitlab.example/group/sub/bench.git", None),
        ("https://github.com/acme", None),
    ],
)
def test_the_name_is_read_from_the_url_of_origin(repository: Repository, url: str, name: str | None) -> None:
    repository.git.run("remote", "add", "origin", url)
    assert find_repository_name(None, default_policy()) == name


def test_outside_of_a_repository_there_is_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_repository_name(None, default_policy()) is None


@pytest.mark.parametrize(
    "name", ["acme", "acme/bench/x", "https://github.com/acme/bench", "a b/c", "/x", "-a/b"]
)
def test_an_invalid_repository_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not the name of a repository; expected owner/name"):
        find_repository_name(name, default_policy())
