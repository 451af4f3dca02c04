"""The repository's own workflows, run by `act` in host mode against the hub.

act knows nothing of concurrency, permissions, fail-fast or event types; here only what it does as GitHub does is
looked at: which jobs ran, what they printed, uploaded and wrote into summaries.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from infx.hub.hub import Hub
from tests.conftest import ROOT

STAND_IN = Path(__file__).with_name("stand-in")
TRIES = 3
SILENCE = 60.0  # seconds; a step of ours takes a few
_ROW = re.compile(r"[0-9a-f]{12}(?:-[0-9]+)? · .*")
_STAND_INS = {
    "actions/checkout": "checkout",
    "actions/upload-artifact": "upload",
    "actions/download-artifact": "download",
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """jobs: last segment of a job's name → its results, one for each leg. summaries: in the order of steps.

    commands: every workflow command that was obeyed, printed or written into one of the runner's files.
    """

    code: int
    jobs: Mapping[str, list[str]]
    summaries: Sequence[str]
    commands: Sequence[Mapping[str, Any]]
    log: str
    artifacts: Path

    @property
    def rows(self) -> list[str]:
        """Names of the jobs of rows, the first first."""
        return [name for name in self.jobs if _ROW.match(name)]

    def artifact(self, name: str) -> dict[str, str]:
        folder = self.artifacts / name
        files = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_text() for path in files}

    @property
    def ledger(self) -> list[tuple[str, str]]:
        """(id, revision) of every row whose command was started, if the policy's command says so."""
        path = self.artifacts.with_name("ledger")
        lines = path.read_text().splitlines() if path.exists() else []
        return [(line.split()[0], line.split()[1]) for line in lines]

    @property
    def uploaded(self) -> set[str]:
        return {path.name for path in self.artifacts.iterdir()}


class Act:
    """hub: where the workflows look. folder: temporary, for everything that act and the steps write."""

    def __init__(self, hub: Hub, folder: Path) -> None:
        self.hub = hub
        self.folder = folder
        self.project = folder / "project"
        shutil.copytree(ROOT / ".github", self.project / ".github")
        _git(self.project, "init", "--quiet", "--initial-branch=main")
        _git(self.project, "add", "--all")
        _git(self.project, "commit", "--quiet", "--message", "workflows")
        self.toolkit = self._lay_out_toolkit(folder / "toolkit")

    def _lay_out_toolkit(self, path: Path) -> Path:
        """A checkout of the base branch, whose installation puts this test's own environment on the PATH."""
        _git(self.folder, "clone", "--quiet", str(self.hub.git.path), str(path))
        shutil.copytree(ROOT / ".github", path / ".github", dirs_exist_ok=True)
        script = path / ".github/actions/install.sh"
        bin_ = Path(sys.executable).parent
        script.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "{bin_}" "{self._lay_out_command(bin_)}" >> "$GITHUB_PATH"\n'
        )
        return path

    def _lay_out_command(self, bin_: Path) -> Path:
        """infx, told the event of the caller's run, which GitHub tells a called workflow and act does not."""
        path = self.folder / "bin/infx"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f'#!/bin/sh\nGITHUB_EVENT_NAME=${{CALLED_BY:-$GITHUB_EVENT_NAME}} exec "{bin_}/infx" "$@"\n'
        )
        path.chmod(0o755)
        return path.parent

    def run(
        self,
        workflow: str,
        event: str,
        payload: Mapping[str, Any],
        *,
        run_id: int = 700,
        attempt: int = 1,
        called_by: str | None = None,
    ) -> Outcome:
        """One workflow run, or a part of one. payload: of the webhook.

        called_by: the event of the run whose called workflow this is, with its inputs in the payload; so a partial
        re-run is played, which starts some of its jobs with the outputs of the first attempt.
        """
        artifacts = self.folder / f"artifacts-{run_id}"
        artifacts.mkdir(exist_ok=True)
        event_file = self.folder / "event.json"
        event_file.write_text(json.dumps(payload))
        command = self._command(workflow, event, event_file, artifacts, run_id, attempt)
        if called_by:
            command += ["--env", f"CALLED_BY={called_by}"]
        before = shutil.copytree(artifacts, self.folder / f"before-{run_id}-{attempt}")
        ledger = artifacts.with_name("ledger")
        started = ledger.read_bytes() if ledger.exists() else b""
        for _ in range(TRIES):
            done = run_tool(command, self.project, self.folder)
            if not has_crashed(done):
                break
            shutil.rmtree(artifacts)
            shutil.copytree(before, artifacts)
            ledger.write_bytes(started)
        return _read_outcome(done, artifacts)

    def _command(
        self, workflow: str, event: str, event_file: Path, artifacts: Path, run_id: int, attempt: int
    ) -> list[str]:
        variables = {
            "GITHUB_API_URL": self.hub.api,
            "GITHUB_REPOSITORY": self.hub.repository,
            "GITHUB_RUN_ID": str(run_id),
            "GITHUB_RUN_ATTEMPT": str(attempt),
            "GITHUB_TRIGGERING_ACTOR": "cody",
            "STAND_IN": str(STAND_IN / "stand-in"),
            "SOURCE": str(self.hub.git.path),
            "TOOLKIT": str(self.toolkit),
            "ARTIFACTS": str(artifacts),
            "LEDGER": str(self.folder / "ledger"),
        }
        labels = ["ubuntu-24.04", *_runner_labels()]
        options = [event, "--json", "-e", str(event_file), "-W", f".github/workflows/{workflow}"]
        options += [part for label in labels for part in ("-P", f"{label}=-self-hosted")]
        options += [part for name, value in variables.items() for part in ("--env", f"{name}={value}")]
        options += [part for pin in _pins() for part in ("--local-repository", pin)]
        token = self.hub.workflow_token(
            contents="read", pull_requests="write", actions="write", statuses="write"
        )
        options += ["-s", f"GITHUB_TOKEN={token}", "-a", "cody", "--no-cache-server"]
        options += ["--action-cache-path", str(self.folder / "act"), "--concurrent-jobs", "3"]
        return [str(Path(sys.executable).parent / "act"), *options]


def _pins() -> list[str]:
    """Every pinned action of the workflows with its stand-in."""
    used = set()
    for path in (ROOT / ".github").rglob("*.yml"):
        used.update(re.findall(r"uses: (actions/[\w-]+)@([0-9a-f]{40})", path.read_text()))
    return [f"{name}@{sha}={STAND_IN / _STAND_INS[name]}" for name, sha in sorted(used) if name in _STAND_INS]


def _runner_labels() -> list[str]:
    inventory = yaml.safe_load((ROOT / "configs/runners.yaml").read_text())
    return sorted(inventory["labels"])


def _read_outcome(done: subprocess.CompletedProcess[str], artifacts: Path) -> Outcome:
    """act prints a record a line; the last line may be a plain error."""
    jobs: dict[str, list[str]] = defaultdict(list)
    summaries, commands = [], []
    for line in done.stdout.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "command" in record:
            commands.append(record)
        if record.get("command") == "summary":
            summaries.append(record["content"])
        if "jobResult" in record:
            jobs[_last_segment(record["job"])].append(record["jobResult"])
    return Outcome(
        code=done.returncode,
        jobs=dict(jobs),
        summaries=summaries,
        commands=commands,
        log=done.stdout + done.stderr,
        artifacts=artifacts,
    )


def run_tool(
    command: Sequence[str], directory: Path, folder: Path, silence: float = SILENCE
) -> subprocess.CompletedProcess[str]:
    """Run act to its end, or to its crash where it has said nothing for `silence` seconds and more.

    Now and then act waits for ever for the end of a terminal that nobody writes to any more. SIGQUIT makes it end as
    in a crash, with the stacks of its threads; if it does not heed that either, it is killed.
    """
    told, blamed = folder / "act.stdout", folder / "act.stderr"
    with told.open("wb") as stdout, blamed.open("wb") as stderr:
        # act hands its whole environment on to the steps
        env = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}
        process = subprocess.Popen(command, cwd=directory, env=env, stdout=stdout, stderr=stderr)
        try:
            _wait_for(process, told, silence)
        finally:  # also when the test's own deadline has come
            process.kill()
            process.wait()
    return subprocess.CompletedProcess(command, process.returncode, told.read_text(), blamed.read_text())


def _wait_for(process: subprocess.Popen[bytes], told: Path, silence: float) -> None:
    size, is_asked = -1, False
    while process.poll() is None:
        if size == (size := told.stat().st_size):
            process.send_signal(signal.SIGKILL if is_asked else signal.SIGQUIT)
            is_asked = True
        with suppress(subprocess.TimeoutExpired):
            process.wait(silence)


def has_crashed(done: subprocess.CompletedProcess[str]) -> bool:
    """act itself, in one of its threads (`fatal error: concurrent map writes`) or by our signals, and not the workflow."""
    return done.returncode == -signal.SIGKILL or (done.returncode == 2 and "\ngoroutine " in done.stderr)


def _last_segment(name: str) -> str:
    """act writes `workflow/job/callee`; a row's own name may hold a `/` too, and starts with its id."""
    row = _ROW.search(name)
    return row[0].strip() if row else name.rsplit("/", 1)[-1]


def _git(folder: Path, *arguments: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
