"""Everything that the sign-offs of one pull request are judged by, read once; what all of them share is shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from infx.codeowners import CodeOwners
from infx.errors import InfxError, UnavailableError
from infx.gather.clone import GitClone
from infx.gather.people import People, PeopleReader
from infx.gather.signoff_clone import Revisions, open_revisions
from infx.gather.signoff_links import FetchPage, Upstream, resolve_link
from infx.gather.signoff_plan import read_configs, read_plan
from infx.gather.signoff_sweeps import SweepReader, Sweeps
from infx.git import Git
from infx.github.errors import IncompleteListError
from infx.model import GHOST, Comment, CommentKind, CommentReference, CommitStatus, FileStatus, PullRequest
from infx.policy.model import Policy
from infx.policy.paths import is_serving
from infx.signoff.checks.recipe import RecipeLink, find_recipe_links
from infx.signoff.decide import GatheredSignoffs, PassedOver
from infx.signoff.facts import FileChange, JudgedFile, Membership, ResolvedLink, SignoffFacts
from infx.signoff.publish import SignoffReading
from infx.signoff.record import Standing, bind, find_record, find_sightings, rebind
from infx.signoff.request import find_scope_refusal
from infx.signoff.scope import list_logins, list_teams, read_codeowners
from infx.signoff.selection import Said, SignoffSelection, list_edited, list_strangers, read_said, select

MAX_PEOPLE = 12  # owners whose role is asked for
MAX_TEAMS = 4  # whose members are asked for


class SignoffReader(Upstream, SweepReader, PeopleReader, Protocol):
    """The requests that verification makes; all of them only read."""

    def now(self) -> datetime: ...
    def issue_comments(
        self, number: int, *, since: datetime | None = None, recent: int = 0
    ) -> list[Comment]: ...
    def reviews(self, number: int) -> list[Comment]: ...
    def review_comments(self, number: int) -> list[Comment]: ...
    def editors(self, comments: Sequence[Comment]) -> dict[str, str]: ...
    def status_log(self, sha: str) -> list[CommitStatus]: ...


@dataclass(frozen=True, kw_only=True)
class SignoffGatherer:
    """clone: of the repository, to fetch into; None: what is here is read as it is. git: the same, to read from.
    policy_path: where the policy stands in the repository.
    """

    github: SignoffReader
    git: Git
    clone: GitClone | None
    policy: Policy
    policy_path: str
    repository: str
    fetch_page: FetchPage

    def gather(self, number: int, only: CommentReference | None = None) -> GatheredSignoffs | PassedOver:
        """Everything about a pull request's sign-offs. only: raise if this comment is not one of them."""
        pull = self.github.pull(number)
        if why := find_scope_refusal(pull, self.policy.base_branch):
            if only is not None:
                raise InfxError(f"This comment starts no verification: {why}")
            return PassedOver(pull=pull, why=why)
        base = self.clone.fetch(pull.base_ref, [number]) if self.clone else pull.base_sha
        revisions = open_revisions(self.git, self.policy, base, pull.head_sha)
        people = People(self.github, MAX_TEAMS)
        return _Reading(self, pull, revisions, self.github.now(), people).read(only)


@dataclass
class _Reading:
    """One pull request. evidence, statuses (all that were ever set on the head), links: what was read already."""

    by: SignoffGatherer
    pull: PullRequest
    revisions: Revisions
    now: datetime
    people: People
    evidence: SignoffFacts | None = None
    statuses: tuple[CommitStatus, ...] | None = None
    links: dict[RecipeLink, ResolvedLink] = field(default_factory=dict)

    def read(self, only: CommentReference | None) -> GatheredSignoffs:
        said, selection, editors = self._conversation()
        if only is not None:
            selection.require(only, said.comments)
        owners, shared = self._shared(said, selection.signoffs)
        readings = []
        for signoff in selection.choose(only):
            record = find_record(said.comments, signoff, self.by.policy, editors)
            binding = bind(record, signoff, self.pull.head_sha, shared.diff, self.now)
            readings.append(self._try(SignoffReading(signoff=signoff, binding=binding), shared, owners, said))
        return GatheredSignoffs(
            pull=self.pull,
            said=said,
            selection=selection,
            shared=shared,
            readings=tuple(readings),
            unknown=tuple(c for c, _ in selection.passed_over if self.people.is_unknown(c.author.login)),
            statuses=self.statuses,
        )

    def _conversation(self) -> tuple[Said, SignoffSelection, dict[str, str]]:
        """Comments of all three kinds, reviews of every state; and who edited those that matter."""
        github, policy, people, number = self.by.github, self.by.policy, self.people, self.pull.number
        comments = (
            *github.issue_comments(number, recent=self.pull.comments),
            *github.reviews(number),
            *github.review_comments(number),
        )
        people.ask(*list_strangers(comments, policy))
        said = read_said(comments, policy, people.known)
        people.ask(*said.signers)
        selection = select(said, people.known, {})
        edited = list_edited(selection.signoffs, comments, policy)
        editors = github.editors(edited) if edited else {}
        return said, select(said, people.known, editors), editors

    def _shared(self, said: Said, signoffs: Sequence[Comment]) -> tuple[CodeOwners | None, SignoffFacts]:
        """Facts that hold for every sign-off; the first, or nobody's, fills the place of one."""
        revisions = self.revisions
        files, shortfalls = self._files()
        facts = SignoffFacts(
            repository=self.by.repository,
            pull=self.pull,
            base_sha=revisions.base,
            diff=revisions.make_fingerprint(),
            now=self.now,
            signoff=signoffs[0] if signoffs else _nobody(self.pull),
            policy_path=self.by.policy_path,
            files=files,
            commits=revisions.list_commits(),
            codeowners=revisions.read_codeowners(),
            shortfalls=shortfalls,
            comments=said.commands,
        )
        try:
            owners = read_codeowners(facts)
        except InfxError:
            return None, facts
        for login in list_logins(owners, facts.paths, self.by.policy.signoff)[:MAX_PEOPLE]:
            if not self.people.ask_one(login).is_admin:
                break  # because of whom somebody must sign
        return owners, replace(facts, people=self.people.all)

    def _files(self) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """GitHub's list with git's lines, unseen where git knows no such change; what only git knows of is there too,
        and a short list is said.
        """
        added = self.revisions.read_added_lines()
        shortfalls: tuple[str, ...] = ()
        try:
            listed = self.by.github.files(self.pull)
        except IncompleteListError as error:
            listed, shortfalls = [], (f"GitHub does not show all changed files. {error.message}",)
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

    def _try(
        self, reading: SignoffReading, shared: SignoffFacts, owners: CodeOwners | None, said: Said
    ) -> SignoffReading:
        """What GitHub or git did not let us read is waited for; anything else that keeps us from reading is an error."""
        try:
            return self._read_one(reading, shared, owners, said)
        except UnavailableError as error:
            return replace(reading, unread=str(error))
        except InfxError as error:
            return replace(reading, error=str(error))

    def _read_one(
        self, reading: SignoffReading, shared: SignoffFacts, owners: CodeOwners | None, said: Said
    ) -> SignoffReading:
        """Nothing more for one that is of another commit; what else binds it is asked for only if it is a new one."""
        signoff, binding = reading.signoff, reading.binding
        if binding.standing is Standing.STALE:
            return reading
        if self.evidence is None:
            self.evidence = self._evidence(shared)
        if binding.standing is Standing.FRESH:
            if self.statuses is None:
                self.statuses = tuple(self.by.github.status_log(self.pull.head_sha))
            runs = [found.run for found in self.evidence.runs]
            publisher = self.by.policy.publisher
            sightings = find_sightings(self.pull, runs, self.statuses, said.comments, publisher)
            binding = rebind(binding, signoff, self.pull.head_sha, sightings)
        if binding.standing.is_open:
            return replace(reading, binding=binding)
        is_new = binding.standing is Standing.FRESH
        facts = replace(
            self._own(self.evidence, signoff, owners), reported_at=None if is_new else binding.record.since
        )
        return replace(reading, binding=binding, facts=self._with_people(facts, said))

    def _evidence(self, facts: SignoffFacts) -> SignoffFacts:
        """Plan, configurations, runs and results: what only a sign-off needs."""
        revisions, policy = self.revisions, self.by.policy
        plan = read_plan(revisions)
        named = list(dict.fromkeys(key for entry in plan.entries for key in entry.config_keys))
        paths = [path for path in facts.paths if is_serving(path, policy)]
        configs = read_configs(revisions, named, paths)
        judged = revisions.read_judged(policy.eval_thresholds, policy.models)
        thresholds, models = judged
        facts = replace(
            facts,
            plan=plan,
            configs=configs.changes,
            known_configs=configs.known,
            shortfalls=(*facts.shortfalls, *configs.problems, *self._unread(judged)),
            recipes=revisions.read_recipes(configs.changes),
            checklists=revisions.read_checklists(),
            thresholds=thresholds,
            models=models,
            golden=revisions.read_judged_folder(policy.golden_al),
        )
        return Sweeps(self.by.github, revisions, policy, self.by.policy_path).add(facts)

    def _unread(self, judged: Sequence[JudgedFile]) -> list[str]:
        """What the target branch has and nobody could judge by, in sentences: it is not as if it were missing."""
        absent = [file.path for file in judged if file.base is None]
        found = self.revisions.git.read_many([(self.revisions.base, path) for path in absent])
        return [
            f"The target branch's {path} is no text that anybody could judge by."
            for path, data in zip(absent, found, strict=True)
            if data is not None
        ]

    def _own(self, facts: SignoffFacts, signoff: Comment, owners: CodeOwners | None) -> SignoffFacts:
        """The shared facts with what belongs to one sign-off."""
        policy, login = self.by.policy.signoff, signoff.author.login
        teams = list_teams(owners, facts.paths, login, policy) if owners else ()
        return replace(
            facts,
            signoff=signoff,
            signer=self.people.ask_one(login),
            memberships=tuple(
                Membership(team=team, login=login, is_member=self.people.is_member(team, login))
                for team in teams
            ),
            waivers=self.revisions.read_waivers(facts.pull.number, signoff.body),
            links=tuple(self._resolve(link) for link in find_recipe_links(signoff.body, policy)),
        )

    def _resolve(self, link: RecipeLink) -> ResolvedLink:
        """Followed once, whoever has linked it."""
        if link not in self.links:
            policy = self.by.policy.signoff
            self.links[link] = resolve_link(link, self.by.github, policy, self.by.fetch_page)
        return self.links[link]

    def _with_people(self, facts: SignoffFacts, said: Said) -> SignoffFacts:
        """Those who settle, and the last who asks for reuse and may."""
        self.people.ask(*said.settlers)
        for login in said.reusers:
            if self.people.ask_one(login).can_write:
                break
        return replace(facts, people=self.people.all)


def _nobody(pull: PullRequest) -> Comment:
    """In the place of a sign-off where there is none and only the scope is asked for."""
    return Comment(
        id=0,
        kind=CommentKind.ISSUE,
        author=GHOST,
        body="",
        created_at=pull.created_at,
        updated_at=pull.created_at,
        url="",
        pull_number=pull.number,
    )
