"""Must somebody sign at all? Only if a changed file belongs to somebody who is neither core nor an administrator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infx.codeowners import CodeOwners, parse_codeowners
from infx.errors import InfxError, Problem
from infx.phrases import join_some
from infx.policy.signoff import SignoffPolicy
from infx.signoff.facts import SignoffFacts
from infx.signoff.outcome import code, name_all


@dataclass(frozen=True, kw_only=True)
class SignoffScope:
    """owners: those because of whom somebody must sign. reason: Markdown, a sentence or two."""

    is_required: bool
    reason: str
    owners: tuple[str, ...] = ()


def decide_scope(facts: SignoffFacts, policy: SignoffPolicy) -> SignoffScope:
    """Whatever cannot be seen counts as a reason to sign."""
    if facts.shortfalls:
        return SignoffScope(is_required=True, reason=facts.shortfalls[0])
    try:
        codeowners = read_codeowners(facts)
    except InfxError as error:
        return SignoffScope(is_required=True, reason=f"Owners cannot be read: {error.message}")
    if codeowners.problems:
        return SignoffScope(is_required=True, reason=describe_unread(codeowners))
    outside: dict[str, str] = {}
    for path in facts.paths:
        rule = codeowners.rule_for(path)
        for owner in rule.owners if rule else ():
            if not _is_exempt(owner, facts, policy):
                outside.setdefault(owner, path)
    if not outside:
        return SignoffScope(
            is_required=False, reason="Every changed file is the core team's, an administrator's or nobody's."
        )
    owner, path = next(iter(outside.items()))
    return SignoffScope(
        is_required=True,
        reason=f"{code(path)} belongs to {code(owner)}; owners outside of the core team: {name_all(outside)}.",
        owners=tuple(outside),
    )


def describe_unread(codeowners: CodeOwners) -> str:
    """Which lines of it cannot be read, and why the first cannot."""
    first, *more = codeowners.problems
    others = f" Nor can {name_lines(more)}." if more else ""
    return f"{first.path}:{first.line}: {first.message}{others}"


def name_lines(problems: Sequence[Problem], limit: int = 5) -> str:
    """Their lines, the first few."""
    lines = [str(problem.line) for problem in problems]
    return f"{'line' if len(lines) == 1 else 'lines'} {join_some(lines, limit)}"


def read_codeowners(facts: SignoffFacts) -> CodeOwners:
    """The target branch's file. Raises InfxError if there is none or GitHub would not use it."""
    if facts.codeowners is None:
        raise InfxError("The target branch has no CODEOWNERS file.")
    return parse_codeowners(facts.codeowners.text, facts.codeowners.path)


def list_logins(codeowners: CodeOwners, paths: tuple[str, ...], policy: SignoffPolicy) -> tuple[str, ...]:
    """People whose role decides whether somebody must sign, in the order in which they should be asked for; nobody
    where a team or an address decides it.
    """
    core = {owner.lower() for owner in policy.core_owners}
    owners = [owner for path in paths if (rule := codeowners.rule_for(path)) for owner in rule.owners]
    outside = [owner for owner in dict.fromkeys(owners) if owner.lower() not in core]
    if not all(is_person(owner) for owner in outside):
        return ()
    return tuple(owner[1:] for owner in outside)


def list_teams(
    codeowners: CodeOwners, paths: tuple[str, ...], login: str, policy: SignoffPolicy
) -> tuple[str, ...]:
    """Teams on whose lines somebody is not named, and that the policy does not list: whether that person is a member
    has to be asked.
    """
    listed = {team.lower() for team in policy.teams}
    rules = [rule for path in paths if (rule := codeowners.rule_for(path))]
    teams = dict.fromkeys(
        owner
        for rule in rules
        if f"@{login.lower()}" not in {owner.lower() for owner in rule.owners}
        for owner in rule.owners
        if owner.startswith("@") and "/" in owner and owner.lower() not in listed
    )
    return tuple(teams)


def is_person(owner: str) -> bool:
    """Neither a team nor an e-mail address."""
    return owner.startswith("@") and "/" not in owner


def _is_exempt(owner: str, facts: SignoffFacts, policy: SignoffPolicy) -> bool:
    if owner.lower() in {core.lower() for core in policy.core_owners}:
        return True
    if not is_person(owner):
        return False
    person = facts.person(owner[1:])
    return person is not None and person.is_admin
