"""The rule about actions and workflows that a file uses by a path of its own repository."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from infx.policy.model import Policy
from infx.rules import Finding, Path
from infx.workflows.model import ActionFile, Workflow, WorkflowStep

_USES = re.compile(rb"""\buses["']?\s*:\s*["']?[.$]/([\w./-]*)""")
_FILES = ("action.yml", "action.yaml", "Dockerfile")
_REPLACE = "Write <owner>/infx/.github/actions/<name>@<commit>; infx's docs/workflows.md has one command that replaces all."


def find_local_paths(data: bytes) -> set[str]:
    """Return where the actions may be that a file uses by `./`: a checkout can lay the repository into any folder."""
    folders = set()
    for match in _USES.finditer(data):
        parts = [part for part in match[1].decode().split("/") if part not in {"", "."}]
        if ".." not in parts:
            folders |= {"/".join(parts[start:]) for start in range(len(parts) + 1)}
    return {f"{folder}/{name}".lstrip("/") for folder in folders for name in _FILES}


def missing_actions(file: Workflow, policy: Policy) -> Iterator[Finding[Path]]:
    """What is used by a path must be there when the job comes to it."""
    for job in file.jobs:
        if (called := _local(job.uses or "")) is not None and called not in file.known:
            message = f"The job {job.id} calls {job.uses}, which does not exist in this repository."
            yield Finding(
                at=(*job.path, "uses"), message=message, hint="Add the file, or name the right one."
            )
        for index, step in enumerate(job.steps):
            if not _is_there(step, job.steps[:index], policy, file.known):
                yield _missing(step)


def missing_actions_of_action(file: ActionFile, _: Policy) -> Iterator[Finding[Path]]:
    """An action's paths begin in the workspace of whoever uses it, where a checkout may have its own folder."""
    for step in file.steps:
        folder = _local(step.uses)
        if folder is not None and not any(
            _exists(below, file.known) for below in (folder, folder.partition("/")[2])
        ):
            yield _missing(step)


def _local(uses: str) -> str | None:
    """Return the path that begins in the workspace, or with `$/` in the repository."""
    return uses[2:].strip("/") if uses.startswith(("./", "$/")) else None


def _is_there(
    step: WorkflowStep, before: tuple[WorkflowStep, ...], policy: Policy, known: Collection[str]
) -> bool:
    """Whether a step finds its action in what an earlier step has laid out, or may have."""
    folder = _local(step.uses)
    if folder is None:
        return True
    for checkout in reversed([one for one in before if one.is_checkout and not step.uses.startswith("$/")]):
        place = str(checkout.inputs.get("path", "")).removeprefix("./").strip("/")
        place = "" if place == "." else place
        if f"{folder}/".startswith(f"{place}/" if place else ""):
            repository = str(checkout.inputs.get("repository", policy.repository or ""))
            own = {policy.repository or "", *policy.former_names, "${{ github.repository }}"}
            return repository not in own or _exists(folder.removeprefix(place).strip("/"), known)
    first = re.compile(rf"(?<![\w.-]){re.escape(folder.partition('/')[0])}(?![\w.-])")
    return _exists(folder, known) or any(first.search(one.run) for one in before)  # a script may have made it


def _exists(folder: str, known: Collection[str]) -> bool:
    return any(f"{folder}/{name}".lstrip("/") in known for name in _FILES)


def _missing(step: WorkflowStep) -> Finding[Path]:
    return Finding(
        at=(*step.path, "uses"),
        message=f"{step.uses} does not exist in this repository.",
        hint=_REPLACE if step.is_identity(r"[\w-]+") else "Add it, or name the right one.",
    )
