"""Build the warnings about a plan, which do not stop it."""

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


def warn_repeated(config: Config, row: Row) -> Problem:
    """Return a warning about `row`, which repeats points of its configuration and was dropped."""
    at = ", ".join(show_points(list(dict.fromkeys(row.conc))))
    message = f"{config.key}: {describe_recipe(row.recipe)} is listed twice at concurrency {at}; it is planned once."
    return Problem(
        rule="point-repeated",
        message=message,
        path=config.path,
        line=config.line,
        hint="Remove it from one search row.",
        level=Level.WARNING,
    )


def find_shared(planned: Iterable[Planned]) -> Iterator[Problem]:
    """Yield a warning for each pair of configurations with common points, which are planned for both."""
    owners: dict[tuple[Recipe, int], str] = {}
    shared: dict[tuple[str, str], int] = {}
    for item in planned:
        for conc in item.row.conc:
            owner = owners.setdefault((item.row.recipe, conc), item.key)
            if owner != item.key:
                shared[owner, item.key] = shared.get((owner, item.key), 0) + 1
    for (owner, key), number in shared.items():
        yield Problem(
            rule="point-shared",
            message=f"{owner} and {key} measure {count(number, 'point')} in the same way; each is planned for both.",
            level=Level.WARNING,
        )


def find_idle(
    entries: Sequence[Entry], keys: Sequence[Sequence[str]], head: PlanInputs, path: str
) -> Iterator[Problem]:
    """Yield a warning for each entry with scenario types that none of its configurations has."""
    for entry, named in zip(entries, keys, strict=True):
        if entry.scenario_types and not any(
            _has_scenario(head.configs[key], entry.scenario_types) for key in named
        ):
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
    """Yield a warning that no row is planned."""
    # A sweep without rows succeeds, which would go unnoticed.
    if entries:
        yield Problem(
            rule="plan-empty",
            message="No row of the entries' configurations matches the request, so nothing is run.",
            path=path,
            line=entries[0].line,
            hint="Accuracy runs need a row that the eval profile selects; also check evals-only, scenario-type and "
            "eval-min-prefill-ep.",
            level=Level.WARNING,
        )


def _has_scenario(config: Config, types: Iterable[ScenarioType]) -> bool:
    present = {ScenarioType.FIXED: bool(config.fixed), ScenarioType.AGENTIC: bool(config.agentic)}
    return any(present[name] for name in types)
