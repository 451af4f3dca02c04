"""Options that many commands share, and what they resolve to."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from infx.errors import ProblemsError
from infx.gather.local import (
    Receive,
    find_name_problem,
    load_effective,
    load_part,
    load_policy,
    read_policy_path,
)
from infx.policy import POLICY_PATH

if TYPE_CHECKING:
    pass

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")
_Command = TypeVar("_Command", bound=click.Command)


def find_policy_path() -> str:
    """Return the path of this command's policy in its repository; a pull request that edits it edits the rules."""
    source = click.get_current_context().params.get("policy_source")
    return read_policy_path(source)


class RepositoryName(click.ParamType["str"]):
    """A repository's name, `owner/name`."""

    name = "owner/name"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name. Fails for text that is not a repository's name."""
        problem = find_name_problem(value)
        return self.fail(problem, param, ctx) if problem else value


class FullSha(click.ParamType["str"]):
    """All 40 digits of a commit's SHA."""

    name = "sha"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the SHA. Fails for other text, and for a shortened SHA."""
        if not re.fullmatch(r"[0-9a-f]{40}", value):
            self.fail(f"{value!r} is not the full SHA of a commit (40 digits).", param, ctx)
        return value


class Digest(click.ParamType["str"]):
    """The SHA-256 of a file, as 64 lower-case hex digits."""

    name = "hex"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the digest. Fails for other text."""
        if not re.fullmatch(r"[0-9a-f]{64}", value):
            self.fail(f"{value!r} is not a SHA-256 (64 digits).", param, ctx)
        return value


class OutputPath(click.Path):
    """A file or folder that a command will write; a path that cannot be written is refused before any work."""

    def __init__(self, *, folder: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=folder, file_okay=not folder)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Fails if it cannot be written."""
        # A command creates a folder with its parents, but a file only in a folder that exists.
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
    """Add example command lines to the end of a command's help."""

    def add(command: _Command) -> _Command:
        command.epilog = "\n".join(["\b", "For example:", *(f"  {line}" for line in lines)])
        return command

    return add


def find_infx(place: Path | None = None) -> str:
    """Return the command that starts infx in a shell. place: the shell's folder, for a relative path."""
    import shlex
    import shutil

    if shutil.which("infx"):
        return "infx"
    here = Path(sys.executable).with_name("infx")
    return shlex.quote(str(here.relative_to(place) if place and here.is_relative_to(place) else here))


def policy_option(function: Callable[..., _R]) -> Callable[..., _R]:
    """Add --policy, and pass `policy: Policy`."""
    return _add_policy_option(function, load_policy)


def effective_policy_option(function: Callable[..., _R]) -> Callable[..., _R]:
    """Add --policy, and pass `policy: EffectivePolicy`."""
    return _add_policy_option(function, load_effective)


def tolerant_policy_option(function: Callable[..., _R]) -> Callable[..., _R]:
    """Add --policy, and pass `policy: Policy | ProblemsError`: an invalid policy is passed as its problems."""

    def load(source: str | None) -> object:
        try:
            return load_policy(source)
        except ProblemsError as error:
            return error

    return _add_policy_option(function, load)


def policy_part_option(part: type[Any]) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Add --policy, and pass `policy: part`; only the policy's keys that are fields of `part` are loaded."""
    return lambda function: _add_policy_option(function, lambda given: load_part(given, part))


def _add_policy_option(
    function: Callable[..., _R], load: Callable[[str | None], object]
) -> Callable[..., _R]:
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
    """Return a decorator that adds --event and --event-name, and passes `receive: Receive`.

    words: the help of --event.
    """

    def decorate(function: Callable[..., _R]) -> Callable[..., _R]:
        @click.option("--event", "given", type=click.Path(path_type=Path), metavar="FILE", help=words)
        @click.option(
            "--event-name",
            metavar="NAME",
            help="Name of the event. Default: this run's for its own payload, else guessed from the payload.",
        )
        @functools.wraps(function)
        def wrapper(*args: Any, given: Path | None, event_name: str | None, **kwargs: Any) -> _R:
            return function(*args, receive=Receive(file=given, name=event_name), **kwargs)

        return wrapper

    return decorate


event_options = make_event_options("File with a webhook payload. Default: the payload of this workflow run.")


def facts_options(function: Callable[..., _R]) -> Callable[..., _R]:
    """Add --save-facts and --facts, which write the facts of a decision to a file and read them again."""
    save = click.option(
        "--save-facts",
        type=OutputPath(),
        metavar="FILE",
        help="Save the collected facts to this file.",
    )
    read = click.option(
        "--facts",
        "facts_file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Decide from facts that --save-facts wrote, without GitHub.",
    )
    return read(save(function))


def format_option(function: Callable[..., _R]) -> Callable[..., _R]:
    """Add --format, and pass `as_json: bool`; the default is a table on a terminal, else JSON."""

    @click.option(
        "--format",
        "output_format",
        type=click.Choice(["json", "table"]),
        help="Output format. Default: a table on a terminal, else JSON.",
    )
    @functools.wraps(function)
    def wrapper(*args: Any, output_format: str | None, **kwargs: Any) -> _R:
        as_json = output_format == "json" if output_format else not sys.stdout.isatty()
        return function(*args, as_json=as_json, **kwargs)

    return wrapper
