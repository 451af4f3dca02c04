"""Compare files with the policy: labels, required checks, branches, names, paths, commands."""

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
from infx.workflows.model import ActionFile, Workflow, WorkflowJob, WorkflowStep, find_nodes, parse_texts

_BODY, _BODY_BEFORE_EDIT = "github.event.comment.body", "github.event.changes.body.from"
# A workflow that uses one of infx's actions repeats values of the policy.
_ACTIONS = (
    "approve",
    "changelog",
    "gate",
    "merge",
    "plan",
    "publish",
    "reconcile",
    "results",
    "row",
    "rows",
    "signoff",
    "stage",
    "stats",
)


def find_label_literals(file: Workflow | ActionFile, policy: Policy) -> Iterator[Finding[Path]]:
    """Find conditions that name a label, which only the policy should do."""
    from difflib import get_close_matches

    lower = {name.lower() for name in policy.labels.names}
    for path, node in find_nodes(file.document.value):
        reads_labels = any("label" in name for name in expressions.find_names(node))
        for text in expressions.find_literals(node):
            # A plain word may mean anything where no labels are read.
            if text.lower() in lower and (reads_labels or not text.isalnum()):
                message = f"The condition names the label {text!r}. Only the policy should name labels."
                yield Finding(at=path, message=message, hint="Use an output of infx gate.")
        for text in _find_label_texts(node):
            similar = get_close_matches(text.lower(), lower, n=1, cutoff=0.8)
            if (
                similar and text.lower() not in lower
            ):  # labels unlike the policy's have nothing to do with sweeps
                message = f"The condition names the label {text!r}, which is not in the policy."
                hint = "Add the label to the policy and use an output of infx gate."
                yield Finding(at=path, message=message, hint=hint)


def _find_label_texts(node: Node) -> Iterator[str]:
    """Yield the texts that a node compares with a pull request's labels."""
    for name in dict.fromkeys(expressions.find_names(node)):
        if name.endswith(("labels.*.name", "event.label.name")):
            yield from expressions.find_compared_texts(node, name)


def check_required_checks(file: Workflow, policy: Policy) -> Iterator[Finding[Path]]:
    """Find required checks that may not start, and stay pending, or may be skipped, which counts as passed."""
    for job in file.jobs:
        if job.name in policy.workflows.required_checks:
            for path, reason, hint in _find_obstacles(job, file, policy.base_branch):
                message = f"The check {job.name} is required, but {reason}."
                yield Finding(at=path, message=message, hint=hint)
            if "merge_group" not in file.events:
                message = f"The check {job.name} is required, but a merge queue would wait for it forever."
                hint = "Add merge_group to the events."
                yield Finding(at=("on",), message=message, hint=hint, level=Level.WARNING)


def _find_obstacles(job: WorkflowJob, file: Workflow, base_branch: str) -> Iterator[tuple[Path, str, str]]:
    """Yield a path, a reason and a hint for everything that keeps the check from starting."""
    for event in ("pull_request", "merge_group"):
        filters = file.get_filters(event)
        for key in {"paths", "paths-ignore"} & set(filters):
            yield ("on", event, key), f"{event} is filtered by {key}", "Remove the filter."
        if not _admits_branch(filters, base_branch):
            yield ("on", event), f"{event} excludes {base_branch}", "Add the branch, or remove the filter."
    types = parse_texts(file.get_filters("pull_request").get("types"))
    if types and (missing := sorted({"opened", "synchronize", "reopened"} - set(types))):
        at = ("on", "pull_request", "types")
        yield at, f"the types of pull_request lack {', '.join(missing)}", "Add them to the types."
    if job.uses is not None or job.matrix is not None:
        reason = "its name depends on its matrix or on the workflow that it calls"
        yield job.path, reason, "Require instead a job without a matrix that needs this job."
    states = (FAILED, CANCELLED)
    if job.needs and not all(
        expressions.always_holds(job.parsed_condition, state, "needs.") for state in states
    ):
        reason = "it is skipped, which counts as passed, when an earlier job fails"
        yield job.path, reason, "Add if: always() and check the results of the earlier jobs in a step."


def find_absent_checks(workflows: Iterable[Workflow], policy: Policy) -> Iterator[Problem]:
    """Warn about required checks that no job reports: unless another service does, they stay pending forever."""
    jobs = {job.name for workflow in workflows for job in workflow.jobs}
    statuses = {policy.sweep.contexts.sweep, policy.sweep.contexts.approval, policy.signoff.status}
    for name in policy.workflows.required_checks:
        if jobs and name not in jobs | statuses:
            yield Problem(
                rule="required-check",
                message=f"The policy requires the check {name}, but no job here has this name.",
                path=".github/workflows",
                hint="Add the job. If no other service reports the check, remove it from workflows.required-checks.",
                level=Level.WARNING,
            )


def find_policy_mismatches(file: Workflow, policy: Policy) -> Iterator[Finding[Path]]:
    """Find values that a file must repeat from the policy, but that differ: with them, nothing starts, silently."""
    if file.path == policy.sweep.workflow or any(step.uses_infx(*_ACTIONS) for step in file.steps):
        differences = [*_compare_filters(file, policy), *_compare_runs(file, policy)]
        for job in file.jobs:
            for step in job.steps:
                differences += [*_compare_words(file, job, step, policy), *_compare_names(file, step, policy)]
        for path, message in differences:
            yield Finding(at=path, message=message, hint="Use the same value in both.")


def _compare_filters(file: Workflow, policy: Policy) -> Iterator[tuple[Path, str]]:
    """Yield the filters that exclude the base branch or the changelog."""
    names = {job.name for job in file.jobs}
    for event in ("pull_request", "push", "merge_group"):
        filters = file.get_filters(event)
        is_required = event != "push" and not names.isdisjoint(policy.workflows.required_checks)
        if not is_required and not _admits_branch(filters, policy.base_branch):
            yield (
                ("on", event),
                f"{event} excludes {policy.base_branch}, which is the policy's base branch.",
            )
        paths, ignored_paths = parse_texts(filters.get("paths")), parse_texts(filters.get("paths-ignore"))
        if (paths and not _admits(paths, policy.changelog)) or _admits(ignored_paths, policy.changelog):
            at = ("on", event, "paths" if paths else "paths-ignore")
            yield at, f"{event} excludes {policy.changelog}, which is the policy's changelog."


def _compare_runs(file: Workflow, policy: Policy) -> Iterator[tuple[Path, str]]:
    """Yield workflows and jobs of the policy that do not exist, or that `workflow_run` does not name."""
    if file.path == policy.sweep.workflow and policy.sweep.job not in {job.id for job in file.jobs}:
        yield ("jobs",), f"There is no job {policy.sweep.job}, which is the policy's sweep.job."
    used = [name for step in file.steps for name in _ACTIONS if step.uses_infx(name)]
    followed = {"sweep.workflow": policy.sweep.workflow}
    if "signoff" in used:
        followed["signoff.relay-workflow"] = policy.signoff.relay_workflow
    names = parse_texts(file.get_filters("workflow_run").get("workflows"))
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
    """Yield words of the policy that do not start a job, and words that start it but are not in the policy."""
    words = {policy.sweep.approve_command: "sweep.approve-command"} if step.uses_infx("approve") else {}
    if step.uses_infx("merge"):
        words = {policy.merge.command: "merge.command"}
    if step.uses_infx("stage"):
        words = {policy.publish.stage.command: "publish.stage.command"}
    if step.uses_infx("signoff"):
        keys = {policy.signoff.settle_command: "signoff.settle-command"}
        keys |= dict.fromkeys(policy.reuse.commands, "reuse.commands")
        words = {word: keys.get(word, "signoff.phrase") for word in list_trigger_words(policy)}
    if step.uses_infx("reconcile") and "issue_comment" in file.events:
        words = dict.fromkeys(policy.reuse.commands, "reuse.commands")
    conditions = [job.parsed_condition, expressions.parse_condition(step.condition)]
    at = (*(job if job.condition else step).path, "if")
    places = {_BODY: "a comment"}
    if "edited" in parse_texts(file.get_filters("issue_comment").get("types")):
        places[_BODY_BEFORE_EDIT] = "an edit of a comment"
    for (word, key), place in itertools.product(words.items(), places):
        if not _can_start(conditions, place, word):
            yield (
                at,
                f"The job {job.id} does not start for {places[place]} with {word}, which is the policy's {key}.",
            )
    compared_texts = [
        text
        for node in conditions
        for place in places
        for text in expressions.find_compared_texts(node, place)
    ]
    for text in dict.fromkeys(compared_texts) if words else ():
        is_in_policy = any(word.casefold() in text.casefold() for word in words)
        if not is_in_policy and any(_can_start(conditions, place, text) for place in places):
            yield at, f"The job {job.id} starts for a comment with {text!r}, which is not in the policy."


def _can_start(conditions: list[Node], place: str, text: str) -> bool:
    """Return whether the conditions can hold when a comment has this text, now or before an edit."""
    world: dict[str, Value] = {
        "github.event_name": "issue_comment",
        _BODY: "",
        _BODY_BEFORE_EDIT: "",
        place: text,
    }
    return expressions.can_hold([(node, {**RUNNING[0], **world}) for node in conditions])


def _compare_names(file: Workflow, step: WorkflowStep, policy: Policy) -> Iterator[tuple[Path, str]]:
    """Yield a wrong artifact for results, and a wrong file for a plan, unless an expression makes the name."""
    uploads = [other.inputs for other in file.steps if other.uses.startswith("actions/upload-artifact@")]
    names = [str(inputs.get("name", "artifact")) for inputs in uploads]
    wanted = policy.comments.visualizer.results
    if step.uses_infx("results") and wanted not in names and "${{" not in "".join(names):
        key = "comments.visualizer.results"
        yield step.path, f"No step uploads the artifact {wanted}, which is the policy's {key}."
    files = (
        ("plan", "priorities", policy.priorities),
        ("plan", "thresholds", policy.eval_thresholds),
        ("plan", "clusters", policy.clusters),
        ("stats", "runner-config", policy.runners),
    )
    for action, name, named in files:
        path = str(step.inputs.get(name, named)).rpartition(":")[2]
        is_named = path == named or path.endswith(f"/{named}")  # a checkout may be in a folder
        if step.uses_infx(action) and "${{" not in path and not is_named:
            at = (*step.path, "with", name)
            what = "runners" if name == "runner-config" else name
            yield at, f"The {what} are read from {path}, but the policy names {named}."


def _admits_branch(filters: Mapping[str, Any], branch: str) -> bool:
    wanted, unwanted = parse_texts(filters.get("branches")), parse_texts(filters.get("branches-ignore"))
    if not wanted and not unwanted and ("tags" in filters or "tags-ignore" in filters):
        return False  # a filter of tags alone excludes pushes of branches
    return (not wanted or _admits(wanted, branch)) and not _admits(unwanted, branch)


def _admits(patterns: Iterable[str], name: str) -> bool:
    """Return whether the last pattern that matches the name is one without `!`."""
    admitted = False
    for pattern in patterns:
        if compile_glob(pattern.removeprefix("!")).fullmatch(name):
            admitted = not pattern.startswith("!")
    return admitted
