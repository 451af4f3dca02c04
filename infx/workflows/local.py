"""Find actions and workflows that a file uses by a path, but that its repository does not have."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from infx.policy.model import Policy
from infx.rules import Finding, Path
from infx.workflows.model import ActionFile, Workflow, WorkflowStep

_USES = re.compile(rb"""\buses["']?\s*:\s*["']?[.$]/([\w./-]*)""")
_FILES = ("action.yml", "action.yaml", "Dockerfile")
_REPLACE = "Use <owner>/infx/.github/actions/<name>@<commit>; infx's docs/workflows.md has a command that replaces all paths."


def find_local_paths(data: bytes) -> set[str]:
    """Return the paths at which the actions may be that a file uses by `./`."""
    # A checkout step may have put the repository into any folder, so every end of a path may be the action's.
    folders = set()
    for match in _USES.finditer(data):
        parts = [part for part in match[1].decode().split("/") if part not in {"", "."}]
        if ".." not in parts:
            folders |= {"/".join(parts[start:]) for start in range(len(parts) + 1)}
    return {f"{folder}/{name}".lstrip("/") for folder in folders for name in _FILES}


def find_missing_actions(file: Workflow, policy: Policy) -> Iterator[Finding[Path]]:
    """Find local actions and workflows that will not exist when a job's step uses them."""
    for job in file.jobs:
        if (called := _find_local_path(job.uses or "")) is not None and called not in file.known:
            message = f"The job {job.id} calls {job.uses}, which does not exist in this repository."
            yield Finding(at=(*job.path, "uses"), message=message, hint="Add the file, or correct the path.")
        for index, step in enumerate(job.steps):
            if not _is_available(step, job.steps[:index], policy, file.known):
                yield _make_finding(step)


def find_missing_actions_of_action(file: ActionFile, _: Policy) -> Iterator[Finding[Path]]:
    """Find actions that a composite action uses by a path, but that do not exist."""
    # Such a path starts in the workspace of the calling job, where the checkout may be in a folder of any name.
    for step in file.steps:
        folder = _find_local_path(step.uses)
        if folder is not None and not any(
            _exists(candidate, file.known) for candidate in (folder, folder.partition("/")[2])
        ):
            yield _make_finding(step)


def _find_local_path(uses: str) -> str | None:
    """Return the path of a local action, relative to the workspace, or for `$/` to the repository."""
    return uses[2:].strip("/") if uses.startswith(("./", "$/")) else None


def _is_available(
    step: WorkflowStep, earlier: tuple[WorkflowStep, ...], policy: Policy, known: Collection[str]
) -> bool:
    """Return whether a step finds its action in a checkout, or in files that an earlier script may have made."""
    folder = _find_local_path(step.uses)
    if folder is None:
        return True
    for checkout in reversed(
        [other for other in earlier if other.is_checkout and not step.uses.startswith("$/")]
    ):
        place = str(checkout.inputs.get("path", "")).removeprefix("./").strip("/")
        place = "" if place == "." else place
        if f"{folder}/".startswith(f"{place}/" if place else ""):
            repository = str(checkout.inputs.get("repository", policy.repository or ""))
            own_names = {policy.repository or "", *policy.former_names, "${{ github.repository }}"}
            return repository not in own_names or _exists(folder.removeprefix(place).strip("/"), known)
    first_part = re.compile(rf"(?<![\w.-]){re.escape(folder.partition('/')[0])}(?![\w.-])")
    return _exists(folder, known) or any(first_part.search(other.run) for other in earlier)


def _exists(folder: str, known: Collection[str]) -> bool:
    return any(f"{folder}/{name}".lstrip("/") in known for name in _FILES)


def _make_finding(step: WorkflowStep) -> Finding[Path]:
    return Finding(
        at=(*step.path, "uses"),
        message=f"{step.uses} does not exist in this repository.",
        hint=_REPLACE if step.uses_infx(r"[\w-]+") else "Add the action, or correct the path.",
    )
