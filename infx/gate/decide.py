"""Decide from gathered facts whether a sweep starts, is cancelled, or is left alone."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import assert_never

from infx.gate.case import Case, one_line, split_command
from infx.gate.decision import Decision, GateVerdict, Reason
from infx.gate.event import SHA, EventName
from infx.gate.facts import GateFacts, Marker
from infx.gate.other_rules import DISPATCH, DISPATCH_FOR_PULL, PUSH
from infx.gate.rules import PULL_REQUEST, GateRule
from infx.gate.words import collect_words, describe_choice, describe_sweep
from infx.phrases import join_words
from infx.policy.model import Effect, Policy, SweepScope
from infx.policy.stage import Stage
from infx.records import record


def decide(facts: GateFacts, policy: Policy) -> Decision:
    """Decide about one event, or answer a question about a pull request without an event.

    A missing fact never starts a sweep. Raises ValueError if the event is about a pull request that the facts lack.
    """
    case = Case(facts=facts, policy=policy)
    match facts.event.name:
        case EventName.PULL_REQUEST | EventName.ASKED:
            return _finish(case, PULL_REQUEST)
        case EventName.DISPATCH:
            return _decide_dispatch(case)
        case EventName.PUSH:
            return _finish(case, PUSH)
        case EventName.MERGE_GROUP:
            return _ignore(case, Reason.MERGE_GROUP, "for a merge group only the changelog is checked")
        case EventName.COMMENT:
            return _ignore(case, Reason.COMMENT, "other commands answer comments")
        case EventName.OTHER:
            return _ignore(case, Reason.OTHER_EVENT, "this kind of event does not affect sweeps")
        case _:
            assert_never(facts.event.name)


def decide_as_if(facts: GateFacts, policy: Policy, reason: Reason) -> Decision:
    """Decide as if this reason were the only obstacle, so that all obstacles can be listed at once."""
    table = DISPATCH_FOR_PULL if facts.event.name is EventName.DISPATCH else PULL_REQUEST
    return _finish(
        Case(facts=facts, policy=policy),
        tuple(rule for rule in table if rule.reason in {reason, Reason.READY}),
    )


def _decide_dispatch(case: Case) -> Decision:
    for_pull = case.inputs.pull is not None and case.facts.pull is not None
    decision = _finish(case, DISPATCH_FOR_PULL if for_pull else DISPATCH)
    if decision.runs:
        return decision
    # The person who dispatched expects a sweep, so the run is red. A dispatch that cannot start must not stop a sweep.
    return replace(decision, verdict=GateVerdict.IGNORE, refused=True, group=_own_group(case))


def _finish(case: Case, table: tuple[GateRule, ...]) -> Decision:
    matching_rules = [rule for rule in table if not (case.is_asked and rule.of_event) and rule.test(case)]
    rule = matching_rules[0]
    verdict = GateVerdict.STOP if case.action in rule.stops_on else rule.verdict
    notes = _notes(case)
    if rule.reason is Reason.READY and case.is_asked:
        notes.append("Nothing has started it yet: push, or remove the label and add it again.")
        if case.facts.changelog.problems is None:
            notes.append(f"{case.policy.changelog} was not validated: ask in a clone.")
    if verdict is GateVerdict.STOP and not case.actor_may_start:
        verdict = GateVerdict.IGNORE
        notes.append(
            "An account without write access does not cancel the running sweep; `infx reconcile` does."
        )
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
        merge_sha=case.inputs.merge_sha if re.fullmatch(SHA, case.inputs.merge_sha) else None,
        base_sha=_base(case),
        stage=_stage(case),
        command=_command(case),
        scope=plan.scope,
        canary=plan.canary,
        fail_fast=plan.fail_fast,
        effects=plan.effects,
        reusable=plan.reusable,
        only=case.inputs.only,
        complete=case.inputs.complete,
        reuse=case.reuse if rule.reason in {Reason.REUSED, Reason.REUSE_REFUSED} else None,
        labels=case.known_labels,
        notes=tuple(notes),
        also=_find_further_reasons(case, matching_rules),
    )


@record
class _Plan:
    scope: SweepScope | None = None
    canary: bool = False
    fail_fast: bool = False
    effects: tuple[Effect, ...] = ()
    reusable: bool = True
    words: str = ""


def _plan(case: Case) -> _Plan:
    """Plan the sweep by a pull request's labels, by a dispatch's inputs, or in full on a push."""
    if case.facts.pull is not None:
        return _plan_by_labels(case) if case.has_primary else _Plan()
    inputs = case.inputs
    scope = SweepScope.TRIMMED if inputs.trim else SweepScope.FULL
    effects = case.dispatched_effects()
    asked_by = "dispatch" if case.facts.event.name is EventName.DISPATCH else "push"
    text = describe_sweep(scope, canary=False, fail_fast=inputs.fail_fast, effects=effects, asked_by=asked_by)
    return _Plan(scope=scope, fail_fast=inputs.fail_fast, effects=effects, words=text)


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
        notes.append(f"{marker} has no effect on a push to {case.policy.base_branch}.")
    elif case.marker is Marker.QUOTED:
        notes.append(
            f"The head commit only quotes {marker}; it must be in the subject or on its own line to count."
        )
    if (then := case.labels_at_event) is not None:
        before, now = (
            join_words((*labels.primary_names, *labels.modifier_names)) or "no sweep label"
            for labels in (then, case.labels)
        )
        notes.append(
            f"Labels have changed since the event, and the current ones count: then {before}; now {now}."
        )
    if case.facts.actor_is_hidden:
        who = one_line(case.facts.event.actor)
        notes.append(f"GitHub does not show this token whether {who} has write access.")
    if case.is_labeled_by_unknown:
        who = one_line(case.facts.label_actor or "")
        notes.append(f"GitHub does not show this token whether {who}, who added the label, has write access.")
    if case.facts.edits_rules:
        notes.append("The PR edits workflows or the policy, so its own results do not count as evidence.")
    inputs = case.inputs
    if inputs.only or inputs.complete:
        notes.append(describe_choice(inputs))
    if case.facts.pull is not None and (inputs.trim or inputs.fail_fast or inputs.modifiers):
        notes.append(
            "The labels of the PR decide; trim, fail-fast and modifiers of the dispatch have no effect."
        )
    if case.facts.pull is not None and inputs.base_ref and not inputs.merge_sha:
        notes.append(
            f"A PR is compared with {case.policy.base_branch}; base-ref of the dispatch has no effect."
        )
    if case.changelog_is_unseen:
        notes.append(
            f"GitHub's file list was too long to show whether the PR changes {case.policy.changelog}; the plan checks it."
        )
    return notes


def _find_further_reasons(case: Case, matching_rules: list[GateRule]) -> tuple[Reason, ...]:
    """Return further obstacles of a pull request that has a label for a sweep."""
    first = matching_rules[0]
    if case.facts.pull is None or not case.labels.primary or first.of_event or first.reason is Reason.CLOSED:
        return ()
    others = (
        rule.reason
        for rule in matching_rules[1:]
        if not rule.of_event and rule.verdict is not GateVerdict.RUN
    )
    return tuple(dict.fromkeys(reason for reason in others if reason is not first.reason))


def _head(case: Case) -> str | None:
    head = case.facts.pull.head_sha if case.facts.pull else case.facts.head_sha or case.facts.event.head_sha
    return head if head and re.fullmatch(SHA, head) else None


def _base(case: Case) -> str | None:
    """Return the commit to compare with; None for the tip of the base branch. A test merge has its own base."""
    facts = case.facts
    if facts.event.name is EventName.PUSH:
        base = case.pushed_base
    elif facts.pull is None:
        base = facts.base_sha
    else:
        base = facts.merge.parents[0] if facts.merge and case.has_test_merge else None
    return base if base and re.fullmatch(SHA, base) and base.strip("0") else None


def _stage(case: Case) -> Stage | None:
    if case.facts.event.name is EventName.PUSH:
        return Stage.MAIN
    return None if case.inputs.command else Stage.PR


def _command(case: Case) -> tuple[str, ...]:
    try:
        return tuple(split_command(case.inputs.command))
    except ValueError:
        return ()  # DISPATCH_INPUTS refuses it


def _sweep_group(case: Case) -> str:
    """Return the concurrency group of the sweep. All events of a pull request share one."""
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
