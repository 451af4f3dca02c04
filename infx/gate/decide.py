"""The gate: whether a sweep starts, stops or stays as it is, from facts that were gathered before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from infx.gate.case import Case, one_line, split_command
from infx.gate.decision import Decision, GateVerdict, Reason
from infx.gate.event import SHA, EventName
from infx.gate.facts import GateFacts, Marker
from infx.gate.other_rules import DISPATCH, DISPATCH_FOR_PULL, PUSH
from infx.gate.rules import PULL_REQUEST, READY, ROW, GateRule
from infx.gate.words import collect_words, describe_sweep
from infx.phrases import join_words
from infx.policy.model import Effect, Policy, SweepScope
from infx.policy.stage import Stage


def decide(facts: GateFacts, policy: Policy) -> Decision:
    """The answer to one event, or to the mere question how a pull request stands.

    A fact that is missing never starts a sweep. Raises ValueError if the event is about a pull request and the
    facts hold none.
    """
    case = Case(facts, policy)
    match facts.event.name:
        case EventName.PULL_REQUEST | EventName.ASKED:
            return _finish(case, PULL_REQUEST)
        case EventName.DISPATCH:
            return _decide_dispatch(case)
        case EventName.PUSH:
            return _finish(case, PUSH)
        case EventName.MERGE_GROUP:
            return _ignore(case, Reason.MERGE_GROUP, "a merge group only has its changelog checked")
        case EventName.COMMENT:
            return _ignore(case, Reason.COMMENT, "comments are answered by commands of their own")
        case EventName.OTHER:
            return _ignore(case, Reason.OTHER_EVENT, "this kind of event does not concern sweeps")
        case _:
            assert_never(facts.event.name)


def decide_row(facts: GateFacts, policy: Policy, head_sha: str) -> Decision:
    """What a row of a later attempt asks: is the pull request still one whose sweep may use a GPU?

    head_sha: of the sweep that the row belongs to; a dispatch for a pull request need not have named it.
    """
    case = Case(replace(facts, event=replace(facts.event, head_sha=head_sha)), policy)
    event = facts.event
    if event.name is EventName.PUSH or (event.name is EventName.DISPATCH and case.inputs.pull is None):
        return _finish(case, (READY,))
    if facts.pull is None or event.name not in {EventName.PULL_REQUEST, EventName.DISPATCH}:
        return _ignore(case, Reason.OTHER_EVENT, "the event is none whose rows may run again")
    table = DISPATCH_FOR_PULL if facts.event.name is EventName.DISPATCH else PULL_REQUEST
    return _finish(case, tuple(rule for rule in table if rule.reason in {*ROW, Reason.READY}))


def decide_as_if(facts: GateFacts, policy: Policy, reason: Reason) -> Decision:
    """The answer if this reason were the only one: for telling all obstacles at once."""
    table = DISPATCH_FOR_PULL if facts.event.name is EventName.DISPATCH else PULL_REQUEST
    return _finish(
        Case(facts, policy), tuple(rule for rule in table if rule.reason in {reason, Reason.READY})
    )


def _decide_dispatch(case: Case) -> Decision:
    for_pull = case.inputs.pull is not None and case.facts.pull is not None
    decision = _finish(case, DISPATCH_FOR_PULL if for_pull else DISPATCH)
    if decision.runs:
        return decision
    # Whoever dispatches waits for a sweep; and what cannot start has no right to stop another.
    return replace(decision, verdict=GateVerdict.IGNORE, refused=True, group=_own_group(case))


def _finish(case: Case, table: tuple[GateRule, ...]) -> Decision:
    holding = [rule for rule in table if not (case.is_asked and rule.of_event) and rule.test(case)]
    rule = holding[0]
    verdict = GateVerdict.STOP if case.action in rule.stops_on else rule.verdict
    notes = _notes(case)
    if rule.reason is Reason.READY and case.is_asked:
        notes.append(
            "Nothing has started it yet: the next push will, and so will taking the label off and putting it on again."
        )
        if case.facts.changelog.problems is None:
            notes.append(f"Whether {case.policy.changelog} is valid was not judged: ask in a clone.")
    if verdict is GateVerdict.STOP and not case.actor_may_start:
        verdict = GateVerdict.IGNORE
        notes.append("Without write access nobody cancels the sweep that runs; reconciling does.")
    plan = _plan(case)
    words = {**collect_words(case), "how": plan.words}
    return Decision(
        verdict=verdict,
        reason=rule.reason,
        words=rule.words.format_map(words),
        fix=rule.fix.format_map(words) or None,
        refused=rule.refused,
        group=_own_group(case) if verdict is GateVerdict.IGNORE else _sweep_group(case),
        pull=case.facts.event.pull or (case.facts.pull.number if case.facts.pull else None),
        head_sha=_head(case),
        merge_sha=case.inputs.merge_sha if SHA.fullmatch(case.inputs.merge_sha) else None,
        base_sha=_base(case),
        stage=_stage(case),
        command=_command(case),
        scope=plan.scope,
        canary=plan.canary,
        fail_fast=plan.fail_fast,
        effects=plan.effects,
        reusable=plan.reusable,
        labels=case.known_labels,
        notes=tuple(notes),
        also=_also(case, holding),
    )


@dataclass(frozen=True, kw_only=True)
class _Plan:
    scope: SweepScope | None = None
    canary: bool = False
    fail_fast: bool = False
    effects: tuple[Effect, ...] = ()
    reusable: bool = True
    words: str = ""


def _plan(case: Case) -> _Plan:
    """How the sweep goes: by the labels of a pull request, by the inputs of a dispatch, or whole on a push."""
    if case.facts.pull is not None:
        return _plan_by_labels(case) if case.has_primary else _Plan()
    given = case.inputs
    scope = SweepScope.TRIMMED if given.trim else SweepScope.FULL
    effects = case.dispatched_effects()
    asked_by = "dispatch" if case.facts.event.name is EventName.DISPATCH else "push"
    text = describe_sweep(scope, canary=False, fail_fast=given.fail_fast, effects=effects, asked_by=asked_by)
    return _Plan(scope=scope, fail_fast=given.fail_fast, effects=effects, words=text)


def _plan_by_labels(case: Case) -> _Plan:
    name, label = case.labels.primary[0]
    effects = case.labels.effects
    asked_by = join_words((name, *case.labels.modifier_names))
    return _Plan(
        scope=label.scope,
        canary=label.canary,
        fail_fast=label.fail_fast,
        effects=effects,
        reusable=label.scope is SweepScope.FULL
        and all(modifier.reusable for _, modifier in case.labels.modifiers),
        words=describe_sweep(
            label.scope, canary=label.canary, fail_fast=label.fail_fast, effects=effects, asked_by=asked_by
        ),
    )


def _notes(case: Case) -> list[str]:
    notes = []
    marker = case.policy.sweep.skip_marker
    if case.facts.event.name is EventName.PUSH and case.marker is not Marker.ABSENT:
        notes.append(f"On a push to {case.policy.base_branch} {marker} does not count.")
    elif case.marker is Marker.QUOTED:
        notes.append(
            f"The head commit only quotes {marker}: it counts in the subject or on a line of its own."
        )
    if (then := case.labels_at_event) is not None:
        on, now = (
            join_words((*labels.primary_names, *labels.modifier_names)) or "none that matters"
            for labels in (then, case.labels)
        )
        notes.append(f"Labels have changed since the event: then {on}; now, and decisive, {now}.")
    if case.facts.actor_is_hidden:
        who = one_line(case.facts.event.actor)
        notes.append(f"Whether {who} has write access is not known: GitHub does not tell this token.")
    if case.is_labeled_by_unknown:
        who = one_line(case.facts.label_actor or "")
        notes.append(
            f"Whether {who}, who put the label on, has write access is not known: GitHub does not tell this token."
        )
    if case.facts.edits_rules:
        notes.append("The PR edits workflows or the policy, so its results are no evidence by themselves.")
    given = case.inputs
    if case.facts.pull is not None and (given.trim or given.fail_fast or given.modifiers):
        notes.append(
            "The labels of the PR say how; trim, fail-fast and modifiers of the dispatch do not count."
        )
    if case.facts.pull is not None and given.base_ref and not given.merge_sha:
        notes.append(
            f"A PR is compared with {case.policy.base_branch}; base-ref of the dispatch does not count."
        )
    if case.changelog_is_unseen:
        notes.append(f"Whether the PR touches {case.policy.changelog} could not be seen; the plan will tell.")
    return notes


def _also(case: Case, holding: list[GateRule]) -> tuple[Reason, ...]:
    """Further obstacles, only for a pull request that asks for a sweep."""
    first = holding[0]
    if case.facts.pull is None or not case.labels.primary or first.of_event or first.reason is Reason.CLOSED:
        return ()
    others = (
        rule.reason for rule in holding[1:] if not rule.of_event and rule.verdict is not GateVerdict.RUN
    )
    return tuple(dict.fromkeys(reason for reason in others if reason is not first.reason))


def _head(case: Case) -> str | None:
    told = case.facts.pull.head_sha if case.facts.pull else case.facts.head_sha or case.facts.event.head_sha
    return told if told and SHA.fullmatch(told) else None


def _base(case: Case) -> str | None:
    """A pull request is compared with the base branch as it is now, a test merge with what it was made of."""
    facts = case.facts
    if facts.event.name is EventName.PUSH:
        told = case.pushed_base
    elif facts.pull is None:
        told = facts.base_sha
    else:
        told = facts.merge.parents[0] if facts.merge and case.has_test_merge else None
    return told if told and SHA.fullmatch(told) and told.strip("0") else None


def _stage(case: Case) -> Stage | None:
    if case.facts.event.name is EventName.PUSH:
        return Stage.MAIN
    return None if case.inputs.command else Stage.PR


def _command(case: Case) -> tuple[str, ...]:
    try:
        return tuple(split_command(case.inputs.command))
    except ValueError:
        return ()  # the rules refuse it


def _sweep_group(case: Case) -> str:
    """All events of a pull request share a group; nothing else does."""
    event = case.facts.event
    if case.facts.pull is not None:
        return f"sweep-pr-{case.facts.pull.number}"
    return f"sweep-{event.head_sha}" if event.name is EventName.PUSH else f"sweep-run-{event.run_id or 0}"


def _own_group(case: Case) -> str:
    return f"ignored-run-{case.facts.event.run_id or 0}"


def _ignore(case: Case, reason: Reason, words: str) -> Decision:
    event = case.facts.event
    return Decision(
        verdict=GateVerdict.IGNORE,
        reason=reason,
        words=words,
        group=_own_group(case),
        pull=event.pull,
        head_sha=_head(case),
    )
