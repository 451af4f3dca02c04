"""Read from a clone what a hub needs to serve its repository; nothing is written into the clone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from infx.errors import Problem, UnknownNamesError, UsageError, suggest
from infx.gather.local import check_name, parse_remote
from infx.git import Git, ShallowHistoryError
from infx.policy import POLICY_PATH
from infx.policy.load import default_policy, parse_policy
from infx.policy.model import Policy
from infx.records import record

_LOCAL, _ORIGIN = "heads/", "remotes/origin/"  # below refs/


@record
class ServedRepository:
    """A repository of the user, as a hub serves it.

    Attributes:
        root: the clone.
        name: `owner/name`; None if neither the policy nor a remote has one.
        base: the base branch.
        refspecs: what the hub's git repository fetches from the clone.
        branches: local branches that may become pull requests.
        policy: of the base branch.
    """

    root: Path
    name: str | None
    base: str
    refspecs: tuple[str, ...]
    branches: tuple[str, ...]
    policy: Policy
    has_policy: bool


def read_served(folder: Path, *, name: str | None, chosen: Sequence[str]) -> ServedRepository:
    """Return the repository of a folder.

    Raises UsageError for a name that the policy contradicts, and for a base branch or chosen branches that do not exist.

    Args:
        name: `owner/name` from the command line.
        chosen: the only branches that become pull requests; empty: all local branches.
    """
    git = Git(folder)
    root = git.root()
    if git.is_shallow():
        raise ShallowHistoryError(f"{root} is a shallow clone.", hint="Run git fetch --unshallow in it.")
    refs = git.refs("refs")
    base, base_ref = _find_base(git, refs)
    policy, has_policy = _read_policy(git, f"refs/{base_ref}")
    local = tuple(ref.removeprefix(_LOCAL) for ref in sorted(refs) if ref.startswith(_LOCAL))
    if unknown := [branch for branch in chosen if branch not in local]:
        raise UnknownNamesError(
            Problem(rule="branch", message=f"There is no local branch {branch}.", hint=suggest(branch, local))
            for branch in unknown
        )
    kind, _, stored = policy.results.store.partition(":")
    hidden = {base, stored if kind == "branch" else ""}
    missing = {
        branch: ref for branch in hidden if (ref := f"{_ORIGIN}{branch}") in refs and branch not in local
    }
    return ServedRepository(
        root=root,
        name=_find_name(name, policy, git),
        base=base,
        refspecs=(
            "refs/heads/*:refs/heads/*",
            *(f"refs/{ref}:refs/{_LOCAL}{branch}" for branch, ref in missing.items()),
        ),
        branches=tuple(branch for branch in chosen or local if branch not in hidden),
        policy=policy,
        has_policy=has_policy,
    )


def _find_base(git: Git, refs: dict[str, str]) -> tuple[str, str]:
    """Return the base branch that the checked-out policy names, and its ref: a local branch, or else origin's."""
    policy, _ = _read_policy(git, "HEAD")
    for place in (_LOCAL, _ORIGIN):
        if f"{place}{policy.base_branch}" in refs:
            return policy.base_branch, f"{place}{policy.base_branch}"
    raise UsageError(
        f"The base branch {policy.base_branch} does not exist in this clone.",
        hint=f"Set base-branch in {POLICY_PATH} and commit it, or fetch the branch.",
    )


def _read_policy(git: Git, revision: str) -> tuple[Policy, bool]:
    """Return the policy at a revision, and whether the repository has one there."""
    data = git.read(revision, POLICY_PATH)
    if data is None:
        return default_policy(), False
    name = revision.removeprefix("refs/").removeprefix(_LOCAL)
    return parse_policy(data, f"{name}:{POLICY_PATH}"), True


def _find_name(name: str | None, policy: Policy, git: Git) -> str | None:
    if name and policy.repository and name != policy.repository:
        raise UsageError(
            f"The policy names the repository {policy.repository}, not {name}.",
            hint="Leave out --repo, because all commands use the policy's name.",
        )
    if found := name or policy.repository:
        return check_name(found)
    return parse_remote(git.origin_url() or "")
