"""Do in the demo what GitHub Actions and the runners do: run the project's actions, one after another, on this machine.

The jobs are those of `.github/workflows`. As on GitHub, the gate decides which jobs run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infx.artifacts import read_folder
from infx.bench.jobs import RowJob
from infx.demo.actions import Shell, read_action, read_permissions
from infx.demo.fanout import Fanout, Show
from infx.demo.repository import POLICY
from infx.demo.stage import APP, Answer, DemoStage, hub_dates
from infx.demo.steps import RowOutcome, SweepRecord
from infx.gate.decision import Reason
from infx.git import Git
from infx.hub.state import Event, Run
from infx.matrix.estimate import estimate_gpu_hours
from infx.matrix.folder import CANARY, JOBS, read_jobs
from infx.phrases import count
from infx.policy.load import parse_policy
from infx.policy.model import Policy
from infx.results.collect import collect

ACTIONS = "Actions"
_PRIORITIES = "configs/ci-priority.yaml"
_THRESHOLDS = "configs/eval-thresholds.yaml"
_CHECK = re.compile(r"(?m)^- (❌|⚠️) (Check [0-9]+ \([^)]+\)): \w+ — (.+)$")
_LINKS = re.compile(r" \((?:\[[^]]*\]\([^)]*\)(?:, )?)+\)")


@dataclass(frozen=True)
class StepDisplay:
    """The text that the demo shows for a step of an action."""

    words: str
    show: Callable[[Answer], Sequence[str]]  # selects the lines of the output
    expect: int = 0  # exit code


@dataclass
class Machines:
    """The machines of GitHub Actions, played on a stage."""

    stage: DemoStage
    show: Show
    workers: int = 3  # rows that run at the same time

    def changelog(self, number: int, *, expect: int = 0) -> None:
        """Run the workflow `changelog`: validate the entries that the pull request appends."""
        words = "changelog: check the entries that the branch appends, before any GPU is used"
        head = self.stage.hub.state.pulls[number].head_sha
        self._validate(words, number, head, "pr", expect=expect)

    def merge_group(self, number: int) -> None:
        """Run the workflow `changelog` in the merge queue: check that links are canonical and that no entry is lost.

        Without a queue, the test merge is checked.
        """
        pull, entry = self.stage.hub.state.pulls[number], self.stage.hub.find_entry(number)
        self.stage.hub.compute_merge(pull)
        head, base = (pull.merge_sha, None) if entry is None else (entry.group_sha, entry.group_base)
        assert head is not None
        words = "merge queue: check the changelog that main would get"
        self._validate(words, number, head, "merge", base=base)

    def _validate(
        self, words: str, number: int, head: str, stage: str, *, base: str | None = None, expect: int = 0
    ) -> None:
        base = base or self.stage.hub.state.pulls[number].base_sha
        inputs = {"policy": f"{base}:{POLICY}", "base-ref": base, "head-ref": head, "stage": stage}
        self.act(
            "changelog",
            StepDisplay(words, lambda answer: answer.err.splitlines(), expect),
            inputs={
                **inputs,
                "pr": str(number) if stage == "pr" else "",
                "directory": str(self._check_out(head)),
            },
            pull=number,
        )

    def merge(self, event: Event, number: int, *, why: str, expect: int = 0) -> None:
        """Run the workflow `merge` for a comment; checks that have not ended are not awaited here."""
        push = self.stage.hub.app_token(APP, contents="write", pull_requests="write", workflows="write")
        self.act(
            "merge",
            StepDisplay(f"merge: {why}", lambda answer: answer.err.splitlines(), expect),
            job=("merge", "merge"),
            inputs={"policy": POLICY, "directory": self.clone(), "wait": "0", "push-token": push},
            pull=number,
            environ={**hub_dates(self.stage), **self.save_event(event)},
        )
        self.stage.hub.sync()

    def reconcile(self, number: int, *, why: str) -> None:
        """Run the workflow `reconcile`: update the bot's comments and statuses to the current state."""

        def show(answer: Answer) -> list[str]:
            lines = (answer.out + answer.err).splitlines()
            return [line for line in lines if not line.startswith("Pull requests:")]

        push = self.stage.hub.app_token(APP, contents="write", pull_requests="write")
        self.act(
            "reconcile",
            StepDisplay(f"reconcile: {why}", show),
            job=("reconcile", "reconcile"),
            inputs={"policy": POLICY, "directory": self.clone(), "pr": str(number), "push-token": push},
            pull=number,
            environ=hub_dates(self.stage),
        )
        self.stage.hub.sync()

    def signoff(self, event: Event, number: int, *, why: str) -> None:
        """Run the workflow `signoff`: verify every sign-off of the pull request again."""
        self.act(
            "signoff",
            StepDisplay(f"signoff: {why}", _describe_signoff),
            job=("signoff", "verify"),
            inputs={"policy": POLICY, "directory": self.clone()},
            pull=number,
            environ=self.save_event(event),
        )

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
            inputs={"policy": f"{self.clone()}/{POLICY}"},
            pull=event.payload["issue"]["number"],
            environ=self.save_event(event),
        )
        return next(run for number, run in hub.state.runs.items() if number not in earlier_runs)

    def sweep(self, event: Event, number: int, *, run: Run | None = None) -> SweepRecord | None:
        """Run the workflow `run-sweep` for an event; `run` is the run that a dispatch has already created."""
        hub = self.stage.hub
        run = run or hub.add_run("run-sweep.yml", pull=number, by=event.sender)
        gate = hub.add_job(run.id, "gate", conclusion=None)
        decision = self._gate(event, run, number)
        hub.finish_job(gate.id)
        record = None
        if decision["verdict"] == "run":
            record = self._sweep(run, number, decision)
        elif decision["verdict"] == "stop":
            self._stop_others(run, number)
        elif decision["reason"] == Reason.SKIP_MARKER:
            self.save_sweep(number, "no new sweep for a commit that only merges main")
        failed = record is not None and any(row.conclusion != "success" for row in record.rows)
        hub.finish_run(run.id, "failure" if failed or decision["refused"] else "success")
        return record

    def _gate(self, event: Event, run: Run, number: int) -> dict[str, Any]:
        self._folder(run).mkdir(parents=True, exist_ok=True)
        self.act(
            "gate",
            StepDisplay("gate: does a sweep start?", lambda answer: [json.loads(answer.out)["sentence"]]),
            job=("run-sweep", "gate"),
            inputs={"policy": f"{self.clone()}/{POLICY}"},
            workspace=self._folder(run),
            pull=number,
            environ={**self.save_event(event), "GITHUB_RUN_ID": str(run.id)},
        )
        decision: dict[str, Any] = json.loads((self._folder(run) / "decision.json").read_bytes())
        return decision

    def _sweep(self, run: Run, number: int, decision: dict[str, Any]) -> SweepRecord:
        """Run the jobs of a sweep: plan, canary, rows, collect."""
        hub, folder = self.stage.hub, self._folder(run)
        planning = hub.add_job(run.id, "sweep / plan", conclusion=None)
        head = decision["merge-sha"] or decision["head-sha"]
        measured = self._check_out(head)
        self._plan(run, number, head, measured)
        plan = folder / "sweep-plan"
        hub.add_artifact(run.id, "sweep-plan", {path.name: path.read_bytes() for path in plan.iterdir()})
        hub.finish_job(planning.id)
        policy = parse_policy((self.stage.clone("infx") / POLICY).read_bytes(), POLICY)
        fanout = Fanout(
            hub=hub,
            run=run.id,
            measured=measured,
            folder=folder,
            workers=self.workers,
            show=self.show,
            fail_fast=bool(decision["fail-fast"]),
        )
        rows = fanout.play(_read_row_jobs(plan / CANARY), _read_row_jobs(plan / JOBS))
        self.stage.clock.skip_to_next_hour()
        failures = [f"{row.job.name}: {row.words}" for row in rows if row.conclusion == "failure"]
        self.stage.note("runners", _describe_rows(rows), pull=number, shown=failures)
        step = len(self.stage.steps) - 1
        if stopped := [row.job.row for row in rows if row.conclusion == "cancelled"]:
            words = f"{count(len(stopped), 'row')} stopped before they began, after the first failure"
            self.stage.save(number, words, estimate_gpu_hours(stopped, policy.estimates))
        return self._collect(run, number, step, rows, policy)

    def save_sweep(self, number: int, words: str) -> None:
        """Record that the newest sweep of a pull request did not have to run once more."""
        if sweeps := [sweep for sweep in self.stage.sweeps if sweep.pull == number]:
            self.stage.save(number, words, sweeps[-1].gpu_hours)

    def _plan(self, run: Run, number: int, head: str, measured: Path) -> None:
        base = self.stage.hub.state.pulls[number].base_sha
        self.act(
            "plan",
            StepDisplay(
                "plan: turn the changelog's new entries into rows", lambda answer: answer.err.splitlines()
            ),
            StepDisplay("shards: choose a canary and split the rows into job matrices", _describe_index),
            inputs={
                "policy": f"{base}:{POLICY}",
                "priorities": f"{base}:{_PRIORITIES}",
                "thresholds": f"{base}:{_THRESHOLDS}",
                "directory": str(measured),
                "base-ref": base,
                "head-ref": head,
            },
            workspace=self._folder(run),
            pull=number,
        )

    def _collect(
        self, run: Run, number: int, step: int, rows: Sequence[RowOutcome], policy: Policy
    ) -> SweepRecord:
        hub, folder = self.stage.hub, self._folder(run)
        collecting = hub.add_job(run.id, "sweep / collect", conclusion=None)
        plan, artifacts, out = folder / "sweep-plan", folder / "artifacts", folder / "results"
        artifacts.mkdir(exist_ok=True)
        is_whole = all(row.conclusion == "success" for row in rows)
        self.act(
            "results",
            StepDisplay(
                "collect: compare the results with the plan",
                lambda answer: answer.err.splitlines()[:4],
                int(not is_whole),
            ),
            StepDisplay("compare: set the results against the published ones", describe_all),
            job=("sweep", "collect"),
            inputs={
                "policy": f"{self.clone()}/{POLICY}",
                "plan-path": str(plan),
                "artifacts-path": str(artifacts),
                "out": str(out),
                "clone": self.clone(),
            },
            pull=number,
            environ={"GITHUB_RUN_ID": str(run.id)},
        )
        for path in sorted(out.iterdir()):
            if path.is_dir():
                hub.add_artifact(run.id, path.name, {file.name: file.read_bytes() for file in path.iterdir()})
        hub.finish_job(collecting.id, "success" if is_whole else "failure")
        points = collect(list(_read_row_jobs(plan / JOBS)), read_folder(artifacts), policy.results).points
        ran = [row.job.row for row in rows if row.conclusion != "cancelled"]
        record = SweepRecord(
            run=run.id,
            pull=number,
            step=step,
            rows=tuple(rows),
            points=points,
            gpu_hours=estimate_gpu_hours(ran, policy.estimates),
        )
        self.stage.sweeps.append(record)
        return record

    def _stop_others(self, run: Run, number: int) -> None:
        """Cancel the other sweeps of the pull request, as GitHub does when a run enters their concurrency group."""
        for other in list(self.stage.hub.state.runs.values()):
            if number in other.pulls and other.id != run.id and other.status != "completed":
                self.stage.hub.cancel_run(other.id)

    def _check_out(self, sha: str) -> Path:
        """Return a checkout of a commit, with the whole history."""
        path = self.stage.folder / "measured" / sha[:12]
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            git = Git(self.stage.folder)
            git.run("clone", "--quiet", "--shared", "--no-checkout", str(self.stage.hub.git.path), str(path))
            Git(path).run("checkout", "--quiet", "--detach", sha)
        return path

    def _folder(self, run: Run) -> Path:
        return self.stage.folder / f"run-{run.id}"

    def clone(self) -> str:
        return str(self.stage.clone("infx"))

    def save_event(self, event: Event) -> dict[str, str]:
        """Write an event's payload to a file, and return the variables that a runner sets for the event."""
        path = self.stage.folder / "event.json"
        path.write_text(json.dumps(event.payload))
        return {"GITHUB_EVENT_PATH": str(path), "GITHUB_EVENT_NAME": event.name}

    def act(
        self,
        name: str,
        *displays: StepDisplay,
        inputs: Mapping[str, str],
        pull: int,
        job: tuple[str, str] | None = None,
        workspace: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Run an action; `displays` has a text for each of its steps, `job` names the workflow and job of its token."""
        token = self.stage.hub.workflow_token(read_permissions(*job)) if job else ""
        runner = {"GITHUB_WORKSPACE": str(workspace or ""), "RUNNER_TEMP": str(workspace or "")}
        for step, display in zip(read_action(name, inputs, token), displays, strict=True):
            at = Path(step.directory or workspace or self.stage.folder)
            variables = {**runner, **(environ or {}), **step.environ}
            shell = Shell(step=step, at=at, environ=variables, scratch=self.stage.folder)
            called = shell.read_call()
            answer = self.stage.command(
                ACTIONS,
                display.words,
                *called.arguments,
                at=called.at,
                pull=pull,
                environ=variables,
                show=display.show,
                expect=display.expect,
            )
            shell.answer(answer.code, answer.out)


def _read_row_jobs(path: Path) -> list[RowJob]:
    with path.open(encoding="utf-8") as lines:
        return list(read_jobs(lines))


def _describe_index(answer: Answer) -> list[str]:
    index = json.loads(answer.out)
    canary = f", canary {index['canary']}" if index["canary"] else ", no canary"
    return [f"{count(index['rows'], 'row')} in {index['shards']} matrix{canary}"]


def _describe_signoff(answer: Answer) -> list[str]:
    """Return the status, the bot's changed comments, and the failures (or else the warnings) of the newest verdict."""
    messages = answer.err.splitlines()
    status = [line for line in messages if line.startswith("#")][-1:]
    comments = [line for line in messages if line.startswith("PR ") and " comment" in line]
    checks = _CHECK.findall(answer.out.rsplit("\n## ", 1)[-1])
    failed = [check for check in checks if check[0] == "❌"]
    return [*status, *comments, *(_describe_check(*check) for check in failed or checks)]


def _describe_check(mark: str, check: str, reason: str) -> str:
    """Return a line for a check, without links; for a settled warning, name the person instead of the reason."""
    settled = re.search(r"Settled by `([^`]+)`", reason)
    return f"{mark} {check}: " + (f"settled by {settled[1]}" if settled else _LINKS.sub("", reason))


def describe_all(answer: Answer) -> list[str]:
    return answer.out.splitlines() + answer.err.splitlines()


def _describe_rows(rows: Sequence[RowOutcome]) -> str:
    counts = Counter(row.conclusion for row in rows)
    words = {"success": "passed", "failure": "failed", "cancelled": "were stopped before they began"}
    return "rows: " + ", ".join(f"{counts[name]} {text}" for name, text in words.items() if counts[name])
