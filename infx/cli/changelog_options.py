"""The ways to name two versions of the changelog."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from infx.cli.options import RepositoryName, make_event_options, policy_part_option
from infx.gather.changelog import SourceOptions, gather_changelog
from infx.policy.changelog import ChangelogPolicy
from infx.policy.stage import Stage


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the ways to name a base and a head, and passes `sources: ChangelogSources`."""

    @click.option(
        "--base-ref", metavar="REV", help="Default: the base branch, of the repository's remote or local."
    )
    @click.option("--head-ref", metavar="REV", help="Default: the file in the working tree.")
    @click.option(
        "--base-file", type=click.Path(path_type=Path), metavar="FILE", help="A file instead of a revision."
    )
    @click.option(
        "--head-file", type=click.Path(path_type=Path), metavar="FILE", help="A file instead of a revision."
    )
    @make_event_options("Take revisions, number and stage from a payload.")
    @click.option(
        "--pr", type=click.IntRange(min=1), metavar="N", help="The pull request that the entries belong to."
    )
    @click.option("--stage", type=click.Choice([stage.value for stage in Stage]), help="Default: pr.")
    @click.option(
        "--repo", type=RepositoryName(), metavar="OWNER/NAME", help="Whose pull requests the links name."
    )
    @policy_part_option(ChangelogPolicy)
    @functools.wraps(function)
    def wrapper(*args: Any, policy: ChangelogPolicy, **kwargs: Any) -> Any:
        options = SourceOptions(**{name: kwargs.pop(name) for name in SourceOptions.__dataclass_fields__})
        source = click.get_current_context().params.get("policy_source")
        return function(
            *args, sources=replace(gather_changelog(options, policy), policy_source=source), **kwargs
        )

    return wrapper
