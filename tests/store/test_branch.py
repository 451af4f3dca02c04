"""The store on a branch: its commits, its files, and what it fetches."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infx.git import Git, GitError, ObjectReader
from infx.results.series import identify_series, make_row
from infx.store.branch import BranchStore
from infx.store.port import StoreError, WithdrawnRunError
from tests.results.made import result
from tests.store.made import COMMIT, START, make_publication, make_stored, make_withdrawal

BRANCH = "infx-results"


def open_branch(clone: Git) -> BranchStore:
    return BranchStore(clone, BRANCH, author="octocat")


def remote_of(clone: Git) -> Git:
    return Git(Path(clone.origin_url() or ""))


def count_commits(clone: Git) -> int:
    return int(remote_of(clone).line("rev-list", "--count", BRANCH))


def read_files(clone: Git) -> dict[str, str]:
    remote = remote_of(clone)
    names = remote.list_files(BRANCH)
    return {name: (remote.read(BRANCH, name) or b"").decode() for name in names}


def test_the_files_of_a_publication(clone: Git) -> None:
    open_branch(clone).publish(make_publication(7, make_stored(7, series="m h200")))
    files = read_files(clone)
    path = next(name for name in files if name.startswith("series/"))
    assert sorted(files) == ["README.md", "publications/7-1.json", "runs/7-1.jsonl", path]
    row = {
        "attempt": 1, "commit": COMMIT, "conc": 64, "measured-at": "2026-01-02T00:00:00+00:00", "row": "m_h200-64",
        "run": 7, "series": "m h200", "values": {"tput_per_gpu": 7.0},
    }  # fmt: skip
    assert json.loads(files["runs/7-1.jsonl"]) == row
    assert json.loads(files[path]) == {**row, "publication": [7, 1]}
    assert json.loads(files["publications/7-1.json"]) == {
        "run": 7, "attempt": 1, "commit": COMMIT, "origin": "merge", "published-at": "2026-01-08T00:00:00+00:00",
        "row-count": 1, "measured-runs": [7],
    }  # fmt: skip


def test_a_write_is_one_commit_and_a_repeated_one_is_none(clone: Git) -> None:
    for _ in range(2):
        open_branch(clone).publish(make_publication(1))
    assert count_commits(clone) == 1
    for _ in range(2):
        open_branch(clone).withdraw(make_withdrawal(1))
    assert count_commits(clone) == 2
    author = remote_of(clone).line("log", "-1", "--format=%an <%ae> %s", BRANCH)
    assert author == "octocat <octocat@users.noreply.github.com> Withdraw run 1"


def test_a_series_without_rows_has_no_file(clone: Git) -> None:
    open_branch(clone).publish(make_publication(1))
    open_branch(clone).withdraw(make_withdrawal(1))
    assert sorted(read_files(clone)) == [
        "README.md", "publications/1-1.json", "runs/1-1.jsonl", "withdrawals/1.json",
    ]  # fmt: skip


def test_the_clone_is_neither_read_nor_changed(clone: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even by a job that runs in the middle of a git hook, whose environment names the repository."""
    (clone.directory / "README.md").write_text("edited")
    monkeypatch.setenv("GIT_DIR", str(clone.directory / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(clone.directory))

    def look() -> tuple[list[Path], bytes, bytes]:
        paths = sorted(path for path in clone.directory.rglob("*") if path.name != "index")
        return paths, (clone.directory / ".git/config").read_bytes(), clone.run("status", "--porcelain")

    before = look()
    open_branch(clone).publish(make_publication(1))
    open_branch(clone).withdraw(make_withdrawal(1))
    assert open_branch(clone).read_newest(["s"]) == {}
    assert look() == before


def record_reads(monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """Return the lists to which every later call adds the objects that it reads and those that it fetches."""
    read: list[str] = []
    fetched: list[str] = []
    read_object, fetch = ObjectReader.read, Git.fetch

    def note_read(reader: ObjectReader, name: str) -> tuple[str, str, bytes] | None:
        read.append(name)
        return read_object(reader, name)

    def note_fetch(git: Git, remote: str, *names: str, **options: Any) -> None:
        fetched.extend(names)
        fetch(git, remote, *names, **options)

    monkeypatch.setattr(ObjectReader, "read", note_read)
    monkeypatch.setattr(Git, "fetch", note_fetch)
    return read, fetched


def test_only_the_wanted_series_are_fetched(clone: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of reading two series does not depend on how much is stored."""
    read, fetched = record_reads(monkeypatch)
    for sweeps in (range(1, 4), range(4, 9)):
        for run in sweeps:
            rows = [make_stored(run, day=run, series=series) for series in ("a", "b", f"c{run}")]
            open_branch(clone).publish(make_publication(run, *rows))
        read.clear()
        fetched.clear()
        newest = open_branch(clone).read_newest(["a", "b", "absent"])
        assert {key: points[64].run for key, points in newest.items()} == dict.fromkeys("ab", sweeps[-1])
        assert len(read) == 2
        assert fetched[1:] == sorted(read)  # the first is the branch


def test_a_remote_that_supports_no_filter(clone: Git) -> None:
    remote_of(clone).run("config", "uploadpack.allowFilter", "false")
    open_branch(clone).publish(make_publication(1))
    open_branch(clone).publish(make_publication(2))
    assert open_branch(clone).read_newest(["s"])["s"][64].run == 2


def intrude(clone: Git, monkeypatch: pytest.MonkeyPatch, write: Callable[[], object]) -> None:
    """Let another writer finish just before the next push."""
    original = Git.push

    def push(git: Git, *arguments: str, **options: str | None) -> None:
        monkeypatch.setattr(Git, "push", original)
        write()
        original(git, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "push", push)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_writer_whose_push_comes_second_starts_again(
    is_first: bool, clone: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_first:
        open_branch(clone).publish(make_publication(9, make_stored(9, day=0)))
    intrude(clone, monkeypatch, lambda: open_branch(clone).publish(make_publication(2)))
    open_branch(clone).publish(make_publication(1, make_stored(1, day=1), make_stored(1, conc=1)))
    newest = open_branch(clone).read_newest(["s"])["s"]
    assert {conc: row.run for conc, row in newest.items()} == {64: 2, 1: 1}
    assert count_commits(clone) == 2 + (not is_first)


def test_a_run_that_is_withdrawn_during_its_publication(clone: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    open_branch(clone).publish(make_publication(1))
    intrude(clone, monkeypatch, lambda: open_branch(clone).withdraw(make_withdrawal(1)))
    with pytest.raises(WithdrawnRunError):
        open_branch(clone).publish(make_publication(1, attempt=2))


def test_a_push_that_arrived_although_its_answer_was_lost(
    clone: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Git.push

    def push(git: Git, *arguments: str, **options: str | None) -> None:
        original(git, *arguments, **options)  # type: ignore[arg-type]
        raise GitError("the connection was reset")

    monkeypatch.setattr(Git, "push", push)
    assert open_branch(clone).publish(make_publication(1)).added == 1
    assert count_commits(clone) == 1


def test_a_refused_push_is_not_repeated(clone: Git) -> None:
    hook = remote_of(clone).directory / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho x >> pushes\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(GitError, match="pre-receive hook declined"):
        open_branch(clone).publish(make_publication(1))
    assert (remote_of(clone).directory / "pushes").read_text() == "x\n"


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"publication": 1}', "[" * 100_000, '{"publication": [1, 1]}']
)
def test_a_damaged_file_is_named(line: str, clone: Git) -> None:
    open_branch(clone).publish(make_publication(1))
    path = next(name for name in read_files(clone) if name.startswith("series/"))
    remote = remote_of(clone)
    sha = remote.commit_file(
        BRANCH, path, f"{line}\n".encode(), parents=[remote.commit(BRANCH)], message="x", author="x"
    )
    remote.run("update-ref", f"refs/heads/{BRANCH}", sha)
    with pytest.raises(StoreError, match="damaged") as caught:
        open_branch(clone).read_newest(["s"])
    assert caught.value.where == f"{path}:1"


def test_hostile_names_become_files_of_the_series_folder(clone: Git) -> None:
    names = ["../../x", "-rf", ".git", "a\nb", '"', "\ud800", "é" * 150, "a/../b", "\0"]
    rows = [
        make_row(
            result(infmax_model_prefix=name, framework=name), run=1, attempt=1, row_id=f"r{number}", commit=COMMIT,
            measured_at=START,
        )
        for number, name in enumerate(names)
    ]  # fmt: skip
    open_branch(clone).publish(make_publication(1, *rows))
    assert sum(name.startswith("series/") for name in read_files(clone)) == len(names)
    keys = [identify_series(row.values).key for row in rows]
    newest = open_branch(clone).read_newest(keys)
    assert [newest[key][64].row_id for key in keys] == [row.row_id for row in rows]
