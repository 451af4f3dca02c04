"""Read permissions and team members from GitHub, each person and each team once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from infx.model import Collaborator


class PeopleReader(Protocol):
    def permission(self, login: str) -> Collaborator: ...
    def team_members(self, organization: str, team: str) -> frozenset[str] | None: ...


@dataclass
class People:
    """People and teams that were read so far."""

    reader: PeopleReader
    most: int  # the largest number of teams to read
    known: dict[str, Collaborator] = field(default_factory=dict)  # by lower-case login
    # Members by the team's lower-case name; None if the token may not read them.
    teams: dict[str, frozenset[str] | None] = field(default_factory=dict)

    @property
    def all(self) -> tuple[Collaborator, ...]:
        return tuple(self.known[login] for login in sorted(self.known))

    def ask(self, *logins: str) -> None:
        for login in logins:
            self.ask_one(login)

    def ask_one(self, login: str) -> Collaborator:
        if login.lower() not in self.known:
            self.known[login.lower()] = self.reader.permission(login)
        return self.known[login.lower()]

    def is_unknown(self, login: str) -> bool:
        """Return whether GitHub was asked for an account and reported that it does not exist."""
        person = self.known.get(login.lower())
        return person is not None and not person.is_known

    def is_member(self, team: str, login: str) -> bool | None:
        """Return whether a team `@owner/name` has a member; None if its members could not be read."""
        name = team.lower()
        if name not in self.teams and len(self.teams) < self.most:
            organization, _, slug = name[1:].partition("/")
            self.teams[name] = self.reader.team_members(organization, slug)
        members = self.teams.get(name)
        return None if members is None else login.lower() in members
