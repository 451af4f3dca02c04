"""How a person settles a warning: `/settle <check> <reason>` in a comment of its own lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from infx.markdown import find_command_lines
from infx.model import Collaborator, Comment, CommentKind
from infx.policy.checks import CHECKS, find_check
from infx.policy.signoff import Role, SignoffPolicy

MIN_REASON = 10  # characters; "ok" is no reason


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """Somebody's word on one check."""

    check: int
    reason: str
    comment: Comment


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A command that settles nothing, and why, in a sentence."""

    comment: Comment
    why: str


def parse_settlements(comment: Comment, command: str) -> tuple[Settlement | Refusal, ...]:
    """The settle commands of one comment, in order; several lines settle several checks."""
    found: list[Settlement | Refusal] = []
    for line in find_command_lines(comment.body):
        words = line.split(maxsplit=2)
        if not words or words[0] != command:
            continue
        check = find_check(words[1]) if len(words) > 1 else None
        reason = words[2].strip() if len(words) > 2 else ""
        if check is None:
            why = f"It names no check from 0 to {len(CHECKS) - 1}: write {command} <check> <reason>."
            found.append(Refusal(comment=comment, why=why))
        elif len(re.sub(r"\W", "", reason)) < MIN_REASON:
            why = f"Its reason is too short to say anything: write {command} {check.number} <reason>."
            found.append(Refusal(comment=comment, why=why))
        else:
            found.append(Settlement(check=check.number, reason=reason, comment=comment))
    return tuple(found)


def select_settlements(
    comments: Iterable[Comment],
    policy: SignoffPolicy,
    *,
    author: str,
    since: datetime | None,
    people: Mapping[str, Collaborator],
) -> tuple[dict[int, Settlement], tuple[Refusal, ...]]:
    """What is settled, by check, and what was refused.

    since: when the assessed commit was first reported on; earlier words were about something else, and without
    a report nothing can be settled. people: by lower-case login; who is not in it may settle nothing.
    """
    settled: dict[int, Settlement] = {}
    refused: list[Refusal] = []
    for comment in sorted(comments, key=lambda comment: (comment.created_at, comment.id)):
        if comment.kind is not CommentKind.ISSUE:
            continue
        for found in parse_settlements(comment, policy.settle_command):
            if isinstance(found, Refusal):
                refused.append(found)
            elif why := _find_refusal(found, policy, author=author, since=since, people=people):
                refused.append(Refusal(comment=comment, why=why))
            else:
                settled[found.check] = found
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
        return "Only people settle."
    if role is Role.NO_ONE:
        return f"Check {settlement.check} is not to be settled; mend what it warns of."
    if login.lower() == author.lower():
        return "The author of the pull request cannot settle."
    if since is None or comment.created_at < since:
        return "It was written before the verdict on this commit."
    if comment.updated_at != comment.created_at:
        return "It was edited afterwards; write a new comment instead."
    if (person := people.get(login.lower())) is not None and not person.is_known:
        return f"What {login} may do here could not be read."
    if not has_role(people.get(login.lower()), role):
        return f"Check {settlement.check} takes the role {role}, which {login} does not have."
    return None


def has_role(person: Collaborator | None, role: Role) -> bool:
    """Both of GitHub's answers must say so; a custom role is none of the five."""
    if person is None or role is Role.NO_ONE:
        return False
    order = [Role.WRITE, Role.MAINTAIN, Role.ADMIN]
    if not person.can_write:
        return False
    return person.role in {choice.value for choice in order[order.index(role) :]}
