"""Which files of a repository are about benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from infx.policy.model import Policy


def concerns(policy: Policy, paths: Iterable[str]) -> bool:
    """Whether any of the paths is the changelog, a master configuration, or matches a glob of the policy."""
    named = {policy.changelog, *policy.master_configs}
    globs = [compile_glob(glob) for glob in policy.comments.paths]
    return any(path in named or any(glob.fullmatch(path) for glob in globs) for path in paths)


def compile_glob(glob: str) -> re.Pattern[str]:
    """`*` and `?` stay inside a folder, `**` crosses folders: as in a workflow's `paths`."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pattern = re.sub(r"\*\*/|\*\*|\*|\?|[^*?]+", lambda m: parts.get(m[0], re.escape(m[0])), glob)
    return re.compile(pattern, re.DOTALL)


def is_serving(path: str, policy: Policy) -> bool:
    """Whether a file may take part in what a row runs, as workflows do: neither prose nor the changelog."""
    if path == policy.changelog:
        return False
    return not any(fnmatchcase(path, glob) for glob in policy.signoff.paths.prose)
