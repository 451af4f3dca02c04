"""Options and connection of the commands that use GitHub."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from infx.cli.options import RepositoryName
from infx.errors import UsageError
from infx.gather.local import find_repository_name
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.github.api import GitHub

_R = TypeVar("_R")

SILENT = 5  # seconds of waiting without a message


class Connect(Protocol):
    """A function that connects when it is first called and returns the same client afterwards."""

    def __call__(self) -> GitHub: ...


def github_options(function: Callable[..., _R]) -> Callable[..., _R]:
    """Add --repo and --verbose, and pass `connect: Connect`; place this decorator below `policy_option`.

    A command that does not need GitHub never connects, so it works without a repository name or a token.
    """

    @click.option(
        "--repo",
        type=RepositoryName(),
        metavar="OWNER/NAME",
        help="Repository on GitHub. Default: the policy's, else GITHUB_REPOSITORY, else the remote.",
    )
    @click.option("--verbose", is_flag=True, help="Print the number of API requests at the end.")
    @functools.wraps(function)
    def wrapper(*args: Any, policy: Policy, repo: str | None, verbose: bool, **kwargs: Any) -> _R:
        connect = functools.cache(lambda: connect_to(repo, policy))
        try:
            return function(*args, policy=policy, connect=connect, **kwargs)
        finally:
            if verbose:
                is_connected = connect.cache_info().currsize
                click.echo(f"GitHub: {connect().requests if is_connected else 'not asked'}.", err=True)

    return wrapper


def connect_to(given: str | None, policy: Policy) -> GitHub:
    """Return a client for the repository that --repo, the policy, the environment or a remote names."""
    from infx.github.api import connect

    name = find_repository_name(given, policy)
    if name is None:
        hint = (
            "Give --repo, set `repository` in the policy, or run this in a clone of a repository on GitHub."
        )
        raise UsageError("No repository is named.", hint=hint)
    return connect(name, sleep=wait)


def connect_with(token: str, repository: str) -> GitHub:
    """Return a client for a repository with another token than the environment's."""
    from infx.github.api import connect

    return connect(repository, environ={**os.environ, "GH_TOKEN": token}, sleep=wait)


def wait(seconds: float) -> None:
    """Sleep; announce a long wait on stderr."""
    if seconds >= SILENT:
        click.echo(f"Waiting {seconds:.0f} s before asking GitHub again.", err=True)
    time.sleep(seconds)
