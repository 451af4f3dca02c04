"""Rules about what a pull request may reach: shell lines, tokens, secrets, other people's code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from infx.errors import Level
from infx.policy.model import Policy
from infx.workflows import expressions
from infx.workflows.finding import Finding
from infx.workflows.model import Action, Job, Scalar, Step, Workflow, scalars

_SHA = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"docker://.+@sha256:[0-9a-f]{64}")
# Events whose runs hold a full token although somebody outside wrote the pull request.
PRIVILEGED_EVENTS = frozenset({"pull_request_target", "workflow_run", "issue_comment"})
_FIXED = re.compile(
    r"github\.(sha|run_id|run_number|run_attempt|repository|repository_owner|workspace|action_path|event_name|job)"
    r"|runner\.\w+|strategy\.[\w-]+"
)
_HEAD = re.compile(
    r"github\.head_ref|pull_request\.head\.|workflow_run\.head_|pull_request\.merge_commit_sha|refs/pull/",
    re.IGNORECASE,
)


def expressions_in_run(file: Workflow | Action, _: Policy) -> Iterator[Finding]:
    """A value expanded into a script is code; in the environment it is data."""
    for job, step in _all_steps(file):
        for found in expressions.find_expressions(step.run or ""):
            yield Finding(
                path=(*step.path, "run"),
                message=f"The script contains ${{{{ {found} }}}}, which is expanded before the shell reads it.",
                hint="Pass it through env: and use the variable in quotes.",
                level=Level.WARNING if _is_fixed(found, job) else Level.ERROR,
            )
        script = step.inputs.get("script")
        if isinstance(script, str) and expressions.find_expressions(script):
            yield Finding(
                path=(*step.path, "with", "script"),
                message="The input script contains an expression, which is expanded before it is run.",
                hint="Pass it through env: and read it from the environment.",
            )


def _is_fixed(expression: str, job: Job | None) -> bool:
    """Nothing but what GitHub or the file itself has spelled; then it is a habit and no hole."""
    names = expressions.variables(expression)
    return all(_FIXED.fullmatch(name) or (job is not None and _is_spelled(name, job)) for name in names)


def _is_spelled(name: str, job: Job) -> bool:
    """A matrix value that the file itself lists."""
    context, _, key = name.partition(".")
    matrix = job.strategy.get("matrix")
    if context != "matrix" or not isinstance(matrix, dict):
        return False
    vectors = [matrix.get(key.partition(".")[0], []), matrix.get("include", [])]
    return all(isinstance(one, list) and not expressions.find_expressions(str(one)) for one in vectors)


def unpinned_uses(file: Workflow | Action, policy: Policy) -> Iterator[Finding]:
    """A tag can be moved to other code; a commit cannot. The own repository's workflow of the base branch is meant
    to move: a runner group admits it by that name.
    """
    own = f"{policy.repository}/.github/workflows/"
    branches = (policy.base_branch, f"refs/heads/{policy.base_branch}")
    used = [(step.path, step.uses) for _, step in _all_steps(file)]
    if isinstance(file, Workflow):
        used += [(job.path, job.uses) for job in file.jobs]
    for path, uses in used:
        if not uses or uses.startswith(("./", "$/")) or _DIGEST.fullmatch(uses):
            continue
        if uses.startswith(own) and uses.rpartition("@")[2] in branches:
            continue
        if not _SHA.fullmatch(uses.rpartition("@")[2]):
            yield Finding(
                path=(*path, "uses"),
                message=f"{uses} is not pinned. Expected a full commit SHA after @.",
                hint="Write the 40 digits and the version in a comment.",
            )


def missing_permissions(file: Workflow, _: Policy) -> Iterator[Finding]:
    """Stated at the top and no more than reading, so that every job says what else it needs."""
    inheriting = [job for job in file.jobs if job.permissions is None]
    if (
        file.permissions is None
        or isinstance(file.permissions, str)
        or (len(inheriting) > 1 and "write" in file.permissions.values())
    ):
        found = "its repository's default" if file.permissions is None else _show(file.permissions)
        yield Finding(
            path=("permissions",),
            message=f"The workflow grants {found} to all its jobs. Expected permissions: {{}} at the top.",
            hint="Add permissions: {} there and the least that is needed in each job.",
        )
    for job in file.jobs:
        if job.permissions is None and file.permissions is None:
            message = f"The job {job.id} states no permissions. Expected the least it needs, at least {{}}."
            yield Finding(path=job.path, message=message, hint="Add permissions: to the job.")
        elif isinstance(job.permissions, str):
            message = (
                f"The job {job.id} asks for {job.permissions}. Expected the scopes that it needs, by name."
            )
            yield Finding(path=(*job.path, "permissions"), message=message, hint="Name each scope.")


def label_literals(file: Workflow | Action, policy: Policy) -> Iterator[Finding]:
    """What a label means stands in the policy and nowhere else."""
    known = {*policy.labels.primary, *policy.labels.modifiers, *policy.labels.control}
    from difflib import get_close_matches

    lower = {name.lower() for name in known}
    for scalar in scalars(file.document):
        for expression in _expressions_of(scalar):
            for text in expressions.literals(expression):
                if text.lower() in lower:
                    message = (
                        f"The label {text!r} is spelled in a condition. Labels are the policy's business."
                    )
                    yield Finding(path=scalar.path, message=message, hint="Use an output of infx gate.")
            for text in expressions.label_texts(expression):
                near = get_close_matches(text.lower(), lower, n=1, cutoff=0.8)
                if near and text.lower() not in lower:  # other labels are none of a sweep's
                    message = f"The condition asks for the label {text!r}, which the policy does not know."
                    yield Finding(
                        path=scalar.path, message=message, hint="Add it to the policy and ask infx gate."
                    )


def head_under_privilege(file: Workflow, _: Policy) -> Iterator[Finding]:
    """A run with a full token must not lay out code that somebody outside wrote."""
    events = sorted(PRIVILEGED_EVENTS & set(file.events))
    if not events:
        return
    for job in file.jobs:
        for step in job.steps:
            if step.is_checkout and _is_head_checkout(step, file):
                yield Finding(
                    path=(*step.path, "with"),
                    message=f"A job of {', '.join(events)} checks out the pull request's code beside a full token.",
                    hint="Read what is needed through the API, or do it in a pull_request job.",
                )


def persisted_credentials(file: Workflow | Action, _: Policy) -> Iterator[Finding]:
    """A job that may write contents probably pushes."""
    for job, step in _all_steps(file):
        if step.is_checkout and step.inputs.get("persist-credentials") is not False:
            granted = file.permissions_of(job) if isinstance(file, Workflow) and job else None
            pushes = isinstance(granted, dict) and granted.get("contents") == "write"
            yield Finding(
                path=step.path,
                message="The checkout leaves its token behind for every later step.",
                hint="Add persist-credentials: false; a step that pushes can be given the token by itself.",
                level=Level.WARNING if pushes else Level.ERROR,
            )


def code_after_head_checkout(file: Workflow, _: Policy) -> Iterator[Finding]:
    """After a pull request's files are on disk, no secret and no `./` action, unless a trusted checkout came later."""
    for job in file.jobs:
        head_is_there = False
        level = Level.ERROR if _has_something_to_lose(job, file) else Level.WARNING
        trusted: set[str] = set()  # folders laid out from somewhere else after that
        for step in job.steps:
            if step.is_checkout:
                if _is_head_checkout(step, file):
                    head_is_there, trusted = True, set()
                else:
                    trusted.add(_first_folder(str(step.inputs.get("path", "."))))
            elif head_is_there:
                yield from _reach_of(step, trusted, level)


def _has_something_to_lose(job: Job, file: Workflow) -> bool:
    """On GitHub's machine, with a token that reads, a pull request's own action can do no more than its own tests."""
    granted = file.permissions_of(job)
    reads_only = isinstance(granted, dict) and "write" not in granted.values()
    secret = any(_secret(step) for step in job.steps)
    return bool(PRIVILEGED_EVENTS & set(file.events)) or file.reaches_gpus(job) or not reads_only or secret


def _reach_of(step: Step, trusted: set[str], level: Level) -> Iterator[Finding]:
    uses = step.uses or ""
    if uses.startswith("./") and _first_folder(uses) not in trusted:
        message = f"{uses} is read from the workspace after the pull request's code was laid out there."
        hint = "Check out the trusted toolkit into a folder of its own afterwards and use it from there."
        yield Finding(path=(*step.path, "uses"), message=message, hint=hint, level=level)
    if secret := _secret(step):
        message = f"{secret} is given to a step after the pull request's code was laid out."
        hint = "Do what needs the secret in another job, or before the checkout."
        yield Finding(path=step.path, message=message, hint=hint)


def _first_folder(path: str) -> str:
    return path.removeprefix("./").split("/", 1)[0]


def _all_steps(file: Workflow | Action) -> Iterator[tuple[Job | None, Step]]:
    if isinstance(file, Action):
        yield from ((None, step) for step in file.steps)
    else:
        yield from ((job, step) for job in file.jobs for step in job.steps)


def _show(permissions: Any) -> str:
    if not isinstance(permissions, dict):
        return str(permissions)
    return ", ".join(f"{scope}: {access}" for scope, access in permissions.items())


def _expressions_of(scalar: Scalar) -> list[str]:
    """An `if` is an expression as a whole."""
    return (
        [expressions.condition(scalar.text)]
        if scalar.path[-1] == "if"
        else expressions.find_expressions(scalar.text)
    )


def _is_head_checkout(step: Step, file: Workflow) -> bool:
    """On pull_request a checkout without a ref is the pull request's own merge commit."""
    ref = str(step.inputs.get("ref", ""))
    repository = str(step.inputs.get("repository", ""))
    if _HEAD.search(ref) or _HEAD.search(repository):
        return True
    measured = re.search(r"head[_-]?sha|head[_-]?ref|measured", ref, re.IGNORECASE)
    return bool(measured) or (not ref and not repository and "pull_request" in file.events)


def _secret(step: Step) -> str | None:
    for where in (step.env, step.inputs):
        for value in where.values():
            for expression in expressions.find_expressions(str(value)):
                for name in expressions.names(expression):
                    if name.startswith("secrets.") and name != "secrets.github_token":
                        return name
    return None


def gpu_jobs_without_boundary(file: Workflow, policy: Policy) -> Iterator[Finding]:
    """On pull_request the workflow comes from the pull request: a runner that takes any job runs any code."""
    if "pull_request" not in file.events or policy.workflows.runner_boundary:
        return
    for job in [job for job in file.jobs if file.reaches_gpus(job)][:1]:
        yield Finding(
            level=Level.WARNING,
            path=job.path,
            message=f"The job {job.id} reaches self-hosted runners from a file that a pull request can edit.",
            hint=(
                "Put the runners into a group that admits only benchmark.yml of the base branch and call it by "
                "owner/repository/path@branch, or state in the policy, under workflows, what protects them."
            ),
        )
