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
from infx.demo.repository import DATA
from infx.demo.stage import StoryError
from infx.records import record

_SHELL = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")  # as runners call it
_END = "\n\0"  # no argument ends like this
_ASK = """infx() { printf '%s\\0' "$PWD" "$@" $'\\n' >&3; }; exec 3> "$INFX_CALLS"\n"""
_ANSWER = """infx() { cat "$INFX_ANSWER"; return "$INFX_CODE"; }\n"""
_INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
_IF = re.compile(r"inputs\.([\w-]+) != ''")
_ALWAYS = "${{ !cancelled() }}"  # no job of the demo is cancelled during an action
_TOKEN = "${{ github.token }}"  # noqa: S105 - an expression


@record
class ActionStep:
    """A step of an action."""

    lines: str
    environ: Mapping[str, str]
    directory: str | None  # None: the workspace


def read_action(name: str, inputs: Mapping[str, str], token: str = "") -> tuple[ActionStep, ...]:
    """Return the steps of an action after the step that installs infx; `token` is the job's."""
    action = _read(f"actions/{name}.yml")
    if unknown := inputs.keys() - action["inputs"].keys():
        raise StoryError(f"The action {name} has no inputs {sorted(unknown)}.")
    defaults = {key: str(about.get("default", "")) for key, about in action["inputs"].items()}
    values = {key: value.replace(_TOKEN, token) for key, value in {**defaults, **inputs}.items()}

    def fill(text: str) -> str:
        filled = _INPUT.sub(lambda match: values[match[1]], text)
        if "${{" in filled:
            raise StoryError(f"The demo cannot evaluate {filled} of the action {name}.")
        return filled

    def runs(step: Mapping[str, Any]) -> bool:
        condition = str(step.get("if", "")).removeprefix(_ALWAYS)
        match = _IF.fullmatch(condition)
        if condition and match is None:
            raise StoryError(f"The demo cannot evaluate the condition {condition} of the action {name}.")
        return match is None or bool(values[match[1]])

    return tuple(
        ActionStep(
            lines=step["run"],
            environ={key: fill(value) for key, value in step.get("env", {}).items()},
            directory=fill(step["working-directory"]) if "working-directory" in step else None,
        )
        for step in action["runs"]["steps"][1:]
        if runs(step)
    )


def read_permissions(workflow: str, job: str) -> dict[str, str]:
    """Return the permissions of a job's token."""
    jobs = yaml12.load(read_workflow(workflow).encode(), workflow).value["jobs"]
    permissions: dict[str, str] = jobs[job]["permissions"]
    return permissions


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

    def read_call(self) -> ShellCall:
        """Return the step's only call of infx."""
        calls_file = self.scratch / "calls"
        self._run(_ASK, INFX_CALLS=str(calls_file))
        calls = [call.split("\0")[:-1] for call in calls_file.read_text(encoding="utf-8").split(_END)[:-1]]
        if len(calls) != 1:
            raise StoryError(f"A step calls infx {len(calls)} times, not once: {self.step.lines}")
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
            raise StoryError("The actions need bash, which was not found.", hint="Install bash.") from None
        if finished.returncode != expect:
            errors = finished.stderr.decode(errors="replace")
            raise StoryError(f"A step ended with {finished.returncode} instead of {expect}: {errors}")
