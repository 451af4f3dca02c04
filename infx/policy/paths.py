"""Match files against the policy's path patterns."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from infx.policy.model import Policy


def concerns(policy: Policy, paths: Iterable[str]) -> bool:
    """Return whether a path is the changelog, a master configuration, or matches a glob of the policy."""
    fixed_paths = {policy.changelog, *policy.master_configs}
    return any(path in fixed_paths or matches_any(path, policy.comments.paths) for path in paths)


def matches_any(path: str, globs: Iterable[str]) -> bool:
    return any(compile_glob(glob).fullmatch(path) for glob in globs)


@functools.lru_cache(maxsize=256)
def compile_glob(glob: str) -> re.Pattern[str]:
    r"""Compile a pattern with the rules of a workflow's `paths`.

    `*` and `?` do not match a slash, `**` does, and `\` makes the next character literal.
    """
    return re.compile(re.sub(r"\*{2,}/?|\*|\?|\\.|[^*?\\]+|\\", _translate, glob), re.DOTALL)


def _translate(part: re.Match[str]) -> str:
    text = part[0]
    if text.startswith("**"):
        return "(?:.*/)?" if text.endswith("/") else ".*"
    if text in {"*", "?"}:
        return f"[^/]{text.strip('?')}"
    return re.escape(text[1:] if text.startswith("\\") and len(text) == 2 else text)


def escape_glob(text: str) -> str:
    """Return the pattern that matches only this text."""
    return re.sub(r"([*?\\])", r"\\\1", text)


def is_serving(path: str, policy: Policy) -> bool:
    """Return whether a row may use this file, that is, whether it is neither prose nor the changelog."""
    return path != policy.changelog and not matches_any(path, policy.signoff.paths.prose)
