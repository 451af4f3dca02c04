"""Decide whether a sign-off is required: it is, if an owner is neither in the core team nor an administrator."""

from __future__ import annotations

from collections.abc import Sequence

from infx.codeowners import CodeOwners, parse_codeowners
from infx.errors import InfxError, Problem
from infx.phrases import join_some
from infx.policy.signoff import SignoffPolicy
from infx.records import record
from infx.signoff.facts import SignoffFacts
from infx.signoff.outcome import code, name_all


@record
class SignoffScope:
    """The answer to the question whether a pull request needs a sign-off."""

    is_required: bool
    reason: str  # Markdown, a sentence or two
    owners: tuple[str, ...] = ()  # who make a sign-off necessary


def decide_scope(facts: SignoffFacts, policy: SignoffPolicy) -> SignoffScope:
    """Decide whether a sign-off is required. Anything that cannot be read makes it required."""
    if facts.shortfalls:
        return SignoffScope(is_required=True, reason=facts.shortfalls[0])
    try:
        codeowners = parse_base_codeowners(facts)
    except InfxError as error:
        return SignoffScope(is_required=True, reason=f"Owners cannot be read: {error.message}")
    if codeowners.problems:
        return SignoffScope(is_required=True, reason=describe_unread(codeowners))
    outside: dict[str, str] = {}
    for path in facts.paths:
        rule = codeowners.find_rule(path)
        for owner in rule.owners if rule else ():
            if not _is_exempt(owner, facts, policy):
                outside.setdefault(owner, path)
    if not outside:
        return SignoffScope(
            is_required=False,
            reason="Every changed file belongs to the core team or an administrator, or has no owner.",
        )
    owner, path = next(iter(outside.items()))
    return SignoffScope(
        is_required=True,
        reason=f"{code(path)} belongs to {code(owner)}; owners outside of the core team: {name_all(outside)}.",
        owners=tuple(outside),
    )


def describe_unread(codeowners: CodeOwners) -> str:
    """Name the unreadable lines, with the reason for the first."""
    first, *more = codeowners.problems
    others = f" The same holds for {name_lines(more)}." if more else ""
    return f"{first.path}:{first.line}: {first.message}{others}"


def name_lines(problems: Sequence[Problem], limit: int = 5) -> str:
    """Name the lines of the first few problems."""
    lines = [str(problem.line) for problem in problems]
    return f"{'line' if len(lines) == 1 else 'lines'} {join_some(lines, limit)}"


def parse_base_codeowners(facts: SignoffFacts) -> CodeOwners:
    """Parse the base branch's CODEOWNERS. Raises InfxError if it is missing or GitHub would ignore it."""
    if facts.codeowners is None:
        raise InfxError("The base branch has no CODEOWNERS file.")
    return parse_codeowners(facts.codeowners.text, facts.codeowners.path)


def list_logins(codeowners: CodeOwners, paths: tuple[str, ...], policy: SignoffPolicy) -> tuple[str, ...]:
    """Return the people whose role decides whether a sign-off is required, in the order of their paths.

    Empty if a team or an address outside of the core team makes it required anyway.
    """
    core = {owner.lower() for owner in policy.core_owners}
    owners = [owner for path in paths if (rule := codeowners.find_rule(path)) for owner in rule.owners]
    outside = [owner for owner in dict.fromkeys(owners) if owner.lower() not in core]
    if not all(is_person(owner) for owner in outside):
        return ()
    return tuple(owner[1:] for owner in outside)


def list_teams(
    codeowners: CodeOwners, paths: tuple[str, ...], login: str, policy: SignoffPolicy
) -> tuple[str, ...]:
    """Return the teams whose membership decides whether a person is an owner.

    These teams are not listed in the policy and own paths on lines that do not name the person.
    """
    listed = {team.lower() for team in policy.teams}
    rules = [rule for path in paths if (rule := codeowners.find_rule(path))]
    teams = dict.fromkeys(
        owner
        for rule in rules
        if f"@{login.lower()}" not in {owner.lower() for owner in rule.owners}
        for owner in rule.owners
        if owner.startswith("@") and "/" in owner and owner.lower() not in listed
    )
    return tuple(teams)


def is_person(owner: str) -> bool:
    """Return whether an owner is a login, not a team or an e-mail address."""
    return owner.startswith("@") and "/" not in owner


def _is_exempt(owner: str, facts: SignoffFacts, policy: SignoffPolicy) -> bool:
    if owner.lower() in {core.lower() for core in policy.core_owners}:
        return True
    if not is_person(owner):
        return False
    person = facts.find_person(owner[1:])
    return person is not None and person.is_admin
