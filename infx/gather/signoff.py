"""Gather the facts that the sign-offs of one pull request are judged by; shared facts are read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from infx.codeowners import CodeOwners
from infx.errors import InfxError, UnavailableError
from infx.gate.event import Event, EventName
from infx.gather.clone import GitClone
from infx.gather.known_runs import KnownRuns
from infx.gather.people import People
from infx.gather.reuse import ReuseGatherer, ReuseReader
from infx.gather.signoff_clone import Revisions, open_revisions
from infx.gather.signoff_links import FetchPage, Upstream, resolve_link
from infx.gather.signoff_plan import read_configs, read_plan
from infx.gather.signoff_sweeps import SweepReader, Sweeps
from infx.git import Git
from infx.github.errors import IncompleteListError
from infx.model import GHOST, Comment, CommentKind, CommentReference, CommitStatus, FileStatus, PullRequest
from infx.policy.model import Policy
from infx.policy.paths import is_serving
from infx.records import record
from infx.reuse.command import list_commands
from infx.reuse.facts import AskedPull, ReuseFacts
from infx.signoff.checks.recipe import RecipeLink, find_recipe_links
from infx.signoff.decide import GatheredSignoffs, SkippedPull
from infx.signoff.facts import FileChange, JudgedFile, Membership, ResolvedLink, SignoffFacts
from infx.signoff.publish import SignoffReading
from infx.signoff.record import Standing, bind, find_record, find_sightings, rebind
from infx.signoff.request import find_scope_refusal
from infx.signoff.scope import list_logins, list_teams, parse_base_codeowners
from infx.signoff.selection import (
    ParsedConversation,
    SignoffSelection,
    find_edited_comments,
    list_long_comment_authors,
    parse_conversation,
    select_signoffs,
)

MAX_PEOPLE = 12  # owners whose role is read
MAX_TEAMS = 4  # teams whose members are read


class SignoffReader(Upstream, SweepReader, ReuseReader, Protocol):
    """The requests that verification makes; all of them are reads."""

    def now(self) -> datetime: ...
    def issue_comments(
        self, number: int, *, since: datetime | None = None, recent: int = 0
    ) -> list[Comment]: ...
    def reviews(self, number: int) -> list[Comment]: ...
    def review_comments(self, number: int) -> list[Comment]: ...
    def editors(self, comments: Sequence[Comment]) -> dict[str, str]: ...
    def status_log(self, sha: str) -> list[CommitStatus]: ...


@record
class SignoffGatherer:
    """Gathers the facts of sign-offs from GitHub and from a clone."""

    github: SignoffReader
    git: Git  # the clone's git, to read from
    clone: GitClone | None  # the clone to fetch into; None: read the commits that are present
    policy: Policy
    policy_path: str  # the policy's path in the repository
    repository: str
    fetch_page: FetchPage

    def gather(self, number: int, only: CommentReference | None = None) -> GatheredSignoffs | SkippedPull:
        """Gather everything about a pull request's sign-offs.

        Args:
            only: a comment; raise if it is not a sign-off.
        """
        pull = self.github.pull(number)
        if why := find_scope_refusal(pull, self.policy.base_branch):
            if only is not None:
                raise InfxError(f"This comment is not verified: {why}")
            return SkippedPull(pull=pull, why=why)
        base = self.clone.fetch(pull.base_ref, [number]) if self.clone else pull.base_sha
        revisions = open_revisions(self.git, self.policy, base, pull.head_sha)
        people = People(self.github, MAX_TEAMS)
        return _Reading(self, pull, revisions, self.github.now(), people).read(only)


@dataclass
class _Reading:
    """The facts about one pull request while they are read."""

    by: SignoffGatherer
    pull: PullRequest
    revisions: Revisions
    now: datetime
    people: People
    evidence: SignoffFacts | None = None
    statuses: tuple[CommitStatus, ...] | None = None  # all statuses ever set on the head
    links: dict[RecipeLink, ResolvedLink] = field(default_factory=dict)

    def read(self, only: CommentReference | None) -> GatheredSignoffs:
        conversation, selection, editors = self._read_conversation()
        if only is not None:
            selection.require(only, conversation.comments)
        owners, shared = self._read_shared(conversation, selection.signoffs)
        readings = []
        for signoff in selection.choose(only):
            record = find_record(conversation.comments, signoff, self.by.policy, editors)
            binding = bind(record, signoff, self.pull.head_sha, shared.diff, self.now)
            reading = SignoffReading(signoff=signoff, binding=binding)
            readings.append(self._read_signoff(reading, shared, owners, conversation))
        return GatheredSignoffs(
            pull=self.pull,
            conversation=conversation,
            selection=selection,
            shared=shared,
            readings=tuple(readings),
            unknown=tuple(c for c, _ in selection.passed_over if self.people.is_unknown(c.author.login)),
            statuses=self.statuses,
        )

    def _read_conversation(self) -> tuple[ParsedConversation, SignoffSelection, dict[str, str]]:
        """Return the conversation, the selected sign-offs, and the editors of edited comments that matter."""
        github, policy, people, number = self.by.github, self.by.policy, self.people, self.pull.number
        comments = (
            *github.issue_comments(number, recent=self.pull.comments),
            *github.reviews(number),
            *github.review_comments(number),
        )
        people.ask(*list_long_comment_authors(comments, policy))
        conversation = parse_conversation(comments, policy, people.known)
        people.ask(*conversation.signers)
        selection = select_signoffs(conversation, people.known, {})
        edited = find_edited_comments(selection.signoffs, comments, policy)
        editors = github.editors(edited) if edited else {}
        return conversation, select_signoffs(conversation, people.known, editors), editors

    def _read_shared(
        self, conversation: ParsedConversation, signoffs: Sequence[Comment]
    ) -> tuple[CodeOwners | None, SignoffFacts]:
        """Return the code owners, and the facts that hold for every sign-off."""
        revisions = self.revisions
        files, shortfalls = self._read_files()
        facts = SignoffFacts(
            repository=self.by.repository,
            pull=self.pull,
            base_sha=revisions.base,
            diff=revisions.make_fingerprint(),
            now=self.now,
            signoff=signoffs[0] if signoffs else _make_placeholder(self.pull),
            policy_path=self.by.policy_path,
            files=files,
            commits=revisions.list_commits(),
            codeowners=revisions.read_codeowners(),
            shortfalls=shortfalls,
            comments=conversation.commands,
        )
        try:
            owners = parse_base_codeowners(facts)
        except InfxError:
            return None, facts
        for login in list_logins(owners, facts.paths, self.by.policy.signoff)[:MAX_PEOPLE]:
            if not self.people.ask_one(login).is_admin:
                break  # this owner alone makes a sign-off necessary
        return owners, replace(facts, people=self.people.all)

    def _read_files(self) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """Return the changed files with their added lines, from GitHub and git, and what could not be read.

        A file that git does not report as changed has no readable lines.
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

    def _read_signoff(
        self,
        reading: SignoffReading,
        shared: SignoffFacts,
        owners: CodeOwners | None,
        conversation: ParsedConversation,
    ) -> SignoffReading:
        """Return the facts of one sign-off, or why they could not be read."""
        try:
            return self._read_facts(reading, shared, owners, conversation)
        except UnavailableError as error:  # GitHub or git did not answer: pending
            return replace(reading, unread=str(error))
        except InfxError as error:
            return replace(reading, error=str(error))

    def _read_facts(
        self,
        reading: SignoffReading,
        shared: SignoffFacts,
        owners: CodeOwners | None,
        conversation: ParsedConversation,
    ) -> SignoffReading:
        """Return the facts of one sign-off; a sign-off of another commit needs no facts."""
        signoff, binding = reading.signoff, reading.binding
        if binding.standing is Standing.STALE:
            return reading
        if self.evidence is None:
            self.evidence = self._add_reuse(self._read_evidence(shared))
        if binding.standing is Standing.FRESH:  # find the commit that a new sign-off is about
            if self.statuses is None:
                self.statuses = tuple(self.by.github.status_log(self.pull.head_sha))
            runs = [evidence.run for evidence in self.evidence.runs]
            publisher = self.by.policy.publisher
            sightings = find_sightings(self.pull, runs, self.statuses, conversation.comments, publisher)
            binding = rebind(binding, signoff, self.pull.head_sha, sightings)
        if binding.standing.is_open:
            return replace(reading, binding=binding)
        is_new = binding.standing is Standing.FRESH
        facts = replace(
            self._add_own(self.evidence, signoff, owners),
            reported_at=None if is_new else binding.record.since,
        )
        return replace(reading, binding=binding, facts=self._add_people(facts, conversation))

    def _read_evidence(self, facts: SignoffFacts) -> SignoffFacts:
        """Add the plan, configurations, runs and results to the facts."""
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
            shortfalls=(*facts.shortfalls, *configs.problems, *self._find_unreadable(judged)),
            recipes=revisions.read_recipes(configs.changes),
            checklists=revisions.read_checklists(),
            thresholds=thresholds,
            models=models,
            golden=revisions.read_judged_folder(policy.golden_al),
        )
        return Sweeps(self.by.github, revisions, policy, self.by.policy_path).add(facts)

    def _add_reuse(self, facts: SignoffFacts) -> SignoffFacts:
        """Add the facts of the decision about reuse, without reading runs a second time."""
        by, pull = self.by, self.pull
        commands = list_commands(facts.comments, by.policy.reuse)
        asked = AskedPull(
            number=pull.number, comments=tuple(command.comment for command in reversed(commands))
        )
        event = Event(name=EventName.ASKED, pull=pull.number)
        gatherer = ReuseGatherer(
            github=by.github,
            policy=by.policy,
            clone=by.clone or GitClone(by.git),
            policy_path=by.policy_path,
            known=KnownRuns(by.github, facts.runs),
        )
        reuse = ReuseFacts(event=event, pulls=(asked,), pull=pull)
        reuse = gatherer.complete(reuse, tip=self.revisions.base, people=self.people)
        return replace(facts, reuse=reuse)

    def _find_unreadable(self, judged: Sequence[JudgedFile]) -> list[str]:
        """Return a sentence for each file that exists on the target branch but cannot be read as text."""
        absent = [file.path for file in judged if file.base is None]
        contents = self.revisions.git.read_many([(self.revisions.base, path) for path in absent])
        return [
            f"The target branch's {path} cannot be read as text."
            for path, data in zip(absent, contents, strict=True)
            if data is not None
        ]

    def _add_own(self, facts: SignoffFacts, signoff: Comment, owners: CodeOwners | None) -> SignoffFacts:
        """Add what belongs to one sign-off to the shared facts."""
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
        """Return the state of a link, which is followed once for all sign-offs."""
        if link not in self.links:
            policy = self.by.policy.signoff
            self.links[link] = resolve_link(link, self.by.github, policy, self.by.fetch_page)
        return self.links[link]

    def _add_people(self, facts: SignoffFacts, conversation: ParsedConversation) -> SignoffFacts:
        """Add the people who settle checks."""
        self.people.ask(*conversation.settlers)
        return replace(facts, people=self.people.all)


def _make_placeholder(pull: PullRequest) -> Comment:
    """Return an empty comment in place of a sign-off, for a pull request without sign-offs."""
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
