from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infx.git import CorruptRepositoryError, Git, GitError, MissingRevisionError, Output, ShallowHistoryError
from tests.repository import Repository

ZERO = "0" * 40


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.init(tmp_path / "repository")


def object_path(repository: Repository, name: str) -> Path:
    sha = repository.git.line("rev-parse", name)
    return repository.path / ".git" / "objects" / sha[:2] / sha[2:]


def test_a_revision_becomes_a_full_sha(repository: Repository) -> None:
    sha = repository.commit({"a": "1"})
    repository.git.run("tag", "--annotate", "--message", "x", "v1")
    assert len(sha) == 40
    for name in ("HEAD", "main", sha[:10], "v1", "refs/heads/main"):
        assert repository.git.commit(name) == sha


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        (ZERO, f"The revision {ZERO} names no commit. An all-zero SHA means that a branch was just created or "
               "deleted; name another base."),
        ("", "The revision (empty) names no commit. An all-zero SHA means that a branch was just created or "
             "deleted; name another base."),
        ("nope", "The revision 'nope' is not in this repository. Fetch it first, or check its spelling."),
        ("d" * 40, f"The revision '{'d' * 40}' is not in this repository. Fetch it first, or check its spelling."),
        ("--help", "'--help' is an option, not a revision. Name a branch, a tag or a SHA."),
        ("-", "'-' is an option, not a revision. Name a branch, a tag or a SHA."),
        ("--output=/tmp/pwn", "'--output=/tmp/pwn' is an option, not a revision. Name a branch, a tag or a SHA."),
        ("$(touch pwn)", "The revision '$(touch pwn)' is not in this repository. Fetch it first, or check its spelling."),
        ("a\nb", "The revision 'a\\nb' is not in this repository. Fetch it first, or check its spelling."),
    ],
)  # fmt: skip
def test_a_missing_revision_is_named(repository: Repository, revision: str, message: str) -> None:
    repository.commit({"a": "1"})
    with pytest.raises(MissingRevisionError) as caught:
        repository.git.commit(revision)
    assert str(caught.value) == message
    assert caught.value.exit_code == 3


def test_several_revisions_are_looked_up_by_one_process(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = repository.commit({"a": "1"}), repository.commit({"a": "2"})
    commands: list[tuple[str, ...]] = []
    call = Git.call

    def record_call(git: Git, *arguments: str, **options: Any) -> Output:
        commands.append(arguments)
        return call(git, *arguments, **options)

    monkeypatch.setattr(Git, "call", record_call)
    assert repository.git.commits("HEAD", "HEAD~1", first) == [second, first, first]
    assert len(commands) == 1


@pytest.mark.parametrize("revision", ["nope", "0" * 40, "HEAD\nHEAD", "--all", "HEAD:a", "nope missing"])
def test_one_of_several_revisions_is_missing(repository: Repository, revision: str) -> None:
    repository.commit({"a": "1"})
    with pytest.raises(GitError) as expected:
        repository.git.commit(revision)
    with pytest.raises(type(expected.value)) as caught:
        repository.git.commits("HEAD", revision)
    assert str(caught.value) == str(expected.value)


def test_a_blob_is_not_a_commit(repository: Repository) -> None:
    repository.commit({"a": "1"})
    repository.git.run("tag", "blob", repository.git.line("rev-parse", "HEAD:a"))
    with pytest.raises(GitError, match="expected commit type"):
        repository.git.commit("blob")


def test_in_an_empty_repository_head_is_missing(repository: Repository) -> None:
    with pytest.raises(MissingRevisionError, match="'HEAD' is not in this repository"):
        repository.git.commit("HEAD")


def test_merge_base_of_a_branch(repository: Repository) -> None:
    base = repository.commit({"a": "1"})
    repository.branch("feat-x")
    head = repository.commit({"b": "1"})
    repository.checkout("main")
    repository.commit({"c": "1"})
    assert repository.git.merge_base("main", head) == base
    with pytest.raises(MissingRevisionError):
        repository.git.merge_base("main", ZERO)


def test_unrelated_histories_have_no_merge_base(repository: Repository) -> None:
    one = repository.commit({"a": "1"})
    repository.git.run("checkout", "--quiet", "--orphan", "other")
    other = repository.commit({"b": "1"})
    with pytest.raises(GitError, match=f"{one[:12]} and {other[:12]} have no common history") as caught:
        repository.git.merge_base(one, other)
    assert not isinstance(caught.value, ShallowHistoryError)


def test_a_shallow_clone_without_the_merge_base_is_an_error(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a": "1"})
    repository.branch("feat-x")
    repository.commit({"b": "1"})
    repository.checkout("main")
    repository.commit({"c": "1"})
    clone = tmp_path / "clone"
    source = repository.path.as_uri()
    repository.git.run("clone", "--quiet", "--depth=1", "--no-single-branch", source, str(clone))
    git = Git(clone)
    assert git.is_shallow()
    assert not repository.git.is_shallow()
    with pytest.raises(ShallowHistoryError) as caught:
        git.merge_base("main", "origin/feat-x")
    assert "Fetch with full history (fetch-depth: 0)." in str(caught.value)
    with pytest.raises(MissingRevisionError, match="The clone is shallow"):
        git.commit("main~1")
    git.run("fetch", "--quiet", "--unshallow")
    assert git.merge_base("main", "origin/feat-x") == repository.git.commit("main~1")


PATHS = [
    "plain",
    "with blank",
    " leading and trailing ",
    "configs/golden-al/glm5.2_mtp.yaml",
    "a:b",
    ":(top)magic",
    "*",
    "[x]",
    "back\\slash",
    "quote\"'",
    "tab\there",
    "ends with missing",
    "ü/漢字",
    "-option",
    "1 blob 5",
]


@pytest.mark.parametrize("path", PATHS)
def test_files_with_odd_names_are_read_and_listed(repository: Repository, path: str) -> None:
    sha = repository.commit({path: path, "other": "x"})
    assert repository.git.read(sha, path) == path.encode()
    assert repository.git.list_files(sha) == sorted([path, "other"], key=str.encode)


def test_names_that_are_not_utf_8(repository: Repository) -> None:
    name = os.fsdecode(b"caf\xe9")
    sha = repository.commit({name: "x"})
    assert repository.git.list_files(sha) == [name]
    assert repository.git.read(sha, name) == b"x"


CONTENTS = [
    b"",
    b"\n",
    b"no newline",
    b"a\r\nb\x00\xff\n",
    b"x missing\n",
    b"\n" * 3,
    b"deadbeef blob 3\nabc\n",
]


def test_many_files_are_read_by_one_process_in_order(repository: Repository) -> None:
    files = {f"f{index}": content for index, content in enumerate(CONTENTS)}
    first = repository.commit(files | {"dir/x": "1"})
    second = repository.commit({"f0": "new"})
    wanted = [(first, name) for name in files] + [
        (second, "f0"),
        (first, "nope"),
        (first, "dir"),
        (first, "f0"),
    ]
    assert repository.git.read_many(wanted) == [*CONTENTS, b"new", None, None, b""]
    assert repository.git.read_many([]) == []
    assert repository.git.read("HEAD~1", "f0") == b""


def test_paths_are_from_the_root_wherever_git_runs(repository: Repository) -> None:
    sha = repository.commit({"a": "root", "dir/a": "below"})
    git = Git(repository.path / "dir")
    assert git.read(sha, "a") == git.read(sha, "./a") == git.read(sha, "dir/../a") == b"root"
    assert git.list_files(sha) == ["a", "dir/a"]
    assert git.list_files(sha, "dir") == ["dir/a"]
    assert git.root().samefile(repository.path)


@pytest.mark.parametrize("folder", ["", "dir"])
def test_changed_blobs_name_both_sides_wherever_git_runs(repository: Repository, folder: str) -> None:
    one = repository.commit({"a": "1", "dir/gone": "2", "dir/ü\n": "3", "dir/same": "4"})
    repository.write({"a": "1 and more", "dir/ü\n": "5", "new": "6"})
    (repository.path / "dir/gone").unlink()
    (repository.path / "a").chmod(0o755)
    two = repository.commit({})
    blobs = Git(repository.path / folder).changed_blobs(one, two)
    assert set(blobs) == {"a", "dir/gone", "dir/ü\n", "new"}
    assert blobs["a"][:2] == ("100644", "100755")
    new = repository.git.line("rev-parse", f"{two}:new")
    assert blobs["new"] == ("000000", "100644", "0" * 40, new)
    assert blobs["dir/gone"][1::2] == ("000000", "0" * 40)
    assert repository.git.changed_blobs(one, one) == {}


def test_refs_of_a_remote_are_listed_without_a_fetch(repository: Repository, tmp_path: Path) -> None:
    sha = repository.commit({"a": "1"})
    for number in (7, 12):
        repository.git.run("update-ref", f"refs/pull/{number}/head", sha)
    repository.git.run("update-ref", "refs/pull/7/merge", sha)
    other = Repository.init(tmp_path / "other").git
    other.run("remote", "add", "origin", str(repository.path))
    assert other.remote_refs("origin", "refs/pull/*/head") == {
        "refs/pull/7/head": sha,
        "refs/pull/12/head": sha,
    }
    assert not other.has_commit(sha)
    with pytest.raises(GitError, match="git ls-remote failed"):
        other.remote_refs("nowhere", "refs/pull/*/head")


@pytest.mark.parametrize("path", ["../a", "a/../../b", "/etc/passwd", "a\nb", "", ".", "a\0b"])
def test_paths_outside_are_refused(repository: Repository, path: str) -> None:
    sha = repository.commit({"a": "1"})
    with pytest.raises(GitError, match="is not a path inside the repository"):
        repository.git.read(sha, path)


def test_a_missing_revision_stops_the_reading(repository: Repository) -> None:
    sha = repository.commit({"a": "1"})
    with pytest.raises(MissingRevisionError):
        repository.git.read_many([(sha, "a"), ("nope", "a")])


def test_a_submodule_is_not_a_file(repository: Repository) -> None:
    sha = repository.commit({"a": "1"})
    repository.git.run("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    repository.git.run("commit", "--quiet", "--message", "submodule")
    assert repository.git.read("HEAD", "sub") is None
    assert repository.git.read(sha, "sub") is None


def test_missing_content_is_damage_not_a_missing_file(repository: Repository) -> None:
    sha = repository.commit({"a": "1", "b": "2"})
    object_path(repository, "HEAD:a").unlink()
    assert repository.git.read(sha, "b") == b"2"
    with pytest.raises(CorruptRepositoryError, match=r"the content of a at .* is missing"):
        repository.git.read(sha, "a")


@pytest.mark.parametrize("name", ["HEAD", "HEAD^{tree}", "HEAD:a"])
def test_a_corrupt_object_is_damage(repository: Repository, name: str) -> None:
    repository.commit({"a": "1"})
    path = object_path(repository, name)
    path.chmod(0o644)
    path.write_bytes(b"garbage")
    with pytest.raises(CorruptRepositoryError, match="The repository is damaged") as caught:
        repository.git.read("HEAD", "a")
    assert caught.value.hint == "Run git fsck, or clone again."


def test_outside_of_a_repository(tmp_path: Path) -> None:
    for ask in (
        Git(tmp_path).root,
        lambda: Git(tmp_path).commit("HEAD"),
        lambda: Git(tmp_path).list_files("HEAD"),
    ):
        with pytest.raises(GitError, match="is not inside a git repository"):
            ask()


def test_a_repository_of_another_owner_is_not_a_missing_revision(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a": "1"})
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(GitError, match="dubious ownership") as caught:
        repository.git.commit("HEAD")
    assert not isinstance(caught.value, MissingRevisionError)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="This folder does not exist"):
        Git(tmp_path / "nope").root()
    (tmp_path / "file").write_text("x")
    with pytest.raises(GitError, match="This folder does not exist"):
        Git(tmp_path / "file").root()


def test_without_git(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GitError, match="git cannot be started: No such file or directory"):
        repository.git.root()


def test_a_failure_quotes_gits_message(repository: Repository) -> None:
    with pytest.raises(GitError, match=r"git checkout failed: error: pathspec 'nope' did not match"):
        repository.git.run("checkout", "nope")
    output = repository.git.call("hash-object", "--nope")
    assert output.code == 129
    assert repository.git.call("hash-object", "--stdin", stdin=b"x").stdout.strip().isalnum()


def test_answers_do_not_depend_on_the_users_settings(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Override the language, the pager, the quoting of names and replaced objects."""
    one = repository.commit({"ü": "1"})
    two = repository.commit({"ü": "2"})
    repository.git.run("replace", two, one)
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("GIT_PAGER", "false")
    assert repository.git.read(two, "ü") == b"2"
    assert repository.git.run("diff", "--name-only", one, two).decode() == "ü\n"


@pytest.mark.parametrize("url", ["git@github.com:acme/bench.git", "https://github.com/acme/bench"])
def test_the_address_of_origin(repository: Repository, url: str) -> None:
    assert repository.git.origin_url() is None
    repository.git.run("remote", "add", "origin", url)
    assert repository.git.origin_url() == url


def test_git_never_waits_for_a_terminal(repository: Repository) -> None:
    """Keep stdin empty and prompts off, because a question would block a job."""
    done = repository.git.run("-c", "alias.ask=!cat; echo prompt=$GIT_TERMINAL_PROMPT", "ask")
    assert done == b"prompt=0\n"


def test_the_helper_commits_with_the_given_subject(tmp_path: Path) -> None:
    repository = Repository.init(tmp_path)
    sha = repository.commit({"a/b": b"\xff"}, "subject")
    log = subprocess.run(["git", "log", "--format=%H %an %s"], cwd=tmp_path, capture_output=True, check=True)
    assert log.stdout.decode() == f"{sha} cody subject\n"
