"""The errors of a command that handles several pull requests."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from infx.cli.report import print_problems, print_text

if TYPE_CHECKING:
    from infx.apply.serialize import TurnReport


def print_trouble(report: TurnReport, then: str) -> None:
    """Print errors on stderr. then: a sentence about pull requests that were not reached."""
    numbered = [(number, problem) for number, error in report.failed for problem in error.problems]
    print_problems(
        [replace(problem, message=f"PR {number}: {problem.message}") for number, problem in numbered],
        os.environ,
    )
    for action, error in report.refused:
        print_text(f"warning: refused: {action}. {error}", os.environ)
    if report.left:
        numbers = ", ".join(map(str, report.left))
        print_text(f"warning: {report.why_left}; not looked at: {numbers}. {then}", os.environ)
