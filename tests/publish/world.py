"""The reuse hub with a target repository, a store in memory, and sweeps that left real results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from infx.bench.jobs import RowJob
from infx.bench.row import Row
from infx.bench.uploads import artifact_name
from infx.hub import Hub
from infx.hub.state import Run, Status
from infx.matrix.environment import project_job
from infx.policy.load import default_policy
from infx.publish.rows import make_jobs
from infx.results.artifact import ArtifactFile, ReadArtifact
from infx.results.collect import EVALS, POINTS, collect, render_files
from infx.results.series import StoredRow
from infx.store.memory import MemoryStore
from tests.calling import Called
from tests.made_results import make_files
from tests.reuse.world import POLICY, World, open_world

TARGET = "acme/app"
RULES = default_policy().results
OWN = 7000  # the run that publishes
WRITES = {"contents": "write", "statuses": "write", "actions": "read", "pull_requests": "read"}


class ListedStore(MemoryStore):
    """A store in memory that shows all its rows."""

    def list_rows(self) -> list[StoredRow]:
        return [row for publication in self._publications.values() for row in publication.rows]


@dataclass
class Publishing:
    """A world in which merges are published.

    Attributes:
        attempt: of the run that publishes; every call is a new attempt.
        has_token: whether the job has a token for the target.
    """

    world: World
    store: ListedStore = field(default_factory=ListedStore)
    attempt: int = 0
    has_token: bool = True
    target_token: str = ""

    def follow(self, on_merge: str = "reuse", target: str | None = TARGET) -> None:
        text = f"{POLICY}on-merge: {on_merge}\npublish: {{target: {target or 'null'}}}\n"
        (self.world.folder / "policy.yaml").write_text(text, encoding="utf-8")

    def sweep(self, *, failing: Sequence[int] = (), **more: Any) -> Run:
        """Add a sweep with the results of its rows. failing: places of rows that fail."""
        conclusion = "failure" if failing else "success"
        rows = more.pop("rows", None) or self.world.rows(number=more.get("number", 77))
        run = self.world.sweep(conclusion, rows=rows, failing=failing, artifacts=(), **more)
        self.upload(run, [row for place, row in enumerate(rows) if place not in failing])
        return run

    def upload(self, run: Run, rows: Sequence[Any], earlier: Sequence[Any] = ()) -> None:
        """Upload raw results of rows, and the aggregates of these and of earlier rows."""
        upload_results(self.world.hub, run.id, [row.row for row in rows], [row.row for row in earlier])

    def merge(self, number: int = 77) -> str:
        """Merge a pull request, and return the merge's SHA."""
        self.world.hub.merge_pull(number, method="squash")
        return self.world.hub.git.resolve("refs/heads/main") or ""

    def validate(self, *arguments: str, event: tuple[str, Mapping[str, Any]] | None = None) -> Called:
        """Play the reading job."""
        self.attempt += 1
        words = ("publish", "--format", "json", "--policy", str(self.world.folder / "policy.yaml"))
        out = ("--out", str(self.world.folder / "out"))
        token = self.world.hub.workflow_token(
            contents="read", actions="read", pull_requests="read", statuses="read"
        )
        return self._call([*words, *out, *arguments], token, event)

    def deliver(self, validated: Called, *arguments: str) -> Called:
        """Play the writing job."""
        words = ("publish", "--format", "json", "--policy", str(self.world.folder / "policy.yaml"))
        handover = (
            "--from",
            str(self.world.folder / "out" / "publish.json"),
            "--sum",
            validated.outputs["sum"],
        )
        token = self.world.hub.workflow_token(WRITES)
        return self._call([*words, *handover, *arguments], token, None)

    def publish(self, *arguments: str) -> Called:
        """Play both jobs for one merge, or the first one if it fails."""
        validated = self.validate(*arguments)
        if validated.code:
            return validated
        return self.deliver(validated, *(["--recover"] if "--recover" in arguments else []))

    def _call(self, words: Sequence[str], token: str, event: tuple[str, Mapping[str, Any]] | None) -> Called:
        environ = {
            **self.world.hub.environ(token),
            "GITHUB_RUN_ID": str(OWN),
            "GITHUB_RUN_ATTEMPT": str(self.attempt),
            "INFX_TARGET_TOKEN": self.target_token if self.has_token else "",
        }
        return self.world.call_plain(words, environ, event)

    @property
    def rows(self) -> list[StoredRow]:
        return self.store.list_rows()

    @property
    def sent(self) -> list[tuple[str, dict[str, Any], str]]:
        """The events that the target has got."""
        return self.world.hub.state.neighbors[TARGET]

    def statuses(self, sha: str) -> list[Status]:
        """Return the statuses of a merge, newest first."""
        known = [status for status in self.world.hub.state.statuses if status.sha == sha]
        return [status for status in reversed(known) if status.context == "infx/published"]


def measure(job: RowJob) -> dict[str, Any]:
    """Return the result files of a row."""
    return make_files(project_job(job, max_bytes=131_071))


def upload_results(hub: Hub, run_id: int, rows: Sequence[Row], earlier: Sequence[Row] = ()) -> None:
    """Upload raw results of rows, and the aggregates of these and of earlier rows."""
    artifacts = []
    for place, job in enumerate(make_jobs([*rows, *earlier])):
        files = {name: json.dumps(value) for name, value in measure(job).items()}
        if place < len(rows):
            hub.add_artifact(run_id, artifact_name(job), files)
        data = tuple(ArtifactFile(path=name, data=text.encode()) for name, text in files.items())
        artifacts.append(ReadArtifact(name=artifact_name(job), files=data))
    collection = collect(make_jobs([*rows, *earlier]), artifacts, RULES)
    for path, text in render_files(collection).items():
        folder, _, name = path.rpartition("/")
        if folder in {POINTS, EVALS} and name.endswith(".json"):
            hub.add_artifact(run_id, folder, {name: text})


@contextmanager
def open_publishing(folder: Path) -> Iterator[Publishing]:
    with open_world(folder) as world:
        world.hub.add_neighbor(TARGET)
        publishing = Publishing(
            world=world,
            store=ListedStore(),
            target_token=world.hub.app_token("publisher[bot]", contents="write"),
        )
        publishing.follow()
        yield publishing


@contextmanager
def prepare(folder: Path) -> Iterator[Publishing]:
    """Open a world whose commands never wait, and store into its store."""
    with pytest.MonkeyPatch.context() as patch, open_publishing(folder) as publishing:
        patch.setattr("infx.cli.github.wait", lambda seconds: None)
        patch.setattr("infx.cli.store.open_results", lambda policy: publishing.store)
        yield publishing
