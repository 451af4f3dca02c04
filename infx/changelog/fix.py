"""Repair what can only be meant in one way, and nothing if anything else is wrong as well."""

from __future__ import annotations

from dataclasses import dataclass, field

from infx.changelog.edits import apply_edits, select_edits
from infx.changelog.subject import Context
from infx.changelog.validate import ChangelogVerdict, validate
from infx.errors import Problem

_ROUNDS = 8  # a repair can uncover the next; more than three in a row were never seen


@dataclass(frozen=True, kw_only=True)
class Repair:
    """head: the repaired file; None if nothing is repaired, and then `remaining` is all that is wrong with the file.

    repaired: what was wrong and no longer is.
    """

    head: bytes | None = field(repr=False)
    repaired: tuple[Problem, ...] = ()
    remaining: tuple[Problem, ...] = ()


def fix(base: bytes | None, head: bytes, context: Context) -> Repair:
    """The head with every certain repair made. What comes out is valid, and says what the head said."""
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
        message = "The repair would change what an entry says beside its link, so it was not made."
        refusal = Problem(rule="repair", message=message, path=context.path)
        return Repair(head=None, remaining=(*first.problems, refusal))
    return Repair(
        head=fixed, repaired=tuple(problem for problem in first.problems if problem not in verdict.problems)
    )


def _meanings(verdict: ChangelogVerdict) -> list[object]:
    return [block.meaning for block in verdict.blocks]
