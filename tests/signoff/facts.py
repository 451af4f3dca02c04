"""Facts written by hand: a pull request in which everything is as it should be, and verbs that spoil one thing.

cody writes, noor owns configs/nvidia.yaml and signs; the sweep has four throughput rows and two accuracy runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from infx.bench.config import KvOffloading, Parallelism, SpecDecoding
from infx.bench.entry import Entry
from infx.bench.family import family_of
from infx.bench.identity import IdentifiedRow, curve_of
from infx.bench.row import AgenticWorkload, FixedWorkload, Recipe, Row
from infx.evidence.rows import FULL
from infx.gate.event import Event, EventName
from infx.model import Conclusion, FileStatus, Job
from infx.policy.load import default_policy
from infx.policy.model import Policy
from infx.reuse.coverage import MergePlan, MergeRow, SourceSweep
from infx.reuse.facts import AskedPull, ReuseFacts, SourceArtifact, SourceRun
from infx.signoff.facts import (
    AddedLine,
    EvalScore,
    EvidenceRun,
    FileChange,
    JudgedFile,
    LinkState,
    MeasuredPoint,
    PlanVariant,
    RecipeFile,
    RecomputedPlan,
    ResolvedLink,
    SignoffFacts,
    SweepResults,
    TextFile,
)
from infx.signoff.planned import ConfigChange, ConfigState, KnownConfig
from tests import builders
from tests.builders import BASE, HEAD, NOW, OLD, comment, person, pull, run

IMAGE = "vllm/vllm-openai:v0.9.1"
RECIPE_URL = "https://github.com/vllm-project/recipes/pull/12"
KEY = "m1-fp8-h200-vllm"
MASTER, SCRIPT = "configs/nvidia.yaml", "benchmarks/single_node/m1_fp8_h200_vllm.sh"
PHRASE = "As a PR reviewer and CODEOWNER, I have reviewed this and have:"

ITEMS = (
    "Used the latest version of this [checklist](https://github.com/acme/bench/blob/main/docs/X.md)",
    "Verified that the code is of good quality",
    "Linked a sweep that validates the change",
    "Linked the accuracy runs of that sweep",
    "Verified that no engine is patched",
    "Documented the recipe upstream",
)
CODEOWNERS = "* @acme/core\nconfigs/amd.yaml @amy\nconfigs/nvidia.yaml @noor @acme/core\n"
WAIVER = (
    "# Waiver\n\nWhat: a fix of the scheduler\n\nWhy: it hangs\n\nUpstream: #5\n\nRemoval plan: with v0.10\n"
)


def checklist(ticked: Sequence[bool] | None = None, items: Sequence[str] = ITEMS, detail: str = "") -> str:
    boxes = ticked or [True] * len(items)
    lines = "\n".join(f"- [{'x' if tick else ' '}] {item}" for tick, item in zip(boxes, items, strict=True))
    return f"{PHRASE}\n\n{lines}\n\n## Additional detail\n\n{detail or f'Recipe: {RECIPE_URL}'}\n\nSigned: noor\n"


TEMPLATE = (
    "# Checklist\n\nPaste this:\n\n```markdown\n" + checklist([False] * 6).replace("noor", "") + "```\n"
)


WORKLOADS: Mapping[str, FixedWorkload | AgenticWorkload] = {
    "8k1k": FixedWorkload(isl=8192, osl=1024, max_model_len=9472),
    "1k1k": FixedWorkload(isl=1024, osl=1024, max_model_len=2304),
    "agentic": AgenticWorkload(kv_offloading=KvOffloading.NONE, total_cpu_dram_gb=0),
}


def row(
    number: int, *, conc: int = 0, evaluated: bool = False, scenario: str = "8k1k", **fields: Any
) -> IdentifiedRow:
    """Return a row; `fields` are of its recipe."""
    defaults: dict[str, Any] = {
        "image": IMAGE, "model": "org/M1", "model_prefix": "m1", "precision": "fp8", "framework": "vllm",
        "runner": "h200", "spec_decoding": SpecDecoding.NONE, "layout": Parallelism(tp=8, ep=1, dp_attn=False),
        "workload": WORKLOADS[scenario],
    }  # fmt: skip
    planned = Row(
        recipe=Recipe(**{**defaults, **fields}),
        conc=(conc or 2**number,),
        exp_name=f"m1_{scenario}",
        run_eval=evaluated,
        eval_only=evaluated,
    )
    return IdentifiedRow(id=f"{number:012x}", row=planned)


ROWS = (
    *(row(number) for number in range(1, 7)),
    row(11, conc=32, evaluated=True),
    row(12, conc=64, evaluated=True),
)


def job(planned: IdentifiedRow, conclusion: Conclusion | None = Conclusion.SUCCESS, **fields: Any) -> Job:
    family, runner = family_of(planned.row), planned.recipe.runner
    name = f"sweep / shard (1) / {planned.id} · {family} · {runner} · {planned.text}"
    return builders.job(**{"name": name, "conclusion": conclusion, "id": int(planned.id, 16), **fields})


def state(**fields: Any) -> ConfigState:
    defaults: dict[str, Any] = {
        "path": MASTER, "line": 10, "image": IMAGE, "model": "org/M1", "model_prefix": "m1", "precision": "fp8",
        "framework": "vllm", "runner": "h200", "settings": "s1", "scenarios": ("8k1k",),
    }  # fmt: skip
    return ConfigState(**{**defaults, **fields})


def change(before: ConfigState | None, after: ConfigState | None, key: str = KEY) -> ConfigChange:
    return ConfigChange(key=key, before=before, after=after)


def file(path: str, *lines: str, **fields: Any) -> FileChange:
    added = tuple(AddedLine(number=number, text=text) for number, text in enumerate(lines, start=5))
    defaults: dict[str, Any] = {"path": path, "status": FileStatus.MODIFIED, "added": added}
    return FileChange(**{**defaults, **fields})


def score(planned: IdentifiedRow, value: float | None = 0.95, **fields: Any) -> EvalScore:
    """Return a score of a planned row, with the planned image and model unless `identity` has others."""
    defaults: dict[str, Any] = {
        "task": "gsm8k", "value": value, "samples": 1319, "original": 1319, "row_id": planned.id,
        "conc": planned.row.conc[0],
    }  # fmt: skip
    identity = {"image": planned.recipe.image, "infmax_model_prefix": planned.recipe.model_prefix}
    return EvalScore(**{**defaults, **fields, "identity": identity | fields.get("identity", {})})


def point(planned: IdentifiedRow, **fields: Any) -> MeasuredPoint:
    """Return a point on the frontier: latency and throughput both rise with the concurrency."""
    conc = planned.row.conc[0]
    defaults: dict[str, Any] = {
        "curve": curve_of(planned.recipe), "conc": conc, "latency": float(conc), "throughput": 100.0 * conc,
    }  # fmt: skip
    return MeasuredPoint(**{**defaults, **fields})


def plan_entry(line: int = 7, **fields: Any) -> Entry:
    return Entry(line=line, config_keys=(KEY,), description=("More points",), pr_link=None, **fields)


def plan(rows: Sequence[IdentifiedRow] = ROWS, **fields: Any) -> RecomputedPlan:
    defaults: dict[str, Any] = {
        "entries": (plan_entry(),),
        "variants": (PlanVariant(name="full", rows=tuple(rows)),),
    }
    return RecomputedPlan(**{**defaults, **fields})


def results(rows: Sequence[IdentifiedRow] = ROWS, **fields: Any) -> SweepResults:
    defaults: dict[str, Any] = {
        "run_id": 900,
        "has_scores": True,
        "has_points": True,
        "scores": tuple(score(planned) for planned in rows if planned.row.eval_only),
        "points": tuple(point(planned) for planned in rows if not planned.row.eval_only),
    }
    return SweepResults(**{**defaults, **fields})


def sweep(rows: Sequence[IdentifiedRow] = ROWS, **fields: Any) -> EvidenceRun:
    defaults: dict[str, Any] = {"run": run(), "jobs": tuple(job(planned) for planned in rows)}
    return EvidenceRun(**{**defaults, **fields})


REUSE = comment("/use 900", author="mia", id=556, association="MEMBER")
THRESHOLDS = "default: {gsm8k: 0.9}\nmodels: {m1: {gsm8k: 0.94}}\n"
MODELS = (
    "scenarios: {agentic-coding: {}, 8k1k: {}, 1k1k: {deprecated: 2026-07-17}}\n"
    "models:\n"
    "  m1: {title: M1, precisions: [fp8], scenarios: {8k1k: {}, agentic-coding: {}, 1k1k: {}}}\n"
    "  m2: {title: M2, deprecated: 2026-10-01, scenarios: {8k1k: {}}}\n"
    "  m3: {title: M3, deprecated: 2026-12-24, scenarios: {8k1k: {}}}\n"
    "  m4: {title: M4, scenarios: {8k1k: {deprecated: 2026-11-30}, agentic-coding: {}}}\n"
)


def judged(path: str, text: str | None, head: str | None = "same") -> JudgedFile:
    return JudgedFile(path=path, base=text, head=text if head == "same" else head)


def facts(**fields: Any) -> SignoffFacts:
    """Return facts that pass every check: only concurrencies of one configuration change."""
    defaults: dict[str, Any] = {
        "repository": "acme/bench",
        "pull": pull(),
        "base_sha": BASE,
        "diff": "d" * 64,
        "now": NOW,
        "signoff": comment(checklist()),
        "signer": person("noor"),
        "files": (
            file(MASTER, "        conc-list: [1, 2, 4]"),
            file("perf-changelog.yaml", "- config-keys:"),
        ),
        "commits": (OLD, HEAD),
        "codeowners": TextFile(path=".github/CODEOWNERS", text=CODEOWNERS),
        "checklists": (TextFile(path="docs/PR_REVIEW_CHECKLIST.md", text=TEMPLATE),),
        "thresholds": judged("configs/eval-thresholds.yaml", THRESHOLDS),
        "models": judged("configs/models.yaml", MODELS),
        "plan": plan(),
        "configs": (change(state(), state(points="p2")),),
        "known_configs": (KnownConfig(key=KEY, model_prefix="m1", framework="vllm", runner="h200"),),
        "recipes": (RecipeFile(path=SCRIPT, text="vllm serve\n", keys=(KEY,)),),
        "runs": (sweep(),),
        "results": results(),
        "links": (ResolvedLink(url=RECIPE_URL, state=LinkState.MERGED),),
        "comments": (REUSE,),
        "people": (
            person("noor"),
            person("mia", "admin"),
        ),
        "reported_at": NOW,
    }
    values = {**defaults, **fields}
    return SignoffFacts(**{"reuse": reuse_facts(values), **values})


def reuse_facts(values: Mapping[str, Any]) -> ReuseFacts:
    """Return what reuse depends on, where every run has succeeded in all its rows and has results."""
    planned_rows = values["plan"].rows if values["plan"] else ()
    rows = tuple(MergeRow(id=planned.id, key=KEY) for planned in planned_rows)
    done = tuple(row.id for row in rows)
    sources = [
        SourceRun(
            run=evidence.run,
            artifacts=(SourceArtifact(name="results_bmk"),),
            sweep=SourceSweep(kind=FULL, done=done),
        )
        for evidence in values["runs"]
    ]
    return ReuseFacts(
        event=Event(name=EventName.ASKED, pull=77),
        pulls=(AskedPull(number=77, comments=values["comments"]),),
        people=values["people"],
        pull=values["pull"],
        commits=values["commits"],
        runs=tuple(sources),
        plan=MergePlan(rows=rows),
    )


POLICY: Policy = replace(
    default_policy(), repository="acme/bench", master_configs=(MASTER, "configs/amd.yaml")
)
