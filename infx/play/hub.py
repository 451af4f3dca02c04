"""The part of a hub that GitHub Actions and the runners use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from infx.hub.state import Event


class Numbered(Protocol):
    """A run or a job."""

    @property
    def id(self) -> int: ...


class PlayHub(Protocol):
    """A hub in this process, or in another one (`RemoteHub`)."""

    @property
    def repository(self) -> str: ...

    @property
    def git_path(self) -> Path: ...

    @property
    def reads(self) -> int: ...

    @property
    def writes(self) -> int: ...

    def environ(self, token: str | None = None) -> dict[str, str]: ...

    def branch_ref(self, branch: str, repository: str | None = None) -> str: ...

    def workflow_token(self, permissions: Mapping[str, str]) -> str: ...

    def app_token(self, login: str, permissions: Mapping[str, str]) -> str: ...

    def find_commits(self, number: int) -> tuple[str, str]:
        """Return the SHAs of a pull request's head and of its base branch."""

    def sync(self) -> None:
        """Notice pushes that were made with git."""

    def find_events(self, number: int) -> list[Event]:
        """Return the events of a pull request and its comments, oldest first."""

    def add_run(self, workflow: str, *, pull: int, by: str) -> Numbered: ...

    def finish_run(self, run_id: int, conclusion: str = "success") -> Numbered: ...

    def cancel_others(self, run_id: int, number: int) -> None:
        """Cancel the other runs of a pull request."""

    def add_job(
        self, run_id: int, name: str, *, conclusion: str | None, runner: str | None = None
    ) -> Numbered: ...

    def finish_job(self, job_id: int, conclusion: str = "success") -> Numbered: ...

    def add_artifact(self, run_id: int, name: str, files: Mapping[str, str | bytes]) -> Numbered: ...
