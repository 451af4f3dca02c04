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
from infx.signoff.scope import is_person, name_lines, read_codeowners


class Owns(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = (
        "unknown"  # only a team or an e-mail address could make it so, and the token may not know whose it is
    )


def check_owner(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """The last matching line of CODEOWNERS decides about each path, both sides of a rename included.

    A line of its own must name the signer; where only the catch-all matches, any owner will do.
    """
    signer = facts.signoff.author.login
    if signer.lower() == facts.pull.author.login.lower() and not policy.signoff.author_may_sign:
        return failed(
            "The author cannot sign their own pull request; ask another owner of the changed files."
        )
    if facts.pull.changed_files > len(facts.files):
        seen = f"{len(facts.files)} of {facts.pull.changed_files}"
        return failed(f"Not all changed files can be seen ({seen}), so nobody can be said to own them.")
    try:
        codeowners = read_codeowners(facts)
    except InfxError as error:
        return failed(f"Owners cannot be read: {error.message}")
    return _judge(facts, policy.signoff, codeowners, signer)


def _judge(facts: SignoffFacts, policy: SignoffPolicy, codeowners: CodeOwners, signer: str) -> CheckOutcome:
    is_named = any(_matches(owner, signer, facts, policy) is Owns.YES for owner in codeowners.owners)
    foreign: list[str] = []
    unsure: list[str] = []
    unowned: list[str] = []
    evidence = [str(problem) for problem in codeowners.problems]
    for path in facts.paths:
        rule = codeowners.rule_for(path)
        if rule is None or not rule.owners:
            unowned.append(path)
            evidence.append(f"{path}: nobody owns it")
            continue
        owns = _owns(rule, signer, facts, policy)
        if owns is not Owns.YES and rule.is_catch_all:
            owns = Owns.YES if is_named else owns
        elif owns is Owns.UNKNOWN and is_named:
            owns = Owns.NO  # an owner of something else
        evidence.append(f"{path}: line {rule.line} {rule.pattern} {' '.join(rule.owners)}: {owns}")
        if owns is not Owns.YES:
            text = f"{code(path)} (owners: {name_all(rule.owners)})"
            (foreign if owns is Owns.NO else unsure).append(text)
    note = f" {_unread(codeowners)}" if codeowners.problems else ""
    if foreign:
        return failed(f"{code(signer)} does not own {_few(foreign)}.{note}", evidence=evidence)
    if unsure:
        text = f"{code(signer)} owns {_few(unsure)} only by a team or an address whose people this token cannot read."
        return warned(f"{text} List them under `teams` in the policy.{note}", evidence=evidence)
    nobody = f" Nobody owns {name_all(unowned)}." if unowned else ""
    owned = count(len(facts.paths) - len(unowned), "changed path")
    return passed(f"{code(signer)} owns {owned}.{nobody}{note}", evidence=evidence)


def _owns(rule: OwnerRule, signer: str, facts: SignoffFacts, policy: SignoffPolicy) -> Owns:
    answers = [_matches(owner, signer, facts, policy) for owner in rule.owners]
    return next((owns for owns in (Owns.YES, Owns.UNKNOWN) if owns in answers), Owns.NO)


def _matches(owner: str, signer: str, facts: SignoffFacts, policy: SignoffPolicy) -> Owns:
    if owner.lower() == f"@{signer.lower()}":
        return Owns.YES
    if is_person(owner):
        return Owns.NO
    listed = {team.lower(): members for team, members in policy.teams.items()}.get(owner.lower())
    if listed is not None:
        return Owns.YES if signer.lower() in {login.lower() for login in listed} else Owns.NO
    member = facts.is_member(owner, signer)
    return Owns.UNKNOWN if member is None else Owns.YES if member else Owns.NO


def _unread(codeowners: CodeOwners) -> str:
    return f"Of {code(codeowners.path)} {name_lines(codeowners.problems)} cannot be read."


def _few(texts: list[str], limit: int = 4) -> str:
    return join_some(texts, limit)
