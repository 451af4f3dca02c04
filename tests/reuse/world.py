"""A hub with one benchmark repository whose pull request 77 adds points to two configurations, and its sweeps."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from infx.bench.family import family_of
from infx.bench.identity import IdentifiedRow, identify_rows
from infx.evidence.rows import FULL, SweepKind
from infx.gather.plan import Planner
from infx.git import Git
from infx.hub import Hub
from infx.hub.state import Run
from infx.policy.load import parse_policy
from infx.policy.model import Policy
from tests.calling import Called, call

M1, M2 = "m1-fp8-h200-vllm", "m2-fp8-h200-vllm"
M1_RECIPE = "benchmarks/single_node/m1_fp8_h200_vllm.sh"
M2_RECIPE = "benchmarks/single_node/m2_fp8_h200_vllm.sh"
OTHER_RECIPE = "benchmarks/single_node/m3_fp8_h200_vllm.sh"
LIBRARY = "benchmarks/library.sh"
POLICY = "repository: acme/bench\nmaster-configs: [configs/nvidia.yaml]\n"
CONFIG = """\
{name}-fp8-h200-vllm:
  image: vllm/vllm-openai:v0.9.1
  model: org/{name}
  model-prefix: {name}
  precision: fp8
  framework: vllm
  runner: h200
  multinode: false
  scenarios:
    fixed-seq-len:
      - isl: 1024
        osl: 1024
        search-space:
          - {{tp: 8, conc-list: {conc}}}
"""
OLD = """\
- config-keys:
    - m3-fp8-h200-vllm
  description:
    - "old one"
  pr-link: https://github.com/acme/bench/pull/10
"""
ENTRY = f"""
- config-keys:
    - {M1}
    - {M2}
  description:
    - "more points"
  pr-link: https://github.com/acme/bench/pull/77
"""


def masters(m1: Sequence[int] = (4,), m2: Sequence[int] = (4,)) -> str:
    conc = {"m1": list(m1), "m2": list(m2), "m3": [4]}
    return "".join(CONFIG.format(name=name, conc=values) for name, values in conc.items())


BASE = {
    LIBRARY: "start() { true; }\n",
    M1_RECIPE: "vllm serve m1\n",
    M2_RECIPE: "vllm serve m2\n",
    OTHER_RECIPE: "vllm serve m3\n",
    "configs/nvidia.yaml": masters(),
    "configs/policy.yaml": POLICY,
    "configs/runners.yaml": "labels: {h200: [h200-01]}\n",
    "README.md": "Benchmarks\n",
    "perf-changelog.yaml": OLD,
}
CHANGE = {"configs/nvidia.yaml": masters((4, 8), (4, 8)), "perf-changelog.yaml": OLD + ENTRY}


@dataclass
class World:
    """The hub and a clone. Its clock moves by a second whenever it is read."""

    hub: Hub
    folder: Path
    now: datetime = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    @property
    def clone(self) -> Git:
        return Git(self.folder / "clone")

    @property
    def policy(self) -> Policy:
        return parse_policy(POLICY.encode(), "configs/policy.yaml")

    def head(self, number: int = 77) -> str:
        return self.hub.state.pulls[number].head_sha

    def rows(self, kind: SweepKind = FULL, number: int = 77) -> tuple[IdentifiedRow, ...]:
        """Return the plan at the head of a pull request, recomputed."""
        git = self.clone
        refs = ("+refs/heads/main:refs/test/main", f"+refs/pull/{number}/head:refs/test/pull")
        git.fetch("origin", *refs)
        base = git.merge_base("refs/test/main", "refs/test/pull")
        return identify_rows(Planner(git, self.policy).open(base, self.head(number)).rows(kind))

    def sweep(
        self,
        conclusion: str = "success",
        *,
        kind: SweepKind = FULL,
        failing: Sequence[int] = (),
        rows: Sequence[IdentifiedRow] | None = None,
        artifacts: Sequence[str] = ("results_bmk", "eval_results_all"),
        **more: Any,
    ) -> Run:
        """Add a finished run with a job for each row. failing: places of rows that fail."""
        run = self.hub.add_run(**{"pull": 77, **more})
        number = more.get("pull", 77) or 77
        for place, row in enumerate(self.rows(kind, number) if rows is None else rows):
            self.add_row(run, row, conclusion="failure" if place in failing else "success")
        for name in artifacts:
            self.hub.add_artifact(run.id, name, {"agg.json": "[]"})
        self.hub.finish_run(run.id, conclusion)
        return run

    def add_row(self, run: Run, row: IdentifiedRow, conclusion: str = "success") -> None:
        """Add the job of a row to the newest attempt of a run."""
        name = f"sweep / rows (1) / row / {row.id} · {family_of(row.row)} · {row.recipe.runner} · {row.text}"
        self.hub.add_job(run.id, name, conclusion=conclusion)

    def ask(self, body: str = "/reuse-sweep-run", *, by: str = "mia", number: int = 77) -> None:
        self.hub.comment(number, body, by=by)

    def check(
        self,
        *arguments: str,
        event: tuple[str, Mapping[str, Any]] | None = None,
        inside: bool = True,
        environ: Mapping[str, str] | None = None,
    ) -> Called:
        """Call `infx reuse check`, by default about pull request 77. inside: in the clone."""
        words = ("reuse", "check", "--format", "json", *arguments)
        return self.call(*words, event=event, inside=inside, environ=environ)

    def call(
        self,
        *arguments: str,
        event: tuple[str, Mapping[str, Any]] | None = None,
        inside: bool = True,
        environ: Mapping[str, str] | None = None,
    ) -> Called:
        """Call infx, by default about pull request 77. inside: in the clone."""
        given = list(arguments)
        if event is not None:
            file = self.folder / "event.json"
            file.write_text(json.dumps(event[1]), encoding="utf-8")
            given += ["--event", str(file), "--event-name", event[0]]
        elif not {"--pr", "--facts"} & set(given):
            given += ["--pr", "77"]
        policy = self.folder / "policy.yaml"
        if not policy.exists():
            policy.write_text(POLICY, encoding="utf-8")
        token = self.hub.workflow_token(
            contents="read", actions="read", pull_requests="read", statuses="read"
        )
        surroundings = {**self.hub.environ(token), "INFX_POLICY": str(policy), **(environ or {})}
        with _standing_in(self.folder / "clone" if inside else self.folder):
            return call(*given, environ=surroundings)

    def call_plain(
        self,
        words: Sequence[str],
        environ: Mapping[str, str],
        event: tuple[str, Mapping[str, Any]] | None = None,
    ) -> Called:
        """Call infx in the clone."""
        if event is not None:
            file = self.folder / "event.json"
            file.write_text(json.dumps(event[1]), encoding="utf-8")
            words = [*words, "--event", str(file), "--event-name", event[0]]
        with _standing_in(self.folder / "clone"):
            return call(*words, environ=environ)

    def follow(self, on_merge: str) -> None:
        """Let the policy decide what a merge does."""
        text = f"{POLICY}on-merge: {on_merge}\n"
        (self.folder / "policy.yaml").write_text(text, encoding="utf-8")

    def merge(self, method: str = "squash") -> tuple[str, Mapping[str, Any]]:
        """Merge pull request 77, and return the push event of the merge."""
        self.hub.merge_pull(77, method=method)
        return self.last_push()

    def last_push(self) -> tuple[str, Mapping[str, Any]]:
        event = [event for event in self.hub.state.events if event.name == "push"][-1]
        return event.name, event.payload


@contextmanager
def _standing_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def open_world(folder: Path) -> Iterator[World]:
    world: World | None = None

    def clock() -> datetime:
        return world.tick() if world else datetime(2026, 11, 30, 12, tzinfo=UTC)

    with Hub(folder / "hub", clock=clock) as hub:
        hub.is_limited = False
        for login, role in {"mia": "admin", "noor": "write", "cody": "write", "eve": "read"}.items():
            hub.account(login, role=role)
        hub.push("main", BASE, "first", by="mia")
        hub.push("feat-x", CHANGE, "second")
        hub.open_pull("feat-x", title="More points", number=77)
        Git(folder).run("clone", "--quiet", str(hub.git.path), str(folder / "clone"))
        world = World(hub=hub, folder=folder)
        yield world
        assert hub.errors == []
