"""`collect` accepts the results of every kind of row."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infx.bench.row import Row
from infx.bench.uploads import artifact_name
from infx.matrix.environment import project_job
from infx.results.collect import RowState, collect
from tests.made_results import make_files
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row
from tests.results.made import RULES, artifact, make_jobs

KINDS = {
    "fixed": row(FIXED, 64),
    "agentic": row(AGENTIC, 8),
    "multi-node": row(DISAGG, 4, 8),
    "one concurrency": row(DISAGG, 4),
    "with a fingerprint": replace(row(FIXED, 64), recipe_fingerprint="a" * 64),
    "eval": row(FIXED, 64, eval_only=True),
    "eval at one of several": replace(row(DISAGG, 4, 8, eval_only=True), eval_conc=8),
    "eval at all": replace(row(DISAGG, 4, 8, eval_only=True), eval_all_concs=True),
    "agentic eval": row(AGENTIC, 8, eval_only=True),
}


@pytest.mark.parametrize("planned", KINDS.values(), ids=KINDS)
def test_good_results_are_accepted(planned: Row) -> None:
    [job] = make_jobs([planned])
    files = make_files(project_job(job, max_bytes=131_071))
    collection = collect([job], [artifact(artifact_name(job), files)], RULES)
    assert collection.coverage[0].state is RowState.PRESENT, collection.coverage[0].faults
    assert len(collection.points) == (0 if planned.eval_only else len(planned.conc))
