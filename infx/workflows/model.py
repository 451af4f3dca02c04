"""Workflow and action files as typed values, each with the line it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from infx import yaml12
from infx.errors import Problem, ProblemsError
from infx.workflows import expressions

HOSTED = ("ubuntu-", "windows-", "macos-")
Path = tuple[str | int, ...]
_CALLING_EVENTS = ("workflow_call", "workflow_dispatch")


@dataclass(frozen=True, kw_only=True)
class WorkflowStep:
    path: Path
    uses: str
    run: str
    condition: str | None
    inputs: Mapping[str, Any]
    env: Mapping[str, Any]

    @property
    def is_checkout(self) -> bool:
        return self.uses.startswith("actions/checkout@")

    def is_identity(self, *actions: str) -> bool:
        """Whether one of these actions of infx is used, by whichever path."""
        return bool(re.search(rf"\.github/actions/({'|'.join(actions)})(@|/?$)", self.uses))


@dataclass(frozen=True, kw_only=True)
class WorkflowJob:
    """condition: the text of `if`. matrix: a mapping, or the text of the expression that makes it, or its strategy."""

    id: str
    path: Path
    name: str
    uses: str | None
    condition: str | None
    needs: tuple[str, ...]
    runs_on: Any
    timeout: Any
    matrix: Any
    max_parallel: Any
    concurrency_group: str | None
    outputs: Mapping[str, Any]
    inputs: Mapping[str, Any]
    env: Mapping[str, Any]
    steps: tuple[WorkflowStep, ...]

    @property
    def is_hosted(self) -> bool:
        """Whether GitHub's own machines run it; a label only known at run time is somebody's GPU."""
        labels = self.runs_on if isinstance(self.runs_on, list) else [self.runs_on]
        resolved = [one for label in labels for one in self._resolve(label)]
        return bool(resolved) and all(
            isinstance(label, str) and label.startswith(HOSTED) for label in resolved
        )

    def _resolve(self, label: Any) -> list[Any]:
        """`${{ matrix.os }}` and `${{ matrix.one.os }}` as the values that the file gives it."""
        found = re.fullmatch(r"\$\{\{\s*matrix\.([\w.-]+)\s*\}\}", label) if isinstance(label, str) else None
        if found is None or not isinstance(self.matrix, dict):
            return [label]
        name, *path = found[1].split(".")
        vector, more = self.matrix.get(name, []), self.matrix.get("include", [])
        if not isinstance(vector, list) or not isinstance(more, list):
            return [label]
        values = [*vector, *(item[name] for item in more if isinstance(item, dict) and name in item)]
        for key in path:
            values = [_mapping(value).get(key) for value in values]
        return values

    @property
    def asks(self) -> expressions.Node:
        """What `if` asks, with what GitHub adds to it."""
        return expressions.parse_condition(self.condition)


@dataclass(frozen=True, kw_only=True)
class Workflow:
    """siblings: the repository's workflows, this one too, by path. hosted: see `_find_hosted`. known: every path of
    the repository at which a workflow or an action was looked for and found.
    """

    document: yaml12.Document
    name: str
    events: Mapping[str, Any]
    concurrency_group: str | None
    jobs: tuple[WorkflowJob, ...]
    hosted: frozenset[str] = frozenset()
    siblings: Mapping[str, Workflow] = field(default_factory=dict)
    known: frozenset[str] = frozenset()

    @property
    def path(self) -> str:
        return self.document.path

    @property
    def steps(self) -> tuple[WorkflowStep, ...]:
        return tuple(step for job in self.jobs for step in job.steps)

    def callee(self, job: WorkflowJob) -> Workflow | None:
        """The workflow of this repository that a job calls."""
        return self.siblings.get((job.uses or "").removeprefix("./")) if job.uses else None

    def reaches_gpus(self, job: WorkflowJob) -> bool:
        """It runs on a machine of one's own, or calls a workflow of this repository that does, as far as it is known."""
        if job.uses is None:
            return not job.is_hosted
        return job.uses.startswith("./") and job.uses.removeprefix("./") not in self.hosted

    def filters(self, event: str) -> Mapping[str, Any]:
        """`branches`, `paths`, `types` of an event."""
        return _mapping(self.events.get(event))

    def ancestors(self, job: WorkflowJob) -> list[WorkflowJob]:
        """The jobs that end before this one starts."""
        by_id, found = {one.id: one for one in self.jobs}, dict[str, WorkflowJob]()
        waiting = list(job.needs)
        while waiting:
            name = waiting.pop()
            if name in by_id and name not in found:
                found[name] = by_id[name]
                waiting += by_id[name].needs
        return list(found.values())

    @property
    def declared_inputs(self) -> list[tuple[str, Mapping[str, Any]]]:
        """(event, its inputs by name)"""
        return [
            (event, _mapping(_mapping(self.events.get(event)).get("inputs"))) for event in _CALLING_EVENTS
        ]


@dataclass(frozen=True, kw_only=True)
class ActionFile:
    """An `action.yml`; only composite ones have steps. known: as in Workflow."""

    document: yaml12.Document
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    steps: tuple[WorkflowStep, ...]
    known: frozenset[str] = frozenset()

    @property
    def path(self) -> str:
        return self.document.path


@dataclass(frozen=True, kw_only=True)
class WorkflowSources:
    """Everything that was read, and what could not be."""

    workflows: tuple[Workflow, ...]
    actions: tuple[ActionFile, ...]
    problems: tuple[Problem, ...]


def parse_sources(files: Mapping[str, bytes]) -> WorkflowSources:
    """files: path → bytes of workflow files and of files called action.yml, action.yaml or Dockerfile."""
    workflows, actions, problems = [], [], []
    for path, data in sorted(files.items()):
        name = path.rpartition("/")[2]
        if name == "Dockerfile":  # only that it is there counts
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
    hosted, siblings, known = _find_hosted(workflows), {one.path: one for one in workflows}, frozenset(files)
    return WorkflowSources(
        workflows=tuple(replace(one, hosted=hosted, siblings=siblings, known=known) for one in workflows),
        actions=tuple(replace(one, known=known) for one in actions),
        problems=tuple(problems),
    )


def _find_hosted(workflows: list[Workflow]) -> frozenset[str]:
    """The paths of the workflows none of whose jobs reaches a machine of one's own."""
    hosted: frozenset[str] = frozenset()
    while True:
        known = [replace(workflow, hosted=hosted) for workflow in workflows]
        found = frozenset(one.path for one in known if not any(map(one.reaches_gpus, one.jobs)))
        if found == hosted:
            return hosted
        hosted = found


def find_nodes(value: Any, path: Path = ()) -> Iterator[tuple[Path, expressions.Node]]:
    """Yield every expression below a value of a file, in its order; an `if` is one as a whole."""
    if isinstance(value, (dict, list)):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from find_nodes(below, (*path, key))
    elif isinstance(value, str) and path[-1] == "if":
        yield path, expressions.parse_condition(value)
    elif isinstance(value, str):
        yield from ((path, expressions.parse(found)) for found in expressions.find_expressions(value))


def _parse_workflow(document: yaml12.Document) -> Workflow:
    value = document.value
    jobs = [_parse_job(name, body) for name, body in value["jobs"].items() if isinstance(body, dict)]
    return Workflow(
        document=document,
        name=_text(value.get("name")) or document.path,
        events=_parse_events(value.get("on")),
        concurrency_group=_group(value.get("concurrency")),
        jobs=tuple(jobs),
    )


def _parse_events(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        return {value: None}
    if isinstance(value, list):
        return {str(name): None for name in value}
    return _mapping(value)


def _parse_job(name: str, body: Mapping[str, Any]) -> WorkflowJob:
    path: Path = ("jobs", name)
    strategy = body.get("strategy")
    return WorkflowJob(
        id=name,
        path=path,
        name=str(body.get("name", name)),
        uses=_text(body.get("uses")),
        condition=_condition(body),
        needs=texts(body.get("needs")),
        runs_on=body.get("runs-on"),
        timeout=body.get("timeout-minutes"),
        matrix=_mapping(strategy).get("matrix") or _text(strategy),
        max_parallel=_mapping(strategy).get("max-parallel"),
        concurrency_group=_group(body.get("concurrency")),
        outputs=_mapping(body.get("outputs")),
        inputs=_mapping(body.get("with")),
        env=_mapping(body.get("env")),
        steps=_parse_steps(path, body.get("steps")),
    )


def _parse_action(document: yaml12.Document) -> ActionFile:
    value = document.value
    runs = _mapping(value.get("runs"))
    return ActionFile(
        document=document,
        inputs=_mapping(value.get("inputs")),
        outputs=_mapping(value.get("outputs")),
        steps=_parse_steps(("runs",), runs.get("steps")),
    )


def _parse_steps(path: Path, value: Any) -> tuple[WorkflowStep, ...]:
    steps = value if isinstance(value, list) else []
    return tuple(
        WorkflowStep(
            path=(*path, "steps", index),
            uses=_text(step.get("uses")) or "",
            run=_text(step.get("run")) or "",
            condition=_condition(step),
            inputs=_mapping(step.get("with")),
            env=_mapping(step.get("env")),
        )
        for index, step in enumerate(steps)
        if isinstance(step, dict)
    )


def _condition(body: Mapping[str, Any]) -> str | None:
    return None if body.get("if") is None else str(body["if"])


def _group(concurrency: Any) -> str | None:
    group = concurrency.get("group") if isinstance(concurrency, dict) else concurrency
    return group.strip() if isinstance(group, str) else None


def texts(value: Any) -> tuple[str, ...]:
    """One text or a list of them, as GitHub takes both in many places."""
    return (value,) if isinstance(value, str) else tuple(map(str, value)) if isinstance(value, list) else ()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
