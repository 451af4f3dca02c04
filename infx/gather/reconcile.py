"""Gather the facts of one pull request with few requests.

Comments, statuses and runs come from a source that may serve many pull requests (`sources`). Only job lists
are read for one pull request: those of running sweeps and of the last sweep, at most two, and one more for a
dispatched sweep. The comparison of the newest sweep is read once, after the sweep has ended, with a list and a
download, and its page with another list. With a clone, files, conflicts and the changelog need no request. Facts that a shared list contains are
not requested one by one: one list of the whole repository shows, for example, which earlier runs have results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from infx.comments.greeting import list_linked
from infx.comments.progress import SweepProgress, SweepState, latest_first, read_sweep
from infx.evidence.runs import find_refusal
from infx.gate.approval import find_approved, pick_approval
from infx.gate.event import Event, EventName
from infx.gate.facts import Approval, Changelog, GateFacts, GateRun, LabelSet, find_label_actor, read_labels
from infx.gather.acknowledge import RequestReader, ReuseAsker
from infx.gather.base_files import BaseFiles
from infx.gather.changes import Branch, BranchReader
from infx.gather.comparison import ComparisonReader
from infx.gather.ports import ReconcileReader
from infx.gather.prover import Prover
from infx.gather.sources import FactSource, RecentList, SingleSource, list_results
from infx.git import MissingRevisionError
from infx.model import MAX_FILES, Artifact, Comment, CommitStatus, Conclusion, Overview, PullRequest, Run
from infx.policy.identity import find_status
from infx.policy.model import Policy
from infx.policy.paths import concerns
from infx.reconcile.facts import Changes, Group, ReconcileFacts
from infx.reuse.decide import decide_reuse
from infx.reuse.for_gate import make_gate_reuse

MAX_READS = 2  # reads for a single pull request
RESERVE = 20  # calls that one pull request may need: two looks without GraphQL, pages and writes included


@dataclass
class ReconcileGatherer:
    """Gathers the facts of pull requests, and keeps what they share.

    Attributes:
        branches: reads the heads of pull requests from a clone; None without a clone.
        open_branches: fetches the heads of some pull requests into the clone.
        reuse: gathers the facts of reuse; None without a clone.
    """

    reader: ReconcileReader
    policy: Policy
    branches: BranchReader | None = None
    open_branches: Callable[[Sequence[int]], BranchReader] | None = None
    reuse: ReuseAsker | None = None
    results: RecentList[Artifact] = field(init=False)
    files: BaseFiles = field(init=False)

    def __post_init__(self) -> None:
        self.results = list_results(self.reader, self.policy)
        self.files = BaseFiles(self.reader, self.policy, list_linked(self.policy))

    def fetch(self, numbers: Sequence[int]) -> None:
        """Fetch the heads of some pull requests into the clone, if there is a clone."""
        if self.open_branches is not None and numbers:
            self.branches = self.open_branches(numbers)

    def gather(self, number: int, source: FactSource | None = None) -> ReconcileFacts:
        """Return the facts of one pull request.

        Args:
            source: serves several pull requests; None: request the current facts of this pull request.
        """
        single = SingleSource(self.reader, self.policy)
        try:
            return self._read(number, source or single)
        except MissingRevisionError:  # a push since the fetch
            self.fetch([number])
            return self._read(number, single)

    def _read(self, number: int, source: FactSource) -> ReconcileFacts:
        return _Reading(self, source, source.overview(number)).facts()


@dataclass
class _Reading:
    """The facts of one pull request while they are read; `left` counts the reads that remain."""

    by: ReconcileGatherer
    source: FactSource
    seen: Overview
    left: int = MAX_READS

    @property
    def reader(self) -> ReconcileReader:
        return self.by.reader

    @property
    def policy(self) -> Policy:
        return self.by.policy

    @property
    def pull(self) -> PullRequest:
        return self.seen.pull

    def facts(self) -> ReconcileFacts:
        pull = self.pull
        branch, comments, statuses = self._branch(), self.seen.comments, self.seen.statuses
        runs = self._runs()
        approval = self._approval(statuses, comments)
        approved = self._approved_runs(approval, comments)
        linked = approval.run_id if approval and approval.sha == pull.head_sha else None
        dispatched = [run for run in approved if self._is_of_head(run, linked)]
        current = self._current(runs)
        counting = [run for run in runs if run.head_sha in current] + dispatched
        sweeps = self._sweeps(_unique([*runs, *approved]), counting)
        actor = None
        if self._is_labeled() and not _any_goes_well(sweeps, counting):
            if manual := [run for run in self._dispatched_by_hand() if run not in dispatched]:
                self.left += 1
                dispatched, counting = [*dispatched, *manual], [*counting, *manual]
                sweeps = [*self._sweeps(manual, manual), *sweeps]
            elif not _any_may_sweep(sweeps, counting):
                actor = self._label_actor()
        gate = GateFacts(
            event=Event(name=EventName.ASKED, pull=pull.number),
            pull=replace(pull, mergeable=not branch.conflicts) if self.by.branches and pull.is_open else pull,
            head_message=branch.message,
            changelog=self._changelog(branch.changes),
            runs=tuple(_as_gate_sees(sweep) for sweep in sweeps if sweep.run in counting),
            approval=approval,
            label_actor=actor,
            conflicts=branch.conflicts,
        )
        facts = ReconcileFacts(
            gate=gate,
            pull=pull,
            changes=branch.changes,
            comments=comments,
            statuses=statuses,
            sweeps=tuple(sorted(sweeps, key=lambda sweep: _newest(sweep.run))),
            current=current,
            dispatched=tuple(run.id for run in dispatched),
            resolution=branch.resolution,
            signoff=find_status(statuses, self.policy.signoff.status, self.policy.publisher),
            groups=self._groups(),
            base_files=self._base_files(branch),
        )
        return self._prove(self._add_results(self._add_reuse(facts)), runs)

    def _prove(self, facts: ReconcileFacts, runs: Sequence[Run]) -> ReconcileFacts:
        """Add the proof for the sweep, which needs a clone and an open pull request."""
        branches = self.by.branches
        if branches is None or not facts.pull.is_open:
            return facts
        return replace(facts, proof=Prover(self.reader, self.policy, branches).prove(facts, runs))

    def _add_results(self, facts: ReconcileFacts) -> ReconcileFacts:
        """Add the comparison and the page of the newest sweep that has results."""
        reader = ComparisonReader(self.reader, self.policy)
        comparison, page = reader.read(facts.sweeps, facts.comments)
        return replace(facts, comparison=comparison, page=page)

    def _add_reuse(self, facts: ReconcileFacts) -> ReconcileFacts:
        """Add the reuse commands, and the decision about them for the status and the comments."""
        tip = self.by.branches.base_sha if self.by.branches else None
        reader = RequestReader(reader=self.reader, policy=self.policy, asker=self.by.reuse, tip=tip)
        requests = reader.read(self.pull, self.seen.comments)
        if requests is None or requests.facts is None:
            return replace(facts, reuse=requests)
        answer = make_gate_reuse(decide_reuse(requests.facts, self.policy))
        return replace(facts, reuse=requests, gate=replace(facts.gate, reuse=answer))

    def _base_files(self, branch: Branch) -> frozenset[str]:
        """Return the existing files that the greeting links, if the pull request gets a greeting."""
        paths = branch.changes.paths
        is_greeted = self.pull.is_open and (paths is None or concerns(self.policy, paths))
        return self.by.files.find(self.by.branches) if is_greeted else frozenset()

    def _branch(self) -> Branch:
        """Return the branch as the clone shows it; without a clone, only the changed files are known."""
        pull = self.pull
        if self.by.branches and pull.is_open:
            return self.by.branches.read(pull.number, pull.head_sha)
        if not pull.is_open or pull.changed_files > MAX_FILES:
            return Branch(changes=Changes())
        files = self.reader.files(pull)
        return Branch(changes=Changes(paths=tuple(path for file in files for path in file.paths)))

    def _changelog(self, changes: Changes) -> Changelog:
        touched = None if changes.paths is None else self.policy.changelog in changes.paths
        return Changelog(touched=touched, problems=tuple(str(problem) for problem in changes.problems))

    def _runs(self) -> list[Run]:
        """Return the runs of the sweep workflow that may be evidence for this pull request, newest first."""
        pull = self.pull
        if pull.is_fork:  # a fork's own run follows the fork's workflow file; its real sweeps are dispatched
            return []
        return [run for run in self.source.runs(pull) if not find_refusal(run, pull, self.policy)]

    def _current(self, runs: Sequence[Run]) -> tuple[str, ...]:
        if not (self.by.branches and self.pull.is_open):
            return (self.pull.head_sha,)
        return self.by.branches.find_current(self.pull.head_sha, [run.head_sha for run in runs])

    def _groups(self) -> tuple[Group, ...]:
        shas = self.by.branches.groups.get(self.pull.number, ()) if self.by.branches else ()
        return tuple(Group(sha=sha, statuses=tuple(self.reader.statuses(sha))) for sha in shas)

    def _approval(self, statuses: Sequence[CommitStatus], comments: Sequence[Comment]) -> Approval | None:
        """Return the approval of a fork's head, else of the commit that the last approval command named."""
        if not (self.pull.is_fork and self.pull.is_open):
            return None
        if approval := pick_approval(self.pull.head_sha, statuses, self.policy):
            return approval
        named_sha = find_approved(comments, self.policy.sweep.approve_command)
        if named_sha is None or named_sha == self.pull.head_sha or not self.left:
            return None
        self.left -= 1
        return pick_approval(named_sha, self.reader.statuses(named_sha, is_hearsay=True), self.policy)

    def _approved_runs(self, approval: Approval | None, comments: Sequence[Comment]) -> list[Run]:
        """Return the runs that approvals of a fork's heads started.

        Runs of earlier heads and of a closed pull request are included, because they may still run.
        """
        pull, command = self.pull, self.policy.sweep.approve_command
        if approval is None and (pull.is_open or not pull.is_fork or not find_approved(comments, command)):
            return []
        return self._dispatched(linked=approval.run_id if approval else None)

    def _is_of_head(self, run: Run, linked: int | None) -> bool:
        """Return whether a dispatched run is for the head."""
        if not self.pull.is_open:  # the title is enough, because a closed pull request is granted nothing
            return run.is_dispatched_for(self.pull)
        return not find_refusal(run, self.pull, self.policy, approved_run=linked)

    def _dispatched_by_hand(self) -> list[Run]:
        """Return the runs that a person dispatched for this head."""
        return [run for run in self._dispatched() if not find_refusal(run, self.pull, self.policy)]

    def _dispatched(self, *, linked: int | None = None) -> list[Run]:
        """Return the dispatched runs of this pull request.

        Args:
            linked: the run that the approval status links.
        """
        return [run for run in self.source.dispatched() if run.id == linked or self._is_dispatched(run)]

    def _is_dispatched(self, run: Run) -> bool:
        branches = self.by.branches
        is_named = run.dispatched_for is not None and run.dispatched_for[0] == self.pull.number
        # A workflow file outside the base branch, for example at a tag of the same name, can set any title.
        return is_named and (branches is None or branches.is_merged(run.head_sha))

    def _sweeps(self, runs: Sequence[Run], counting: Sequence[Run]) -> list[SweepProgress]:
        """Return every run with what is known about it.

        Jobs are read only for running sweeps and for the last sweep of the head.
        """
        with_results = self._with_results(runs)
        seen: dict[int, SweepProgress] = {}
        for run in _by_interest(runs, counting, with_results):
            if not self.left or (run.is_completed and any(sweep.swept for sweep in seen.values())):
                break
            self.left -= 1
            jobs = self.reader.jobs(run.id, every_attempt=run.attempt > 1)
            seen[run.id] = read_sweep(run, jobs, self.policy.sweep.job, has_results=run.id in with_results)
        return [seen.get(run.id) or _unread(run, with_results) for run in runs]

    def _with_results(self, runs: Sequence[Run]) -> frozenset[int]:
        """Return the ids of runs that have results."""
        if len(runs) < 2:  # the jobs of the newest run show whether it has results
            return frozenset()
        results = self.by.results
        results.reach(min(run.created_at for run in runs))
        return frozenset(artifact.run_id for artifact in results.items if not artifact.expired)

    def _is_labeled(self) -> bool:
        return self.pull.is_open and bool(self._labels().primary)

    def _labels(self) -> LabelSet:
        return read_labels(self.pull.labels, self.policy.labels)

    def _label_actor(self) -> str | None:
        """Return the login of whoever set the label, from the newest events if they contain it."""
        actor = find_label_actor(self._labels(), self.seen.label_events)
        if actor is None and self.seen.has_older_events:
            return find_label_actor(self._labels(), self.reader.label_events(self.pull.number))
        return actor


def _unread(run: Run, with_results: frozenset[int]) -> SweepProgress:
    """Return the progress of a run whose jobs were not read."""
    has_results = run.id in with_results
    # A successful run without results was stopped by its gate, or had nothing to run.
    is_idle = run.conclusion is Conclusion.SUCCESS and not has_results
    return SweepProgress(
        run=run, has_results=has_results, swept=True if has_results else False if is_idle else None
    )


def _by_interest(runs: Sequence[Run], counting: Sequence[Run], with_results: frozenset[int]) -> list[Run]:
    """Return running sweeps, then the head's runs that certainly swept, then its other runs, latest first."""
    running = [run for run in runs if not run.is_completed]
    done = [run for run in counting if run.is_completed]
    certain = [run for run in done if run.id in with_results or run.conclusion is not Conclusion.SUCCESS]
    return [
        *running,
        *sorted(certain, key=latest_first),
        *sorted((run for run in done if run not in certain), key=latest_first),
    ]


def _any_may_sweep(sweeps: Sequence[SweepProgress], counting: Sequence[Run]) -> bool:
    return any(sweep.swept is not False for sweep in sweeps if sweep.run in counting)


def _any_goes_well(sweeps: Sequence[SweepProgress], counting: Sequence[Run]) -> bool:
    """Return whether a sweep runs or succeeded; a sweep that ended badly may have been dispatched again."""
    states = {sweep.state for sweep in sweeps if sweep.run in counting and sweep.swept is not False}
    return bool(states & {SweepState.RUNNING, SweepState.DONE})


def _unique(runs: Sequence[Run]) -> list[Run]:
    return sorted({run.id: run for run in runs}.values(), key=_newest)


def _newest(run: Run) -> int:
    return -run.id


def _as_gate_sees(sweep: SweepProgress) -> GateRun:
    run = sweep.run
    return GateRun(id=run.id, url=run.url, conclusion=run.conclusion, swept=sweep.swept)
