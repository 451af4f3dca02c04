"""Options that many commands share, and what they resolve to."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import click

from infx import actions
from infx.errors import UsageError
from infx.files import NoSuchSourceError, read_file
from infx.policy import POLICY_PATH

if TYPE_CHECKING:
    from infx.policy.model import Policy

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")
_Command = TypeVar("_Command", bound=click.Command)

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


def find_policy_path() -> str:
    """Where the policy of this command stands in its repository; a pull request that edits it edits the rules."""
    source = click.get_current_context().params.get("policy_source")
    return read_policy_path(source)


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


class RepositoryName(click.ParamType["str"]):
    """`owner/name`."""

    name = "owner/name"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name. Fails for any other text."""
        return value if _NAME.fullmatch(value) else self.fail(_not_a_name(value), param, ctx)


class FullSha(click.ParamType["str"]):
    """All 40 digits of a commit's id."""

    name = "sha"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the id. Fails for any other text, a shortened id too."""
        if not re.fullmatch(r"[0-9a-f]{40}", value):
            self.fail(f"{value!r} is not the full SHA of a commit (40 digits).", param, ctx)
        return value


class OutputPath(click.Path):
    """A file or folder that a command is going to write: a place where that cannot be is refused before any work."""

    def __init__(self, *, folder: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=folder, file_okay=not folder)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. A folder is made with those above it, a file only in a folder that is there."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        place = path.absolute() if path.exists() else path.absolute().parent
        while self.dir_okay and not place.exists():
            place = place.parent
        if not path.exists() and not place.is_dir():
            problem = "is not a folder" if place.exists() else "does not exist"
            self.fail(f"{str(path)!r} cannot be written: {str(place)!r} {problem}.", param, ctx)
        if not os.access(place, os.W_OK):
            self.fail(f"{str(path)!r} cannot be written: permission denied.", param, ctx)
        return path


def examples(*lines: str) -> Callable[[_Command], _Command]:
    """Adds command lines to the end of a command's help, as they are."""

    def add(command: _Command) -> _Command:
        command.epilog = "\n".join(["\b", "For example:", *(f"  {line}" for line in lines)])
        return command

    return add


def find_infx(place: Path | None = None) -> str:
    """How to call infx in a shell, or in one that stands in a certain place."""
    if shutil.which("infx"):
        return "infx"
    here = Path(sys.executable).with_name("infx")
    return shlex.quote(str(here.relative_to(place) if place and here.is_relative_to(place) else here))


def policy_option(function: Callable[..., _R]) -> Callable[..., _R]:
    """Adds --policy and passes `policy: Policy`."""
    return _policy_option(function, load_policy)


def policy_part_option(part: type[Any]) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Adds --policy and passes `policy`, of which only the keys are loaded that `part` has fields for."""
    return lambda function: _policy_option(function, lambda given: load_part(given, part))


def _policy_option(function: Callable[..., _R], load: Callable[[str | None], object]) -> Callable[..., _R]:
    @click.option(
        "--policy",
        "policy_source",
        envvar="INFX_POLICY",
        type=click.Path(),
        metavar="FILE",
        help=f"Policy file (./ before a name with a colon) or <commit>:<path>. Default: {POLICY_PATH} of this repository, else the packaged one.",
    )
    @functools.wraps(function)
    def wrapper(*args: Any, policy_source: str | None, **kwargs: Any) -> _R:
        return function(*args, policy=load(policy_source), **kwargs)

    return wrapper


def make_event_options(words: str) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Make a decorator that adds --event, with these words as its help, and --event-name, and passes
    `receive: Receive`.
    """

    def decorate(function: Callable[..., _R]) -> Callable[..., _R]:
        @click.option("--event", "given", type=click.Path(path_type=Path), metavar="FILE", help=words)
        @click.option(
            "--event-name",
            metavar="NAME",
            help="Of the event. Default: the run's for its own payload, else what the payload looks like.",
        )
        @functools.wraps(function)
        def wrapper(*args: Any, given: Path | None, event_name: str | None, **kwargs: Any) -> _R:
            return function(*args, receive=Receive(given, event_name), **kwargs)

        return wrapper

    return decorate


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


event_options = make_event_options("A webhook's payload. Default: that of the run.")


def facts_options(function: Callable[..., _R]) -> Callable[..., _R]:
    """Adds --facts and --save-facts: what was looked at, as a file to go by again."""
    save = click.option(
        "--save-facts",
        type=OutputPath(),
        metavar="FILE",
        help="Write what was looked at to a file.",
    )
    read = click.option(
        "--facts",
        "facts_file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Decide by facts saved before.",
    )
    return read(save(function))


def format_option(function: Callable[..., _R]) -> Callable[..., _R]:
    """Adds --format and passes `as_json: bool`: a table on a terminal, JSON elsewhere, unless said otherwise."""

    @click.option(
        "--format",
        "output_format",
        type=click.Choice(["json", "table"]),
        help="Default: a table on a terminal, else JSON.",
    )
    @functools.wraps(function)
    def wrapper(*args: Any, output_format: str | None, **kwargs: Any) -> _R:
        as_json = output_format == "json" if output_format else not sys.stdout.isatty()
        return function(*args, as_json=as_json, **kwargs)

    return wrapper


class NamesRepository(Protocol):
    """A policy, or the part of one."""

    @property
    def repository(self) -> str | None: ...


def check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(_not_a_name(name))
    return name


def _not_a_name(text: str) -> str:
    return f"{text!r} is not the name of a repository; expected owner/name."


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


def read_remote(url: str) -> str | None:
    """`owner/name` of a remote's URL; None for a folder."""
    match = _REMOTE.fullmatch(url)
    return match["name"] if match and _NAME.fullmatch(match["name"]) else None
