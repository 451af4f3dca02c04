"""Real files with a few mutations: infx reports problems in words, never a traceback.

A configuration without errors must expand to rows, so that no problem is left for the planner to find.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infx.errors import Level, Problem, ProblemsError
from infx.matrix.check import File, Files, check_files
from infx.matrix.expand import expand_config
from infx.matrix.parse import parse_master
from infx.matrix.runners import parse_runners
from infx.policy.load import default_policy, parse_policy
from tests.conftest import ROOT, SHARED
from tests.matrix.samples import CLUSTERS, HARDWARE, LAUNCHED, SINGLE

# A run has some hundreds of examples, a nightly run has thousands.
_EXAMPLES = min(3_000, 3 * settings().max_examples)
_OWN = ROOT / "configs"
_REAL = SHARED / "data/inferencex/configs"

# Values that a typing error, a merge or an attacker may put in place of a value.
_NASTY = [
    "", "null", "~", "true", "no", "0", "-1", "8.0", "1e3", "1e999", "-0.0", "0x10", "1_0", "99999999999999999999", ".inf",
    "[]", "{}", "[[]]", "{a: 1}", "[1, x]", '""', "'x'", '"\\e[31m"', '"a\\nb"', "*", "*a", "&a x", "!!int 3", "!x y", "<<",
    "- a", "# gone", "image:acme/x", "cluster:", "none", "dram", "mtp", "NAME=value", "SRT_RECIPE=x", "PREFILL_NODES=0",
    "tp", "prefill", "worker: {tp: 8}", "multinode: true", "disagg: true", "conc-list: [4, 4]", "|", ">-", "---", "...",
    "é", "\u202e", "%", "@", "`", "\t", "2026-02-30",
]  # fmt: skip
_TOKEN = re.compile(r"[^\s:,{}\[\]#-][^\s:,{}\[\]#]*")


def _cut(folder: Path) -> list[str]:
    """Return the text of each configuration in a folder's files."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*-master.yaml"))]
    return [
        part for text in texts for part in re.split(r"^(?=[^\s#])", text, flags=re.MULTILINE) if ":" in part
    ]


@st.composite
def mutated(draw: st.DrawFn, texts: list[str]) -> bytes:
    """Draw one or two of the texts and apply up to four mutations."""
    chosen = draw(st.lists(st.sampled_from(texts), min_size=1, max_size=2))
    lines = "".join(chosen).splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 4))):
        here = draw(st.integers(0, len(lines) - 1))
        line = lines[here]
        match draw(
            st.sampled_from(["value", "value", "value", "drop", "repeat", "swap", "indent", "insert"])
        ):
            case "value":
                spans = [match.span() for match in _TOKEN.finditer(line)] or [(0, len(line))]
                start, end = draw(st.sampled_from(spans))
                lines[here] = line[:start] + draw(st.sampled_from(_NASTY)) + line[end:]
            case "drop" if len(lines) > 1:
                del lines[here]
            case "repeat":
                lines.insert(here, line)
            case "swap":
                other = draw(st.integers(0, len(lines) - 1))
                lines[here], lines[other] = lines[other], line
            case "indent":
                lines[here] = draw(st.sampled_from([" ", "  ", "\t"])) + line
            case _:
                at = draw(st.integers(0, len(line)))
                lines[here] = line[:at] + draw(st.text(max_size=3)) + line[at:]
    return "".join(lines).encode("utf-8", "surrogatepass")


_POLICY = default_policy()


def _assert_words(problems: list[Problem], data: bytes) -> None:
    for problem in problems:
        assert problem.message.endswith(".")
        assert str(problem).isprintable()
        assert problem.path
        if problem.path == "c.yaml":
            assert problem.line is None or 1 <= problem.line <= data.count(b"\n") + 1


def _check(data: bytes, inventory: bytes) -> None:
    files = Files(masters=(File(path="c.yaml", data=data),), runners=File(path="r.yaml", data=inventory))
    report = check_files(files, _POLICY)
    _assert_words(list(report.problems), data)
    assert {config.key for config in report.configs if not config.errors} <= parse_master(
        data, "c.yaml"
    ).configs.keys()
    if any(problem.level is Level.ERROR for problem in report.problems):
        return
    runners, _ = parse_runners(inventory, "r.yaml")
    for summary in report.configs:
        config = parse_master(data, "c.yaml").configs[summary.key]
        assert len(expand_config(config, runners)) == summary.rows


@settings(max_examples=_EXAMPLES)
@given(data=mutated(_cut(_OWN)))
def test_mutated_configurations_of_infx(data: bytes) -> None:
    _check(data, (_OWN / "runners.yaml").read_bytes())


@pytest.mark.skipif(not _REAL.is_dir(), reason="needs the data folder next to the checkout")
@settings(max_examples=_EXAMPLES)
@given(data=mutated(_cut(_REAL) if _REAL.is_dir() else [""]))
def test_mutated_real_configurations(data: bytes) -> None:
    _check(data, (_REAL / "runners.yaml").read_bytes())


@settings(max_examples=_EXAMPLES)
@given(data=mutated([HARDWARE, CLUSTERS, (_OWN / "runners.yaml").read_text(encoding="utf-8")]))
def test_mutated_inventories(data: bytes) -> None:
    _, problems = parse_runners(data, "c.yaml")
    _assert_words(problems, data)


@settings(max_examples=_EXAMPLES)
@given(data=mutated([(_OWN / "clusters.yaml").read_text(encoding="utf-8"), LAUNCHED]))
def test_mutated_clusters(data: bytes) -> None:
    files = Files(
        masters=(File(path="m.yaml", data=SINGLE.encode()),),
        runners=File(path="r.yaml", data=HARDWARE.encode()),
        clusters=File(path="c.yaml", data=data),
    )
    _assert_words(list(check_files(files, _POLICY).problems), data)


@pytest.mark.parametrize("field", ["models", "thresholds", "priorities", "golden_lengths"])
def test_mutated_tables(field: str) -> None:
    paths = {
        "models": _OWN / "models.yaml",
        "thresholds": _OWN / "eval-thresholds.yaml",
        "priorities": _OWN / "ci-priority.yaml",
        "golden_lengths": _OWN / "golden-al/dsv4_mtp.yaml",
    }

    @settings(max_examples=_EXAMPLES // 3)
    @given(data=mutated([paths[field].read_text(encoding="utf-8")]))
    def check(data: bytes) -> None:
        file = File(path="c.yaml", data=data)
        files = Files(masters=(), **{field: (file,) if field == "golden_lengths" else file})  # type: ignore[arg-type] # by name
        _assert_words(list(check_files(files, _POLICY).problems), data)

    check()


@settings(max_examples=_EXAMPLES // 3)
@given(data=mutated([(ROOT / "infx/policy/default.yaml").read_text(encoding="utf-8")]))
def test_mutated_policies(data: bytes) -> None:
    try:
        parse_policy(data, "c.yaml")
    except ProblemsError as error:
        _assert_words(error.problems, data)
