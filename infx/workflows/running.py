"""Find mistakes about jobs on GPU runners, matrices, concurrency groups, and large values passed between jobs."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from infx.errors import Level
from infx.policy.model import Policy
from infx.rules import Finding, Path
from infx.workflows import expressions
from infx.workflows.expressions import CANCELLED, RUNNING, Call, Node, Value
from infx.workflows.model import ActionFile, Workflow, WorkflowJob, WorkflowStep, find_nodes

# Events for which GitHub takes the workflow file from the pull request's merge commit.
PULL_REQUEST_EVENTS = ("pull_request", "pull_request_review", "pull_request_review_comment")
_BULK = re.compile(r"(^|[^a-z])(plan|rows|matrix|search[-_]?space|configs)([^a-z]|$)", re.IGNORECASE)
_ANYTHING = "${{ anything }}"  # the value of a declared input or output
_SMALL = frozenset(("matrix", "github", "runner", "strategy", "job", "env", "vars", "secrets"))
_CONTENTS = re.compile(r"\$\((?:cat\s|<)\s*\"?([^)\"]+)\"?\s*\)")
# With these parts, a name means a path, a count or an id, not the plan or the rows themselves.
_HANDLE = re.compile(r"path|dir|file|count|number|name|id\b|ref|sha|has|total|size|key", re.IGNORECASE)
_NUMBER = re.compile(r"count|number|total|size|length|\bn\b", re.IGNORECASE)
_EMPTY = re.compile(r"empty|none|nothing|skip", re.IGNORECASE)


def find_unprotected_gpu_jobs(file: Workflow, policy: Policy) -> Iterator[Finding[Path]]:
    """Find jobs on self-hosted runners in files that a pull request can edit."""
    events = [event for event in PULL_REQUEST_EVENTS if event in file.events]
    if not events or policy.workflows.runner_boundary:
        return
    for job in [job for job in file.jobs if file.reaches_gpus(job)][:1]:
        yield Finding(
            level=Level.WARNING,
            at=job.path,
            message=f"The job {job.id} uses self-hosted runners, but a pull request can edit this file (for "
            f"{events[0]}, GitHub takes it from the merge commit).",
            hint="Restrict the runner group to benchmark.yml of the base branch and call that file as "
            "owner/repository/path@branch, or state in the policy (workflows.runner-boundary) what protects the runners.",
        )


def find_missing_timeouts(file: Workflow, _: Policy) -> Iterator[Finding[Path]]:
    """Find jobs on self-hosted runners without a timeout."""
    for job in file.jobs:
        if job.uses is None and job.timeout is None and file.reaches_gpus(job):
            message = f"The job {job.id} has no timeout-minutes. Without it, a job can hold its runner for six hours."
            yield Finding(at=job.path, message=message, hint="Add timeout-minutes.")


def find_always_on_gpu_jobs(file: Workflow, _: Policy) -> Iterator[Finding[Path]]:
    """Find jobs on self-hosted runners whose condition can still hold after a cancellation."""
    for job in file.jobs:
        if file.reaches_gpus(job) and expressions.can_hold([(job.parsed_condition, CANCELLED)]):
            message = f"The job {job.id} can keep running after a cancellation, because its condition can still hold."
            hint = "Use !cancelled() && … instead of always(), !success() or !failure()."
            yield Finding(at=(*job.path, "if"), message=message, hint=hint)


def find_bulk_values(file: Workflow | ActionFile, _: Policy) -> Iterator[Finding[Path]]:
    """Find plans and rows in variables, outputs and arguments, which are too small for them."""
    bulk_values: list[tuple[Path, str]] = []
    for path, kind, values in _find_passed_values(file):
        names = [name for name in values if _BULK.search(name) and not _HANDLE.search(name)]
        bulk_values += [((*path, name), f"{kind}{name}") for name in names if _carries_bulk(values[name])]
    for step in file.steps:
        bulk_values += [((*step.path, "run"), f"The argument {text}") for text in _find_bulk_arguments(step)]
    for path, words in bulk_values:
        message = f"{words} seems to contain a plan or its rows, which can exceed GitHub's size limits."
        hint = "Pass the path of an artifact or a file instead; a matrix of ids may be an output."
        yield Finding(at=path, message=message, hint=hint)


def _find_passed_values(file: Workflow | ActionFile) -> Iterator[tuple[Path, str, Mapping[str, object]]]:
    """Yield a path, a description and values by name for everything that passes values between jobs and steps."""
    if isinstance(file, ActionFile):
        yield ("inputs",), "The input ", dict.fromkeys(file.inputs, _ANYTHING)
        # An output `matrix` has ids; in the calling workflow, this rule checks what reads it.
        outputs = [name for name in file.outputs if name != "matrix"]
        yield ("outputs",), "The output ", dict.fromkeys(outputs, _ANYTHING)
    else:
        for event, inputs in file.declared_inputs:
            text_inputs = [
                name
                for name, declared in inputs.items()
                if not isinstance(declared, dict) or declared.get("type", "string") == "string"
            ]
            yield ("on", event, "inputs"), "The input ", dict.fromkeys(text_inputs, _ANYTHING)
        for job in file.jobs:
            outputs_to_check = {
                name: value
                for name, value in job.outputs.items()
                if not _feeds_a_matrix_only(file, job, name)
            }
            yield (*job.path, "outputs"), "The output ", outputs_to_check
            yield from (((*job.path, "env"), "", job.env), ((*job.path, "with"), "", job.inputs))
    for step in file.steps:
        yield from (((*step.path, "env"), "", step.env), ((*step.path, "with"), "", step.inputs))


def _carries_bulk(value: object) -> bool:
    """Return whether an expression in a value contains more than paths, counts, or values of a single matrix job."""
    nodes = map(expressions.parse, expressions.find_expressions(str(value)))
    names = [name for node in nodes for name in expressions.find_carried_names(node)]
    return any(not _HANDLE.search(name) and name.partition(".")[0] not in _SMALL for name in names)


def _find_bulk_arguments(step: WorkflowStep) -> Iterator[str]:
    """Yield arguments with a whole file, as in `tool "$(cat rows.json)"`."""
    # An argument has the limit of a variable, except for the shell's own commands.
    for line in step.run.splitlines():
        words = line.split()
        if words and words[0] not in {"echo", "printf"} and not re.match(r"\w+=", words[0]):
            yield from (match[0] for match in _CONTENTS.finditer(line) if _BULK.search(match[1]))


def _feeds_a_matrix_only(file: Workflow, job: WorkflowJob, output: str) -> bool:
    """Return whether only `strategy.matrix` and conditions read an output, as for a shard's matrix of ids."""
    name = f"needs.{job.id}.outputs.{output}".lower()
    nodes = find_nodes(file.document.value)
    readers = [path for path, node in nodes if name in expressions.find_carried_names(node)]
    return bool(readers) and all("matrix" in path or path[-1] == "if" for path in readers)


def find_empty_matrices(file: Workflow, _: Policy) -> Iterator[Finding[Path]]:
    """Find matrices that are empty or may be empty, which GitHub reports as an error."""
    for job in file.jobs:
        matrix, conditions = job.matrix, [job.parsed_condition]
        if not any(expressions.can_hold([(job.parsed_condition, state)]) for state in RUNNING[1:]):
            # The job is skipped if a job that it waits for is skipped.
            conditions += [ancestor.parsed_condition for ancestor in file.find_ancestors(job)]
        if any(
            _may_be_empty(vector) and not _is_guarded(vector, conditions) for vector in _find_computed(matrix)
        ):
            message = f"The matrix of {job.id} is computed and can be empty."
            hint = "Add an if that checks the number of its rows."
            yield Finding(at=(*job.path, "strategy", "matrix"), message=message, hint=hint)
        if isinstance(matrix, dict):
            for name, vector in matrix.items():
                if vector == [] and name in _find_vectors(matrix):
                    message = f"The list {name} in the matrix of {job.id} is empty."
                    path = (*job.path, "strategy", "matrix", name)
                    yield Finding(at=path, message=message, hint="Add a value, or remove the job.")


def _find_computed(matrix: object) -> Iterator[Node]:
    """Yield the expressions that make a whole matrix or one of its lists."""
    for value in _find_vectors(matrix).values() if isinstance(matrix, dict) else [matrix]:
        if isinstance(value, str):
            yield from map(expressions.parse, expressions.find_expressions(value))


def _find_vectors(matrix: Mapping[str, object]) -> Mapping[str, object]:
    """Return the lists that must not be empty: `include` only if it is alone, `exclude` never."""
    vectors = {name: value for name, value in matrix.items() if name not in {"include", "exclude"}}
    return vectors or {name: value for name, value in matrix.items() if name == "include"}


def _may_be_empty(node: Node) -> bool:
    """Return whether a computed list or matrix may have no values, for some result of its expression."""
    match node:
        case Call("&&", (_, right)):
            return _may_be_empty(right)
        case Call("||", (Call("&&", (_, middle)), right)):
            return _may_be_empty(middle) or _may_be_empty(right)
        case Call("||", (left, right)):
            return _may_be_empty(left) or _may_be_empty(right)
        case Call("fromjson", (text,)):
            texts = expressions.find_possible_texts(text)
            return texts is None or any(map(_is_empty_json, texts))
    return True


def _is_empty_json(text: str) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return True
    return not value or (isinstance(value, dict) and not all(_find_vectors(value).values()))


def _is_guarded(vector: Node, conditions: list[Node]) -> bool:
    """Return whether a condition cannot hold when the job that computes the list finds nothing.

    Then outputs are an empty list and a count of 0, or empty texts. A condition that cannot hold for empty texts
    counts only if it can hold for a list with values.
    """
    sources = {re.sub(r"(outputs|^inputs|^vars)\..*", r"\1", name) for name in expressions.find_names(vector)}
    for condition in conditions:
        outputs = [
            name
            for name in expressions.find_names(condition)
            if any(name.startswith(f"{source}.") for source in sources)
        ]
        if not outputs:
            continue
        lists = expressions.find_names(vector)
        for_nothing, for_values = (
            {name: _guess_output(name, lists, is_empty=is_empty) for name in outputs}
            for is_empty in (True, False)
        )
        if not _can_hold(condition, for_nothing) or (
            not _can_hold(condition, dict.fromkeys(outputs, "")) and _can_hold(condition, for_values)
        ):
            return True
    return False


def _can_hold(condition: Node, outputs: Mapping[str, Value]) -> bool:
    return any(expressions.can_hold([(condition, {**state, **outputs})]) for state in RUNNING)


def _guess_output(name: str, lists: list[str], *, is_empty: bool) -> Value:
    """Guess from an output's name which value it has for an empty list, or for a list with values."""
    output = name.rpartition(".")[2]
    if name in lists:
        return "[]" if is_empty else expressions.OTHER
    if _NUMBER.search(output):
        return "0" if is_empty else "2"
    return str(is_empty is bool(_EMPTY.search(output))).lower()


def find_shared_concurrency_groups(file: Workflow, _: Policy) -> Iterator[Finding[Path]]:
    """Find jobs of the same run, or of the same matrix, that cancel each other because they share a group."""
    groups: dict[str, list[WorkflowJob]] = defaultdict(list)
    for job in file.jobs:
        if job.concurrency_group is not None:
            groups[job.concurrency_group].append(job)
        callee = file.find_callee(job)
        held_groups = {file.concurrency_group, job.concurrency_group} - {None}
        if callee is not None and callee.concurrency_group in held_groups:
            message = f"The job {job.id} calls a workflow that waits for the concurrency group of its caller."
            hint = "Rename one of the groups; in a called workflow, github.workflow is the caller's name."
            yield Finding(at=(*job.path, "uses"), message=message, hint=hint)
    for group, jobs in groups.items():
        for first, second in itertools.combinations(jobs, 2):
            if _can_run_together(first, second, file):
                message = f"The jobs {first.id} and {second.id} share a concurrency group and can run at the same time."
                hint = "Set the group on only one job, or write conditions that cannot both hold."
                yield Finding(at=(*second.path, "concurrency"), message=message, hint=hint)
        for job in jobs:
            if job.matrix is not None and job.max_parallel != 1 and "matrix." not in group:
                message = f"The matrix jobs of {job.id} share a concurrency group and cancel each other."
                hint = "Move the group to a calling job without a matrix."
                yield Finding(at=(*job.path, "concurrency"), message=message, hint=hint)
            if group == file.concurrency_group:
                message = f"The job {job.id} waits for the concurrency group of its own workflow."
                yield Finding(at=(*job.path, "concurrency"), message=message, hint="Use another group.")


def _can_run_together(first: WorkflowJob, second: WorkflowJob, file: Workflow) -> bool:
    """Return whether two jobs can run at the same time: neither waits for the other, and both conditions can hold."""
    if first in file.find_ancestors(second) or second in file.find_ancestors(first):
        return False
    return any(
        expressions.can_hold([(first.parsed_condition, world), (second.parsed_condition, other_world)])
        for world, other_world in itertools.product((*RUNNING, CANCELLED), repeat=2)
        if world["cancelled()"] == other_world["cancelled()"]
    )
