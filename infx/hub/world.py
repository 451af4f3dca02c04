"""The base class of the hub's actions: state, git, clock, accounts and ids."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from infx.hub.git import BareRepository
from infx.hub.state import Account, Label, Pull, State
from infx.model import UserType

_P = ParamSpec("_P")
_R = TypeVar("_R")
_W = TypeVar("_W", bound="World")

WORKFLOW_LOGIN = "github-actions[bot]"


def locked(method: Callable[Concatenate[_W, _P], _R]) -> Callable[Concatenate[_W, _P], _R]:
    """Let a method run under the lock, so that there is one change at a time, by HTTP or from Python."""

    @functools.wraps(method)
    def wrapper(self: _W, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with self.lock:
            return method(self, *args, **kwargs)

    return wrapper


def utc_now() -> datetime:
    return datetime.now(UTC)


class World:
    """A repository with its state, git repository, accounts and clock."""

    def __init__(self, repository: str, folder: Path, *, branch: str, clock: Callable[[], datetime]) -> None:
        self.lock = threading.RLock()
        self.repository = repository  # `owner/name`
        self.branch = branch
        self.git = BareRepository(folder, branch)
        self.state = State()
        self.clock = clock  # returns times with a zone
        self.api = "http://127.0.0.1"  # replaced by the address of the server
        self.web = "https://github.com"
        self.account(WORKFLOW_LOGIN, type=UserType.BOT)
        self.account(repository.split("/", maxsplit=1)[0], type=UserType.ORGANIZATION)

    @property
    def git_path(self) -> Path:
        """The bare git repository."""
        return self.git.path

    def now(self) -> str:
        return self.clock().astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")

    def seconds(self) -> int:
        return int(self.clock().timestamp())

    def next_id(self, kind: str, first: int = 1) -> int:
        """Return the next id of a kind, counting up from `first`."""
        value = self.state.ids.get(kind, first - 1) + 1
        self.state.ids[kind] = value
        return value

    @locked
    def account(
        self,
        login: str,
        *,
        role: str | None = None,
        type: UserType | None = None,  # noqa: A002 - GitHub's own word
        custom_base: str | None = None,
    ) -> Account:
        """Return the account with a login, creating it if needed; set its role, type and custom_base."""
        known = self.state.accounts.get(login.lower())
        if known is None:
            guess = UserType.BOT if login.endswith("[bot]") else UserType.USER
            known = Account(id=self.next_id("account", 1001), login=login, type=guess)
            self.state.accounts[login.lower()] = known
        known.role = known.role if role is None else role
        known.type = known.type if type is None else type
        known.custom_base = known.custom_base if custom_base is None else custom_base
        return known

    def find_base(self, pull: Pull) -> str:
        """Return the base branch's SHA that a pull request is compared with: after the merge the old one."""
        tip = self.git.resolve(f"refs/heads/{pull.base_ref}")
        return pull.base_sha if pull.merged_at or tip is None else tip

    def find_commits(self, number: int) -> tuple[str, str]:
        """Return the SHAs of a pull request's head and of the base that it is compared with."""
        pull = self.state.pulls[number]
        return pull.head_sha, self.find_base(pull)

    def association(self, login: str | None) -> str:
        account = self.state.accounts.get((login or "").lower())
        if account is None or account.type is not UserType.USER:
            return "NONE"
        if account.permission in {"write", "admin"}:
            return "MEMBER"
        pulls = self.state.pulls.values()
        return "CONTRIBUTOR" if any(p.author == login and p.merged_at for p in pulls) else "NONE"

    @locked
    def get_or_make_label(self, name: str) -> Label:
        """Return the label with a name, creating it if needed; a label keeps its first spelling."""
        known = self.state.labels.get(name.lower())
        if known is None:
            known = Label(id=self.next_id("label", 7001), name=name)
            self.state.labels[name.lower()] = known
        return known
