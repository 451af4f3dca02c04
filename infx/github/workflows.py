"""GitHub Actions from outside: runs, their jobs and artifacts, and starting or stopping one."""

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
        """Runs, newest first. workflow: file name. status: a status or a conclusion. newest: at most that many.

        A workflow that is not on the default branch yet has none: a repository may take up one workflow after another.

        GitHub shows at most 1,000 runs of a filtered list: beyond that, and without `newest`, this raises
        IncompleteListError.
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
                convert.run, *where, parameters=parameters, field="workflow_runs", counted=True, newest=newest
            )

        return read() if workflow is None else self._seek_runs(workflow, read) or []

    def runs_page(self, workflow: str, number: int) -> tuple[list[Run], bool]:
        """One page of a workflow's runs, newest first, and whether it is the last one. A workflow that is not on the
        default branch yet has none.
        """
        path = self._path("actions", "workflows", workflow, "runs")
        listing = Listing(path=path, parameters={}, field="workflow_runs", counted=True)
        found = self._seek_runs(workflow, lambda: read_page(self.connection, listing, number))
        items, is_last = found or ([], True)
        return [convert.convert(convert.run, item) for item in items], is_last

    def _seek_runs(self, workflow: str, read: Callable[[], _T]) -> _T | None:
        """None: the default branch has no such workflow. Raises UnexpectedReplyError if it has, and GitHub denies it."""
        try:
            return self._insist(read)
        except NotFoundError as error:
            self._must_be_gone(error, "contents", ".github", "workflows", workflow)
            return None

    def run(self, run_id: int) -> Run:
        """The run in its newest attempt."""
        return self._get(convert.run, "actions", "runs", run_id)

    def jobs(self, run_id: int, *, every_attempt: bool = False) -> list[Job]:
        """The jobs of a run's newest attempt, or of every attempt. Those that a partial re-run did not repeat have at
        times been among the newest attempt's, and at times not.
        """
        where = ("actions", "runs", run_id, "jobs")
        parameters = {"filter": "all" if every_attempt else "latest"}
        return self._list(convert.job, *where, parameters=parameters, field="jobs", counted=True)

    def artifacts(self, run_id: int, *, name: str | None = None) -> list[Artifact]:
        """Artifacts of all attempts; of one name that several attempts uploaded, the one with the highest id."""
        found = self._list(
            convert.artifact,
            "actions",
            "runs",
            run_id,
            "artifacts",
            parameters={"name": name},
            field="artifacts",
            counted=True,
        )
        newest = {artifact.name: artifact for artifact in sorted(found, key=lambda artifact: artifact.id)}
        return sorted(newest.values(), key=lambda artifact: artifact.id)

    def named_artifacts(self, name: str, *, since: datetime) -> list[Artifact]:
        """Artifacts of one name in the whole repository that were made at or after a time, newest first; those left
        out whose run or time GitHub does not tell.
        """

        def is_older(item: Any) -> bool:
            return bool(item.get("created_at")) and convert.moment(item["created_at"]) < since

        items = self._list(
            lambda item: item,
            "actions",
            "artifacts",
            parameters={"name": name},
            field="artifacts",
            until=is_older,
        )
        return [artifact for artifact in _told(items) if artifact.created_at >= since]

    def artifacts_page(self, name: str, number: int) -> tuple[list[Artifact], bool]:
        """One page of the same, and whether it is the last one."""
        listing = Listing(
            path=self._path("actions", "artifacts"),
            parameters={"name": name},
            field="artifacts",
            counted=True,
        )
        items, is_last = read_page(self.connection, listing, number)
        return _told(items), is_last

    def download_artifact(self, artifact_id: int, *, limit: int = MAX_ARTIFACT) -> bytes:
        """The zip file of an artifact, at most `limit` bytes. Raises NotFoundError if it has expired.

        A link to the file store lives for a minute, so each attempt asks for one.
        """

        def link() -> str:
            reply = self.connection.read(self._path("actions", "artifacts", artifact_id, "zip"))
            found = reply.headers.get("location")
            if reply.status != 302 or not found:
                raise UnexpectedReplyError(f"GitHub gave no link to artifact {artifact_id}.")
            return found

        return self.connection.fetch(link, limit)

    def cancel_run(self, run_id: int) -> bool:
        """Ask for a run to be cancelled; False if it has finished already."""
        try:
            self._write_silently("POST", "actions", "runs", run_id, "cancel", expect=202)
        except ConflictError:
            return False
        return True

    def rerun_failed(self, run_id: int) -> None:
        """Start the failed jobs of a finished run again."""
        self._write("POST", "actions", "runs", run_id, "rerun-failed-jobs")

    def dispatch_workflow(self, workflow: str, *, ref: str, inputs: Mapping[str, str]) -> DispatchedRun:
        """Start a workflow by its file name. ref: a branch or tag, never a SHA. Returns the run it started."""
        body = {"ref": ref, "inputs": dict(inputs), "return_run_details": True}
        data = self._write("POST", "actions", "workflows", workflow, "dispatches", body=body)
        return convert.convert(
            lambda data: DispatchedRun(id=data["workflow_run_id"], url=data["html_url"]), data
        )


def _told(items: Sequence[Any]) -> list[Artifact]:
    told = [item for item in items if convert.convert(_is_told, item)]
    return [convert.convert(convert.artifact, item) for item in told]


def _is_told(artifact: Any) -> bool:
    return bool(artifact.get("created_at") and artifact.get("workflow_run"))
