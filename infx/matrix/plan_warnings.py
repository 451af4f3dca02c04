"""What does not stop a plan, but somebody should look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from infx.bench.config import Config, ScenarioType
from infx.bench.entry import Entry
from infx.bench.row import Recipe, Row
from infx.bench.words import describe_recipe
from infx.errors import Level, Problem
from infx.matrix.concurrency import show_points
from infx.matrix.load import PlanInputs
from infx.matrix.planned import Planned
from infx.phrases import count


def repeated(config: Config, row: Row) -> Problem:
    """The same point stands twice in one configuration; `row` is what was dropped."""
    at = ", ".join(show_points(list(dict.fromkeys(row.conc))))
    message = (
        f"{config.key}: {describe_recipe(row.recipe)} stands twice at concurrency {at}; it is planned once."
    )
    return Problem(
        rule="point-repeated",
        message=message,
        path=config.path,
        line=config.line,
        hint="Remove it from one search row.",
        level=Level.WARNING,
    )


def find_shared(planned: Iterable[Planned]) -> Iterator[Problem]:
    """The same points stand in two configurations; both are planned."""
    owners: dict[tuple[Recipe, int], str] = {}
    shared: dict[tuple[str, str], int] = {}
    for one in planned:
        for conc in one.row.conc:
            owner = owners.setdefault((one.row.recipe, conc), one.key)
            if owner != one.key:
                shared[owner, one.key] = shared.get((owner, one.key), 0) + 1
    for (owner, key), number in shared.items():
        yield Problem(
            rule="point-shared",
            message=f"{owner} and {key} measure {count(number, 'point')} in the same way; each is planned for both.",
            level=Level.WARNING,
        )


def find_idle(
    entries: Sequence[Entry], keys: Sequence[Sequence[str]], head: PlanInputs, path: str
) -> Iterator[Problem]:
    """Entries whose scenario types none of their configurations has."""
    for entry, named in zip(entries, keys, strict=True):
        if entry.scenario_types and not any(_has(head.configs[key], entry.scenario_types) for key in named):
            wanted = " or ".join(entry.scenario_types)
            yield Problem(
                rule="entry-idle",
                message=f"None of the entry's configurations has the scenario {wanted}, so it plans nothing.",
                path=path,
                line=entry.line,
                hint="Name the scenario that they have, or leave scenario-type out.",
                level=Level.WARNING,
            )


def find_empty(entries: Sequence[Entry], path: str) -> Iterator[Problem]:
    """A sweep of nothing would be green."""
    if entries:
        yield Problem(
            rule="plan-empty",
            message="Nothing that is asked for is a row of the entries' configurations, so nothing is run.",
            path=path,
            line=entries[0].line,
            hint="Accuracy runs need a row that the eval profile takes; look at evals-only, scenario-type and "
            "eval-min-prefill-ep too.",
            level=Level.WARNING,
        )


def _has(config: Config, types: Iterable[ScenarioType]) -> bool:
    found = {ScenarioType.FIXED: bool(config.fixed), ScenarioType.AGENTIC: bool(config.agentic)}
    return any(found[name] for name in types)
