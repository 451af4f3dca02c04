"""Remember git's answers to questions about SHAs, because git's processes would take most of many tests' time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from infx.git import Git, Output

_PURE = {"cat-file", "merge-base", "diff-tree", "ls-tree", "rev-list", "merge-tree", "diff", "rev-parse"}
_SHA = re.compile(r"[0-9a-f]{40}")


class GitMemory:
    """Git that remembers the answers to questions about SHAs."""

    def __init__(self) -> None:
        self._call = Git.call
        self._known: dict[object, Output] = {}

    def call(self, git: Git, *arguments: str, stdin: bytes | None = None, env: Any = None) -> Output:
        key = (git.directory, tuple(git.variables.items()), arguments, stdin)
        if env is not None or not is_pure(arguments, stdin):
            return self._call(git, *arguments, stdin=stdin, env=env)
        if key not in self._known:
            output = self._call(git, *arguments, stdin=stdin)
            is_answer = output.code == 0 or (output.code == 1 and "merge-tree" in arguments)  # 1: conflicts
            if not is_answer or b" missing" in output.stdout:  # a fetch may change this answer
                return output
            self._known[key] = output
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


@contextmanager
def remembering() -> Iterator[None]:
    """Let `Git` remember answers until the end of the context."""
    memory = GitMemory()

    def call(git: Git, *arguments: str, **more: Any) -> Output:
        return memory.call(git, *arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Git, "call", call)
        yield
