"""Rules about what GitHub does with a file when it runs: time, truth, matrices, groups, sizes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from infx.policy.model import Policy
from infx.workflows import expressions
from infx.workflows.finding import Finding
from infx.workflows.model import Action, Job, Path, Step, Workflow, scalars

MAX_EXPRESSION = 21_000  # characters of a scalar that holds an expression
_BULK = re.compile(r"(^|[^a-z])(plan|rows|matrix|search[-_]?space|configs)([^a-z]|$)", re.IGNORECASE)
_SMALL = ("matrix.", "github.", "runner.", "strategy.")
_CONTENTS = re.compile(r"\$\((?:cat\s|<)\s*\"?([^)\"]+)\"?\s*\)")
# What such a name may still carry: where something lies, how much there is, which one.
_HANDLE = re.compile(r"path|dir|file|count|number|name|id\b|ref|sha|has|total|size|key", re.IGNORECASE)


def missing_timeouts(file: Workflow, _: Policy) -> Iterator[Finding]:
    for job in file.jobs:
        if job.uses is None and job.timeout is None:
            message = f"The job {job.id} has no timeout-minutes. Without one GitHub waits six hours."
            yield Finding(path=job.path, message=message, hint="Add timeout-minutes.")


def always_on_gpus(file: Workflow, _: Policy) -> Iterator[Finding]:
    """GitHub asks `if` again on cancellation: `always()` keeps a runner that somebody wanted back."""
    for job in file.jobs:
        asks = [
            name for name in ("always", "cancelled") if expressions.is_called_plainly(_condition(job), name)
        ]
        if file.reaches_gpus(job) and asks:
            message = f"The job {job.id} would go on after a cancellation, because of {asks[0]}()."
            yield Finding(path=(*job.path, "if"), message=message, hint="Use !cancelled().")


def string_booleans(file: Workflow, _: Policy) -> Iterator[Finding]:
    """Outputs are text: GitHub refuses them as booleans, and in a condition 'false' counts as true."""
    for scalar in scalars(file.document):
        if _is_setting(scalar.path):
            inner = expressions.condition(scalar.text)
            if inner == scalar.text.strip() or (
                expressions.is_bare_text(inner) and inner.lower() not in file.boolean_inputs
            ):
                message = f"{scalar.path[-1]} is text. Expected a boolean: true, false or a comparison."
                yield Finding(path=scalar.path, message=message, hint="Compare with == 'true'.")
        for name, text in (pair for found in scalar.expressions for pair in expressions.comparisons(found)):
            if name in file.boolean_inputs and text in {"true", "false"}:
                message = f"{name} is a boolean, which never equals the text {text!r}."
                yield Finding(path=scalar.path, message=message, hint=f"Write {name} or !{name}.")
    texts = frozenset(f"github.event.{name}" for name in file.boolean_inputs)  # in the event they are text
    for job in file.jobs:
        conditions = [((*job.path, "if"), job.condition)]
        conditions += [((*step.path, "if"), step.condition) for step in job.steps]
        for path, condition in conditions:
            yield from _text_as_truth(path, condition, texts)


def _is_setting(path: Path) -> bool:
    """Of a matrix, a concurrency group, a job or a step: what GitHub takes as a boolean and nothing else."""
    where = {"fail-fast": "strategy", "cancel-in-progress": "concurrency"}.get(str(path[-1]))
    if where:
        return len(path) > 1 and path[-2] == where
    is_of_job, is_of_step = len(path) == 3, len(path) > 3 and path[-3] == "steps"
    return path[-1] == "continue-on-error" and (is_of_job or is_of_step)


def string_booleans_in_action(file: Action, _: Policy) -> Iterator[Finding]:
    for step in file.steps:
        yield from _text_as_truth((*step.path, "if"), step.condition)
        inner = expressions.condition(step.condition or "")
        if re.fullmatch(r"inputs\.[\w-]+", inner):
            message = f"{inner} stands as a condition, but an action's inputs are text and 'false' is true."
            yield Finding(path=(*step.path, "if"), message=message, hint="Compare with == 'true'.")


def _text_as_truth(path: Path, text: str | None, texts: frozenset[str] = frozenset()) -> Iterator[Finding]:
    if text is None:
        return
    if "${{" in text and not re.fullmatch(r"\s*\$\{\{.*\}\}\s*", text, re.DOTALL):
        message = "The condition mixes an expression with other text, which is always true."
        yield Finding(path=path, message=message, hint="Write one expression without ${{ }}.")
    for operand in expressions.bare_text_operands(expressions.condition(text), texts):
        message = f"{operand} stands as a condition, but it is text and 'false' is true."
        hint = "Compare with == 'true', or with != '' if it is no truth value."
        yield Finding(path=path, message=message, hint=hint)


def bulk_handed_over(file: Workflow | Action, _: Policy) -> Iterator[Finding]:
    """Plans and rows travel by file: 128 KiB of environment and 1 MB of outputs end far below a sweep."""
    if isinstance(file, Workflow):
        yield from _bulk_in_workflow(file)
        return
    for name in file.inputs:
        if _is_bulk(name):
            yield _bulk(("inputs", name), f"The input {name} looks like a plan or its rows")
    for name in file.outputs:
        if _is_bulk(name) and name != "matrix":  # of ids; who reads it is checked in the workflow
            yield _bulk(("outputs", name), f"The output {name} looks like a plan or its rows")
    for step in file.steps:
        for name, value in step.env.items():
            if _is_bulk(name) and _carries_bulk(value):
                yield _bulk((*step.path, "env", name), f"The variable {name} looks like a plan or its rows")
        yield from _bulk_arguments(step)


def _bulk_in_workflow(file: Workflow) -> Iterator[Finding]:
    for event, declared in file.declared_inputs:
        for name, values in declared.items():
            if _is_bulk(name) and (not isinstance(values, dict) or values.get("type", "string") == "string"):
                words = f"The input {name} looks like a plan or its rows"
                yield _bulk(("on", event, "inputs", name), words)
    for job in file.jobs:
        for name in job.outputs:
            if _is_bulk(name) and not _feeds_a_matrix_only(file, job, name):
                yield _bulk((*job.path, "outputs", name), f"The output {name} looks like a plan or its rows")
        places = [((*job.path, "env"), job.env), ((*job.path, "with"), job.inputs)]
        for step in job.steps:
            yield from _bulk_arguments(step)
            places += [((*step.path, "env"), step.env), ((*step.path, "with"), step.inputs)]
        for path, values in places:
            for name, value in values.items():
                if _is_bulk(name) and _carries_bulk(value):
                    yield _bulk((*path, name), f"{name} looks like a plan or its rows")


def _is_bulk(name: str) -> bool:
    return bool(_BULK.search(name)) and not _HANDLE.search(name)


def _carries_bulk(value: object) -> bool:
    """An expression in it is more than where something lies, and than one value of one leg."""
    found = expressions.find_expressions(str(value))
    names = [name for expression in found for name in expressions.variables(expression)]
    return any(not _HANDLE.search(name) and not name.startswith(_SMALL) for name in names)


def _bulk_arguments(step: Step) -> Iterator[Finding]:
    """`tool "$(cat rows.json)"`: one argument has the limit of one variable; echo is the shell's own and has none."""
    for line in (step.run or "").splitlines():
        words = line.split()
        if not words or words[0] in {"echo", "printf"} or re.match(r"\w+=", words[0]):
            continue
        for match in _CONTENTS.finditer(line):
            if _BULK.search(match[1]):
                yield _bulk((*step.path, "run"), f"The argument {match[0]} looks like a plan or its rows")


def _bulk(path: Path, words: str) -> Finding:
    hint = "Hand it over as an artifact or a file and pass its path; a matrix of ids may be an output."
    return Finding(path=path, message=f"{words} and would meet GitHub's limits.", hint=hint)


def _feeds_a_matrix_only(file: Workflow, job: Job, output: str) -> bool:
    """One shard's matrix of ids may be an output, if nothing but `strategy.matrix` reads it."""
    name = f"needs.{job.id}.outputs.{output}".lower()
    readers = [
        scalar.path
        for scalar in scalars(file.document, "jobs")
        if any(name in expressions.names(found) for found in expressions.find_expressions(scalar.text))
    ]
    return bool(readers) and all("matrix" in path or path[-1] == "if" for path in readers)


def empty_matrices(file: Workflow, _: Policy) -> Iterator[Finding]:
    """An empty vector is an error, not a job that has nothing to do."""
    for job in file.jobs:
        matrix = job.strategy.get("matrix") or job.computed_strategy
        if any(not _is_guarded(vector, _condition(job)) for vector in _computed_vectors(matrix)):
            message = f"The matrix of {job.id} is computed and nothing keeps it from being empty."
            hint = "Guard the job with an if on the number of its rows."
            path = (*job.path, "strategy", *(("matrix",) if job.computed_strategy is None else ()))
            yield Finding(path=path, message=message, hint=hint)
        if isinstance(matrix, dict):
            for name, vector in matrix.items():
                if vector == [] and name in _vectors(matrix):
                    message = f"The vector {name} of {job.id} is empty."
                    path = (*job.path, "strategy", "matrix", name)
                    yield Finding(path=path, message=message, hint="Give it a value or remove the job.")


def _computed_vectors(matrix: object) -> Iterator[str]:
    """The expressions that make a whole matrix or one of its vectors; a list in the file has a length."""
    for value in _vectors(matrix).values() if isinstance(matrix, dict) else [matrix]:
        if isinstance(value, str):
            yield from expressions.find_expressions(value)


def _vectors(matrix: Mapping[str, object]) -> Mapping[str, object]:
    """What must not be empty: `include` only where it stands alone, `exclude` never."""
    vectors = {name: value for name, value in matrix.items() if name not in {"include", "exclude"}}
    return vectors or {name: value for name, value in matrix.items() if name == "include"}


def _is_guarded(vector: str, condition: str) -> bool:
    """Whether the condition asks for an output of the job, or for an input, that the vector comes from."""
    sources = {re.sub(r"(outputs|^inputs|^vars)\..*", r"\1", name) for name in expressions.variables(vector)}
    return any(name.startswith(f"{source}.") for name in expressions.names(condition) for source in sources)


def shared_concurrency_groups(file: Workflow, _: Policy) -> Iterator[Finding]:
    """Two jobs of one run in one group cancel each other, and so do the legs of a matrix."""
    groups: dict[str, list[Job]] = defaultdict(list)
    for job in file.jobs:
        if job.concurrency_group is not None:
            groups[job.concurrency_group].append(job)
        callee = file.callees.get(job.uses or "")
        held = {file.concurrency_group, job.concurrency_group} - {None}
        if callee is not None and callee.concurrency_group in held:
            message = f"The job {job.id} calls a workflow that waits for the group its caller holds."
            hint = "github.workflow is the caller's name there too: spell the group in one of both."
            yield Finding(path=(*job.path, "uses"), message=message, hint=hint)
    for group, jobs in groups.items():
        for one, other in combinations(jobs, 2):
            if not expressions.excludes(_condition(one), _condition(other)):
                message = (
                    f"The jobs {one.id} and {other.id} share a concurrency group and can run in one run."
                )
                hint = "Give the group to one job, or compare one value with different texts in their ifs."
                yield Finding(path=(*other.path, "concurrency"), message=message, hint=hint)
        for job in jobs:
            if job.strategy.get("matrix") is not None and "matrix." not in group:
                message = f"All legs of {job.id} join one concurrency group and cancel each other."
                hint = "Move the group to one calling job without a matrix."
                yield Finding(path=(*job.path, "concurrency"), message=message, hint=hint)
            if group == file.concurrency_group:
                message = f"The job {job.id} waits for the group that its own workflow holds."
                yield Finding(path=(*job.path, "concurrency"), message=message, hint="Use another group.")


def _condition(job: Job) -> str:
    return expressions.condition(job.condition or "")


def large_expressions(file: Workflow | Action, _: Policy) -> Iterator[Finding]:
    for scalar in scalars(file.document):
        if "${{" in scalar.text and len(scalar.text) > MAX_EXPRESSION:
            message = f"A text with an expression has {len(scalar.text):,} characters; GitHub takes {MAX_EXPRESSION:,}."
            yield Finding(path=scalar.path, message=message, hint="Move the script into a file.")
