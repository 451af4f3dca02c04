"""Repositories that `infx init` makes in temporary folders."""

from __future__ import annotations

from pathlib import Path

from tests.calling import Called, call
from tests.repository import Repository

SHA = "9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0"
ACTIONS = f"your-org/infx@{SHA} # v1.0"
ANSWERS = ("--repo", "acme/bench", "--runner", "h200=h200-a_0", "--actions", ACTIONS)
RENAMED = (
    "--base-branch", "release/1.0", "--changelog", "bench/log.yaml", "--master-config", "bench/one.yaml",
    "--master-config", "bench/2.yml", "--runner-config", "bench/machines.yaml", "--clusters", "bench/launch.yaml",
    "--models", "bench/list.yaml",
)  # fmt: skip
SIGNOFFS = ("--signoffs", "--code-owner", "@mia", "--code-owner", "@acme/core")
APP = ("--app", "bench-bot")


def init(*options: str) -> Called:
    """Call `infx init` in the current folder with complete answers and these options."""
    return call("init", *ANSWERS, *options, "--format", "json")


def make_repository(folder: Path, branch: str = "main") -> Repository:
    """Return an empty repository whose only branch has a commit."""
    repository = Repository.init(folder)
    repository.git.run("checkout", "--quiet", "-B", branch)
    repository.commit({"README.md": "# Benchmarks\n"})
    return repository


def read_files(folder: Path) -> dict[str, bytes]:
    """Return path → bytes of all files outside of .git."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
