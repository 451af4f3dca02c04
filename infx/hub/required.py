"""Actions on the rules of branches, and the question which required checks are green."""

from __future__ import annotations

from collections.abc import Sequence

from infx.hub.rules import ACTIONS_APP, METHODS, Protection, QueueRule, RequiredCheck, Ruleset, parse_checks
from infx.hub.runs import RunActions
from infx.hub.state import Job, Pull
from infx.hub.world import WORKFLOW_LOGIN, locked

FIRST_APP = 900001
_GREEN = {"success", "skipped", "neutral"}
# state → how GitHub's refusals say it
_WORDS = {"expected": "expected", "pending": "in progress", "failure": "failing"}


class RuleActions(RunActions):
    @locked
    def add_ruleset(
        self,
        *checks: str | tuple[str, int],
        name: str = "main",
        branch: str | None = None,
        strict: bool = False,
        methods: Sequence[str] = METHODS,
        queue: QueueRule | None = None,
    ) -> Ruleset:
        """Add an active ruleset. checks: required checks, each as a name or as (name, id of an app)."""
        ruleset = Ruleset(
            id=self.next_id("ruleset", 70001),
            name=name,
            branch=branch or self.branch,
            checks=parse_checks(checks),
            is_strict=strict,
            methods=tuple(methods),
            queue=queue,
        )
        self.state.rulesets.append(ruleset)
        return ruleset

    @locked
    def protect(
        self, *checks: str | tuple[str, int], branch: str | None = None, strict: bool = False
    ) -> None:
        """Protect a branch in the classic way, instead of its earlier protection."""
        protection = Protection(checks=parse_checks(checks), is_strict=strict)
        self.state.protections[branch or self.branch] = protection

    @locked
    def allow_methods(self, *methods: str) -> None:
        """Set the merge methods that the repository's settings allow."""
        self.state.methods = methods

    @locked
    def app_id(self, login: str) -> int | None:
        """Return the id of the app that an account belongs to, or None for a person."""
        if login == WORKFLOW_LOGIN:
            return ACTIONS_APP
        if not login.endswith("[bot]"):
            return None
        if login not in self.state.apps:
            self.state.apps[login] = self.next_id("app", FIRST_APP)
        return self.state.apps[login]

    def rulesets_of(self, branch: str) -> list[Ruleset]:
        return [ruleset for ruleset in self.state.rulesets if ruleset.branch == branch]

    def queue_rule(self, branch: str) -> QueueRule | None:
        """Return the settings of a branch's merge queue, or None if the branch has none."""
        return next((known.queue for known in self.rulesets_of(branch) if known.queue is not None), None)

    def required_checks(self, branch: str) -> list[RequiredCheck]:
        """Return what rulesets and classic protection require."""
        protection = self.state.protections.get(branch)
        lists = [known.checks for known in self.rulesets_of(branch)]
        lists += [protection.checks] if protection is not None else []
        return list(dict.fromkeys(check for checks in lists for check in checks))

    def find_check_runs(self, sha: str, *, every: bool = False) -> list[Job]:
        """Return the jobs that GitHub shows as check runs of a commit: of a name and run the newest, or all."""
        runs = {run.id for run in self.state.runs.values() if run.head_sha == sha}
        jobs = [job for job in self.state.jobs.values() if job.run in runs]
        newest = {(job.run, job.name): job for job in sorted(jobs, key=lambda job: (job.attempt, job.id))}
        return jobs if every else [job for job in jobs if newest[job.run, job.name] is job]

    def judge_check(self, sha: str, check: RequiredCheck) -> str:
        """Return success, pending, failure, or expected if no status and no check of that name counts.

        A status and a check of the same name must both be green.
        """
        states = []
        for status in reversed(self.state.statuses):
            is_bound = check.app_id in {None, self.app_id(status.creator)}
            if (status.sha, status.context) == (sha, check.context) and is_bound:
                states.append("failure" if status.state == "error" else status.state)
                break
        jobs = [job for job in self.find_check_runs(sha) if job.name == check.context]
        if jobs and check.app_id in {None, ACTIONS_APP}:
            job = max(jobs, key=lambda job: job.id)
            is_green = job.conclusion in _GREEN
            states.append("success" if is_green else "failure" if job.status == "completed" else "pending")
        return next((state for state in ("failure", "pending", "success") if state in states), "expected")

    def judge_checks(
        self, sha: str, branch: str, *, merge_sha: str | None = None
    ) -> dict[RequiredCheck, str]:
        """Return the required checks of a branch that are not green on a commit, with their states.

        merge_sha: the test merge, whose status decides if it has one.
        """
        with_status = {status.context for status in self.state.statuses if status.sha == merge_sha}
        states = {
            check: self.judge_check(merge_sha if merge_sha and check.context in with_status else sha, check)
            for check in self.required_checks(branch)
        }
        return {check: state for check, state in states.items() if state != "success"}

    def explain_rules(self, pull: Pull) -> str | None:
        """Return what the base branch's rules still require of a pull request, in GitHub's words, or None."""
        base = self.tip(pull.base_ref)
        is_tested = pull.merge_of == (base, pull.head_sha)
        missing = self.judge_checks(
            pull.head_sha, pull.base_ref, merge_sha=pull.merge_sha if is_tested else None
        )
        protection = self.state.protections.get(pull.base_ref)
        is_strict = any(known.is_strict for known in self.rulesets_of(pull.base_ref))
        is_strict |= protection is not None and protection.is_strict
        if is_strict and self.git.merge_base(base, pull.head_sha) != base:
            return "This branch is not up to date with the base branch."
        if len(missing) > 1:
            state = "expected" if "expected" in missing.values() else next(iter(missing.values()))
            total = len(self.required_checks(pull.base_ref))
            return f"{len(missing)} of {total} required status checks are {_WORDS[state]}."
        for check, state in missing.items():
            return f'Required status check "{check.context}" is {_WORDS[state]}.'
        return None
