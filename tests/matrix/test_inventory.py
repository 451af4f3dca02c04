"""Checks of configurations against the inventory and each other: labels, memory, repeated points."""

from __future__ import annotations

import pytest

from infx.errors import Level, Problem, sort_problems
from infx.matrix.check import ConfigReport, File, Files, check_files
from infx.policy.load import default_policy
from tests.matrix.samples import AGGREGATED, CLUSTERS, DISAGG, HARDWARE, SINGLE, change

FIXED_ONLY = SINGLE[: SINGLE.index("    agentic-coding")]


def check(*masters: str, runners: str | None = HARDWARE) -> ConfigReport:
    files = tuple(
        File(path=f"{name}.yaml", data=text.encode()) for name, text in zip("abc", masters, strict=False)
    )
    inventory = None if runners is None else File(path="r.yaml", data=runners.encode())
    return check_files(Files(masters=files, runners=inventory), default_policy())


def words(report: ConfigReport, level: Level) -> list[str]:
    return [str(problem) for problem in sort_problems(report.problems) if problem.level is level]


def test_valid_files_have_no_problems() -> None:
    assert check(SINGLE + DISAGG + AGGREGATED).problems == ()
    assert check(SINGLE, runners=CLUSTERS).problems == ()


@pytest.mark.parametrize(
    ("master", "runners", "expected"),
    [
        pytest.param(
            change(FIXED_ONLY, "runner: cluster:h200-a", "runner: h200-nsacle"),
            change(HARDWARE, "  gb200: [", "  h200-nscale: [h200-a_0]\n  gb200: ["),
            'a.yaml:7: m1-fp8-h200-vllm.runner: r.yaml has no runner label "h200-nsacle". '
            "Did you mean h200-nscale?",
            id="a typing error",
        ),
        pytest.param(
            change(SINGLE, "runner: cluster:h200-a", "runner: cluster:h200-aa"),
            HARDWARE,
            'a.yaml:7: m1-fp8-h200-vllm.runner: r.yaml has no runner label "cluster:h200-aa". '
            "Did you mean cluster:h200-a or cluster:gb200-a?",
            id="a cluster",
        ),
        pytest.param(
            change(FIXED_ONLY, "runner: cluster:h200-a", "runner: h200-a"),
            HARDWARE,
            'a.yaml:7: m1-fp8-h200-vllm.runner: r.yaml has no runner label "h200-a". Did you mean cluster:h200-a?',
            id="a cluster without its prefix",
        ),
        pytest.param(
            change(FIXED_ONLY, "runner: cluster:h200-a", "runner: tpu"),
            HARDWARE,
            'a.yaml:7: m1-fp8-h200-vllm.runner: r.yaml has no runner label "tpu". Name a label of r.yaml.',
            id="no similar label",
        ),
        pytest.param(
            SINGLE,
            change(HARDWARE, "  cluster:h200-a: {gpus-per-node: 8, available-cpu-dram-mib: 2063837}\n", ""),
            'a.yaml:7: m1-fp8-h200-vllm.runner: "cluster:h200-a" has no hardware record in r.yaml; kv-offloading: '
            "dram on line 20 needs it for its memory budget. Add it there, or use a label that has one: cluster:gb200-a.",
            id="no hardware",
        ),
        pytest.param(
            SINGLE,
            change(HARDWARE, ", available-cpu-dram-mib: 2063837", ""),
            'a.yaml:7: m1-fp8-h200-vllm.runner: "cluster:h200-a" has no available-cpu-dram-mib in r.yaml; '
            "kv-offloading: dram on line 20 needs it for its memory budget. Add it there, or use a label that has "
            "one: cluster:gb200-a.",
            id="no memory",
        ),
        pytest.param(
            SINGLE,
            HARDWARE[: HARDWARE.index("hardware:")],
            'a.yaml:7: m1-fp8-h200-vllm.runner: "cluster:h200-a" has no hardware record in r.yaml; kv-offloading: '
            "dram on line 20 needs it for its memory budget. Add it there; no label has one.",
            id="no hardware anywhere",
        ),
        pytest.param(
            change(SINGLE, "{tp: 4, kv-offloading: dram", "{tp: 8, pp: 2, kv-offloading: dram"),
            HARDWARE,
            "a.yaml:20: m1-fp8-h200-vllm.scenarios.agentic-coding[0].search-space[1]: the engine takes 16 GPUs; a "
            "node of cluster:h200-a has 8. Lower tp, pp or pcp-size, or set multinode: true.",
            id="more GPUs than a node has",
        ),
        pytest.param(
            change(SINGLE, "{tp: 4, kv-offloading: dram", "{tp: 5, kv-offloading: dram"),
            HARDWARE,
            "a.yaml:20: m1-fp8-h200-vllm.scenarios.agentic-coding[0].search-space[1]: an engine of 5 GPUs does not "
            "divide a node of 8 evenly.",
            id="five of eight GPUs",
        ),
        pytest.param(
            change(SINGLE, "{tp: 4, kv-offloading: dram", "{tp: 3, pp: 2, kv-offloading: dram"),
            HARDWARE,
            "a.yaml:20: m1-fp8-h200-vllm.scenarios.agentic-coding[0].search-space[1]: an engine of 6 GPUs does not "
            "divide a node of 8 evenly.",
            id="six of eight GPUs",
        ),
        pytest.param(
            change(
                DISAGG, "        prefill: {num-worker: 1, tp: 8}", "        prefill: {num-worker: 1, tp: 6}"
            ),
            HARDWARE,
            "a.yaml:33: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0]: a replica of 6 GPUs "
            "does not fill whole nodes of 4.",
            id="a node and a half",
        ),
        pytest.param(
            change(
                DISAGG, "        prefill: {num-worker: 1, tp: 8}", "        prefill: {num-worker: 1, tp: 3}"
            ),
            HARDWARE,
            "a.yaml:33: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0]: a replica of 3 GPUs "
            "does not divide a node of 4 evenly.",
            id="three of four GPUs",
        ),
    ],
)
def test_runners_must_exist_and_have_the_memory(master: str, runners: str, expected: str) -> None:
    assert words(check(master, runners=runners), Level.ERROR) == [expected]


def test_hardware_is_needed_only_for_a_memory_budget() -> None:
    bare = HARDWARE[: HARDWARE.index("hardware:")]
    assert check(FIXED_ONLY + AGGREGATED, runners=bare).problems == ()


OVERSIZE = [
    ("{tp: 8, conc-list: [4, 64]}", "{tp: 16, conc-list: [4]}", "the engine takes 16 GPUs", 15),
    ("{tp: 8, conc-list: [4, 64]}", "{tp: 4, pp: 4, conc-list: [4]}", "the engine takes 16 GPUs", 15),
    ("{tp: 8, conc-list: [4, 64]}", "{tp: 3, pcp-size: 3, conc-list: [4]}", "the engine takes 9 GPUs", 15),
    ("{tp: 8, kv-offloading: none", "{tp: 9, kv-offloading: none", "the engine takes 9 GPUs", 19),
    # decode context parallelism shares the GPUs of tp
    ("{tp: 8, conc-list: [4, 64]}", "{tp: 8, dcp-size: 8, conc-list: [4]}", None, None),
    (
        "{tp: 8, conc-list: [4, 64]}",
        "{tp: 5, conc-list: [4]}",
        None,
        None,
    ),  # without offload, the share of a node does not matter
]


@pytest.mark.parametrize(("old", "new", "message", "line"), OVERSIZE)
def test_an_engine_of_one_node_fits_a_node(old: str, new: str, message: str | None, line: int | None) -> None:
    problems = check(change(SINGLE, old, new)).problems
    assert [problem.line for problem in problems] == ([line] if line else [])
    assert all(problem.rule == "node-size" and str(message) in problem.message for problem in problems)
    assert all(problem.level is Level.ERROR for problem in problems)


@pytest.mark.parametrize(
    ("label", "records", "fits"),
    [
        ("h200", "cluster:h200-a: {gpus-per-node: 8}", False),  # the family's clusters agree
        ("h200", "cluster:h200-a: {gpus-per-node: 16}", True),
        ("h200", "cluster:h200-a: {gpus-per-node: 8}, h200: {gpus-per-node: 16}", True),
        ("h200", "cluster:gb200-a: {gpus-per-node: 4}", True),  # the family has no record
    ],
)
def test_a_label_without_a_record_uses_the_nodes_of_its_family(label: str, records: str, fits: bool) -> None:
    master = change(FIXED_ONLY, "runner: cluster:h200-a", f"runner: {label}").replace("tp: 8", "tp: 16")
    inventory = HARDWARE[: HARDWARE.index("hardware:")] + f"hardware: {{{records}}}\n"
    assert [problem.rule for problem in check(master, runners=inventory).problems] == ["node-size"] * (
        not fits
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            change(AGGREGATED, "num-nodes: 2", "num-nodes: 1"),
            "worker takes 8 GPUs; a node of gb200 has 4. Lower tp, pp or pcp-size, or state more nodes.",
        ),
        (
            change(AGGREGATED, "worker: {tp: 8, pp: 1}", "worker: {tp: 8, num-worker: 2}"),
            "worker takes 16 GPUs; 2 nodes of gb200 have 8. Lower tp, pp or pcp-size, or state more nodes.",
        ),
        (
            change(DISAGG, "          tp: 4\n", "          tp: 8\n"),  # with PREFILL_NODES=1
            "prefill takes 8 GPUs; a node of cluster:gb200-a has 4. Lower tp, pp or pcp-size, or state more nodes.",
        ),
        (change(DISAGG, '          - "PREFILL_NODES=1"\n', ""), None),  # as many as it needs
        (
            change(
                change(DISAGG, "          tp: 4\n", "          tp: 8\n          hardware: h200\n"),
                "          num-worker: 2\n",
                "          num-worker: 2\n          hardware: gb200\n",
            ),
            None,  # the role runs on other hardware
        ),
    ],
)
def test_stated_nodes_hold_their_engines(text: str, message: str | None) -> None:
    errors = words(check(text), Level.ERROR)
    assert [line.partition("]: ")[2] for line in errors] == ([message] if message else [])


def test_a_moving_image_is_a_warning() -> None:
    report = check(change(SINGLE, "vllm-openai:v0.20.0", "vllm-openai:latest"))
    assert words(report, Level.ERROR) == []
    assert words(report, Level.WARNING) == [
        'a.yaml:2: m1-fp8-h200-vllm.image: found "vllm/vllm-openai:latest"; the tag "latest" moves, so its results '
        "cannot be reproduced. Name a release, or add its digest (@sha256:…)."
    ]
    assert [config.rows for config in report.configs] == [10]  # the rows are still planned


def test_a_hint_names_only_some_of_many_labels() -> None:
    clusters = [f"cluster:x{number:02}" for number in range(25)]
    labels = "".join(f"  {label}: [r]\n" for label in clusters)
    records = "".join(f"  {label}: {{gpus-per-node: 8, available-cpu-dram-mib: 9}}\n" for label in clusters)
    inventory = f"labels:\n  cluster:h200-a: [r]\n{labels}hardware:\n{records}"
    (error,) = words(check(SINGLE, runners=inventory), Level.ERROR)
    assert error.endswith("cluster:x18, cluster:x19 and 5 more.")


def test_a_record_that_no_label_uses_is_a_warning() -> None:
    report = check(SINGLE, runners=HARDWARE + "  cluster:h100-x: {gpus-per-node: 8}\n")
    assert words(report, Level.ERROR) == []
    assert [line.partition(": ")[0] for line in words(report, Level.WARNING)] == ["r.yaml:9"]


def test_an_inventory_without_labels_has_no_runners() -> None:
    report = check(SINGLE, runners="labels: {}\n")
    assert words(report, Level.ERROR) == [
        'a.yaml:7: m1-fp8-h200-vllm.runner: r.yaml has no runner label "cluster:h200-a". Name a label of r.yaml.'
    ]


def test_an_invalid_inventory_does_not_make_every_label_unknown() -> None:
    report = check(SINGLE, runners="labels: 1\n")
    assert words(report, Level.ERROR) == ["r.yaml:1: labels: found 1; expected a mapping."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            # conc-start 4 to 64 is 4, 8, 16, 32, 64; an omitted ep is 1.
            change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 4, dp-attn: false, conc-list: [12, 64, 16]}"),
            "a.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1]: measures concurrency 16 and "
            "64, as search-space[0] on line 14 does with the same topology. Keep each concurrency in one of the "
            "blocks; the second is dropped.",
            id="a list and a range",
        ),
        pytest.param(
            change(
                SINGLE,
                "    agentic-coding:\n",
                "    - isl: 8192\n      osl: 1024\n      search-space:\n"
                "      - {tp: 8, conc-list: [64]}\n    agentic-coding:\n",
            ),
            "a.yaml:19: m1-fp8-h200-vllm.scenarios.fixed-seq-len[1].search-space[0]: measures concurrency 64, as "
            "fixed-seq-len[0].search-space[1] on line 15 does with the same topology. Keep each concurrency in one "
            "of the blocks; the second is dropped.",
            id="two scenarios of the same lengths",
        ),
        pytest.param(
            change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, conc-list: [4, 64, 4]}"),
            "a.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].conc-list: names 4 more than "
            "once. Keep each concurrency once; the others are dropped.",
            id="one list",
        ),
        pytest.param(
            change(
                AGGREGATED,
                "      - conc-list: [8]\n",
                "      - conc-list: [8, 2]\n        decode: {num-worker: 0, tp: 8}\n"
                "        prefill: {num-worker: 1, tp: 8}\n      - conc-list: [2, 4]\n",
            ),
            "a.yaml:24: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space[2]: measures concurrency "
            "2, as search-space[1] on line 21 does with the same topology. Keep each concurrency in one of the "
            "blocks; the second is dropped.",
            id="several nodes",
        ),
    ],
)
def test_points_measured_twice_are_named_by_block(text: str, expected: str) -> None:
    report = check(text)
    assert words(report, Level.WARNING) == [expected]
    assert words(report, Level.ERROR) == []


@pytest.mark.parametrize(
    "row",
    [
        "{tp: 4, ep: 4, conc-list: [64]}",
        "{tp: 4, dcp-size: 2, conc-list: [64]}",
        "{tp: 4, spec-decoding: mtp, conc-list: [64]}",
        '{tp: 4, router: {name: r, version: "1"}, conc-list: [64]}',
        "{tp: 4, srt-recipe: a.yaml, conc-list: [64]}",
        "{tp: 4, conc-list: [12]}",
    ],
)
def test_another_topology_is_another_point(row: str) -> None:
    assert check(change(SINGLE, "{tp: 8, conc-list: [4, 64]}", row)).problems == ()


def test_a_share_of_memory_matters_only_with_offload() -> None:
    second = "    - dram-utilization: 0.5\n      search-space:\n"
    offloaded = "      - {tp: 4, kv-offloading: dram, kv-offload-backend: {name: hicache}, conc-list: [16]}\n"
    plain = "      - {tp: 8, kv-offloading: none, conc-list: [8]}\n"
    assert check(SINGLE + second + offloaded).problems == ()
    assert [problem.rule for problem in check(SINGLE + second + plain).problems] == ["points-overlap"]


def test_the_same_rows_under_another_key_are_a_warning() -> None:
    other = change(FIXED_ONLY, "m1-fp8-h200-vllm:", "m1-again:").replace("[4, 64]", "[64, 96]")
    assert words(check(FIXED_ONLY, other), Level.WARNING) == [
        "b.yaml:14: m1-again.scenarios.fixed-seq-len[0].search-space[0]: measures concurrency 4, 8, 16, 32 and 64, "
        "as m1-fp8-h200-vllm does at a.yaml:14: the same rows. Both run when both configurations are planned.",
        "b.yaml:15: m1-again.scenarios.fixed-seq-len[0].search-space[1]: measures concurrency 64, as "
        "m1-fp8-h200-vllm does at a.yaml:15: the same rows. Both run when both configurations are planned.",
    ]


def test_a_key_in_two_files_is_a_single_error_with_both_lines() -> None:
    assert check(AGGREGATED + SINGLE, SINGLE).problems == (
        Problem(
            rule="config-key-repeated",
            message="m1-fp8-h200-vllm: the key is also in a.yaml:24. A key names one configuration.",
            path="b.yaml",
            line=1,
            hint="Rename one of them.",
        ),
    )


def test_many_equal_rows_are_checked_in_linear_time() -> None:
    rows = "      - {tp: 4, ep: 1, conc-list: [64]}\n" * 3000
    report = check(FIXED_ONLY + rows)
    assert len(report.problems) == 3000


def test_a_long_repeated_list_is_shortened_in_linear_time() -> None:
    twice = ", ".join(map(str, [*range(1, 20_001), *range(1, 20_001)]))
    (warning,) = check(
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", f"{{tp: 2, conc-list: [{twice}]}}")
    ).problems
    assert warning.message.endswith(
        "names 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 and 19,984 others more than once."
    )


def test_a_summary_counts_rows_and_errors() -> None:
    report = check(
        SINGLE
        + DISAGG
        + AGGREGATED
        + change(FIXED_ONLY, "m1-fp8-h200-vllm:", "m9:").replace("tp: 8", "tp: x")
    )
    single, disagg, aggregated, broken = report.configs
    # 4, 8, 16, 32, 64 and 4, 64; then 1, 8 and 16.
    assert (single.scenarios, single.rows, single.errors) == (("8k1k", "agentic-coding"), 10, 0)
    # A fixed multi-node list is one job; each AgentX point is a job.
    assert (disagg.rows, aggregated.rows) == (2, 2)
    assert (broken.key, broken.model_prefix, broken.rows, broken.errors) == ("m9", "m1", None, 1)
    assert broken.line == (SINGLE + DISAGG + AGGREGATED).count("\n") + 1
