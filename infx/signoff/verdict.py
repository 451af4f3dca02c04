"""The verdict as text: one grammar, with a renderer and a parser that check each other.

    ## ❌❌❌ **REJECTED** ❌❌❌
    @amy, …

    - ❌ Check 1 (Green sweep): FAIL — …

    <details>
    <summary>Passed and not applicable checks</summary>

    - ✅ Check 0 (Owner): PASS — …

    </details>

    Assessed commit: `<40 hex digits>`.

The header follows from the rows; every check has one row; what passed is folded away, the rest is in sight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from infx import escape
from infx.codeowners import LOGIN
from infx.errors import InfxError
from infx.policy.signoff import CheckStatus
from infx.signoff.outcome import CODE_SPAN, EMOJI, cut

HEADERS = {
    CheckStatus.PASS: "## ✅✅✅ **Verdict: PASS** ✅✅✅",
    CheckStatus.FAIL: "## ❌❌❌ **REJECTED** ❌❌❌",
    CheckStatus.WARN: "## ⚠️ **Verdict: WARN** ⚠️",
}
_EMOJI = {
    CheckStatus.PASS: "✅",
    CheckStatus.FAIL: "❌",
    CheckStatus.WARN: "⚠️",
    CheckStatus.NOT_APPLICABLE: "➖",
}
_FOLDED = {CheckStatus.PASS, CheckStatus.NOT_APPLICABLE}
_SUMMARY = "Passed and not applicable checks"
_REJECTION = "a check below failed; correct what it names, or edit your sign-off."
_ESCALATION = "please look at the warnings below."

_ROW = re.compile(
    r"(?:[-*] )?(?P<emoji>✅|❌|⚠️|➖) Check (?P<number>\d{1,3}) \((?P<name>[^()]{1,60})\): "
    r"(?P<status>PASS|FAIL|WARN|N/A) — (?P<reason>\S.*)"
)
_LOGIN = rf"@{LOGIN}(?:/[A-Za-z0-9._-]+)?"
_MENTION = re.compile(rf"({_LOGIN}(?: {_LOGIN})*), (?:{re.escape(_REJECTION)}|{re.escape(_ESCALATION)})")
_FOOTER = re.compile(
    r"Assessed commit: `(?P<sha>[0-9a-f]{40})`\."
    r"(?: It covers `(?P<covered>[0-9a-f]{40})`, whose diff against the target branch is identical\.)?"
)


class VerdictError(InfxError):
    """A text that is no verdict of ours."""


@dataclass(frozen=True, kw_only=True)
class VerdictRow:
    """reason: Markdown on one line; its code spans hold whatever is not ours."""

    number: int
    name: str
    status: CheckStatus
    reason: str


@dataclass(frozen=True, kw_only=True)
class SignoffVerdict:
    """rows: one for each check. signer: mentioned on rejection. escalated: logins mentioned on a warning.

    sha: the commit that was looked at. covered_sha: a later head with the same diff, or None.
    """

    rows: tuple[VerdictRow, ...]
    signer: str
    sha: str
    covered_sha: str | None = None
    escalated: tuple[str, ...] = ()

    @property
    def status(self) -> CheckStatus:
        return compute_status(row.status for row in self.rows)


def compute_status(statuses: Iterable[CheckStatus]) -> CheckStatus:
    """FAIL beats WARN beats PASS; not applicable counts as passed."""
    found = set(statuses)
    return next(
        (status for status in (CheckStatus.FAIL, CheckStatus.WARN) if status in found), CheckStatus.PASS
    )


def render_verdict(verdict: SignoffVerdict) -> str:
    """The text of the comment after its marker, ending in one newline."""
    ordered = sorted(verdict.rows, key=lambda row: row.number)
    seen = [_render_row(row) for row in ordered if row.status not in _FOLDED]
    folded = [_render_row(row) for row in ordered if row.status in _FOLDED]
    lines = [HEADERS[verdict.status], *_render_mentions(verdict), ""]
    if seen:
        lines += [*seen, ""]
    if folded:
        lines += ["<details>", f"<summary>{_SUMMARY}</summary>", "", *folded, "", "</details>", ""]
    covered = f" It covers `{verdict.covered_sha}`, whose diff against the target branch is identical."
    lines.append(f"Assessed commit: `{verdict.sha}`.{covered if verdict.covered_sha else ''}")
    return "\n".join(lines) + "\n"


def _render_mentions(verdict: SignoffVerdict) -> list[str]:
    lines = []
    if verdict.status is CheckStatus.FAIL:
        lines.append(f"@{verdict.signer}, {_REJECTION}")
    if verdict.escalated:
        lines.append(f"{' '.join(f'@{login}' for login in verdict.escalated)}, {_ESCALATION}")
    return lines


def _render_row(row: VerdictRow) -> str:
    return f"- {_EMOJI[row.status]} Check {row.number} ({row.name}): {row.status} — {cut(row.reason)}"


def parse_verdict(text: str, allowed: Mapping[int, Sequence[CheckStatus]]) -> SignoffVerdict:
    """Read a verdict back and hold it to the grammar.

    allowed: every check's number with the statuses it may have.
    Raises VerdictError with the first thing that is wrong.
    """
    lines = text.split("\n")
    header = next((status for status, words in HEADERS.items() if words == lines[0]), None)
    if header is None:
        raise VerdictError("The first line is none of the three headers.")
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
                raise VerdictError(f"Line {number} mentions somebody outside of the top.")
            mentions.append(match[1])
        elif match := _FOOTER.fullmatch(line):
            footer = match
        elif line and not fold.take(line):
            raise VerdictError(f"Line {number} is no part of a verdict.")
    if footer is None or fold.is_open:
        raise VerdictError("The footer or the end of the details is missing.")
    _check_rows(rows, header, allowed)
    return _assemble(rows, header, mentions, footer)


@dataclass
class _Fold:
    """The one collapsed group; never opened by attribute, its title on the next line."""

    is_open: bool = False
    is_done: bool = False
    awaits_title: bool = False

    def take(self, line: str) -> bool:
        if self.awaits_title:
            self.awaits_title = False
            return line == f"<summary>{_SUMMARY}</summary>"
        if line == "<details>" and not self.is_open and not self.is_done:
            self.is_open = self.awaits_title = True
            return True
        if line == "</details>" and self.is_open:
            self.is_open, self.is_done = False, True
            return True
        return False


def _parse_row(match: re.Match[str], line: int, *, folded: bool) -> VerdictRow:
    status = CheckStatus(match["status"])
    if match["emoji"] != _EMOJI[status]:
        raise VerdictError(f"Line {line}: the emoji does not say {status}.")
    if folded is not (status in _FOLDED):
        raise VerdictError(
            f"Line {line}: {status} stands {'inside' if folded else 'outside of'} the details."
        )
    prose = CODE_SPAN.sub("", match["reason"])
    if EMOJI.search(match["reason"]) or EMOJI.search(match["name"]):
        raise VerdictError(f"Line {line} holds another emoji.")
    if re.search(r"[@<`]", re.sub(r"\]\([^()\s]*\)", "]", prose)) or "![" in prose:
        raise VerdictError(f"Line {line} holds a mention, HTML, an image or a loose backtick.")
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
        raise VerdictError("The header is not what the rows amount to.")


def _assemble(
    rows: list[VerdictRow], header: CheckStatus, mentions: list[str], footer: re.Match[str]
) -> SignoffVerdict:
    signer = ""
    if header is CheckStatus.FAIL:
        if not mentions or " " in mentions[0]:
            raise VerdictError("A rejection mentions the signer below the header.")
        signer = mentions.pop(0)[1:]
    if len(mentions) > 1:
        raise VerdictError("Somebody is mentioned more often than the grammar has it.")
    escalated = tuple(login[1:] for login in mentions[0].split(" ")) if mentions else ()
    return SignoffVerdict(
        rows=tuple(sorted(rows, key=lambda row: row.number)),
        signer=signer,
        sha=footer["sha"],
        covered_sha=footer["covered"],
        escalated=escalated,
    )


def render_failure(signer: str, sha: str, why: str) -> str:
    """The rejection for when no verdict could be made: nothing green, and what to do. why: plain text, of anybody."""
    return (
        f"{HEADERS[CheckStatus.FAIL]}\n@{signer}, this sign-off could not be verified.\n\n"
        f"{cut(escape.foreign(why))}\n\nEdit the sign-off, or run the workflow again, to retry.\n\nCommit: `{sha}`.\n"
    )
