"""What is ours: said by one of the policy's identities, and by nobody who only calls himself so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from infx.model import GHOST, CommitStatus, User, UserType


def is_ours(author: User, identities: Sequence[str]) -> bool:
    """Login and type: an app's login ends in `[bot]`, which no person's can, and its type is Bot."""
    is_app = author.login.lower().endswith("[bot]")
    kind = UserType.BOT if is_app else UserType.USER
    return author.type is kind and is_listed(author.login, identities)


def is_listed(login: str, names: Iterable[str]) -> bool:
    """Whether a list of logins names this one; an account that is gone has no login, whatever the list says."""
    low = login.lower()
    return bool(low) and low != GHOST.login and low in {name.lower() for name in names}


def find_status(
    statuses: Iterable[CommitStatus], context: str | None, identities: Sequence[str]
) -> CommitStatus | None:
    """The status of a context, if it is ours. statuses: newest first.

    The newest decides, as GitHub shows it: anybody with write access can set one, and so take ours back.
    """
    found = next((status for status in statuses if status.context == context), None)
    return found if found and is_ours(found.creator, identities) else None
