"""Fill in the names that the rules' sentences use. Some of the text comes from the pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infx.gate.case import Case, one_line
from infx.gate.event import DispatchInputs, EventName
from infx.gate.facts import Reuse
from infx.model import PullRequest
from infx.phrases import count, join_words
from infx.policy.model import Effect, Policy, SweepScope

MAX_FILES_NAMED = 5  # files that a sentence names
MAX_PROBLEM = 400  # characters of why a finished sweep is not reused

EFFECTS = {
    Effect.ALL_EVALS: "every eligible accuracy run",
    Effect.EVALS_ONLY: "accuracy runs only",
    Effect.FAST: "shortened AgentX runs",
}


def collect_words(case: Case) -> Mapping[str, str]:
    """Return the text for each name in braces that a rule may use."""
    words = {**_collect_from_policy(case), **_collect_from_event(case)}
    if case.facts.pull is not None:
        words |= {**_collect_from_pull(case), **_collect_from_labels(case)}
    return words


def _collect_from_policy(case: Case) -> dict[str, str]:
    policy = case.policy
    labels = sorted(policy.labels.primary.items(), key=lambda item: not item[1].recommended)
    shown = [f"{name} (recommended)" if label.recommended else name for name, label in labels]
    return {
        "base": policy.base_branch,
        "changelog": policy.changelog,
        "marker": policy.sweep.skip_marker,
        "approve": policy.sweep.approve_command,
        "primaries": join_words(shown, "or"),
    }


def _collect_from_event(case: Case) -> dict[str, str]:
    facts = case.facts
    problems = facts.changelog.problems or ()
    latest = next((run for run in facts.runs if run.may_sweep), None)
    return {
        "actor": one_line(facts.event.actor) or "(unknown)",
        "event_head": (facts.event.head_sha or "")[:12],
        "dispatched_head": (facts.head_sha or "")[:12],
        "label": one_line(facts.event.label or "") or "(without a name)",
        "marker_place": case.marker.value,
        "label_actor": one_line(facts.label_actor or ""),
        "why_no_start": "and the events of that token start no workflow"
        if case.is_labeled_by_token
        else "who has no write access",
        "problem_count": count(len(problems), "problem"),
        "first_problem": one_line(problems[0].rstrip("."), 400) if problems else "",
        **_collect_from_reuse(facts.reuse or Reuse()),
        "run_url": latest.url if latest else "",
        "run_state": (latest.conclusion or "not finished") if latest else "",
        "inputs_problem": case.check_inputs() or "" if facts.event.name is EventName.DISPATCH else "",
    }


def _collect_from_reuse(reuse: Reuse) -> dict[str, str]:
    mark = ", " if reuse.is_incomplete else ": "
    return {
        "reuse_run": str(reuse.run_id or ""),
        "reuse_extent": f"{mark}{reuse.extent}" if reuse.extent else "",
        "reuse_problem": one_line((reuse.problem or "").rstrip("."), MAX_PROBLEM),
        "reuse_fix": one_line(reuse.fix, MAX_PROBLEM),
        "reuse_absence": f": {one_line(reuse.absence, MAX_PROBLEM)}" if reuse.absence else "",
    }


def _collect_from_pull(case: Case) -> dict[str, str]:
    pull, approval = case.pull, case.facts.approval
    return {
        "head": pull.head_sha[:12],
        "head_sha": pull.head_sha,
        "state": "merged" if pull.is_merged else "closed",
        "fork": "a fork" if pull.head_repository else "a fork that was deleted",
        "conflicts": _name_files(case.facts.conflicts) or f"{case.policy.changelog}?",
        "approved": approval.sha[:12] if approval else "",
        "approval_link": f" ({approval.url})" if approval and approval.url else "",
        "dispatch": dispatch_command(case.policy, pull),
    }


def _name_files(paths: Sequence[str]) -> str:
    names = [one_line(path) for path in paths]
    return join_words(names, limit=MAX_FILES_NAMED)


def dispatch_command(policy: Policy, pull: PullRequest) -> str:
    """Return the command that starts the sweep of a pull request by hand, for its current head only."""
    workflow = policy.sweep.workflow_file
    return f"gh workflow run {workflow} -f pr={pull.number} -f head-ref={pull.head_sha}"


def _collect_from_labels(case: Case) -> dict[str, str]:
    names, modifiers = sorted(case.labels.primary_names), case.labels.modifier_names
    both = f"both {join_words(names)}" if len(names) == 2 else join_words(names)
    verb = "do" if len(modifiers) > 1 else "does"
    return {
        "primaries_on": both,
        "remove": "Remove one." if len(names) == 2 else "Keep one of them.",
        "modifiers_alone": f"; {join_words(modifiers)} {verb} not" if modifiers else "",
    }


def describe_sweep(
    scope: SweepScope, *, canary: bool, fail_fast: bool, effects: tuple[Effect, ...], asked_by: str
) -> str:
    """Describe how a sweep runs: `full, first a canary, stopping at the first failure (full-sweep-fail-fast)`."""
    parts = [
        "full" if scope is SweepScope.FULL else "trimmed to the lowest concurrencies",
        "first a canary" if canary else "",
        "stopping at the first failure" if fail_fast else "",
        *(EFFECTS[effect] for effect in effects),
    ]
    return ", ".join(filter(None, parts)) + f" ({asked_by})"


def describe_choice(inputs: DispatchInputs) -> str:
    """Return which rows a dispatch chooses, as a sentence."""
    if not inputs.only:
        return f"Only the rows that run {inputs.complete} does not cover run."
    runs = "runs" if len(inputs.only) == 1 else "run"
    others = f"; run {inputs.complete} has the others" if inputs.complete else ""
    return f"Only {count(len(inputs.only), 'named row')} {runs}{others}."
