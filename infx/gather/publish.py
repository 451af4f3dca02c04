"""Read what the publication of a merge depends on, and validate the results of its source run.

All requests only read. Whatever cannot be read raises UnavailableError; nothing unread counts as absent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from infx.changelog.delta import read_delta
from infx.errors import ProblemsError
from infx.evidence.rows import FULL
from infx.gate.event import Event, EventName
from infx.gather.clone import GitClone
from infx.gather.publish_source import SourceReader, SourceValidator
from infx.gather.reuse import ReuseGatherer, ReuseReader
from infx.gather.reuse_clone import ReuseRevisions
from infx.model import Artifact, CommitStatus, Job, Run, is_same_repository
from infx.policy.model import OnMerge, Policy
from infx.publish.decide import (
    PublishDecision,
    PublishReason,
    PublishVerdict,
    decide_early,
    decide_publication,
)
from infx.publish.facts import PublishFacts, PushedMerge
from infx.publish.handover import ValidatedMerge
from infx.publish.rows import ValidatedResults
from infx.reuse.decide import decide_reuse
from infx.reuse.facts import ReuseFacts

NEWEST_RUNS = 20  # of one commit
MAX_SHOWN = 20  # problems that are handed over


class PublishReader(ReuseReader, SourceReader, Protocol):
    """The requests that the reading job makes."""

    @property
    def repository(self) -> str: ...
    def jobs(self, run_id: int, *, every_attempt: bool = False) -> list[Job]: ...
    def artifacts(self, run_id: int, *, name: str | None = None) -> list[Artifact]: ...
    def status_log(self, sha: str) -> list[CommitStatus]: ...
    def runs(
        self,
        *,
        workflow: str | None = None,
        event: str | None = None,
        branch: str | None = None,
        head_sha: str | None = None,
        newest: int | None = None,
    ) -> list[Run]: ...


@dataclass(frozen=True)
class PublicationReader:
    """Reads and validates one merge.

    Attributes:
        tip: the newest commit of the push that brought the merge; the merge itself if the push is unknown.
        policy_path: where the policy is in the repository.
        recovers: a person has decided that an event of unknown fate is sent again.
    """

    github: PublishReader
    policy: Policy
    clone: GitClone
    policy_path: str
    merge: PushedMerge
    tip: str
    recovers: bool = False

    @cached_property
    def revisions(self) -> ReuseRevisions:
        return ReuseRevisions(
            git=self.clone.git,
            policy=self.policy,
            target=self.merge.base,
            base=self.merge.base,
            head=self.merge.sha,
            pull_head=self.merge.sha,
            policy_path=self.policy_path,
        )

    def read(self) -> ValidatedMerge:
        """Return the decision about the merge, with validated results if it is published."""
        facts = self._gather_early()
        decision = decide_early(facts, self.policy, recovers=self.recovers)
        if decision is not None:
            return self._render(facts, decision)
        facts, asked = self._gather_runs(facts)
        decision = decide_publication(facts, self.policy, recovers=self.recovers)
        if decision.verdict is not PublishVerdict.PUBLISH or decision.run is None:
            return self._render(facts, decision)
        reader = SourceValidator(self.github, self.policy, self.revisions)
        source = reader.find_reused(decision.run, asked) if asked else reader.read_own(decision.run)
        results = reader.validate(source, facts.plan, is_whole=not decision.coverage)
        if results.is_valid:
            return self._render(facts, decision, results)
        refused = replace(
            decision,
            verdict=PublishVerdict.REFUSED,
            reason=PublishReason.INVALID_RESULTS,
            words=f"the results of run {decision.run.id} cannot be used",
            fix="Collect them again, or name another run.",
        )
        return self._render(facts, refused, replace(results, rows=()))

    def _gather_early(self) -> PublishFacts:
        facts = PublishFacts(merge=self.merge, entries=self._count_entries())
        if self.policy.on_merge is OnMerge.NOTHING or facts.entries == 0:
            return facts
        return replace(facts, statuses=tuple(self.github.status_log(self.merge.sha)))

    def _count_entries(self) -> int:
        """Return how many entries the merge adds; 1 if the changelog cannot be read, which its plan reports."""
        path, merge = self.policy.changelog, self.merge
        before, after = self.clone.git.read_many([(merge.base, path), (merge.sha, path)])
        try:
            return len(read_delta(before or b"", after or b"", path).entries)
        except ProblemsError:
            return 1

    def _gather_runs(self, facts: PublishFacts) -> tuple[PublishFacts, ReuseFacts | None]:
        """Add the plan, and the run that is reused or that the merge has started."""
        facts = replace(facts, plan=self.revisions.plan_merge())
        if facts.plan.problem is not None or not facts.plan.rows:
            return facts, None
        event = Event(
            name=EventName.PUSH,
            head_sha=self.merge.sha,
            before=self.merge.base,
            ref=f"refs/heads/{self.policy.base_branch}",
        )
        gatherer = ReuseGatherer(
            github=self.github, policy=self.policy, clone=self.clone, policy_path=self.policy_path
        )
        asked = gatherer.gather(event)
        facts = replace(facts, reuse=decide_reuse(asked, self.policy))
        if facts.merge.pull is None and len(asked.pulls) == 1:
            facts = replace(facts, merge=replace(facts.merge, pull=asked.pulls[0].number))
        if facts.reuse is not None and facts.reuse.source is not None:
            return facts, asked
        is_own = self.policy.on_merge is OnMerge.REUSE_OR_SWEEP
        return replace(facts, sweep=self._find_sweep() if is_own else None), None

    def _find_sweep(self) -> Run | None:
        """Return the newest sweep that the push of the merge has started."""
        for sha in dict.fromkeys((self.merge.sha, self.tip)):
            runs = self.github.runs(
                workflow=self.policy.sweep.workflow_file, event="push", head_sha=sha, newest=NEWEST_RUNS
            )
            if own := [run for run in runs if run.head_sha == sha and self._is_trusted(run)]:
                return max(own, key=lambda run: run.id)
        return None

    def _is_trusted(self, run: Run) -> bool:
        """Return whether a push to the base branch started the run of the base branch's own sweep workflow."""
        return (
            run.event == "push"
            and run.head_branch == self.policy.base_branch
            and run.path.partition("@")[0] == self.policy.sweep.workflow
            and is_same_repository(run.head_repository, self.github.repository)
        )

    def _render(
        self, facts: PublishFacts, decision: PublishDecision, results: ValidatedResults | None = None
    ) -> ValidatedMerge:
        results = results or ValidatedResults()
        run = decision.run
        return ValidatedMerge(
            sha=facts.merge.sha,
            verdict=decision.verdict,
            reason=decision.reason,
            words=decision.words,
            fix=decision.fix,
            pull=facts.merge.pull,
            run=run.id if run else None,
            attempt=run.attempt if run else 1,
            run_url=run.url if run else "",
            origin="reused" if decision.reason is PublishReason.REUSED else "merge",
            is_agentic=bool(results.rows) and self._has_agentic(),
            coverage=decision.coverage,
            accuracy=results.accuracy,
            problems=tuple(str(problem) for problem in results.problems)[:MAX_SHOWN],
            rows=results.rows,
        )

    def _has_agentic(self) -> bool:
        """Return whether the merge plans AgentX throughput rows."""
        rows = self.revisions.planner.open(self.merge.base, self.merge.sha).rows(FULL)
        return any(row.recipe.is_agentic and not row.eval_only for row in rows)
