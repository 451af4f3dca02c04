"""How commands reach GitHub: which repository, through one connection, and what that took."""

from __future__ import annotations

import functools
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

SILENT = 5  # seconds of waiting that need no explanation


class Connect(Protocol):
    """Connects when it is called first; afterwards it returns the same client."""

    def __call__(self) -> GitHub: ...


def github_options(function: Callable[..., _R]) -> Callable[..., _R]:
    """Adds --repo and --verbose, and passes `connect: Connect`. Stands below `policy_option`, whose policy it
    reads and hands on.

    A command that turns out not to need GitHub never connects, so it works without a repository's name or a token.
    """

    @click.option(
        "--repo",
        type=RepositoryName(),
        metavar="OWNER/NAME",
        help="Default: the policy's, GITHUB_REPOSITORY, the remote.",
    )
    @click.option("--verbose", is_flag=True, help="Say at the end how many API requests it took.")
    @functools.wraps(function)
    def wrapper(*args: Any, policy: Policy, repo: str | None, verbose: bool, **kwargs: Any) -> _R:
        connect = functools.cache(lambda: connect_to(repo, policy))
        try:
            return function(*args, policy=policy, connect=connect, **kwargs)
        finally:
            if verbose:
                made = connect.cache_info().currsize
                click.echo(f"GitHub: {connect().requests if made else 'not asked'}.", err=True)

    return wrapper


def connect_to(given: str | None, policy: Policy) -> GitHub:
    """A client for the repository that --repo, the policy or the surroundings name."""
    from infx.github.api import connect

    name = find_repository_name(given, policy)
    if name is None:
        hint = "Give --repo, set `repository` in the policy, or run it in a clone."
        raise UsageError("Which repository?", hint=hint)
    return connect(name, sleep=wait)


def wait(seconds: float) -> None:
    """Sleep, and say so where somebody may wonder."""
    if seconds >= SILENT:
        click.echo(f"Waiting {seconds:.0f} s before asking GitHub again.", err=True)
    time.sleep(seconds)
