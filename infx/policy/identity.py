"""Recognize the policy's identities: the accounts through which infx itself writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from infx.model import GHOST, CommitStatus, User, UserType


def is_identity(author: User, identities: Sequence[str]) -> bool:
    """Return whether the author is one of the identities, by login and account type."""
    # An app's login ends in `[bot]`, which a person's login cannot, and its type is Bot.
    is_app = author.login.lower().endswith("[bot]")
    kind = UserType.BOT if is_app else UserType.USER
    return author.type is kind and is_listed(author.login, identities)


def is_listed(login: str, names: Iterable[str]) -> bool:
    """Return whether the list of names contains this login. A deleted account never matches."""
    lower = login.lower()
    return bool(lower) and lower != GHOST.login and lower in {name.lower() for name in names}


def find_status(
    statuses: Iterable[CommitStatus], context: str | None, identities: Sequence[str]
) -> CommitStatus | None:
    """Return the newest status of a context if one of the identities set it. statuses: newest first."""
    # GitHub shows the newest status. Anyone with write access can set one, and so override infx's own.
    newest = next((status for status in statuses if status.context == context), None)
    return newest if newest and is_identity(newest.creator, identities) else None
