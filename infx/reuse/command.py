"""Parse the comment commands that ask for the reuse of a sweep's results: `/use 42`, `/reuse-sweep-run [42]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from infx.markdown import MAX_UNTRUSTED, find_command_lines
from infx.model import Collaborator, Comment, CommentKind
from infx.policy.reuse import ReusePolicy, RunId
from infx.records import record

# A command's word, followed by a blank, a digit of any script, or a character that people put before a number.
_WORD = r"(/[A-Za-z-]*[A-Za-z])(?=[\s\d:#=.-]|$)"

# As GitHub tells with a comment. It may be out of date, so that the live permission counts as well.
ASSOCIATIONS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})


@record
class ReuseCommand:
    """A command that asks for the reuse of a run."""

    run_id: int | None  # None: the newest suitable run
    comment: Comment


def find_command(body: str, commands: Mapping[str, RunId]) -> tuple[int | None] | None:
    """Return the run id of a comment's last command, in a tuple; None if there is no command."""
    last: tuple[int | None] | None = None
    if not any(word in body for word in commands):  # parsing takes much longer
        return None
    for line in find_command_lines(body):
        last = _parse_line(line, commands) or last
    return last


def _parse_line(line: str, commands: Mapping[str, RunId]) -> tuple[int | None] | None:
    match = re.fullmatch(r"(/[a-z-]+)(?:[ \t]+([0-9]{1,18}))?", line)
    if match is None or match[1] not in commands:
        return None
    if match[2] or commands[match[1]] is RunId.OPTIONAL:
        return (int(match[2]) if match[2] else None,)
    return None


def find_misread(body: str, commands: Mapping[str, RunId]) -> str | None:
    """Return the last line that starts with a command's word if that line is not a valid command."""
    lowered = body.lower()
    if len(body) > MAX_UNTRUSTED or not any(word in lowered for word in commands):
        return None
    last: str | None = None
    for line in find_command_lines(body):
        match = re.match(_WORD, line)
        if match and match[1].lower() in commands:
            last = None if _parse_line(line, commands) else line
    return last


def find_misread_commands(comments: Iterable[Comment], policy: ReusePolicy) -> tuple[str, ...]:
    """Return the line of each person whose last command is not valid.

    Long comments are not read, because anyone could post one that takes seconds to parse.
    """
    last: dict[str, str | None] = {}
    for comment in sorted(comments, key=_sort_key):
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
    """Return people's commands in the conversation by time of creation, newest first. Edits do not change the order."""
    found_commands = [
        ReuseCommand(run_id=run_id[0], comment=comment)
        for comment in comments
        if comment.kind is CommentKind.ISSUE and comment.author.is_human
        if (run_id := find_command(comment.body, policy.commands)) is not None
    ]
    return sorted(found_commands, key=lambda command: _sort_key(command.comment), reverse=True)


def find_associated(comments: Iterable[Comment], policy: ReusePolicy) -> list[ReuseCommand]:
    """Return the commands whose authors GitHub associates with the repository, newest first."""
    associated = (comment for comment in comments if comment.association in ASSOCIATIONS)
    return list_commands(associated, policy)


def select_authorized(
    comments: Iterable[Comment], policy: ReusePolicy, people: Mapping[str, Collaborator]
) -> ReuseCommand | None:
    """Return the newest command by the author's association and by what the author may do here now; None if none is.

    people: by lower-case login; who is not among them may not command.
    """
    for command in find_associated(comments, policy):
        person = people.get(command.comment.author.login.lower())
        if person is not None and person.can_write:
            return command
    return None


def _sort_key(comment: Comment) -> tuple[float, int]:
    return comment.created_at.timestamp(), comment.id
