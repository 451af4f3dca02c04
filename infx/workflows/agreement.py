"""Rules about what a file and the policy both say: labels, required checks, branches, the changelog, commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from infx.errors import Level
from infx.policy.model import Policy
from infx.policy.paths import compile_glob
from infx.workflows import expressions
from infx.workflows.finding import Finding
from infx.workflows.model import Action, Job, Workflow, scalars, texts


def label_literals(file: Workflow | Action, policy: Policy) -> Iterator[Finding]:
    """What a label means stands in the policy and nowhere else."""
    from difflib import get_close_matches

    lower = {name.lower() for name in policy.labels.names}
    for scalar in scalars(file.document):
        for expression in scalar.expressions:
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


def required_checks(file: Workflow, policy: Policy) -> Iterator[Finding]:
    """A required check that does not start stays pending for ever; one that is skipped counts as passed."""
    for job in file.jobs:
        if job.name not in policy.workflows.required_checks:
            continue
        for event in ("pull_request", "push", "merge_group"):
            filters = file.filters(event)
            for key in ("paths", "paths-ignore"):
                if key in filters and event != "push":
                    message = f"The check {job.name} is required, but {event} is filtered by {key}."
                    yield Finding(path=("on", event, key), message=message, hint="Remove the filter.")
            if event != "push" and not _admits_branch(filters, policy.base_branch):
                message = f"The check {job.name} is required, but {event} leaves {policy.base_branch} out."
                yield Finding(path=("on", event), message=message, hint="Name the branch, or filter none.")
        yield from _missing_types(job, file)
        if "merge_group" not in file.events:
            message = f"The check {job.name} is required, but a merge queue would wait for it for ever."
            yield Finding(
                path=("on",), message=message, hint="Add merge_group to the events.", level=Level.WARNING
            )
        if job.uses is not None or job.strategy.get("matrix") is not None:
            message = f"The check {job.name} is required, but its name changes with what it calls or with its matrix."
            yield Finding(path=job.path, message=message, hint="Require one plain job that needs it.")
        if job.needs and not (job.condition and expressions.calls(job.condition, "always")):
            message = f"The check {job.name} is required, but it is skipped, which passes, when a job before it fails."
            yield Finding(
                path=job.path, message=message, hint="Add if: always() and look at the results in it."
            )


def _missing_types(job: Job, file: Workflow) -> Iterator[Finding]:
    """With `types` of its own an event no longer comes with every push."""
    given = texts(file.filters("pull_request").get("types"))
    missing = sorted({"opened", "synchronize", "reopened"} - set(given)) if given else []
    if missing:
        message = f"The check {job.name} is required, but pull_request comes without {', '.join(missing)}."
        yield Finding(path=("on", "pull_request", "types"), message=message, hint="Add them to the types.")


def policy_mismatches(file: Workflow, policy: Policy) -> Iterator[Finding]:
    """Where a file must repeat what the policy says, both say the same; else nothing starts, and nothing says why."""
    if file.path == policy.sweep.workflow:
        yield from _sweep_mismatches(file, policy)
    command = policy.sweep.approve_command
    for job in file.jobs:
        if not any(re.search(r"/actions/approve(@|$)", step.uses or "") for step in job.steps):
            continue
        asked = [text for text in expressions.literals(job.condition or "") if text.startswith("/")]
        if asked and not any(text in command for text in asked):
            message = f"The job {job.id} waits for {asked[0]}, but the policy's command is {command}."
            yield Finding(path=(*job.path, "if"), message=message, hint="Spell the same in both.")


def _sweep_mismatches(file: Workflow, policy: Policy) -> Iterator[Finding]:
    for event in ("pull_request", "push"):
        filters = file.filters(event)
        if not _admits_branch(filters, policy.base_branch):
            message = f"{event} leaves out {policy.base_branch}, which is the policy's base branch."
            yield Finding(path=("on", event), message=message, hint="Spell the same in both.")
        paths = texts(filters.get("paths"))
        if paths and not _admits(paths, policy.changelog):
            message = f"{event} leaves out {policy.changelog}, which is the policy's changelog."
            yield Finding(path=("on", event, "paths"), message=message, hint="Spell the same in both.")
    if policy.sweep.job not in {job.id for job in file.jobs}:
        message = f"There is no job {policy.sweep.job}, by which the policy knows a sweep."
        yield Finding(path=("jobs",), message=message, hint="Spell the same in both.")


def _admits_branch(filters: Mapping[str, Any], branch: str) -> bool:
    wanted, unwanted = texts(filters.get("branches")), texts(filters.get("branches-ignore"))
    return (not wanted or _admits(wanted, branch)) and not _admits(unwanted, branch)


def _admits(patterns: Iterable[str], name: str) -> bool:
    """The last pattern that fits decides; one with `!` takes back."""
    admitted = False
    for pattern in patterns:
        if compile_glob(pattern.removeprefix("!")).fullmatch(name):
            admitted = not pattern.startswith("!")
    return admitted
