"""Real git repositories in temporary folders, with the few operations that tests need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infx.git import Git


@dataclass(frozen=True)
class Repository:
    path: Path

    @classmethod
    def init(cls, path: Path) -> Repository:
        path.mkdir(parents=True, exist_ok=True)
        repository = cls(path)
        repository.git.run("init", "--quiet", "--initial-branch=main")
        return repository

    @property
    def git(self) -> Git:
        return Git(self.path)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, files: Mapping[str, str | bytes], message: str = "change") -> str:
        """Write files, commit everything, return the new SHA."""
        self.write(files)
        self.git.run("add", "--all")
        self.git.run("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git.commit("HEAD")

    def branch(self, name: str, start: str = "HEAD") -> None:
        self.git.run("checkout", "--quiet", "-B", name, start)

    def checkout(self, name: str) -> None:
        self.git.run("checkout", "--quiet", name)
