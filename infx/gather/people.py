"""Who may do what in the repository, and who is in which team: everybody is asked for once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from infx.model import Collaborator


class PeopleReader(Protocol):
    def permission(self, login: str) -> Collaborator: ...
    def team_members(self, organization: str, team: str) -> frozenset[str] | None: ...


@dataclass
class People:
    """known: by lower-case login. teams: members by the team's lower-case name, None where the token may not know;
    most: of them that are asked for.
    """

    reader: PeopleReader
    most: int
    known: dict[str, Collaborator] = field(default_factory=dict)
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
        """Whether GitHub was asked what somebody may do here and says that there is no such account."""
        person = self.known.get(login.lower())
        return person is not None and not person.is_known

    def is_member(self, team: str, login: str) -> bool | None:
        """None where nobody may know, or too many teams were asked for. team: like @owner/name."""
        name = team.lower()
        if name not in self.teams and len(self.teams) < self.most:
            organization, _, slug = name[1:].partition("/")
            self.teams[name] = self.reader.team_members(organization, slug)
        members = self.teams.get(name)
        return None if members is None else login.lower() in members
