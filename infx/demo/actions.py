"""The project's own composite actions, played as a runner would: their shell lines, with `infx` answered by this process."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infx import yaml12
from infx.demo.repository import DATA
from infx.demo.stage import StoryError

_SHELL = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")  # as runners call it
_END = "\n\0"  # no argument ends so
_ASK = """infx() { printf '%s\\0' "$@" $'\\n' >&3; }; exec 3> "$INFX_ASKED"\n"""
_ANSWER = """infx() { cat "$INFX_ANSWER"; return "$INFX_CODE"; }\n"""
_INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
_TOKEN = "${{ github.token }}"  # noqa: S105 - an expression


@dataclass(frozen=True, kw_only=True)
class ActionStep:
    """One step of an action. directory: where it runs; None: in the workspace."""

    lines: str
    environ: Mapping[str, str]
    directory: str | None


def read_action(name: str, inputs: Mapping[str, str], token: str = "") -> tuple[ActionStep, ...]:
    """Return the steps of an action after the one that installs infx. token: the job's own."""
    action = _read(f"actions/{name}.yml")
    if unknown := inputs.keys() - action["inputs"].keys():
        raise StoryError(f"The action {name} has no inputs {sorted(unknown)}.")
    defaults = {key: str(about.get("default", "")) for key, about in action["inputs"].items()}
    given = {key: value.replace(_TOKEN, token) for key, value in {**defaults, **inputs}.items()}

    def fill(text: str) -> str:
        filled = _INPUT.sub(lambda match: given[match[1]], text)
        if "${{" in filled:
            raise StoryError(f"The demo cannot evaluate {filled} of the action {name}.")
        return filled

    return tuple(
        ActionStep(
            lines=step["run"],
            environ={key: fill(value) for key, value in step.get("env", {}).items()},
            directory=fill(step["working-directory"]) if "working-directory" in step else None,
        )
        for step in action["runs"]["steps"][1:]
    )


def read_permissions(workflow: str, job: str) -> dict[str, str]:
    """Return what the token of a job may do."""
    found: dict[str, str] = _read(f"workflows/{workflow}.yml")["jobs"][job]["permissions"]
    return found


def _read(name: str) -> Any:
    return yaml12.load(DATA.joinpath(name).read_bytes(), name).value


@dataclass(frozen=True, kw_only=True)
class Shell:
    """Runs the lines of a step twice: to see what they ask of infx, and to do with the answer what they do with it.

    scratch: a folder for what passes between us and the shell.
    """

    step: ActionStep
    at: Path
    environ: Mapping[str, str]
    scratch: Path

    def read_arguments(self) -> list[str]:
        """Return the arguments of the one call of infx."""
        asked = self.scratch / "asked"
        self._run(_ASK, INFX_ASKED=str(asked))
        calls = [call.split("\0")[:-1] for call in asked.read_text(encoding="utf-8").split(_END)[:-1]]
        if len(calls) != 1:
            raise StoryError(f"A step calls infx {len(calls)} times, not once: {self.step.lines}")
        return calls[0]

    def answer(self, code: int, out: str) -> None:
        answer = self.scratch / "answer"
        answer.write_text(out, encoding="utf-8")
        self._run(_ANSWER, INFX_ANSWER=str(answer), INFX_CODE=str(code), expect=code)

    def _run(self, infx: str, *, expect: int = 0, **variables: str) -> None:
        environ = {"PATH": os.environ.get("PATH", ""), **self.environ, **variables}
        command = [*_SHELL, infx + self.step.lines]
        try:
            finished = subprocess.run(command, cwd=self.at, env=environ, capture_output=True, check=False)
        except FileNotFoundError:
            raise StoryError("The lines of actions need bash.", hint="Install it.") from None
        if finished.returncode != expect:
            said = finished.stderr.decode(errors="replace")
            raise StoryError(f"A step ended with {finished.returncode} instead of {expect}: {said}")
