"""Where a clone knows the base branch from. In a clone of a fork, `origin` is not the repository."""

from __future__ import annotations

from infx.cli.options import read_remote
from infx.errors import UnavailableError
from infx.git import Git, GitError, MissingRevisionError, UnsafeRepositoryError
from infx.model import is_same_repository


def find_default_base(git: Git, branch: str, repository: str | None) -> str:
    """The base branch of the remote that is the repository, or of origin, or the local one."""
    remote = _find_remote(git, repository)
    for name in (f"{remote}/{branch}", f"origin/{branch}", branch):  # a remote may not have been fetched yet
        try:
            git.commit(name)
        except MissingRevisionError:
            continue
        return name
    raise UnavailableError(
        f"There is no branch {branch} here, neither of {remote} nor local.", hint="Give --base-ref."
    )


def read_base_versions(git: Git, branch: str, path: str, repository: str | None) -> list[bytes]:
    """The file on the base branch, as this clone knows it: of the repository's remote, of others, then the local one.

    None of them outside of a repository. Raises GitError where a version cannot be read: without it nobody could tell
    which side of a conflict is the base branch's.
    """
    try:
        names = git.line(
            "for-each-ref", "--format=%(refname)", f"refs/remotes/*/{branch}", f"refs/heads/{branch}"
        )
    except UnsafeRepositoryError:
        raise
    except GitError:
        return []
    best = f"refs/remotes/{_find_remote(git, repository)}/"
    refs = sorted(
        names.split(), key=lambda name: (not name.startswith(best), not name.startswith("refs/remotes/"))
    )
    return [data for data in git.read_many([(ref, path) for ref in refs]) if data is not None]


def _find_remote(git: Git, repository: str | None) -> str:
    named = [name for name, url in git.remotes().items() if _is_of(url, repository)]
    return "origin" if "origin" in named or not named else named[0]


def _is_of(url: str, repository: str | None) -> bool:
    return repository is not None and is_same_repository(read_remote(url), repository)
