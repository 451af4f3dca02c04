"""Parse workflow and action files into typed values that know their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from infx import yaml12
from infx.errors import Problem, ProblemsError
from infx.records import record
from infx.workflows import expressions

HOSTED = ("ubuntu-", "windows-", "macos-")
Path = tuple[str | int, ...]
_CALLING_EVENTS = ("workflow_call", "workflow_dispatch")


@record
class WorkflowStep:
    """A step of a job or of a composite action."""

    path: Path
    uses: str
    run: str
    condition: str | None
    inputs: Mapping[str, Any]
    env: Mapping[str, Any]

    @property
    def is_checkout(self) -> bool:
        """Return whether the step checks out a repository."""
        return self.uses.startswith("actions/checkout@")

    def uses_infx(self, *actions: str) -> bool:
        """Return whether the step uses one of these infx actions, by any path."""
        return bool(re.search(rf"\.github/actions/({'|'.join(actions)})(@|/?$)", self.uses))


@record
class WorkflowJob:
    """A job of a workflow."""

    id: str
    path: Path
    name: str
    uses: str | None
    condition: str | None  # the text of `if`
    needs: tuple[str, ...]
    runs_on: Any
    timeout: Any
    matrix: Any  # a mapping, or the text of an expression that makes the matrix or the whole strategy
    max_parallel: Any
    concurrency_group: str | None
    outputs: Mapping[str, Any]
    inputs: Mapping[str, Any]
    env: Mapping[str, Any]
    steps: tuple[WorkflowStep, ...]

    @property
    def is_hosted(self) -> bool:
        """Return whether GitHub's own machines run the job; a label that is only known at run time may be a GPU's."""
        labels = self.runs_on if isinstance(self.runs_on, list) else [self.runs_on]
        resolved = [value for label in labels for value in self._resolve(label)]
        return bool(resolved) and all(
            isinstance(label, str) and label.startswith(HOSTED) for label in resolved
        )

    def _resolve(self, label: Any) -> list[Any]:
        """Return the values that the file gives a label such as `${{ matrix.os }}` or `${{ matrix.machine.os }}`."""
        reference = (
            re.fullmatch(r"\$\{\{\s*matrix\.([\w.-]+)\s*\}\}", label) if isinstance(label, str) else None
        )
        if reference is None or not isinstance(self.matrix, dict):
            return [label]
        name, *path = reference[1].split(".")
        vector, include = self.matrix.get(name, []), self.matrix.get("include", [])
        if not isinstance(vector, list) or not isinstance(include, list):
            return [label]
        values = [*vector, *(item[name] for item in include if isinstance(item, dict) and name in item)]
        for key in path:
            values = [_parse_mapping(value).get(key) for value in values]
        return values

    @property
    def parsed_condition(self) -> expressions.Node:
        """Return the parsed `if`, with the success() that GitHub adds."""
        return expressions.parse_condition(self.condition)


@record
class Workflow:
    """A workflow file, with the other files that its jobs may use."""

    document: yaml12.Document
    name: str
    events: Mapping[str, Any]
    concurrency_group: str | None
    jobs: tuple[WorkflowJob, ...]
    hosted: frozenset[str] = frozenset()  # see `_find_hosted`
    siblings: Mapping[str, Workflow] = field(default_factory=dict)  # all workflows of the repository, by path
    known: frozenset[str] = frozenset()  # paths of the repository's workflows and actions that were read

    @property
    def path(self) -> str:
        """Return the path of the file."""
        return self.document.path

    @property
    def steps(self) -> tuple[WorkflowStep, ...]:
        """Return the steps of all jobs."""
        return tuple(step for job in self.jobs for step in job.steps)

    def find_callee(self, job: WorkflowJob) -> Workflow | None:
        """Return the workflow of this repository that a job calls."""
        return self.siblings.get((job.uses or "").removeprefix("./")) if job.uses else None

    def reaches_gpus(self, job: WorkflowJob) -> bool:
        """Return whether a job runs on a self-hosted runner, or calls a workflow of this repository that may do so."""
        if job.uses is None:
            return not job.is_hosted
        return job.uses.startswith("./") and job.uses.removeprefix("./") not in self.hosted

    def get_filters(self, event: str) -> Mapping[str, Any]:
        """Return the filters of an event: `branches`, `paths`, `types`."""
        return _parse_mapping(self.events.get(event))

    def find_ancestors(self, job: WorkflowJob) -> list[WorkflowJob]:
        """Return the jobs that a job waits for, directly or indirectly."""
        jobs, ancestors = {other.id: other for other in self.jobs}, dict[str, WorkflowJob]()
        names = list(job.needs)
        while names:
            name = names.pop()
            if name in jobs and name not in ancestors:
                ancestors[name] = jobs[name]
                names += jobs[name].needs
        return list(ancestors.values())

    @property
    def declared_inputs(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the events that declare inputs, each with its inputs by name."""
        return [
            (event, _parse_mapping(_parse_mapping(self.events.get(event)).get("inputs")))
            for event in _CALLING_EVENTS
        ]


@record
class ActionFile:
    """An `action.yml`."""

    document: yaml12.Document
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    steps: tuple[WorkflowStep, ...]  # only composite actions have steps
    known: frozenset[str] = frozenset()  # as in Workflow

    @property
    def path(self) -> str:
        """Return the path of the file."""
        return self.document.path


@record
class WorkflowSources:
    """The parsed files, and the problems of files that could not be parsed."""

    workflows: tuple[Workflow, ...]
    actions: tuple[ActionFile, ...]
    problems: tuple[Problem, ...]


def parse_sources(files: Mapping[str, bytes]) -> WorkflowSources:
    """Parse files; `files` maps paths to bytes of workflows, and of files named action.yml, action.yaml or Dockerfile."""
    workflows, actions, problems = [], [], []
    for path, data in sorted(files.items()):
        name = path.rpartition("/")[2]
        if name == "Dockerfile":  # the rules only check that it exists
            continue
        try:
            document = yaml12.load_mapping(data, path)
        except ProblemsError as error:
            problems.extend(error.problems)
            continue
        if name.startswith("action."):
            actions.append(_parse_action(document))
        elif isinstance(document.value.get("jobs"), dict):
            workflows.append(_parse_workflow(document))
        else:
            message = "The workflow has no jobs. Expected a mapping under jobs."
            problems.append(Problem(rule="workflow-jobs", message=message, path=path, line=1))
    hosted, known = _find_hosted(workflows), frozenset(files)
    siblings = {workflow.path: workflow for workflow in workflows}
    return WorkflowSources(
        workflows=tuple(
            replace(workflow, hosted=hosted, siblings=siblings, known=known) for workflow in workflows
        ),
        actions=tuple(replace(action, known=known) for action in actions),
        problems=tuple(problems),
    )


def _find_hosted(workflows: list[Workflow]) -> frozenset[str]:
    """Return the paths of workflows whose jobs, and the workflows that these call, use only GitHub's runners."""
    hosted: frozenset[str] = frozenset()
    while True:
        candidates = [replace(workflow, hosted=hosted) for workflow in workflows]
        more_hosted = frozenset(
            workflow.path for workflow in candidates if not any(map(workflow.reaches_gpus, workflow.jobs))
        )
        if more_hosted == hosted:
            return hosted
        hosted = more_hosted


def find_nodes(value: Any, path: Path = ()) -> Iterator[tuple[Path, expressions.Node]]:
    """Yield every expression in a value of a file, in its order; an `if` is a single expression."""
    if isinstance(value, (dict, list)):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from find_nodes(below, (*path, key))
    elif isinstance(value, str) and path[-1] == "if":
        yield path, expressions.parse_condition(value)
    elif isinstance(value, str):
        yield from ((path, expressions.parse(text)) for text in expressions.find_expressions(value))


def _parse_workflow(document: yaml12.Document) -> Workflow:
    value = document.value
    jobs = [_parse_job(name, body) for name, body in value["jobs"].items() if isinstance(body, dict)]
    return Workflow(
        document=document,
        name=_parse_text(value.get("name")) or document.path,
        events=_parse_events(value.get("on")),
        concurrency_group=_parse_group(value.get("concurrency")),
        jobs=tuple(jobs),
    )


def _parse_events(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        return {value: None}
    if isinstance(value, list):
        return {str(name): None for name in value}
    return _parse_mapping(value)


def _parse_job(name: str, body: Mapping[str, Any]) -> WorkflowJob:
    path: Path = ("jobs", name)
    strategy = body.get("strategy")
    return WorkflowJob(
        id=name,
        path=path,
        name=str(body.get("name", name)),
        uses=_parse_text(body.get("uses")),
        condition=_parse_condition(body),
        needs=parse_texts(body.get("needs")),
        runs_on=body.get("runs-on"),
        timeout=body.get("timeout-minutes"),
        matrix=_parse_mapping(strategy).get("matrix") or _parse_text(strategy),
        max_parallel=_parse_mapping(strategy).get("max-parallel"),
        concurrency_group=_parse_group(body.get("concurrency")),
        outputs=_parse_mapping(body.get("outputs")),
        inputs=_parse_mapping(body.get("with")),
        env=_parse_mapping(body.get("env")),
        steps=_parse_steps(path, body.get("steps")),
    )


def _parse_action(document: yaml12.Document) -> ActionFile:
    value = document.value
    runs = _parse_mapping(value.get("runs"))
    return ActionFile(
        document=document,
        inputs=_parse_mapping(value.get("inputs")),
        outputs=_parse_mapping(value.get("outputs")),
        steps=_parse_steps(("runs",), runs.get("steps")),
    )


def _parse_steps(path: Path, value: Any) -> tuple[WorkflowStep, ...]:
    steps = value if isinstance(value, list) else []
    return tuple(
        WorkflowStep(
            path=(*path, "steps", index),
            uses=_parse_text(step.get("uses")) or "",
            run=_parse_text(step.get("run")) or "",
            condition=_parse_condition(step),
            inputs=_parse_mapping(step.get("with")),
            env=_parse_mapping(step.get("env")),
        )
        for index, step in enumerate(steps)
        if isinstance(step, dict)
    )


def _parse_condition(body: Mapping[str, Any]) -> str | None:
    return None if body.get("if") is None else str(body["if"])


def _parse_group(concurrency: Any) -> str | None:
    group = concurrency.get("group") if isinstance(concurrency, dict) else concurrency
    return group.strip() if isinstance(group, str) else None


def parse_texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a value that may be a single text or a list, as GitHub allows in many places."""
    return (value,) if isinstance(value, str) else tuple(map(str, value)) if isinstance(value, list) else ()


def _parse_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _parse_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
