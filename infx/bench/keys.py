"""Match patterns of configuration keys: `*` matches any text, `?` one character, nothing else is special."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable

from infx.errors import Problem, suggest
from infx.phrases import count
from infx.records import record


@functools.cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a pattern to a regular expression that cannot backtrack."""
    # Each text between two stars matches only at its first occurrence: patterns come from pull requests, and
    # backtracking could take exponential time.
    first, *others = (re.escape(part).replace(r"\?", ".") for part in re.split(r"\*+", pattern))
    between = "".join(f"(?>.*?{part})" for part in others[:-1])
    return re.compile(f"{first}{between}.*{others[-1]}" if others else first, re.DOTALL)


def is_pattern(text: str) -> bool:
    return "*" in text or "?" in text


def match_keys(pattern: str, keys: Iterable[str]) -> list[str]:
    """Return the keys that a key or a pattern names, in the order of `keys`."""
    if is_pattern(pattern):
        return [key for key in keys if _compile(pattern).fullmatch(key)]
    return [key for key in keys if key == pattern]


@record
class NamedKeys:
    """The set of all keys that some keys and patterns name, known or not."""

    patterns: tuple[str, ...]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and any(match_keys(pattern, (key,)) for pattern in self.patterns)


def resolve_keys(
    patterns: Iterable[str], keys: Collection[str], *, path: str | None = None, line: int | None = None
) -> tuple[list[str], list[Problem]]:
    """Return the keys that the patterns name, each once, and a problem for each unmatched pattern.

    path, line: the position of the patterns, for the problems.
    """
    resolved: dict[str, None] = {}
    problems = []
    for pattern in patterns:
        matches = match_keys(pattern, keys)
        if not matches:
            problems.append(_unmatched(pattern, keys, path, line))
        resolved.update(dict.fromkeys(matches))
    return list(resolved), problems


def _unmatched(pattern: str, keys: Collection[str], path: str | None, line: int | None) -> Problem:
    known = count(len(keys), "is known", "are known")
    if is_pattern(pattern):
        message = f"No configuration matches the pattern {pattern!r}; {known}."
    else:
        message = f"There is no configuration {pattern!r}; {known}."
    hint = suggest(pattern.replace("*", "").replace("?", ""), keys) or "Name a key of a master file."
    return Problem(rule="config-key-unknown", message=message, path=path, line=line, hint=hint)
