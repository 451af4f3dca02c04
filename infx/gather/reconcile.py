"""The facts of one pull request. What stands on it and which runs it has comes from a source that may serve many
(`sources`); for it alone are read the jobs of what runs and of the last sweep, two lists at most, and one more where a
sweep was dispatched.

With a clone, files, conflicts and the changelog cost no request. What a list can tell is never asked singly:
whether an earlier run has results, for instance, stands in one list of the whole repository.
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
from infx.gather.base_files import BaseFiles
from infx.gather.changes import Branch, BranchReader
from infx.gather.ports import ReconcileReader
from infx.gather.prover import Prover
from infx.gather.sources import Alone, FactSource, Recent, read_results
from infx.git import MissingRevisionError
from infx.model import MAX_FILES, Artifact, Comment, CommitStatus, Conclusion, Overview, PullRequest, Run
from infx.policy.identity import find_status
from infx.policy.model import Policy
from infx.policy.paths import concerns
from infx.reconcile.facts import Changes, Group, ReconcileFacts

MAX_READS = 2  # of one pull request alone
RESERVE = 20  # calls that one pull request may need: both looks without GraphQL, pages and writes included


@dataclass
class ReconcileGatherer:
    """branches: reads a clone that holds the heads of the pull requests; None: there is none. open_branches: fetches
    the heads of some pull requests into it first.
    """

    reader: ReconcileReader
    policy: Policy
    branches: BranchReader | None = None
    open_branches: Callable[[Sequence[int]], BranchReader] | None = None
    results: Recent[Artifact] = field(init=False)
    files: BaseFiles = field(init=False)

    def __post_init__(self) -> None:
        self.results = read_results(self.reader, self.policy)
        self.files = BaseFiles(self.reader, self.policy, list_linked(self.policy))

    def fetch(self, numbers: Sequence[int]) -> None:
        """Bring the heads of some pull requests into the clone, if there is one."""
        if self.open_branches is not None and numbers:
            self.branches = self.open_branches(numbers)

    def gather(self, number: int, source: FactSource | None = None) -> ReconcileFacts:
        """source: of what many share; None: everything is asked for this one, as it is now."""
        alone = Alone(self.reader, self.policy)
        try:
            return self._read(number, source or alone)
        except MissingRevisionError:  # pushed to since it was fetched
            self.fetch([number])
            return self._read(number, alone)

    def _read(self, number: int, source: FactSource) -> ReconcileFacts:
        return _Reading(self, source, source.overview(number)).facts()


@dataclass
class _Reading:
    """One pull request; `left` counts down the reads that may still be spent on it alone."""

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
        branch = self._branch()
        comments, statuses = self.seen.comments, self.seen.statuses
        runs = self._runs()
        approval = self._approval(statuses, comments)
        approved = self._approved_runs(approval, comments)
        linked = approval.run_id if approval and approval.sha == pull.head_sha else None
        dispatched = [run for run in approved if self._is_of_head(run, linked)]
        current = self._current(runs)
        standing = [run for run in runs if run.head_sha in current] + dispatched
        sweeps = self._sweeps(_unique([*runs, *approved]), standing)
        actor = None
        if self._is_labeled() and not _any_goes_well(sweeps, standing):
            if found := [run for run in self._dispatched_by_hand() if run not in dispatched]:
                self.left += 1
                dispatched, standing = [*dispatched, *found], [*standing, *found]
                sweeps = [*self._sweeps(found, found), *sweeps]
            elif not _any_may_sweep(sweeps, standing):
                actor = self._label_actor()
        gate = GateFacts(
            event=Event(name=EventName.ASKED, pull=pull.number),
            pull=replace(pull, mergeable=not branch.conflicts) if self.by.branches and pull.is_open else pull,
            head_message=branch.message,
            changelog=self._changelog(branch.changes),
            runs=tuple(_as_gate_sees(sweep) for sweep in sweeps if sweep.run in standing),
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
        return self._prove(facts, runs)

    def _prove(self, facts: ReconcileFacts, runs: Sequence[Run]) -> ReconcileFacts:
        """Without a clone, and of a closed pull request, nothing is proved."""
        branches = self.by.branches
        if branches is None or not facts.pull.is_open:
            return facts
        return replace(facts, proof=Prover(self.reader, self.policy, branches).prove(facts, runs))

    def _base_files(self, branch: Branch) -> frozenset[str]:
        """Only where the greeting is due, which links them."""
        paths = branch.changes.paths
        is_greeted = self.pull.is_open and (paths is None or concerns(self.policy, paths))
        return self.by.files.find(self.by.branches) if is_greeted else frozenset()

    def _branch(self) -> Branch:
        """From the clone; without one, as much as the API tells: files, but neither conflicts nor the changelog."""
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
        """Runs of the sweep workflow that may be evidence for this pull request, newest first.

        None for a fork: what such a run does stands in a workflow file of the fork's own, and may be anything. Its
        sweeps are dispatched.
        """
        pull = self.pull
        if pull.is_fork:
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
        """A fork's approval: the status on its head, else on the revision that an approving comment last named."""
        if not (self.pull.is_fork and self.pull.is_open):
            return None
        if found := pick_approval(self.pull.head_sha, statuses, self.policy):
            return found
        named = find_approved(comments, self.policy.sweep.approve_command)
        if named is None or named == self.pull.head_sha or not self.left:
            return None
        self.left -= 1
        return pick_approval(named, self.reader.statuses(named, is_hearsay=True), self.policy)

    def _approved_runs(self, approval: Approval | None, comments: Sequence[Comment]) -> list[Run]:
        """Runs that approvals of a fork's revisions started, those of earlier revisions too, and although it was closed
        since: they may go on.
        """
        pull, command = self.pull, self.policy.sweep.approve_command
        if approval is None and (pull.is_open or not pull.is_fork or not find_approved(comments, command)):
            return []
        return self._dispatched(linked=approval.run_id if approval else None)

    def _is_of_head(self, run: Run, linked: int | None) -> bool:
        """Whether a dispatched run is for the head. Nothing is granted to a closed pull request any more."""
        if not self.pull.is_open:
            return run.is_dispatched_for(self.pull)
        return not find_refusal(run, self.pull, self.policy, approved_run=linked)

    def _dispatched_by_hand(self) -> list[Run]:
        """Runs that somebody started for this head."""
        return [run for run in self._dispatched() if not find_refusal(run, self.pull, self.policy)]

    def _dispatched(self, *, linked: int | None = None) -> list[Run]:
        """Of this pull request. linked: one that surely is. Another branch than the base, or a tag of the base's name,
        could bring a workflow file along that writes any title.
        """
        found = self.source.dispatched()
        return [run for run in found if run.id == linked or self._is_dispatched(run)]

    def _is_dispatched(self, run: Run) -> bool:
        branches = self.by.branches
        is_named = run.dispatched_for is not None and run.dispatched_for[0] == self.pull.number
        return is_named and (branches is None or branches.is_merged(run.head_sha))

    def _sweeps(self, runs: Sequence[Run], standing: Sequence[Run]) -> list[SweepProgress]:
        """Every run with what is known of it. Jobs are read where they matter: of runs that go on, and of the
        last for the head that is a sweep.
        """
        with_results = self._with_results(runs)
        seen: dict[int, SweepProgress] = {}
        for run in _by_interest(runs, standing, with_results):
            if not self.left or (run.is_completed and any(s.swept for s in seen.values())):
                break
            self.left -= 1
            jobs = self.reader.jobs(run.id, every_attempt=run.attempt > 1)
            seen[run.id] = read_sweep(run, jobs, self.policy.sweep.job, has_results=run.id in with_results)
        return [seen.get(run.id) or _unread(run, with_results) for run in runs]

    def _with_results(self, runs: Sequence[Run]) -> frozenset[int]:
        """Asked only if there is an earlier run; the newest one's jobs tell by themselves."""
        if len(runs) < 2:
            return frozenset()
        results = self.by.results
        results.reach(min(run.created_at for run in runs))
        return frozenset(artifact.run_id for artifact in results.items if not artifact.expired)

    def _is_labeled(self) -> bool:
        return self.pull.is_open and bool(self._labels().primary)

    def _labels(self) -> LabelSet:
        return read_labels(self.pull.labels, self.policy.labels)

    def _label_actor(self) -> str | None:
        """Who put the label on, by the newest events if they tell."""
        found = find_label_actor(self._labels(), self.seen.label_events)
        if found is None and self.seen.has_older_events:
            return find_label_actor(self._labels(), self.reader.label_events(self.pull.number))
        return found


def _unread(run: Run, with_results: frozenset[int]) -> SweepProgress:
    """A run that succeeded and left nothing behind was stopped by its gate, or had nothing to do."""
    has_results = run.id in with_results
    is_idle = run.conclusion is Conclusion.SUCCESS and not has_results
    return SweepProgress(
        run=run, has_results=has_results, swept=True if has_results else False if is_idle else None
    )


def _by_interest(runs: Sequence[Run], standing: Sequence[Run], with_results: frozenset[int]) -> list[Run]:
    """First what still goes on; then, of the head's, those that surely did something; each group latest first."""
    going = [run for run in runs if not run.is_completed]
    done = [run for run in standing if run.is_completed]
    sure = [run for run in done if run.id in with_results or run.conclusion is not Conclusion.SUCCESS]
    return [
        *going,
        *sorted(sure, key=latest_first),
        *sorted((run for run in done if run not in sure), key=latest_first),
    ]


def _any_may_sweep(sweeps: Sequence[SweepProgress], standing: Sequence[Run]) -> bool:
    return any(sweep.swept is not False for sweep in sweeps if sweep.run in standing)


def _any_goes_well(sweeps: Sequence[SweepProgress], standing: Sequence[Run]) -> bool:
    """One that failed or was cancelled may have been started again by hand."""
    states = {sweep.state for sweep in sweeps if sweep.run in standing and sweep.swept is not False}
    return bool(states & {SweepState.RUNNING, SweepState.DONE})


def _unique(runs: Sequence[Run]) -> list[Run]:
    return sorted({run.id: run for run in runs}.values(), key=_newest)


def _newest(run: Run) -> int:
    return -run.id


def _as_gate_sees(sweep: SweepProgress) -> GateRun:
    run = sweep.run
    return GateRun(id=run.id, url=run.url, conclusion=run.conclusion, swept=sweep.swept)
