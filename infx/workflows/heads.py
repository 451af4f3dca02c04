"""Rules about a pull request's code on the disk: what lays it out, and what may come after."""

from __future__ import annotations

import re
from collections.abc import Iterator

from infx.errors import Level
from infx.policy.model import Policy
from infx.workflows import expressions
from infx.workflows.finding import Finding
from infx.workflows.model import Job, Step, Workflow

# Events whose runs hold a full token although somebody outside wrote the pull request.
PRIVILEGED_EVENTS = frozenset({"pull_request_target", "workflow_run", "issue_comment"})
_HEAD = re.compile(
    r"github\.head_ref|pull_request\.head\.|workflow_run\.head_|pull_request\.merge_commit_sha|refs/pull/",
    re.IGNORECASE,
)
_GIT_LAYS_OUT = re.compile(
    r"\bgit\s+(?:-[cC]\s+\S+\s+)*(?:checkout|switch|reset|merge|pull|worktree|cherry-pick|read-tree)(?![\w-])"
)
_FETCHED = re.compile(r"\bFETCH_HEAD\b|\bpull/\S+/(head|merge)\b|\brefs/pull/")
_APART = "Do what needs the secret in another job, or before the checkout."


def head_under_privilege(file: Workflow, _: Policy) -> Iterator[Finding]:
    """A run with a full token must not lay out code that somebody outside wrote."""
    events = sorted(PRIVILEGED_EVENTS & set(file.events))
    if not events:
        return
    for job in file.jobs:
        for step in job.steps:
            if _lays_out_head(step, job, file):
                yield Finding(
                    path=(*step.path, "with" if step.is_checkout else "run"),
                    message=f"A job of {', '.join(events)} checks out the pull request's code beside a full token.",
                    hint="Read what is needed through the API, or do it in a pull_request job.",
                )


def code_after_head_checkout(file: Workflow, _: Policy) -> Iterator[Finding]:
    """After a pull request's files are on disk, no secret and no `./` action, unless a trusted checkout came later."""
    for job in file.jobs:
        head_is_there = False
        level = Level.ERROR if _has_something_to_lose(job, file) else Level.WARNING
        trusted: set[str] = set()  # folders laid out from somewhere else after that
        for step in job.steps:
            if _lays_out_head(step, job, file):
                if not head_is_there:
                    yield from _secrets_around(job, file)
                head_is_there, trusted = True, set()
            elif step.is_checkout:
                trusted.add(_first_folder(str(step.inputs.get("path", "."))))
            elif head_is_there:
                yield from _reach_of(step, trusted, level)


def _secrets_around(job: Job, file: Workflow) -> Iterator[Finding]:
    """What every step of the job has in its environment."""
    for path, env in (((*job.path, "env"), job.env), (("env",), file.env)):
        for name, value in env.items():
            if secret := _secret_in(value):
                message = (
                    f"{secret} is in the environment of {job.id}, which lays out the pull request's code."
                )
                yield Finding(path=(*path, name), message=message, hint=_APART)


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
        yield Finding(path=step.path, message=message, hint=_APART)


def _first_folder(path: str) -> str:
    return path.removeprefix("./").split("/", 1)[0]


def _lays_out_head(step: Step, job: Job, file: Workflow) -> bool:
    """By a checkout, or by git or gh in a script."""
    if step.is_checkout:
        return _is_head_checkout(step, file)
    heads = [
        name
        for env in (step.env, job.env, file.env)
        for name, value in env.items()
        if _HEAD.search(str(value))
    ]
    variables = re.compile("|".join(rf"\$\{{?{re.escape(name)}\b" for name in heads) or r"(?!)")
    lines = (line.partition(" #")[0] for line in (step.run or "").splitlines())
    return any(
        re.search(r"\bgh pr checkout\b", line)
        or (
            _GIT_LAYS_OUT.search(line)
            and (_FETCHED.search(line) or _HEAD.search(line) or variables.search(line))
        )
        for line in lines
        if not line.lstrip().startswith("#")
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
    return next(
        (
            secret
            for where in (step.env, step.inputs)
            for value in where.values()
            if (secret := _secret_in(value))
        ),
        None,
    )


def _secret_in(value: object) -> str | None:
    """A secret by its name, or all of them; the workflow's own token is none."""
    names = [name for found in expressions.find_expressions(str(value)) for name in expressions.names(found)]
    own = {"secrets.github_token", "secrets['github_token']"}
    return next((name for name in names if re.match(r"secrets\b", name) and name not in own), None)
