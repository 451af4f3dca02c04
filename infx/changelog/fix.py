"""Repair unambiguous problems; repair nothing if any other problem remains."""

from __future__ import annotations

from dataclasses import field

from infx.changelog.edits import apply_edits, select_edits
from infx.changelog.subject import Context
from infx.changelog.validate import ChangelogVerdict, validate
from infx.errors import Problem
from infx.records import record

_ROUNDS = 8  # a repair can reveal another problem; no file has needed more than three rounds


@record
class Repair:
    """The result of a repair.

    Attributes:
        head: the repaired file; None if nothing is repaired.
        repaired: problems of the original file that are gone.
        remaining: all problems of the file, if nothing is repaired.
    """

    head: bytes | None = field(repr=False)
    repaired: tuple[Problem, ...] = ()
    remaining: tuple[Problem, ...] = ()


def fix(base: bytes | None, head: bytes, context: Context) -> Repair:
    """Apply every certain repair. The result is valid, and its entries have the same meaning as before."""
    first = verdict = validate(base, head, context)
    fixed = head
    for _ in range(_ROUNDS):
        edits = select_edits(verdict.edits, len(fixed))
        if not edits:
            break
        fixed = apply_edits(fixed, edits)
        verdict = validate(base, fixed, context)
    if not verdict.ok:
        return Repair(head=None, remaining=tuple(first.problems))
    if _meanings(first) != _meanings(verdict):
        message = "The repair was not made: it would change more of an entry than its link."
        refusal = Problem(rule="repair", message=message, path=context.path)
        return Repair(head=None, remaining=(*first.problems, refusal))
    return Repair(
        head=fixed, repaired=tuple(problem for problem in first.problems if problem not in verdict.problems)
    )


def _meanings(verdict: ChangelogVerdict) -> list[object]:
    return [block.meaning for block in verdict.blocks]
