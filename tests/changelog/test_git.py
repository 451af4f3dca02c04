"""Run the merge driver in real repositories, for every git command that calls it and in any order."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from infx.git import Output
from tests.calling import call
from tests.changelog.samples import BASE, PATH, RUNNERS, config, entry, link, new
from tests.repository import Repository


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a clone with the driver installed, whose main contains the base."""
    clone = Repository.init(tmp_path / "clone")
    clone.commit({PATH: BASE}, "base")
    monkeypatch.chdir(clone.path)
    assert call("changelog", "install-driver").code == 0
    return clone


def content(repository: Repository) -> bytes:
    return (repository.path / PATH).read_bytes()


def mine(name: str, *more: str) -> bytes:
    return new("XXX", key=name, text=f'"entry of {name}"') + b"".join(
        new("XXX", key=name, text=f'"{text}"') for text in more
    )


def grow(repository: Repository, branch: str, *entries: bytes, start: str = "main") -> None:
    """Create a branch with one commit for each entry."""
    repository.branch(branch, start)
    for number, text in enumerate(entries):
        repository.commit({PATH: content(repository) + text}, f"{branch} {number}")
    repository.checkout("main")


def git(repository: Repository, *arguments: str) -> Output:
    return repository.git.call(*arguments)


def clean(output: Output) -> None:
    assert output.code == 0, output.stdout + output.stderr


def test_installing_twice_changes_nothing(repository: Repository) -> None:
    attributes = repository.path / ".git/info/attributes"
    before = attributes.read_text(), (repository.path / ".git/config").read_text()
    assert call("changelog", "install-driver").code == 0
    assert (attributes.read_text(), (repository.path / ".git/config").read_text()) == before
    assert f"{PATH} merge=infx-changelog" in before[0]


def test_other_attributes_are_kept(repository: Repository) -> None:
    attributes = repository.path / ".git/info/attributes"
    attributes.write_text("*.png binary")
    assert call("changelog", "install-driver").code == 0
    assert attributes.read_text() == f"*.png binary\n{PATH} merge=infx-changelog\n"


def test_merging_main_into_a_branch_puts_main_first(repository: Repository) -> None:
    grow(repository, "feature", mine("a"), mine("b"))
    repository.commit({PATH: BASE + new(link(80))}, "another pull request")
    repository.checkout("feature")
    clean(git(repository, "merge", "--no-edit", "main"))
    assert content(repository) == BASE + new(link(80)) + mine("a") + mine("b")


def test_rebase_of_several_commits(repository: Repository) -> None:
    grow(repository, "feature", mine("a"), mine("b"), mine("c"))
    repository.commit({PATH: BASE + new(link(80))}, "another pull request")
    repository.checkout("feature")
    clean(git(repository, "rebase", "main"))
    assert content(repository) == BASE + new(link(80)) + mine("a") + mine("b") + mine("c")


def test_rebase_where_entries_look_alike(repository: Repository) -> None:
    """Rebase entries whose lines a line-based merge would mix up."""
    alike = [new("XXX", key=key, text='"Bump image"') for key in "abcd"]
    grow(repository, "feature", *alike[:3])
    repository.commit({PATH: BASE + alike[3] + new(link(80), key="a", text='"Bump image"')}, "another")
    repository.checkout("feature")
    clean(git(repository, "rebase", "main"))
    assert content(repository) == BASE + alike[3] + new(link(80), key="a", text='"Bump image"') + b"".join(
        alike[1:3]
    )


def test_pulling_with_an_entry_on_the_local_base_branch(repository: Repository, tmp_path: Path) -> None:
    clean(git(repository, "clone", "--quiet", "--bare", ".", str(tmp_path / "remote.git")))
    clean(git(repository, "remote", "add", "origin", str(tmp_path / "remote.git")))
    other = Repository(tmp_path / "other")
    clean(git(repository, "clone", "--quiet", str(tmp_path / "remote.git"), str(other.path)))
    other.commit({PATH: BASE + new(link(80))}, "published")
    clean(other.git.call("push", "--quiet", "origin", "main"))
    repository.commit({PATH: BASE + mine("local")}, "not published yet")
    clean(git(repository, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main"))
    assert content(repository) == BASE + new(link(80)) + mine("local")


def test_cherry_pick_and_stash_pop(repository: Repository) -> None:
    grow(repository, "feature", mine("a"))
    repository.write({PATH: BASE + mine("stashed")})
    clean(git(repository, "stash"))
    repository.commit({PATH: BASE + new(link(80))}, "another pull request")
    clean(git(repository, "cherry-pick", "feature"))
    assert content(repository) == BASE + new(link(80)) + mine("a")
    clean(git(repository, "stash", "pop"))
    assert content(repository) == BASE + new(link(80)) + mine("a") + mine("stashed")


def test_am_with_a_three_way_merge(repository: Repository, tmp_path: Path) -> None:
    grow(repository, "feature", mine("a"))
    patch = git(repository, "format-patch", "--stdout", "main..feature").stdout
    (tmp_path / "mail.patch").write_bytes(patch)
    repository.commit({PATH: BASE + new(link(80))}, "another pull request")
    clean(git(repository, "am", "-3", str(tmp_path / "mail.patch")))
    assert content(repository) == BASE + new(link(80)) + mine("a")


def test_a_revert_stays_a_revert(repository: Repository) -> None:
    """Check that a revert does not silently keep its entry, and does not delete a later entry."""
    repository.commit({PATH: BASE + mine("a")}, "to be reverted")
    bad = repository.git.commit("HEAD")
    repository.commit({PATH: BASE + mine("a") + mine("b")}, "later")
    output = git(repository, "revert", "--no-edit", bad)
    assert output.code != 0
    assert b"Keep past entries" in output.stderr
    text = content(repository)
    assert b"<<<<<<<" in text
    assert b"entry of b" in text


def test_a_refusal_leaves_markers_and_says_why(repository: Repository) -> None:
    grow(repository, "feature", mine("a"))
    repository.branch("edit", "feature")
    repository.commit({PATH: BASE.replace(b"pull/10", b"pull/11")}, "an edit of history")
    repository.checkout("main")
    repository.commit({PATH: BASE + new(link(80))}, "another pull request")
    output = git(repository, "merge", "--no-edit", "edit")
    assert output.code != 0
    assert b"does more than append" in output.stderr
    assert content(repository).count(b"<<<<<<<") == content(repository).count(b">>>>>>>") == 1


def test_a_broken_policy_does_not_cost_a_side(repository: Repository) -> None:
    """Merge while the policy itself contains conflict markers."""
    grow(repository, "feature", mine("a"))
    repository.commit({PATH: BASE + new(link(80)), "configs/policy.yaml": "<<<<<<< HEAD\n"}, "main")
    repository.checkout("feature")
    clean(git(repository, "merge", "--no-edit", "main"))
    assert content(repository) == BASE + new(link(80)) + mine("a")


def test_a_folder_of_the_same_name_in_the_tree_is_not_run(repository: Repository) -> None:
    repository.commit({"infx/__init__.py": "raise SystemExit('run')", "infx/__main__.py": ""}, "a trap")
    grow(repository, "feature", mine("a"))
    repository.commit({PATH: BASE + new(link(80))}, "another pull request")
    clean(git(repository, "merge", "--no-edit", "feature"))
    assert content(repository) == BASE + new(link(80)) + mine("a")


@pytest.mark.parametrize("seed", range(20 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 2))
def test_properties_twelve_branches_in_any_order(repository: Repository, seed: int) -> None:
    """Check that the base's bytes come first, then each branch's entries once, in merge order."""
    chance = random.Random(seed)
    names = [f"branch-{number}" for number in range(12)]
    alike = new("XXX", key="same", text='"Bump image"')
    added: dict[str, list[bytes]] = {}
    for name in names:
        parts = [mine(name)]
        if chance.random() < 0.5:
            parts.append(alike.replace(b"same", name.encode()))
        if chance.random() < 0.3:
            parts.append(b"\n" + BASE.replace(b"pull/10", f"pull/{100 + len(added)}".encode()))
        added[name] = parts
        grow(repository, name, *parts)
    expected = BASE
    for name in chance.sample(names, 12):
        how = chance.choice(["merge", "update", "rebase", "cherry-pick"])
        if how == "merge":
            clean(git(repository, "merge", "--no-ff", "--no-edit", name))
        elif how == "update":  # main is merged into the branch first, as GitHub's button does
            repository.checkout(name)
            clean(git(repository, "merge", "--no-edit", "main"))
            repository.checkout("main")
            clean(git(repository, "merge", "--no-ff", "--no-edit", name))
        elif how == "rebase":
            clean(git(repository, "rebase", "main", name))
            repository.checkout("main")
            clean(git(repository, "merge", "--ff-only", name))
        else:
            base = repository.git.merge_base("main", name)
            clean(git(repository, "cherry-pick", f"{base}..{name}"))
        expected += b"".join(added[name])
        assert content(repository) == expected, how


def test_resolve_in_the_index(repository: Repository) -> None:
    """Resolve a conflict that git left because no driver was installed."""
    clean(git(repository, "config", "--remove-section", "merge.infx-changelog"))
    grow(repository, "feature", mine("a"))
    repository.commit({PATH: BASE + new(link(80))}, "another pull request")
    repository.checkout("feature")
    assert git(repository, "merge", "--no-edit", "main").code != 0
    assert call("changelog", "resolve", "--pr", "77", "--repo", "acme/bench").code == 0
    assert content(repository) == BASE + new(link(80)) + mine("a").replace(b"XXX", link(77).encode())
    clean(git(repository, "commit", "--no-edit"))
    assert call("changelog", "resolve").code == 2


def test_resolve_refuses_a_deleted_file(repository: Repository) -> None:
    grow(repository, "feature", mine("a"))
    (repository.path / PATH).unlink()
    repository.commit({"other": "x"}, "the file is gone")
    assert git(repository, "merge", "--no-edit", "feature").code != 0
    assert call("changelog", "resolve").code == 1


def test_the_documented_attributes_line_runs_the_driver(repository: Repository) -> None:
    (repository.path / ".git/info/attributes").unlink()
    repository.commit({".gitattributes": f"{PATH} text eol=lf merge=infx-changelog\n"}, "attributes")
    grow(repository, "feature", mine("a"))
    repository.commit({PATH: BASE + new(link(80))}, "another pull request")
    clean(git(repository, "merge", "--no-edit", "feature"))
    assert content(repository) == BASE + new(link(80)) + mine("a")


def test_without_the_driver_the_attributes_line_is_harmless(repository: Repository) -> None:
    clean(git(repository, "config", "--remove-section", "merge.infx-changelog"))
    repository.commit({"x": "y"}, "x")
    grow(repository, "feature", mine("a"))
    repository.commit({PATH: BASE + new(link(80))}, "another pull request")
    assert git(repository, "merge", "--no-edit", "feature").code == 1
    assert b"<<<<<<<" in content(repository)


def test_an_entry_alone_in_a_new_file(repository: Repository) -> None:
    repository.branch("one")
    git(repository, "rm", "--quiet", PATH)
    repository.commit({"x": "y"}, "no changelog yet")
    repository.branch("two", "one")
    repository.commit({PATH: entry("XXX", key="two")}, "two")
    repository.checkout("one")
    repository.commit({PATH: entry("XXX", key="one")}, "one")
    clean(git(repository, "merge", "--no-edit", "two"))
    assert content(repository) == entry("XXX", key="one") + new("XXX", key="two")


def test_without_its_python_the_driver_leaves_markers(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(repository.path / "gone/bin 100%/python"))
    assert call("changelog", "install-driver").code == 0
    grow(repository, "feature", mine("a"))
    repository.commit({PATH: BASE + new(link(80))}, "another pull request")
    assert git(repository, "merge", "--no-edit", "feature").code == 1
    text = content(repository)
    assert b"<<<<<<< ours" in text
    assert b"entry of a" in text
    assert link(80).encode() in text


def test_rebase_of_commits_that_rewrite_their_own_entries(repository: Repository) -> None:
    grow(repository, "feature", mine("a", "more"), mine("b"))
    repository.checkout("feature")
    repository.commit({PATH: BASE + mine("a") + mine("b")}, "one is taken back")
    repository.commit({PATH: BASE + mine("a").replace(b"XXX", link(77).encode()) + mine("b")}, "canonical")
    repository.checkout("main")
    repository.commit({PATH: BASE + new(link(80), key="a", text='"entry of a, too"')}, "another pull request")
    repository.checkout("feature")
    clean(git(repository, "rebase", "main"))
    own = mine("a").replace(b"XXX", link(77).encode()) + mine("b")
    assert content(repository) == BASE + new(link(80), key="a", text='"entry of a, too"') + own


def test_in_a_clone_of_a_fork_upstream_is_main(repository: Repository, tmp_path: Path) -> None:
    """Pull from upstream, while `origin` is the fork and the author works on the fork's main."""
    policy = "repository: acme/bench\nmaster-configs: [configs/nvidia.yaml]\n"
    files = {"nvidia": config("a"), "runners": RUNNERS, "policy": policy}
    repository.commit({f"configs/{name}.yaml": text for name, text in files.items()}, "policy")
    for name, owner in (("upstream", "acme"), ("origin", "eve")):
        remote = tmp_path / owner / "bench.git"
        clean(git(repository, "clone", "--quiet", "--bare", ".", str(remote)))
        clean(git(repository, "remote", "add", name, f"https://github.com/{owner}/bench.git"))
        clean(git(repository, "config", f"url.{remote}.insteadOf", f"https://github.com/{owner}/bench.git"))
    repository.branch("theirs")
    repository.commit({PATH: BASE + new(link(80))}, "merged upstream")
    clean(git(repository, "push", "--quiet", "upstream", "theirs:main"))
    repository.checkout("main")
    repository.commit({PATH: BASE + mine("a")}, "ours")
    clean(git(repository, "push", "--quiet", "origin", "main"))
    clean(git(repository, "pull", "--quiet", "--no-rebase", "--no-edit", "upstream", "main"))
    assert content(repository) == BASE + new(link(80)) + mine("a")
    assert call("changelog", "validate", "--pr", "77").code == 0


@pytest.mark.parametrize("where", ["ours", "theirs", "both"])
def test_a_conflict_of_binary_files_keeps_both_sides(
    repository: Repository, where: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Use a NUL byte, for which git would keep one side and drop the other."""
    ours, theirs = (
        mine(name).rstrip(b"\n") + (b"\0\n" if where in {side, "both"} else b"\n")
        for name, side in (("a", "ours"), ("b", "theirs"))
    )
    grow(repository, "feature", ours)
    repository.commit({PATH: BASE + theirs}, "another pull request")
    repository.checkout("feature")
    output = git(repository, "merge", "--no-edit", "main")
    assert output.code == 1
    common = b"\n- config-keys:\n"
    one, other = (side.removeprefix(common) for side in (ours, theirs))
    conflict = b"<<<<<<< ours\n" + one + b"=======\n" + other + b">>>>>>> theirs\n"
    assert content(repository) == BASE + common + conflict
    assert "both sides were written whole" in (output.stdout + output.stderr).decode()
    assert git(repository, "ls-files", "--unmerged").stdout.count(b"\n") == 3


def test_a_file_that_git_cannot_merge_at_all_keeps_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the driver without git, with sides that lack a final newline."""
    sides = {"ancestor": BASE, "ours": BASE + b"x: 1", "theirs": BASE + b"y: 2"}
    for name, data in sides.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path)
    called = call("changelog", "merge-driver", "ancestor", "ours", "theirs", "9", PATH)
    assert called.code == 1
    conflict = b"<<<<<<<<< ours\nx: 1\n=========\ny: 2\n>>>>>>>>> theirs\n"
    assert (tmp_path / "ours").read_bytes() == BASE + conflict
    assert "git cannot be started" in called.err
