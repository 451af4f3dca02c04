"""The comment line that asks for a sweep's results to be reused: `/use 42`, `/reuse-sweep-run [42]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from infx.markdown import read_command_lines
from infx.model import Comment, CommentKind
from infx.policy.reuse import ReusePolicy, RunId


@dataclass(frozen=True, kw_only=True)
class ReuseCommand:
    """run_id is None where the newest suitable run is meant."""

    run_id: int | None
    comment: Comment


def find_command(body: str, commands: Mapping[str, RunId]) -> tuple[int | None] | None:
    """The last command line of a comment, as a run id in a tuple; None if there is no command."""
    found: tuple[int | None] | None = None
    for line in read_command_lines(body):
        match = re.fullmatch(r"(/[a-z-]+)(?:[ \t]+([0-9]{1,18}))?", line)
        if match is None or match[1] not in commands:
            continue
        if match[2] or commands[match[1]] is RunId.OPTIONAL:
            found = (int(match[2]) if match[2] else None,)
    return found


def select_command(comments: Iterable[Comment], policy: ReusePolicy) -> ReuseCommand | None:
    """The newest command by creation time of somebody whom the policy trusts; editing moves nothing."""
    newest: ReuseCommand | None = None
    for comment in comments:
        if comment.kind is not CommentKind.ISSUE or comment.association not in policy.associations:
            continue
        found = find_command(comment.body, policy.commands)
        if found is None:
            continue
        if newest is None or _key(comment) > _key(newest.comment):
            newest = ReuseCommand(run_id=found[0], comment=comment)
    return newest


def _key(comment: Comment) -> tuple[float, int]:
    return comment.created_at.timestamp(), comment.id
