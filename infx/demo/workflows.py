"""Play the workflows of GitHub Actions in the demo, and record their sweeps for the page."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from infx.artifacts import read_folder
from infx.bench.jobs import RowJob
from infx.demo.stage import DemoStage
from infx.demo.steps import SweepRecord
from infx.gate.decision import Reason
from infx.hub.state import Event, Run
from infx.matrix.estimate import estimate_gpu_hours
from infx.matrix.folder import JOBS
from infx.phrases import count
from infx.play.hub import Numbered
from infx.play.machines import Machines, StepDisplay, read_row_jobs
from infx.play.steps import RowOutcome, SweepEnd
from infx.policy import POLICY_PATH
from infx.results.collect import collect
from infx.rowfile.launch_drivers import MARK


@dataclass
class DemoMachines(Machines):
    """The machines of the demo, which also play merges and approvals."""

    stage: DemoStage
    _rows_step: int = 0  # the step that names the outcome of the newest sweep's rows

    def merge_group(self, number: int) -> None:
        """Run the workflow `changelog` in the merge queue: check that links are canonical and that no entry is lost.

        Without a queue, the test merge is checked.
        """
        pull, entry = self.stage.hub.state.pulls[number], self.stage.hub.find_entry(number)
        self.stage.hub.compute_merge(pull)
        sides = (pull.merge_sha, pull.base_sha) if entry is None else (entry.group_sha, entry.group_base)
        head, base = sides
        assert head is not None
        words = "merge queue: check the changelog that main would get"
        self.validate(words, number, head, "merge", base or pull.base_sha)

    def merge(self, event: Event, number: int, *, why: str, expect: int = 0) -> None:
        """Run the workflow `merge` for a comment; checks that have not ended are not awaited here."""
        push = self.make_push_token({"contents": "write", "pull-requests": "write", "workflows": "write"})
        self.act(
            "merge",
            StepDisplay(f"merge: {why}", lambda answer: answer.err.splitlines(), expect),
            job=("merge", "merge"),
            inputs={"policy": POLICY_PATH, "directory": self.clone(), "wait": "0", "push-token": push},
            pull=number,
            environ={**self.stage.dates(), **self.save_event(event)},
        )
        self.stage.hub.sync()

    def approve(self, event: Event) -> Run:
        """Run the workflow `approve-fork` and return the run that it dispatched."""
        hub = self.stage.hub
        earlier_runs = set(hub.state.runs)
        self.act(
            "approve",
            StepDisplay(
                "approve-fork: check who approved, and that this commit is still the head",
                lambda answer: [json.loads(answer.out)["words"]],
            ),
            job=("approve-fork", "approve"),
            inputs={"policy": f"{self.clone()}/{POLICY_PATH}"},
            pull=event.payload["issue"]["number"],
            environ=self.save_event(event),
        )
        return next(run for number, run in hub.state.runs.items() if number not in earlier_runs)

    def save_sweep(self, number: int, words: str) -> None:
        """Record that the newest sweep of a pull request did not have to run once more."""
        if sweeps := [sweep for sweep in self.stage.sweeps if sweep.pull == number]:
            self.stage.save(number, words, sweeps[-1].gpu_hours)

    def sweep(
        self, event: Event, number: int, *, run: Numbered | None = None, is_valid: bool = True
    ) -> SweepEnd:
        """Run the workflow `run-sweep`, and record a sweep that did not have to run once more."""
        end = super().sweep(event, number, run=run, is_valid=is_valid)
        if end.decision["verdict"] == "ignore" and end.decision["reason"] == Reason.SKIP_MARKER:
            self.save_sweep(number, "no new sweep for a commit that only merges main")
        return end

    def prepare_row(self, job: RowJob, measured: Path, folder: Path) -> Path:
        """Return a folder with links to the measured files, which is faster than a checkout."""
        folder.mkdir(parents=True, exist_ok=True)
        for path in measured.glob("[!.]*"):
            (folder / path.name).symlink_to(path)
        return folder

    def make_row_environ(self, runner: str) -> dict[str, str]:
        """Return the variables of a runner, and the mark of this demo, so that it ends no processes of another demo."""
        return {**super().make_row_environ(runner), MARK: f"demo-{os.getpid()}"}

    def note_rows(self, number: int, rows: Sequence[RowOutcome]) -> None:
        """Record how the rows ended, and the GPU-hours of those that were stopped."""
        self.stage.clock.skip_to_next_hour()
        super().note_rows(number, rows)
        self._rows_step = len(self.stage.steps) - 1
        if stopped := [row.job.row for row in rows if row.conclusion == "cancelled"]:
            words = f"{count(len(stopped), 'row')} stopped before they began, after the first failure"
            self.stage.save(number, words, estimate_gpu_hours(stopped, self.policy.estimates))

    def keep_results(self, run: Numbered, number: int, rows: Sequence[RowOutcome]) -> None:
        """Record the sweep for the page."""
        folder = self.stage.folder / f"run-{run.id}"
        jobs = read_row_jobs(folder / "sweep-plan" / JOBS)
        ran = [row.job.row for row in rows if row.conclusion != "cancelled"]
        record = SweepRecord(
            run=run.id,
            pull=number,
            step=self._rows_step,
            rows=tuple(rows),
            points=collect(jobs, read_folder(folder / "artifacts"), self.policy.results).points,
            gpu_hours=estimate_gpu_hours(ran, self.policy.estimates),
        )
        self.stage.sweeps.append(record)
