"""Warn about points that are scheduled more than once, which wastes GPU hours.

Two blocks of a search space have the same topology when their rows differ only in the concurrency. Within one
configuration the planner drops the second measurement; in two configurations both run. Both cases are
warnings, because they may be intended.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from infx.bench.config import AgenticScenario, Concurrency, Config, KvOffloading, SearchRow
from infx.errors import Level
from infx.matrix.concurrency import expand_all, show_points
from infx.matrix.row_rules import Scenario
from infx.matrix.rules import iterate_scenarios, row_path
from infx.phrases import join_words
from infx.records import record
from infx.rules import Finding, Path
from infx.schema import dotted

OVERLAP_RULES = ("points-repeated", "points-overlap", "rows-identical")
_ANY = Concurrency(values=())


@record
class _Block:
    """One item of a search space."""

    config: Config
    at: Path  # from the top of the file
    row: SearchRow
    points: tuple[int, ...]


def check_overlaps(configs: Iterable[Config]) -> Iterator[tuple[Config, Finding[Path]]]:
    """Yield each overlap once, at the later block, with the configuration of that block."""
    groups: dict[Hashable, list[_Block]] = defaultdict(list)
    for config in configs:
        for at, scenario in iterate_scenarios(config):
            for row in scenario.search_space:
                block = _Block(
                    config=config, at=row_path(at, row), row=row, points=expand_all(row.concurrency)
                )
                if len(set(block.points)) < len(block.points):
                    yield config, _find_repeated(block)
                groups[_describe_topology(config, scenario, row)].append(block)
    for blocks in groups.values():
        owners: dict[int, _Block] = {}
        for block in blocks:
            taken: dict[int, list[int]] = defaultdict(list)
            for point in sorted(set(block.points)):
                if (owner := owners.setdefault(point, block)) is not block:
                    taken[id(owner)].append(point)
            for points in taken.values():
                yield block.config, _find_common(owners[points[0]], block, points)


def _describe_topology(config: Config, scenario: Scenario, row: SearchRow) -> Hashable:
    """Return everything in a matrix row except its concurrency, with defaults for omitted fields."""
    shape: tuple[object, ...]
    if isinstance(scenario, AgenticScenario):
        offloads = row.kv_offloading is KvOffloading.DRAM
        shape = (scenario.dram_utilization if offloads else None,)
    else:
        shape = (scenario.isl, scenario.osl, bool(scenario.require_power))
    plain = replace(
        row,
        index=0,
        line=0,
        concurrency=_ANY,
        engine=row.engine and row.engine.filled(),
        worker=row.worker and row.worker.filled(),
        prefill=row.prefill and row.prefill.filled(),
        decode=row.decode and row.decode.filled(),
        router=row.router or config.router,
        kv_p2p_transfer=row.kv_p2p_transfer or config.kv_p2p_transfer,
        kv_offloading=row.kv_offloading or KvOffloading.NONE,
    )
    same = (
        config.image,
        config.model,
        config.model_prefix,
        config.precision,
        config.framework,
        config.runner,
        config.disagg,
        config.srt_recipe_dir,
    )
    return same, shape, plain


def _find_repeated(block: _Block) -> Finding[Path]:
    repeated = sorted(point for point, times in Counter(block.points).items() if times > 1)
    return Finding(
        rule="points-repeated",
        at=(*block.at, "conc-list"),
        message=f"names {join_words(show_points(repeated))} more than once",
        hint="Keep each concurrency once; the others are dropped.",
        level=Level.WARNING,
    )


def _find_common(earlier: _Block, later: _Block, common: list[int]) -> Finding[Path]:
    if earlier.config.key == later.config.key:
        rule = "points-overlap"
        # The scenario is named only if it differs.
        start = -2 if earlier.at[:-2] == later.at[:-2] else 2
        other = f"{dotted(earlier.at[start:])} on line {earlier.row.line} does with the same topology"
        hint = "Keep each concurrency in one of the blocks; the second is dropped."
    else:
        rule = "rows-identical"
        other = (
            f"{dotted((earlier.config.key,))} does at {earlier.config.path}:{earlier.row.line}: the same rows"
        )
        hint = "Both run when both configurations are planned."
    message = f"measures concurrency {join_words(show_points(common))}, as {other}"
    return Finding(rule=rule, at=later.at, message=message, hint=hint, level=Level.WARNING)
