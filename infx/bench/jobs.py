"""Turn rows into jobs with readable names and names for their results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from infx.bench.job_names import SEPARATOR
from infx.bench.row import Row
from infx.bench.words import describe_row, plain

MAX_NAME = 100  # characters of a job's name that GitHub keeps


@dataclass(frozen=True, kw_only=True, slots=True)
class RowJob:
    """A row on its way to a runner."""

    id: str
    row: Row
    family: str
    name: str
    priority: Decimal  # see `matrix/priority.py`
    queue_token: str
    shard: int
    nodes: int = 1
    skip_queue_pull: int | None = None  # the pull request whose label moves its jobs to the front

    @property
    def runs_on(self) -> str:
        return self.row.recipe.runner

    @property
    def result_name(self) -> str:
        """Return the stem of everything that the job uploads; it is unique within the plan, like the id."""
        recipe = self.row.recipe
        words = f"{self.row.exp_name}_{recipe.precision}_{recipe.framework}_{recipe.runner}"
        return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', words)[:150]}_{self.id}"


def render_job_name(row_id: str, family: str, row: Row, priority: Decimal) -> str:
    """Render `<id> · <family> · <runner> · <text>`, with the text cut to fit 100 characters.

    The name is longer only if the parts before the text are longer; `check_limits` refuses such a plan.
    """
    head = SEPARATOR.join((row_id, family, plain(row.recipe.runner)))
    full = SEPARATOR.join((head, describe_row(row, priority)))
    if len(full) <= MAX_NAME:
        return full
    return full[: MAX_NAME - 1] + "…" if len(head) < MAX_NAME else head
