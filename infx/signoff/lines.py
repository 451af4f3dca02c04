"""Match the added lines of files that a row may run with the policy's expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from infx.bench.names import AGENTIC
from infx.phrases import count, join_some
from infx.policy.model import Policy
from infx.policy.paths import is_serving
from infx.policy.signoff import LineRules
from infx.records import record
from infx.signoff.facts import FileChange, RecipeFile, SignoffFacts
from infx.signoff.outcome import code
from infx.signoff.planned import ConfigChange

MAX_LINE = 4_000  # characters that are matched; files with longer lines need human review


@record
class Hit:
    """A line that an expression matches."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text.strip()}"


@record
class Scan:
    """The lines that the expressions of one check match."""

    refused: tuple[Hit, ...] = ()
    questioned: tuple[Hit, ...] = ()
    unseen: tuple[str, ...] = ()  # files whose lines cannot be matched (binary or too long)
    lines: int = 0  # how many lines were matched
    files: tuple[str, ...] = ()  # whose lines were matched

    @property
    def extent(self) -> str:
        return f"{count(self.lines, 'added line')} of {count(len(self.files), 'file')}"

    @property
    def evidence(self) -> tuple[str, ...]:
        return (
            *(f"looked at {path}" for path in self.files),
            *(f"not readable: {path}" for path in self.unseen),
            *(f"refused: {hit}" for hit in self.refused),
            *(f"questioned: {hit}" for hit in self.questioned),
        )


def find_serving_changes(facts: SignoffFacts, policy: Policy) -> tuple[FileChange, ...]:
    return tuple(file for file in facts.files if is_serving(file.path, policy))


def find_files_of(change: ConfigChange, facts: SignoffFacts) -> list[RecipeFile]:
    """Return the scripts and recipes that serve a configuration.

    A file whose path contains `agentic` serves only AgentX, unless the configuration names the file.
    """
    state = change.after
    files = [file for file in facts.recipes if change.key in file.keys]
    if state is None or state.is_agentic:
        return files
    return [file for file in files if AGENTIC not in file.path.lower() or file.path in state.recipes]


def scan_lines(files: Iterable[FileChange], rules: LineRules) -> Scan:
    """Match every added line with the rules. A line is refused or questioned, not both.

    A comment line is questioned instead of refused: a person must check that no program reads it.
    """
    refused: list[Hit] = []
    questioned: list[Hit] = []
    unseen: list[str] = []
    readable: list[str] = []
    lines = 0
    for file in files:
        if file.added is None or any(len(line.text) > MAX_LINE for line in file.added):
            unseen.append(file.path)
            continue
        readable.append(file.path)
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
        files=tuple(readable),
    )


def _is_comment(text: str) -> bool:
    """Return whether a line is a comment. `#!`, `#SBATCH` and `#define` are not: programs read them."""
    return re.match(r"\s*#+(?:\s|$)", text) is not None


def any_match(expressions: Iterable[re.Pattern[str]], text: str) -> bool:
    return any(expression.search(text) for expression in expressions)


def render_hits(hits: Iterable[Hit], limit: int = 4) -> str:
    """Return the first few hits as text, and the number of further hits."""
    return join_some([code(str(hit), limit=160) for hit in hits], limit, separator="; ")
