"""The one language of the policy's path patterns, and which files of a repository they mean."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from infx.policy.model import Policy


def concerns(policy: Policy, paths: Iterable[str]) -> bool:
    """Whether any of the paths is the changelog, a master configuration, or matches a glob of the policy."""
    named = {policy.changelog, *policy.master_configs}
    return any(path in named or matches_any(path, policy.comments.paths) for path in paths)


def matches_any(path: str, globs: Iterable[str]) -> bool:
    return any(compile_glob(glob).fullmatch(path) for glob in globs)


@functools.lru_cache(maxsize=256)
def compile_glob(glob: str) -> re.Pattern[str]:
    r"""`*` and `?` stay inside a folder, `**` crosses folders, `\` makes the next character plain: as in a workflow's
    `paths`.
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
    """Return the pattern that matches this text and no other."""
    return re.sub(r"([*?\\])", r"\\\1", text)


def is_serving(path: str, policy: Policy) -> bool:
    """Whether a file may take part in what a row runs, as workflows do: neither prose nor the changelog."""
    return path != policy.changelog and not matches_any(path, policy.signoff.paths.prose)
