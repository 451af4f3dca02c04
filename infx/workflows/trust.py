"""Rules about what a pull request may reach: shell lines, tokens, secrets, other people's code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from infx.errors import Level
from infx.policy.model import Policy
from infx.workflows import expressions
from infx.workflows.finding import Finding
from infx.workflows.model import Action, Job, Step, Workflow

_SHA = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"docker://.+@sha256:[0-9a-f]{64}")
_FIXED = re.compile(
    r"github\.(sha|run_id|run_number|run_attempt|repository|repository_owner|workspace|action_path|event_name|job)"
    r"|runner\.\w+|strategy\.[\w-]+"
)
_RANKS = {"none": 0, "read": 1, "write": 2}


def expressions_in_run(file: Workflow | Action, _: Policy) -> Iterator[Finding]:
    """A value expanded into a script is code; in the environment it is data."""
    for job, step in _all_steps(file):
        for found in expressions.find_expressions(step.run or ""):
            yield Finding(
                path=(*step.path, "run"),
                message=f"The script contains ${{{{ {found} }}}}, which is expanded before the shell reads it.",
                hint="Pass it through env: and use the variable in quotes.",
                level=Level.WARNING if _is_fixed(found, file, job, step) else Level.ERROR,
            )
        script = step.inputs.get("script")
        if isinstance(script, str) and expressions.find_expressions(script):
            yield Finding(
                path=(*step.path, "with", "script"),
                message="The input script contains an expression, which is expanded before it is run.",
                hint="Pass it through env: and read it from the environment.",
            )


def _is_fixed(expression: str, file: Workflow | Action, job: Job | None, step: Step) -> bool:
    """Nothing but what GitHub or the file itself has spelled; then it is a habit and no hole."""
    environments = [step.env]
    if isinstance(file, Workflow) and job is not None:
        environments += [job.env, file.env]
    return all(
        _FIXED.fullmatch(name)
        or _is_spelled_in(environments, name)
        or (job is not None and _is_spelled(name, job))
        for name in expressions.variables(expression)
    )


def _is_spelled_in(environments: list[Mapping[str, Any]], name: str) -> bool:
    """A variable to which the file itself gives a value, innermost first."""
    context, _, key = name.partition(".")
    given = [
        value for env in environments for variable, value in env.items() if variable.lower() == key.lower()
    ]
    return context == "env" and bool(given) and not expressions.find_expressions(str(given[0]))


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
    if not isinstance(file.permissions, dict) or (
        len(inheriting) > 1 and "write" in file.permissions.values()
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
        yield from _beyond_its_caller(job, file)


def _beyond_its_caller(job: Job, file: Workflow) -> Iterator[Finding]:
    """A called job that asks for more than its caller has ends the run at its start, without a log."""
    callee, granted = file.callees.get(job.uses or ""), file.permissions_of(job)
    if callee is None or not isinstance(granted, dict):
        return
    for called in callee.jobs:
        asked = callee.permissions_of(called)
        for scope, access in asked.items() if isinstance(asked, dict) else ():
            if _RANKS.get(str(access), 0) > _RANKS.get(str(granted.get(scope)), 0):
                message = (
                    f"The job {job.id} calls {callee.path}, whose job {called.id} asks for {scope}: {access}. "
                    f"{job.id} has less, so the run ends at its start, without a log."
                )
                yield Finding(path=job.path, message=message, hint="Grant it here, or ask for less there.")


def persisted_credentials(file: Workflow | Action, _: Policy) -> Iterator[Finding]:
    """A job that may write contents probably pushes."""
    for job, step in _all_steps(file):
        if step.is_checkout and str(step.inputs.get("persist-credentials")).lower() != "false":
            granted = file.permissions_of(job) if isinstance(file, Workflow) and job else None
            pushes = isinstance(granted, dict) and granted.get("contents") == "write"
            yield Finding(
                path=step.path,
                message="The checkout leaves its token behind for every later step.",
                hint="Add persist-credentials: false; a step that pushes can be given the token by itself.",
                level=Level.WARNING if pushes else Level.ERROR,
            )


def _all_steps(file: Workflow | Action) -> Iterator[tuple[Job | None, Step]]:
    if isinstance(file, Action):
        yield from ((None, step) for step in file.steps)
    else:
        yield from ((job, step) for job in file.jobs for step in job.steps)


def _show(permissions: Any) -> str:
    if not isinstance(permissions, dict):
        return str(permissions)
    return ", ".join(f"{scope}: {access}" for scope, access in permissions.items())


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
