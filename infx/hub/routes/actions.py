"""Routes for workflow runs, jobs, artifacts and dispatches."""

from __future__ import annotations

import json
import re

from infx.hub import render
from infx.hub.exchange import Answer
from infx.hub.refusal import Refused, refuse_field
from infx.hub.router import Call, Field, paginate, route
from infx.hub.routes.pulls import REPO
from infx.hub.runs import WORKFLOWS
from infx.hub.service import Service
from infx.hub.state import Artifact, Run
from infx.hub.tokens import TokenKind

MOST_RUNS = 1000  # in a filtered list
MOST_INPUTS = 25
FILTERS = ("actor", "branch", "event", "status", "created", "head_sha")


def _find_run(call: Call) -> Run:
    run = call.hub.state.runs.get(call.number("run"))
    if run is None:
        raise Refused(404, "Not Found")
    return run


def _find_workflow(call: Call) -> str:
    """Return the file name of the workflow in the path, which is a file name or the `workflow_id` of runs."""
    name, hub = call.arguments["workflow"], call.hub
    if name.isdecimal() and 0 <= int(name) - 500 < len(hub.state.workflows):
        return hub.state.workflows[int(name) - 500]
    if name in hub.state.workflows or hub.git.file(hub.branch, f"{WORKFLOWS}{name}"):
        return name
    raise Refused(404, "Not Found")


@route("GET", f"{REPO}/actions/workflows", needs="actions=read")
def list_workflows(call: Call) -> Answer:
    """List the workflow files of the default branch."""
    names = call.hub.find_workflows()
    return paginate(call, names, key="workflows", render=_show_workflow)


@route("GET", f"{REPO}/actions/workflows/{{workflow}}", needs="actions=read")
def get_workflow(call: Call) -> Answer:
    name = _find_workflow(call)
    call.hub.find_workflows()  # registers the files
    return Answer(data=_show_workflow(call.hub, name))


def _show_workflow(hub: Service, name: str) -> render.Json:
    return render.workflow(hub, name, hub.workflow_title(name))


@route("GET", f"{REPO}/actions/runs", needs="actions=read")
def list_runs(call: Call) -> Answer:
    return _list_runs(call, list(call.hub.state.runs.values()))


@route("GET", f"{REPO}/actions/workflows/{{workflow}}/runs", needs="actions=read")
def list_workflow_runs(call: Call) -> Answer:
    name = _find_workflow(call)
    return _list_runs(call, [run for run in call.hub.state.runs.values() if run.workflow == name])


def _list_runs(call: Call, runs: list[Run]) -> Answer:
    query = call.query
    matching = [
        run
        for run in runs
        if query.get("actor") in {None, run.actor}
        if query.get("branch") in {None, run.head_branch}
        if query.get("event") in {None, run.event}
        if query.get("head_sha") in {None, run.head_sha}
        if query.get("status") in {None, run.status, run.conclusion}
        if _is_created(run, query.get("created"))
    ]
    matching.sort(key=lambda run: -run.id)
    if any(name in query for name in FILTERS):
        answer = paginate(call, matching[:MOST_RUNS], key="workflow_runs", render=render.run)
        answer.data["total_count"] = len(matching)
        return answer
    return paginate(call, matching, key="workflow_runs", render=render.run)


def _is_created(run: Run, wanted: str | None) -> bool:
    """Return whether a run matches a date in GitHub's syntax, `>=date` or `date..date`."""
    if wanted is None:
        return True
    wanted = wanted.replace("+00:00", "Z")
    if match := re.fullmatch(r"(.+)\.\.(.+)", wanted):
        return match[1] <= run.created_at <= match[2]
    if wanted.startswith(">="):
        return run.created_at >= wanted[2:]
    raise refuse_field(f"created={wanted} is not a valid date range", field="created")


@route("GET", f"{REPO}/actions/runs/{{run:int}}", needs="actions=read")
def get_run(call: Call) -> Answer:
    return Answer(data=render.run(call.hub, _find_run(call)))


@route("GET", f"{REPO}/actions/runs/{{run:int}}/jobs", needs="actions=read")
def list_jobs(call: Call) -> Answer:
    run = _find_run(call)
    every = call.query.get("filter", "latest") == "all"
    jobs = [job for job in call.hub.state.jobs.values() if job.run == run.id]
    shown = [job for job in jobs if every or job.attempt == run.attempt]
    return paginate(call, shown, key="jobs", render=render.job)


@route("GET", f"{REPO}/actions/runs/{{run:int}}/artifacts", needs="actions=read")
def list_artifacts(call: Call) -> Answer:
    run, name = _find_run(call), call.query.get("name")
    artifacts = [a for a in call.hub.state.artifacts.values() if a.run == run.id and name in {None, a.name}]
    return paginate(call, artifacts, key="artifacts", render=render.artifact)


@route("GET", f"{REPO}/actions/artifacts", needs="actions=read")
def list_all_artifacts(call: Call) -> Answer:
    name = call.query.get("name")
    artifacts = [a for a in call.hub.state.artifacts.values() if name in {None, a.name}]
    return paginate(call, artifacts[::-1], key="artifacts", render=render.artifact)


def _find_artifact(call: Call) -> Artifact:
    artifact = call.hub.state.artifacts.get(call.number("artifact"))
    if artifact is None:
        raise Refused(404, "Not Found")
    return artifact


@route("GET", f"{REPO}/actions/artifacts/{{artifact:int}}/zip", needs="actions=read")
def download_artifact(call: Call) -> Answer:
    artifact = _find_artifact(call)
    if artifact.expired:
        raise Refused(410, "Artifact has expired")
    link = f"{call.hub.store}/_store/{artifact.id}?sig={artifact.signature}"
    return Answer(status=302, headers={"Location": link})


@route("POST", f"{REPO}/actions/runs/{{run:int}}/cancel", needs="actions=write")
def cancel_run(call: Call) -> Answer:
    call.hub.cancel_run(_find_run(call).id)
    return Answer(status=202, data={})


RERUN = {"enable_debug_logging": Field(kind=bool)}


@route("POST", f"{REPO}/actions/runs/{{run:int}}/rerun", needs="actions=write", fields=RERUN)
@route("POST", f"{REPO}/actions/runs/{{run:int}}/rerun-failed-jobs", needs="actions=write", fields=RERUN)
def rerun(call: Call) -> Answer:
    call.hub.rerun(_find_run(call).id, by=call.login)
    return Answer(status=201, data={})


@route(
    "POST",
    f"{REPO}/actions/workflows/{{workflow}}/dispatches",
    needs="actions=write",
    resource="WorkflowDispatch",
    fields={
        "ref": Field(is_required=True),
        "inputs": Field(kind=dict, longest=MOST_INPUTS),
        "return_run_details": Field(kind=bool),
    },
)
def dispatch_workflow(call: Call) -> Answer:
    name = _find_workflow(call)
    inputs = call.body.get("inputs", {})
    run = call.hub.dispatch(name, ref=call.body["ref"], inputs=inputs, by=call.login)
    if not call.body.get("return_run_details"):
        return Answer(status=204)
    shown = render.run(call.hub, run)
    return Answer(data={"workflow_run_id": run.id, "run_url": shown["url"], "html_url": shown["html_url"]})


DISPATCHES = f"{REPO}/dispatches"
MOST_KEYS, LARGEST_PAYLOAD = 10, 65_535  # of a repository_dispatch


@route(
    "POST",
    DISPATCHES,
    needs="contents=write",
    fields={
        "event_type": Field(is_required=True, longest=100),
        "client_payload": Field(kind=dict, longest=MOST_KEYS),
    },
)
def dispatch_repository(call: Call) -> Answer:
    """Emit `repository_dispatch`, which starts runs also for a workflow's token."""
    payload = call.body.get("client_payload", {})
    if len(json.dumps(payload)) > LARGEST_PAYLOAD:
        raise refuse_field("client_payload is too large.", field="client_payload")
    name = f"{call.arguments['owner']}/{call.arguments['repo']}"
    if name in call.hub.state.neighbors:
        if call.token is None or call.token.kind is TokenKind.WORKFLOW:  # it is for its own repository only
            raise Refused(403, "Resource not accessible by integration")
        call.hub.state.neighbors[name].append((call.body["event_type"], payload, call.login))
        return Answer(status=204)
    call.hub.dispatch_repository(call.body["event_type"], payload, by=call.login)
    return Answer(status=204)
