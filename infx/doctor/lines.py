"""The lines of a report: what was looked at, its state, why it matters, and what fixes it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from infx.phrases import join_words
from infx.records import record


class Health(StrEnum):
    """The state of one thing that a repository needs."""

    OK = "ok"
    MISSING = "missing"
    WRONG = "wrong"
    UNKNOWN = "unknown"  # it could not be seen, which is never ok
    ADVICE = "advice"  # it helps on this machine; the repository works without it


class Part(StrEnum):
    """The place where a rule looks."""

    CHECKOUT = "checkout"
    GITHUB = "github"


@record
class DoctorRule:
    """A rule of the doctor. `docs/doctor.md` lists all rules with these words."""

    id: str
    part: Part
    needs: str  # what must be true for `ok`
    why: str


@record
class ReportLine:
    """One line of the report.

    Attributes:
        what: what was seen, in one sentence.
        fix: the command, or the page or file to edit; None if nothing is to be done.
        permission: the permission that would show what is unknown.
    """

    rule: DoctorRule
    health: Health
    what: str
    fix: str | None = None
    permission: str | None = None


@record
class Unseen:
    """A fact that could not be read.

    Attributes:
        reason: why it could not be read, as a sentence.
        fix: what would show it.
        permission: the permission that would show it, if that is the reason.
    """

    reason: str
    fix: str | None = None
    permission: str | None = None


def make_ok(rule: DoctorRule, what: str) -> ReportLine:
    """Return the line of something that was seen and is right."""
    return ReportLine(rule=rule, health=Health.OK, what=what)


def make_missing(rule: DoctorRule, what: str, fix: str) -> ReportLine:
    """Return the line of something that was looked for and does not exist."""
    return ReportLine(rule=rule, health=Health.MISSING, what=what, fix=fix)


def make_wrong(rule: DoctorRule, what: str, fix: str) -> ReportLine:
    """Return the line of something that exists and is not as it should be."""
    return ReportLine(rule=rule, health=Health.WRONG, what=what, fix=fix)


def make_advice(rule: DoctorRule, what: str, fix: str) -> ReportLine:
    """Return the line of something that helps on this machine, and that no repository needs."""
    return ReportLine(rule=rule, health=Health.ADVICE, what=what, fix=fix)


def make_unknown(rule: DoctorRule, subject: str, unseen: Unseen) -> ReportLine:
    """Return the line of something that could not be seen."""
    fix = unseen.fix
    if unseen.permission is not None:
        fix = f"Give the token `{unseen.permission}`."
    return ReportLine(
        rule=rule,
        health=Health.UNKNOWN,
        what=f"{subject} cannot be seen: {unseen.reason}",
        fix=fix,
        permission=unseen.permission,
    )


def is_healthy(lines: Iterable[ReportLine]) -> bool:
    """Return whether there are lines, and all of them are ok, apart from advice."""
    states = {line.health for line in lines} - {Health.ADVICE}
    return states == {Health.OK}


def describe_permissions(lines: Iterable[ReportLine]) -> str | None:
    """Return the permissions that would show the unknown lines, or None if no permission would."""
    needed = sorted({line.permission for line in lines if line.permission is not None})
    return join_words([f"`{name}`" for name in needed]) if needed else None
