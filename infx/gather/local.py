"""Read what a command needs from its surroundings: files, policy, event and the repository's name."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from infx import actions
from infx.errors import UsageError
from infx.files import NoSuchSourceError, read_file
from infx.policy import POLICY_PATH, REPOSITORY_NAME
from infx.records import record

if TYPE_CHECKING:
    from infx.policy.model import Policy
    from infx.policy.show import EffectivePolicy

_T = TypeVar("_T")

# A name like `<commit>:<path>` is never a file, because a pull request could add a file with such a name.
_AT_COMMIT = r"([0-9A-Za-z_][^:]*):(.+)"
_REMOTE = r"(?:\w+://[^/]+/|[^/:]+:)(?P<name>[^/:]+/[^/]+?)(?:\.git)?/?"


def find_root(start: Path) -> Path:
    """Return the root of the repository that contains a folder; the folder itself outside of a repository."""
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return start


def read_policy_path(source: str | None) -> str:
    """Return the policy's path in its repository; the default path for a file outside of a repository."""
    if source is None:
        return POLICY_PATH
    if match := re.fullmatch(_AT_COMMIT, source):
        return match[2]
    path = Path(source).resolve()
    root = find_root(path.parent)
    return path.relative_to(root).as_posix() if (root / ".git").exists() else POLICY_PATH


def load_policy(source: str | None) -> Policy:
    """Return the policy that `--policy` names, or the policy of the repository, or the packaged default."""
    from infx.policy.load import default_policy, parse_policy

    file = _read_policy_file(source)
    return default_policy() if file is None else parse_policy(*file)


def load_part(source: str | None, part: type[_T]) -> _T:
    """Return the part of the policy that has the fields of a class, like `load_policy`."""
    from infx.policy.load import default_part, parse_part

    file = _read_policy_file(source)
    return default_part(part) if file is None else parse_part(*file, part)


def load_effective(source: str | None) -> EffectivePolicy:
    """Return the values of the policy with their origins, like `load_policy`."""
    from infx.policy.show import default_effective, parse_effective

    file = _read_policy_file(source)
    return default_effective() if file is None else parse_effective(*file)


def _read_policy_file(source: str | None) -> tuple[bytes, str] | None:
    """Return the bytes and the name of the policy file, or None for the packaged default."""
    if source is not None:
        return read_source(source, "policy"), source
    if actions.is_actions(os.environ):  # a checked-out policy may come from the judged pull request itself
        raise UsageError(
            "On Actions the policy must be named.",
            hint="Give --policy or set INFX_POLICY to a file or <commit>:<path>.",
        )
    path = find_root(Path.cwd()) / POLICY_PATH
    return (path.read_bytes(), POLICY_PATH) if path.is_file() else None


def read_source(source: str, what: str) -> bytes:
    """Return the bytes of a file, or of `<commit>:<path>` in the current repository."""
    if match := re.fullmatch(_AT_COMMIT, source):
        from infx.git import Git

        data = Git(Path.cwd()).read(match[1], match[2])
        if data is None:
            raise NoSuchSourceError(
                f"There is no {what} {match[2]} at {match[1]}.", hint="Check the revision and the path."
            )
        return data
    return read_file(source, what)


@record
class Receive:
    """A function that reads the event, which only some ways to call a command need.

    Attributes:
        file: the file of --event.
        name: the value of --event-name.
    """

    file: Path | None
    name: str | None

    def __call__(self) -> actions.ReceivedEvent | None:
        """Return the event. Raise UsageError for a file that cannot be read or is not a payload."""
        return actions.receive_event(self.file, os.environ, name=self.name)


class NamesRepository(Protocol):
    """A policy, or a part of a policy, that names the repository."""

    @property
    def repository(self) -> str | None: ...


def find_repository_name(option: str | None, policy: NamesRepository) -> str | None:
    """Return `owner/name` from --repo, else from the policy, GITHUB_REPOSITORY or the remote `origin`."""
    for name in (option, policy.repository, os.environ.get("GITHUB_REPOSITORY")):
        if name:
            return check_name(name)
    if "GIT_DIR" not in os.environ and not (find_root(Path.cwd()) / ".git").exists():
        return None  # saves the start of git
    from infx.git import Git, GitError, UnsafeRepositoryError

    try:
        url = Git(Path.cwd()).origin_url() or ""
    except UnsafeRepositoryError:  # reported with its remedy, not treated as a repository without a name
        raise
    except GitError:
        return None
    return parse_remote(url)


def check_name(name: str) -> str:
    """Return `owner/name`. Raise UsageError for any other text."""
    if problem := find_name_problem(name):
        raise UsageError(problem)
    return name


def find_name_problem(text: str) -> str | None:
    """Return why a text is not `owner/name`, or None if it is."""
    return (
        None
        if re.fullmatch(REPOSITORY_NAME, text)
        else f"{text!r} is not the name of a repository; expected owner/name."
    )


def parse_remote(url: str) -> str | None:
    """Return `owner/name` from a remote's URL, or None for a folder."""
    match = re.fullmatch(_REMOTE, url)
    return match["name"] if match and re.fullmatch(REPOSITORY_NAME, match["name"]) else None
