"""Which files that differ between two revisions matter to what was measured, and which are the rules themselves."""

from __future__ import annotations

from collections.abc import Iterable

from infx.codeowners import LOCATIONS
from infx.policy.model import Policy
from infx.policy.paths import concerns, is_serving


def find_mattering(paths: Iterable[str], policy: Policy) -> tuple[str, ...]:
    """Return those of the paths whose content a row may depend on.

    Owners cannot matter, nor can prose outside of the benchmarks' own folders. The changelog, the master configurations and the runners matter only through the
    entries and rows that are planned from them, which the caller compares.
    """
    compared = {policy.changelog, policy.runners, *policy.master_configs, *LOCATIONS}
    return tuple(
        path
        for path in paths
        if path not in compared and (is_serving(path, policy) or concerns(policy, [path]))
    )


def find_rules(paths: Iterable[str], policy_path: str) -> tuple[str, ...]:
    """Return those of the paths that decide what a pull request's own runs report."""
    return tuple(path for path in paths if is_rule(path, policy_path))


def is_rule(path: str, policy_path: str) -> bool:
    return path.startswith(".github/") or path == policy_path
