"""What a pull request's commits say about it, read from a clone without asking GitHub anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from infx.changelog.delta import Delta, read_delta
from infx.errors import Problem, ProblemsError
from infx.policy.model import Policy
from infx.reconcile.facts import Changes
from infx.reconcile.ports import Clone


@dataclass(frozen=True, kw_only=True)
class Branch:
    """conflicts: files that a test merge with the base branch's tip cannot merge, as GitHub merges. message: of
    the head commit.
    """

    changes: Changes
    conflicts: tuple[str, ...]
    message: str


def read_branch(clone: Clone, policy: Policy, base_sha: str, head_sha: str) -> Branch:
    """base_sha: the base branch's tip."""
    fork_point = clone.merge_base(base_sha, head_sha)
    path = policy.changelog
    before, after = clone.read_many([(fork_point, path), (head_sha, path)])
    problems, delta = judge_changelog(before or b"", after, path)
    return Branch(
        changes=Changes(
            paths=tuple(clone.changed_paths(fork_point, head_sha)),
            problems=problems,
            entries=None if delta is None else len(delta.entries),
        ),
        conflicts=clone.test_merge(base_sha, head_sha).conflicts,
        message=clone.message(head_sha),
    )


def judge_changelog(
    before: bytes, after: bytes | None, path: str
) -> tuple[tuple[Problem, ...], Delta | None]:
    if after is None:
        message = f"The changelog is gone. {path} is only ever appended to."
        return (Problem(rule="changelog-gone", message=message, path=path, hint="Restore it."),), None
    if before == after:
        return (), Delta()
    try:
        return (), read_delta(before, after, path)
    except ProblemsError as error:
        return tuple(error.problems), None


def find_current(
    clone: Clone, policy: Policy, base_sha: str, head_sha: str, candidates: Iterable[str]
) -> tuple[str, ...]:
    """The head, and those of the candidates (heads that were swept) whose sweep still stands for it: everything
    pushed since merely merged the base branch or corrected links.
    """
    now = _fingerprint(clone, policy, base_sha, head_sha)
    older = [
        sha
        for sha in dict.fromkeys(candidates)
        if sha != head_sha
        and clone.has_commit(sha)
        and clone.is_ancestor(sha, head_sha)
        and now is not None
        and _fingerprint(clone, policy, base_sha, sha) == now
    ]
    return (head_sha, *older)


def _fingerprint(clone: Clone, policy: Policy, base_sha: str, sha: str) -> object:
    """What a revision would bring into the base branch, but for line numbers and links; None: cannot be told."""
    fork_point = clone.merge_base(base_sha, sha)
    path = policy.changelog
    before, after = clone.read_many([(fork_point, path), (sha, path)])
    _, delta = judge_changelog(before or b"", after, path)
    if delta is None:
        return None
    entries = tuple(replace(entry, line=0, pr_link=None) for entry in delta.entries)
    return clone.patch(fork_point, sha, without=path), entries
