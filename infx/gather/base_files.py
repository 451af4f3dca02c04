"""Find which files exist on the base branch, once for all pull requests of a command."""

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
    """A search for some files on the base branch."""

    reader: FileReader
    policy: Policy
    paths: Sequence[str]  # the files to look for
    _known: dict[str, frozenset[str]] = field(default_factory=dict)  # tip → existing files

    def find(self, branches: BranchReader | None) -> frozenset[str]:
        """Return the paths that exist on the base branch; without a clone, request each file once."""
        tip = branches.base_sha if branches else ""
        if tip not in self._known:
            contents = self._read(branches)
            self._known[tip] = frozenset(
                path for path, data in zip(self.paths, contents, strict=True) if data is not None
            )
        return self._known[tip]

    def _read(self, branches: BranchReader | None) -> list[bytes | None]:
        if branches is None:
            return [self.reader.read_file(path, self.policy.base_branch) for path in self.paths]
        return branches.clone.read_many([(branches.base_sha, path) for path in self.paths])
