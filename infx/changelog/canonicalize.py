"""Give a pull request's own entries their canonical link, and prove that nothing else changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from infx.changelog.blocks import Block, parse_blocks
from infx.changelog.edits import apply_edits
from infx.changelog.link_line import has_plain_link, plan_link_edit
from infx.changelog.links import Meaning
from infx.changelog.rules import descriptions, fields
from infx.changelog.subject import Context
from infx.changelog.validate import validate
from infx.errors import Level, Problem, ProblemsError
from infx.policy.stage import Stage
from infx.records import record
from infx.rules import Edit

# Problems outside the link do not prevent rewriting the link.
_INDIFFERENT = {rule.id for rule in (*descriptions.RULES, *fields.RULES)}


@record
class Canonical:
    """A file whose new entries have canonical links."""

    head: bytes = field(repr=False)
    changed: tuple[Block, ...] = ()  # the entries whose links were rewritten, as they were before


def canonicalize(base: bytes | None, head: bytes, context: Context) -> Canonical:
    """Rewrite the links of the entries that the head appends, whatever their style.

    Raises ProblemsError if the head is not an append, if a link is neither a placeholder nor the pull request's own,
    or if there are placeholders and no number.
    """
    verdict = validate(base, head, replace(context, stage=Stage.PR, configs=None))
    blocking = [
        problem
        for problem in verdict.problems
        if problem.level is Level.ERROR
        and problem.rule not in _INDIFFERENT
        and not problem.rule.startswith("schema-")
    ]
    if blocking:
        raise ProblemsError(blocking)
    edits = [(block, edit) for block in verdict.blocks if (edit := _edit(block, context))]
    if not edits:
        return Canonical(head=head)
    result = apply_edits(head, [edit for _, edit in edits])
    _prove(verdict.blocks, result, context)
    return Canonical(head=result, changed=tuple(block for block, _ in edits))


def _edit(block: Block, context: Context) -> Edit | None:
    reference = context.links.read(block.link or "")
    if reference.meaning is Meaning.PLACEHOLDER:
        if context.number is None:
            message = "The placeholder cannot be replaced: the number of the pull request is not known."
            raise ProblemsError([_problem(block, context, message, "Give --pr.")])
        if context.links.repository is None:
            message = "The placeholder cannot be replaced: the repository is not known."
            raise ProblemsError([_problem(block, context, message, "Give --repo.")])
        link = context.links.canonical(context.number)
    elif has_plain_link(block):
        return None
    else:
        link = (block.link or "").strip()
    edit = plan_link_edit(block, link)
    if edit is None:
        message = "The pr-link shares its line with something else and cannot be rewritten."
        raise ProblemsError([_problem(block, context, message, "Put it on a line of its own.")])
    return edit


def _prove(before: Sequence[Block], result: bytes, context: Context) -> None:
    """Verify that the parser reads the same entries and that every link is canonical."""
    after = parse_blocks(result, context.path, before[0].start)
    same = [block.meaning for block in before] == [block.meaning for block in after]
    if not same or not all(has_plain_link(block) for block in after):
        message = "Rewriting the links would change something else; nothing was written."
        raise ProblemsError(
            [_problem(before[0], context, message, "Write the links as plain text on one line.")]
        )


def _problem(block: Block, context: Context, message: str, hint: str) -> Problem:
    return Problem(
        rule="pr-link-canonical", message=message, path=context.path, line=block.line("pr-link"), hint=hint
    )
