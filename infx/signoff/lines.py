"""What the added lines of files that serve something say, by the policy's expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from infx.bench.names import AGENTIC
from infx.phrases import count, join_some
from infx.policy.model import Policy
from infx.policy.paths import is_serving
from infx.policy.signoff import LineRules
from infx.signoff.facts import FileChange, RecipeFile, SignoffFacts
from infx.signoff.outcome import code
from infx.signoff.planned import ConfigChange

MAX_LINE = 4_000  # characters that are matched; longer lines are for a human


@dataclass(frozen=True, kw_only=True)
class Hit:
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text.strip()}"


@dataclass(frozen=True, kw_only=True)
class Scan:
    """unseen: files whose lines cannot be matched (binary or too long). lines, files: how much was matched."""

    refused: tuple[Hit, ...] = ()
    questioned: tuple[Hit, ...] = ()
    unseen: tuple[str, ...] = ()
    lines: int = 0
    files: tuple[str, ...] = ()

    @property
    def looked_at(self) -> str:
        return f"{count(self.lines, 'added line')} of {count(len(self.files), 'file')}"

    @property
    def evidence(self) -> tuple[str, ...]:
        return (
            *(f"looked at {path}" for path in self.files),
            *(f"not readable: {path}" for path in self.unseen),
            *(f"refused: {hit}" for hit in self.refused),
            *(f"questioned: {hit}" for hit in self.questioned),
        )


def serving_files(facts: SignoffFacts, policy: Policy) -> tuple[FileChange, ...]:
    return tuple(file for file in facts.files if is_serving(file.path, policy))


def files_of(change: ConfigChange, facts: SignoffFacts) -> list[RecipeFile]:
    """Scripts and recipes that serve a configuration. One whose path tells AgentX serves no other scenario, unless the
    configuration names it.
    """
    state = change.after
    files = [file for file in facts.recipes if change.key in file.keys]
    if state is None or state.is_agentic:
        return files
    return [file for file in files if AGENTIC not in file.path.lower() or file.path in state.recipes]


def scan_lines(files: Iterable[FileChange], rules: LineRules) -> Scan:
    """Every added line against every expression; a line that is refused is not questioned as well. A line that only
    comments is never refused: that nothing reads it all the same is for a human.
    """
    refused: list[Hit] = []
    questioned: list[Hit] = []
    unseen: list[str] = []
    seen: list[str] = []
    lines = 0
    for file in files:
        if file.added is None or any(len(line.text) > MAX_LINE for line in file.added):
            unseen.append(file.path)
            continue
        seen.append(file.path)
        lines += len(file.added)
        for line in file.added:
            hit = Hit(path=file.path, line=line.number, text=line.text)
            if any_match(rules.refused_expressions, line.text):
                (questioned if _is_comment(line.text) else refused).append(hit)
            elif any_match(rules.questioned_expressions, line.text):
                questioned.append(hit)
    return Scan(
        refused=tuple(refused),
        questioned=tuple(questioned),
        unseen=tuple(unseen),
        lines=lines,
        files=tuple(seen),
    )


def without_comments(text: str) -> str:
    """A script or recipe with the lines that only comment emptied: what is commented out is not in use."""
    return re.sub(r"(?m)^[ \t]*#.*$", "", text)


def _is_comment(text: str) -> bool:
    """Neither `#!`, which starts a program, nor `#SBATCH`, which a queue reads, nor `#define`."""
    return re.match(r"\s*#+(?:\s|$)", text) is not None


def any_match(expressions: Iterable[re.Pattern[str]], text: str) -> bool:
    return any(expression.search(text) for expression in expressions)


def show_hits(hits: Iterable[Hit], limit: int = 4) -> str:
    """The first few with their place and text, and how many more."""
    return join_some([code(str(hit), limit=160) for hit in hits], limit, separator="; ")
