"""A release: its version is the tag's, it is built from the tag's files, and it is checked before it is written."""

from __future__ import annotations

import hashlib
import re
import shutil
import venv
import zipfile
from pathlib import Path

import click
import pytest

from infx import __version__
from infx.errors import InfxError
from infx.git import Git
from infx.matrix.row_file import pack_row_file, pack_supervise
from tests.conftest import ROOT
from tests.release import NOTES, PROGRAMS, SUMS, check_source, find_notes, find_version, release

PARTS = (".github", "configs", "docs", "infx", "CHANGELOG.md", "LICENSE", "README.md", "perf-changelog.yaml", "pyproject.toml")  # fmt: skip


def make_repository(folder: Path, tag: str) -> Path:
    """Make a repository with the project's files, because the project may not be one."""
    folder.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.png")
            shutil.copytree(ROOT / part, folder / part, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / part, folder / part)
    tag_all(folder, tag)
    return folder


def tag_all(folder: Path, tag: str) -> None:
    git = Git(folder)
    git.run("init", "--quiet", "--initial-branch=main")
    git.run("add", "--all")
    git.run("commit", "--quiet", "--message", "release")
    git.run("tag", tag)


def link_packages(folder: Path) -> None:
    """Make an environment that imports the packages of this one, because tests have no network."""
    venv.create(folder, with_pip=False)
    (library,) = (folder / "lib").glob("python*/site-packages")
    (library / "packages.pth").write_text(str(Path(click.__file__).parents[1]))


def test_a_release_is_built_and_checked(tmp_path: Path) -> None:
    """The wheel is made from the source archive, and has all files, although the demo's data are links."""
    root, dist = make_repository(tmp_path / "root", f"v{__version__}"), tmp_path / "dist"
    (root / "infx/untracked.py").write_text("not a file of the tag")
    release(root, dist, link_packages)
    wheel, sdist = f"infx-{__version__}-py3-none-any.whl", f"infx-{__version__}.tar.gz"
    assert {path.name for path in dist.iterdir()} == {wheel, sdist, *PROGRAMS, SUMS, NOTES}
    with zipfile.ZipFile(dist / wheel) as archive:
        installed = {name: archive.read(name) for name in archive.namelist() if name.startswith("infx/")}
    assert installed == {
        str(path.relative_to(ROOT)): path.read_bytes()
        for path in (ROOT / "infx").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert (dist / "row.py").read_text() == pack_row_file()
    assert (dist / "supervise.py").read_text() == pack_supervise()
    sums = dict(line.split("  ")[::-1] for line in (dist / SUMS).read_text().splitlines())
    assert sums == {
        name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for name in (wheel, sdist, *PROGRAMS)
    }
    assert (dist / NOTES).read_text().startswith("The first release.")


def test_a_release_that_fails_a_check_leaves_dist_alone(tmp_path: Path) -> None:
    """The tag names another version than the package, so nothing is built."""
    root, dist = tmp_path / "root", tmp_path / "dist"
    (root / "infx").mkdir(parents=True)
    shutil.copy(ROOT / "infx/__init__.py", root / "infx")
    tag_all(root, "v9.9.9")
    dist.mkdir()
    (dist / "older").touch()
    with pytest.raises(InfxError, match=rf"says {re.escape(__version__)}, but the tag says 9\.9\.9"):
        release(root, dist, link_packages)
    assert [path.name for path in dist.iterdir()] == ["older"]


@pytest.mark.parametrize(
    ("tags", "version"),
    [
        (("v1.2.3",), "1.2.3"),
        (("v1.2.3rc1", "nightly"), "1.2.3rc1"),
        ((), None),
        (("1.2.3",), None),
        (("v1.2",), None),
        (("v1.2.3", "v1.2.4"), None),
    ],
)
def test_the_tag_of_the_commit_names_the_version(
    tmp_path: Path, tags: tuple[str, ...], version: str | None
) -> None:
    git = Git(tmp_path)
    git.run("init", "--quiet")
    git.run("commit", "--quiet", "--allow-empty", "--message", "one")
    for tag in tags:
        git.run("tag", tag)
    if version:
        assert find_version(tmp_path) == version
    else:
        with pytest.raises(InfxError, match="exactly one tag"):
            find_version(tmp_path)


def test_the_projects_changelog_begins_with_its_version() -> None:
    """A commit that changes the version must describe it; the tag is made on that commit."""
    assert check_source(ROOT, __version__).strip()


def test_pages_show_the_newest_version() -> None:
    """Readers copy these lines. The examples of the next version on docs/releases.md have other forms."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    shown = [
        (page.name, version)
        for page in pages
        for version in re.findall(r"infx(?:/\S+)?@(?:<commit> # )?v(\d\S*?)[\"\s]", page.read_text("utf-8"))
    ]
    assert len(shown) >= 5
    assert [(name, version) for name, version in shown if version != __version__] == []


@pytest.mark.parametrize(
    ("changelog", "notes"),
    [
        ("# C\n\n## [1.0.0] - 2026-12-01\n\none\n\n## [0.9.0] - 2026-01-01\n\nzero\n", "one\n"),
        ("## [Unreleased]\n\nlater\n\n## [1.0.0] - 2026-12-01\none\n", "one\n"),
        ("## [1.0.1] - 2026-12-01\n\n## [1.0.0] - 2026-12-01\none\n", None),  # not the newest
        ("## [1.0.0]\n\none\n", None),  # no date
        ("## [1.0.0rc1] - 2026-12-01\n\none\n", None),
        ("## [Unreleased]\n\nlater\n", None),
    ],
)
def test_the_notes_are_those_of_the_newest_version(changelog: str, notes: str | None) -> None:
    assert find_notes(changelog, "1.0.0") == notes
