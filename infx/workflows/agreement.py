"""Rules about what a file and the policy both say: labels, required checks, branches, names, paths, commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from infx.errors import Level, Problem
from infx.policy.model import Policy
from infx.policy.paths import compile_glob
from infx.signoff.wake import wake_words
from infx.workflows import expressions
from infx.workflows.expressions import CANCELLED, FAILED, RUNNING, Node, Value
from infx.workflows.finding import Finding
from infx.workflows.model import Action, Job, Step, Workflow, scalars, texts

_SAME = "Spell the same in both."
_BODY, _BEFORE = "github.event.comment.body", "github.event.changes.body.from"
# Every action of infx: a workflow that uses one repeats parts of the policy.
_ACTIONS = ("approve", "changelog", "gate", "plan", "reconcile", "results", "row", "rows", "signoff")


def label_literals(file: Workflow | Action, policy: Policy) -> Iterator[Finding]:
    """What a label means stands in the policy and nowhere else."""
    from difflib import get_close_matches

    lower = {name.lower() for name in policy.labels.names}
    for scalar in scalars(file.document):
        for node in scalar.expressions:
            reads_labels = any("label" in name for name in expressions.names(node))
            for text in expressions.literals(node):
                is_own_word = reads_labels or not text.isalnum()  # a plain word may mean anything elsewhere
                if text.lower() in lower and is_own_word:
                    message = (
                        f"The label {text!r} is spelled in a condition. Labels are the policy's business."
                    )
                    yield Finding(path=scalar.path, message=message, hint="Use an output of infx gate.")
            for text in _label_texts(node):
                near = get_close_matches(text.lower(), lower, n=1, cutoff=0.8)
                if near and text.lower() not in lower:  # other labels are none of a sweep's
                    message = f"The condition asks for the label {text!r}, which the policy does not know."
                    yield Finding(
                        path=scalar.path, message=message, hint="Add it to the policy and ask infx gate."
                    )


def _label_texts(node: Node) -> Iterator[str]:
    """Texts that are compared with a pull request's labels, or looked for among them."""
    for name in dict.fromkeys(expressions.names(node)):
        if name.endswith(("labels.*.name", "event.label.name")):
            yield from expressions.compared_texts(node, name)


def required_checks(file: Workflow, policy: Policy) -> Iterator[Finding]:
    """A required check that does not start stays pending for ever; one that is skipped counts as passed."""
    for job in file.jobs:
        if job.name not in policy.workflows.required_checks:
            continue
        for event in ("pull_request", "merge_group"):
            filters = file.filters(event)
            for key in ("paths", "paths-ignore"):
                if key in filters:
                    message = f"The check {job.name} is required, but {event} is filtered by {key}."
                    yield Finding(path=("on", event, key), message=message, hint="Remove the filter.")
            if not _admits_branch(filters, policy.base_branch):
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
        if job.needs and not all(
            expressions.always_holds(job.asks, state, "needs.") for state in (FAILED, CANCELLED)
        ):
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


def policy_mismatches(file: Workflow, policy: Policy) -> Iterator[Finding]:
    """Where a file must repeat what the policy says, both say the same; else nothing starts, and nothing says why."""
    is_ours = file.path == policy.sweep.workflow or any(step.is_ours(*_ACTIONS) for _, step in file.steps)
    if not is_ours:
        return
    yield from _filter_mismatches(file, policy)
    if file.path == policy.sweep.workflow and policy.sweep.job not in {job.id for job in file.jobs}:
        message = f"There is no job {policy.sweep.job}, by which the policy knows a sweep."
        yield Finding(path=("jobs",), message=message, hint=_SAME)
    followed = {"sweep.workflow": policy.sweep.workflow}
    for job, step in file.steps:
        if (
            step.is_ours("gate")
            and "pull_request" in file.events
            and policy.sweep.workflow not in file.siblings
        ):
            message = f"The policy's sweep.workflow is {policy.sweep.workflow}, which does not exist here."
            yield Finding(path=step.path, message=message, hint=_SAME)
        if step.is_ours("signoff"):
            followed["signoff.relay-workflow"] = policy.signoff.relay_workflow
            words = {word: _origin(word, policy) for word in wake_words(policy)}
            yield from _word_mismatches(file, job, step, words)
        if step.is_ours("approve"):
            words = {policy.sweep.approve_command: "sweep.approve-command"}
            yield from _word_mismatches(file, job, step, words)
        if step.is_ours("results"):
            yield from _artifact_mismatches(file, step, policy)
        if step.is_ours("plan"):
            yield from _priority_mismatches(step, policy)
    yield from _run_mismatches(file, followed)


def _filter_mismatches(file: Workflow, policy: Policy) -> Iterator[Finding]:
    """Events of the base branch, and changes of the changelog, must come through."""
    names = {job.name for job in file.jobs}
    for event in ("pull_request", "push", "merge_group"):
        filters = file.filters(event)
        is_required = event != "push" and not names.isdisjoint(policy.workflows.required_checks)
        if not is_required and not _admits_branch(filters, policy.base_branch):
            message = f"{event} leaves out {policy.base_branch}, which is the policy's base branch."
            yield Finding(path=("on", event), message=message, hint=_SAME)
        paths, without = texts(filters.get("paths")), texts(filters.get("paths-ignore"))
        if (paths and not _admits(paths, policy.changelog)) or _admits(without, policy.changelog):
            message = f"{event} leaves out {policy.changelog}, which is the policy's changelog."
            key = "paths" if paths else "paths-ignore"
            yield Finding(path=("on", event, key), message=message, hint=_SAME)


def _run_mismatches(file: Workflow, followed: Mapping[str, str]) -> Iterator[Finding]:
    """A workflow that follows runs of others names them as these files do. followed: key of the policy → path."""
    if "workflow_run" not in file.events or not any(
        step.is_ours("reconcile", "signoff") for _, step in file.steps
    ):
        return
    at = ("on", "workflow_run", "workflows")
    names = texts(file.filters("workflow_run").get("workflows"))
    for key, path in followed.items():
        other = file.siblings.get(path)
        if other is None:
            message = f"The policy's {key} is {path}, which does not exist here."
            yield Finding(path=at, message=message, hint="Add the file, or name the right one in the policy.")
        elif other.name not in names:
            message = f"workflow_run does not name {other.name}, which is the policy's {key} ({path})."
            yield Finding(path=at, message=message, hint="Add it to the workflows.")
        elif key == "signoff.relay-workflow" and "pull_request_review" not in other.events:
            message = f"{path} is the policy's {key}, but no review starts it."
            yield Finding(path=at, message=message, hint="Add pull_request_review to its events.")


def _word_mismatches(file: Workflow, job: Job, step: Step, words: Mapping[str, str]) -> Iterator[Finding]:
    """A filter of comments lets through what holds a word of the policy, and nothing else.

    words: each with the key of the policy that it comes from.
    """
    asks = [job.asks, expressions.parse_condition(step.condition)]
    at = (*job.path, "if") if job.condition else (*step.path, "if")
    given = [
        text for node in asks for name in (_BODY, _BEFORE) for text in expressions.compared_texts(node, name)
    ]
    places = [_BODY]
    if "edited" in texts(file.filters("issue_comment").get("types")):
        places.append(_BEFORE)
    for word, key in words.items():
        for place in places:
            if not _starts(asks, place, word):
                when = "a comment" if place == _BODY else "an edit of a comment"
                message = (
                    f"The job {job.id} does not start for {when} with {word}, which is the policy's {key}."
                )
                yield Finding(path=at, message=message, hint=_SAME)
    for text in dict.fromkeys(given):
        known = any(word.casefold() in text.casefold() for word in words)
        if not known and any(_starts(asks, place, text) for place in places):
            message = f"The job {job.id} starts for a comment with {text!r}, which the policy does not know."
            yield Finding(path=at, message=message, hint=_SAME)


def _starts(asks: list[Node], place: str, text: str) -> bool:
    world: dict[str, Value] = {"github.event_name": "issue_comment", _BODY: "", _BEFORE: "", place: text}
    return expressions.can_hold(asks, {**RUNNING[0], **world})


def _origin(word: str, policy: Policy) -> str:
    if word == policy.signoff.settle_command:
        return "signoff.settle-command"
    return "reuse.commands" if word in policy.reuse.commands else "signoff.phrase"


def _artifact_mismatches(file: Workflow, step: Step, policy: Policy) -> Iterator[Finding]:
    wanted = policy.comments.visualizer.results
    uploads = [other for _, other in file.steps if other.uses.startswith("actions/upload-artifact@")]
    names = [str(upload.inputs.get("name", "artifact")) for upload in uploads]
    if wanted not in names and not any("${{" in name for name in names):
        message = (
            f"No step uploads the artifact {wanted}, by which the policy (comments.visualizer.results) knows "
            "that a run has results."
        )
        yield Finding(path=step.path, message=message, hint=_SAME)


def _priority_mismatches(step: Step, policy: Policy) -> Iterator[Finding]:
    given = step.inputs.get("priorities")
    path = str(given).rpartition(":")[2]
    if given is not None and "${{" not in path and path != policy.priorities:
        message = f"The priorities are read from {path}, but the policy's are in {policy.priorities}."
        yield Finding(path=(*step.path, "with", "priorities"), message=message, hint=_SAME)


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
