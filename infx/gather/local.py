"""What the place where a command runs says: its files, its policy, its event, and the name of its repository."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from infx import actions
from infx.errors import UsageError
from infx.files import NoSuchSourceError, read_file
from infx.policy import POLICY_PATH

if TYPE_CHECKING:
    from infx.policy.model import Policy

_T = TypeVar("_T")

# Whatever can be `<commit>:<path>` is that, even where a file has such a name: a pull request could bring one along.
_AT_COMMIT = re.compile(r"([0-9A-Za-z_][^:]*):(.+)")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_REMOTE = re.compile(r"(?:\w+://[^/]+/|[^/:]+:)(?P<name>[^/:]+/[^/]+?)(?:\.git)?/?")


def find_root(start: Path) -> Path:
    """The repository that `start` stands in; outside of one, `start` itself."""
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return start


def read_policy_path(source: str | None) -> str:
    """The path in a repository that `--policy` means; a file outside of any stands for the usual place."""
    if source is None:
        return POLICY_PATH
    if match := _AT_COMMIT.fullmatch(source):
        return match[2]
    path = Path(source).resolve()
    root = find_root(path.parent)
    return path.relative_to(root).as_posix() if (root / ".git").exists() else POLICY_PATH


def load_policy(given: str | None) -> Policy:
    """The policy of `--policy` (a file or `<commit>:<path>`), of the repository, or the packaged default.

    On Actions nothing is guessed: a pull request must not be judged by rules that it brought along.
    """
    from infx.policy.load import default_policy, parse_policy

    found = _find_policy(given)
    return default_policy() if found is None else parse_policy(*found)


def load_part(given: str | None, part: type[_T]) -> _T:
    """Like `load_policy`, but only the keys that `part` has fields for."""
    from infx.policy.load import default_part, parse_part

    found = _find_policy(given)
    return default_part(part) if found is None else parse_part(*found, part)


def _find_policy(given: str | None) -> tuple[bytes, str] | None:
    """(bytes, name) of the policy file; None for the packaged default."""
    if given is not None:
        return read_source(given, "policy"), given
    if actions.is_actions(os.environ):
        raise UsageError(
            "On Actions the policy must be named.",
            hint="Give --policy or set INFX_POLICY to a file or <commit>:<path>.",
        )
    path = find_root(Path.cwd()) / POLICY_PATH
    return (path.read_bytes(), POLICY_PATH) if path.is_file() else None


def read_source(given: str, what: str) -> bytes:
    """The bytes of a file, or of `<commit>:<path>` in the repository that one stands in."""
    if match := _AT_COMMIT.fullmatch(given):
        from infx.git import Git

        data = Git(Path.cwd()).read(match[1], match[2])
        if data is None:
            raise NoSuchSourceError(f"There is no {what} {match[2]} at {match[1]}.")
        return data
    return read_file(given, what)


@dataclass(frozen=True)
class Receive:
    """Reads the event when it is called: a command that is asked in another way needs none.

    Attributes:
        given: the file of --event.
        name: of --event-name.
    """

    given: Path | None
    name: str | None

    def __call__(self) -> actions.ReceivedEvent | None:
        """Return the event. Raises UsageError for a file that cannot be read or is not a payload."""
        return actions.receive_event(self.given, os.environ, name=self.name)


class NamesRepository(Protocol):
    """A policy, or the part of one."""

    @property
    def repository(self) -> str | None: ...


def repository_name(given: str | None, policy: NamesRepository) -> str | None:
    """`owner/name` from --repo, the policy, GITHUB_REPOSITORY or the remote `origin`, in that order."""
    for name in (given, policy.repository, os.environ.get("GITHUB_REPOSITORY")):
        if name:
            return check_name(name)
    if "GIT_DIR" not in os.environ and not (find_root(Path.cwd()) / ".git").exists():
        return None  # known without starting git
    from infx.git import Git, GitError, UnsafeRepositoryError

    try:
        url = Git(Path.cwd()).origin_url() or ""
    except UnsafeRepositoryError:  # said with its remedy, and not taken for a repository without a name
        raise
    except GitError:
        return None
    return read_remote(url)


def check_name(name: str) -> str:
    """Return `owner/name`. Raises UsageError for any other text."""
    if problem := find_name_problem(name):
        raise UsageError(problem)
    return name


def find_name_problem(text: str) -> str | None:
    """Why a text is not `owner/name`; None if it is."""
    return (
        None if _NAME.fullmatch(text) else f"{text!r} is not the name of a repository; expected owner/name."
    )


def read_remote(url: str) -> str | None:
    """`owner/name` of a remote's URL; None for a folder."""
    match = _REMOTE.fullmatch(url)
    return match["name"] if match and _NAME.fullmatch(match["name"]) else None
