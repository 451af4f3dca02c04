"""Cut a plan into shards that fit GitHub's limits, with an order, ids and names for the jobs.

All limits are checked before anything is written: rows of a matrix, characters of an output, length of a
job's name, names of artifacts. A plan that exceeds a limit is refused as a whole; no row is ever dropped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from infx.bench.config import Runners
from infx.bench.family import CANARY, family_of, places_of
from infx.bench.identity import row_ids
from infx.bench.jobs import MAX_NAME, RowJob, render_job_name
from infx.bench.row import Row
from infx.bench.topology import count_nodes
from infx.errors import Problem, ProblemsError
from infx.matrix.estimate import order_rows
from infx.matrix.priority import Priorities, make_queue_token, score_row
from infx.matrix.scheduling import Scheduler, list_runner_labels
from infx.phrases import count
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


def cut_shards(
    rows: Sequence[Row],
    runners: Runners,
    priorities: Priorities,
    policy: Policy,
    occasion: ShardContext,
    *,
    with_canary: bool,
) -> Shards:
    """Cut the rows of a plan into shards. Raises ProblemsError if a limit is exceeded."""
    ids, places = row_ids(rows), places_of(rows)
    size = policy.limits.matrix_rows
    skips = occasion.pull if priorities.skip_queue_label in occasion.labels else None
    jobs = []
    order = order_rows(rows, policy.estimates)
    for number, index in enumerate(order):
        row = rows[index]
        nodes = count_nodes(row.recipe, runners)
        score = score_row(row, nodes, priorities, event=occasion.event, labels=occasion.labels)
        family = family_of(row)
        jobs.append(
            RowJob(
                id=ids[index],
                row=row,
                family=family,
                name=render_job_name(ids[index], family, row, score),
                priority=score,
                queue_token=make_queue_token(row, places[index], occasion.namespace),
                shard=number // size,
                nodes=nodes,
                skip_queue_pull=skips,
            )
        )
    as_planned = [job for _, job in sorted(zip(order, jobs, strict=True), key=lambda pair: pair[0])]
    canary = choose_canary(as_planned, policy.canary.pools) if with_canary else None
    shards = Shards(jobs=tuple(jobs), canary=canary, count=-(-len(jobs) // size))
    if problems := check_limits(shards, policy):
        raise ProblemsError(problems)
    return shards


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
