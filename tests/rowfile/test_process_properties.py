"""Properties of any client's output and any environment: hundreds of examples, thousands at night."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from infx.rowfile.process import ProcessOptions, process
from tests.rowfile.outputs import ENVIRONMENT, MULTI_NODE, SGLANG, VLLM

# What no client writes, and what a broken one may.
VALUES = st.sampled_from(
    [
        None, True, 0, -1, 0.5, 1e308, 1e-320, 10**400, math.nan, math.inf, "", "x", "NaN", "1e400", "12", "²", "\ud800",
        "a\0b", [], [1], {}, {"requested": 1, "completed": 2, "failed": "x", "status": 3},
    ]
)  # fmt: skip
KEYS = st.sampled_from(
    sorted({*VLLM, *SGLANG, "benchmark_outcome", "errors", "benchmark_start_time_unix", "_ms", "hw_ms"})
)
OUTPUTS = st.builds(
    lambda base, changes: {**base, **changes},
    st.sampled_from([VLLM, SGLANG]),
    st.dictionaries(KEYS, VALUES, max_size=4),
)
NAMES = st.sampled_from(
    sorted({*MULTI_NODE, *ENVIRONMENT, "ROUTER_METADATA", "PP_SIZE", "AGGREGATE_GPUS", "REQUIRE_POWER"})
)
TEXTS = st.sampled_from(
    ["", "0", "-1", "x", "1.5", "9" * 30, "²", "true", "null", "{}", "[", "..", "/x", "a b"]
)
ENVIRONMENTS = st.builds(
    lambda base, changes: {**base, **changes, "RESULT_FILENAME": "r"},
    st.sampled_from([ENVIRONMENT, MULTI_NODE]),
    st.dictionaries(NAMES, TEXTS, max_size=2),
)
CELLS = st.sampled_from(
    ["1787300000", "1787300001.5", "2026/08/21 08:13:20", "9" * 30, "x", "", "-1", "1e300", '"']
)
MONITORS = st.lists(st.tuples(CELLS, st.sampled_from(["0", "1", ""]), CELLS).map(",".join), max_size=8).map(
    "\n".join
)


def refuse_constant(name: str) -> None:
    raise AssertionError(f"JSON has no {name}")


@given(output=OUTPUTS, environment=ENVIRONMENTS, monitor=MONITORS, has_all=st.booleans())
def test_an_output_becomes_a_row_or_has_faults(
    output: dict[str, Any], environment: dict[str, str], monitor: str, *, has_all: bool
) -> None:
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("r_conc8_gpus_8.json" if has_all else "r.json").write_text(json.dumps(output))
        Path("gpu_metrics.csv").write_text(f"timestamp,index,power\n{monitor}\n")
        report = process(ProcessOptions(has_all=has_all), environment)
        assert report.written or report.faults
        for path in Path().glob("*.json"):
            if path.name not in ("r.json", "r_conc8_gpus_8.json"):
                json.loads(path.read_text(), parse_constant=refuse_constant)
        assert not [path.name for path in Path().iterdir() if path.name.startswith(".")]
