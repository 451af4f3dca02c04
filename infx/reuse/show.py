"""A decision about reuse for programs (outputs, JSON) and for people (lines, a section of the summary)."""

from __future__ import annotations

from typing import Any

from infx.escape import prose, table_code
from infx.escape import table as render_table
from infx.model import Run
from infx.reuse.coverage import Coverage
from infx.reuse.decision import ReuseDecision, ReuseVerdict

_TITLES = {
    ReuseVerdict.REUSE: "A finished sweep is reused",
    ReuseVerdict.REFUSED: "No finished sweep is reused",
    ReuseVerdict.NOTHING: "Nothing is reused",
}
MAX_ROWS = 50  # of the summary's table


def render_outputs(decision: ReuseDecision) -> dict[str, str]:
    """Return the outputs of a step: few, short, and without text of the pull request."""
    source = decision.source
    return {
        "verdict": decision.verdict.value,
        "reason": decision.reason.value,
        "pull": "" if decision.pull is None else str(decision.pull),
        "run-id": str(source.id) if source else "",
        "run-attempt": str(source.attempt) if source else "",
        "run-url": source.url if source else "",
        "head-sha": source.commit if source else "",
        "incomplete": "true" if decision.is_incomplete else "false",
    }


def render_decision(decision: ReuseDecision) -> dict[str, Any]:
    """Return the decision as JSON, its sentence first."""
    command = decision.command
    return {
        "sentence": decision.sentence,
        "verdict": decision.verdict.value,
        "reason": decision.reason.value,
        "pull": decision.pull,
        "asked-by": command.comment.author.login if command else None,
        "comment": command.comment.url if command else None,
        "pinned": command.run_id if command else None,
        "source": _render_run(decision.source) if decision.source else None,
        "incomplete": decision.is_incomplete,
        "coverage": _render_coverage(decision.coverage) if decision.coverage else None,
        "passed-over": [
            {
                "run": one.run.id,
                "url": one.run.url,
                "reason": one.fault.reason.value,
                "words": one.fault.words,
            }
            for one in decision.passed_over
        ],
    }


def _render_run(run: Run) -> dict[str, Any]:
    return {"run": run.id, "attempt": run.attempt, "url": run.url, "head-sha": run.commit}


def _render_coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "rows": coverage.total,
        "covered": list(coverage.covered),
        "stale": list(coverage.stale),
        "missing": list(coverage.missing),
    }


def list_details(decision: ReuseDecision) -> list[tuple[str, str]]:
    """Return what the decision goes by, as names and values."""
    details = []
    if decision.command is not None:
        details.append(
            ("asked by", f"{decision.command.comment.author.login}, {decision.command.comment.url}")
        )
    if (source := decision.source) is not None:
        details.append(("source", f"run {source.id}, attempt {source.attempt}, {source.url}"))
        details.append(("measured", source.commit))
    if decision.coverage is not None:
        details.append(("coverage", decision.coverage.words))
        details += [(row, "stale") for row in decision.coverage.stale]
        details += [(row, "missing") for row in decision.coverage.missing]
    details += [(f"run {one.run.id}", f"passed over: {one.fault.words}") for one in decision.passed_over]
    return details


def render_summary(decision: ReuseDecision) -> str:
    """Return a section of the run's summary: the sentence, and a table of what it goes by."""
    details = list_details(decision)
    rows = [(table_code(name), table_code(value)) for name, value in details[:MAX_ROWS]]
    if len(details) > MAX_ROWS:
        rows.append(("", f"and {len(details) - MAX_ROWS:,} more"))
    lines = [f"### {_TITLES[decision.verdict]}", "", prose(decision.sentence), ""]
    return "\n".join(lines + ([render_table(("looked at", "found"), rows), ""] if rows else []))
