"""What a rule yields: where in the file, and in which words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from infx.errors import Level, Problem
from infx.policy.model import Policy
from infx.workflows.model import ActionFile, Path, Workflow


@dataclass(frozen=True, kw_only=True)
class WorkflowFinding:
    path: Path
    message: str
    hint: str
    level: Level = Level.ERROR


@dataclass(frozen=True, kw_only=True)
class WorkflowRule:
    """id: what the problem is called. why: what happens otherwise. example, instead: a line that is wrong, and one
    that is right; docs/workflows.md shows them. check: the findings in one file, given the policy.
    """

    id: str
    why: str
    example: str
    instead: str
    check: Callable[[Workflow, Policy], Iterator[WorkflowFinding]] | None = None
    check_action: Callable[[ActionFile, Policy], Iterator[WorkflowFinding]] | None = None


def as_problem(rule: str, file: Workflow | ActionFile, finding: WorkflowFinding) -> Problem:
    return Problem(
        rule=rule,
        message=finding.message,
        hint=finding.hint,
        path=file.path,
        line=file.document.line(*finding.path),
        level=finding.level,
    )
