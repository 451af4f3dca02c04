"""From rows to jobs: an id that can be recomputed from git, a name to read, and names for what the job leaves.

Whoever maps a job of a run back to its row reads the id in its name and takes the rest from the plan.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from infx.bench.config import KvOffloading, Parallelism, SpecDecoding, Worker
from infx.bench.row import AgenticWorkload, Recipe, Row, render_row

ID_DIGITS = 12
MAX_NAME = 100  # characters of a job's name that GitHub keeps
SEPARATOR = " · "
_SHORT_FRAMEWORKS = {"sglang": "sgl", "dynamo-sglang": "dyn-sgl", "sglang-disagg": "sgl-disagg"}
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


def row_digest(row: Row) -> str:
    """The first 12 hex digits of the SHA-256 of the row's canonical JSON (compact, keys sorted, ASCII)."""
    text = json.dumps(render_row(row), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:ID_DIGITS]


def row_ids(rows: Iterable[Row]) -> list[str]:
    """An id for each row, in order; the second of two identical rows ends in `-2`, and so on."""
    seen: Counter[str] = Counter()
    ids = []
    for row in rows:
        digest = row_digest(row)
        seen[digest] += 1
        ids.append(digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
    return ids


def job_name(row_id: str, family: str, row: Row, priority: Decimal) -> str:
    """`<id> · <family> · <runner> · <text>`; a cut to 100 characters takes only from the text.

    Longer than that only where the parts that are never cut are; `measure` refuses such a plan.
    """
    head = SEPARATOR.join((row_id, family, _plain(row.recipe.runner)))
    full = SEPARATOR.join((head, describe_row(row, priority)))
    if len(full) <= MAX_NAME:
        return full
    return full[: MAX_NAME - 1] + "…" if len(head) < MAX_NAME else head


def parse_job_name(name: str) -> JobName | None:
    """The id, family and runner of a job; None if it is no job of a row. Called workflows put theirs before `/`."""
    match = _JOB_ID.fullmatch(name.rsplit(" / ", 1)[-1])
    return JobName(id=match["id"], family=match["family"], runner=match["runner"]) if match else None


def describe_row(row: Row, priority: Decimal | None = None) -> str:
    """One line for people: priority, model, precision, runner, framework, parallelism, offload, concurrency."""
    recipe = row.recipe
    offload = _offload(recipe)
    words = (
        recipe.model_prefix,
        recipe.precision,
        recipe.runner,
        _SHORT_FRAMEWORKS.get(recipe.framework, recipe.framework),
        describe_layout(recipe),
        recipe.spec_decoding.value if recipe.spec_decoding is not SpecDecoding.NONE else "",
        offload,
        "c" + ",".join(map(str, row.conc)),
    )
    text = " ".join(word for word in words if word)
    mark = f"p{priority} | " if priority is not None else ""
    tail = " | eval-only" if row.eval_only else " | eval" if row.run_eval else ""
    return _plain(f"{mark}{text}{tail}")


def describe_layout(recipe: Recipe) -> str:
    """`TP8/EP8/DPA`, or `1P (TP8) x 2D (TP4)` for a disaggregated deployment."""
    layout = recipe.layout
    if isinstance(layout, Parallelism):
        return _parallelism(layout)
    if not recipe.disagg:
        return _workers(layout.prefill)
    prefill, decode = layout.prefill, layout.decode
    return f"{prefill.num_worker}P ({_parallelism(prefill)}) x {decode.num_worker}D ({_parallelism(decode)})"


def _workers(worker: Worker) -> str:
    text = _parallelism(worker)
    return text if worker.num_worker == 1 else f"{worker.num_worker}x {text}"


def _parallelism(engine: Parallelism) -> str:
    degrees = (("PP", engine.pp), ("DCP", engine.dcp_size), ("PCP", engine.pcp_size), ("EP", engine.ep or 1))
    parts = [f"TP{engine.tp}", *(f"{name}{value}" for name, value in degrees if value != 1)]
    return "/".join([*parts, "DPA"] if engine.dp_attn else parts)


def _offload(recipe: Recipe) -> str:
    workload = recipe.workload
    if not isinstance(workload, AgenticWorkload) or workload.kv_offloading is KvOffloading.NONE:
        return ""
    backend = workload.kv_offload_backend
    return f"kv{workload.kv_offloading.value}" + (f"-{backend.name}" if backend else "")


def _plain(text: str) -> str:
    """One line in which the separators of job names mean what they mean."""
    return " ".join(text.replace("·", " ").replace(" / ", "/").split())
