"""Requests about workflow runs, their jobs and artifacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from infx.github import convert
from infx.github.endpoints import Endpoints
from infx.github.errors import ConflictError, NotFoundError, UnexpectedReplyError
from infx.github.paging import Listing, read_page
from infx.model import Artifact, DispatchedRun, Job, Run

_T = TypeVar("_T")

MAX_ARTIFACT = 100_000_000  # bytes of one zip, unless the caller says otherwise


class Workflows(Endpoints):
    def runs(
        self,
        *,
        workflow: str | None = None,
        event: str | None = None,
        branch: str | None = None,
        head_sha: str | None = None,
        status: str | None = None,
        created_since: datetime | None = None,
        newest: int | None = None,
    ) -> list[Run]:
        """Read runs, newest first. A workflow that is not on the default branch yet has none.

        GitHub shows at most 1,000 runs of a filtered list: if there are more, this raises IncompleteListError
        unless `newest` is set.

        Args:
            workflow: file name.
            status: a status or a conclusion.
            newest: the most runs to read.
        """
        where = ("actions", "runs") if workflow is None else ("actions", "workflows", workflow, "runs")
        parameters = {
            "event": event,
            "branch": branch,
            "head_sha": head_sha,
            "status": status,
            "created": None if created_since is None else f">={created_since.isoformat()}",
        }

        def read() -> list[Run]:
            return self._list(
                convert.parse_run,
                *where,
                parameters=parameters,
                field="workflow_runs",
                counted=True,
                newest=newest,
            )

        return read() if workflow is None else self._seek_runs(workflow, read) or []

    def runs_page(self, workflow: str, number: int) -> tuple[list[Run], bool]:
        """Read one page of a workflow's runs, newest first; return also whether it is the last page.

        A workflow that is not on the default branch yet has no runs.
        """
        path = self._path("actions", "workflows", workflow, "runs")
        listing = Listing(path=path, parameters={}, field="workflow_runs", counted=True)
        page = self._seek_runs(workflow, lambda: read_page(self.connection, listing, number))
        items, is_last = page or ([], True)
        return [convert.convert(convert.parse_run, item) for item in items], is_last

    def _seek_runs(self, workflow: str, read: Callable[[], _T]) -> _T | None:
        """Read runs, or return None after 404 if the default branch lacks the workflow.

        Raises UnexpectedReplyError if the branch has it.
        """
        try:
            return self._insist(read)
        except NotFoundError as error:
            self._must_be_gone(error, "contents", ".github", "workflows", workflow)
            return None

    def run(self, run_id: int) -> Run:
        """Read the newest attempt of a run."""
        return self._get(convert.parse_run, "actions", "runs", run_id)

    def find_run(self, run_id: int) -> Run | None:
        """Read the newest attempt of a run, or return None if GitHub answers twice that it has no such run."""
        return self._find(convert.parse_run, "actions", "runs", run_id)

    def jobs(self, run_id: int, *, every_attempt: bool = False) -> list[Job]:
        """Read the jobs of a run's newest attempt, or of every attempt.

        After a partial re-run, the newest attempt may lack the jobs that were not repeated.
        """
        where = ("actions", "runs", run_id, "jobs")
        parameters = {"filter": "all" if every_attempt else "latest"}
        return self._list(convert.parse_job, *where, parameters=parameters, field="jobs", counted=True)

    def artifacts(self, run_id: int, *, name: str | None = None) -> list[Artifact]:
        """Read the artifacts of all attempts. If several have the same name, the highest id wins."""
        artifacts = self._list(
            convert.parse_artifact,
            "actions",
            "runs",
            run_id,
            "artifacts",
            parameters={"name": name},
            field="artifacts",
            counted=True,
        )
        newest = {artifact.name: artifact for artifact in sorted(artifacts, key=lambda artifact: artifact.id)}
        return sorted(newest.values(), key=lambda artifact: artifact.id)

    def named_artifacts(self, name: str, *, since: datetime) -> list[Artifact]:
        """Read the repository's artifacts with this name, created at `since` or later, newest first.

        Artifacts without a run or a time are left out.
        """

        def is_older(item: Any) -> bool:
            return bool(item.get("created_at")) and convert.parse_moment(item["created_at"]) < since

        items = self._list(
            lambda item: item,
            "actions",
            "artifacts",
            parameters={"name": name},
            field="artifacts",
            until=is_older,
        )
        return [artifact for artifact in _convert_complete(items) if artifact.created_at >= since]

    def artifacts_page(self, name: str, number: int) -> tuple[list[Artifact], bool]:
        """Read one page of the repository's artifacts with this name, and whether it is the last page."""
        listing = Listing(
            path=self._path("actions", "artifacts"),
            parameters={"name": name},
            field="artifacts",
            counted=True,
        )
        items, is_last = read_page(self.connection, listing, number)
        return _convert_complete(items), is_last

    def download_artifact(self, artifact_id: int, *, limit: int = MAX_ARTIFACT) -> bytes:
        """Download an artifact's zip file, at most `limit` bytes. Raises NotFoundError if it has expired."""

        def ask_for_link() -> str:
            reply = self.connection.read(self._path("actions", "artifacts", artifact_id, "zip"))
            location = reply.headers.get("location")
            if reply.status != 302 or not location:
                raise UnexpectedReplyError(f"GitHub sent no download link for artifact {artifact_id}.")
            return location

        # a link to the file store is valid for a minute, so each attempt asks for a new one
        return self.connection.fetch(ask_for_link, limit)

    def cancel_run(self, run_id: int) -> bool:
        """Ask GitHub to cancel a run; return False if it has finished already."""
        try:
            self._write_silently("POST", "actions", "runs", run_id, "cancel", expect=202)
        except ConflictError:
            return False
        return True

    def rerun_failed(self, run_id: int) -> None:
        """Start the failed jobs of a finished run again."""
        self._write("POST", "actions", "runs", run_id, "rerun-failed-jobs")

    def dispatch_workflow(self, workflow: str, *, ref: str, inputs: Mapping[str, str]) -> DispatchedRun:
        """Start a workflow by its file name, and return its run. ref: a branch or tag, never a SHA."""
        body = {"ref": ref, "inputs": dict(inputs), "return_run_details": True}
        data = self._write("POST", "actions", "workflows", workflow, "dispatches", body=body)
        return convert.convert(
            lambda data: DispatchedRun(id=data["workflow_run_id"], url=data["html_url"]), data
        )

    def dispatch_event(self, name: str, payload: Mapping[str, object]) -> None:
        """Start the workflows of this repository that wait for a `repository_dispatch` event with this name."""
        body = {"event_type": name, "client_payload": dict(payload)}
        self._write_silently("POST", "dispatches", expect=204, body=body)


def _convert_complete(items: Sequence[Any]) -> list[Artifact]:
    """Convert the artifacts that have a time and a run."""
    complete = [item for item in items if convert.convert(_is_complete, item)]
    return [convert.convert(convert.parse_artifact, item) for item in complete]


def _is_complete(artifact: Any) -> bool:
    return bool(artifact.get("created_at") and artifact.get("workflow_run"))
