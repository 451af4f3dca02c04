"""Check 5: every item of the current checklist is ticked, or left open with a reason."""

from __future__ import annotations

from infx.errors import InfxError
from infx.phrases import count, join_some
from infx.policy.model import Policy
from infx.signoff.checklist import (
    ItemMatch,
    ItemState,
    compare_checklist,
    find_signature,
    parse_items,
    parse_template,
)
from infx.signoff.facts import SignoffFacts, TextFile
from infx.signoff.outcome import CheckOutcome, Link, code, failed, name_all, passed, warned

_BAD = {ItemState.MISSING, ItemState.OPEN, ItemState.CONFLICTING}
_WORDS = {
    ItemState.MISSING: "missing",
    ItemState.OPEN: "not ticked and not explained",
    ItemState.CONFLICTING: "present twice, ticked once",
}


def check_template(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Compare the sign-off with the base branch's checklist, in the language that matches best."""
    if not facts.checklists:
        return failed(f"The base branch has no {code(policy.signoff.paths.checklists[0])}.")
    try:
        compared = [(file, _compare(file, facts, policy)) for file in facts.checklists]
    except InfxError as error:
        return failed(f"The checklist cannot be compared: {code(error.message, 300)}.")
    file, matches = min(compared, key=lambda pair: sum(match.state in _BAD for match in pair[1]))
    url = f"{policy.pr_link.server}/{facts.repository}/blob/{policy.base_branch}/{file.path}"
    link = Link(text="checklist", url=url)
    evidence = [_describe(match) for match in matches]
    signature, author = find_signature(facts.signoff.body), facts.signoff.author.login
    if signature and signature.lower() != author.lower():
        text = f"The `Signed:` line names {code(signature)}, but {code(author)} posted the sign-off."
        return failed(text, link, evidence=evidence)
    return _judge(matches, link, evidence)


def _compare(file: TextFile, facts: SignoffFacts, policy: Policy) -> tuple[ItemMatch, ...]:
    items = parse_items(parse_template(file.text, policy.signoff.phrase))
    return compare_checklist(items, facts.signoff.body)


def _judge(matches: tuple[ItemMatch, ...], link: Link, evidence: list[str]) -> CheckOutcome:
    bad = [match for match in matches if match.state in _BAD]
    if bad:
        groups = []
        for state in _BAD:
            own = [f"{match.item.number} {match.item.name}" for match in bad if match.state is state]
            groups += [f"{_WORDS[state]}: {name_all(own)}"] if own else []
        verb = "is" if len(bad) == 1 else "are"
        text = (
            f"{len(bad)} of {count(len(matches), 'item')} {verb} not complete ({'; '.join(sorted(groups))})."
        )
        advice = "Tick each of them or explain it; the current checklist has every item."
        return failed(f"{text} {advice}", link, evidence=evidence)
    if reworded := [match for match in matches if match.state is ItemState.REWORDED]:
        items = [f"{match.item.number}: {code(match.detail)}" for match in reworded]
        shown = join_some(items, 3, separator="; ")
        return warned(f"Ticked items that contradict the checklist: {shown}.", link, evidence=evidence)
    explained = [match for match in matches if match.state is ItemState.EXPLAINED]
    number = len(matches) - len(explained)
    ticked = f"{number} of {count(len(matches), 'item')} {'is' if number == 1 else 'are'} ticked"
    if explained:
        items = [f"{match.item.number}: {code(match.detail)}" for match in explained]
        reasons = join_some(items, 4, separator="; ")
        return passed(
            f"{ticked}, {len(explained)} left open with a reason ({reasons}).", link, evidence=evidence
        )
    return passed(f"{ticked}.", link, evidence=evidence)


def _describe(match: ItemMatch) -> str:
    where = f" line {match.line}" if match.line else ""
    return f"{match.item.number} {match.item.name}: {match.state}{where} {match.detail}".rstrip()
