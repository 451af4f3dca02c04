"""Check 12: an append-only change adds points to curves and changes no measured point."""

from __future__ import annotations

from infx.bench.identity import IdentifiedRow
from infx.bench.row import Row
from infx.matrix.append import find_strangers
from infx.matrix.points import collect_points
from infx.phrases import count, join_some
from infx.policy.model import Policy
from infx.signoff.facts import SignoffFacts
from infx.signoff.lines import find_serving_changes
from infx.signoff.outcome import CheckOutcome, code, failed, name_all, not_applicable, passed, warned


def check_append_only(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Compare the rows of both revisions. Other changed files may affect old points and need human review."""
    plan = facts.plan
    if plan is None or plan.problem:
        why = f" {code(plan.problem, 300)}" if plan and plan.problem else ""
        return failed(f"Without a plan, the added points are unknown.{why}")
    entries = plan.entries
    if not any(entry.append_only for entry in entries):
        return not_applicable("No changelog entry is append-only.")
    if others := [entry for entry in entries if not entry.append_only]:
        where = name_all(f"{policy.changelog}:{entry.line}" for entry in others)
        return failed(f"Other entries of this pull request are not append-only: {where}.")
    added = [row for row in plan.rows if not row.row.eval_only]
    if faults := [*_find_lost(facts), *_find_faults(added, plan.base_rows)]:
        return failed(f"{join_some(faults, 4, separator='; ')}.", evidence=faults)
    evidence = [f"added: {row.text} on {row.recipe.image}" for row in added]
    masters = set(policy.master_configs)
    others_changed = [file.path for file in find_serving_changes(facts, policy) if file.path not in masters]
    points = count(sum(len(row.row.conc) for row in added), "new point")
    if others_changed:
        text = (
            f"{points}. These files may affect old points and need human review: {name_all(others_changed)}."
        )
        return warned(text, evidence=evidence)
    kept = count(sum(len(row.conc) for row in plan.base_rows), "old point")
    return passed(
        f"{points} on curves with one image, {kept} unchanged, no other file changes.", evidence=evidence
    )


def _find_lost(facts: SignoffFacts) -> list[str]:
    """Return the configurations that changed more than their concurrencies."""
    return [
        f"{name_all([change.key])} is not on the base branch"
        if change.before is None
        else f"{name_all([change.key])} is removed"
        if change.after is None
        else f"{name_all([change.key])} changes more than concurrencies"
        for change in facts.configs
        if not change.adds_points_only
    ]


def _find_faults(added: list[IdentifiedRow], base: tuple[Row, ...]) -> list[str]:
    """Return added points that extend no curve of the base branch, repeat a point, or use another image."""
    faults = []
    images_of_curves = find_strangers(base, [row.recipe for row in added])
    old = collect_points(base)
    for row in added:
        images = images_of_curves.get(row.recipe)
        if images == ():
            faults.append(f"{name_all([row.text])} does not extend a measured curve")
        elif images:
            faults.append(
                f"{name_all([row.text])} uses {name_all([row.recipe.image])}; its curve has {name_all(images)}"
            )
        elif repeated := [conc for conc in row.row.conc if conc in old.get(row.recipe, {})]:
            faults.append(f"{name_all([row.text])} repeats concurrency {', '.join(map(str, repeated))}")
    return faults
