"""Open the store that an address names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from infx.errors import UsageError
from infx.git import Git
from infx.store.port import ResultStore

ADDRESS = (
    "INFX_STORE"  # the environment variable whose address replaces the policy's; it may contain a password
)
IN_ENVIRONMENT = "environment"  # the policy's address if only the variable has it
_FORMS = "Use branch:NAME, sqlite:PATH or postgresql://USER:PASSWORD@HOST/DATABASE."


def find_address(policy_address: str, environ: Mapping[str, str]) -> str:
    """Return the address in the environment, or else the policy's. Raises UsageError if neither has one."""
    address = environ.get(ADDRESS) or policy_address
    if address == IN_ENVIRONMENT:
        raise UsageError(
            f"The policy says that {ADDRESS} has the address of the results store, but it is not set.",
            hint=_FORMS,
        )
    return address


def open_store(address: str, git: Git, *, author: str, token: str | None = None) -> ResultStore:
    """Return the store with an address; nothing is read or written yet.

    Raises UsageError for an address of another form, and if a package for SQL is not installed.

    Args:
        git: a clone whose remote `origin` has the branch; other stores do not use it.
        author: the login that is the author of commits on the branch.
        token: for GitHub over https.
    """
    kind, _, rest = address.partition(":")
    if kind == "branch" and is_branch(rest):
        from infx.store.branch import BranchStore

        return BranchStore(git, rest, author=author, token=token)
    if kind in ("sqlite", "postgresql") and rest:
        return _open_sql(kind, rest)
    # The rest of an unknown address may contain a password.
    raise UsageError(f"The address of the results store is wrong; it starts with {kind[:20]!r}.", hint=_FORMS)


def is_branch(name: str) -> bool:
    """Return whether git accepts a branch with this name, of the characters that a store's branch may have."""
    parts = name.split("/")
    return all(
        re.fullmatch(r"[0-9A-Za-z_][0-9A-Za-z._-]*", part)
        and ".." not in part
        and not part.endswith((".", ".lock"))
        for part in parts
    )


def _open_sql(kind: str, rest: str) -> ResultStore:
    try:
        from sqlalchemy.engine import URL, make_url
        from sqlalchemy.exc import ArgumentError

        if kind == "postgresql":
            import psycopg  # noqa: F401 - SQLAlchemy imports it only when it connects

        from infx.store.sql import SqlStore
    except ModuleNotFoundError as error:
        raise UsageError(
            f"A results store in SQL needs the package {error.name}, which is not installed.",
            hint="Install infx with the extra sql: pip install 'infx[sql]'.",
        ) from None
    if kind == "sqlite":
        return SqlStore(URL.create("sqlite", database=str(Path(rest).absolute())))
    try:
        url = make_url(f"postgresql+psycopg:{rest}")
    except (ArgumentError, ValueError):  # its text would show the password
        raise UsageError(
            "The address of the results store is not a valid postgresql address.", hint=_FORMS
        ) from None
    return SqlStore(url)
