"""Act as GitHub Actions on a hub in another process of this machine."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Mapping
from functools import cached_property
from http.client import OK
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from infx.errors import UnavailableError, UsageError
from infx.hub.playing import HEADER, HERE, PREFIX
from infx.hub.state import Event
from infx.records import record

_SECONDS = 60


@record
class RemoteNumber:
    """The id of a run, a job or an artifact."""

    id: int


class RemoteHub:
    """A hub at an address; see `PlayHub` for its methods."""

    def __init__(self, api: str) -> None:
        """Prepare the requests. Raises UsageError for an address that is not on this machine."""
        self.api = api.rstrip("/")
        try:
            parts = urlsplit(self.api)
            host, port = parts.hostname or "", parts.port or 80
        except ValueError:  # brackets without an address, a port that is not a number
            host, port = "", 0
        if host not in HERE or parts.scheme != "http":
            raise UsageError(
                f"{api} is not the address of a hub on this machine.",
                hint="Give the address that infx hub serve prints by --url or GITHUB_API_URL.",
            )
        self._place = host, port

    def ask(self, operation: str, **values: Any) -> Any:
        """Return the result of an operation. Raises UnavailableError if no hub answers."""
        connection = http.client.HTTPConnection(*self._place, timeout=_SECONDS)  # never through a proxy
        try:
            connection.request("POST", f"{PREFIX}{operation}", json.dumps(values), {HEADER: "1"})
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise UnavailableError(
                f"No hub answers at {self.api}: {error}.",
                hint="Start one in another terminal: infx hub serve --from .",
            ) from None
        finally:
            connection.close()
        if answer.status != OK:
            words = data.decode(errors="replace")[:200]
            raise UnavailableError(f"{self.api} refused {operation}: {answer.status} {words}")
        try:
            return json.loads(data) if data else None
        except ValueError:
            raise UnavailableError(f"{self.api} is not a hub: its answer is not JSON.") from None

    @cached_property
    def _about(self) -> dict[str, str]:
        about: dict[str, str] = self.ask("describe")
        return about

    @property
    def repository(self) -> str:
        return self._about["repository"]

    @property
    def branch(self) -> str:
        return self._about["branch"]

    @property
    def git_path(self) -> Path:
        return Path(self._about["git-path"])

    @property
    def reads(self) -> int:
        return int(self.ask("count")["reads"])

    @property
    def writes(self) -> int:
        return int(self.ask("count")["writes"])

    def environ(self, token: str | None = None) -> dict[str, str]:
        token_variable = {} if token is None else {"GH_TOKEN": token}
        return {"GITHUB_API_URL": self.api, "GITHUB_REPOSITORY": self.repository, **token_variable}

    def branch_ref(self, branch: str, repository: str | None = None) -> str:
        is_here = repository is None or repository.lower() == self.repository.lower()
        return f"refs/heads/{branch}" if is_here else f"refs/forks/{repository}/{branch}"

    def workflow_token(self, permissions: Mapping[str, str]) -> str:
        return str(self.ask("make-token", login=None, permissions=dict(permissions)))

    def app_token(self, login: str, permissions: Mapping[str, str]) -> str:
        return str(self.ask("make-token", login=login, permissions=dict(permissions)))

    def find_pulls(self) -> list[int]:
        """Return the numbers of all pull requests."""
        numbers: list[int] = self.ask("find-pulls")
        return numbers

    def find_commits(self, number: int) -> tuple[str, str]:
        head, base = self.ask("find-commits", number=number)
        return head, base

    def find_events(self, number: int) -> list[Event]:
        return [Event(**values) for values in self.ask("find-events", number=number)]

    def sync(self) -> None:
        """Do nothing: the hub notices pushes at every request."""

    def add_run(self, workflow: str, *, pull: int, by: str) -> RemoteNumber:
        return RemoteNumber(id=self.ask("add-run", workflow=workflow, pull=pull, by=by))

    def finish_run(self, run_id: int, conclusion: str = "success") -> RemoteNumber:
        return RemoteNumber(id=self.ask("finish-run", run=run_id, conclusion=conclusion))

    def cancel_others(self, run_id: int, number: int) -> None:
        self.ask("cancel-others", run=run_id, number=number)

    def add_job(
        self, run_id: int, name: str, *, conclusion: str | None, runner: str | None = None
    ) -> RemoteNumber:
        values = {"run": run_id, "name": name, "conclusion": conclusion, "runner": runner}
        return RemoteNumber(id=self.ask("add-job", **values))

    def finish_job(self, job_id: int, conclusion: str = "success") -> RemoteNumber:
        return RemoteNumber(id=self.ask("finish-job", job=job_id, conclusion=conclusion))

    def add_artifact(self, run_id: int, name: str, files: Mapping[str, str | bytes]) -> RemoteNumber:
        encoded = {
            file: base64.b64encode(data.encode() if isinstance(data, str) else data).decode()
            for file, data in files.items()
        }
        return RemoteNumber(id=self.ask("add-artifact", run=run_id, name=name, files=encoded))
