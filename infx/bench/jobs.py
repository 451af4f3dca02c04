"""From rows to jobs: a name to read, and names for what the job leaves.

Whoever maps a job of a run back to its row reads the id in its name and takes the rest from the plan.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from infx.bench.row import Row
from infx.bench.words import describe_row, plain

MAX_NAME = 100  # characters of a job's name that GitHub keeps
SEPARATOR = " · "
_JOB_ID = re.compile(
    r"(?P<id>[0-9a-f]{12}(?:-[2-9]|-[1-9][0-9]+)?) · (?P<family>[^·]+) · (?P<runner>[^·]+?)(?: · .*)?"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RowJob:
    """A row that will be run. priority: see `priority.py`. nodes: how many it occupies. skip_queue_pull: the pull
    request whose label lets its jobs pass others.
    """

    id: str
    row: Row
    family: str
    name: str
    priority: Decimal
    queue_token: str
    shard: int
    nodes: int = 1
    skip_queue_pull: int | None = None

    @property
    def runs_on(self) -> str:
        return self.row.recipe.runner

    @property
    def result_name(self) -> str:
        """The stem of everything the job uploads; unique over the plan because the id is."""
        recipe = self.row.recipe
        words = f"{self.row.exp_name}_{recipe.precision}_{recipe.framework}_{recipe.runner}"
        return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', words)[:150]}_{self.id}"


@dataclass(frozen=True, kw_only=True)
class JobName:
    """What the name of a job that has run says for certain."""

    id: str
    family: str
    runner: str


def job_name(row_id: str, family: str, row: Row, priority: Decimal) -> str:
    """`<id> · <family> · <runner> · <text>`; a cut to 100 characters takes only from the text.

    Longer than that only where the parts that are never cut are; `measure` refuses such a plan.
    """
    head = SEPARATOR.join((row_id, family, plain(row.recipe.runner)))
    full = SEPARATOR.join((head, describe_row(row, priority)))
    if len(full) <= MAX_NAME:
        return full
    return full[: MAX_NAME - 1] + "…" if len(head) < MAX_NAME else head


def parse_job_name(name: str) -> JobName | None:
    """The id, family and runner of a job; None if it is no job of a row. Called workflows put theirs before `/`."""
    match = _JOB_ID.fullmatch(name.rsplit(" / ", 1)[-1])
    return JobName(id=match["id"], family=match["family"], runner=match["runner"]) if match else None
