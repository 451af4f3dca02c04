"""A hub filled from a clone: pull requests, their numbers and titles, people; the clone stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.errors import UsageError
from infx.hub import Hub
from infx.hub.adopted import add_owners, copy_branches, open_pulls
from tests.adopter import HOSTILE, make_adopter
from tests.repository import Repository

BRANCHES = ("broken", "docs", HOSTILE, "linked", "ready", "typo")
ALL = ("refs/heads/*:refs/heads/*",)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = make_adopter(tmp_path_factory.mktemp("clone") / "bench")
    repository.git.run("branch", "same", "main")  # not ahead
    repository.git.run("checkout", "--quiet", "--orphan", "other")
    repository.commit({"x": "1"}, "Another history")
    repository.checkout("main")
    return repository


@pytest.fixture
def hub(clone: Repository, tmp_path: Path) -> Iterator[Hub]:
    with Hub(tmp_path / "hub", repository="your-org/your-bench") as served:
        copy_branches(served, clone.path, ALL)
        yield served
        assert served.errors == []


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the content and the time of every file."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_each_branch_ahead_of_main_becomes_a_pull_request(hub: Hub) -> None:
    """A number that only a branch's own entries link is that pull request's; the others follow the highest number."""
    opened = open_pulls(hub, (*BRANCHES, "same", "other"), "perf-changelog.yaml", must=False)
    pulls = hub.state.pulls
    assert {pulls[sample.number].head_ref: sample.number for sample in opened} == {
        "broken": 58,
        "docs": 59,
        HOSTILE: 60,
        "linked": 57,
        "ready": 61,
        "typo": 62,
    }
    assert {pull.title for pull in pulls.values()} == {f"Change {branch}" for branch in BRANCHES}
    assert opened[0].words == "is branch broken, 1 commit ahead of main"


def test_a_named_branch_that_cannot_have_a_pull_request_is_an_error(hub: Hub) -> None:
    with pytest.raises(UsageError, match="same cannot have a pull request: No commits between main and same"):
        open_pulls(hub, ("same",), "perf-changelog.yaml", must=True)


def test_people_of_codeowners_may_write_and_teams_are_left_out(hub: Hub) -> None:
    assert add_owners(hub) == ["zoe"]
    assert hub.account("zoe").role == "write"


def test_the_clone_is_only_read(clone: Repository, tmp_path: Path) -> None:
    (clone.path / "README.md").write_text("not committed\n")
    before = snapshot(clone.path)
    with Hub(tmp_path / "hub", repository="your-org/your-bench") as hub:
        copy_branches(hub, clone.path, ALL)
        add_owners(hub)
        (sample,) = open_pulls(hub, ("ready",), "perf-changelog.yaml", must=True)
        hub.merge_pull(sample.number, by="mia")
    assert snapshot(clone.path) == before
    (clone.path / "README.md").unlink()
