"""Render a judgment for a terminal and as JSON."""

from __future__ import annotations

from typing import Any

from infx.errors import UsageError
from infx.policy.checks import CHECKS, Check, find_check
from infx.signoff.facts import SignoffFacts
from infx.signoff.judge import Judgment, Result
from infx.signoff.verdict import compute_status


def render_json(facts: SignoffFacts, judgment: Judgment) -> dict[str, Any]:
    return {
        "pull": facts.pull.number,
        "sha": facts.pull.head_sha,
        "sign-off": facts.signoff.url,
        "verdict": compute_status(result.outcome.status for result in judgment.results).value,
        "good": judgment.is_good,
        "waiting": judgment.is_waiting,
        "checks": [_render_result(result) for result in judgment.results],
        "refused": [{"comment": refusal.comment.url, "why": refusal.why} for refusal in judgment.refused],
    }


def _render_result(result: Result) -> dict[str, Any]:
    settlement = result.settlement
    return {
        "number": result.check.number,
        "check": result.check.slug,
        "name": result.check.name,
        "status": result.outcome.status.value,
        "reason": result.outcome.reason,
        "links": [link.url for link in result.outcome.links],
        "evidence": list(result.outcome.evidence),
        "settled-by": settlement.comment.author.login if settlement else None,
    }


def require_check(word: str) -> Check:
    """Return a check by its number or slug. Raises UsageError for any other word."""
    check = find_check(word)
    if check is None:
        names = ", ".join(f"{check.number} {check.slug}" for check in CHECKS)
        raise UsageError(f"There is no check {word!r}.", hint=f"Checks: {names}.")
    return check


def render_explanation(judgment: Judgment, word: str) -> str:
    """Return everything that one check read. Raises UsageError for an unknown check.

    word: the check's number or slug.
    """
    check = require_check(word)
    result = judgment.results[check.number]
    lines = [f"Check {check.number} ({check.name}): {result.outcome.status}", result.outcome.reason]
    lines += [f"  {link.text}: {link.url}" for link in result.outcome.links]
    if result.outcome.evidence:
        lines += ["Evidence:", *(f"  {line}" for line in result.outcome.evidence)]
    if result.settlement:
        comment = result.settlement.comment
        lines.append(f"Settled by {comment.author.login} ({comment.url}): {result.settlement.reason}")
    return "\n".join(lines)
