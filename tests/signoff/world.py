"""Provide a hub with a benchmark repository whose pull request 77 adds points.

The world can sweep the pull request, and verify it through the command line like the workflow.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from infx.bench.family import family_of
from infx.bench.identity import IdentifiedRow
from infx.bench.row import Recipe, Row
from infx.gather.clone import GitClone
from infx.gather.signoff_clone import open_revisions
from infx.gather.signoff_plan import read_plan
from infx.git import Git
from infx.hub import Hub
from infx.hub.state import Comment, Event, Run
from infx.policy.load import parse_policy
from tests.calling import Called, call

KEY = "m1-fp8-h200-vllm"
IMAGE = "vllm/vllm-openai:v0.9.1"
PHRASE = "As a PR reviewer and CODEOWNER, I have reviewed this and have:"
PAGE = "https://recipes.vllm.ai/m1"
POLICY = """\
repository: acme/bench
master-configs: [configs/nvidia.yaml, configs/amd.yaml]
signoff:
  core-owners: ["@acme/core"]
  teams: {"@acme/core": [mia]}
"""
CODEOWNERS = "* @acme/core\nconfigs/amd.yaml @amy\nconfigs/nvidia.yaml @noor @acme/core\n"
TEMPLATE = (
    f"{PHRASE}\n\n- [ ] **Sweep.** Linked a green sweep\n- [ ] **Recipe.** Linked the recipe\n\nSigned:\n"
)
MASTER = f"""\
{KEY}:
  image: {IMAGE}
  model: org/M1
  model-prefix: m1
  precision: fp8
  framework: vllm
  runner: h200
  multinode: false
  scenarios:
    fixed-seq-len:
      - isl: 8192
        osl: 1024
        search-space:
          - {{tp: 8, conc-list: CONC}}
"""
OLD = """\
- config-keys:
    - m1-fp8-h200-vllm
  description:
    - "old one"
  pr-link: https://github.com/acme/bench/pull/10
"""
ENTRY = OLD.replace("old one", "more points").replace("pull/10", "pull/XXX")
BASE = {
    ".github/CODEOWNERS": CODEOWNERS,
    "benchmarks/single_node/m1_fp8_h200_vllm.sh": "vllm serve\n",
    "configs/amd.yaml": "{}\n",
    "configs/eval-thresholds.yaml": "default: {gsm8k: 0.9}\n",
    "configs/models.yaml": "scenarios: {8k1k: {}}\nmodels: {m1: {title: M1, scenarios: {8k1k: {}}}}\n",
    "configs/nvidia.yaml": MASTER.replace("CONC", "[4, 8]"),
    "configs/policy.yaml": POLICY,
    "configs/runners.yaml": "labels: {h200: [h200-01]}\n",
    "docs/PR_REVIEW_CHECKLIST.md": TEMPLATE,
    "perf-changelog.yaml": OLD,
}
CHANGE = {
    "configs/nvidia.yaml": MASTER.replace("CONC", "[4, 8, 16, 32, 64]"),
    "perf-changelog.yaml": OLD + "\n" + ENTRY,
}


def checklist(login: str = "noor", *, detail: str = PAGE) -> str:
    return f"{TEMPLATE.replace('[ ]', '[x]').replace('Signed:', '')}\n## Additional detail\n\n{detail}\n\nSigned: {login}\n"


@dataclass
class World:
    hub: Hub
    folder: Path
    now: datetime = datetime(2026, 11, 30, 12, tzinfo=UTC)
    pages: dict[str, str] = field(default_factory=lambda: {PAGE: "published"})

    def tick(self) -> datetime:
        """Return a time that is one second later at every call."""
        self.now += timedelta(seconds=1)
        return self.now

    @property
    def head(self) -> str:
        return self.hub.state.pulls[77].head_sha

    def rows(self) -> tuple[IdentifiedRow, ...]:
        """Recompute the plan at the head."""
        git = Git(self.folder / "clone")
        base = GitClone(git).fetch("main", [77])
        policy = parse_policy(git.read("main", "configs/policy.yaml") or b"", "configs/policy.yaml")
        return read_plan(open_revisions(git, policy, base, self.head)).rows

    def sweep(self, *, failing: Sequence[int] = (), score: float = 0.95, **more: Any) -> Run:
        """Add a finished sweep of the head with collected results. failing: indexes of rows that fail."""
        run = self.hub.add_run(pull=77, **more)
        rows = self.rows()
        for place, row in enumerate(rows):
            name = (
                f"sweep / rows (1) / row / {row.id} · {family_of(row.row)} · {row.recipe.runner} · {row.text}"
            )
            self.hub.add_job(run.id, name, conclusion="failure" if place in failing else "success")
        self.hub.finish_run(run.id, "failure" if failing else "success")
        points = [point(row.row) for row in rows if not row.row.eval_only]
        scores = [accuracy(row, score) for row in rows if row.row.eval_only]
        self.hub.add_artifact(run.id, "results_bmk", {"agg_bmk.json": json.dumps(points)})
        self.hub.add_artifact(run.id, "eval_results_all", {"agg_eval_all.json": json.dumps(scores)})
        return run

    def sign(self, body: str | None = None, *, by: str = "noor") -> Comment:
        return self.hub.comment(77, checklist(by) if body is None else body, by=by)

    def verify(
        self, *arguments: str, event: tuple[str, Mapping[str, Any]] | None = None, app: str | None = None
    ) -> Called:
        """Run `infx signoff verify`, which must reach a verdict."""
        called = self.try_to_verify(*arguments, event=event, app=app)
        assert called.code in {0, 1}, called.err
        return called

    def try_to_verify(
        self, *arguments: str, event: tuple[str, Mapping[str, Any]] | None = None, app: str | None = None
    ) -> Called:
        """Run `infx signoff verify` like a workflow with a write token.

        app: the app whose token is used instead of the workflow's own.
        """
        scopes = {"contents": "read", "actions": "read", "pull_requests": "write", "statuses": "write"}
        token = self.hub.app_token(app, scopes) if app else self.hub.workflow_token(scopes)
        environ = {**self.hub.environ(token), "INFX_POLICY": "main:configs/policy.yaml"}
        options = list(arguments)
        if event is not None:
            file = self.folder / "event.json"
            file.write_text(json.dumps(event[1]), encoding="utf-8")
            options += ["--event", str(file), "--event-name", event[0]]
        with self._inside():
            return call("signoff", "verify", *options, environ=environ)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        before = Path.cwd()
        os.chdir(self.folder / "clone")
        try:
            yield
        finally:
            os.chdir(before)

    def verdicts(self) -> list[str]:
        """Return infx's comments without their hidden lines, oldest first."""
        own = [c for c in self.hub.comments_of(77) if c.author == "github-actions[bot]"]
        return [
            "\n".join(line for line in (c.body or "").splitlines() if not line.startswith("<!--"))
            for c in own
        ]

    def status(self) -> tuple[str, str] | None:
        """Return state and description of the head's sign-off status."""
        statuses = [
            s
            for s in self.hub.state.statuses
            if (s.sha, s.context) == (self.head, "codeowner-signoff-verify")
        ]
        return (statuses[-1].state, statuses[-1].description or "") if statuses else None


def reconcile(hub: Hub, event: Event) -> None:
    """Set a status on each new head, like reconciling does soon after the push."""
    if event.name == "pull_request" and event.action in {"opened", "synchronize"}:
        hub.set_status(event.payload["pull_request"]["head"]["sha"], "infx/sweep", "pending")


@contextmanager
def open_world(
    folder: Path, base: Mapping[str, str] = BASE, change: Mapping[str, str] = CHANGE
) -> Iterator[World]:
    world: World | None = None

    def clock() -> datetime:
        return world.tick() if world else datetime(2026, 11, 30, 12, tzinfo=UTC)

    with Hub(folder / "hub", clock=clock) as hub:
        hub.is_limited = False
        hub.listeners.append(lambda event: reconcile(hub, event))  # tests remove this for unseen heads
        for login, role in {
            "mia": "admin",
            "cody": "write",
            "amy": "write",
            "noor": "write",
            "eve": "read",
        }.items():
            hub.account(login, role=role)
        hub.push("main", base, "first", by="mia")
        hub.push("feat-x", change, "second")
        hub.open_pull("feat-x", title="More points", number=77)
        Git(folder).run("clone", "--quiet", str(hub.git.path), str(folder / "clone"))
        world = World(hub=hub, folder=folder)
        yield world
        assert hub.errors == []


def point(row: Row) -> dict[str, Any]:
    conc, recipe = row.conc[0], row.recipe
    return {
        **describe(recipe), "conc": conc, "disagg": False,
        "isl": 0 if recipe.is_agentic else 8192, "osl": 0 if recipe.is_agentic else 1024, "tput_per_gpu": 100.0 * conc,
        "p90_e2el" if recipe.is_agentic else "median_e2el": float(conc),
    }  # fmt: skip


def accuracy(row: IdentifiedRow, score: float) -> dict[str, Any]:
    return {
        **describe(row.recipe), "task": "gsm8k", "conc": row.row.eval_concs[0], "score": score, "n_eff": 1319,
        "n_original": 1319, "infrastructure_success": True, "row_id": row.id,
    }  # fmt: skip


def describe(recipe: Recipe) -> dict[str, str]:
    return {
        "hw": recipe.runner, "image": recipe.image, "model": recipe.model, "infmax_model_prefix": recipe.model_prefix,
        "framework": recipe.framework, "precision": recipe.precision, "spec_decoding": recipe.spec_decoding.value,
    }  # fmt: skip


def reuse(world: World, run_id: int) -> None:
    world.hub.comment(77, f"/use {run_id}", by="mia")


def signed_off(world: World) -> None:
    """Add a sweep, its reuse, a good sign-off, and the verdict."""
    reuse(world, world.sweep().id)
    world.sign()
    world.verify("--pr", "77", "--publish")
