"""Run the rows of a sweep on a few workers: first the canary, then the others; with fail-fast, stop after a failure."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Protocol

from infx.bench.config import Runners
from infx.bench.jobs import RowJob
from infx.bench.uploads import artifact_name
from infx.matrix.row_file import ROW_FILE
from infx.play.hub import PlayHub
from infx.play.steps import RowOutcome
from infx.rowfile.record import RECORD

# The signals of a runner to a job that is cancelled, with the seconds until the next one.
_CANCELLATION = ((signal.SIGINT, 7.5), (signal.SIGTERM, 2.5), (signal.SIGKILL, 5.0))


class Show(Protocol):
    """A display of progress."""

    def begin(self, total: int, title: str) -> None: ...

    def started(self, job: RowJob) -> None: ...

    def ended(self, outcome: RowOutcome) -> None: ...

    def end(self) -> None: ...


@dataclass
class Fanout:
    """The rows of a run on workers of this machine."""

    hub: PlayHub
    run: int
    caller: str  # the job that calls the workflow of the sweep
    prepare: Callable[[RowJob], Path]  # returns the folder in which a row runs
    environ: Callable[[str], Mapping[str, str]]  # variables for a row on a runner
    folder: Path
    workers: int
    show: Show
    fail_fast: bool
    runners: Runners  # which machines have a label
    _failed: Event = field(default_factory=Event)
    _stopped: Event = field(default_factory=Event)  # an error or the user ended the play
    _programs: list[subprocess.Popen[bytes]] = field(default_factory=list)  # of rows that run

    def play(self, canary: Sequence[RowJob], jobs: Sequence[RowJob]) -> list[RowOutcome]:
        """Run all rows and return their outcomes in the order of the plan; the canary's row runs once."""
        self.show.begin(len(jobs), f"sweep of run {self.run}")
        try:
            with self._stopping():
                outcomes = {
                    job.id: self._run(job, f"{self.caller} / canary / {job.name}", 0) for job in canary
                }
            outcomes |= self._run_after_canary([job for job in jobs if job.id not in outcomes])
        finally:
            self.show.end()
        return [outcomes[job.id] for job in jobs]

    def _run_after_canary(self, jobs: Sequence[RowJob]) -> dict[str, RowOutcome]:
        """Run the rows on all workers, unless the canary failed."""
        if self._failed.is_set():
            return {job.id: RowOutcome(job=job, conclusion="cancelled") for job in jobs}
        # Shares are fixed in advance so that every demo puts a row on the same runner.
        shares = [jobs[worker :: self.workers] for worker in range(self.workers)]
        with ThreadPoolExecutor(self.workers) as pool, self._stopping():
            outcomes_of_workers = pool.map(self._run_share, shares, range(self.workers))
            return {outcome.job.id: outcome for outcomes in outcomes_of_workers for outcome in outcomes}

    @contextlib.contextmanager
    def _stopping(self) -> Iterator[None]:
        """Stop all rows if an error or an interruption ends the block; the workers end with their rows."""
        try:
            yield
        except BaseException:
            self._stopped.set()
            for number, seconds in _CANCELLATION:
                ends_at = time.monotonic() + seconds
                programs = list(self._programs)
                for program in programs:
                    program.send_signal(number)
                for program in programs:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        program.wait(max(ends_at - time.monotonic(), 0.0))
            raise

    def _run_share(self, jobs: Sequence[RowJob], worker: int) -> list[RowOutcome]:
        return [self._run_unless_stopped(job, worker) for job in jobs]

    def _run_unless_stopped(self, job: RowJob, worker: int) -> RowOutcome:
        name = f"{self.caller} / rows ({job.shard}) / {job.name}"
        if not (self._stopped.is_set() or (self._failed.is_set() and self.fail_fast)):
            return self._run(job, name, worker)
        self.hub.add_job(self.run, name, conclusion="cancelled")
        outcome = RowOutcome(job=job, conclusion="cancelled")
        self.show.ended(outcome)
        return outcome

    def _run(self, job: RowJob, name: str, worker: int) -> RowOutcome:
        """Run a row by the row file, on the worker's runner with the row's label."""
        names = self.runners.labels.get(job.runs_on) or (f"{job.runs_on}_00",)
        runner = names[worker % len(names)]
        record = self.hub.add_job(self.run, name, conclusion=None, runner=runner)
        self.show.started(job)
        started = time.perf_counter()
        out, log = self.folder / "artifacts" / artifact_name(job), self.folder / f"{job.id}.log"
        code = self._run_row_file(job, runner, out, log)
        files = sorted(out.iterdir()) if out.is_dir() else []
        conclusion = "success" if code == 0 else "cancelled" if self._stopped.is_set() else "failure"
        if files:
            self.hub.add_artifact(self.run, out.name, {path.name: path.read_bytes() for path in files})
        elif out.is_dir():
            out.rmdir()
        self.hub.finish_job(record.id, conclusion)
        if conclusion == "failure":
            self._failed.set()
        outcome = RowOutcome(
            job=job,
            conclusion=conclusion,
            runner=runner,
            seconds=time.perf_counter() - started,
            words=_find_words(out, log),
        )
        self.show.ended(outcome)
        return outcome

    def _run_row_file(self, job: RowJob, runner: str, out: Path, log: Path) -> int:
        """Return the exit code of the row, which has a folder of its own with the measured scripts in it."""
        workplace = self.prepare(job)
        plan = self.folder / "sweep-plan"
        program = [
            sys.executable,
            "-I",
            "-S",
            str(plan / ROW_FILE),
            "run",
            "--plan",
            str(plan),
            "--id",
            job.id,
        ]
        with log.open("wb") as output:
            running = subprocess.Popen(
                [*program, "--directory", str(workplace), "--out", str(out)],
                env={
                    **os.environ,
                    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
                    **self.environ(runner),
                },
                stdout=output,
                stderr=subprocess.DEVNULL,  # not a pipe, which a process that the row leaves behind would keep open
                start_new_session=True,  # Ctrl-C reaches the row once, by this program
            )
        self._programs.append(running)
        if self._stopped.is_set():  # since the last look at it
            running.terminate()
        code = running.wait()
        self._programs.remove(running)
        return code


def _find_words(out: Path, log: Path) -> str:
    """Return the last words of a row: the first error with its evidence if the job's record has it, or else of the log."""
    try:
        error = json.loads((out / RECORD).read_bytes())["error"] or {}
    except OSError:  # the row did not start
        error = {}
    if error.get("evidence"):
        return f"{error['message']} {error['evidence'][-1]}"
    return (log.read_text(errors="replace").strip().splitlines() or [""])[-1]
