from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.bench.config import Hardware, Parallelism, Runners
from infx.bench.row import FixedWorkload, Recipe, Roles, Row
from infx.bench.topology import count_nodes, find_hardware
from infx.errors import InfxError, ProblemsError
from infx.matrix.estimate import estimate_loads, estimate_minutes, order_rows
from infx.matrix.folder import JOBS, find_job, read_jobs, render_folder
from infx.matrix.priority import NO_PRIORITIES
from infx.matrix.scheduling import Scheduler, list_runner_labels
from infx.matrix.shards import ShardContext, Shards, cut_shards, render_matrix
from infx.policy.load import default_policy
from infx.policy.model import Estimates
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

POLICY = default_policy()
RUNNERS = Runners(
    labels={"cluster:h200-a": ("a_0", "a_1")},
    hardware={
        "cluster:h200-a": Hardware(gpus_per_node=8),
        "cluster:h200-b": Hardware(gpus_per_node=8),
        "cluster:gb200-a": Hardware(gpus_per_node=4),
        "cluster:gb200-b": Hardware(gpus_per_node=8),
    },
    path="runners.yaml",
)
SHORT = replace(FIXED, workload=FixedWorkload(isl=1024, osl=1024, max_model_len=2304))
SMALL = replace(FIXED, layout=Parallelism(tp=1, ep=1, dp_attn=False))


def cut(rows: Sequence[Row], *, with_canary: bool = True) -> Shards:
    return cut_shards(rows, RUNNERS, NO_PRIORITIES, POLICY, ShardContext(), with_canary=with_canary)


def many(count: int) -> list[Row]:
    return [row(FIXED, conc) for conc in range(1, count + 1)]


@pytest.mark.parametrize(("rows", "shards"), [(0, 0), (1, 1), (256, 1), (257, 2), (512, 2), (513, 3)])
def test_a_matrix_holds_256_rows(rows: int, shards: int) -> None:
    result = cut(many(rows))
    assert result.count == shards
    assert len(result.jobs) == rows
    sizes = [sum(job.shard == number for job in result.jobs) for number in range(shards)]
    assert all(0 < size <= 256 for size in sizes)


def test_more_rows_than_two_nested_matrices_hold_are_refused() -> None:
    policy = replace(POLICY, limits=replace(POLICY.limits, matrix_rows=2))
    with pytest.raises(ProblemsError) as caught:
        cut_shards(many(5), RUNNERS, NO_PRIORITIES, policy, ShardContext(), with_canary=False)
    assert [str(problem) for problem in caught.value.problems] == [
        "The plan has 5 rows; two nested matrices hold 4. Name fewer config keys, or split the change."
    ]


def test_a_matrix_larger_than_an_output_is_refused() -> None:
    policy = replace(POLICY, limits=replace(POLICY.limits, output_characters=300))
    with pytest.raises(ProblemsError) as caught:
        cut_shards(many(5), RUNNERS, NO_PRIORITIES, policy, ShardContext(), with_canary=False)
    assert [problem.rule for problem in caught.value.problems] == ["limit-output"]


def test_a_runner_label_too_long_for_a_job_name_is_refused() -> None:
    with pytest.raises(ProblemsError) as caught:
        cut([row(replace(FIXED, runner="r" * 90))])
    assert [problem.rule for problem in caught.value.problems] == ["limit-name"]


@pytest.mark.parametrize(
    ("rows", "chosen"),
    [
        ([row(FIXED, 1), row(SHORT, 1)], 1),  # the same concurrency: 1k1k comes first in the pool
        ([row(FIXED, 1), row(SHORT, 2)], 0),  # the lowest concurrency wins over the family
        ([row(DISAGG, 1), row(FIXED, 64)], 1),  # multi-node fixed rows are in no pool
        ([row(FIXED, 1, eval_only=True), row(FIXED, 8)], 1),  # an accuracy run cannot be the canary
        ([row(AGENTIC, 2), row(FIXED, 4)], 0),
        ([row(FIXED, 4), row(SMALL, 4)], 0),  # the plan's order decides, not the order of starts
    ],
)
def test_the_canary(rows: list[Row], chosen: int) -> None:
    canary = cut(rows).canary
    assert canary is not None
    assert (canary.row, canary.family) == (rows[chosen], "canary")
    assert canary.name.startswith(f"{canary.id} · canary · cluster:h200-a · ")
    assert canary.id in {job.id for job in cut(rows).jobs}


def test_multi_node_agentic_rows_are_the_second_pool() -> None:
    deployment = replace(DISAGG, workload=AGENTIC.workload)
    assert cut([row(DISAGG, 1)]).canary is None
    canary = cut([row(DISAGG, 1), row(deployment, 8)]).canary
    assert canary is not None
    assert canary.row.recipe == deployment


def test_there_is_no_canary_without_a_request() -> None:
    assert cut(many(3), with_canary=False).canary is None


def test_cheap_failures_come_first() -> None:
    """First points of all recipes come before second points, cheap recipes first (4, 8, 32 GPUs)."""
    small = replace(FIXED, layout=Parallelism(tp=4))
    rows = [row(DISAGG, 16), row(FIXED, 2), row(FIXED, 1), row(small, 9), row(small, 7)]
    ordered = [rows[index] for index in order_rows(rows, POLICY.estimates)]
    assert ordered == [row(small, 7), row(FIXED, 1), row(DISAGG, 16), row(small, 9), row(FIXED, 2)]


def test_minutes_of_each_kind() -> None:
    estimates = Estimates(start_up=10, fixed=5, agentic_overhead=2, evaluation=7)
    assert estimate_minutes(row(FIXED, 1), estimates) == 15
    assert estimate_minutes(row(DISAGG, 1, 2, 4), estimates) == 25
    assert estimate_minutes(row(AGENTIC, 1), estimates) == 72  # 3,600 s
    assert estimate_minutes(row(DISAGG, 1, 2, eval_only=True), estimates) == 24


def test_the_load_of_a_label() -> None:
    estimates = Estimates(start_up=15, fixed=15, agentic_overhead=0, evaluation=0)
    rows = [row(FIXED, 1), row(FIXED, 2), row(DISAGG, 1), row(replace(FIXED, runner="unserved"), 1)]
    first, second = estimate_loads(rows, RUNNERS, estimates)
    assert (first.label, first.rows, first.gpus, first.nodes, first.runners) == (
        "cluster:h200-a",
        3,
        32,
        4,
        2,
    )
    assert first.gpu_hours == (8 + 8 + 32) * 0.5
    assert first.hours == 0.75  # three half hours over two runners
    assert (second.label, second.runners, second.hours) == ("unserved", 0, None)


def _stating(*settings: str) -> Recipe:
    assert isinstance(DISAGG.layout, Roles)
    prefill = replace(DISAGG.layout.prefill, additional_settings=settings)
    return replace(DISAGG, layout=replace(DISAGG.layout, prefill=prefill))


@pytest.mark.parametrize(
    ("recipe", "nodes"),
    [
        (FIXED, 1),
        (DISAGG, 4),  # 2 x 8 GPUs and 16 GPUs on nodes of 8
        (replace(DISAGG, node_count=7), 7),
        (replace(DISAGG, runner="cluster:h200-z"), 4),  # the family agrees on 8
        (replace(DISAGG, runner="cluster:gb200-a"), 8),
        (_stating("PREFILL_NODES=3"), 5),  # 3 as stated, 2 for decode
        (_stating("DECODE_NODES=03"), 5),  # 2 for prefill, 3 as stated, on either role
        (_stating("DECODE_NODES=12345", "PREFILL_NODES=1"), 12_346),
        (_stating("PREFILL_NODES=many"), 4),  # an invalid number is ignored
    ],
)
def test_nodes(recipe: Recipe, nodes: int) -> None:
    assert count_nodes(recipe, RUNNERS) == nodes


def test_disagreeing_clusters_of_a_family_describe_no_other_label() -> None:
    assert find_hardware("cluster:gb200-z", RUNNERS) is None


@pytest.mark.parametrize(
    ("scheduler", "labels"),
    [
        (None, "cluster:h200-a"),
        (Scheduler(attempt=2), ["self-hosted", "cluster:h200-a", "ci-job-1.000-TOKEN", "ci-attempt-2"]),
        (
            Scheduler(attempt=1, node_slots=True),
            ["self-hosted", "cluster:h200-a", "nodes:4", "ci-job-1.000-TOKEN", "ci-attempt-1"],
        ),
    ],
)
def test_a_scheduler_finds_score_token_and_nodes_in_the_labels(
    scheduler: Scheduler | None, labels: str | list[str]
) -> None:
    (job,) = cut([row(DISAGG, 4)]).jobs
    (found,) = json.loads(render_matrix([job], scheduler))
    wanted = (
        [label.replace("TOKEN", job.queue_token) for label in labels] if isinstance(labels, list) else labels
    )
    assert found["runs-on"] == wanted


@pytest.mark.parametrize(("on", "skips"), [((), None), (("skip_queue",), 77)])
def test_a_label_moves_a_pull_request_to_the_front(on: tuple[str, ...], skips: int | None) -> None:
    weights = replace(NO_PRIORITIES, skip_queue_label="skip_queue")
    occasion = ShardContext(labels=on, pull=77)
    (job,) = cut_shards([row()], RUNNERS, weights, POLICY, occasion, with_canary=False).jobs
    labels = list_runner_labels(job, Scheduler(attempt=1))
    assert ("ci-skip-queue-pr-77" in labels) is (skips == 77)


def test_the_folder_returns_the_jobs_of_the_shards() -> None:
    shards = cut([row(FIXED, 1), row(AGENTIC, 2), row(DISAGG, 4, 8), row(FIXED, 1)])
    files = {name: "".join(parts) for name, parts in render_folder(shards, "{}\n", POLICY, None, {}).items()}
    lines = files[JOBS].splitlines(keepends=True)
    assert tuple(read_jobs(lines)) == shards.jobs
    index = json.loads(files["index.json"])
    assert shards.canary is not None
    assert (index["rows"], index["shards"], index["canary"]) == (4, 1, shards.canary.id)
    for job in shards.jobs:
        assert find_job(lines, job.id) == job
    with pytest.raises(InfxError, match="The plan has no row 000000000000"):
        find_job(lines, "000000000000")


@given(
    st.lists(st.tuples(st.sampled_from([FIXED, SHORT, AGENTIC, DISAGG]), st.integers(1, 9)), max_size=40),
    st.integers(1, 7),
)
def test_properties_shards_partition_the_plan(points: list[tuple[Recipe, int]], size: int) -> None:
    """Every row is in exactly one shard, with a unique id and a unique result name, in any order."""
    rows = [row(recipe, conc) for recipe, conc in points]
    policy = replace(POLICY, limits=replace(POLICY.limits, matrix_rows=max(size, 7)))
    shards = cut_shards(rows, RUNNERS, NO_PRIORITIES, policy, ShardContext(), with_canary=True)
    key = lambda value: (value.conc, repr(value.recipe))  # noqa: E731 # rows have no order of their own
    assert sorted((job.row for job in shards.jobs), key=key) == sorted(rows, key=key)
    assert len({job.id for job in shards.jobs}) == len({job.result_name for job in shards.jobs}) == len(rows)
    parts = [[job for job in shards.jobs if job.shard == number] for number in range(shards.count)]
    assert sum(map(len, parts)) == len(rows)
    assert all(json.loads(render_matrix(part)) for part in parts)
