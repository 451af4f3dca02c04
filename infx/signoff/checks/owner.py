"""Check 0: the signer owns what the pull request changes."""

from __future__ import annotations

from enum import StrEnum

from infx.codeowners import CodeOwners, OwnerRule
from infx.errors import InfxError
from infx.phrases import count, join_some
from infx.policy.model import Policy
from infx.policy.signoff import SignoffPolicy
from infx.signoff.facts import SignoffFacts
from infx.signoff.outcome import CheckOutcome, code, failed, name_all, passed, warned
from infx.signoff.scope import is_person, name_lines, parse_base_codeowners


class Ownership(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"  # depends on a team or an e-mail address that the token may not look up


def check_owner(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Check that the signer owns each changed path, including both sides of a rename.

    The last matching line of CODEOWNERS decides. A specific line must name the signer; where only the catch-all
    line matches, any owner in the file may sign.
    """
    signer = facts.signoff.author.login
    if signer.lower() == facts.pull.author.login.lower() and not policy.signoff.author_may_sign:
        return failed(
            "The author cannot sign their own pull request; ask another owner of the changed files."
        )
    if facts.pull.changed_files > len(facts.files):
        listed = f"{len(facts.files)} of {facts.pull.changed_files}"
        return failed(f"GitHub lists only {listed} changed files, so their owners are unknown.")
    try:
        codeowners = parse_base_codeowners(facts)
    except InfxError as error:
        return failed(f"Owners cannot be read: {error.message}")
    return _judge(facts, policy.signoff, codeowners, signer)


def _judge(facts: SignoffFacts, policy: SignoffPolicy, codeowners: CodeOwners, signer: str) -> CheckOutcome:
    is_named = any(_matches(owner, signer, facts, policy) is Ownership.YES for owner in codeowners.owners)
    not_owned: list[str] = []
    unsure: list[str] = []
    ownerless: list[str] = []
    evidence = [str(problem) for problem in codeowners.problems]
    for path in facts.paths:
        rule = codeowners.find_rule(path)
        if rule is None or not rule.owners:
            ownerless.append(path)
            evidence.append(f"{path}: no owner")
            continue
        owns = _judge_rule(rule, signer, facts, policy)
        if owns is not Ownership.YES and rule.is_catch_all:
            owns = Ownership.YES if is_named else owns
        elif owns is Ownership.UNKNOWN and is_named:
            owns = Ownership.NO  # the signer owns other paths
        evidence.append(f"{path}: line {rule.line} {rule.pattern} {' '.join(rule.owners)}: {owns}")
        if owns is not Ownership.YES:
            text = f"{code(path)} (owners: {name_all(rule.owners)})"
            (not_owned if owns is Ownership.NO else unsure).append(text)
    note = f" {_render_unread(codeowners)}" if codeowners.problems else ""
    if not_owned:
        return failed(f"{code(signer)} does not own {join_some(not_owned, 4)}.{note}", evidence=evidence)
    if unsure:
        text = f"{code(signer)} may own {join_some(unsure, 4)} through a team or an address whose members this token cannot read."
        return warned(f"{text} List them under `teams` in the policy.{note}", evidence=evidence)
    others = f" Without an owner: {name_all(ownerless)}." if ownerless else ""
    owned = count(len(facts.paths) - len(ownerless), "changed path")
    return passed(f"{code(signer)} owns {owned}.{others}{note}", evidence=evidence)


def _judge_rule(rule: OwnerRule, signer: str, facts: SignoffFacts, policy: SignoffPolicy) -> Ownership:
    answers = [_matches(owner, signer, facts, policy) for owner in rule.owners]
    return next((owns for owns in (Ownership.YES, Ownership.UNKNOWN) if owns in answers), Ownership.NO)


def _matches(owner: str, signer: str, facts: SignoffFacts, policy: SignoffPolicy) -> Ownership:
    if owner.lower() == f"@{signer.lower()}":
        return Ownership.YES
    if is_person(owner):
        return Ownership.NO
    listed = {team.lower(): members for team, members in policy.teams.items()}.get(owner.lower())
    if listed is not None:
        return Ownership.YES if signer.lower() in {login.lower() for login in listed} else Ownership.NO
    member = facts.is_member(owner, signer)
    return Ownership.UNKNOWN if member is None else Ownership.YES if member else Ownership.NO


def _render_unread(codeowners: CodeOwners) -> str:
    return f"In {code(codeowners.path)}, {name_lines(codeowners.problems)} cannot be read."
