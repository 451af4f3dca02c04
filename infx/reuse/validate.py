"""Judge the artifacts of a source run: may its results serve another run?

With a plan, the raw results are those that `collect` accepts for the planned rows. Without one, raw results and
aggregates are only compared with each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from infx.bench.jobs import RowJob
from infx.policy.results import ResultRules
from infx.results.artifact import ReadArtifact
from infx.results.collect import EVALS, POINTS, Collection, collect
from infx.reuse.source_results import SourcePart, SourceResults, join_parts, read_part
from infx.reuse.verdict import Validation
from infx.reuse.with_plan import judge_with_plan
from infx.reuse.without_plan import judge_without_plan


def validate_source(
    artifacts: Iterable[ReadArtifact], jobs: Sequence[RowJob] | None, rules: ResultRules
) -> Validation:
    """Return every problem of the artifacts. jobs: those of the plan, or None without a plan.

    Artifacts are read one after another and not kept in memory.
    """
    if jobs is None:
        return judge_without_plan(join_parts(map(read_part, artifacts)))
    return judge_with_plan(*collect_source(artifacts, jobs, rules))


def collect_source(
    artifacts: Iterable[ReadArtifact], jobs: Sequence[RowJob], rules: ResultRules
) -> tuple[SourceResults, Collection]:
    """Return the aggregates of a source run, and what `collect` accepts for the planned rows."""
    parts: list[SourcePart] = []
    collection = collect(jobs, _read_aggregates(artifacts, parts), rules)
    return join_parts(parts), collection


def _read_aggregates(artifacts: Iterable[ReadArtifact], parts: list[SourcePart]) -> Iterator[ReadArtifact]:
    """Pass artifacts on, and keep what the aggregates hold."""
    for artifact in artifacts:
        if artifact.name in {POINTS, EVALS}:
            parts.append(read_part(artifact))
        yield artifact
