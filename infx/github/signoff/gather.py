"""Everything that sign-offs of one pull request are judged by: what all of them share is asked for once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol, TypeVar

from infx.artifacts import read_zip
from infx.comments.sticky import is_ours
from infx.errors import InfxError
from infx.github.errors import IncompleteListError, NotFoundError
from infx.github.signoff.clone import Revisions
from infx.github.signoff.links import FetchPage, Upstream, resolve_links
from infx.github.signoff.plan import read_configs, read_plan
from infx.model import (
    Artifact,
    ChangedFile,
    Collaborator,
    Comment,
    CommentKind,
    CommitStatus,
    FileStatus,
    Job,
    PullRequest,
    ReviewState,
    Run,
)
from infx.policy.approval import pick_approval
from infx.policy.model import Policy
from infx.results.artifact import ReadArtifact
from infx.reuse.command import find_command
from infx.signoff.checks.recipe import find_recipe_links
from infx.signoff.codeowners import parse_codeowners
from infx.signoff.coverage import choose_coverage, find_candidates
from infx.signoff.facts import Facts, FileChange, Membership, Results, SweepRun
from infx.signoff.results import ResultsFaultError, read_points, read_scores
from infx.signoff.scope import list_logins
from infx.signoff.settle import parse_settlements

_T = TypeVar("_T")

NEWEST_RUNS = 50
MAX_RUNS = 3  # whose jobs are read, newest first
MAX_PEOPLE = 12  # whose role is asked for beside the signers'
MAX_TEAMS = 4
SCORES, POINTS = "eval_results_all", "results_bmk"  # artifacts that a sweep's collection leaves
MAX_ARTIFACT = 20_000_000  # bytes of a zip file


class Reader(Upstream, Protocol):
    """The requests that verification makes; all of them only read."""

    def issue_comments(self, number: int, *, since: datetime | None = None) -> list[Comment]: ...
    def reviews(self, number: int) -> list[Comment]: ...
    def review_comments(self, number: int) -> list[Comment]: ...
    def permission(self, login: str) -> Collaborator: ...
    def team_member(self, organization: str, team: str, login: str) -> bool | None: ...
    def statuses(self, sha: str) -> list[CommitStatus]: ...
    def runs(
        self, *, workflow: str | None = None, branch: str | None = None, newest: int | None = None
    ) -> list[Run]: ...
    def run(self, run_id: int) -> Run: ...
    def jobs(self, run_id: int, *, every_attempt: bool = False) -> list[Job]: ...
    def artifacts(self, run_id: int) -> list[Artifact]: ...
    def download_artifact(self, artifact_id: int, *, limit: int) -> bytes: ...


@dataclass
class Gatherer:
    """One pull request's facts. policy_path: where the policy stands in the repository."""

    github: Reader
    revisions: Revisions
    policy: Policy
    policy_path: str
    repository: str
    now: datetime
    fetch_page: FetchPage
    people: dict[str, Collaborator] = field(default_factory=dict)

    def conversation(self, number: int) -> tuple[Comment, ...]:
        """Comments of all three kinds; a dismissed review says nothing any more."""
        github = self.github
        found = [*github.issue_comments(number), *github.reviews(number), *github.review_comments(number)]
        return tuple(comment for comment in found if comment.review_state is not ReviewState.DISMISSED)

    def person(self, login: str) -> Collaborator:
        if login.lower() not in self.people:
            self.people[login.lower()] = self.github.permission(login)
        return self.people[login.lower()]

    def shared(self, pull: PullRequest, comments: Sequence[Comment], any_signoff: Comment) -> Facts:
        """Facts that hold for every sign-off; `any_signoff` fills the place of one."""
        revisions, policy = self.revisions, self.policy
        files, shortfalls = self._files(pull)
        facts = Facts(
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

    def evidence(self, facts: Facts) -> Facts:
        """Plan, configurations, runs and results: what only a sign-off needs."""
        revisions, policy = self.revisions, self.policy
        plan = read_plan(revisions)
        named = list(dict.fromkeys(key for entry in plan.entries for key in entry.keys))
        configs, known = read_configs(revisions, named)
        thresholds, models = revisions.judged(policy.eval_thresholds, policy.models)
        facts = replace(
            facts,
            plan=plan,
            configs=configs,
            known_configs=known,
            recipes=revisions.recipes(configs),
            checklists=revisions.checklists(),
            thresholds=thresholds,
            models=models,
            golden=revisions.judged_folder(policy.golden_al),
            approved_run=self._approved_run(facts.pull),
        )
        facts = self._with_runs(facts)
        return replace(facts, results=self._results(facts))

    def for_signoff(self, facts: Facts, signoff: Comment, reported_at: datetime | None) -> Facts:
        """The shared facts with what belongs to one sign-off."""
        policy = self.policy.signoff
        own = replace(
            facts,
            signoff=signoff,
            signer=self.person(signoff.author.login),
            reported_at=reported_at,
            memberships=self._memberships(facts, signoff.author.login),
            waivers=self.revisions.waivers(facts.pull.number, signoff.body),
            links=resolve_links(
                find_recipe_links(signoff.body, policy), self.github, policy, self.fetch_page
            ),
        )
        for login in self._settlers(facts.comments)[-MAX_PEOPLE:]:
            self.person(login)
        return replace(own, people=tuple(self.people[login] for login in sorted(self.people)))

    def _is_command(self, comment: Comment) -> bool:
        if comment.kind is not CommentKind.ISSUE or is_ours(comment.author, self.policy.identities):
            return False
        words = (self.policy.signoff.settle_command, *self.policy.reuse.commands)
        if not any(word in comment.body for word in words):
            return False
        settles = bool(parse_settlements(comment, self.policy.signoff.settle_command))
        return settles or find_command(comment.body, self.policy.reuse.commands) is not None

    def _settlers(self, comments: Iterable[Comment]) -> list[str]:
        command = self.policy.signoff.settle_command
        return list(dict.fromkeys(c.author.login for c in comments if parse_settlements(c, command)))

    def _files(self, pull: PullRequest) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """GitHub's list with git's lines; what only git knows of is there too, and a short list is said."""
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
                added=added.get(file.path, ()),
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

    def _with_owners(self, facts: Facts, policy: Policy) -> Facts:
        """Ask for the role of owners until one is found because of whom somebody must sign."""
        if facts.codeowners is None:
            return facts
        try:
            codeowners = parse_codeowners(facts.codeowners.text, facts.codeowners.path)
        except InfxError:
            return facts
        for login in list_logins(codeowners, facts.paths, policy.signoff)[:MAX_PEOPLE]:
            if not self.person(login).is_admin:
                break
        return replace(facts, people=tuple(self.people[login] for login in sorted(self.people)))

    def _memberships(self, facts: Facts, login: str) -> tuple[Membership, ...]:
        """Only of teams on whose lines the signer is not named, and that the policy does not list."""
        if facts.codeowners is None:
            return ()
        try:
            codeowners = parse_codeowners(facts.codeowners.text, facts.codeowners.path)
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
        for team in list(teams)[:MAX_TEAMS]:
            organization, _, slug = team[1:].partition("/")
            is_member = self.github.team_member(organization, slug, login)
            found.append(Membership(team=team, login=login, is_member=is_member))
        return tuple(found)

    def _approved_run(self, pull: PullRequest) -> int | None:
        """A fork's sweep is the run that the approval of this very head names."""
        if not pull.is_fork:
            return None
        approval = pick_approval(pull.head_sha, self.github.statuses(pull.head_sha), self.policy)
        match = re.search(r"/actions/runs/([0-9]{1,18})", approval.url) if approval else None
        return int(match[1]) if match else None

    def _with_runs(self, facts: Facts) -> Facts:
        """Jobs are read of the newest runs that may count, until one of them shows the whole plan."""
        if facts.approved_run is not None:
            runs = [self.github.run(facts.approved_run)]
        elif facts.pull.is_fork:
            runs = []
        else:
            runs = self._branch_runs(facts.pull)
        facts = replace(facts, runs=tuple(self._sweep_run(run) for run in runs))
        for candidate in find_candidates(facts, self.policy)[:MAX_RUNS]:
            jobs = tuple(self.github.jobs(candidate.run.id, every_attempt=True))
            read = [replace(run, jobs=jobs) if run is candidate else run for run in facts.runs]
            facts = replace(facts, runs=tuple(read))
            coverage = choose_coverage(facts, self.policy)
            if coverage and coverage.is_green:
                break
        return facts

    def _branch_runs(self, pull: PullRequest) -> list[Run]:
        workflow = self.policy.sweep.workflow.rpartition("/")[2]
        try:
            return self.github.runs(workflow=workflow, branch=pull.head_ref, newest=NEWEST_RUNS)
        except NotFoundError:  # the workflow has never run
            return []

    def _sweep_run(self, run: Run) -> SweepRun:
        """A fork's run was dispatched: it runs the target branch's workflow on the approved head."""
        if run.event == "workflow_dispatch":
            return SweepRun(run=run)
        return SweepRun(
            run=run,
            later_paths=self.revisions.later_paths(run.head_sha),
            edited_rules=self.revisions.edited_rules(run.head_sha, self.policy_path),
        )

    def _results(self, facts: Facts) -> Results | None:
        coverage = choose_coverage(facts, self.policy)
        if coverage is None or not coverage.run.run.is_completed:
            return None
        run_id = coverage.run.run.id
        artifacts = {a.name: a for a in self.github.artifacts(run_id) if a.run_id == run_id and not a.expired}
        problems: list[str] = []
        latency = self.policy.signoff.agentic_latency
        scores = self._read(artifacts.get(SCORES), read_scores, problems)
        points = self._read(artifacts.get(POINTS), lambda found: read_points(found, latency), problems)
        return Results(
            run_id=run_id,
            has_scores=scores is not None,
            has_points=points is not None,
            scores=scores or (),
            points=points or (),
            problems=tuple(problems),
        )

    def _read(
        self, artifact: Artifact | None, read: Callable[[ReadArtifact], tuple[_T, ...]], problems: list[str]
    ) -> tuple[_T, ...] | None:
        """The rows of one collected artifact; None if there is none. What is wrong with it goes to `problems`."""
        if artifact is None:
            return None
        if artifact.size > MAX_ARTIFACT:
            problems.append(
                f"The artifact {artifact.name} has {artifact.size:,} bytes; {MAX_ARTIFACT:,} are read."
            )
            return ()
        try:
            data = self.github.download_artifact(artifact.id, limit=MAX_ARTIFACT)
            return read(read_zip(artifact.name, data))
        except ResultsFaultError as error:
            problems.append(str(error))
            return ()
