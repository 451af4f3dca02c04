"""A hub whose pull request 77 appends an entry and was swept, and the ways to merge it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from infx.git import Git
from infx.hub import Hub
from infx.hub.seed import WORKFLOW_FILES
from infx.hub.state import Pull
from tests.calling import Called, call
from tests.reconcile.world import BASE, CONFIGS, LABEL, ROWS, entry

OTHER = entry("other", "https://github.com/acme/bench/pull/70")
OWN = entry("new", "https://github.com/acme/bench/pull/77")
POLICY = """\
repository: acme/bench
signoff:
  core-owners: ["@acme/core"]
  teams: {"@acme/core": [mia]}
"""
FILES = {
    ".github/CODEOWNERS": "* @acme/core\n",  # the core team owns everything, so no sign-off is needed
    "benchmarks/run.sh": "true\n",
    "perf-changelog.yaml": BASE,
    **WORKFLOW_FILES,
    **CONFIGS,
}
APP = "bench-app[bot]"
SCOPES = {
    "contents": "read",
    "pull_requests": "write",
    "statuses": "write",
    "actions": "read",
    "checks": "read",
}
APP_SCOPES = {"contents": "write", "pull_requests": "write", "workflows": "write"}


@dataclass
class World:
    """The hub, a clone of its repository, and a clock that moves by a second at each look."""

    hub: Hub
    folder: Path
    now: datetime = datetime(2026, 11, 30, 12, tzinfo=UTC)
    policy: str = POLICY
    waited: list[float] = field(default_factory=list)

    @classmethod
    def make(cls, folder: Path) -> World:
        moments: list[World] = []
        hub = Hub(folder, clock=lambda: moments[0].tick() if moments else cls.now)
        hub.is_limited = False
        hub.state.workflows.append("run-sweep.yml")
        hub.push("main", FILES)
        hub.account("mia", role="maintain")
        hub.account("noor", role="write")
        hub.account("tia", role="triage")
        Git(folder).run("clone", "--quiet", str(hub.git.path), str(folder / "clone"))
        world = cls(hub=hub, folder=folder)
        moments.append(world)
        return world

    def tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def pull(self, number: int = 77, **more: Any) -> Pull:
        """Open a pull request that appends an entry, with its label and a green sweep."""
        branch, repository = more.pop("branch", f"feat-{number}"), more.get("repository")
        files = more.pop("files", {"perf-changelog.yaml": BASE + entry(more.pop("words", "new"))})
        labels = more.pop("labels", [LABEL])
        self.hub.push(branch, files, repository=repository)
        opened = self.hub.open_pull(branch, number=number, labels=labels, **more)
        if repository is None:
            self.sweep(number)
        return opened

    def sweep(self, number: int = 77, conclusion: str | None = "success", **more: Any) -> int:
        """Add a run of the sweep workflow with both planned rows, and return its id."""
        run = self.hub.add_run("run-sweep.yml", pull=more.pop("pull", number), **more)
        self.hub.add_job(run.id, "gate")
        for row_id in ROWS:
            name = f"sweep / rows / {row_id} · single-node 1k1k · h200 · m1"
            self.hub.add_job(run.id, name, conclusion=conclusion)
        if conclusion is not None:
            self.hub.add_artifact(run.id, "results_bmk", {"agg.json": "[]"})
            self.hub.finish_run(run.id, conclusion)
        return run.id

    def conflict(self, path: str = "README.md", text: str = "theirs\n") -> str:
        """Let the base branch append another entry, and change a file."""
        return self.hub.push("main", {"perf-changelog.yaml": BASE + OTHER, path: text})

    def head(self, number: int = 77) -> str:
        return self.hub.state.pulls[number].head_sha

    def file(self, revision: str = "main", path: str = "perf-changelog.yaml") -> str:
        blob = self.hub.git.file(revision, path)
        assert blob is not None
        return blob[2].decode()

    def merge(
        self,
        *arguments: str,
        event: tuple[str, Mapping[str, Any]] | None = None,
        app: bool = True,
        by: str | None = None,
        **environ: str,
    ) -> Called:
        """Call `infx merge` like the workflow, or by a person's own token.

        Args:
            app: whether the workflow has an App's token.
            by: the person whose token the command has.
        """
        usual = () if event else ("77",)
        return self.call("merge", *(arguments or usual), event=event, app=app, by=by, **environ)

    def call(
        self,
        *arguments: str,
        event: tuple[str, Mapping[str, Any]] | None = None,
        app: bool = True,
        by: str | None = None,
        **environ: str,
    ) -> Called:
        token = self.hub.workflow_token(SCOPES) if by is None else self.hub.user_token(by)
        policy = self.folder / "policy.yaml"
        policy.write_text(self.policy, encoding="utf-8")
        variables = {**self.hub.environ(token), "INFX_POLICY": str(policy), **environ}
        if app and by is None:
            variables["INFX_PUSH_TOKEN"] = self.hub.app_token(APP, APP_SCOPES)
        words = list(arguments)
        if event is not None:
            file = self.folder / "event.json"
            file.write_text(json.dumps(event[1]), encoding="utf-8")
            words += ["--event", str(file), "--event-name", event[0]]
        with standing_in(self.folder / "clone"):
            return call(*words, environ=variables)

    def statuses(self, number: int = 77) -> dict[str, str]:
        """Return context → state of the newest statuses on a head."""
        sha = self.head(number)
        return {status.context: status.state for status in self.hub.state.statuses if status.sha == sha}

    def end(self, number: int = 77) -> object:
        """Return everything that matters after a merge, without times, SHAs and ids."""
        pull = self.hub.state.pulls[number]
        return (
            pull.merged_at is not None,
            self.file(),
            [self.message(sha) for sha in self.hub.git.commits_between(None, "main")],
            sorted(self.statuses(number).items()),
            [entry.pull for entry in self.hub.state.queue],
        )

    def message(self, sha: str) -> str:
        return self.hub.git.commit(sha).message.splitlines()[0]


@contextmanager
def standing_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
