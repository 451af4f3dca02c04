"""Actions on workflow runs, jobs, artifacts and statuses."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any

from infx.hub import render
from infx.hub.conversation import ConversationActions
from infx.hub.dispatching import complete_inputs
from infx.hub.refusal import Refused
from infx.hub.state import Artifact, Job, Run, Status
from infx.hub.world import WORKFLOW_LOGIN, locked

WORKFLOWS = ".github/workflows/"


class RunActions(ConversationActions):
    @locked
    def add_run(
        self,
        workflow: str = "run-sweep.yml",
        *,
        pull: int | None = None,
        head_sha: str | None = None,
        branch: str | None = None,
        event: str = "pull_request",
        by: str = "cody",
        status: str = "in_progress",
        conclusion: str | None = None,
        run_id: int | None = None,
        title: str | None = None,
        inputs: Mapping[str, str] | None = None,
    ) -> Run:
        """Add a workflow run, of a pull request's head or of a branch. run_id: by default the next number."""
        source = self.state.pulls[pull] if pull is not None else None
        branch = branch or (source.head_ref if source else self.branch)
        sha = head_sha or (source.head_sha if source else self.tip(branch))
        if workflow not in self.state.workflows:
            self.state.workflows.append(workflow)
        self.account(by)
        now = self.now()
        run = Run(
            id=run_id or self.next_id("run", 300),
            workflow=workflow,
            number=self.next_id(f"number of {workflow}"),
            attempt=1,
            event=event,
            status=status,
            conclusion=conclusion,
            head_sha=sha,
            head_branch=branch,
            head_repository=(source.head_repository if source else None) or self.repository,
            actor=by,
            triggering_actor=by,
            title=title or (source.title if source else workflow),
            # on GitHub a run of a fork has no pull requests here
            pulls=[source.number] if source and source.head_repository == self.repository else [],
            created_at=now,
            updated_at=now,
            inputs=dict(inputs or {}),
        )
        self._announce_run(run)
        return run

    def _announce_run(self, run: Run) -> None:
        self.state.runs[run.id] = run
        self.state.ids["run"] = max(self.state.ids.get("run", 0), run.id)
        self._emit_run(run, "requested", run.actor)
        if run.status == "completed":
            self._emit_run(run, "completed", run.actor)

    def _emit_run(self, run: Run, action: str, by: str) -> None:
        self.emit("workflow_run", action, by, {"workflow_run": render.run(self, run)})

    @locked
    def finish_run(self, run_id: int, conclusion: str = "success") -> Run:
        run = self.state.runs[run_id]
        run.status, run.conclusion, run.updated_at = "completed", conclusion, self.now()
        for job in self.state.jobs.values():
            if job.run == run_id and job.attempt == run.attempt and job.status != "completed":
                job.status, job.completed_at = "completed", self.now()
                job.conclusion = "cancelled" if conclusion == "cancelled" else conclusion
        self._emit_run(run, "completed", run.actor)
        return run

    @locked
    def cancel_run(self, run_id: int) -> None:
        if self.state.runs[run_id].status == "completed":
            raise Refused(409, "Cannot cancel a workflow run that is completed.")
        self.finish_run(run_id, "cancelled")

    @locked
    def cancel_others(self, run_id: int, number: int) -> None:
        """Cancel the other runs of a pull request, as GitHub does when a run enters their concurrency group."""
        for run in list(self.state.runs.values()):
            if number in run.pulls and run.id != run_id and run.status != "completed":
                self.cancel_run(run.id)

    @locked
    def rerun(self, run_id: int, *, by: str = "mia") -> Run:
        """Start a new attempt of a finished run."""
        run = self.state.runs[run_id]
        if run.status != "completed":
            raise Refused(403, "This workflow is already running")
        run.attempt += 1
        run.status, run.conclusion, run.triggering_actor = "queued", None, by
        run.updated_at = self.now()
        self._emit_run(run, "requested", by)
        return run

    @locked
    def add_job(
        self,
        run_id: int,
        name: str,
        *,
        conclusion: str | None = "success",
        status: str | None = None,
        runner: str | None = None,
        attempt: int | None = None,
        failed_step: str | None = None,
    ) -> Job:
        """Add a job to a run's newest attempt: by default completed, without a conclusion in progress."""
        run = self.state.runs[run_id]
        now = self.now()
        job = Job(
            id=self.next_id("job", 60001),
            run=run_id,
            attempt=attempt or run.attempt,
            name=name,
            status=status or ("completed" if conclusion else "in_progress"),
            conclusion=conclusion,
            runner=runner,
            created_at=now,
            started_at=None if status == "queued" else now,
            completed_at=now if conclusion else None,
            failed_step=failed_step,
        )
        self.state.jobs[job.id] = job
        return job

    @locked
    def finish_job(self, job_id: int, conclusion: str = "success") -> Job:
        job = self.state.jobs[job_id]
        job.status, job.conclusion, job.completed_at = "completed", conclusion, self.now()
        return job

    @locked
    def add_artifact(
        self, run_id: int, name: str, files: Mapping[str, str | bytes] | bytes, *, expired: bool = False
    ) -> Artifact:
        """Add an artifact. files: the content of its zip file, or bytes that need not be a valid zip file."""
        data = files if isinstance(files, bytes) else zip_files(files)
        artifact = Artifact(
            id=self.next_id("artifact", 80001),
            run=run_id,
            name=name,
            data=data,
            created_at=self.now(),
            expired=expired,
        )
        self.state.artifacts[artifact.id] = artifact
        return artifact

    @locked
    def dispatch(
        self, workflow: str, *, ref: str, inputs: Mapping[str, str], by: str = WORKFLOW_LOGIN
    ) -> Run:
        """Dispatch a workflow whose file on that branch declares these inputs, and return the new run.

        Like GitHub, this starts a run also for a workflow's token.
        """
        branch = ref.removeprefix("refs/heads/")
        if self.git.resolve(f"refs/heads/{branch}") is None:
            raise Refused(422, f"No ref found for: {ref}")
        file = self.git.file(f"refs/heads/{branch}", f"{WORKFLOWS}{workflow}")
        completed = complete_inputs(file[2] if file else b"", workflow, inputs)
        inputs = {name: completed[name] for name in inputs if name in completed}  # as text
        payload = {"inputs": completed, "ref": f"refs/heads/{branch}", "workflow": f"{WORKFLOWS}{workflow}"}
        self.emit("workflow_dispatch", None, by, payload, starts=True)
        title = " ".join(inputs.values()) or workflow  # like a typical run-name of a dispatch
        if {"pr", "head-ref"} <= set(inputs):  # like the run-name of run-sweep.yml
            title = f"PR {inputs['pr']} at {inputs['head-ref']}"
            title += f", completes run {inputs['complete']}" if inputs.get("complete") else ""
        return self.add_run(
            workflow,
            branch=branch,
            event="workflow_dispatch",
            by=by,
            status="queued",
            inputs=inputs,
            title=title,
        )

    @locked
    def dispatch_repository(
        self, event_type: str, payload: Mapping[str, Any], *, by: str = WORKFLOW_LOGIN
    ) -> None:
        """Emit `repository_dispatch` here. The hub starts no run for it."""
        data = {"branch": self.branch, "client_payload": dict(payload)}
        self.emit("repository_dispatch", event_type, by, data, starts=True)

    @locked
    def add_neighbor(self, repository: str) -> None:
        """Let another repository take `repository_dispatch` from apps and people; `state.neighbors` has the events."""
        self.state.neighbors.setdefault(repository, [])

    @locked
    def find_workflows(self) -> list[str]:
        """Return the names of the workflow files on the default branch, and give each file an id."""
        tree = self.git.file(self.branch, WORKFLOWS.rstrip("/"))
        lines = self.git.git.run("ls-tree", "--name-only", "-z", tree[0]).decode() if tree else ""
        names = [name for name in lines.split("\0") if name.endswith((".yml", ".yaml"))]
        self.state.workflows += [name for name in names if name not in self.state.workflows]
        return names

    def workflow_title(self, name: str) -> str:
        """Return the name that a workflow's file on the default branch gives it, by default its path."""
        file = self.git.file(self.branch, f"{WORKFLOWS}{name}")
        match = re.search(r"(?m)^name:[ ]*(.+?)[ ]*$", file[2].decode(errors="replace") if file else "")
        return match[1].strip("'\"") if match else f"{WORKFLOWS}{name}"

    @locked
    def set_status(
        self,
        sha: str,
        context: str,
        state: str,
        *,
        description: str | None = None,
        target_url: str | None = None,
        by: str = WORKFLOW_LOGIN,
    ) -> Status:
        self.account(by)
        status = Status(
            id=self.next_id("status", 40001),
            sha=sha,
            context=context,
            state=state,
            description=description,
            target_url=target_url,
            creator=by,
            created_at=self.now(),
        )
        self.state.statuses.append(status)
        payload = {"sha": sha, "context": context, "state": state, "description": description}
        self.emit("status", None, by, {**payload, "target_url": target_url})
        return status


def zip_files(files: Mapping[str, str | bytes]) -> bytes:
    """Return a zip file of these files, always with the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content)
    return buffer.getvalue()
