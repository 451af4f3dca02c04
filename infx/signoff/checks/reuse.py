"""Check 4: someone with authority has chosen the sweep whose results the merge reuses."""

from __future__ import annotations

from infx.escape import prose
from infx.model import Run
from infx.policy.model import Policy
from infx.policy.reuse import RunId
from infx.reuse.command import ReuseCommand
from infx.reuse.decide import decide_reuse
from infx.reuse.decision import ReuseDecision, ReuseReason
from infx.reuse.for_gate import UNKNOWN_COVERAGE
from infx.signoff.facts import SignoffFacts
from infx.signoff.outcome import CheckOutcome, Link, code, not_applicable, passed, warned

NOTHING_PLANNED = "The pull request plans no rows, so there is nothing to reuse."


def check_reuse(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Report the decision about reuse, which is the same for the gate and for `infx reuse check`."""
    if facts.plan is not None and not facts.plan.problem and not facts.plan.rows:
        return not_applicable(NOTHING_PLANNED)
    decision = decide_reuse(facts.reuse, policy) if facts.reuse else None
    if decision is not None and decision.reason is ReuseReason.NO_ROWS:
        return not_applicable(NOTHING_PLANNED)
    command = decision.command if decision else None
    if decision is None or command is None:
        return warned(f"No one with write access has posted {_render_forms(policy)} on a line of its own.")
    link = Link(text="comment", url=command.comment.url)
    author, evidence = code(command.comment.author.login), _list_passed(decision)
    if decision.source is None:
        text = prose(f"{decision.words}. {decision.fix}".rstrip())
        return warned(f"{author} asked for reuse, but {text}", link, evidence=evidence)
    text = _describe_source(decision, decision.source, command)
    return passed(f"{author} asked for {text}", link, evidence=evidence)


def _render_forms(policy: Policy) -> str:
    return " or ".join(
        code(f"{word} <run id>" if needs is RunId.REQUIRED else f"{word} [run id]")
        for word, needs in policy.reuse.commands.items()
    )


def _describe_source(decision: ReuseDecision, source: Run, command: ReuseCommand) -> str:
    text = f"run {source.id} to be reused."
    if command.run_id is None:
        text = f"the newest suitable run to be reused, which is run {source.id}."
    if not decision.is_incomplete:
        return text
    return f"{text} It is incomplete: {decision.coverage.words if decision.coverage else UNKNOWN_COVERAGE}."


def _list_passed(decision: ReuseDecision) -> list[str]:
    return [f"run {one.run.id}: {one.fault.words}" for one in decision.passed_over]
