"""Run the project's composite actions as a runner does: their shell lines, with `infx` answered by this process."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infx import yaml12
from infx.adoption.workflows import read_workflow
from infx.errors import InfxError, ProblemsError
from infx.hub.tokens import WORKFLOW_SCOPES
from infx.records import record

DATA = Path(__file__).with_name("data")  # the project's own actions

_SHELL = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")  # as runners call it
_END = "\n\0"  # no argument ends like this
_ASK = """infx() { printf '%s\\0' "$PWD" "$@" $'\\n' >&3; }; exec 3> "$INFX_CALLS"\n"""
_ANSWER = """infx() { cat "$INFX_ANSWER"; return "$INFX_CODE"; }\n"""
_INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
_IF = re.compile(r"inputs\.([\w-]+) != ''")
_ALWAYS = "${{ !cancelled() }}"  # no job of the demo is cancelled during an action
_TOKEN = "${{ github.token }}"  # noqa: S105 - an expression


class ActionError(InfxError):
    """An action or a machine that differs from what infx can play."""

    exit_code = 4


@record
class ActionStep:
    """A step of an action."""

    lines: str
    environ: Mapping[str, str]
    directory: str | None  # None: the workspace
    is_always: bool = False  # runs after a failed step, too
    may_fail: bool = False


def read_action(name: str, inputs: Mapping[str, str], token: str = "") -> tuple[ActionStep, ...]:
    """Return the steps of an action after the step that installs infx; `token` is the job's."""
    action = _read(f"actions/{name}.yml")
    if unknown := inputs.keys() - action["inputs"].keys():
        raise ActionError(f"The action {name} has no inputs {sorted(unknown)}.")
    defaults = {key: str(about.get("default", "")) for key, about in action["inputs"].items()}
    values = {key: value.replace(_TOKEN, token) for key, value in {**defaults, **inputs}.items()}

    def fill(text: str) -> str:
        filled = _INPUT.sub(lambda match: values[match[1]], text)
        if "${{" in filled:
            raise ActionError(f"infx cannot evaluate {filled} of the action {name}.")
        return filled

    def runs(step: Mapping[str, Any]) -> bool:
        condition = str(step.get("if", "")).removeprefix(_ALWAYS)
        match = _IF.fullmatch(condition)
        if condition and match is None:
            raise ActionError(f"infx cannot evaluate the condition {condition} of the action {name}.")
        return match is None or bool(values[match[1]])

    return tuple(
        ActionStep(
            lines=step["run"],
            environ={key: fill(value) for key, value in step.get("env", {}).items()},
            directory=fill(step["working-directory"]) if "working-directory" in step else None,
            is_always=_ALWAYS in str(step.get("if", "")),
            may_fail=step.get("continue-on-error") is True,
        )
        for step in action["runs"]["steps"][1:]
        if runs(step)
    )


def read_permissions(workflow: str, job: str) -> dict[str, str]:
    """Return the permissions that infx's own workflow gives to a job's token."""
    jobs = yaml12.load(read_workflow(workflow).encode(), workflow).value["jobs"]
    permissions: dict[str, str] = jobs[job]["permissions"]
    return permissions


def find_permissions(workflows: Mapping[str, bytes], action: str) -> dict[str, str] | None:
    """Return the permissions of the first job that uses an action of infx, or None if no job does.

    Args:
        workflows: file name → content, from a repository that adopts infx.
    """
    for name, data in sorted(workflows.items()):
        for job, whole in _find_jobs(data, name):
            steps = job.get("steps")
            used = (
                [str(step.get("uses")) for step in steps if isinstance(step, dict)]
                if isinstance(steps, list)
                else []
            )
            if any(re.search(rf"/\.github/actions/{action}(?:@|$)", use) for use in used):
                return _expand_permissions(job.get("permissions", whole))
    return None


def _find_jobs(data: bytes, name: str) -> list[tuple[dict[str, Any], Any]]:
    """Return the jobs of a workflow with the permissions of the whole file; none for a file that is not valid."""
    try:
        value = yaml12.load(data, name).value
    except ProblemsError:
        return []
    jobs = value.get("jobs") if isinstance(value, dict) else None
    values = jobs.values() if isinstance(jobs, dict) else ()
    return [(job, value.get("permissions")) for job in values if isinstance(job, dict)]


def _expand_permissions(permissions: Any) -> dict[str, str] | None:
    """Return permissions as a mapping; None if the file leaves them to the repository's settings."""
    if isinstance(permissions, str):
        return dict.fromkeys(WORKFLOW_SCOPES, permissions.removesuffix("-all"))
    return (
        {str(scope): str(access) for scope, access in permissions.items()}
        if permissions is not None
        else None
    )


def _read(name: str) -> Any:
    return yaml12.load(DATA.joinpath(name).read_bytes(), name).value


@record
class ShellCall:
    """A call of infx in a shell."""

    at: Path  # the folder
    arguments: tuple[str, ...]


@record
class Shell:
    """A shell that runs the lines of a step twice: first to learn the arguments of infx, then with its output."""

    step: ActionStep
    at: Path
    environ: Mapping[str, str]
    scratch: Path  # a folder for files that this process and the shell exchange

    def read_call(self) -> ShellCall | None:
        """Return the step's only call of infx, or None if its lines need no call."""
        calls_file = self.scratch / "calls"
        self._run(_ASK, INFX_CALLS=str(calls_file))
        calls = [call.split("\0")[:-1] for call in calls_file.read_text(encoding="utf-8").split(_END)[:-1]]
        if not calls:
            return None
        if len(calls) > 1:
            raise ActionError(f"A step calls infx {len(calls)} times, not once: {self.step.lines}")
        folder, *arguments = calls[0]
        return ShellCall(at=Path(folder), arguments=tuple(arguments))

    def answer(self, code: int, out: str) -> None:
        """Run the lines again, with the exit code and the output that infx has for them."""
        answer = self.scratch / "answer"
        answer.write_text(out, encoding="utf-8")
        self._run(_ANSWER, INFX_ANSWER=str(answer), INFX_CODE=str(code), expect=code)

    def _run(self, infx: str, *, expect: int = 0, **variables: str) -> None:
        environ = {"PATH": os.environ.get("PATH", ""), **self.environ, **variables}
        command = [*_SHELL, infx + self.step.lines]
        try:
            finished = subprocess.run(command, cwd=self.at, env=environ, capture_output=True, check=False)
        except FileNotFoundError:
            raise ActionError("The actions need bash, which was not found.", hint="Install bash.") from None
        if finished.returncode != expect:
            errors = finished.stderr.decode(errors="replace")
            raise ActionError(f"A step ended with {finished.returncode} instead of {expect}: {errors}")
