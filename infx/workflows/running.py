"""Rules about jobs on GPU runners, matrices, concurrency groups, and what is handed from job to job."""

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

# Events whose runs take the workflow file from the pull request's merge commit.
PULL_REQUEST_EVENTS = ("pull_request", "pull_request_review", "pull_request_review_comment")
_BULK = re.compile(r"(^|[^a-z])(plan|rows|matrix|search[-_]?space|configs)([^a-z]|$)", re.IGNORECASE)
_ANYTHING = "${{ anything }}"  # the value of what is only declared
_SMALL = frozenset(("matrix", "github", "runner", "strategy", "job", "env", "vars", "secrets"))
_CONTENTS = re.compile(r"\$\((?:cat\s|<)\s*\"?([^)\"]+)\"?\s*\)")
# What such a name may still carry: where something lies, how much there is, which one.
_HANDLE = re.compile(r"path|dir|file|count|number|name|id\b|ref|sha|has|total|size|key", re.IGNORECASE)
_NUMBER = re.compile(r"count|number|total|size|length|\bn\b", re.IGNORECASE)
_EMPTY = re.compile(r"empty|none|nothing|skip", re.IGNORECASE)


def gpu_jobs_without_boundary(file: Workflow, policy: Policy) -> Iterator[Finding[Path]]:
    """A runner that takes any job runs any code, where the pull request brings the workflow along."""
    events = [event for event in PULL_REQUEST_EVENTS if event in file.events]
    if not events or policy.workflows.runner_boundary:
        return
    for job in [job for job in file.jobs if file.reaches_gpus(job)][:1]:
        yield Finding(
            level=Level.WARNING,
            at=job.path,
            message=f"The job {job.id} reaches self-hosted runners from a file that a pull request can edit "
            f"({events[0]} takes it from the merge commit).",
            hint="Put the runners into a group that admits only benchmark.yml of the base branch and call it by "
            "owner/repository/path@branch, or state in the policy, under workflows, what protects them.",
        )


def missing_timeouts(file: Workflow, _: Policy) -> Iterator[Finding[Path]]:
    for job in file.jobs:
        if job.uses is None and job.timeout is None and file.reaches_gpus(job):
            message = (
                f"The job {job.id} has no timeout-minutes. Without one it may hold its runner for six hours."
            )
            yield Finding(at=job.path, message=message, hint="Add timeout-minutes.")


def always_on_gpus(file: Workflow, _: Policy) -> Iterator[Finding[Path]]:
    """GitHub asks `if` again on cancellation; where it still holds, the job keeps a runner that somebody wanted back."""
    for job in file.jobs:
        if file.reaches_gpus(job) and expressions.can_hold([(job.asks, CANCELLED)]):
            message = (
                f"The job {job.id} would go on after a cancellation, because its condition can hold then."
            )
            hint = "Write !cancelled() && … instead of always(), and instead of a negated success() or failure()."
            yield Finding(at=(*job.path, "if"), message=message, hint=hint)


def bulk_handed_over(file: Workflow | ActionFile, _: Policy) -> Iterator[Finding[Path]]:
    """Plans and rows travel by file: 128 KiB of environment and 1 MB of outputs end far below a sweep."""
    found: list[tuple[Path, str]] = []
    for path, kind, values in _handed_over(file):
        names = [name for name in values if _BULK.search(name) and not _HANDLE.search(name)]
        found += [((*path, name), f"{kind}{name}") for name in names if _carries_bulk(values[name])]
    for step in file.steps:
        found += [((*step.path, "run"), f"The argument {text}") for text in _bulk_arguments(step)]
    for path, words in found:
        message = f"{words} looks like a plan or its rows and would meet GitHub's limits."
        hint = "Hand it over as an artifact or a file and pass its path; a matrix of ids may be an output."
        yield Finding(at=path, message=message, hint=hint)


def _handed_over(file: Workflow | ActionFile) -> Iterator[tuple[Path, str, Mapping[str, object]]]:
    """(path, what it is called, values by name) of everything by which files, jobs and steps hand on values."""
    if isinstance(file, ActionFile):
        yield ("inputs",), "The input ", dict.fromkeys(file.inputs, _ANYTHING)
        outputs = [
            name for name in file.outputs if name != "matrix"
        ]  # of ids; the workflow's rule sees who reads it
        yield ("outputs",), "The output ", dict.fromkeys(outputs, _ANYTHING)
    else:
        for event, inputs in file.declared_inputs:
            texts = [
                name
                for name, one in inputs.items()
                if not isinstance(one, dict) or one.get("type", "string") == "string"
            ]
            yield ("on", event, "inputs"), "The input ", dict.fromkeys(texts, _ANYTHING)
        for job in file.jobs:
            read = {
                name: value
                for name, value in job.outputs.items()
                if not _feeds_a_matrix_only(file, job, name)
            }
            yield (*job.path, "outputs"), "The output ", read
            yield from (((*job.path, "env"), "", job.env), ((*job.path, "with"), "", job.inputs))
    for step in file.steps:
        yield from (((*step.path, "env"), "", step.env), ((*step.path, "with"), "", step.inputs))


def _carries_bulk(value: object) -> bool:
    """Whether an expression in it hands on more than where something lies, and than one leg's own values."""
    found = map(expressions.parse, expressions.find_expressions(str(value)))
    names = [name for node in found for name in expressions.carried_names(node)]
    return any(not _HANDLE.search(name) and name.partition(".")[0] not in _SMALL for name in names)


def _bulk_arguments(step: WorkflowStep) -> Iterator[str]:
    """`tool "$(cat rows.json)"`: one argument has the limit of one variable; echo is the shell's own and has none."""
    for line in step.run.splitlines():
        words = line.split()
        if words and words[0] not in {"echo", "printf"} and not re.match(r"\w+=", words[0]):
            yield from (match[0] for match in _CONTENTS.finditer(line) if _BULK.search(match[1]))


def _feeds_a_matrix_only(file: Workflow, job: WorkflowJob, output: str) -> bool:
    """One shard's matrix of ids may be an output, if nothing but `strategy.matrix` reads it."""
    name = f"needs.{job.id}.outputs.{output}".lower()
    nodes = find_nodes(file.document.value)
    readers = [path for path, node in nodes if name in expressions.carried_names(node)]
    return bool(readers) and all("matrix" in path or path[-1] == "if" for path in readers)


def empty_matrices(file: Workflow, _: Policy) -> Iterator[Finding[Path]]:
    """An empty vector is an error, not a job that has nothing to do."""
    for job in file.jobs:
        matrix, askers = job.matrix, [job.asks]
        if not any(expressions.can_hold([(job.asks, state)]) for state in RUNNING[1:]):
            askers += [one.asks for one in file.ancestors(job)]  # where one of them is skipped, so is this
        if any(_may_be_empty(vector) and not _is_guarded(vector, askers) for vector in _computed(matrix)):
            message = f"The matrix of {job.id} is computed and nothing keeps it from being empty."
            hint = "Guard the job with an if on the number of its rows."
            yield Finding(at=(*job.path, "strategy", "matrix"), message=message, hint=hint)
        if isinstance(matrix, dict):
            for name, vector in matrix.items():
                if vector == [] and name in _vectors(matrix):
                    message = f"The vector {name} of {job.id} is empty."
                    path = (*job.path, "strategy", "matrix", name)
                    yield Finding(at=path, message=message, hint="Give it a value or remove the job.")


def _computed(matrix: object) -> Iterator[Node]:
    """The expressions that make a whole matrix or one of its vectors; a list in the file has a length."""
    for value in _vectors(matrix).values() if isinstance(matrix, dict) else [matrix]:
        if isinstance(value, str):
            yield from map(expressions.parse, expressions.find_expressions(value))


def _vectors(matrix: Mapping[str, object]) -> Mapping[str, object]:
    """What must not be empty: `include` only where it stands alone, `exclude` never."""
    vectors = {name: value for name, value in matrix.items() if name not in {"include", "exclude"}}
    return vectors or {name: value for name, value in matrix.items() if name == "include"}


def _may_be_empty(node: Node) -> bool:
    """Whether a computed vector or matrix is not known to have a value, whichever way its expression goes."""
    match node:
        case Call("&&", (_, right)):
            return _may_be_empty(right)
        case Call("||", (Call("&&", (_, middle)), right)):
            return _may_be_empty(middle) or _may_be_empty(right)
        case Call("||", (left, right)):
            return _may_be_empty(left) or _may_be_empty(right)
        case Call("fromjson", (text,)):
            texts = expressions.possible_texts(text)
            return texts is None or any(map(_is_empty_json, texts))
    return True


def _is_empty_json(text: str) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return True
    return not value or (isinstance(value, dict) and not all(_vectors(value).values()))


def _is_guarded(vector: Node, askers: list[Node]) -> bool:
    """Whether one of the conditions cannot hold when what computes the vector finds nothing.

    Nothing is an empty list and a count of 0; or every output without a text, if the condition holds when there is
    something.
    """
    sources = {re.sub(r"(outputs|^inputs|^vars)\..*", r"\1", name) for name in expressions.names(vector)}
    for asks in askers:
        known = [
            name for name in expressions.names(asks) if any(name.startswith(f"{one}.") for one in sources)
        ]
        if not known:
            continue
        lists = expressions.names(vector)
        nothing, something = (
            {name: _say(name, lists, is_empty=empty) for name in known} for empty in (True, False)
        )
        if not _holds(asks, nothing) or (
            not _holds(asks, dict.fromkeys(known, "")) and _holds(asks, something)
        ):
            return True
    return False


def _holds(asks: Node, outputs: Mapping[str, Value]) -> bool:
    return any(expressions.can_hold([(asks, {**state, **outputs})]) for state in RUNNING)


def _say(name: str, lists: list[str], *, is_empty: bool) -> Value:
    """What an output says of a list, as far as its name tells."""
    output = name.rpartition(".")[2]
    if name in lists:
        return "[]" if is_empty else expressions.OTHER
    if _NUMBER.search(output):
        return "0" if is_empty else "2"
    return str(is_empty is bool(_EMPTY.search(output))).lower()


def shared_concurrency_groups(file: Workflow, _: Policy) -> Iterator[Finding[Path]]:
    """Two jobs of one run in one group cancel each other, and so do the legs of a matrix."""
    groups: dict[str, list[WorkflowJob]] = defaultdict(list)
    for job in file.jobs:
        if job.concurrency_group is not None:
            groups[job.concurrency_group].append(job)
        callee = file.callee(job)
        held = {file.concurrency_group, job.concurrency_group} - {None}
        if callee is not None and callee.concurrency_group in held:
            message = f"The job {job.id} calls a workflow that waits for the group its caller holds."
            hint = "github.workflow is the caller's name there too: spell the group in one of both."
            yield Finding(at=(*job.path, "uses"), message=message, hint=hint)
    for group, jobs in groups.items():
        for one, other in itertools.combinations(jobs, 2):
            if _run_together(one, other, file):
                message = (
                    f"The jobs {one.id} and {other.id} share a concurrency group and can run in one run."
                )
                hint = "Give the group to one job, or write conditions that cannot hold together."
                yield Finding(at=(*other.path, "concurrency"), message=message, hint=hint)
        for job in jobs:
            if job.matrix is not None and job.max_parallel != 1 and "matrix." not in group:
                message = f"All legs of {job.id} join one concurrency group and cancel each other."
                hint = "Move the group to one calling job without a matrix."
                yield Finding(at=(*job.path, "concurrency"), message=message, hint=hint)
            if group == file.concurrency_group:
                message = f"The job {job.id} waits for the group that its own workflow holds."
                yield Finding(at=(*job.path, "concurrency"), message=message, hint="Use another group.")


def _run_together(one: WorkflowJob, other: WorkflowJob, file: Workflow) -> bool:
    """Whether both can be wanted at one time: neither waits for the other, and their conditions can hold together."""
    if one in file.ancestors(other) or other in file.ancestors(one):
        return False
    return any(
        expressions.can_hold([(one.asks, first), (other.asks, second)])
        for first, second in itertools.product((*RUNNING, CANCELLED), repeat=2)
        if first["cancelled()"] == second["cancelled()"]
    )
