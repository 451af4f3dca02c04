"""Checks of configurations against scripts, recipes and committed acceptance lengths, and silenced rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from infx.errors import sort_problems
from infx.gather.checkout import read_checkout
from infx.matrix.check import File, Files, check_files
from infx.matrix.checkout import RECIPES, SINGLE_NODE, Checkout
from infx.matrix.file_rules import find_pins
from infx.policy.load import default_policy
from tests.matrix.samples import AGGREGATED, DISAGG, HARDWARE, LAUNCHED, SINGLE, change

POLICY = default_policy()
FIXED_SCRIPT = f"{SINGLE_NODE}/fixed_seq_len/m1_fp8_h200.sh"
AGENTIC_SCRIPT = f"{SINGLE_NODE}/agentic/m1_fp8_h200_vllm.sh"
LENGTHS = "acme-m1: {thinking_on: {1: 1.79, 2: 2.27}, thinking_off: {1: 1.8}}\n"


def check(
    master: str = SINGLE,
    scripts: dict[str, str] | None = None,
    *,
    recipes: tuple[str, ...] = (),
    lengths: dict[str, str] | None = None,
    clusters: str | None = LAUNCHED,
) -> list[str]:
    paths = frozenset((*(scripts or {}), *recipes))
    files = Files(
        masters=(File(path="m.yaml", data=master.encode()),),
        runners=File(path="r.yaml", data=HARDWARE.encode()),
        clusters=None if clusters is None else File(path="c.yaml", data=clusters.encode()),
        checkout=Checkout(paths=paths, scripts=scripts or {}) if paths else None,
        golden_lengths=tuple(File(path=path, data=text.encode()) for path, text in (lengths or {}).items()),
    )
    return [f"{p.level}: {p}" for p in sort_problems(check_files(files, POLICY).problems)]


def test_every_row_has_a_script() -> None:
    assert check(scripts={FIXED_SCRIPT: "", AGENTIC_SCRIPT: ""}) == []


def test_rows_without_a_script_cannot_run() -> None:
    """Three of the ten rows are AgentX."""
    assert check(scripts={FIXED_SCRIPT: ""}) == [
        f"error: m.yaml:1: m1-fp8-h200-vllm: no script runs the rows: there is no {SINGLE_NODE}/agentic/m1_fp8_h200_vllm.sh or "
        f"{SINGLE_NODE}/agentic/m1_fp8_h200.sh (3 rows on h200-a). Add the script, or remove the rows."
    ]


def test_a_drafting_row_has_a_script_of_its_own() -> None:
    master = change(SINGLE, "{tp: 8, conc-list: [4, 64]}", "{tp: 8, conc-list: [4, 64], spec-decoding: mtp}")
    (text,) = check(master, {FIXED_SCRIPT: "", AGENTIC_SCRIPT: ""})
    assert "m1_fp8_h200_vllm_mtp.sh or" in text
    assert "(2 rows on h200-a)" in text
    assert (
        check(master, {FIXED_SCRIPT: "", AGENTIC_SCRIPT: "", FIXED_SCRIPT.replace(".sh", "_mtp.sh"): ""})
        == []
    )


def test_scripts_outside_of_the_checkout_are_not_missed() -> None:
    clusters = re.sub(r"scripts: .*", "scripts: [run.sh]", LAUNCHED)
    assert check(scripts={FIXED_SCRIPT: ""}, clusters=clusters) == []


AT = "scenarios.fixed-seq-len[0].search-space[0]"


@pytest.mark.parametrize(
    ("master", "recipes", "expected"),
    [
        pytest.param(DISAGG, (f"{RECIPES}/8k1k/low.yaml",), None, id="an own recipe"),
        pytest.param(DISAGG, (f"{RECIPES}/other/low.yaml",), None, id="a folder of srt-slurm"),
        pytest.param(
            DISAGG,
            (f"{RECIPES}/8k1k/high.yaml",),
            f"warning: m.yaml:25: m2-fp4-gb200-dynamo-trt.{AT}.prefill.additional-settings[0]: there is no {RECIPES}/8k1k/low.yaml, "
            "so the pinned revision of srt-slurm must have recipes/8k1k/low.yaml (1 row). Correct the path, or add the recipe.",
            id="not in an own folder",
        ),
        pytest.param(
            change(DISAGG, "recipes/8k1k/low.yaml", f"{RECIPES}/8k1k/low.yaml"),
            (f"{RECIPES}/8k1k/high.yaml",),
            f"error: m.yaml:25: m2-fp4-gb200-dynamo-trt.{AT}.prefill.additional-settings[0]: there is no {RECIPES}/8k1k/low.yaml "
            "(1 row). Correct the path, or add the recipe.",
            id="a path of the checkout",
        ),
        pytest.param(
            AGGREGATED,
            (f"{RECIPES}/m3/other.yaml",),
            f"warning: m.yaml:17: m3-fp8-gb200-dynamo-vllm.{AT}.srt-recipe: there is no {RECIPES}/m3/agg.yaml, so the pinned "
            "revision of srt-slurm must have recipes/m3/agg.yaml (1 row). Correct the path, or add the recipe.",
            id="the newer form, without its selector",
        ),
    ],
)  # fmt: skip
def test_a_recipe_exists(master: str, recipes: tuple[str, ...], expected: str | None) -> None:
    assert check(master, recipes=recipes) == ([] if expected is None else [expected])


ROUTED = change(
    SINGLE,
    "{tp: 8, kv-offloading: none, conc-list: [1, 8]}",
    '{tp: 8, kv-offloading: none, conc-list: [1, 8], router: {name: vllm-router, version: "0.1.14"}}',
)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("pip install vllm-router==0.1.14", None),
        ("pip install vllm_router==v0.1.14", None),
        ("vllm-router --port 1", None),
        ("pip install other-vllm-router==0.1", None),
        ("pip install vllm-router==0.1.15", "0.1.15"),
        ('VERSION=0.1.15\npip install "vllm-router==$VERSION"', "0.1.15"),
        ('pip install "vllm-router==${VERSION:-0.1.15}"', "0.1.15"),
        ('export VERSION="0.1.14"\npip install "vllm-router==${VERSION}"', None),
        ('pip install "vllm-router==$UNKNOWN"', None),
    ],
)
def test_a_script_installs_the_router_of_the_row(script: str, expected: str | None) -> None:
    problems = check(ROUTED, {FIXED_SCRIPT: "", AGENTIC_SCRIPT: script})
    text = (
        "warning: m.yaml:19: m1-fp8-h200-vllm.scenarios.agentic-coding[0].search-space[0].router.version: "
        f"{AGENTIC_SCRIPT} installs vllm-router {expected}; the row says 0.1.14 (2 rows on h200-a). Use one version in both "
        "places."
    )
    assert problems == ([] if expected is None else [text])


def test_all_pins_of_a_script_are_found() -> None:
    script = "if x; then\n  pip install r==1\nelse\n  pip install 'r==2'\nfi"
    assert find_pins("r", script) == ["1", "2"]


def test_the_name_of_a_package_is_not_an_expression() -> None:
    assert find_pins("(a+)+$[", "(a+)+$[==1") == ["1"]


LENGTH = change(DISAGG, '"PREFILL_NODES=1"', '"SYNTHETIC_ACCEPTANCE_LENGTH=2.27"')


@pytest.mark.parametrize(
    ("length", "path", "expected"),
    [
        ("2.27", "m2_mtp.yaml", None),
        ("1.8", "m2.yaml", None),
        ("2.3", "m2_mtp.yaml", "expected 1.79 (thinking_on, 1 draft tokens, m2_mtp.yaml), 2.27 (thinking_on, 2 draft tokens, m2_mtp.yaml) or "
         "1.8 (thinking_off, 1 draft tokens, m2_mtp.yaml)"),
        ("2.27", "m22_mtp.yaml", "no length is committed for m2"),
        ("two", "m22.yaml", "expected a number; no length is committed for m2"),
    ],
)  # fmt: skip
def test_a_length_in_a_setting_is_committed(length: str, path: str, expected: str | None) -> None:
    problems = check(LENGTH.replace("=2.27", f"={length}"), lengths={path: LENGTHS}, clusters=None)
    start = f"warning: m.yaml:26: m2-fp4-gb200-dynamo-trt.{AT}.prefill.additional-settings[1]: SYNTHETIC_ACCEPTANCE_LENGTH is {length}; "
    hint = "Use the committed length of the draft method and the number of draft tokens."
    assert problems == ([] if expected is None else [f"{start}{expected} (1 row). {hint}"])


def test_without_committed_lengths_none_is_compared() -> None:
    assert check(LENGTH) == []


DRAFTING = change(
    SINGLE,
    "{tp: 8, kv-offloading: none, conc-list: [1, 8]}",
    "{tp: 8, kv-offloading: none, conc-list: [1, 8], spec-decoding: mtp}",
)
SIMULATED = (
    "--rejection_sample_method synthetic --synthetic_acceptance_length 2.27 --num_speculative_tokens=2\n"
)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (SIMULATED, None),
        ("N=2\n" + SIMULATED.replace("tokens=2", "tokens=$N"), None),
        ("N=1\n" + SIMULATED.replace("tokens=2", "tokens=${N}"), ":2 simulates 2.27; expected 1.79"),
        ("LENGTH=2.27\n" + SIMULATED.replace("2.27", "$LENGTH"), None),
        ("SIMULATE_ACC_LEN=2.27\nRATE=$(awk ...)\natom --spec-decode-acceptance-rate $RATE\n", " simulates no acceptance length"),
        ("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=1.27 # one less than the length\n", None),
        ("\n" + SIMULATED.replace("tokens=2", "tokens=1"), ":2 simulates 2.27; expected 1.79 (thinking_on, 1 draft tokens, m1_mtp.yaml) or 1.8"),
        ("vllm serve --synthetic-rates 0.8,0.6\n", " simulates no acceptance length; expected 1.79"),
        (f"# {SIMULATED}", " simulates no acceptance length; expected 1.79"),
    ],
)  # fmt: skip
def test_a_script_simulates_the_committed_length(script: str, expected: str | None) -> None:
    drafting = AGENTIC_SCRIPT.replace(".sh", "_mtp.sh")
    scripts = {FIXED_SCRIPT: "", AGENTIC_SCRIPT: "", drafting: script}
    problems = check(DRAFTING, scripts, lengths={"m1_mtp.yaml": LENGTHS})
    if expected is None:
        assert problems == []
    else:
        (text,) = problems
        assert text.startswith(f"warning: m.yaml:9: m1-fp8-h200-vllm.scenarios: {drafting}{expected}")
        assert "(2 rows on h200-a)" in text


def test_a_model_has_its_lengths_in_one_file() -> None:
    assert check(lengths={"a.yaml": LENGTHS, "b.yaml": LENGTHS}) == [
        "warning: b.yaml:1: acme-m1: a.yaml:1 also has lengths of this model, and only the files' names tell which method has "
        "which. Keep both if their methods differ, and name each file after its method."
    ]


def silence(master: str, rule: str, reason: str) -> str:
    return change(master, "  multinode:", f"  silenced: {{{rule}: {reason}}}\n  multinode:")


def test_a_silenced_rule_is_not_reported() -> None:
    assert len(check(LENGTH, lengths={"x.yaml": LENGTHS})) == 1
    assert (
        check(silence(LENGTH, "acceptance-length", "measured elsewhere"), lengths={"x.yaml": LENGTHS}) == []
    )


def test_a_fault_of_a_cluster_counts_only_rows_that_do_not_silence_it() -> None:
    shared = change(LAUNCHED, "{gpu: h200}", "{gpu: h200, exclusive: false}")
    other = SINGLE.replace("m1-fp8-h200-vllm", "m4-fp8-h200-vllm").replace("acme/m1", "acme/m4")
    silenced = silence(SINGLE, "launch-port", "one runner only")
    (text,) = check(silenced + other, clusters=shared)
    assert "6 rows of 1 configuration take a part" in text
    assert check(silenced, clusters=shared) == []


def test_other_warnings_can_be_silenced_too() -> None:
    master = change(SINGLE, "v0.20.0", "latest")
    assert [text.split(": ")[0] for text in check(master)] == ["warning"]
    assert check(silence(master, "image-moves", "a test of the newest image")) == []


@pytest.mark.parametrize("reason", ["''", "null", "' '", "true", "[x]"])
def test_a_rule_is_not_silenced_without_a_reason(reason: str) -> None:
    (text,) = check(silence(SINGLE, "launch-port", reason))
    assert text.startswith("error: m.yaml:8: m1-fp8-h200-vllm.silenced.launch-port: ")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("launch-prot", "error: m.yaml:8: m1-fp8-h200-vllm.silenced.launch-prot: \"launch-prot\" is not a rule that can be silenced. "
         "Did you mean launch-port or launch-router or launch-script?"),
        ("dcp-size", "error: m.yaml:8: m1-fp8-h200-vllm.silenced.dcp-size: \"dcp-size\" is not a rule that can be silenced. "
         "docs/configs.md lists the rules that can be silenced."),
        ("launch-port", "warning: m.yaml:8: m1-fp8-h200-vllm.silenced.launch-port: the rule launch-port finds nothing here. Remove the "
         "line."),
    ],
)  # fmt: skip
def test_a_silenced_rule_exists_and_finds_something(rule: str, expected: str) -> None:
    assert check(silence(SINGLE, rule, "a reason")) == [expected]


def test_a_rule_that_could_not_be_checked_may_be_silenced() -> None:
    assert check(silence(SINGLE, "launch-port", "a reason"), clusters=None) == []
    assert check(silence(SINGLE, "launch-script", "a reason")) == []


def test_a_checkout_is_read(tmp_path: Path) -> None:
    assert read_checkout(tmp_path) is None
    script = tmp_path / FIXED_SCRIPT
    script.parent.mkdir(parents=True)
    script.write_text("echo é")
    (script.parent / "link.sh").symlink_to(script)
    (script.parent / "large.sh").write_text("#" * 1_000_001)
    recipe = tmp_path / RECIPES / "x.yaml"
    recipe.parent.mkdir(parents=True)
    recipe.write_text("name: x")
    checkout = read_checkout(tmp_path)
    assert checkout is not None
    folder = FIXED_SCRIPT.rpartition("/")[0]
    assert checkout.paths == {FIXED_SCRIPT, f"{folder}/link.sh", f"{folder}/large.sh", f"{RECIPES}/x.yaml"}
    assert checkout.scripts == {FIXED_SCRIPT: "echo é", f"{folder}/link.sh": "", f"{folder}/large.sh": ""}
