"""Make clones for tests of the store on a branch."""

from __future__ import annotations

from pathlib import Path

from infx.git import Git
from tests.repository import Repository


def make_clone(folder: Path) -> Git:
    """Return a clone whose remote supports fetches without the contents of files, as GitHub does."""
    remote = folder / "remote.git"
    git = Git(folder)
    git.run("init", "--quiet", "--bare", str(remote))
    for name in ("allowFilter", "allowAnySHA1InWant"):
        Git(remote).run("config", f"uploadpack.{name}", "true")
    clone = Repository.init(folder / "clone")
    clone.commit({"README.md": "x"})
    clone.git.run("remote", "add", "origin", str(remote))
    return clone.git
