"""Configurations whose fields contradict each other: the whole message, path and line of each."""

from __future__ import annotations

import pytest

from infx.errors import sort_problems
from infx.matrix.parse import parse_master
from infx.matrix.row_rules import ROW_RULES
from infx.matrix.rules import CONFIG_RULES, SCENARIO_RULES
from tests.matrix.samples import AGGREGATED, DISAGG, SINGLE, change

WRONG = [
    (
        "image",
        change(SINGLE, "vllm/vllm-openai:v0.20.0", "VLLM/vllm-openai:v0.20.0"),
        [
            'c.yaml:2: m1-fp8-h200-vllm.image: found "VLLM/vllm-openai:v0.20.0"; the repository "VLLM/vllm-openai" has capital letters. Write "vllm/vllm-openai".'
        ],
    ),
    (
        "no-scenario",
        AGGREGATED[: AGGREGATED.index("    fixed-seq-len:\n")] + "    fixed-seq-len: []\n",
        [
            "c.yaml:10: m3-fp8-gb200-dynamo-vllm.scenarios: nothing to measure; expected at least one scenario under fixed-seq-len or agentic-coding."
        ],
    ),
    (
        "disagg-single",
        change(SINGLE, "  multinode: false", "  multinode: false\n  disagg: true"),
        [
            "c.yaml:9: m1-fp8-h200-vllm.disagg: found true; a configuration with multinode: false runs prefill and decode together. Set multinode: true or remove disagg."
        ],
    ),
    (
        "transfer-single",
        change(SINGLE, "  multinode: false", "  multinode: false\n  kv-p2p-transfer: nixl"),
        [
            "c.yaml:9: m1-fp8-h200-vllm.kv-p2p-transfer: a single node does not transfer KV cache; expected only with multinode: true. Remove it."
        ],
    ),
    (
        "transfer-single-row",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, conc-list: [4, 64], kv-p2p-transfer: nixl}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].kv-p2p-transfer: a single node does not transfer KV cache; expected only with multinode: true. Remove it."
        ],
    ),
    (
        "transfer-missing",
        change(DISAGG, "  kv-p2p-transfer: nixl\n", ""),
        [
            "c.yaml:1: m2-fp4-gb200-dynamo-trt: disagg: true needs kv-p2p-transfer, here or on every row. Name the transfer engine, such as kv-p2p-transfer: nixl."
        ],
    ),
    (
        "transfer-some",
        change(
            change(DISAGG, "  kv-p2p-transfer: nixl\n", ""),
            "        spec-decoding: mtp\n",
            "        spec-decoding: mtp\n        kv-p2p-transfer: nixl\n",
        ),
        [
            "c.yaml:33: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0]: kv-p2p-transfer is missing; with disagg: true it is required on every row or at the top. Name the transfer engine on this row too, or once at the top."
        ],
    ),
    (
        "transfer-both",
        change(
            DISAGG,
            "        spec-decoding: mtp\n",
            "        spec-decoding: mtp\n        kv-p2p-transfer: ucx\n",
        ),
        [
            "c.yaml:9: m2-fp4-gb200-dynamo-trt.kv-p2p-transfer: is set here and on the row on line 17; expected at one level. Keep it at the top if all rows share it, else give each row its own."
        ],
    ),
    (
        "router-both",
        change(
            DISAGG,
            "        spec-decoding: mtp\n",
            '        spec-decoding: mtp\n        router: {name: r, version: "1"}\n',
        ),
        [
            "c.yaml:8: m2-fp4-gb200-dynamo-trt.router: is set here and on the row on line 17; expected at one level. Keep it at the top if all rows share it, else give each row its own."
        ],
    ),
    (
        "agentic-runner",
        change(SINGLE, "runner: cluster:h200-a", "runner: h200"),
        [
            'c.yaml:7: m1-fp8-h200-vllm.runner: found "h200"; AgentX needs a cluster:<id> label, because its memory budget is that of one cluster\'s nodes. Use the label of a cluster.'
        ],
    ),
    (
        "single-worker",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{worker: {tp: 8}, num-nodes: 2, conc-list: [4, 64]}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].worker: the row has worker and num-nodes; with multinode: false a row must have tp."
        ],
    ),
    (
        "single-roles",
        change(
            SINGLE,
            "{tp: 8, conc-list: [4, 64]}",
            "{tp: 8, prefill: {num-worker: 1, tp: 8}, decode: {num-worker: 1, tp: 8}, conc-list: [4, 64]}",
        ),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].prefill: the row has tp, prefill and decode; with multinode: false a row must have tp."
        ],
    ),
    (
        "single-nodes",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, num-nodes: 2, conc-list: [4, 64]}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].num-nodes: the row has tp and num-nodes; with multinode: false a row must have tp."
        ],
    ),
    (
        "single-none",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{conc-list: [4, 64]}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1]: the row has no engine; with multinode: false a row must have tp."
        ],
    ),
    (
        "disagg-half",
        change(DISAGG, "        decode: {num-worker: 1, tp: 8, dcp-size: 8}\n", ""),
        [
            "c.yaml:33: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0]: the row has prefill; with disagg: true a row must have prefill with decode."
        ],
    ),
    (
        "disagg-worker",
        change(
            DISAGG,
            "        decode: {num-worker: 1, tp: 8, dcp-size: 8}\n",
            "        decode: {num-worker: 1, tp: 8, dcp-size: 8}\n        worker: {tp: 8}\n",
        ),
        [
            "c.yaml:38: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0].worker: the row has worker, prefill and decode; with disagg: true a row must have prefill with decode."
        ],
    ),
    (
        "disagg-nodes",
        change(
            DISAGG,
            "        decode: {num-worker: 1, tp: 8, dcp-size: 8}\n",
            "        decode: {num-worker: 1, tp: 8, dcp-size: 8}\n        num-nodes: 4\n",
        ),
        [
            "c.yaml:38: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0].num-nodes: the row has prefill, decode and num-nodes; with disagg: true a row must have prefill with decode."
        ],
    ),
    (
        "disagg-tp",
        change(
            DISAGG,
            "        decode: {num-worker: 1, tp: 8, dcp-size: 8}\n",
            "        decode: {num-worker: 1, tp: 8, dcp-size: 8}\n        tp: 8\n        pp: 2\n",
        ),
        [
            "c.yaml:38: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0].tp: the row has tp, prefill and decode; with disagg: true a row must have prefill with decode."
        ],
    ),
    (
        "agg-no-nodes",
        change(AGGREGATED, "      - num-nodes: 2\n        srt", "      - srt"),
        [
            "c.yaml:16: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space[0]: the row has worker; with multinode: true without disagg a row must have worker with num-nodes or prefill with decode."
        ],
    ),
    (
        "agg-mixed",
        change(
            AGGREGATED,
            "        worker: {tp: 8, pp: 1}\n",
            "        worker: {tp: 8, pp: 1}\n        prefill: {num-worker: 1, tp: 8}\n",
        ),
        [
            "c.yaml:16: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space[0]: the row has worker, prefill and num-nodes; with multinode: true without disagg a row must have worker with num-nodes or prefill with decode."
        ],
    ),
    (
        "agg-roles-nodes",
        change(AGGREGATED, "      - conc-list: [8]\n", "      - conc-list: [8]\n        num-nodes: 2\n"),
        [
            "c.yaml:21: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space[1]: the row has prefill, decode and num-nodes; with multinode: true without disagg a row must have worker with num-nodes or prefill with decode."
        ],
    ),
    (
        "agg-engine",
        change(
            AGGREGATED,
            "        prefill: {num-worker: 1, tp: 8}\n        decode: {num-worker: 0, tp: 8}\n",
            "        tp: 8\n",
        ),
        [
            "c.yaml:22: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space[1].tp: the row has tp; with multinode: true without disagg a row must have worker with num-nodes or prefill with decode."
        ],
    ),
    (
        "conc-both",
        change(
            SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, conc-list: [4, 64], conc-start: 4, conc-end: 64}"
        ),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].conc-start: the row has conc-list and conc-start and conc-end; expected either conc-list or conc-start with conc-end. Keep one of the two forms."
        ],
    ),
    (
        "conc-none",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1]: the row names no concurrency; expected either conc-list or conc-start with conc-end."
        ],
    ),
    (
        "conc-half",
        change(SINGLE, "conc-start: 4, conc-end: 64", "conc-end: 64"),
        [
            "c.yaml:14: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[0]: the row has only conc-end; expected either conc-list or conc-start with conc-end."
        ],
    ),
    (
        "conc-list-end",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, conc-list: [4, 64], conc-end: 64}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].conc-end: the row has conc-list and conc-end; expected either conc-list or conc-start with conc-end. Keep one of the two forms."
        ],
    ),
    (
        "conc-reversed",
        change(SINGLE, "conc-start: 4, conc-end: 64", "conc-start: 128, conc-end: 64"),
        [
            "c.yaml:14: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[0].conc-start: conc-start 128 is more than conc-end 64; expected at most 64."
        ],
    ),
    (
        "power-row",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, power: true, conc-list: [4, 64]}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].power: power of a fixed-seq-len row can be measured only with multinode: true. Remove it."
        ],
    ),
    (
        "require-power",
        change(AGGREGATED, "isl: 8192", "isl: 1024"),
        [
            "c.yaml:14: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].require-power: power can be required for isl 8192 and osl 1024 only; found isl 1024 and osl 1024. Remove it."
        ],
    ),
    (
        "offload-missing",
        change(SINGLE, "{tp: 8, kv-offloading: none, conc-list: [1, 8]}", "{tp: 8, conc-list: [1, 8]}"),
        [
            "c.yaml:19: m1-fp8-h200-vllm.scenarios.agentic-coding[0].search-space[0]: kv-offloading is missing; an AgentX row on one node needs none or dram. Add kv-offloading: none, or dram with a kv-offload-backend."
        ],
    ),
    (
        "backend-missing",
        change(SINGLE, "kv-offload-backend: {name: hicache}, ", ""),
        [
            "c.yaml:20: m1-fp8-h200-vllm.scenarios.agentic-coding[0].search-space[1].kv-offloading: kv-offloading: dram needs a kv-offload-backend. Name the backend that stores the KV cache, such as kv-offload-backend: {name: hicache}."
        ],
    ),
    (
        "backend-unused",
        change(SINGLE, "kv-offloading: dram", "kv-offloading: none"),
        [
            "c.yaml:20: m1-fp8-h200-vllm.scenarios.agentic-coding[0].search-space[1].kv-offload-backend: a backend needs kv-offloading: dram; it is none. Set kv-offloading: dram or remove the backend."
        ],
    ),
    (
        "backend-no-offload",
        change(DISAGG, "        kv-offloading: dram\n", ""),
        [
            "c.yaml:34: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0].kv-offload-backend: a backend needs kv-offloading: dram; it is not set. Set kv-offloading: dram or remove the backend."
        ],
    ),
    (
        "utilization-missing",
        change(SINGLE, "    - dram-utilization: 0.80\n      search", "    - search"),
        [
            "c.yaml:17: m1-fp8-h200-vllm.scenarios.agentic-coding[0]: dram-utilization is missing; kv-offloading: dram on line 19 needs it. Give the share of a node's DRAM that may be used, such as dram-utilization: 0.80."
        ],
    ),
    (
        "dcp-single",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, dcp-size: 3, conc-list: [4, 64]}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].dcp-size: dcp-size 3 does not divide tp 8."
        ],
    ),
    (
        "dcp-decode",
        change(DISAGG, "dcp-size: 8", "dcp-size: 16"),
        [
            "c.yaml:37: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0].decode.dcp-size: dcp-size 16 does not divide tp 8."
        ],
    ),
    (
        "hardware-half",
        change(
            DISAGG,
            "        prefill: {num-worker: 1, tp: 8}",
            "        prefill: {num-worker: 1, tp: 8, hardware: h200}",
        ),
        [
            "c.yaml:36: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0].prefill.hardware: only prefill names its hardware; expected on both roles or on none."
        ],
    ),
    (
        "reserved",
        change(DISAGG, '"PREFILL_NODES=1"', '"SRT_RECIPE=a.yaml"'),
        [
            "c.yaml:26: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[1]: SRT_RECIPE is set by the launcher; expected srt-recipe and eval-srt-recipe on the row. Move it there."
        ],
    ),
    (
        "runner-setting",
        change(DISAGG, '"PREFILL_NODES=1"', '"LD_PRELOAD=a.so"'),
        [
            "c.yaml:26: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[1]: LD_PRELOAD belongs to the runner that the row runs on. Choose another name."
        ],
    ),
    (
        "name-of-results",
        change(DISAGG, '"PREFILL_NODES=1"', '"RESULT_FILENAME=other"'),
        [
            "c.yaml:26: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[1]: RESULT_FILENAME belongs to the runner that the row runs on. Choose another name."
        ],
    ),
    (
        "mixed-recipe",
        change(
            DISAGG,
            "        spec-decoding: mtp\n",
            "        spec-decoding: mtp\n        srt-recipe: low.yaml\n",
        ),
        [
            "c.yaml:26: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[0]: CONFIG_FILE names a recipe in the older form, but srt-recipe belongs to the newer; use only one of the two. Move the recipe to srt-recipe or eval-srt-recipe."
        ],
    ),
    (
        "mixed-worker",
        change(
            AGGREGATED,
            "worker: {tp: 8, pp: 1}",
            'worker: {tp: 8, additional-settings: ["EVAL_CONFIG_FILE=a.yaml"]}',
        ),
        [
            "c.yaml:20: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space[0].worker.additional-settings[0]: EVAL_CONFIG_FILE names a recipe in the older form, but srt-recipe belongs to the newer; use only one of the two. Move the recipe to srt-recipe or eval-srt-recipe."
        ],
    ),
    (
        "nodes-zero",
        change(DISAGG, '"PREFILL_NODES=1"', '"PREFILL_NODES=0"'),
        [
            'c.yaml:26: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[1]: PREFILL_NODES is "0"; expected a number of nodes from 1 to 99999.'
        ],
    ),
    (
        "nodes-text",
        change(DISAGG, '"PREFILL_NODES=1"', '"PREFILL_NODES=two"'),
        [
            'c.yaml:26: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[1]: PREFILL_NODES is "two"; expected a number of nodes from 1 to 99999.'
        ],
    ),
    (
        "nodes-differ",
        change(
            DISAGG,
            '          - "PREFILL_NODES=1"\n',
            '          - "PREFILL_NODES=1"\n          - "PREFILL_NODES=2"\n',
        ),
        [
            "c.yaml:27: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[2]: PREFILL_NODES is 2 here and 1 before; expected one value."
        ],
    ),
    (
        "several",
        change(
            SINGLE,
            "{tp: 8, conc-list: [4, 64]}",
            "{tp: 8, conc: 4}\n      - {tp: 4, dcp-size: 3, conc-list: [1]}",
        ),
        [
            'c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1]: unknown key "conc". Known keys: conc-end, conc-list, conc-start, dcp-size, decode, dp-attn, ep, eval-srt-recipe, kv-p2p-transfer, num-nodes, pcp-size, power, pp, prefill, router, spec-decoding, srt-recipe, tp, worker. Did you mean conc-end or conc-list?',
            "c.yaml:16: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[2].dcp-size: dcp-size 3 does not divide tp 4.",
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(*case[1:], id=case[0]) for case in WRONG])
def test_contradictions_have_a_whole_message(text: str, expected: list[str]) -> None:
    file = parse_master(text.encode(), "c.yaml")
    assert [str(problem) for problem in sort_problems(file.problems)] == expected
    assert not file.configs


def test_every_rule_has_a_case() -> None:
    covered = {
        problem.rule for case in WRONG for problem in parse_master(case[1].encode(), "c.yaml").problems
    }
    ids = {rule.id for rule in CONFIG_RULES} | {rule.id for rule in SCENARIO_RULES}
    assert ids | {rule.id for rule in ROW_RULES} <= covered


@pytest.mark.parametrize(
    ("text"),
    [
        pytest.param(SINGLE, id="one node"),
        pytest.param(DISAGG, id="prefill and decode apart"),
        pytest.param(AGGREGATED, id="both forms of aggregated rows"),
        pytest.param(
            change(
                DISAGG,
                '          - "PREFILL_NODES=1"\n',
                '          - "PREFILL_NODES=1"\n          - "PREFILL_NODES=1"\n',
            ),
            id="the same number of nodes twice",
        ),
        pytest.param(
            change(
                change(AGGREGATED, "framework: dynamo-vllm", "framework: llmd-vllm"),
                "worker: {tp: 8, pp: 1}",
                'worker: {tp: 8, additional-settings: ["CONFIG_FILE=a.yaml"]}',
            ),
            id="the engine that reads CONFIG_FILE itself",
        ),
        pytest.param(
            change(
                change(DISAGG, "  kv-p2p-transfer: nixl\n", ""),
                "        spec-decoding: mtp\n",
                "        spec-decoding: mtp\n        kv-p2p-transfer: nixl\n",
            ).replace("      - conc-list: [1]\n", "      - conc-list: [1]\n        kv-p2p-transfer: ucx\n"),
            id="a transfer engine on every row",
        ),
        pytest.param(
            change(
                DISAGG,
                "        prefill: {num-worker: 1, tp: 8}\n        decode: {num-worker: 1, tp: 8, dcp-size: 8}\n",
                "        prefill: {num-worker: 1, tp: 8, hardware: h200}\n"
                "        decode: {num-worker: 1, tp: 8, dcp-size: 8, hardware: b200}\n",
            ),
            id="hardware on both roles",
        ),
        pytest.param(
            change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, dcp-size: 4, conc-list: [4]}"), id="dcp"
        ),
    ],
)
def test_allowed_configurations_pass(text: str) -> None:
    assert not parse_master(text.encode(), "c.yaml").problems
