"""Cut a plan into shards that fit GitHub's limits, with an order, ids and names for the jobs.

All limits are checked before anything is written: rows of a matrix, characters of an output, length of a
job's name, names of artifacts. A plan that exceeds a limit is refused as a whole; no row is ever dropped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from infx.bench.config import Runners
from infx.bench.family import CANARY, family_of, places_of
from infx.bench.identity import row_ids
from infx.bench.jobs import MAX_NAME, RowJob, render_job_name
from infx.bench.row import Row
from infx.bench.topology import count_nodes
from infx.errors import Problem, ProblemsError, UsageError
from infx.matrix.estimate import order_rows
from infx.matrix.priority import Priorities, make_queue_token, score_row
from infx.matrix.scheduling import Scheduler, list_runner_labels
from infx.phrases import count, join_words
from infx.policy.model import Policy
from infx.records import record

# The longest possible labels: those for a scheduler, in the last of the 50 attempts that GitHub allows.
_LONGEST = Scheduler(attempt=50, node_slots=True)
_FORBIDDEN_IN_ARTIFACTS = set('":<>|*?\r\n\\/')


@record
class ShardContext:
    """The run and the pull request that rows are queued for."""

    event: str = ""
    labels: tuple[str, ...] = ()  # of the pull request
    pull: int | None = None
    namespace: str = "0:1"  # `<run id>:<attempt>`


@record
class Shards:
    """A plan cut into matrices."""

    jobs: tuple[RowJob, ...]  # in the order in which they should start
    canary: RowJob | None  # a copy of the job that runs alone first
    count: int  # of shards
    others: tuple[RowJob, ...] = ()  # rows that do not run in this sweep; their shard means nothing


def cut_shards(
    rows: Sequence[Row],
    runners: Runners,
    priorities: Priorities,
    policy: Policy,
    occasion: ShardContext,
    *,
    with_canary: bool,
    only: Collection[str] | None = None,
) -> Shards:
    """Cut the rows of a plan into shards. Raises ProblemsError if a limit is exceeded.

    only: ids of the rows that run. A row has the same id whatever else runs, because ids are those of the whole plan.
    """
    ids = row_ids(rows)
    if only is not None:
        check_ids(only, ids)
    order = order_rows(rows, policy.estimates)
    chosen = [index for index in order if only is None or ids[index] in only]
    size = policy.limits.matrix_rows
    make = _JobMaker(rows, ids, runners, priorities, occasion)
    jobs = [make(index, number // size) for number, index in enumerate(chosen)]
    as_planned = [job for _, job in sorted(zip(chosen, jobs, strict=True), key=lambda pair: pair[0])]
    canary = choose_canary(as_planned, policy.canary.pools) if with_canary else None
    shards = Shards(
        jobs=tuple(jobs),
        canary=canary,
        count=-(-len(jobs) // size),
        others=tuple(make(index, 0) for index in order if only is not None and ids[index] not in only),
    )
    if problems := check_limits(shards, policy):
        raise ProblemsError(problems)
    return shards


def check_ids(ids: Iterable[str], planned: Collection[str]) -> None:
    """Raise UsageError with every id that the plan does not have."""
    known = frozenset(planned)
    unknown = [row_id for row_id in sorted(set(ids)) if row_id not in known]
    if unknown:
        rows = "row" if len(unknown) == 1 else "rows"
        raise UsageError(
            f"The plan has no {rows} {join_words(unknown)}.",
            hint="The names of the jobs of a sweep begin with the ids.",
        )


class _JobMaker:
    """Makes the job of a row by its place in the plan."""

    def __init__(
        self,
        rows: Sequence[Row],
        ids: Sequence[str],
        runners: Runners,
        priorities: Priorities,
        occasion: ShardContext,
    ) -> None:
        self.rows, self.ids, self.places = rows, ids, places_of(rows)
        self.runners, self.priorities, self.occasion = runners, priorities, occasion
        self.skips = occasion.pull if priorities.skip_queue_label in occasion.labels else None

    def __call__(self, index: int, shard: int) -> RowJob:
        row, row_id, occasion = self.rows[index], self.ids[index], self.occasion
        nodes = count_nodes(row.recipe, self.runners)
        score = score_row(row, nodes, self.priorities, event=occasion.event, labels=occasion.labels)
        family = family_of(row)
        return RowJob(
            id=row_id,
            row=row,
            family=family,
            name=render_job_name(row_id, family, row, score),
            priority=score,
            queue_token=make_queue_token(row, self.places[index], occasion.namespace),
            shard=shard,
            nodes=nodes,
            skip_queue_pull=self.skips,
        )


def choose_canary(jobs: Sequence[RowJob], pools: Sequence[Collection[str]]) -> RowJob | None:
    """Return the job with the lowest concurrency in the first pool of families that has a job.

    For equal concurrencies, the earlier family wins, then the earlier job.
    """
    for pool in pools:
        order = {family: index for index, family in enumerate(pool)}
        # Accuracy rows are excluded: one wrong answer says little about a sweep.
        candidates = [job for job in jobs if job.family in order and not job.row.run_eval]
        if candidates:
            best = min(candidates, key=lambda job: (min(job.row.conc), order[job.family]))
            name = render_job_name(best.id, CANARY, best.row, best.priority)
            return replace(best, family=CANARY, name=name)
    return None


def render_matrix(jobs: Sequence[RowJob], scheduler: Scheduler | None = None) -> str:
    """Render one shard as a matrix of ids, labels and names; jobs read the other fields from the plan."""
    vector = [{"id": job.id, "runs-on": list_runner_labels(job, scheduler), "name": job.name} for job in jobs]
    return json.dumps(vector, ensure_ascii=False, separators=(",", ":"))


def check_limits(shards: Shards, policy: Policy) -> list[Problem]:
    """Return a problem for each limit that the shards exceed."""
    limits = policy.limits
    problems = []
    if shards.count > limits.matrix_rows:
        most = limits.matrix_rows**2
        text = f"The plan has {count(len(shards.jobs), 'row')}; two nested matrices hold {most:,}."
        problems.append(_report_excess("limit-rows", text, "Name fewer config keys, or split the change."))
    for number in range(min(shards.count, limits.matrix_rows)):
        part = shards.jobs[number * limits.matrix_rows : (number + 1) * limits.matrix_rows]
        characters = len(render_matrix(part, _LONGEST).encode("utf-16-le")) // 2
        if characters > limits.output_characters:
            text = (
                f"Shard {number} has {characters:,} characters; an output holds {limits.output_characters:,}."
            )
            problems.append(_report_excess("limit-output", text, "Lower limits.matrix-rows in the policy."))
    names = Counter(job.result_name for job in shards.jobs)
    for job in shards.jobs:
        if len(job.name) > MAX_NAME:
            text = f"The job name of row {job.id} is longer than {MAX_NAME} characters even without its description."
            problems.append(_report_excess("limit-name", text, f"Shorten the runner label {job.runs_on}."))
        if names[job.result_name] > 1 or _FORBIDDEN_IN_ARTIFACTS & set(job.result_name):
            text = f"The result name {job.result_name} is not unique, or not a valid name of an artifact."
            problems.append(_report_excess("result-name", text, "This is a bug in infx; please report it."))
    return problems


def _report_excess(rule: str, message: str, hint: str) -> Problem:
    return Problem(rule=rule, message=message, hint=hint)
