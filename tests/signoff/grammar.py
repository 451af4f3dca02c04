"""The grammar of verdicts: parse a rendered verdict, and refuse every other text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from infx.codeowners import LOGIN
from infx.policy.signoff import CheckStatus
from infx.signoff.outcome import CODE_SPAN, EMOJI
from infx.signoff.verdict import (
    EMOJI_OF,
    ESCALATION,
    FOLDED,
    HEADERS,
    REJECTION,
    SUMMARY,
    SignoffVerdict,
    VerdictRow,
    compute_status,
)

_ROW = re.compile(
    r"(?:[-*] )?(?P<emoji>✅|❌|⚠️|➖) Check (?P<number>\d{1,3}) \((?P<name>[^()]{1,60})\): "
    r"(?P<status>PASS|FAIL|WARN|N/A) — (?P<reason>\S.*)"
)
_LOGIN = rf"@{LOGIN}(?:/[A-Za-z0-9._-]+)?"
_MENTION = re.compile(rf"({_LOGIN}(?: {_LOGIN})*), (?:{re.escape(REJECTION)}|{re.escape(ESCALATION)})")
_FOOTER = re.compile(
    r"Assessed commit: `(?P<sha>[0-9a-f]{40})`\."
    r"(?: It covers `(?P<covered>[0-9a-f]{40})`, whose diff against the base branch is identical\.)?"
)


class VerdictError(Exception):
    """Raised when a comment is not an infx verdict."""


def parse_verdict(text: str, allowed: Mapping[int, Sequence[CheckStatus]]) -> SignoffVerdict:
    """Parse a verdict. Raises VerdictError with the first deviation from the grammar.

    allowed: the statuses that each check may have, by number.
    """
    lines = text.split("\n")
    header = next((status for status, words in HEADERS.items() if words == lines[0]), None)
    if header is None:
        raise VerdictError("The first line is not one of the three headers.")
    rows: list[VerdictRow] = []
    mentions: list[str] = []
    footer: re.Match[str] | None = None
    fold = _Fold()
    for number, line in enumerate(lines[1:], start=2):
        if footer and line:
            raise VerdictError(f"Line {number} follows the footer.")
        if match := _ROW.fullmatch(line):
            rows.append(_parse_row(match, number, folded=fold.is_open))
        elif match := _MENTION.fullmatch(line):
            if rows or fold.is_open:
                raise VerdictError(f"Line {number} mentions an account below the top.")
            mentions.append(match[1])
        elif match := _FOOTER.fullmatch(line):
            footer = match
        elif line and not fold.take(line):
            raise VerdictError(f"Line {number} is not part of a verdict.")
    if footer is None or fold.is_open:
        raise VerdictError("The footer or the end of the details is missing.")
    _check_rows(rows, header, allowed)
    return _assemble(rows, header, mentions, footer)


@dataclass
class _Fold:
    """The collapsed group, which has no attribute `open` and its title on the next line."""

    is_open: bool = False
    is_done: bool = False
    awaits_title: bool = False

    def take(self, line: str) -> bool:
        if self.awaits_title:
            self.awaits_title = False
            return line == f"<summary>{SUMMARY}</summary>"
        if line == "<details>" and not self.is_open and not self.is_done:
            self.is_open = self.awaits_title = True
            return True
        if line == "</details>" and self.is_open:
            self.is_open, self.is_done = False, True
            return True
        return False


def _parse_row(match: re.Match[str], line: int, *, folded: bool) -> VerdictRow:
    status = CheckStatus(match["status"])
    if match["emoji"] != EMOJI_OF[status]:
        raise VerdictError(f"Line {line}: the emoji is not that of {status}.")
    if folded is not (status in FOLDED):
        raise VerdictError(f"Line {line}: {status} is {'inside' if folded else 'outside of'} the details.")
    prose = re.sub(CODE_SPAN, "", match["reason"])
    if EMOJI.search(match["reason"]) or EMOJI.search(match["name"]):
        raise VerdictError(f"Line {line} contains another emoji.")
    if re.search(r"[@<`]", re.sub(r"\]\([^()\s]*\)", "]", prose)) or "![" in prose:
        raise VerdictError(f"Line {line} contains a mention, HTML, an image or a loose backtick.")
    return VerdictRow(number=int(match["number"]), name=match["name"], status=status, reason=match["reason"])


def _check_rows(
    rows: Sequence[VerdictRow], header: CheckStatus, allowed: Mapping[int, Sequence[CheckStatus]]
) -> None:
    numbers = [row.number for row in rows]
    if sorted(numbers) != sorted(allowed):
        raise VerdictError(f"Expected each of the checks {sorted(allowed)} once; found {sorted(numbers)}.")
    for row in rows:
        if row.status not in allowed[row.number]:
            raise VerdictError(f"Check {row.number} may not end in {row.status}.")
    if compute_status(row.status for row in rows) is not header:
        raise VerdictError("The header does not follow from the rows.")


def _assemble(
    rows: list[VerdictRow], header: CheckStatus, mentions: list[str], footer: re.Match[str]
) -> SignoffVerdict:
    signer = ""
    if header is CheckStatus.FAIL:
        if not mentions or " " in mentions[0]:
            raise VerdictError("A rejection mentions the signer below the header.")
        signer = mentions.pop(0)[1:]
    if len(mentions) > 1:
        raise VerdictError("There are more mentions than the grammar allows.")
    escalated = tuple(login[1:] for login in mentions[0].split(" ")) if mentions else ()
    return SignoffVerdict(
        rows=tuple(sorted(rows, key=lambda row: row.number)),
        signer=signer,
        sha=footer["sha"],
        covered_sha=footer["covered"],
        escalated=escalated,
    )
