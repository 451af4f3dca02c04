"""Facts of reuse, made by hand: pull request 77 with two rows, and run 900 that swept both."""

from __future__ import annotations

from typing import Any

from infx.evidence.rows import FULL
from infx.gate.event import Event, EventName
from infx.model import Comment, Run
from infx.reuse.coverage import MergePlan, MergeRow, SourceSweep
from infx.reuse.facts import AskedPull, ReuseFacts, SourceArtifact, SourceRun
from tests.builders import HEAD, OLD, comment, person, pull, run

ROWS = ("a" * 12, "b" * 12)
KEY = "m1-fp8-h200-vllm"
RECIPE = "benchmarks/single_node/m1_fp8_h200_vllm.sh"
PLAN = MergePlan(rows=tuple(MergeRow(id=row, key=KEY, files=(RECIPE,)) for row in ROWS))
RESULTS = (SourceArtifact(name="results_bmk"),)


def sweep(**fields: Any) -> SourceSweep:
    return SourceSweep(**{"kind": FULL, "done": ROWS, **fields})


def source(of: Run | None = None, **fields: Any) -> SourceRun:
    return SourceRun(run=of or run(), **{"artifacts": RESULTS, "sweep": sweep(), **fields})


def command(body: str = "/reuse-sweep-run", by: str = "noor", **fields: Any) -> Comment:
    return comment(body, by, **{"association": "MEMBER", **fields})


def facts(*comments: Comment, **fields: Any) -> ReuseFacts:
    asked = AskedPull(number=77, comments=comments or (command(),))
    defaults: dict[str, Any] = {
        "event": Event(name=EventName.ASKED, pull=77), "pulls": (asked,), "people": (person("noor"),),
        "pull": pull(), "commits": (OLD, HEAD), "runs": (source(),), "plan": PLAN,
    }  # fmt: skip
    return ReuseFacts(**{**defaults, **fields})
