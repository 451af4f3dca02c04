"""Which of some files the base branch has: read once for all pull requests of a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from infx.gather.changes import BranchReader
from infx.policy.model import Policy


class FileReader(Protocol):
    def read_file(self, path: str, ref: str) -> bytes | None: ...


@dataclass
class BaseFiles:
    """paths: the files in question."""

    reader: FileReader
    policy: Policy
    paths: Sequence[str]
    _known: dict[str, frozenset[str]] = field(default_factory=dict)  # tip → files

    def find(self, branches: BranchReader | None) -> frozenset[str]:
        """Return those that are there, by a clone's base branch, else by a request for each, once."""
        tip = branches.base_sha if branches else ""
        if tip not in self._known:
            self._known[tip] = frozenset(
                path for path in self.paths if self._read(path, branches) is not None
            )
        return self._known[tip]

    def _read(self, path: str, branches: BranchReader | None) -> bytes | None:
        if branches is None:
            return self.reader.read_file(path, self.policy.base_branch)
        (found,) = branches.clone.read_many([(branches.base_sha, path)])
        return found
