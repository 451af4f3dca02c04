"""Make the files of a repository, and compare them with those that exist. Nothing that exists is replaced."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

from infx import yaml12
from infx.adoption.answers import Answers, RegisteredRunner
from infx.adoption.policy import render_policy
from infx.adoption.stubs import ROW_SCRIPT, make_stubs
from infx.adoption.workflows import render_shadow, render_workflows
from infx.policy import POLICY_PATH
from infx.policy.load import default_policy, parse_policy
from infx.records import record


class FilePart(StrEnum):
    """The pull request that adds a file: workflows come after the policy that they read from the base branch."""

    SHADOW = (
        "shadow"  # only for those who ask for it: the policy comes with it, because no step of it fails a run
    )
    CONFIGS = "configs"
    WORKFLOWS = "workflows"


class FileState(StrEnum):
    """The difference between a file and the text that infx made for it.

    `kept` files are the repository's own after their first version, so their text is not compared.
    """

    NEW = "new"
    SAME = "same"
    KEPT = "kept"
    DIFFERENT = "different"


@record
class MadeFile:
    """A file that infx made for a repository, next to its current bytes.

    Attributes:
        current: None if the file does not exist.
    """

    path: str
    text: str
    part: FilePart
    current: bytes | None

    @property
    def state(self) -> FileState:
        if self.current is None:
            return FileState.NEW
        if self.current == self.text.encode():
            return FileState.SAME
        return FileState.KEPT if self.part is FilePart.CONFIGS else FileState.DIFFERENT


def make_files(answers: Answers, read: Callable[[str], bytes | None]) -> tuple[MadeFile, ...]:
    """Return all files that a repository with these answers needs. Raises ProblemsError for an invalid policy.

    read: returns the bytes of a file of the repository, or None.
    """
    has_configs = any(read(path) is not None for path in answers.master_configs)
    policy_text = render_policy(answers)
    policy_data = read(POLICY_PATH)
    policy = parse_policy(policy_text.encode() if policy_data is None else policy_data, POLICY_PATH)
    runners = answers.runners or find_runners(read(answers.runners_file) or b"", answers.runners_file)
    has_launcher = (
        read(answers.clusters) is not None or policy.sweep.row_command != default_policy().sweep.row_command
    )
    stubs = make_stubs(
        answers,
        runners,
        has_configs=has_configs,
        has_launcher=has_launcher,
        has_script=read(ROW_SCRIPT) is not None,
    )
    workflows = render_workflows(
        policy, answers.pin, has_signoffs=answers.has_signoffs, has_app=answers.app is not None
    )
    parts = (
        (FilePart.CONFIGS, {POLICY_PATH: policy_text, **stubs}),
        (FilePart.WORKFLOWS, workflows),
        (FilePart.SHADOW, render_shadow(policy, answers.pin)),
    )
    return tuple(
        MadeFile(path=path, text=text, part=part, current=read(path))
        for part, texts in parts
        # Without a master file, infx makes the other first files too, so the master files are written last.
        for path, text in sorted(texts.items(), key=lambda item: (item[0] in answers.master_configs, item[0]))
    )


def select_files(files: Iterable[MadeFile], only: FilePart | None) -> list[MadeFile]:
    """Return the files of one pull request, or all but the trial's."""
    if only is None:
        return [file for file in files if file.part is not FilePart.SHADOW]
    is_shadow = only is FilePart.SHADOW
    return [file for file in files if file.part is only or (is_shadow and file.path == POLICY_PATH)]


def find_runners(data: bytes, path: str) -> tuple[RegisteredRunner, ...]:
    """Return the runners of a repository's own inventory. Raises ProblemsError if it is not YAML."""
    value = yaml12.load(data, path).value
    labels = value.get("labels") if isinstance(value, dict) else None
    return tuple(
        RegisteredRunner(label=str(label), name=str(name))
        for label, names in (labels if isinstance(labels, dict) else {}).items()
        for name in (names if isinstance(names, list) else ())
    )


def render_diff(files: Iterable[MadeFile]) -> str:
    """Return the new and the different files as a unified diff, which `git apply` reads."""
    return "".join(
        line
        for file in files
        if file.state in {FileState.NEW, FileState.DIFFERENT}
        for line in _render_file_diff(file)
    )


def _render_file_diff(file: MadeFile) -> Sequence[str]:
    before, after = _split_lines((file.current or b"").decode(errors="replace")), _split_lines(file.text)
    head = [f"diff --git a/{file.path} b/{file.path}\n"]
    if file.current is None:
        head.append("new file mode 100644\n")
    source = "/dev/null" if file.current is None else f"a/{file.path}"
    lines = difflib.unified_diff(before, after, source, f"b/{file.path}")
    return head + [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    ]


def _split_lines(text: str) -> list[str]:
    """Return the lines as git counts them; other characters, such as a form feed, do not end a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
