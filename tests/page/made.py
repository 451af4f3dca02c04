"""Make the facts of pages: results, planned rows and scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from infx.page.facts import JudgedScore, PageFacts, PlannedResult, judge_scores
from infx.policy.model import ResultLink
from infx.results.collect import RowState
from infx.results.series import identify_series
from infx.rowfile.thresholds import ScoreBars
from tests.results.comparisons import compare_results, result

MODELS = ("dsr1", "dsv4", "glm5", "gptoss", "kimik2")
LENGTHS = ((1024, 1024), (8192, 1024))
DEPLOYMENTS = (
    ("h100", "vllm", "fp8"), ("h200", "sglang", "fp8"), ("b200", "trt", "fp4"), ("b200", "vllm", "fp4"), ("b300", "sglang", "fp4"),
    ("mi300x", "vllm", "fp8"), ("mi355x", "sglang", "fp4"),
)  # fmt: skip
LAYOUTS = ((4, "false"), (8, "false"), (8, "true"))
CONCS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def make_point(conc: int, speed: float = 90.0, gpus: int = 4, **changes: Any) -> dict[str, Any]:
    """Return a result with plausible numbers: more clients get more throughput and less interactivity."""
    interactivity = speed / (1 + (conc / (8 * gpus)) ** 0.75)
    output = interactivity * conc / gpus
    numbers = {
        "tput_per_gpu": round(2 * output, 3),
        "median_intvty": round(interactivity, 3),
        "median_ttft": round(0.05 + conc * 0.002, 6),
        "median_e2el": round(0.05 + conc * 0.002 + 1024 / interactivity, 6),
    }
    return {**result(), "conc": conc, "tp": gpus, **numbers, **changes}


def make_points() -> Iterator[dict[str, Any]]:
    """Yield the results of a large sweep: 1,890 points of 70 lines."""
    cases = product(enumerate(MODELS), LENGTHS, enumerate(DEPLOYMENTS), LAYOUTS, CONCS)
    for (number, model), (isl, osl), (kind, (hw, framework, precision)), (tp, attention), conc in cases:
        names = {"infmax_model_prefix": model, "hw": hw, "framework": framework, "precision": precision}
        speed = 60 + 11 * number + 9 * kind - (8 if attention == "true" else 0) - isl / 800
        yield make_point(conc, speed, tp, isl=isl, osl=osl, dp_attention=attention, **names)


def make_planned(values: Mapping[str, Any], state: RowState, error: str = "") -> PlannedResult:
    """Return a planned row of one point."""
    series = None if state is RowState.PRESENT and not values else identify_series(values)
    words = f"{values['infmax_model_prefix']} {values['hw']} {values['framework']} c{values['conc']}"
    return PlannedResult(words=words, state=state, error=error, series=series, concs=(values["conc"],))


def make_scores(*rows: Mapping[str, Any]) -> tuple[JudgedScore, ...]:
    """Return scores that must reach 0.9 for gsm8k."""
    first = {
        "model_prefix": "dsr1",
        "hw": "b200",
        "framework": "vllm",
        "precision": "fp4",
        "task": "gsm8k",
        "conc": 64,
    }
    return judge_scores([{**first, **row} for row in rows], ScoreBars({"gsm8k": 0.9}, {}))


def make_large_facts() -> PageFacts:
    """Return the facts of a large sweep with a baseline, in which some rows failed."""
    points = list(make_points())
    failed = [values for values in points if values["conc"] == 128 and values["hw"] in ("b200", "mi355x")]
    good = [values for values in points if values not in failed]
    published = [
        {**values, "tput_per_gpu": round(values["tput_per_gpu"] * (0.9 + 0.03 * (number % 5)), 3)}
        for number, values in enumerate(good)
        if values["hw"] != "b300"
    ]
    states = [RowState.FAILED, RowState.MISSING]
    errors = ["server: CUDA out of memory on rank 3", "no artifact bmk_1"]
    return PageFacts(
        comparison=compare_results(good, *published),
        planned=(
            *(make_planned(values, RowState.PRESENT) for values in good),
            *(
                make_planned(values, states[number % 2], errors[number % 2])
                for number, values in enumerate(failed)
            ),
        ),
        scores=make_scores(
            {"score": 0.951},
            {"score": 0.87, "hw": "h200"},
            {"score": None, "error": "it has no score", "hw": "h100"},
        ),
        run=1234,
        links=(ResultLink(text="View", short="results", url="https://results.example/run/{run}"),),
    )
