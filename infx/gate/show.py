"""Render a decision for programs (outputs, JSON) and for people (facts, a section of the run's summary)."""

from __future__ import annotations

from typing import Any

from infx.escape import prose, table, table_code
from infx.gate.case import Case, one_line
from infx.gate.decide import decide_as_if
from infx.gate.decision import Decision, GateVerdict
from infx.gate.event import Event, EventName
from infx.gate.facts import GateFacts, Reuse
from infx.gate.words import MAX_PROBLEM
from infx.phrases import count, join_words
from infx.policy.model import Policy
from infx.saved import to_json

_TITLES = {
    GateVerdict.RUN: "A sweep starts",
    GateVerdict.STOP: "No sweep; a running one stops",
    GateVerdict.IGNORE: "No sweep",
}


def render_outputs(decision: Decision) -> dict[str, str]:
    """Render the outputs of the gate's step. None of them contains text of the pull request."""
    return {
        "verdict": decision.verdict.value,
        "reason": decision.reason.value,
        "refused": _boolean(decision.refused),
        "group": decision.group,
        "pull": "" if decision.pull is None else str(decision.pull),
        "head-sha": decision.head_sha or "",
        "merge-sha": decision.merge_sha or "",
        "base-sha": decision.base_sha or "",
        "stage": decision.stage or "",
        "canary": _boolean(decision.canary),
        "fail-fast": _boolean(decision.fail_fast),
        "complete": "" if decision.complete is None else str(decision.complete),
        **_render_reuse(decision.reuse or Reuse()),
    }


def _render_reuse(reuse: Reuse) -> dict[str, str]:
    """Render the outputs about a reused sweep; all but the first are empty if none is reused."""
    source = reuse if reuse.is_accepted else Reuse()
    return {
        "reuse-enabled": _boolean(source.is_accepted),
        "reuse-source-run-id": str(source.run_id or ""),
        "reuse-source-run-attempt": str(source.attempt) if source.is_accepted else "",
        "reuse-source-run-url": source.url,
        "reuse-source-pr-number": str(source.pull or ""),
        "reuse-source-head-sha": source.head_sha,
        "reuse-incomplete": _boolean(source.is_incomplete),
        "reuse-reason": reuse.reason,
    }


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def render_decision(decision: Decision) -> dict[str, Any]:
    """Render the decision as JSON, with its sentence first."""
    return {"sentence": decision.sentence, **to_json(decision)}


def render_summary(facts: GateFacts, policy: Policy, decision: Decision) -> str:
    """Render a section of the run's summary: the sentence, further obstacles, and a table of the facts."""
    lines = [f"### {_TITLES[decision.verdict]}", "", prose(decision.sentence), ""]
    lines += [f"- {prose(text)}" for text in (*list_also(facts, policy, decision), *decision.notes)]
    rows = [(name, table_code(text)) for name, text in list_facts(facts, policy)]
    return "\n".join([*lines, "", table(("checked", "found"), rows), ""])


def list_also(facts: GateFacts, policy: Policy, decision: Decision) -> list[str]:
    """Return a sentence for each further obstacle, as if it were the first."""
    others = (decide_as_if(facts, policy, reason) for reason in decision.also)
    return [f"Then: {other.cause}" for other in others]


def list_facts(facts: GateFacts, policy: Policy) -> list[tuple[str, str]]:
    """Return the name and the value of every fact. Text of the pull request is shortened."""
    case = Case(facts=facts, policy=policy)
    rows = [("event", _describe_event(facts.event))]
    if facts.event.name in {EventName.PULL_REQUEST, EventName.DISPATCH}:
        rows.append(("caused by", _describe_actor(case)))
    if facts.pull is not None:
        rows += _list_pull(case)
    if facts.head_message:
        rows.append(("head commit message", one_line(facts.head_message, 80)))
    if facts.reuse is not None:
        rows.append(("reuse", _describe_reuse(facts.reuse)))
    return rows


def _describe_event(event: Event) -> str:
    if event.name is EventName.ASKED:
        return "none; a question"
    action = f" {event.action}" if event.name is EventName.PULL_REQUEST else ""
    label = f", label {one_line(event.label)}" if event.label else ""
    head = f", for {event.head_sha[:12]}" if event.head_sha else ""
    attempt = f", attempt {event.attempt}" if event.attempt > 1 else ""
    return f"{event.name}{action}{label}{head}{attempt}"


def _describe_reuse(reuse: Reuse) -> str:
    if not reuse.is_accepted:
        return f"none: {one_line(reuse.absence or reuse.problem or 'not asked for', MAX_PROBLEM)}"
    extent = f"; {reuse.extent}" if reuse.extent else ""
    return f"run {reuse.run_id}, attempt {reuse.attempt}, {reuse.url}, for {reuse.head_sha[:12]}{extent}"


def _describe_actor(case: Case) -> str:
    event, actor = case.facts.event, case.facts.actor
    if actor is not None:
        return f"{one_line(event.actor)} (permission {actor.permission}, role {one_line(actor.role)})"
    is_identity = case.actor_may_start and not case.facts.actor_is_hidden
    note = "an identity of the policy" if is_identity else "permission unknown"
    return f"{one_line(event.actor) or '(unknown)'} ({note})"


def _describe_label_actor(case: Case) -> str:
    who, actor = one_line(case.facts.label_actor or ""), case.facts.actor
    if actor is not None and case.is_asked:
        return f"{who} (permission {actor.permission}, role {one_line(actor.role)})"
    return f"{who} (permission unknown)" if case.is_labeled_by_unknown else who


def _list_pull(case: Case) -> list[tuple[str, str]]:
    facts, pull = case.facts, case.pull
    state = "open" if pull.is_open else "merged" if pull.is_merged else "closed"
    draft = ", a draft" if pull.is_draft else ""
    known = (*case.labels.primary_names, *case.labels.modifier_names)
    others = len(pull.labels) - len(known)
    unknown = "unknown: GitHub cut the list of files" if case.changelog_is_unseen else "not checked"
    conflict = {True: "no", False: "yes", None: "GitHub does not know yet"}[pull.mergeable]
    rows = [
        ("pull request", f"{pull.number}, {state}{draft}, into {one_line(pull.base_ref)}"),
        ("head", pull.head_sha),
        (
            "labels",
            (join_words(known) or "no sweep label") + (f" (and {count(others, 'other')})" if others else ""),
        ),
        (
            "from a fork",
            "no" if not pull.is_fork else one_line(pull.head_repository or "yes, a deleted one", 150),
        ),
        ("conflict with the base", join_words([one_line(name) for name in facts.conflicts]) or conflict),
        ("changelog changed", {True: "yes", False: "no", None: unknown}[facts.changelog.touched]),
    ]
    if pull.is_fork:
        rows.append(("approval", f"for {facts.approval.sha}" if facts.approval else "not found"))
    if facts.changelog.problems is not None:
        rows.append(("changelog problems", str(len(facts.changelog.problems))))
    for run in facts.runs:
        swept = {True: "swept", False: "started no sweep", None: "has not decided yet"}[run.swept]
        rows.append(("run for this head", f"{run.id}: {swept}, {run.conclusion or 'not finished'}"))
    if facts.label_actor:
        rows.append(("label added by", _describe_label_actor(case)))
    if (then := case.labels_at_event) is not None:
        names = join_words((*then.primary_names, *then.modifier_names))
        rows.append(("labels at the event", names or "no sweep label"))
    return rows
