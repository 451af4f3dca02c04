"""Write and read a plan folder, which the planning job passes to the jobs that run rows.

plan.json      the plan as `infx plan` printed it
index.json     the number of rows and shards, and the canary's id
jobs.jsonl     one job per line, in the order of the shards
canary.jsonl   the job of the canary, if there is one
row.py         the program that runs a row on its machine
supervise.py   the program that runs the row's servers and client in its container
rows.env       what that program reads
launches.jsonl how the rows run on the clusters that may get them, if clusters are described; that program reads it
eval-thresholds.json  the least scores of accuracy runs, for that program
others.jsonl   in a follow-up sweep: the rows whose results it repeats
follow-up.json in a follow-up sweep: which runs have measured them
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from infx.bench.follow_up import FollowUp
from infx.bench.jobs import RowJob
from infx.bench.row import RowReader, render_row
from infx.errors import UsageError
from infx.matrix.row_file import ROWS, pack_programs, render_rows
from infx.matrix.shards import Shards
from infx.policy.model import Policy
from infx.rowfile.plan import LAUNCHES
from infx.rowfile.score_command import BARS
from infx.saved import dump_json

PLAN, INDEX, JOBS, CANARY = "plan.json", "index.json", "jobs.jsonl", "canary.jsonl"
OTHERS, FOLLOW_UP = "others.jsonl", "follow-up.json"
_HEAD = 60  # id and shard are within this many characters of a line


def render_folder(
    shards: Shards,
    plan: str,
    policy: Policy,
    rules: Mapping[str, Any] | None,
    thresholds: Any,
    follow_up: FollowUp | None = None,
    launches: Iterable[str] | None = None,
) -> dict[str, Iterable[str]]:
    """Return the files of a plan folder: name → parts of the text, made when they are written.

    Args:
        rules: see `infx.matrix.row_file`.
        thresholds: the value of the file with the least scores of accuracy runs.
        follow_up: which runs have measured the other rows; None: their results are not repeated.
        launches: see `infx.matrix.launches`; None: every row runs the row command.
    """
    canary = [] if shards.canary is None else [shards.canary]
    index = {
        "rows": len(shards.jobs),
        "shards": shards.count,
        "canary": canary[0].id if canary else None,
        **({"others": len(shards.others)} if follow_up else {}),
    }
    return {
        PLAN: [plan],
        INDEX: [json.dumps(index, indent=2), "\n"],
        JOBS: map(_render_job, shards.jobs),
        CANARY: map(_render_job, canary),
        ROWS: render_rows(shards.jobs, policy, rules),
        **{name: [text] for name, text in pack_programs().items()},
        BARS: [json.dumps(thresholds), "\n"],
        **({} if launches is None else {LAUNCHES: launches}),
        **_render_follow_up(shards, follow_up),
    }


def _render_follow_up(shards: Shards, follow_up: FollowUp | None) -> dict[str, Iterable[str]]:
    if follow_up is None:
        return {}
    return {OTHERS: map(_render_job, shards.others), FOLLOW_UP: [dump_json(follow_up)]}


def render_sums(digests: Mapping[str, str]) -> str:
    """Return the SHA-256 of every file in the form that `sha256sum --check` reads.

    Every later job of the run compares before it uses the plan, because any job can replace an artifact.
    """
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))


def read_jobs(lines: Iterable[str]) -> Iterator[RowJob]:
    reader = RowReader()
    for line in lines:
        yield _read_job(json.loads(line), reader)


def read_shard(lines: Iterable[str], number: int) -> Iterator[RowJob]:
    """Yield the jobs of one shard; lines of other shards are skipped without parsing them."""
    mark = f'","shard":{number},'
    return read_jobs(line for line in lines if line.find(mark, 0, _HEAD) > 0)


def find_job(lines: Iterable[str], row_id: str) -> RowJob:
    """Return the job of one row. Raises UsageError if the plan does not have it."""
    start = f'{{"id":{json.dumps(row_id)},'
    for line in lines:
        if line.startswith(start):
            return _read_job(json.loads(line), RowReader())
    raise UsageError(
        f"The plan has no row {row_id}.",
        hint="The plan may belong to another commit; use the plan of this run.",
    )


def _render_job(job: RowJob) -> str:
    values = {
        "id": job.id,  # id and shard come first: readers find them without parsing the line
        "shard": job.shard,
        "family": job.family,
        "name": job.name,
        "runs-on": job.runs_on,
        "priority": str(job.priority),
        "queue-token": job.queue_token,
        "nodes": job.nodes,
        "skip-queue-pull": job.skip_queue_pull,
        "result-name": job.result_name,
        "row": render_row(job.row),
    }
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


def _read_job(values: dict[str, Any], reader: RowReader) -> RowJob:
    return RowJob(
        id=values["id"],
        row=reader.read(values["row"]),
        family=values["family"],
        name=values["name"],
        priority=Decimal(values["priority"]),
        queue_token=values["queue-token"],
        shard=values["shard"],
        nodes=values["nodes"],
        skip_queue_pull=values["skip-queue-pull"],
    )
