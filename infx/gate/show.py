"""A decision for programs (outputs, JSON) and for people (what was looked at, a section of the summary)."""

from __future__ import annotations

from typing import Any

from infx.escape import prose, table, table_code
from infx.gate.case import Case, one_line
from infx.gate.decide import decide_as_if
from infx.gate.decision import Decision, GateVerdict
from infx.gate.event import Event, EventName
from infx.gate.facts import GateFacts
from infx.phrases import count, join_words
from infx.policy.model import Policy
from infx.saved import to_json

_TITLES = {
    GateVerdict.RUN: "A sweep starts",
    GateVerdict.STOP: "No sweep; a running one stops",
    GateVerdict.IGNORE: "No sweep",
}


def render_outputs(decision: Decision) -> dict[str, str]:
    """Outputs of the gate's step: few, short, and none of them holds text of the pull request."""
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
    }


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def render_decision(decision: Decision) -> dict[str, Any]:
    """The decision as JSON, its sentence first."""
    return {"sentence": decision.sentence, **to_json(decision)}


def render_summary(facts: GateFacts, policy: Policy, decision: Decision) -> str:
    """A section of the run's summary: the sentence, the further obstacles, and a table of what was looked at."""
    lines = [f"### {_TITLES[decision.verdict]}", "", prose(decision.sentence), ""]
    lines += [f"- {prose(text)}" for text in (*list_also(facts, policy, decision), *decision.notes)]
    found = [(name, table_code(text)) for name, text in list_facts(facts, policy)]
    return "\n".join([*lines, "", table(("looked at", "found"), found), ""])


def list_also(facts: GateFacts, policy: Policy, decision: Decision) -> list[str]:
    """A sentence for each further obstacle, as it would be said if it were the first."""
    others = (decide_as_if(facts, policy, reason) for reason in decision.also)
    return [f"Then: {other.cause}" for other in others]


def list_facts(facts: GateFacts, policy: Policy) -> list[tuple[str, str]]:
    """Everything that was looked at: what it is, and how it was found. Text of the pull request is shortened."""
    case = Case(facts, policy)
    found = [("event", _describe_event(facts.event))]
    if facts.event.name in {EventName.PULL_REQUEST, EventName.DISPATCH}:
        found.append(("caused by", _describe_actor(case)))
    if facts.pull is not None:
        found += _list_pull(case)
    if facts.head_message:
        found.append(("head commit says", one_line(facts.head_message, 80)))
    if facts.reuse is not None:
        found.append(("reuse", f"run {facts.reuse.run_id}, {one_line(facts.reuse.problem or 'usable')}"))
    return found


def _describe_event(event: Event) -> str:
    if event.name is EventName.ASKED:
        return "none; somebody asks"
    action = f" {event.action}" if event.name is EventName.PULL_REQUEST else ""
    label = f", label {one_line(event.label)}" if event.label else ""
    head = f", for {event.head_sha[:12]}" if event.head_sha else ""
    attempt = f", attempt {event.attempt}" if event.attempt > 1 else ""
    return f"{event.name}{action}{label}{head}{attempt}"


def _describe_actor(case: Case) -> str:
    event, actor = case.facts.event, case.facts.actor
    if actor is not None:
        return f"{one_line(event.actor)} (permission {actor.permission}, role {one_line(actor.role)})"
    is_ours = case.actor_may_start and not case.facts.actor_is_hidden
    return f"{one_line(event.actor) or 'nobody'} ({'one of ours' if is_ours else 'permission not known'})"


def _describe_label_actor(case: Case) -> str:
    who, actor = one_line(case.facts.label_actor or ""), case.facts.actor
    if actor is not None and case.is_asked:
        return f"{who} (permission {actor.permission}, role {one_line(actor.role)})"
    return f"{who} (permission not known)" if case.is_labeled_by_unknown else who


def _list_pull(case: Case) -> list[tuple[str, str]]:
    facts, pull = case.facts, case.pull
    state = "open" if pull.is_open else "merged" if pull.is_merged else "closed"
    draft = ", a draft" if pull.is_draft else ""
    known = (*case.labels.primary_names, *case.labels.modifier_names)
    others = len(pull.labels) - len(known)
    unseen = "GitHub's list of files was cut" if case.changelog_is_unseen else "not looked at"
    conflict = {True: "no", False: "yes", None: "GitHub does not know yet"}[pull.mergeable]
    found = [
        ("pull request", f"{pull.number}, {state}{draft}, into {one_line(pull.base_ref)}"),
        ("head", pull.head_sha),
        (
            "labels",
            (join_words(known) or "none that matters")
            + (f" (and {count(others, 'other')})" if others else ""),
        ),
        (
            "from a fork",
            "no" if not pull.is_fork else one_line(pull.head_repository or "yes, a deleted one", 150),
        ),
        ("conflict with the base", join_words([one_line(name) for name in facts.conflicts]) or conflict),
        ("changelog touched", {True: "yes", False: "no", None: unseen}[facts.changelog.touched]),
    ]
    if pull.is_fork:
        found.append(("approval", f"for {facts.approval.sha}" if facts.approval else "none found"))
    if facts.changelog.problems is not None:
        found.append(("changelog problems", str(len(facts.changelog.problems))))
    for run in facts.runs:
        swept = {True: "swept", False: "started no sweep", None: "has not decided yet"}[run.swept]
        found.append(("run for this head", f"{run.id}: {swept}, {run.conclusion or 'not finished'}"))
    if facts.label_actor:
        found.append(("label put on by", _describe_label_actor(case)))
    if (then := case.labels_at_event) is not None:
        on = join_words((*then.primary_names, *then.modifier_names))
        found.append(("labels at the event", on or "none that matters"))
    return found
