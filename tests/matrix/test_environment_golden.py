"""Compare a row's environment with the job environments that upstream's launchers were seen to get."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from infx.bench.family import family_of
from infx.bench.jobs import RowJob
from infx.bench.row import RowReader
from infx.matrix.environment import project_job
from tests.golden import ROOT, require_data

pytestmark = pytest.mark.golden

CASES = [json.loads(path.read_bytes()) for path in sorted((ROOT / "launch" / "golden").glob("*.json"))]

# Deliberate differences: variables that infx does not give, and the reason.
NOT_GIVEN = {
    **dict.fromkeys(
        (
            "GITHUB_ACTIONS", "GITHUB_RUN_ATTEMPT", "GITHUB_RUN_ID", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE",
            "RUNNER_NAME", "USER",
        ),
        "the machine has it",
    ),
    **dict.fromkeys(("HF_TOKEN", "MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"), "a secret of the machine"),
    "SALLOC_EXCLUDE": "neither a launcher nor Slurm reads it",
}  # fmt: skip
# Deliberate differences: variables that only infx gives, or with another value, and the reason.
OWN = {
    "ROW_ID": "identifies the row",
    "RESULT_FILENAME": "contains the id of the row, so that no two rows share a name",
    "IS_MULTINODE": "upstream leaves it out on one node; false is the same to its scripts",
    "PORT": "upstream's library sets the same number where the launcher sets none",
    "WARMUP_REQUESTS": "follows from DURATION",
    "THINKING_MODE": "selects the golden acceptance lengths",
}


def test_there_are_golden_rows() -> None:
    require_data()
    assert len(CASES) >= 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["golden"])
def test_a_row_has_the_variables_of_the_launchers_job(case: dict[str, Any]) -> None:
    row = RowReader().read(case["row"])
    job = RowJob(
        id="0" * 12, row=row, family=family_of(row), name="n", priority=Decimal(1), queue_token="t", shard=0
    )
    given = normalize(project_job(job, max_bytes=131_071), OWN)
    assert given == normalize(case["job-env"], {**NOT_GIVEN, **OWN})


def normalize(environment: dict[str, str], ignored: dict[str, str]) -> dict[str, Any]:
    """Return the variables without ignored ones and empty ones; metadata as JSON values, because spaces do not matter."""
    return {
        name: json.loads(value) if name.endswith("_METADATA") else value
        for name, value in environment.items()
        if value and name not in ignored
    }
