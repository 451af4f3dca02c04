"""Judge a changelog against its base: find every problem, and the repair if it is certain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from infx.changelog.blocks import Block, parse_blocks
from infx.changelog.compare import accept_corrections, compare
from infx.changelog.comparison import Comparison
from infx.changelog.entries import check_fields
from infx.changelog.rules import descriptions, fields, layout, link, text
from infx.changelog.subject import Context, Subject, render_repair_hint
from infx.errors import Problem, ProblemsError, has_errors, sort_problems
from infx.policy.stage import Stage
from infx.records import record
from infx.rules import Edit, Finding, Rule, find_all

_ALIAS_HINT = 'A pattern that starts with `*` needs quotes, as in "*-vllm".'
_SYNTAX_HINT = (
    'Start entries with `- config-keys:` in the first column; put text with `: ` or ` #` in quotes: "…".'
)

_UNREADABLE = {"conflict-marker", text.BYTE_ORDER_MARK.id}

_ENTRY_RULES: tuple[Rule[[Subject], int | None], ...] = (
    *layout.RULES,
    *descriptions.RULES,
    *fields.RULES,
    *link.RULES,
)


@record
class ChangelogVerdict:
    """The problems of a changelog, with their repairs.

    Attributes:
        problems: sorted, each once.
        edits: every repair that is certain.
        blocks: the new entries; empty if they could not be read.
        corrected: number of past links that became canonical.
    """

    problems: list[Problem]
    edits: tuple[Edit, ...] = ()
    blocks: Sequence[Block] = field(default=(), repr=False)
    corrected: int = 0

    @property
    def ok(self) -> bool:
        return not has_errors(self.problems)


def validate(base: bytes | None, head: bytes | None, context: Context) -> ChangelogVerdict:
    """Judge the head's bytes against the base's; None means that the file does not exist. Raises nothing."""
    if head is None:
        if base is None:
            return ChangelogVerdict(problems=[])
        return ChangelogVerdict(problems=[_missing_file(context)])
    if head == base:
        return ChangelogVerdict(problems=[])
    base = base or b""
    rules: list[Rule[[Subject], int | None]] = []  # rules that the whole file breaks, as an editor saved it
    plain = head
    if head.startswith(text.BOM) and not base.startswith(text.BOM):
        rules.append(text.BYTE_ORDER_MARK)
        plain = head.removeprefix(text.BOM)
    comparison = compare(base, plain)
    if comparison.appended is None and b"\r\n" in plain and b"\r" not in base:
        rules.append(text.LINE_ENDS)
        comparison = compare(base, plain.replace(b"\r\n", b"\n"))
    verdict = _judge(comparison, context)
    return _add_whole(verdict, rules, head, context) if rules else verdict


def _add_whole(
    verdict: ChangelogVerdict, rules: Sequence[Rule[[Subject], int | None]], head: bytes, context: Context
) -> ChangelogVerdict:
    """Add to the verdict of the cleaned file one problem for a file saved with CR LF or a byte order mark."""
    whole = Subject(comparison=Comparison(base=b"", head=head, appended=0), context=context)
    extended = _conclude(find_all(rules, whole), whole, verdict.problems)
    return replace(extended, blocks=verdict.blocks, corrected=verdict.corrected)


def _judge(comparison: Comparison, context: Context) -> ChangelogVerdict:
    subject, head = Subject(comparison=comparison, context=context), comparison.head
    findings = list(find_all(text.RULES, subject))
    corrected = 0
    if comparison.appended is None:
        from infx.changelog.rules import history  # most heads are appends

        findings += find_all(history.RULES, subject)
        corrected = sum(history.is_legal_correction(change, context.links) for change in comparison.changes)
    if comparison.is_correction:
        comparison = accept_corrections(comparison)
        subject = replace(subject, comparison=comparison)
        if comparison.appended is None:  # the remaining differences are between the entries
            findings += find_all(history.RULES, subject)
    lone_cr = any(b"\r" in head[start:end].replace(b"\r\n", b"\n") for start, end in comparison.additions)
    if lone_cr or any(finding.rule in _UNREADABLE for finding in findings):
        # The entries cannot be read there, or only with line numbers that differ from other tools'.
        return _conclude(findings, subject, corrected=corrected)
    try:
        blocks = _read(comparison, context)
    except ProblemsError as error:
        return _conclude(findings, subject, error.problems, corrected=corrected)
    subject = replace(subject, blocks=blocks)
    problems = [problem for block in blocks for problem in check_fields(block)]
    for rule in _ENTRY_RULES:
        try:
            findings += list(rule.find(subject))
        except ProblemsError as error:  # a master configuration that cannot be read
            problems += error.problems
    return _conclude(findings, subject, problems, corrected=corrected)


def _conclude(
    findings: Iterable[Finding[int | None]],
    subject: Subject,
    problems: Iterable[Problem] = (),
    *,
    corrected: int = 0,
) -> ChangelogVerdict:
    """Return the verdict of findings and of problems that are complete already."""
    findings = tuple(findings)
    found_problems = [_make_problem(finding, subject) for finding in findings]
    edits = tuple(edit for finding in findings for edit in finding.edits)
    problems = sort_problems([*found_problems, *problems])
    return ChangelogVerdict(problems=problems, edits=edits, blocks=subject.blocks, corrected=corrected)


def _make_problem(finding: Finding[int | None], subject: Subject) -> Problem:
    context = subject.context
    if finding.edits and context.stage is not Stage.MAIN:  # a merged entry is a past entry and stays as it is
        hint = f"{finding.hint or 'The repair is certain.'} {render_repair_hint(context.number)}"
        finding = replace(finding, hint=hint)
    return finding.as_problem(context.path, None if finding.at is None else subject.line(finding.at))


def _read(comparison: Comparison, context: Context) -> list[Block]:
    """Read every new entry. Raises ProblemsError if any part with new entries cannot be read."""
    head = comparison.head
    blocks: list[Block] = []
    problems: list[Problem] = []
    for start, end in comparison.additions:
        try:
            blocks += parse_blocks(head, context.path, start, end)
        except ProblemsError as error:
            for problem in error.problems:
                last = head.rstrip(b"\n").count(b"\n") + 1  # the parser may look beyond the end
                line = min(problem.line, last) if problem.line else None
                hint = _ALIAS_HINT if "undefined alias" in problem.message else _SYNTAX_HINT
                problems.append(replace(problem, line=line, hint=problem.hint or hint))
    if problems:
        raise ProblemsError(problems)
    return blocks


def _missing_file(context: Context) -> Problem:
    message = "The changelog was deleted; expected the base's bytes, then new entries."
    hint = f"Restore it: git checkout {context.base_name or '<base>'} -- {context.path}."
    return Problem(rule="history-deleted", message=message, path=context.path, hint=hint)
