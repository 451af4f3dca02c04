"""Rules about what a pull request may reach: shell lines, tokens, secrets, other people's code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from infx.policy.model import Policy
from infx.workflows import expressions
from infx.workflows.finding import Finding
from infx.workflows.model import Action, Scalar, Step, Workflow, scalars

_SHA = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"docker://.+@sha256:[0-9a-f]{64}")
# Events whose runs hold a full token although somebody outside wrote the pull request.
PRIVILEGED_EVENTS = frozenset({"pull_request_target", "workflow_run", "issue_comment"})
_HEAD = re.compile(
    r"github\.head_ref|pull_request\.head\.|workflow_run\.head_|pull_request\.merge_commit_sha|refs/pull/",
    re.IGNORECASE,
)


def expressions_in_run(file: Workflow | Action, _: Policy) -> Iterator[Finding]:
    """A value expanded into a script is code; in the environment it is data."""
    for step in _all_steps(file):
        for found in expressions.find_expressions(step.run or ""):
            yield Finding(
                path=(*step.path, "run"),
                message=f"The script contains ${{{{ {found} }}}}, which is expanded before the shell reads it.",
                hint="Pass it through env: and use the variable in quotes.",
            )
        script = step.inputs.get("script")
        if isinstance(script, str) and expressions.find_expressions(script):
            yield Finding(
                path=(*step.path, "with", "script"),
                message="The input script contains an expression, which is expanded before it is run.",
                hint="Pass it through env: and read it from the environment.",
            )


def unpinned_uses(file: Workflow | Action, _: Policy) -> Iterator[Finding]:
    """A tag can be moved to other code; a commit cannot."""
    used = [(step.path, step.uses) for step in _all_steps(file)]
    if isinstance(file, Workflow):
        used += [(job.path, job.uses) for job in file.jobs]
    for path, uses in used:
        if not uses or uses.startswith(("./", "$/")) or _DIGEST.fullmatch(uses):
            continue
        if not _SHA.fullmatch(uses.rpartition("@")[2]):
            yield Finding(
                path=(*path, "uses"),
                message=f"{uses} is not pinned. Expected a full commit SHA after @.",
                hint="Write the 40 digits and the version in a comment.",
            )


def missing_permissions(file: Workflow, _: Policy) -> Iterator[Finding]:
    """Nothing at the top, so that every job says what it needs."""
    if file.permissions != {}:
        found = "nothing" if file.permissions is None else f"{file.permissions!r}"
        yield Finding(
            path=("permissions",),
            message=f"The workflow grants {found} to all its jobs. Expected permissions: {{}} at the top.",
            hint="Add permissions: {} there and the least that is needed in each job.",
        )
    for job in file.jobs:
        if job.permissions is None:
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
                if text.lower() not in lower:
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
    for step in _all_steps(file):
        if step.is_checkout and step.inputs.get("persist-credentials") is not False:
            yield Finding(
                path=step.path,
                message="The checkout leaves its token behind for every later step.",
                hint="Add persist-credentials: false.",
            )


def code_after_head_checkout(file: Workflow, _: Policy) -> Iterator[Finding]:
    """After a pull request's files are on disk, no secret and no `./` action, unless a trusted checkout came later."""
    for job in file.jobs:
        head_is_there = False
        trusted: set[str] = set()  # folders laid out from somewhere else after that
        for step in job.steps:
            if step.is_checkout:
                if _is_head_checkout(step, file):
                    head_is_there, trusted = True, set()
                else:
                    trusted.add(_first_folder(str(step.inputs.get("path", "."))))
            elif head_is_there:
                yield from _reach_of(step, trusted)


def _reach_of(step: Step, trusted: set[str]) -> Iterator[Finding]:
    uses = step.uses or ""
    if uses.startswith("./") and _first_folder(uses) not in trusted:
        message = f"{uses} is read from the workspace after the pull request's code was laid out there."
        hint = "Check out the trusted toolkit into a folder of its own afterwards and use it from there."
        yield Finding(path=(*step.path, "uses"), message=message, hint=hint)
    if secret := _secret(step):
        message = f"{secret} is given to a step after the pull request's code was laid out."
        hint = "Do what needs the secret in another job, or before the checkout."
        yield Finding(path=step.path, message=message, hint=hint)


def _first_folder(path: str) -> str:
    return path.removeprefix("./").split("/", 1)[0]


def _all_steps(file: Workflow | Action) -> Iterator[Step]:
    if isinstance(file, Action):
        yield from file.steps
    else:
        for job in file.jobs:
            yield from job.steps


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
    for job in [job for job in file.jobs if job.may_reach_gpus][:1]:
        yield Finding(
            path=job.path,
            message=f"The job {job.id} reaches self-hosted runners from a file that a pull request can edit.",
            hint=(
                "Put the runners into a group that admits only benchmark.yml of the base branch and call it by "
                "owner/repository/path@branch, or state in the policy, under workflows, what protects them."
            ),
        )
