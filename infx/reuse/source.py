"""Whether one run may serve as a merge's sweep, before its coverage is considered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from infx.bench.uploads import AGENTIC_THROUGHPUT
from infx.evidence.proof import was_open
from infx.evidence.rows import SweepKind
from infx.evidence.runs import find_refusal
from infx.gate.case import one_line
from infx.model import Conclusion, PullRequest, Run, is_same_repository
from infx.phrases import count, join_some, join_words
from infx.policy.model import Effect, Policy
from infx.results.collect import EVALS, POINTS
from infx.reuse.coverage import SourceSweep
from infx.reuse.decision import ReuseReason, SourceFault
from infx.reuse.facts import ReuseFacts, SourceRun

QUALIFICATION = "native-qualification-"  # prefix of artifacts that infx never makes
PINNABLE = frozenset({Conclusion.SUCCESS, Conclusion.FAILURE, Conclusion.CANCELLED})
SHOWN = 3  # files or rows that a clause names


def find_run_fault(source: SourceRun, facts: ReuseFacts, policy: Policy) -> SourceFault | None:
    """Return why a run can never be the source, by what the run itself says; None if it may be."""
    run, pull = source.run, facts.pull
    assert pull is not None, "runs are only gathered for one pull request"
    if run.path.partition("@")[0] != policy.sweep.workflow:
        where = one_line(run.path) or "an unknown workflow"
        return SourceFault(reason=ReuseReason.OTHER_WORKFLOW, words=f"it is a run of {where}")
    if not run.is_completed:
        return SourceFault(reason=ReuseReason.NOT_COMPLETED, words="it has not completed")
    if run.conclusion not in PINNABLE:
        words = f"it ended as {run.conclusion}"
        return SourceFault(reason=ReuseReason.CONCLUSION, words=words)
    if not run.commit:
        return SourceFault(reason=ReuseReason.NO_HEAD, words="it does not tell which commit it measured")
    if stranger := _find_stranger(source, facts, pull, policy):
        return SourceFault(reason=ReuseReason.OTHER_PULL, words=stranger)
    if run.commit not in facts.commits:
        return _refuse_commit(run, facts)
    for earlier in list_earlier(source):
        if fault := find_run_fault(earlier, facts, policy):
            return replace(fault, words=f"it completes run {earlier.run.id}, and of that run {fault.words}")
    return None


def list_earlier(source: SourceRun) -> Iterator[SourceRun]:
    """Return the next run whose rows a follow-up sweep repeats, which may be a follow-up sweep itself."""
    for earlier in source.completes[:1]:
        yield SourceRun(
            run=earlier.run,
            artifacts=earlier.artifacts,
            sweep=earlier.sweep,
            completes=source.completes[1:],
        )


def _find_stranger(source: SourceRun, facts: ReuseFacts, pull: PullRequest, policy: Policy) -> str | None:
    """Return why a run does not belong to the pull request, as a clause."""
    run = source.run
    if run.completes is not None:
        return _find_foreign_follow_up(source, facts, pull, policy)
    measured = replace(pull, head_sha=run.commit)  # an earlier commit of the pull request is as good
    approved = next((one.run_id for one in facts.approvals if one.sha == run.commit), None)
    if refusal := find_refusal(run, measured, policy, approved_run=approved):
        return refusal
    if pull.is_fork:
        is_trusted = run.event == "workflow_dispatch" and run.head_branch == policy.base_branch
        return None if is_trusted else f"it was not dispatched on {policy.base_branch}"
    if run.event == "pull_request":
        return _find_rival(run, facts)
    return "it was dispatched, and its results complete no sweep of the pull request"


def _find_foreign_follow_up(
    source: SourceRun, facts: ReuseFacts, pull: PullRequest, policy: Policy
) -> str | None:
    """Return why a follow-up sweep does not belong to the pull request, as a clause.

    Only the base branch's workflow is trusted to name the runs and to check their results.
    """
    run = source.run
    is_own = is_same_repository(run.head_repository, pull.base_repository)
    if not is_own or run.head_branch != policy.base_branch:
        return f"it was not dispatched on {policy.base_branch}"
    if run.dispatched_for != (pull.number, run.commit):
        return "its title does not name this pull request and a commit"
    if pull.is_fork and not any(approval.sha == run.commit for approval in facts.approvals):
        return "its commit was not approved"
    if not source.completes or source.completes[0].run.id != run.completes:
        return f"it completes run {run.completes}, which was not found"
    return None


def _find_rival(run: Run, facts: ReuseFacts) -> str | None:
    """GitHub does not record which of several pull requests of one branch started a run."""
    rivals = [
        f"#{other.number}"
        for other in facts.same_branch
        if facts.pull is not None
        and other.number != facts.pull.number
        and not other.is_fork
        and other.head_ref == facts.pull.head_ref
        and was_open(other, run.created_at)
    ]
    if not rivals:
        return None
    return f"it may be of {join_words(rivals, 'or', limit=SHOWN)}, which had the same branch at that time"


def _refuse_commit(run: Run, facts: ReuseFacts) -> SourceFault:
    sha = run.commit[:12]
    if not facts.has_all_commits:
        words = (
            f"GitHub does not list every commit of a long pull request, so {sha} is not proven to be in it"
        )
        return SourceFault(reason=ReuseReason.COMMITS_UNKNOWN, words=words)
    words = f"its commit {sha} is not in the pull request"
    return SourceFault(reason=ReuseReason.NOT_IN_PULL, words=words)


def find_result_fault(source: SourceRun) -> SourceFault | None:
    """Return why what a run left behind cannot be reused; None if it can."""
    if source.artifacts is None and source.run.conclusion is not Conclusion.SUCCESS:
        return None  # it needs a pin, and with a pin its artifacts are read
    artifacts = source.artifacts or ()
    if any(artifact.name.startswith(QUALIFICATION) for artifact in artifacts):
        words = "it holds results of a native qualification"
        return SourceFault(reason=ReuseReason.QUALIFICATION, words=words)
    results = [artifact for artifact in artifacts if is_result(artifact.name)]
    if not results:
        return SourceFault(reason=ReuseReason.NO_RESULTS, words="it has no results")
    if all(artifact.expired for artifact in results):
        return SourceFault(reason=ReuseReason.NO_RESULTS, words="its results have expired")
    return None


def is_result(name: str) -> bool:
    """Return whether an artifact of this name holds results of a whole sweep, or of agent points."""
    return name in {POINTS, EVALS} or name.startswith(AGENTIC_THROUGHPUT)


def find_plan_fault(source: SourceRun) -> SourceFault | None:
    """Return why a run's rows are not those of its own commit; None if they are, or if it is unknown."""
    for sweep in list_sweeps(source):
        if sweep is not None and sweep.foreign:
            return _refuse_foreign(sweep)
    return None


def list_sweeps(source: SourceRun) -> tuple[SourceSweep | None, ...]:
    """Return what a run has swept, and what the runs have that its results repeat, newest first."""
    return source.sweep, *(earlier.sweep for earlier in source.completes)


def _refuse_foreign(sweep: SourceSweep) -> SourceFault:
    rows = count(len(sweep.foreign), "row")
    words = f"its own commit does not plan {rows} of it ({join_some(sweep.foreign, SHOWN)})"
    return SourceFault(reason=ReuseReason.OTHER_PLAN, words=words)


def find_pin_fault(source: SourceRun, policy: Policy) -> SourceFault | None:
    """Return why a run is reused only if a command names it; None if it may also be found."""
    run, sweep = source.run, source.sweep
    if run.conclusion is not Conclusion.SUCCESS:
        words = f"it ended as {run.conclusion}"
        has_results = source.artifacts is not None
        return SourceFault(reason=ReuseReason.CONCLUSION, words=words, helps_to_pin=has_results)
    if sweep is None or not sweep.is_known:
        return None
    for earlier in source.completes:
        if earlier.sweep is not None and earlier.sweep.edits:
            words = f"the commit of run {earlier.run.id}, which it completes, changed {_name_files(earlier.sweep.edits)}"
            return SourceFault(reason=ReuseReason.NEEDS_PIN, words=words, helps_to_pin=True)
    if sweep.edits:
        words = f"its commit changed {_name_files(sweep.edits)}"
        return SourceFault(reason=ReuseReason.NEEDS_PIN, words=words, helps_to_pin=True)
    if sweep.kind is not None and (less := _describe_less(sweep.kind, policy)):
        return SourceFault(reason=ReuseReason.NEEDS_PIN, words=f"it is {less}", helps_to_pin=True)
    return None


def _name_files(paths: Sequence[str]) -> str:
    return join_some([one_line(path) for path in paths], SHOWN)


def _describe_less(kind: SweepKind, policy: Policy) -> str | None:
    """Return how a kind of sweep differs from what a merge needs, as a noun phrase; None if it does not."""
    if kind.trim:
        return "a trimmed sweep"
    reusable = {modifier.effect for modifier in policy.labels.modifiers.values() if modifier.reusable}
    effects = (
        (kind.evals_only, Effect.EVALS_ONLY, "a sweep of accuracy runs only"),
        (kind.fast, Effect.FAST, "a sweep with shortened replays"),
        (kind.all_evals, Effect.ALL_EVALS, "a sweep with every accuracy run"),
    )
    return next((words for has, effect, words in effects if has and effect not in reusable), None)
