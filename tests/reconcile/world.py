"""A hub with one benchmark repository, its clone, and a reconciler that uses both."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from infx.apply.reconcile import Reconciler
from infx.apply.serialize import TurnReport
from infx.bench.identity import row_ids
from infx.gather.clone import GitClone
from infx.git import Git
from infx.github.api import connect
from infx.hub import Hub
from infx.hub.seed import WORKFLOW_FILES
from infx.hub.state import Pull, Run
from infx.matrix.expand import expand_config
from infx.matrix.load import load_inputs
from infx.matrix.plan import plan_rows
from infx.policy.load import parse_policy
from infx.policy.model import Policy
from infx.reconcile.facts import RepositoryContext

POLICY = b"""
repository: acme/bench
identities: ["github-actions[bot]", "bench-bot[bot]"]
comments:
  visualizer:
    links:
      - {text: View unofficial run (performance), short: performance, url: "https://bench.test/inference?unofficialRun={run}"}
      - {text: View unofficial run (accuracy), short: accuracy, url: "https://bench.test/evaluation?unofficialRun={run}"}
"""
BOT = "github-actions[bot]"
VISUALIZER = "<!-- inferencex-unofficial-run-visualizer -->"
BASE = """\
- config-keys:
    - m1-fp8-h200-vllm
  description:
    - "old one"
  pr-link: https://github.com/acme/bench/pull/10
"""
ENTRY = """
- config-keys:
    - m1-fp8-h200-vllm
  description:
    - "{words}"
  pr-link: {link}
"""
MASTER = """\
m1-fp8-h200-vllm:
  image: vllm/vllm-openai:v0.9.1
  model: org/M1
  model-prefix: m1
  precision: fp8
  framework: vllm
  runner: h200
  multinode: false
  scenarios:
    fixed-seq-len:
      - isl: 1024
        osl: 1024
        search-space:
          - {tp: 8, conc-list: CONC}
"""
CONFIGS = {
    "configs/nvidia-master.yaml": MASTER.replace("CONC", "[4, 8]"),
    "configs/amd-master.yaml": "{}\n",
    "configs/runners.yaml": "labels: {h200: [h200-01]}\n",
}


def plan_ids(master: str = CONFIGS["configs/nvidia-master.yaml"]) -> list[str]:
    """Return the ids of a full sweep's rows, throughput first."""
    runners = ("configs/runners.yaml", CONFIGS["configs/runners.yaml"].encode())
    inputs = load_inputs([("m.yaml", master.encode())], runners)
    rows = [row for config in inputs.configs.values() for row in expand_config(config, inputs.runners)]
    return row_ids(planned.row for planned in plan_rows(rows).rows)


ROWS = plan_ids()
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LABEL = "full-sweep-fail-fast"


def policy() -> Policy:
    return parse_policy(POLICY, "configs/policy.yaml")


def entry(words: str = "new", link: str = "XXX") -> str:
    return ENTRY.format(words=words, link=link)


class Memory:
    """A clone that remembers its answers, because git would take most of a test's time."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._known: dict[object, Any] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._git, name)

        @functools.wraps(method)
        def remembered(*args: Any, **kwargs: Any) -> Any:
            key = (name, repr(args), repr(sorted(kwargs.items())))
            if key not in self._known:
                self._known[key] = method(*args, **kwargs)
            return self._known[key]

        return remembered


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@dataclass
class World:
    hub: Hub
    clone: Git
    clock: Clock
    policy: Policy = field(default_factory=policy)
    waited: list[float] = field(default_factory=list)

    @classmethod
    def make(cls, folder: Path) -> World:
        clock = Clock()
        hub = Hub(folder, clock=clock)
        hub.is_limited = False
        hub.state.workflows.append("run-sweep.yml")
        files = {"perf-changelog.yaml": BASE, "benchmarks/run.sh": "true\n", **WORKFLOW_FILES, **CONFIGS}
        hub.push("main", files)
        Git(folder).run("clone", "--quiet", str(hub.git.path), str(folder / "clone"))
        return cls(hub=hub, clone=Git(folder / "clone"), clock=clock)

    def pull(
        self, files: Mapping[str, str] | None = None, *, number: int = 77, branch: str = "feat-x", **more: Any
    ) -> Pull:
        """Open a pull request that appends an entry or, if given, changes other files."""
        files = {"perf-changelog.yaml": BASE + entry()} if files is None else files
        self.hub.push(branch, files, repository=more.get("repository"))
        return self.hub.open_pull(branch, number=number, **more)

    def sweep(
        self,
        number: int = 77,
        *,
        done: int = 2,
        failed: int = 0,
        running: int = 0,
        evals: int = 0,
        **more: Any,
    ) -> Run:
        """Add a run of the sweep workflow with rows in these states, the planned rows first."""
        run = self.hub.add_run("run-sweep.yml", pull=number, **more)
        self.hub.add_job(run.id, "gate")
        kinds = ["success"] * done + ["failure"] * failed + [""] * running
        for index, conclusion in enumerate(kinds):
            self.row(run, index, conclusion or None)
        for index in range(evals):
            self.hub.add_job(run.id, f"sweep / rows / {index + 500:012x} · eval · h200 · m1")
        if not (done or running):
            self.hub.add_job(run.id, "sweep", conclusion="skipped" if not failed else "failure")
        return run

    def row(self, run: Run, index: int, conclusion: str | None = "success") -> None:
        """Add the job of one row; the plan has two rows, and further rows are unplanned."""
        row_id = ROWS[index] if index < len(ROWS) else f"{index:012x}"
        name = f"sweep / rows / {row_id} · single-node 1k1k · h200 · m1"
        self.hub.add_job(run.id, name, conclusion=conclusion)

    def reconciler(self, token: str | None = None, *, memory: bool = False, **more: Any) -> Reconciler:
        """Return a reconciler; with `memory`, its clone is fetched now, and then only once."""
        token = token or self.token()
        github = connect(
            "acme/bench",
            environ={**self.hub.environ(token)},
            sleep=self.waited.append,
            budget=more.pop("budget", 900),
        )
        clone = more.pop("clone", None) or (
            _Remembered(self.clone)
            if memory
            else GitClone(self.clone, push_token=more.pop("push_token", None))
        )
        place = RepositoryContext(server="https://github.com", repository="acme/bench")
        return Reconciler(github=github, policy=self.policy, place=place, clone=clone, **more)

    def token(self) -> str:
        return self.hub.workflow_token(
            pull_requests="write", statuses="write", actions="write", contents="read"
        )

    def reconcile(self, *numbers: int, **more: Any) -> TurnReport:
        return self.reconciler(**more).run(numbers or (77,))

    def comments(self, number: int = 77) -> list[str]:
        return [comment.body or "" for comment in self.hub.comments_of(number)]

    def bot_comments(self, number: int = 77) -> list[str]:
        """Return the first lines of the bots' comments."""
        comments = (c for c in self.hub.comments_of(number) if (c.author or "").endswith("[bot]"))
        return [(comment.body or "").split("\n")[0] for comment in comments]

    def state(self) -> object:
        """Return everything that the bot may change, without times and GitHub's ids."""
        state = self.hub.state
        heads = {pull.head_sha for pull in state.pulls.values()}
        return (
            {n: [(c.author, c.body) for c in self.hub.comments_of(n)] for n in sorted(state.pulls)},
            {
                sha: [
                    (s.context, s.state, s.description, s.target_url, s.creator)
                    for s in state.statuses
                    if s.sha == sha
                ]
                for sha in sorted(heads)
            },
            sorted((run.id, run.status, run.conclusion) for run in state.runs.values()),
            {number: self.reactions(number) for number in sorted(state.pulls)},
        )

    def reactions(self, number: int = 77) -> list[tuple[str, str, str]]:
        """Return every reaction in a conversation: the comment's body, the kind and the account."""
        return sorted(
            (comment.body or "", reaction.content, reaction.author)
            for comment in self.hub.comments_of(number)
            for reaction in comment.reactions
        )


def status(world: World, sha: str | None = None) -> tuple[str, str]:
    """Return state and description of the newest `infx/sweep` on a commit, by default the head."""
    sha = sha or world.hub.state.pulls[77].head_sha
    newest = [s for s in world.hub.state.statuses if s.sha == sha and s.context == "infx/sweep"][-1]
    return newest.state, newest.description or ""


class _Remembered(GitClone):
    def __init__(self, git: Git) -> None:
        super().__init__(cast("Git", Memory(git)))
        self._real = GitClone(git)
        self._tip: str | None = None

    def fetch(self, base_branch: str, numbers: Sequence[int]) -> str:
        if self._tip is None:
            self._tip = self._real.fetch(base_branch, numbers)
        return self._tip
