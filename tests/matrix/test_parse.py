"""Configuration files with a wrong structure: the whole message, path and line of each problem."""

from __future__ import annotations

import pytest

from infx.bench.config import Concurrency, KvOffloading, SpecDecoding
from infx.errors import sort_problems
from infx.matrix.parse import parse_master
from tests.matrix.samples import AGGREGATED, DISAGG, SINGLE, change

WRONG = [
    (
        "not-yaml",
        change(SINGLE, "  model: acme/m1", "  model: [acme/m1"),
        ["c.yaml:4: This is not YAML: while parsing a flow sequence, did not find expected ',' or ']'."],
    ),
    ("list-root", "- m1\n", ["c.yaml:1: The file holds a list; expected a mapping."]),
    ("empty", "", ["c.yaml:1: The file holds nothing; expected a mapping."]),
    (
        "tab",
        change(SINGLE, "  model: acme/m1", "\tmodel: acme/m1"),
        [
            "c.yaml:3: This is not YAML: while scanning a plain scalar, found a tab character that violates indentation. Indent with spaces instead of tabs."
        ],
    ),
    (
        "duplicate-key",
        change(SINGLE, "  precision: fp8\n", "  precision: fp8\n  precision: fp4\n"),
        ['c.yaml:6: The key "precision" occurs twice, on lines 5 and 6. Keep one of them.'],
    ),
    (
        "duplicate-entry",
        SINGLE + "m1-fp8-h200-vllm: {}\n",
        ['c.yaml:21: The key "m1-fp8-h200-vllm" occurs twice, on lines 1 and 21. Keep one of them.'],
    ),
    (
        "two-documents",
        SINGLE + "---\na: 1\n",
        ["c.yaml:21: A second document starts here; expected one. Remove the line with ---."],
    ),
    (
        "merge-key",
        change(SINGLE, "  precision: fp8\n", "  precision: fp8\n  <<: {image: x}\n"),
        ["c.yaml:6: Merge keys (<<) are not YAML 1.2. Write the values out."],
    ),
    (
        "number-key",
        change(SINGLE, "m1-fp8-h200-vllm:", "1:"),
        ['c.yaml:1: The key 1 is not text. Write "1".'],
    ),
    (
        "star",
        change(SINGLE, "m1-fp8-h200-vllm:", "m1-*-vllm:"),
        [
            "c.yaml:1: m1-*-vllm: a key contains *, which matches any text where a changelog names keys. Choose a key without *."
        ],
    ),
    (
        "control-key",
        change(SINGLE, "m1-fp8-h200-vllm:", '"m1\\nvllm":'),
        ['c.yaml:1: "m1\\nvllm": found "m1\\nvllm"; expected text on one line, not empty.'],
    ),
    (
        "question-mark",
        change(SINGLE, "m1-fp8-h200-vllm:", "m1-fp?-vllm:"),
        [
            "c.yaml:1: m1-fp?-vllm: a key contains ?, which matches any character where a changelog names keys. Choose a key without ?."
        ],
    ),
    (
        "blank-text",
        change(SINGLE, "  precision: fp8", '  precision: " "'),
        ['c.yaml:5: m1-fp8-h200-vllm.precision: found " "; expected text on one line, not empty.'],
    ),
    (
        "invisible-line-break",
        change(SINGLE, "  precision: fp8", '  precision: "fp\\x858"'),
        ['c.yaml:5: m1-fp8-h200-vllm.precision: found "fp\\x858"; expected text on one line, not empty.'],
    ),
    (
        "huge-number",
        change(SINGLE, "isl: 8192", "isl: 1e300"),
        [
            "c.yaml:11: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].isl: found 1e+300; expected a whole number."
        ],
    ),
    ("entry-null", "m1:\n", ["c.yaml:1: m1: found null; expected a mapping."]),
    (
        "unknown-key",
        change(SINGLE, "  precision: fp8", "  precison: fp8"),
        [
            'c.yaml:1: m1-fp8-h200-vllm: the key "precision" is missing. Add precision.',
            'c.yaml:5: m1-fp8-h200-vllm: unknown key "precison". Known keys: disagg, framework, image, kv-p2p-transfer, model, model-prefix, multinode, precision, router, runner, scenarios, silenced, srt-recipe-dir. Did you mean precision?',
        ],
    ),
    (
        "missing",
        change(SINGLE, "  framework: vllm\n", ""),
        ['c.yaml:1: m1-fp8-h200-vllm: the key "framework" is missing. Add framework.'],
    ),
    (
        "number-for-text",
        change(SINGLE, "  precision: fp8", "  precision: 8"),
        ["c.yaml:5: m1-fp8-h200-vllm.precision: found 8; expected text. Put it in quotes."],
    ),
    (
        "empty-text",
        change(SINGLE, "  precision: fp8", '  precision: ""'),
        ['c.yaml:5: m1-fp8-h200-vllm.precision: found ""; expected text on one line, not empty.'],
    ),
    (
        "newline-in-text",
        change(SINGLE, "  precision: fp8", '  precision: "fp8\\n::error::x"'),
        [
            'c.yaml:5: m1-fp8-h200-vllm.precision: found "fp8\\n::error::x"; expected text on one line, not empty.'
        ],
    ),
    (
        "bool-text",
        change(SINGLE, "  multinode: false", "  multinode: no"),
        ['c.yaml:8: m1-fp8-h200-vllm.multinode: found "no"; expected true or false.'],
    ),
    (
        "bool-quoted",
        change(SINGLE, "  multinode: false", '  multinode: "false"'),
        ['c.yaml:8: m1-fp8-h200-vllm.multinode: found "false"; expected true or false.'],
    ),
    (
        "unknown-scenario",
        change(SINGLE, "    agentic-coding:", "    agentic:"),
        [
            'c.yaml:16: m1-fp8-h200-vllm.scenarios: unknown key "agentic". Known keys: agentic-coding, fixed-seq-len. Did you mean agentic-coding?'
        ],
    ),
    (
        "scenario-mapping",
        change(SINGLE, "    - isl: 8192\n      osl", "      isl: 8192\n      osl"),
        [
            'c.yaml:10: m1-fp8-h200-vllm.scenarios.fixed-seq-len: found {"isl": 8192, "osl": 1024, "search-space": [{"tp": 4, "ep...; expected a list.'
        ],
    ),
    (
        "no-osl",
        change(SINGLE, "      osl: 1024\n", ""),
        ['c.yaml:11: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0]: the key "osl" is missing. Add osl.'],
    ),
    (
        "isl-text",
        change(SINGLE, "isl: 8192", "isl: 8k"),
        ['c.yaml:11: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].isl: found "8k"; expected a whole number.'],
    ),
    (
        "isl-zero",
        change(SINGLE, "isl: 8192", "isl: 0"),
        ["c.yaml:11: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].isl: found 0; expected at least 1."],
    ),
    (
        "tp-float",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8.0, conc-list: [4, 64]}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].tp: found 8.0; expected a whole number."
        ],
    ),
    (
        "tp-zero",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 0, conc-list: [4, 64]}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].tp: found 0; expected at least 1."
        ],
    ),
    (
        "tp-true",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: true, conc-list: [4, 64]}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].tp: found true; expected a whole number."
        ],
    ),
    (
        "pp-zero",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, pp: 0, conc-list: [4, 64]}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].pp: found 0; expected at least 1."
        ],
    ),
    (
        "conc-empty",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, conc-list: []}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].conc-list: found []; expected at least 1 item."
        ],
    ),
    (
        "conc-zero",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, conc-list: [0, 64]}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].conc-list[0]: found 0; expected at least 1."
        ],
    ),
    (
        "conc-number",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, conc-list: 64}"),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].conc-list: found 64; expected a list."
        ],
    ),
    (
        "search-empty",
        AGGREGATED[: AGGREGATED.index("      search-space:\n")] + "      search-space: []\n",
        [
            "c.yaml:15: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space: found []; expected at least 1 item."
        ],
    ),
    (
        "spec",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, spec-decoding: mpt, conc-list: [4, 64]}"),
        [
            'c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].spec-decoding: found "mpt"; expected one of none, mtp, draft_model. Did you mean mtp?'
        ],
    ),
    (
        "kv-offloading",
        change(SINGLE, "kv-offloading: none", "kv-offloading: cpu"),
        [
            'c.yaml:19: m1-fp8-h200-vllm.scenarios.agentic-coding[0].search-space[0].kv-offloading: found "cpu"; expected one of none, dram.'
        ],
    ),
    (
        "kv-in-fixed",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, kv-offloading: none, conc-list: [4, 64]}"),
        [
            'c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1]: unknown key "kv-offloading". Known keys: conc-end, conc-list, conc-start, dcp-size, decode, dp-attn, ep, eval-srt-recipe, kv-p2p-transfer, num-nodes, pcp-size, power, pp, prefill, router, spec-decoding, srt-recipe, tp, worker.'
        ],
    ),
    (
        "dram-zero",
        change(SINGLE, "dram-utilization: 0.80", "dram-utilization: 0"),
        [
            "c.yaml:17: m1-fp8-h200-vllm.scenarios.agentic-coding[0].dram-utilization: found 0; expected a share of a node's DRAM, more than 0 and at most 1."
        ],
    ),
    (
        "dram-above",
        change(SINGLE, "dram-utilization: 0.80", "dram-utilization: 1.5"),
        [
            "c.yaml:17: m1-fp8-h200-vllm.scenarios.agentic-coding[0].dram-utilization: found 1.5; expected a share of a node's DRAM, more than 0 and at most 1."
        ],
    ),
    (
        "ep-alone",
        change(DISAGG, "        kv-offloading: dram\n", "        kv-offloading: dram\n        ep: 8\n"),
        [
            "c.yaml:35: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0]: ep is set without tp; expected both or neither."
        ],
    ),
    (
        "router-no-version",
        change(DISAGG, 'router: {name: dynamo-router, version: "1.2.1"}', "router: {name: dynamo-router}"),
        ['c.yaml:8: m2-fp4-gb200-dynamo-trt.router: the key "version" is missing. Add version.'],
    ),
    (
        "router-float",
        change(DISAGG, 'version: "1.2.1"', "version: 1.2"),
        ["c.yaml:8: m2-fp4-gb200-dynamo-trt.router.version: found 1.2; expected text. Put it in quotes."],
    ),
    (
        "router-image",
        change(DISAGG, 'version: "1.2.1"', 'version: "image:acme/router"'),
        [
            'c.yaml:8: m2-fp4-gb200-dynamo-trt.router.version: found "image:acme/router"; expected a version or a commit, not an image: reference.'
        ],
    ),
    (
        "backend-image",
        change(DISAGG, 'version: "0.3.11"', 'version: "image:acme/mooncake"'),
        [
            'c.yaml:35: m2-fp4-gb200-dynamo-trt.scenarios.agentic-coding[0].search-space[0].kv-offload-backend.version: found "image:acme/mooncake"; expected a version or a commit, not an image: reference.'
        ],
    ),
    (
        "worker-count",
        change(DISAGG, "          num-worker: 2\n", ""),
        [
            'c.yaml:27: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].decode: the key "num-worker" is missing. Add num-worker.'
        ],
    ),
    (
        "worker-negative",
        change(DISAGG, "num-worker: 2", "num-worker: -1"),
        [
            "c.yaml:28: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].decode.num-worker: found -1; expected a number of engines, 0 or more."
        ],
    ),
    (
        "worker-zero",
        change(AGGREGATED, "worker: {tp: 8, pp: 1}", "worker: {num-worker: 0, tp: 8}"),
        [
            "c.yaml:20: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space[0].worker.num-worker: found 0; expected at least 1."
        ],
    ),
    (
        "num-nodes",
        change(AGGREGATED, "num-nodes: 2", "num-nodes: 0"),
        [
            "c.yaml:16: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space[0].num-nodes: found 0; expected at least 1."
        ],
    ),
    (
        "setting-form",
        change(DISAGG, '"PREFILL_NODES=1"', '"PREFILL_NODES 1"'),
        [
            'c.yaml:26: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[1]: found "PREFILL_NODES 1"; expected NAME=value on one line.'
        ],
    ),
    (
        "setting-number",
        change(DISAGG, '"PREFILL_NODES=1"', "1"),
        [
            "c.yaml:26: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[1]: found 1; expected text. Put it in quotes."
        ],
    ),
    (
        "setting-newline",
        change(DISAGG, '"PREFILL_NODES=1"', '"A=1\\nB=2"'),
        [
            'c.yaml:26: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[1]: found "A=1\\nB=2"; expected NAME=value on one line.'
        ],
    ),
    (
        "srt-empty",
        change(AGGREGATED, "srt-recipe: agg.yaml:high", 'srt-recipe: ""'),
        [
            'c.yaml:17: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space[0].srt-recipe: found ""; expected text on one line, not empty.'
        ],
    ),
    (
        "power-text",
        change(AGGREGATED, "power: true\n        conc", 'power: "yes"\n        conc'),
        [
            'c.yaml:18: m3-fp8-gb200-dynamo-vllm.scenarios.fixed-seq-len[0].search-space[0].power: found "yes"; expected true or false.'
        ],
    ),
    (
        "two-at-once",
        change(SINGLE, "{tp: 8, conc-list: [4, 64]}", '{tp: "8", conc-list: [64, 4], ep: 1.5}'),
        [
            "c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].ep: found 1.5; expected a whole number.",
            'c.yaml:15: m1-fp8-h200-vllm.scenarios.fixed-seq-len[0].search-space[1].tp: found "8"; expected a whole number.',
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(*case[1:], id=case[0]) for case in WRONG])
def test_wrong_structure_has_a_whole_message(text: str, expected: list[str]) -> None:
    file = parse_master(text.encode(), "c.yaml")
    assert [str(problem) for problem in sort_problems(file.problems)] == expected
    assert not file.configs


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            b"\xef\xbb\xbfm1: {}\n",
            "c.yaml:1: The file starts with a byte order mark. Save it as UTF-8 without BOM.",
        ),
        (b"m1:\n  model: caf\xe9\n", "c.yaml:2: Byte 0xe9 is not UTF-8. Save the file as UTF-8."),
        (b"m1:\n  model: a\0b\n", "c.yaml:2: A NUL byte is not allowed. Remove it."),
    ],
)
def test_bytes_that_are_not_utf8_are_refused(data: bytes, expected: str) -> None:
    assert [str(problem) for problem in parse_master(data, "c.yaml").problems] == [expected]


def test_an_invalid_row_hides_no_other_row_or_entry() -> None:
    text = change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: eight}")
    text = change(text, "kv-offload-backend: {name: hicache}, ", "")
    file = parse_master((text + DISAGG).encode(), "c.yaml")
    assert {problem.rule for problem in file.problems} == {"schema-type", "offload-backend-missing"}
    assert list(file.configs) == ["m2-fp4-gb200-dynamo-trt"]


def test_an_invalid_scenario_is_not_reported_as_missing() -> None:
    text = SINGLE[: SINGLE.index("      search-space")]
    assert [problem.rule for problem in parse_master(text.encode(), "c.yaml").problems] == [
        "schema-missing-key"
    ]


def test_a_scenario_of_an_unknown_kind_hides_nothing() -> None:
    text = change(SINGLE, "    agentic-coding:", "    image:acme/x:")
    text = change(text, "{tp: 8, conc-list: [4, 64]}", "{tp: 8}")
    rules = {problem.rule for problem in parse_master(text.encode(), "c.yaml").problems}
    assert rules == {"schema-unknown-key", "conc-form"}


def test_single_node_rows_are_read() -> None:
    config = parse_master(SINGLE.encode(), "c.yaml").configs["m1-fp8-h200-vllm"]
    assert (config.path, config.line, config.disagg, config.multinode) == ("c.yaml", 1, False, False)
    first, second = config.fixed[0].search_space
    assert (first.index, first.line, first.concurrency) == (0, 14, Concurrency(start=4, end=64))
    assert (second.index, second.line, second.concurrency) == (1, 15, Concurrency(values=(4, 64)))
    assert first.engine is not None
    assert (first.engine.tp, first.engine.ep, first.engine.pp, first.engine.dp_attn) == (4, 1, 1, None)
    assert second.spec_decoding is SpecDecoding.NONE
    agentic = config.agentic[0]
    assert str(agentic.dram_utilization) == "0.8"
    assert [row.kv_offloading for row in agentic.search_space] == [KvOffloading.NONE, KvOffloading.DRAM]


def test_roles_and_their_settings_are_read() -> None:
    config = parse_master(DISAGG.encode(), "c.yaml").configs["m2-fp4-gb200-dynamo-trt"]
    row = config.fixed[0].search_space[0]
    assert row.prefill is not None
    assert row.decode is not None
    assert row.prefill.additional_settings == ("CONFIG_FILE=recipes/8k1k/low.yaml", "PREFILL_NODES=1")
    assert (row.decode.num_worker, row.decode.ep, row.decode.additional_settings) == (2, None, None)
    assert (row.engine, row.worker) == (None, None)


def test_workers_and_recipes_are_read() -> None:
    config = parse_master(AGGREGATED.encode(), "c.yaml").configs["m3-fp8-gb200-dynamo-vllm"]
    row = config.fixed[0].search_space[0]
    assert row.worker is not None
    assert (row.worker.num_worker, row.num_nodes, row.power) == (1, 2, True)
    assert (config.srt_recipe_dir, row.srt_recipe) == ("recipes/m3", "agg.yaml:high")


def test_only_the_wanted_keys_are_checked() -> None:
    text = SINGLE + change(DISAGG, "  disagg: true\n", "  disagg: 1\n")
    file = parse_master(text.encode(), "c.yaml", only=["m1-fp8-h200-vllm", "m9"])
    assert list(file.configs) == ["m1-fp8-h200-vllm"]
    assert not file.problems


@pytest.mark.parametrize("number", ["1_024", "0x400"])
def test_every_yaml_spelling_of_integers_is_accepted(number: str) -> None:
    text = change(SINGLE, "osl: 1024", f"osl: {number}")
    assert parse_master(text.encode(), "c.yaml").configs["m1-fp8-h200-vllm"].fixed[0].osl == 1024
