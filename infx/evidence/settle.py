"""Read the command with which a person settles a warning: a line `/settle <check> <reason>` in a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from infx.markdown import find_command_lines
from infx.model import Collaborator, Comment, CommentKind
from infx.policy.checks import CHECKS, find_check
from infx.policy.signoff import Role, SignoffPolicy
from infx.records import record

MIN_REASON = 10  # letters and digits; "ok" is not a reason


@record
class Settlement:
    """A command of one person that settles one check."""

    check: int
    reason: str
    comment: Comment


@record
class Refusal:
    """A rejected settle command."""

    comment: Comment
    why: str  # a sentence


def parse_settlements(comment: Comment, command: str) -> tuple[Settlement | Refusal, ...]:
    """Return the settle commands of one comment, in order; each line settles one check."""
    commands: list[Settlement | Refusal] = []
    for line in find_command_lines(comment.body):
        words = line.split(maxsplit=2)
        if not words or words[0] != command:
            continue
        check = find_check(words[1]) if len(words) > 1 else None
        reason = words[2].strip() if len(words) > 2 else ""
        if check is None:
            why = f"It does not name a check from 0 to {len(CHECKS) - 1}: write {command} <check> <reason>."
            commands.append(Refusal(comment=comment, why=why))
        elif len(re.sub(r"\W", "", reason)) < MIN_REASON:
            usage = f"{command} {check.number} <reason>"
            why = f"Its reason is shorter than {MIN_REASON} characters: write {usage}."
            commands.append(Refusal(comment=comment, why=why))
        else:
            commands.append(Settlement(check=check.number, reason=reason, comment=comment))
    return tuple(commands)


def select_settlements(
    comments: Iterable[Comment],
    policy: SignoffPolicy,
    *,
    author: str,
    since: datetime | None,
    people: Mapping[str, Collaborator],
) -> tuple[dict[int, Settlement], tuple[Refusal, ...]]:
    """Return the settlements by check, and the rejected commands.

    Args:
        since: when the assessed commit was first reported on. Earlier commands are about other commits;
            without a report nothing can be settled.
        people: by lower-case login; people who are not in it cannot settle.
    """
    settled: dict[int, Settlement] = {}
    refused: list[Refusal] = []
    for comment in sorted(comments, key=lambda comment: (comment.created_at, comment.id)):
        if comment.kind is not CommentKind.ISSUE:
            continue
        for command in parse_settlements(comment, policy.settle_command):
            if isinstance(command, Refusal):
                refused.append(command)
            elif why := _find_refusal(command, policy, author=author, since=since, people=people):
                refused.append(Refusal(comment=comment, why=why))
            else:
                settled[command.check] = command
    return settled, tuple(refused)


def _find_refusal(
    settlement: Settlement,
    policy: SignoffPolicy,
    *,
    author: str,
    since: datetime | None,
    people: Mapping[str, Collaborator],
) -> str | None:
    comment, login = settlement.comment, settlement.comment.author.login
    role = policy.checks[CHECKS[settlement.check].slug].settled_by
    if not comment.author.is_human:
        return "Only people can settle checks."
    if role is Role.NO_ONE:
        return f"Check {settlement.check} cannot be settled; fix what it warns about."
    if login.lower() == author.lower():
        return "The author of the pull request cannot settle its checks."
    if since is None or comment.created_at < since:
        return "It was written before the verdict on this commit."
    if comment.updated_at != comment.created_at:
        return "It was edited afterwards; write a new comment instead."
    if (person := people.get(login.lower())) is not None and not person.is_known:
        return f"The permission of {login} could not be read."
    if not has_role(people.get(login.lower()), role):
        return f"Check {settlement.check} requires the role {role}, which {login} does not have."
    return None


def has_role(person: Collaborator | None, role: Role) -> bool:
    """Return whether GitHub's permission and role both grant a role; a custom role never does."""
    if person is None or role is Role.NO_ONE:
        return False
    order = [Role.WRITE, Role.MAINTAIN, Role.ADMIN]
    if not person.can_write:
        return False
    return person.role in {choice.value for choice in order[order.index(role) :]}
