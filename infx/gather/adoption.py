"""Read what `infx init` finds instead of asking: the files and the remote of a repository, and infx's own version."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from infx.errors import Problem, ProblemsError
from infx.gather.installation import GitInstallation, read_git_installation
from infx.gather.local import parse_remote
from infx.git import Git, GitError
from infx.policy import POLICY_PATH
from infx.policy.load import default_policy, parse_policy
from infx.policy.model import Policy
from infx.records import record

_MASTER = "configs/master.yaml"  # of a repository without configurations
_USED = re.compile(
    rb"([A-Za-z0-9-]+/[A-Za-z0-9._-]+)/\.github/actions/gate(@[0-9a-f]{40}(?: # [!-~]+)?)$", re.MULTILINE
)
_SWEEP = ".github/workflows/run-sweep.yml"
_TAG = re.compile(r"v?[0-9]+(?:\.[0-9]+)*[0-9A-Za-z.-]*")


@record
class Found:
    """What a repository says about itself.

    Attributes:
        defaults: name of a question → the words of its answer.
        settled: the same, of the values that the repository's policy has.
        default_branch: as the remote names it, or None.
    """

    defaults: Mapping[str, tuple[str, ...]]
    settled: Mapping[str, tuple[str, ...]]
    default_branch: str | None


@record
class RepositoryFiles:
    """The files of a working tree; a path through a link that leaves the tree is refused."""

    root: Path

    def exists(self, path: str) -> bool:
        return os.path.lexists(self.root / path)

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, or None if it does not exist. Raises ProblemsError if it cannot be read."""
        place = self.root / path
        try:
            if not place.resolve().is_relative_to(self.root.resolve()):
                raise ProblemsError(
                    [Problem(rule="file-outside", message="A link leads outside the repository.", path=path)]
                )
            return place.read_bytes()
        except FileNotFoundError:
            if not self.exists(path):
                return None
            reason = "the link leads nowhere"
        except OSError as error:
            reason = error.strerror or str(error)
        except RuntimeError:  # of resolve()
            reason = "links lead to each other"
        raise ProblemsError(
            [Problem(rule="file-unreadable", message=f"The file cannot be read: {reason}.", path=path)]
        )


def find_answers(files: RepositoryFiles) -> Found:
    """Return the answers that need no question. Raises ProblemsError for an invalid policy."""
    data = files.read(POLICY_PATH)
    policy = default_policy() if data is None else parse_policy(data, POLICY_PATH)
    default_branch = _find_default_branch(files.root)
    settled = {} if data is None else _list_settled(policy)
    defaults = {
        "repo": _find_own_name(files.root),
        "base-branch": default_branch or _find_likely_branch(files.root, policy.base_branch),
        "signoffs": "yes" if any(map(files.exists, policy.signoff.paths.checklists)) else "no",
        "actions": find_own_pin(read_git_installation()) or find_used_pin(files.read(_SWEEP) or b""),
    }
    masters = [path for path in policy.master_configs if files.exists(path)] or [_MASTER]
    return Found(
        defaults={
            **_list_paths(policy),
            "master-config": tuple(masters),
            **{name: (text,) for name, text in defaults.items() if text},
            **settled,
        },
        settled=settled,
        default_branch=default_branch,
    )


def _list_paths(policy: Policy) -> dict[str, tuple[str, ...]]:
    return {
        "changelog": (policy.changelog,),
        "master-config": policy.master_configs,
        "runner-config": (policy.runners,),
        "clusters": (policy.clusters,),
        "models": (policy.models,),
    }


def _list_settled(policy: Policy) -> dict[str, tuple[str, ...]]:
    """Return the answers that a repository's own policy has."""
    settled = {**_list_paths(policy), "base-branch": (policy.base_branch,)}
    if policy.repository:
        settled["repo"] = (policy.repository,)
    if policy.workflows.runner_boundary:
        settled["runner-boundary"] = (policy.workflows.runner_boundary,)
    apps = [name for name in policy.identities if name not in default_policy().identities]
    if apps:
        settled["app"] = (apps[0].removesuffix("[bot]"),)
    return settled


def _find_own_name(root: Path) -> str | None:
    try:
        return parse_remote(Git(root).origin_url() or "")
    except GitError:
        return None


def _find_default_branch(root: Path) -> str | None:
    """Return the branch that a clone's remote names as its default."""
    return _read_line(root, "symbolic-ref", "--short", "refs/remotes/origin/HEAD", prefix="origin/")


def _find_likely_branch(root: Path, usual: str) -> str | None:
    """Return the usual branch if the clone knows it, else the current one: files may be made on a branch of their own."""
    for ref in (f"refs/remotes/origin/{usual}", f"refs/heads/{usual}"):
        if _read_line(root, "rev-parse", "--verify", "--quiet", ref):
            return usual
    return _read_line(root, "symbolic-ref", "--short", "HEAD")


def _read_line(root: Path, *arguments: str, prefix: str = "") -> str | None:
    try:
        return Git(root).line(*arguments).removeprefix(prefix) or None
    except GitError:
        return None


def find_own_pin(installation: GitInstallation | None) -> str | None:
    """Return `owner/infx@<sha>` of the installed infx, with the tag after a `#`; None if it is not known."""
    name = parse_remote(installation.url) if installation else None
    if installation is None or name is None:
        return None
    is_tag = _TAG.fullmatch(installation.revision) and not installation.commit.startswith(
        installation.revision
    )
    return f"{name}@{installation.commit}" + (f" # {installation.revision}" if is_tag else "")


def find_used_pin(workflow: bytes) -> str | None:
    """Return the same of the version that a workflow of the repository uses already."""
    match = _USED.search(workflow)
    return (match[1] + match[2]).decode() if match else None
