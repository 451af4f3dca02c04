"""Judge a changelog against its base: every problem, and where it is certain, the repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from infx.changelog.blocks import Block, parse_blocks
from infx.changelog.compare import accept_corrections, compare
from infx.changelog.comparison import Comparison
from infx.changelog.entries import check_fields
from infx.changelog.rules import descriptions, fields, layout, link, text
from infx.changelog.subject import ChangelogFinding, ChangelogRule, Context, Subject
from infx.errors import Problem, ProblemsError, has_errors, sort_problems

_ALIAS_HINT = 'A pattern that starts with `*` needs quotes, as in "*-vllm".'
_SYNTAX_HINT = (
    'Entries start with `- config-keys:` in the first column; text with `: ` or ` #` stands in "…".'
)

_UNREADABLE = {"conflict-marker", text.BYTE_ORDER_MARK.id}

_ENTRY_RULES: tuple[ChangelogRule, ...] = (*layout.RULES, *descriptions.RULES, *fields.RULES, *link.RULES)


@dataclass(frozen=True, kw_only=True, eq=False)
class ChangelogVerdict:
    """blocks: the new entries; none where they could not be read. corrected: past links that became canonical."""

    findings: tuple[ChangelogFinding, ...]
    blocks: Sequence[Block] = field(default=(), repr=False)
    corrected: int = 0

    @property
    def problems(self) -> list[Problem]:
        return sort_problems(finding.problem for finding in self.findings)

    @property
    def ok(self) -> bool:
        return not has_errors(self.problems)


def validate(base: bytes | None, head: bytes | None, context: Context) -> ChangelogVerdict:
    """base, head: the file's bytes; None where there is no such file. Raises nothing: problems are values."""
    if head is None:
        if base is None:
            return ChangelogVerdict(findings=())
        return ChangelogVerdict(findings=(_missing_file(context),))
    if head == base:
        return ChangelogVerdict(findings=())
    base = base or b""
    rules: list[ChangelogRule] = []  # about the whole file, as an editor saved it
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
    verdict: ChangelogVerdict, rules: Sequence[ChangelogRule], head: bytes, context: Context
) -> ChangelogVerdict:
    """The whole file was saved with CR LF or a byte order mark: that is one problem; the others are those of the file
    without.
    """
    whole = Subject(comparison=Comparison(base=b"", head=head, appended=0), context=context)
    said = [finding for rule in rules for finding in rule.find(whole)]
    rest = [replace(finding, edits=()) for finding in verdict.findings]
    return replace(verdict, findings=(*said, *rest))


def _judge(comparison: Comparison, context: Context) -> ChangelogVerdict:
    subject, head = Subject(comparison=comparison, context=context), comparison.head
    findings = [finding for rule in text.RULES for finding in rule.find(subject)]
    corrected = 0
    if comparison.appended is None:
        from infx.changelog.rules import history  # most heads are appends

        findings += [finding for rule in history.RULES for finding in rule.find(subject)]
        corrected = sum(history.is_legal_correction(change, context.links) for change in comparison.changes)
    if comparison.is_correction:
        comparison = accept_corrections(comparison)
        subject = replace(subject, comparison=comparison)
        if comparison.appended is None:  # what else differs stands between the entries
            findings += [finding for rule in history.RULES for finding in rule.find(subject)]
    lone_cr = any(b"\r" in head[start:end].replace(b"\r\n", b"\n") for start, end in comparison.additions)
    if lone_cr or any(finding.problem.rule in _UNREADABLE for finding in findings):
        # Nothing can be read there, or not with the line numbers that everybody else counts.
        return ChangelogVerdict(findings=tuple(findings), corrected=corrected)
    try:
        blocks = _read(comparison, context)
    except ProblemsError as error:
        findings += [ChangelogFinding(problem=problem) for problem in error.problems]
        return ChangelogVerdict(findings=tuple(findings), corrected=corrected)
    subject = replace(subject, blocks=blocks)
    findings += [ChangelogFinding(problem=problem) for block in blocks for problem in check_fields(block)]
    findings += [finding for rule in _ENTRY_RULES for finding in _apply(rule, subject)]
    return ChangelogVerdict(findings=tuple(findings), blocks=blocks, corrected=corrected)


def _apply(rule: ChangelogRule, subject: Subject) -> list[ChangelogFinding]:
    try:
        return rule.find(subject)
    except ProblemsError as error:  # a master configuration that cannot be read
        return [ChangelogFinding(problem=problem) for problem in error.problems]


def _read(comparison: Comparison, context: Context) -> list[Block]:
    """Every new entry. Raises ProblemsError if one of the places where they stand cannot be read."""
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


def _missing_file(context: Context) -> ChangelogFinding:
    message = "The changelog is gone; expected the base's bytes and new entries behind them."
    hint = f"Restore it: git checkout {context.base_name or '<base>'} -- {context.path}."
    return ChangelogFinding(
        problem=Problem(rule="history-deleted", message=message, path=context.path, hint=hint)
    )
