"""Render the verdict as text.

    ## ❌❌❌ **REJECTED** ❌❌❌
    @amy, …

    - ❌ Check 1 (Green sweep): FAIL — …

    <details>
    <summary>Passed and not applicable checks</summary>

    - ✅ Check 0 (Owner): PASS — …

    </details>

    Assessed commit: `<40 hex digits>`.

The header follows from the rows. Every check has one row; rows that passed or do not apply are folded.
`tests/signoff/grammar.py` checks the form of every verdict in the tests.
"""

from __future__ import annotations

from collections.abc import Iterable

from infx import escape
from infx.policy.signoff import CheckStatus
from infx.records import record
from infx.signoff.outcome import cut

HEADERS = {
    CheckStatus.PASS: "## ✅✅✅ **Verdict: PASS** ✅✅✅",
    CheckStatus.FAIL: "## ❌❌❌ **REJECTED** ❌❌❌",
    CheckStatus.WARN: "## ⚠️ **Verdict: WARN** ⚠️",
}
EMOJI_OF = {
    CheckStatus.PASS: "✅",
    CheckStatus.FAIL: "❌",
    CheckStatus.WARN: "⚠️",
    CheckStatus.NOT_APPLICABLE: "➖",
}
FOLDED = {CheckStatus.PASS, CheckStatus.NOT_APPLICABLE}
SUMMARY = "Passed and not applicable checks"
REJECTION = "a check below ended in FAIL; fix the problem that it names, or edit your sign-off."
ESCALATION = "please look at the warnings below."


@record
class VerdictRow:
    """The row of one check."""

    number: int
    name: str
    status: CheckStatus
    reason: str  # Markdown on one line; foreign text is in code spans


@record
class SignoffVerdict:
    """The published answers of all checks to one sign-off."""

    rows: tuple[VerdictRow, ...]  # one for each check
    signer: str  # mentioned on rejection
    sha: str  # the assessed commit
    covered_sha: str | None = None  # a later head with the same diff
    escalated: tuple[str, ...] = ()  # logins mentioned on a warning

    @property
    def status(self) -> CheckStatus:
        return compute_status(row.status for row in self.rows)


def compute_status(statuses: Iterable[CheckStatus]) -> CheckStatus:
    """Return FAIL if any check failed, else WARN if any check warns, else PASS."""
    present = set(statuses)
    return next(
        (status for status in (CheckStatus.FAIL, CheckStatus.WARN) if status in present), CheckStatus.PASS
    )


def render_verdict(verdict: SignoffVerdict) -> str:
    """Return the text of the comment after its marker, ending in one newline."""
    ordered = sorted(verdict.rows, key=lambda row: row.number)
    visible = [_render_row(row) for row in ordered if row.status not in FOLDED]
    folded = [_render_row(row) for row in ordered if row.status in FOLDED]
    lines = [HEADERS[verdict.status], *_render_mentions(verdict), ""]
    if visible:
        lines += [*visible, ""]
    if folded:
        lines += ["<details>", f"<summary>{SUMMARY}</summary>", "", *folded, "", "</details>", ""]
    covered = f" It covers `{verdict.covered_sha}`, whose diff against the base branch is identical."
    lines.append(f"Assessed commit: `{verdict.sha}`.{covered if verdict.covered_sha else ''}")
    return "\n".join(lines) + "\n"


def _render_mentions(verdict: SignoffVerdict) -> list[str]:
    lines = []
    if verdict.status is CheckStatus.FAIL:
        lines.append(f"@{verdict.signer}, {REJECTION}")
    if verdict.escalated:
        lines.append(f"{' '.join(f'@{login}' for login in verdict.escalated)}, {ESCALATION}")
    return lines


def _render_row(row: VerdictRow) -> str:
    return f"- {EMOJI_OF[row.status]} Check {row.number} ({row.name}): {row.status} — {cut(row.reason)}"


def render_failure(signer: str, sha: str, why: str) -> str:
    """Return the rejection for a sign-off that could not be judged. why: plain text, untrusted."""
    return (
        f"{HEADERS[CheckStatus.FAIL]}\n@{signer}, this sign-off could not be verified.\n\n"
        f"{cut(escape.foreign(why))}\n\nEdit the sign-off, or run the workflow again, to retry.\n\nCommit: `{sha}`.\n"
    )
