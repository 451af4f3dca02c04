"""Remember git's answers to questions about SHAs, because git's processes would take most of many tests' time.

All tests of a process share the memory, because a SHA names the same content in every repository. A repository gets an
answer that git gave in another one only if it has the objects that the question names, and everything that they need:
a shallow or partial clone has not, and is always asked itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from infx.git import Git, Output

_PURE = {"cat-file", "merge-base", "diff-tree", "ls-tree", "rev-list", "merge-tree", "diff", "rev-parse"}
_SHA = re.compile(r"[0-9a-f]{40}")

_answers: dict[object, Output] = {}  # from any repository


class GitMemory:
    """Git that remembers the answers to questions about SHAs."""

    def __init__(self) -> None:
        self._call = Git.call
        self._known: dict[object, Output] = {}

    def call(self, git: Git, *arguments: str, stdin: bytes | None = None, env: Any = None) -> Output:
        question = (tuple(git.variables.items()), arguments, stdin)
        if env is not None or not is_pure(arguments, stdin):
            return self._call(git, *arguments, stdin=stdin, env=env)
        key = (git.directory, *question)
        if key not in self._known:
            answer = _answers.get(question)
            if answer is None or not may_share(git, arguments, stdin, answer):
                answer = self._call(git, *arguments, stdin=stdin)
                is_answer = answer.code == 0 or (
                    answer.code == 1 and "merge-tree" in arguments
                )  # 1: conflicts
                # A file that a commit has not stays missing; a fetch may bring a commit.
                is_missing = b" missing" in answer.stdout and not may_share(git, arguments, stdin, answer)
                if not is_answer or is_missing:
                    return answer
            self._known[key] = _answers[question] = answer
        return self._known[key]


def is_pure(arguments: tuple[str, ...], stdin: bytes | None) -> bool:
    """Return whether git's answer depends only on objects that the arguments name by SHA."""
    names = [argument for argument in arguments if not argument.startswith(("-", "^"))]
    if not names or names[0] not in _PURE:
        return False
    end = arguments.index("--") if "--" in arguments else len(arguments)
    revisions = [argument for argument in arguments[:end] if not argument.startswith("-")][1:]
    lines = [line for line in re.split(r"[\n\0]", (stdin or b"").decode(errors="replace")) if line]
    questions = [*revisions, *lines]
    return bool(questions) and all(_SHA.search(text) for text in questions)


def may_share(git: Git, arguments: tuple[str, ...], stdin: bytes | None, answer: Output) -> bool:
    """Return whether a repository would give the same answer as another one."""
    folder = git.top / ".git"
    folder = folder if folder.is_dir() else git.top
    changing = ("shallow", "objects/info/alternates", "info/attributes", "../.gitattributes")
    if git.variables or any((folder / name).exists() for name in changing):
        return False
    # What a partial clone fetches is in packs. A test merge also writes a tree, whose SHA is a part of the answer.
    text = " ".join([*arguments, (stdin or b"").decode(errors="replace")])
    written = answer.stdout.decode(errors="replace") if "merge-tree" in arguments else ""
    shas = set(_SHA.findall(text + written))
    return all((folder / "objects" / sha[:2] / sha[2:]).exists() for sha in shas)


@contextmanager
def remembering() -> Iterator[None]:
    """Let `Git` remember answers until the end of the context."""
    memory = GitMemory()

    def call(git: Git, *arguments: str, **more: Any) -> Output:
        return memory.call(git, *arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Git, "call", call)
        yield
