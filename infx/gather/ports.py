"""List the methods of GitHub and git that reconciling uses; `infx.github` and `infx.git` implement them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from infx.evidence.rows import KindRows, SweepKind
from infx.model import (
    Artifact,
    ChangedFile,
    Collaborator,
    CommitStatus,
    Job,
    LabelEvent,
    Overview,
    PullRequest,
    PullSummary,
    Reaction,
    Run,
)

_T = TypeVar("_T")


class Pager(Protocol):
    """Requests for pages of the whole repository, newest first; each page says whether it is the last."""

    def runs_page(self, workflow: str, number: int) -> tuple[list[Run], bool]: ...
    def artifacts_page(self, name: str, number: int) -> tuple[list[Artifact], bool]: ...


class ReconcileReader(Pager, Protocol):
    """Requests that only read."""

    def overviews(self, numbers: Sequence[int]) -> dict[int, Overview]: ...
    def overview(self, number: int) -> Overview: ...
    def files(self, pull: PullRequest) -> list[ChangedFile]: ...
    def statuses(self, sha: str, *, is_hearsay: bool = False) -> list[CommitStatus]: ...
    def read_file(self, path: str, ref: str) -> bytes | None: ...
    def label_events(self, number: int) -> list[LabelEvent]: ...
    def target_changes(self, number: int) -> list[datetime]: ...
    def reactions(self, comment_id: int) -> list[Reaction]: ...
    def permission(self, login: str) -> Collaborator: ...
    def pulls(self, *, state: str = "open", head: str | None = None) -> list[PullSummary]: ...
    def runs(
        self,
        *,
        workflow: str | None = None,
        event: str | None = None,
        branch: str | None = None,
        newest: int | None = None,
    ) -> list[Run]: ...
    def jobs(self, run_id: int, *, every_attempt: bool = False) -> list[Job]: ...


class PlanMaker(Protocol):
    """A source of plans recomputed from git; `infx.gather.plan` implements it."""

    def kinds(self, base: str, head: str, kinds: Sequence[SweepKind]) -> tuple[KindRows, ...]: ...


class Merge(Protocol):
    """A test merge."""

    @property
    def tree(self) -> str: ...
    @property
    def conflicts(self) -> tuple[str, ...]: ...


class Clone(Protocol):
    """A clone with the base branch and the heads of pull requests; revisions are full SHAs."""

    def has_commit(self, sha: str) -> bool: ...
    def merge_base(self, one: str, other: str) -> str: ...
    def is_ancestor(self, one: str, of: str) -> bool: ...
    def message(self, revision: str) -> str: ...
    def changed_paths(self, base: str, head: str) -> list[str]: ...
    def read_many(self, wanted: Sequence[tuple[str, str]]) -> list[bytes | None]: ...
    def test_merge(self, base: str, head: str) -> Merge: ...
