"""The verdict on the artifacts of a source run, and its words."""

from __future__ import annotations

from collections.abc import Mapping

from infx.errors import Problem, has_errors
from infx.phrases import count, join_words
from infx.records import record
from infx.results.lenient import ResultKind
from infx.reuse.compare import limit_problems
from infx.reuse.raw_evals import RawEval
from infx.reuse.source_results import SourceRow

_NOUNS = {
    ResultKind.FIXED: "fixed-length result",
    ResultKind.AGENTIC: "AgentX result",
    ResultKind.ACCURACY: "accuracy run",
}


@record
class Validation:
    """The verdict on the artifacts of a source run."""

    has_plan: bool
    counts: Mapping[ResultKind, int]
    superseded: tuple[RawEval, ...]  # accuracy runs that a later one replaces
    evals: tuple[SourceRow, ...]  # rows of the aggregate without superseded ones
    problems: tuple[Problem, ...]

    @property
    def is_valid(self) -> bool:
        return not has_errors(self.problems)


def conclude(
    *,
    has_plan: bool,
    counts: Mapping[ResultKind, int],
    evals: tuple[SourceRow, ...],
    problems: list[Problem],
    superseded: tuple[RawEval, ...] = (),
) -> Validation:
    """Return the verdict; a source without any result has a problem of its own."""
    if not any(counts.values()):
        problems = [
            *problems,
            Problem(
                rule="no-results",
                message="The artifacts hold no usable result.",
                hint="Name a run that has measured something.",
            ),
        ]
    return Validation(
        has_plan=has_plan,
        counts=counts,
        superseded=superseded,
        evals=evals,
        problems=tuple(limit_problems(problems)),
    )


def describe_validation(validation: Validation) -> str:
    """Return one sentence about all results, and one about the plan."""
    found = join_words([count(validation.counts[kind], _NOUNS[kind]) for kind in ResultKind])
    verdict = "usable" if validation.is_valid else "not usable"
    plan = (
        "They were compared with the plan and with the aggregates."
        if validation.has_plan
        else "No plan was given, so raw results were only compared with the aggregates."
    )
    older = len(validation.superseded)
    reruns = f" {count(older, 'older accuracy run')} ignored." if older else ""
    return f"The source is {verdict}: {found}. {plan}{reruns}"
