"""Whether a finished sweep of a pull request serves as the merge's sweep: the one decision about reuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from infx.gate.case import one_line
from infx.gate.event import Event, EventAction, EventName
from infx.gate.facts import read_labels
from infx.phrases import join_some, join_words
from infx.policy.model import Policy
from infx.policy.reuse import CoverageRule, RunId
from infx.records import record
from infx.reuse.command import ReuseCommand, list_commands, select_authorized
from infx.reuse.coverage import Coverage, compute_coverage
from infx.reuse.decision import PassedRun, ReuseDecision, ReuseReason, ReuseVerdict, SourceFault
from infx.reuse.facts import AskedPull, ReuseFacts, SourceRun
from infx.reuse.follow_up import render_command
from infx.reuse.source import find_pin_fault, find_plan_fault, find_result_fault, find_run_fault, list_sweeps

SHOWN = 4  # runs that a sentence names


def decide_reuse(facts: ReuseFacts, policy: Policy) -> ReuseDecision:
    """Return whether a finished sweep is reused, which one, and why."""
    if early := decide_early(facts, policy):
        return early
    command = find_request(facts.pulls[0], facts, policy)
    assert command is not None, "decided above"
    if facts.plan.problem is None and not facts.plan.rows:
        decision = _nothing(ReuseReason.NO_ROWS, "the pull request plans no rows")
    elif command.run_id is None:
        decision = _decide_found(facts, policy)
    else:
        decision = _decide_pinned(facts, command.run_id, policy)
    return replace(decision, pull=facts.pulls[0].number, command=command)


def decide_early(facts: ReuseFacts, policy: Policy) -> ReuseDecision | None:
    """Return the decision if it needs neither runs nor plans; None if it does."""
    if decision := decide_event(facts.event, policy) or _decide_pulls(facts, policy):
        return decision
    asked = facts.pulls[0]
    refusal = _refuse_pull(facts, policy)
    command = find_request(asked, facts, policy)
    return None if refusal is None else replace(refusal, pull=asked.number, command=command)


def decide_event(event: Event, policy: Policy) -> ReuseDecision | None:
    """Return the decision for an event that has nothing to do with reuse; None for any other."""
    match event.name:
        case EventName.ASKED | EventName.COMMENT:
            return None
        case EventName.PULL_REQUEST if event.action is EventAction.SYNCHRONIZE:
            return None
        case EventName.PULL_REQUEST:
            words = "only a push to the pull request looks for a sweep to reuse"
            return _nothing(ReuseReason.OTHER_ACTION, words)
        case EventName.PUSH if event.ref == f"refs/heads/{policy.base_branch}":
            return None
        case _:
            words = f"the event is not a push to {policy.base_branch} or to a pull request"
            return _nothing(ReuseReason.OTHER_EVENT, words)


def find_request(asked: AskedPull, facts: ReuseFacts, policy: Policy) -> ReuseCommand | None:
    """Return the command that counts in a pull request; None if no one who may has given one."""
    people = {person.login.lower(): person for person in facts.people}
    return select_authorized(asked.comments, policy.reuse, people)


def _decide_pulls(facts: ReuseFacts, policy: Policy) -> ReuseDecision | None:
    """Return the decision if no single pull request has an authorized command; None if one has."""
    if not facts.pulls:
        return _nothing(ReuseReason.NO_PULL, "the commit belongs to no pull request")
    authorized = [asked for asked in facts.pulls if find_request(asked, facts, policy)]
    if len(facts.pulls) > 1:
        names = join_words([f"#{asked.number}" for asked in facts.pulls], limit=SHOWN)
        words = f"the commit belongs to {names}"
        if not authorized:
            return _nothing(ReuseReason.SEVERAL_PULLS, words)
        fix = "Dispatch a sweep of the merge instead."
        return _refused(ReuseReason.SEVERAL_PULLS, f"{words}, so the commands contradict each other", fix)
    if not authorized:
        words = _describe_strangers(facts.pulls[0], policy)
        return replace(_nothing(ReuseReason.NOT_AUTHORIZED, words), pull=facts.pulls[0].number)
    return None


def _describe_strangers(asked: AskedPull, policy: Policy) -> str:
    """Return whose commands do not count, as a clause."""
    commands = list_commands(asked.comments, policy.reuse)
    logins = list(dict.fromkeys(command.comment.author.login for command in commands))
    if not logins:
        return "no comment asks for it"
    return f"{join_words(logins, limit=SHOWN)} asked for it without write access to the repository"


def _refuse_pull(facts: ReuseFacts, policy: Policy) -> ReuseDecision | None:
    """Return the decision if the pull request itself leaves no choice."""
    pull = facts.pull
    assert pull is not None, "a single pull request was read"
    if pull.base_ref != policy.base_branch:
        words = f"the pull request goes to {one_line(pull.base_ref)}, not to {policy.base_branch}"
        return _nothing(ReuseReason.OTHER_BASE, words)
    on = read_labels(pull.labels, policy.labels)
    if excluding := [name for name, label in on.modifiers if not label.reusable]:
        words = f"the label {join_words(excluding)} asks for a sweep that cannot serve a merge"
        fix = "Remove the label, or dispatch a sweep of the merge."
        return _refused(ReuseReason.EXCLUDING_LABEL, words, fix)
    is_merge = facts.event.name is EventName.PUSH
    if not pull.is_merged and (is_merge or not pull.is_open):
        return _refused(ReuseReason.NOT_MERGED, "the pull request was not merged")
    return None


def _decide_pinned(facts: ReuseFacts, run_id: int, policy: Policy) -> ReuseDecision:
    source = next((source for source in facts.runs if source.run.id == run_id), None)
    fix = "Name another run, or start a sweep and name it once it has completed."
    if source is None:
        words = f"there is no run {run_id}"
        return _refused(ReuseReason.RUN_NOT_FOUND, words, fix)
    fault = find_fault(source, facts, policy)
    if fault is not None:
        words = f"run {source.run.id} cannot be used, because {fault.words}"
        passed = (PassedRun(run=source.run, fault=fault),)
        return replace(_refused(fault.reason, words, fix), passed_over=passed)
    coverage = compute_coverage(facts.plan, *list_sweeps(source))
    gap = _find_gap(coverage, facts)
    if gap is not None and policy.reuse.coverage is CoverageRule.REQUIRED:
        words = f"run {source.run.id} cannot be used: {gap.words}, and the policy requires all rows"
        return replace(
            _refused(gap.reason, words, _tell_rest(source, coverage, facts, policy)), coverage=coverage
        )
    words = "a command names it" + (f"; {gap.words}, so it is incomplete" if gap else "")
    return ReuseDecision(
        verdict=ReuseVerdict.REUSE,
        reason=ReuseReason.PINNED,
        words=words,
        fix=_tell_rest(source, coverage, facts, policy) if gap and coverage else "",
        source=source.run,
        coverage=coverage,
        edits=(source.sweep.edits or ()) if source.sweep else (),
    )


def _tell_rest(source: SourceRun, coverage: Coverage | None, facts: ReuseFacts, policy: Policy) -> str:
    """Return how to sweep what a run does not cover, as a sentence."""
    if coverage is None:
        return "Start a whole sweep."
    command = render_command(source.run.id, facts, policy)
    tail = f": `{command}`" if command else ""
    return f"Sweep the rows that run {source.run.id} does not cover{tail}."


@record
class _Incomplete:
    source: SourceRun
    coverage: Coverage | None
    fault: SourceFault


def _decide_found(facts: ReuseFacts, policy: Policy) -> ReuseDecision:
    """Choose the newest run that needs no pin and covers the whole plan."""
    passed: list[PassedRun] = []
    closest: _Incomplete | None = None
    for source in facts.runs:
        coverage = compute_coverage(facts.plan, *list_sweeps(source))
        fault = find_fault(source, facts, policy) or find_pin_fault(source, policy)
        gap = _find_gap(coverage, facts)
        if fault is None and gap is None:
            return ReuseDecision(
                verdict=ReuseVerdict.REUSE,
                reason=ReuseReason.NEWEST,
                words=_describe_newest(passed),
                source=source.run,
                coverage=coverage,
                passed_over=tuple(passed),
            )
        fault = _join_faults(fault, gap)
        passed.append(PassedRun(run=source.run, fault=fault))
        if fault.helps_to_pin and (closest is None or _covered(coverage) > _covered(closest.coverage)):
            closest = _Incomplete(source=source, coverage=coverage, fault=fault)
    return replace(_refuse_found(closest, passed, facts, policy), passed_over=tuple(passed))


def find_fault(source: SourceRun, facts: ReuseFacts, policy: Policy) -> SourceFault | None:
    """Return why a run cannot be the source, whoever names it; None if it can."""
    return find_run_fault(source, facts, policy) or find_result_fault(source) or find_plan_fault(source)


def _find_gap(coverage: Coverage | None, facts: ReuseFacts) -> SourceFault | None:
    """Return what a run lacks of the merge's plan; None if it covers all of it."""
    if coverage is None:
        why = facts.plan.problem or "its own plan cannot be recomputed"
        words = f"it covers an unknown part of the merge's plan ({why})"
        return SourceFault(reason=ReuseReason.COVERAGE_UNKNOWN, words=words, helps_to_pin=True)
    if coverage.is_complete:
        return None
    words = f"it covers {coverage.words}"
    return SourceFault(reason=ReuseReason.COVERAGE_PARTIAL, words=words, helps_to_pin=True)


def _join_faults(fault: SourceFault | None, gap: SourceFault | None) -> SourceFault:
    """Return the fault; one that a pin heals also tells how much the run covers."""
    if fault is None or gap is None:
        found = fault or gap
        assert found is not None, "a run without both is the source"
        return found
    return replace(fault, words=f"{fault.words}, and {gap.words}") if fault.helps_to_pin else fault


def _covered(coverage: Coverage | None) -> int:
    return len(coverage.covered) if coverage else -1


def _describe_newest(passed: Sequence[PassedRun]) -> str:
    words = "it is the newest suitable run"
    return words + (f"; {_list_passed(passed)}" if passed else "")


def _list_passed(passed: Sequence[PassedRun]) -> str:
    return join_some([f"run {one.run.id}: {one.fault.words}" for one in passed], SHOWN, separator="; ")


def _refuse_found(
    closest: _Incomplete | None, passed: Sequence[PassedRun], facts: ReuseFacts, policy: Policy
) -> ReuseDecision:
    """Name the run that a pin would let through, if there is one."""
    older = "; older runs were not looked at" if facts.has_older_runs else ""
    if closest is None:
        tail = f" ({_list_passed(passed)})" if passed else ""
        words = f"the pull request has no suitable run{tail}{older}"
        return _refused(ReuseReason.NO_SUITABLE_RUN, words, "Start a sweep, and ask again once it is green.")
    run, gap = closest.source.run, closest.fault
    reason = gap.reason if gap.reason in _GAPS else ReuseReason.NO_SUITABLE_RUN
    words = f"the pull request has no suitable run ({_list_passed(passed)}){older}"
    is_required = policy.reuse.coverage is CoverageRule.REQUIRED
    pin = render_pin(run.id, policy)
    fix = f"To reuse run {run.id} all the same, pin it: {pin}"
    if closest.coverage is None or not closest.coverage.is_complete:
        rest = _tell_rest(closest.source, closest.coverage, facts, policy)
        pin = "" if is_required else pin
        fix = rest if is_required else f"{rest} {fix}" if closest.coverage else fix
    return replace(_refused(reason, words, fix), coverage=closest.coverage, pin=pin)


_GAPS = {ReuseReason.COVERAGE_PARTIAL, ReuseReason.COVERAGE_UNKNOWN}


def render_pin(run_id: int, policy: Policy) -> str:
    """Return the command that names a run, by the word that people also use without a number."""
    commands = policy.reuse.commands
    word = next((word for word, form in commands.items() if form is RunId.OPTIONAL), next(iter(commands)))
    return f"{word} {run_id}"


def _nothing(reason: ReuseReason, words: str) -> ReuseDecision:
    return ReuseDecision(verdict=ReuseVerdict.NOTHING, reason=reason, words=words)


def _refused(reason: ReuseReason, words: str, fix: str = "") -> ReuseDecision:
    return ReuseDecision(verdict=ReuseVerdict.REFUSED, reason=reason, words=words, fix=fix)
