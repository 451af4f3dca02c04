"""Find out from workflow files what they need: infx's actions, environments, Apps, and actions of other repositories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from infx.records import record
from infx.workflows.model import Workflow, WorkflowJob, WorkflowStep

_INFX = re.compile(r"\.github/actions/([\w-]+)(?:@|/?$)")
_VALUE = re.compile(r"\$\{\{\s*(vars|secrets)\.(\w+)\s*\}\}")
_SHA = re.compile(r"[0-9a-f]{40}")
_APP_TOKEN = "actions/create-github-app-token@"  # noqa: S105 (an action)


@record
class RemoteUse:
    """An action or a workflow of another repository, as `uses` names it."""

    path: str  # of the workflow
    uses: str

    @property
    def name(self) -> str:
        return self.uses.partition("@")[0]

    @property
    def ref(self) -> str:
        return self.uses.partition("@")[2]

    @property
    def repository(self) -> str:
        return "/".join(self.name.split("/")[:2])

    @property
    def is_pinned(self) -> bool:
        return _SHA.fullmatch(self.ref) is not None


@record
class AppStep:
    """A step that makes a token of an App.

    Attributes:
        variable, secret: the names of the App's id and of its key; None if they are not a variable and a secret.
        environment: of the job.
        permissions: as a workflow spells them, such as `contents` → `write`.
    """

    path: str
    variable: str | None
    secret: str | None
    environment: str | None
    permissions: Mapping[str, str]


@record
class WorkflowUse:
    """The needs of the workflows of a repository.

    Attributes:
        actions: names of infx's actions → paths of the workflows that use them, and fail if they fail.
        infx_workflows: paths of the workflows that use infx, or that a workflow calls which does.
        remote: the uses of other repositories in these workflows.
        toolkits: (repository, ref) of infx in uses from another repository.
        environments: names → paths of the workflows that use them.
        events: paths → events.
    """

    events: Mapping[str, frozenset[str]]
    actions: Mapping[str, tuple[str, ...]]
    infx_workflows: frozenset[str]
    remote: tuple[RemoteUse, ...]
    toolkits: frozenset[tuple[str, str]]
    environments: Mapping[str, tuple[str, ...]]
    apps: tuple[AppStep, ...]

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(self.events)


def find_use(workflows: Iterable[Workflow]) -> WorkflowUse:
    """Return what the workflows of a repository need."""
    by_path = {workflow.path: workflow for workflow in workflows}
    actions: dict[str, list[str]] = {}
    own: set[str] = set()
    for workflow in by_path.values():
        for name, counts in dict.fromkeys(_find_infx_actions(workflow)):
            own.add(workflow.path)
            if counts:
                actions.setdefault(name, []).append(workflow.path)
    own = _add_called(by_path, own)
    remote = tuple(use for path in sorted(own) for use in _find_remote(by_path[path]))
    homes = {use.repository for use in remote if _INFX.search(use.uses)}
    environments: dict[str, list[str]] = {}
    for path in sorted(own):
        for job in by_path[path].jobs:
            environment = _find_environment(by_path[path], job)
            if environment and path not in environments.get(environment, ()):
                environments.setdefault(environment, []).append(path)
    return WorkflowUse(
        events={path: frozenset(workflow.events) for path, workflow in by_path.items()},
        actions={name: tuple(paths) for name, paths in actions.items()},
        infx_workflows=frozenset(own),
        remote=remote,
        toolkits=frozenset((use.repository, use.ref) for use in remote if use.repository in homes),
        environments={name: tuple(paths) for name, paths in environments.items()},
        apps=tuple(step for path in sorted(own) for step in _find_apps(by_path[path])),
    )


def _find_infx_actions(workflow: Workflow) -> Iterator[tuple[str, bool]]:
    """Yield each of infx's actions, and whether its failure counts: shadow mode only shows results."""
    for job in workflow.jobs:
        bodies = workflow.document.value["jobs"][job.id].get("steps", ())
        for step in job.steps:
            if match := _INFX.search(step.uses):
                yield match[1], bodies[step.path[-1]].get("continue-on-error") is not True


def _add_called(workflows: Mapping[str, Workflow], paths: set[str]) -> set[str]:
    """Return the paths with those of the workflows that call them, or that they call."""
    edges = {
        frozenset((workflow.path, callee.path))
        for workflow in workflows.values()
        for job in workflow.jobs
        if (callee := workflow.find_callee(job)) is not None
    }
    connected = set(paths)
    while more := {path for edge in edges if edge & connected for path in edge} - connected:
        connected |= more
    return connected


def _find_remote(workflow: Workflow) -> Iterator[RemoteUse]:
    names = [job.uses or "" for job in workflow.jobs] + [step.uses for step in workflow.steps]
    for uses in dict.fromkeys(names):
        if uses and not uses.startswith(("./", "$/", "docker://")):
            yield RemoteUse(path=workflow.path, uses=uses)


def _find_environment(workflow: Workflow, job: WorkflowJob) -> str | None:
    """Return the name of a job's environment; None without one, or if an expression computes it."""
    body = workflow.document.value["jobs"][job.id]
    value = body.get("environment")
    name = value.get("name") if isinstance(value, dict) else value
    return name if isinstance(name, str) and "${{" not in name else None


def _find_apps(workflow: Workflow) -> Iterator[AppStep]:
    for job in workflow.jobs:
        for step in job.steps:
            if step.uses.startswith(_APP_TOKEN):
                yield AppStep(
                    path=workflow.path,
                    variable=_find_name(step, "vars", "app-id", "client-id"),
                    secret=_find_name(step, "secrets", "private-key"),
                    environment=_find_environment(workflow, job),
                    permissions={
                        name.removeprefix("permission-"): str(access)
                        for name, access in step.inputs.items()
                        if name.startswith("permission-")
                    },
                )


def _find_name(step: WorkflowStep, context: str, *inputs: str) -> str | None:
    """Return the name of the variable or secret that an input of a step is set to, in upper case as GitHub lists it."""
    for name in inputs:
        match = _VALUE.search(str(step.inputs.get(name, "")))
        if match and match[1] == context:
            return match[2].upper()
    return None
