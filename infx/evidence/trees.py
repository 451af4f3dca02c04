"""Sort changed files: those that a measurement may depend on, and the workflows and policy that judge it."""

from __future__ import annotations

from collections.abc import Iterable

from infx.codeowners import LOCATIONS
from infx.policy.model import Policy
from infx.policy.paths import concerns, is_serving


def find_measured_paths(paths: Iterable[str], policy: Policy) -> tuple[str, ...]:
    """Return the paths whose content a row may depend on.

    CODEOWNERS and prose outside the benchmark folders are left out. So are the changelog, the master
    configurations and the runners: the caller compares the entries and rows planned from them.
    """
    compared = {policy.changelog, policy.runners, *policy.master_configs, *LOCATIONS}
    return tuple(
        path
        for path in paths
        if path not in compared and (is_serving(path, policy) or concerns(policy, [path]))
    )


def find_rules(paths: Iterable[str], policy_path: str) -> tuple[str, ...]:
    """Return the paths that decide what a pull request's own runs report."""
    return tuple(path for path in paths if is_rule(path, policy_path))


def is_rule(path: str, policy_path: str) -> bool:
    return path.startswith(".github/") or path == policy_path
