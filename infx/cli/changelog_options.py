"""Options that name two versions of the changelog."""

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

_FILE = click.Path(path_type=Path)


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name a base and a head, and pass `sources: ChangelogSources`."""

    @click.option(
        "--base-ref",
        metavar="REV",
        help="Base revision. Default: the base branch, of the repository's remote or local.",
    )
    @click.option("--head-ref", metavar="REV", help="Head revision. Default: the file in the working tree.")
    @click.option("--base-file", type=_FILE, metavar="FILE", help="Base version, instead of --base-ref.")
    @click.option("--head-file", type=_FILE, metavar="FILE", help="Head version, instead of --head-ref.")
    @make_event_options("File with a webhook payload that names revisions, pull request and stage.")
    @click.option(
        "--pr", type=click.IntRange(min=1), metavar="N", help="Pull request that the new entries belong to."
    )
    @click.option(
        "--stage",
        type=click.Choice([stage.value for stage in Stage]),
        help="Stage whose rules apply. Default: pr.",
    )
    @click.option(
        "--repo",
        type=RepositoryName(),
        metavar="OWNER/NAME",
        help="Repository of the pull requests in links.",
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
