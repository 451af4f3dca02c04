"""Check 14: every affected curve has enough measured points on the frontier of latency and throughput."""

from __future__ import annotations

import math
from collections.abc import Iterable

from infx.bench.frontier import select_frontier
from infx.bench.identity import curve_of
from infx.phrases import count, join_some
from infx.policy.model import Policy
from infx.records import record
from infx.signoff.coverage import choose_coverage
from infx.signoff.facts import MeasuredPoint, SignoffFacts
from infx.signoff.outcome import CheckOutcome, Link, code, name_all, not_applicable, passed, warned


@record
class Frontier:
    """The frontier of one curve."""

    measured: int  # points with usable numbers
    invalid: int  # points without usable numbers
    points: tuple[MeasuredPoint, ...]  # on the frontier, by latency
    is_restricted: bool = False  # by the results' own marks


def find_frontier(points: Iterable[MeasuredPoint]) -> Frontier:
    """Return the points that no other point beats in latency (s) and throughput (tokens/s/GPU).

    Marks of a canonical frontier restrict the result.
    """
    everything = list(points)
    valid = [point for point in everything if _is_usable(point.latency) and _is_usable(point.throughput)]
    frontier = select_frontier(valid, lambda point: point.latency or 0, lambda point: point.throughput or 0)
    is_restricted = any(point.on_canonical_frontier is not None for point in everything)
    if is_restricted:
        frontier = [point for point in frontier if point.on_canonical_frontier]
    return Frontier(
        measured=len(valid),
        invalid=len(everything) - len(valid),
        points=tuple(frontier),
        is_restricted=is_restricted,
    )


def _is_usable(number: float | None) -> bool:
    return number is not None and math.isfinite(number) and number > 0


def check_pareto(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Count frontier points. Too few or unverifiable points are a WARN that an administrator may settle."""
    plan = facts.plan
    if plan is None or plan.problem:
        return warned("Without a plan, the affected curves are unknown.")
    curves = sorted({curve_of(row.recipe) for row in plan.rows if not row.row.eval_only})
    if not curves:
        return not_applicable("The plan has no throughput rows.")
    coverage = choose_coverage(facts, policy)
    results = facts.results
    if coverage is None or results is None or results.run_id != coverage.run.run.id or not results.has_points:
        return warned(
            f"There are no collected results yet; the points of {name_all(curves)} cannot be counted."
        )
    link = Link(text=f"run {coverage.run.run.id}", url=coverage.run.run.url)
    if results.problems:
        return warned(f"The results cannot be read: {code(results.problems[0], 300)}.", link)
    least = policy.signoff.frontier_points
    faults: list[str] = []
    evidence: list[str] = []
    for curve in curves:
        frontier = find_frontier(point for point in results.points if point.curve == curve)
        verb = "is" if len(frontier.points) == 1 else "are"
        text = (
            f"{len(frontier.points)} of {count(frontier.measured, 'measured point')} {verb} on the frontier"
        )
        evidence.append(f"{curve}: {text}, {frontier.invalid} invalid")
        evidence += [f"  c{p.conc}: {p.latency:g} s, {p.throughput:g} tok/s/GPU" for p in frontier.points]
        if frontier.invalid:
            faults.append(f"{code(curve)}: {count(frontier.invalid, 'point')} without usable numbers")
        elif len(frontier.points) < least:
            faults.append(f"{code(curve)}: {text}, {least} are recommended")
    if faults:
        return warned(f"{join_some(faults, 4, separator='; ')}.", link, evidence=evidence)
    verb = "has" if len(curves) == 1 else "have"
    text = f"{count(len(curves), 'curve')} {verb} at least {least} frontier points: {name_all(curves)}."
    return passed(text, link, evidence=evidence)
