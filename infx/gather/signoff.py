"""Everything that sign-offs of one pull request are judged by: what all of them share is asked for once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from infx.errors import InfxError
from infx.evidence.settle import parse_settlements
from infx.gather.signoff_clone import Revisions
from infx.gather.signoff_links import FetchPage, Upstream, resolve_link
from infx.gather.signoff_plan import read_configs, read_plan
from infx.gather.signoff_sweeps import SweepReader, Sweeps
from infx.github.errors import IncompleteListError
from infx.markdown import MAX_STRANGE
from infx.model import ChangedFile, Collaborator, Comment, CommentKind, CommitStatus, FileStatus, PullRequest
from infx.policy.identity import is_ours
from infx.policy.model import Policy
from infx.policy.paths import is_serving
from infx.reuse.command import find_command, list_commands
from infx.signoff.checks.recipe import RecipeLink, find_recipe_links
from infx.signoff.facts import FileChange, JudgedFile, Membership, ResolvedLink, SignoffFacts
from infx.signoff.record import Sighting, find_sightings
from infx.signoff.scope import list_logins, read_codeowners

MAX_PEOPLE = 12  # whose role is asked for beside the signers'
MAX_TEAMS = 4  # whose members are asked for


class SignoffReader(Upstream, SweepReader, Protocol):
    """The requests that verification makes; all of them only read."""

    def issue_comments(
        self, number: int, *, since: datetime | None = None, recent: int = 0
    ) -> list[Comment]: ...
    def reviews(self, number: int) -> list[Comment]: ...
    def review_comments(self, number: int) -> list[Comment]: ...
    def permission(self, login: str) -> Collaborator: ...
    def status_log(self, sha: str) -> list[CommitStatus]: ...
    def team_members(self, organization: str, team: str) -> frozenset[str] | None: ...


@dataclass
class SignoffGatherer:
    """One pull request's facts. policy_path: where the policy stands in the repository. people, teams, links, statuses
    (all that were ever set on the head), said (the conversation): what was asked for already.
    """

    github: SignoffReader
    revisions: Revisions
    policy: Policy
    policy_path: str
    repository: str
    now: datetime
    fetch_page: FetchPage
    people: dict[str, Collaborator] = field(default_factory=dict)
    teams: dict[str, frozenset[str] | None] = field(default_factory=dict)
    links: dict[RecipeLink, ResolvedLink] = field(default_factory=dict)
    statuses: tuple[CommitStatus, ...] | None = None
    said: tuple[Comment, ...] = ()

    def conversation(self, pull: PullRequest) -> tuple[Comment, ...]:
        """Comments of all three kinds, reviews of every state."""
        github, number = self.github, pull.number
        self.said = (
            *github.issue_comments(number, recent=pull.comments),
            *github.reviews(number),
            *github.review_comments(number),
        )
        return self.said

    def person(self, login: str) -> Collaborator:
        if login.lower() not in self.people:
            self.people[login.lower()] = self.github.permission(login)
        return self.people[login.lower()]

    def is_unknown(self, login: str) -> bool:
        """Whether GitHub was asked what somebody may do here and says that there is no such account."""
        person = self.people.get(login.lower())
        return person is not None and not person.is_known

    def sightings(self, facts: SignoffFacts) -> tuple[Sighting, ...]:
        """When which head was seen; asked for only where a comment must be bound to one."""
        if self.statuses is None:
            self.statuses = tuple(self.github.status_log(facts.pull.head_sha))
        runs = [found.run for found in facts.runs]
        return find_sightings(facts.pull, runs, self.statuses, self.said, self.policy.publisher)

    def is_read(self, comment: Comment) -> bool:
        """Not a long one by somebody who may not write here: a parser takes seconds for what is made to be slow."""
        if len(comment.body) <= MAX_STRANGE or not comment.author.is_human:
            return True
        return self.person(comment.author.login).can_write

    def shared(self, pull: PullRequest, comments: Sequence[Comment], any_signoff: Comment) -> SignoffFacts:
        """Facts that hold for every sign-off; `any_signoff` fills the place of one."""
        revisions, policy = self.revisions, self.policy
        files, shortfalls = self._files(pull)
        facts = SignoffFacts(
            repository=self.repository,
            pull=pull,
            base_sha=revisions.base,
            diff=revisions.fingerprint(),
            now=self.now,
            signoff=any_signoff,
            policy_path=self.policy_path,
            files=files,
            commits=revisions.commits(),
            codeowners=revisions.codeowners(),
            shortfalls=shortfalls,
            comments=tuple(c for c in comments if self._is_command(c)),
        )
        return self._with_owners(facts, policy)

    def evidence(self, facts: SignoffFacts) -> SignoffFacts:
        """Plan, configurations, runs and results: what only a sign-off needs."""
        revisions, policy = self.revisions, self.policy
        plan = read_plan(revisions)
        named = list(dict.fromkeys(key for entry in plan.entries for key in entry.config_keys))
        paths = [path for path in facts.paths if is_serving(path, policy)]
        configs = read_configs(revisions, named, paths)
        judged = revisions.judged(policy.eval_thresholds, policy.models)
        thresholds, models = judged
        facts = replace(
            facts,
            plan=plan,
            configs=configs.changes,
            known_configs=configs.known,
            shortfalls=(*facts.shortfalls, *configs.problems, *self._unread(judged)),
            recipes=revisions.recipes(configs.changes),
            checklists=revisions.checklists(),
            thresholds=thresholds,
            models=models,
            golden=revisions.judged_folder(policy.golden_al),
        )
        return Sweeps(self.github, revisions, policy, self.policy_path).add(facts)

    def _unread(self, judged: Sequence[JudgedFile]) -> list[str]:
        """What the target branch has and nobody could judge by, in sentences: it is not as if it were missing."""
        absent = [file.path for file in judged if file.base is None]
        found = self.revisions.git.read_many([(self.revisions.base, path) for path in absent])
        return [
            f"The target branch's {path} is no text that anybody could judge by."
            for path, data in zip(absent, found, strict=True)
            if data is not None
        ]

    def for_signoff(
        self, facts: SignoffFacts, signoff: Comment, reported_at: datetime | None
    ) -> SignoffFacts:
        """The shared facts with what belongs to one sign-off."""
        policy = self.policy.signoff
        own = replace(
            facts,
            signoff=signoff,
            signer=self.person(signoff.author.login),
            reported_at=reported_at,
            memberships=self._memberships(facts, signoff.author.login),
            waivers=self.revisions.waivers(facts.pull.number, signoff.body),
            links=tuple(self._resolve(link) for link in find_recipe_links(signoff.body, policy)),
        )
        for login in self._settlers(facts.comments)[-MAX_PEOPLE:]:
            self.person(login)
        for command in list_commands(facts.comments, self.policy.reuse)[:MAX_PEOPLE]:
            if self.person(command.comment.author.login).can_write:
                break
        return replace(own, people=tuple(self.people[login] for login in sorted(self.people)))

    def _resolve(self, link: RecipeLink) -> ResolvedLink:
        """Followed once, whoever has linked it."""
        if link not in self.links:
            self.links[link] = resolve_link(link, self.github, self.policy.signoff, self.fetch_page)
        return self.links[link]

    def _is_command(self, comment: Comment) -> bool:
        if comment.kind is not CommentKind.ISSUE or is_ours(comment.author, self.policy.identities):
            return False
        if not comment.author.is_human:
            return False
        words = (self.policy.signoff.settle_command, *self.policy.reuse.commands)
        if not any(word in comment.body for word in words) or not self.is_read(comment):
            return False
        settles = bool(parse_settlements(comment, self.policy.signoff.settle_command))
        return settles or find_command(comment.body, self.policy.reuse.commands) is not None

    def _settlers(self, comments: Iterable[Comment]) -> list[str]:
        command = self.policy.signoff.settle_command
        people = (comment for comment in comments if comment.author.is_human)
        return list(dict.fromkeys(c.author.login for c in people if parse_settlements(c, command)))

    def _files(self, pull: PullRequest) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """GitHub's list with git's lines, unseen where git knows no such change; what only git knows of is there too,
        and a short list is said.
        """
        added = self.revisions.added_lines()
        listed: list[ChangedFile] = []
        shortfalls: tuple[str, ...] = ()
        try:
            listed = self.github.files(pull)
        except IncompleteListError as error:
            shortfalls = (f"GitHub does not show all changed files. {error.message}",)
        files = [
            FileChange(
                path=file.path,
                status=file.status,
                previous_path=file.previous_path,
                added=added.get(file.path),
            )
            for file in listed
        ]
        known = {path for file in files for path in file.paths}
        files += [
            FileChange(path=path, status=FileStatus.CHANGED, added=lines)
            for path, lines in added.items()
            if path not in known
        ]
        return tuple(sorted(files, key=lambda file: file.path)), shortfalls

    def _with_owners(self, facts: SignoffFacts, policy: Policy) -> SignoffFacts:
        """Ask for the role of owners until one is found because of whom somebody must sign."""
        try:
            codeowners = read_codeowners(facts)
        except InfxError:
            return facts
        for login in list_logins(codeowners, facts.paths, policy.signoff)[:MAX_PEOPLE]:
            if not self.person(login).is_admin:
                break
        return replace(facts, people=tuple(self.people[login] for login in sorted(self.people)))

    def _memberships(self, facts: SignoffFacts, login: str) -> tuple[Membership, ...]:
        """Only of teams on whose lines the signer is not named, and that the policy does not list."""
        try:
            codeowners = read_codeowners(facts)
        except InfxError:
            return ()
        listed = {team.lower() for team in self.policy.signoff.teams}
        rules = [rule for path in facts.paths if (rule := codeowners.rule_for(path))]
        teams = dict.fromkeys(
            owner
            for rule in rules
            if f"@{login.lower()}" not in {owner.lower() for owner in rule.owners}
            for owner in rule.owners
            if owner.startswith("@") and "/" in owner and owner.lower() not in listed
        )
        found = []
        for team in teams:
            members = self._team(team)
            is_member = None if members is None else login.lower() in members
            found.append(Membership(team=team, login=login, is_member=is_member))
        return tuple(found)

    def _team(self, team: str) -> frozenset[str] | None:
        """Asked for once, whoever has signed."""
        name = team.lower()
        if name not in self.teams and len(self.teams) < MAX_TEAMS:
            organization, _, slug = name[1:].partition("/")
            self.teams[name] = self.github.team_members(organization, slug)
        return self.teams.get(name)
