"""Check 15: the plan agrees with the description's claims that a program can compute.

The description is untrusted text: it proves nothing, but a claim in it may be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from infx.markdown import MarkdownBlock, parse_markdown
from infx.phrases import count, join_some
from infx.policy.model import Policy
from infx.records import record
from infx.signoff.facts import RecomputedPlan, SignoffFacts
from infx.signoff.outcome import CheckOutcome, code, failed, not_applicable, passed, warned

_IMAGE = r"(?<![\w/.-])((?:[\w-]+(?:\.[\w-]+)*(?::\d+)?/){1,9}[\w.-]+:\w(?:[\w.-]*\w)?)(?![\w/])"
_NOTHING = re.compile(
    r"\b(?:docs?|documentation)[- ]only\b|\bno (?:config|configuration|sweep|functional) changes?\b",
    re.IGNORECASE,
)
_PERFORMANCE = re.compile(
    r"(?<![\w.])\d+(?:\.\d+)?\s*(?:%|x\b|×)\s*(?:faster|slower|higher|lower|more|less|better|gain|speed-?up|improvement|throughput)"
    r"|(?:faster|slower|improv\w+|gain\w*|speed-?up|higher|lower)\s+(?:by|of)\s+(?:up to\s+)?(?:about\s+|~)?\d",
    re.IGNORECASE,
)  # fmt: skip


@record
class DescriptionClaim:
    """A claim of the description."""

    line: int  # in the description
    text: str
    fault: str | None = None  # what contradicts the claim; None if it holds
    is_open: bool = False  # a program cannot decide the claim


def check_description(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    plan = facts.plan
    if plan is None or plan.problem:
        return failed("Without a plan, the description's claims cannot be checked.")
    blocks = parse_markdown(facts.pull.body)
    place = f"{policy.pr_link.server}/{facts.repository}"
    claims = [
        claim
        for block in blocks
        for claim in (*_find_claims(block, facts, plan), *_find_runs(block, facts, place))
    ]
    evidence = [f"line {claim.line}: {claim.text}: {claim.fault or 'agrees'}" for claim in claims]
    if not claims:
        return not_applicable("The description makes no claim that can be compared with the plan.")
    doubtful = [claim for claim in claims if claim.fault or claim.is_open]
    if doubtful:
        shown = [f"line {claim.line}: {code(claim.text)} {claim.fault}" for claim in doubtful]
        return warned(f"In the description, {join_some(shown, 4, separator='; ')}.", evidence=evidence)
    return passed(
        f"The plan agrees with {count(len(claims), 'claim')} of the description.", evidence=evidence
    )


def _find_claims(
    block: MarkdownBlock, facts: SignoffFacts, plan: RecomputedPlan
) -> Iterator[DescriptionClaim]:
    finders: tuple[Callable[[str, SignoffFacts, RecomputedPlan], Iterator[tuple[str, str | None, bool]]], ...] = (
        _find_images, _find_denials, _find_performance,
    )  # fmt: skip
    for offset, line in enumerate(block.text.split("\n")):
        for find in finders:
            for text, fault, is_open in find(line, facts, plan):
                yield DescriptionClaim(line=block.line + offset, text=text, fault=fault, is_open=is_open)


def _find_images(
    line: str, facts: SignoffFacts, plan: RecomputedPlan
) -> Iterator[tuple[str, str | None, bool]]:
    now = {row.recipe.image for row in plan.rows} | {
        change.after.image for change in facts.configs if change.after
    }
    before = {change.before.image for change in facts.configs if change.before}
    known = {_without_digest(image) for image in now | before}
    repositories = {image.rpartition(":")[0] for image in known}
    for match in re.finditer(_IMAGE, line):
        if match[1].rpartition(":")[0] not in repositories:
            continue
        fault = None if match[1] in known else "is not the image of an affected configuration"
        yield match[1], fault, False


def _without_digest(image: str) -> str:
    return image.partition("@")[0].replace("#", "/")


def _find_runs(block: MarkdownBlock, facts: SignoffFacts, place: str) -> Iterator[DescriptionClaim]:
    """Return claims from links to this repository's runs. place: the repository's address."""
    own = {evidence.run.id for evidence in facts.runs}
    run = re.compile(rf"{re.escape(place)}/actions/runs/(\d{{1,18}})(?!\d)", re.IGNORECASE)
    for link in block.links:
        if match := run.match(link):
            fault = None if int(match[1]) in own else "is not a sweep on a commit of this pull request"
            yield DescriptionClaim(line=block.line, text=f"run {match[1]}", fault=fault)


def _find_denials(
    line: str, facts: SignoffFacts, plan: RecomputedPlan
) -> Iterator[tuple[str, str | None, bool]]:
    """Return claims that nothing but documentation changes."""
    for match in _NOTHING.finditer(line):
        changed = [change for change in facts.configs if change.before != change.after]
        fault = None
        if plan.rows:
            fault = f"but the plan has {count(len(plan.rows), 'row')}"
        elif changed:
            fault = f"but it changes {count(len(changed), 'configuration')}"
        yield match[0], fault, False


def _find_performance(
    line: str, _: SignoffFacts, __: RecomputedPlan
) -> Iterator[tuple[str, str | None, bool]]:
    for match in _PERFORMANCE.finditer(line):
        yield match[0], "is a performance claim that the plan cannot confirm", True
