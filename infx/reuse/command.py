"""The comment line that asks for a sweep's results to be reused: `/use 42`, `/reuse-sweep-run [42]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from infx.markdown import MAX_UNTRUSTED, find_command_lines
from infx.model import Collaborator, Comment, CommentKind
from infx.policy.reuse import ReusePolicy, RunId

# A command's word, and behind it a blank, a digit of any script, or what people put before a number.
_WORD = re.compile(r"(/[A-Za-z-]*[A-Za-z])(?=[\s\d:#=.-]|$)")


@dataclass(frozen=True, kw_only=True)
class ReuseCommand:
    """run_id is None where the newest suitable run is meant."""

    run_id: int | None
    comment: Comment


def find_command(body: str, commands: Mapping[str, RunId]) -> tuple[int | None] | None:
    """The last command line of a comment, as a run id in a tuple; None if there is no command."""
    found: tuple[int | None] | None = None
    for line in find_command_lines(body):
        found = _parse_line(line, commands) or found
    return found


def _parse_line(line: str, commands: Mapping[str, RunId]) -> tuple[int | None] | None:
    match = re.fullmatch(r"(/[a-z-]+)(?:[ \t]+([0-9]{1,18}))?", line)
    if match is None or match[1] not in commands:
        return None
    if match[2] or commands[match[1]] is RunId.OPTIONAL:
        return (int(match[2]) if match[2] else None,)
    return None


def find_misread(body: str, commands: Mapping[str, RunId]) -> str | None:
    """Return the last line of a comment that starts with a command's word, if it is not a command; else None."""
    lowered = body.lower()
    if len(body) > MAX_UNTRUSTED or not any(word in lowered for word in commands):
        return None
    last: str | None = None
    for line in find_command_lines(body):
        match = _WORD.match(line)
        if match and match[1].lower() in commands:
            last = None if _parse_line(line, commands) else line
    return last


def find_misread_commands(comments: Iterable[Comment], policy: ReusePolicy) -> tuple[str, ...]:
    """Return for each person who tried to give a command, and failed the last time, the line that is not understood.
    Long comments are not read, because anybody may have made them to be slow.
    """
    last: dict[str, str | None] = {}
    for comment in sorted(comments, key=_key):
        if (
            comment.kind is not CommentKind.ISSUE
            or not comment.author.is_human
            or len(comment.body) > MAX_UNTRUSTED
        ):
            continue
        misread = find_misread(comment.body, policy.commands)
        if misread or find_command(comment.body, policy.commands):
            last[comment.author.login] = misread
    return tuple(line for line in last.values() if line)


def list_usage(commands: Mapping[str, RunId]) -> list[str]:
    """Return every command as it must be written."""
    return [
        f"{word} RUN-NUMBER" if form is RunId.REQUIRED else f"{word} [RUN-NUMBER]"
        for word, form in commands.items()
    ]


def list_commands(comments: Iterable[Comment], policy: ReusePolicy) -> list[ReuseCommand]:
    """The commands of people in the conversation, the newest by creation time first; editing moves nothing."""
    asked = [
        ReuseCommand(run_id=found[0], comment=comment)
        for comment in comments
        if comment.kind is CommentKind.ISSUE and comment.author.is_human
        if (found := find_command(comment.body, policy.commands)) is not None
    ]
    return sorted(asked, key=lambda one: _key(one.comment), reverse=True)


def select_command(
    comments: Iterable[Comment], policy: ReusePolicy, people: Mapping[str, Collaborator]
) -> ReuseCommand | None:
    """The newest command of somebody who may write here. people: by lower-case login, as GitHub says at present what
    each may do; who is not among them commands nothing.
    """
    return next(
        (
            command
            for command in list_commands(comments, policy)
            if (person := people.get(command.comment.author.login.lower())) and person.can_write
        ),
        None,
    )


def _key(comment: Comment) -> tuple[float, int]:
    return comment.created_at.timestamp(), comment.id
