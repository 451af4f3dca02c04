"""The rules of branches: rulesets, classic protection, and the merge methods that the repository allows."""

from __future__ import annotations

from dataclasses import dataclass

ACTIONS_APP = 15368  # GitHub Actions itself: the app of every check that a workflow's job makes
METHODS = ("merge", "squash", "rebase")


@dataclass(frozen=True, kw_only=True)
class RequiredCheck:
    """A status or check that must be green before a merge."""

    context: str
    app_id: int | None = None  # only this app's statuses and checks count; None: those of everyone


@dataclass(frozen=True, kw_only=True)
class QueueRule:
    """The settings of a branch's merge queue."""

    method: str = "squash"
    build: int = 5  # groups that are built and checked at the same time
    merge: int = 5  # the most entries that are merged together
    timeout: int = 60  # minutes that a group may wait for its checks
    # GitHub keeps an entry that conflicts with an entry ahead, or whose checks failed, until it is first.
    # True: such an entry is removed at once.
    removes_at_once: bool = False


@dataclass(frozen=True, kw_only=True)
class Ruleset:
    """An active ruleset of the repository for one branch."""

    id: int
    name: str
    branch: str
    checks: tuple[RequiredCheck, ...] = ()
    is_strict: bool = False  # the head must contain the base branch
    methods: tuple[str, ...] = (
        METHODS  # that the ruleset allows; fewer than all: a rule of type `pull_request`
    )
    queue: QueueRule | None = None


@dataclass(frozen=True, kw_only=True)
class Protection:
    """Classic protection of a branch, which also binds administrators."""

    checks: tuple[RequiredCheck, ...] = ()
    is_strict: bool = False


def parse_checks(checks: tuple[str | tuple[str, int], ...]) -> tuple[RequiredCheck, ...]:
    """Convert names, and pairs of a name and an app's id, to required checks."""
    pairs = [(check, None) if isinstance(check, str) else check for check in checks]
    return tuple(RequiredCheck(context=context, app_id=app) for context, app in pairs)
