"""Rules about what a file and the policy both say: labels, required checks, branches, names, paths, commands."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from infx.errors import Level, Problem
from infx.policy.model import Policy
from infx.policy.paths import compile_glob
from infx.rules import Finding, Path
from infx.signoff.trigger import list_trigger_words
from infx.workflows import expressions
from infx.workflows.expressions import CANCELLED, FAILED, RUNNING, Node, Value
from infx.workflows.model import ActionFile, Workflow, WorkflowJob, WorkflowStep, find_nodes, texts

_BODY, _BEFORE = "github.event.comment.body", "github.event.changes.body.from"
# Every action of infx: a workflow that uses one repeats parts of the policy.
_ACTIONS = ("approve", "changelog", "gate", "plan", "reconcile", "results", "row", "rows", "signoff")


def label_literals(file: Workflow | ActionFile, policy: Policy) -> Iterator[Finding[Path]]:
    """What a label means stands in the policy and nowhere else."""
    from difflib import get_close_matches

    lower = {name.lower() for name in policy.labels.names}
    for path, node in find_nodes(file.document.value):
        reads_labels = any("label" in name for name in expressions.names(node))
        for text in expressions.literals(node):
            # A plain word may mean anything where no labels are read.
            if text.lower() in lower and (reads_labels or not text.isalnum()):
                message = f"The label {text!r} is spelled in a condition. Labels are the policy's business."
                yield Finding(at=path, message=message, hint="Use an output of infx gate.")
        for text in _label_texts(node):
            near = get_close_matches(text.lower(), lower, n=1, cutoff=0.8)
            if near and text.lower() not in lower:  # other labels are none of a sweep's
                message = f"The condition asks for the label {text!r}, which the policy does not know."
                yield Finding(at=path, message=message, hint="Add it to the policy and ask infx gate.")


def _label_texts(node: Node) -> Iterator[str]:
    """Texts that are compared with a pull request's labels, or looked for among them."""
    for name in dict.fromkeys(expressions.names(node)):
        if name.endswith(("labels.*.name", "event.label.name")):
            yield from expressions.compared_texts(node, name)


def required_checks(file: Workflow, policy: Policy) -> Iterator[Finding[Path]]:
    """A required check that does not start stays pending for ever; one that is skipped counts as passed."""
    for job in file.jobs:
        if job.name in policy.workflows.required_checks:
            for path, reason, hint in _find_obstacles(job, file, policy.base_branch):
                message = f"The check {job.name} is required, but {reason}."
                yield Finding(at=path, message=message, hint=hint)
            if "merge_group" not in file.events:
                message = f"The check {job.name} is required, but a merge queue would wait for it for ever."
                hint = "Add merge_group to the events."
                yield Finding(at=("on",), message=message, hint=hint, level=Level.WARNING)


def _find_obstacles(job: WorkflowJob, file: Workflow, base_branch: str) -> Iterator[tuple[Path, str, str]]:
    """(path, what stands in the way of the check, hint)"""
    for event in ("pull_request", "merge_group"):
        filters = file.filters(event)
        for key in {"paths", "paths-ignore"} & set(filters):
            yield ("on", event, key), f"{event} is filtered by {key}", "Remove the filter."
        if not _admits_branch(filters, base_branch):
            yield ("on", event), f"{event} leaves {base_branch} out", "Name the branch, or filter none."
    types = texts(file.filters("pull_request").get("types"))
    if types and (
        missing := sorted({"opened", "synchronize", "reopened"} - set(types))
    ):  # not with every push
        at = ("on", "pull_request", "types")
        yield at, f"pull_request comes without {', '.join(missing)}", "Add them to the types."
    if job.uses is not None or job.matrix is not None:
        reason = "its name changes with what it calls or with its matrix"
        yield job.path, reason, "Require one plain job that needs it."
    states = (FAILED, CANCELLED)
    if job.needs and not all(expressions.always_holds(job.asks, state, "needs.") for state in states):
        reason = "it is skipped, which passes, when a job before it fails"
        yield job.path, reason, "Add if: always() and look at the results in it."


def find_absent_checks(workflows: Iterable[Workflow], policy: Policy) -> Iterator[Problem]:
    """Warn of required checks that no job reports: unless another service does, they stay pending for ever."""
    jobs = {job.name for workflow in workflows for job in workflow.jobs}
    statuses = {policy.sweep.contexts.sweep, policy.sweep.contexts.approval, policy.signoff.status}
    for name in policy.workflows.required_checks:
        if jobs and name not in jobs | statuses:
            yield Problem(
                rule="required-check",
                message=f"The policy requires the check {name}, but no job here has this name.",
                path=".github/workflows",
                hint="Add the job, or take the name out of workflows.required-checks unless another service reports it.",
                level=Level.WARNING,
            )


def policy_mismatches(file: Workflow, policy: Policy) -> Iterator[Finding[Path]]:
    """Where a file must repeat what the policy says, both say the same; else nothing starts, and nothing says why."""
    if file.path == policy.sweep.workflow or any(step.is_identity(*_ACTIONS) for step in file.steps):
        differences = [*_compare_filters(file, policy), *_compare_runs(file, policy)]
        for job in file.jobs:
            for step in job.steps:
                differences += [*_compare_words(file, job, step, policy), *_compare_names(file, step, policy)]
        for path, message in differences:
            yield Finding(at=path, message=message, hint="Spell the same in both.")


def _compare_filters(file: Workflow, policy: Policy) -> Iterator[tuple[Path, str]]:
    """Events of the base branch, and changes of the changelog, must come through."""
    names = {job.name for job in file.jobs}
    for event in ("pull_request", "push", "merge_group"):
        filters = file.filters(event)
        is_required = event != "push" and not names.isdisjoint(policy.workflows.required_checks)
        if not is_required and not _admits_branch(filters, policy.base_branch):
            yield (
                ("on", event),
                f"{event} leaves out {policy.base_branch}, which is the policy's base branch.",
            )
        paths, without = texts(filters.get("paths")), texts(filters.get("paths-ignore"))
        if (paths and not _admits(paths, policy.changelog)) or _admits(without, policy.changelog):
            at = ("on", event, "paths" if paths else "paths-ignore")
            yield at, f"{event} leaves out {policy.changelog}, which is the policy's changelog."


def _compare_runs(file: Workflow, policy: Policy) -> Iterator[tuple[Path, str]]:
    """The workflows of the policy exist, and who follows their runs names them as they name themselves."""
    if file.path == policy.sweep.workflow and policy.sweep.job not in {job.id for job in file.jobs}:
        yield ("jobs",), f"There is no job {policy.sweep.job}, by which the policy knows a sweep."
    used = [name for step in file.steps for name in _ACTIONS if step.is_identity(name)]
    followed = {"sweep.workflow": policy.sweep.workflow}
    if "signoff" in used:
        followed["signoff.relay-workflow"] = policy.signoff.relay_workflow
    names = texts(file.filters("workflow_run").get("workflows"))
    for key, path in followed.items():
        other = file.siblings.get(path)
        if other is None and ("workflow_run" in file.events or "pull_request" in file.events):
            yield ("on",), f"The policy's {key} is {path}, which does not exist here."
        if other is None or "workflow_run" not in file.events or not {"reconcile", "signoff"} & set(used):
            continue
        if other.name not in names:
            at = ("on", "workflow_run", "workflows")
            yield at, f"workflow_run does not name {other.name}, which is the policy's {key} ({path})."
        elif key == "signoff.relay-workflow" and "pull_request_review" not in other.events:
            yield ("on",), f"{path} is the policy's {key}, but no review starts it."


def _compare_words(
    file: Workflow, job: WorkflowJob, step: WorkflowStep, policy: Policy
) -> Iterator[tuple[Path, str]]:
    """A filter of comments lets through what holds a word of the policy, and nothing else."""
    words = {policy.sweep.approve_command: "sweep.approve-command"} if step.is_identity("approve") else {}
    if step.is_identity("signoff"):
        keys = {policy.signoff.settle_command: "signoff.settle-command"}
        keys |= dict.fromkeys(policy.reuse.commands, "reuse.commands")
        words = {word: keys.get(word, "signoff.phrase") for word in list_trigger_words(policy)}
    asks = [job.asks, expressions.parse_condition(step.condition)]
    at = (*(job if job.condition else step).path, "if")
    places = {_BODY: "a comment"}
    if "edited" in texts(file.filters("issue_comment").get("types")):
        places[_BEFORE] = "an edit of a comment"
    for (word, key), place in itertools.product(words.items(), places):
        if not _starts(asks, place, word):
            yield (
                at,
                f"The job {job.id} does not start for {places[place]} with {word}, which is the policy's {key}.",
            )
    given = [text for node in asks for place in places for text in expressions.compared_texts(node, place)]
    for text in dict.fromkeys(given) if words else ():
        known = any(word.casefold() in text.casefold() for word in words)
        if not known and any(_starts(asks, place, text) for place in places):
            yield at, f"The job {job.id} starts for a comment with {text!r}, which the policy does not know."


def _starts(asks: list[Node], place: str, text: str) -> bool:
    world: dict[str, Value] = {"github.event_name": "issue_comment", _BODY: "", _BEFORE: "", place: text}
    return expressions.can_hold([(node, {**RUNNING[0], **world}) for node in asks])


def _compare_names(file: Workflow, step: WorkflowStep, policy: Policy) -> Iterator[tuple[Path, str]]:
    """Of the artifact with results, and of the file with priorities. What an expression makes is not compared."""
    uploads = [other.inputs for other in file.steps if other.uses.startswith("actions/upload-artifact@")]
    names = [str(inputs.get("name", "artifact")) for inputs in uploads]
    wanted = policy.comments.visualizer.results
    if step.is_identity("results") and wanted not in names and "${{" not in "".join(names):
        key = "comments.visualizer.results"
        yield step.path, f"No step uploads the artifact {wanted}, by which the policy knows results ({key})."
    path = str(step.inputs.get("priorities", policy.priorities)).rpartition(":")[2]
    if step.is_identity("plan") and "${{" not in path and path != policy.priorities:
        at = (*step.path, "with", "priorities")
        yield at, f"The priorities are read from {path}, but the policy's are in {policy.priorities}."


def _admits_branch(filters: Mapping[str, Any], branch: str) -> bool:
    wanted, unwanted = texts(filters.get("branches")), texts(filters.get("branches-ignore"))
    if not wanted and not unwanted and ("tags" in filters or "tags-ignore" in filters):
        return False  # a push is of a branch or of a tag
    return (not wanted or _admits(wanted, branch)) and not _admits(unwanted, branch)


def _admits(patterns: Iterable[str], name: str) -> bool:
    """The last pattern that fits decides; one with `!` takes back."""
    admitted = False
    for pattern in patterns:
        if compile_glob(pattern.removeprefix("!")).fullmatch(name):
            admitted = not pattern.startswith("!")
    return admitted
