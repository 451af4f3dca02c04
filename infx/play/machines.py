"""Do what GitHub Actions and the runners do: run the project's actions, one after another, on this machine.

The jobs are those of `.github/workflows`. As on GitHub, the gate decides which jobs run. Steps of a repository's own
workflows that are not actions of infx are left out, because they may change the machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infx.bench.jobs import RowJob
from infx.errors import UsageError
from infx.git import Git
from infx.hub.state import Event
from infx.hub.world import WORKFLOW_LOGIN
from infx.matrix.folder import CANARY, JOBS, read_jobs
from infx.matrix.runners import parse_runners
from infx.phrases import count
from infx.play.actions import Shell, find_permissions, read_action, read_permissions
from infx.play.fanout import Fanout, Show
from infx.play.hub import Numbered
from infx.play.stage import Answer, PlayStage
from infx.play.steps import RowOutcome, SweepEnd
from infx.policy import POLICY_PATH
from infx.policy.model import Policy
from infx.rowfile.launch_drivers import MARK
from infx.rowfile.launch_machine import RUNNER

ACTIONS = "Actions"
_CHECK = re.compile(r"(?m)^- (❌|⚠️) (Check [0-9]+ \([^)]+\)): \w+ — (.+)$")
_LINKS = re.compile(r" \((?:\[[^]]*\]\([^)]*\)(?:, )?)+\)")


@dataclass(frozen=True)
class StepDisplay:
    """The text that a play shows for a step of an action."""

    words: str
    show: Callable[[Answer], Sequence[str]]  # selects the lines of the output
    expect: int = 0  # exit code


@dataclass
class Machines:
    """The machines of GitHub Actions, played on a stage.

    Attributes:
        workers: how many rows run at the same time.
        workflows: the workflow files of the repository by name; for an action that none of them uses, infx's own count.
    """

    stage: PlayStage
    show: Show
    policy: Policy
    workers: int = 3
    workflows: Mapping[str, bytes] = field(default_factory=dict)

    def changelog(self, number: int, *, expect: int = 0) -> bool:
        """Run the workflow `changelog`: validate the entries that the pull request appends."""
        words = "changelog: check the entries that the branch appends, before any GPU is used"
        head, base = self.stage.hub.find_commits(number)
        return self.validate(words, number, head, "pr", base, expect=expect)

    def validate(self, words: str, number: int, head: str, stage: str, base: str, *, expect: int = 0) -> bool:
        """Validate what a head appends to the changelog of a base."""
        inputs = {"policy": f"{base}:{POLICY_PATH}", "base-ref": base, "head-ref": head, "stage": stage}
        return self.act(
            "changelog",
            StepDisplay(words, lambda answer: answer.err.splitlines(), expect),
            inputs={
                **inputs,
                "pr": str(number) if stage == "pr" else "",
                "directory": str(self._check_out(head)),
            },
            pull=number,
        )

    def reconcile(self, number: int, *, why: str) -> bool:
        """Run the workflow `reconcile`: update the bot's comments and statuses to the current state."""

        def show(answer: Answer) -> list[str]:
            lines = (answer.out + answer.err).splitlines()
            return [line for line in lines if not line.startswith("Pull requests:")]

        push = self.make_push_token({"contents": "write", "pull-requests": "write"})
        is_good = self.act(
            "reconcile",
            StepDisplay(f"reconcile: {why}", show),
            job=("reconcile", "reconcile"),
            inputs={"policy": POLICY_PATH, "directory": self.clone(), "pr": str(number), "push-token": push},
            pull=number,
            environ=self.stage.dates(),
        )
        self.stage.hub.sync()
        return is_good

    def make_push_token(self, permissions: Mapping[str, str]) -> str:
        """Return a token of the App that pushes, which is an identity of the policy; "" without an App."""
        apps = [login for login in self.policy.identities if login != WORKFLOW_LOGIN]
        return self.stage.hub.app_token(apps[0], permissions) if apps else ""

    def signoff(self, event: Event, number: int, *, why: str) -> bool:
        """Run the workflow `signoff`: verify every sign-off of the pull request again."""
        return self.act(
            "signoff",
            StepDisplay(f"signoff: {why}", _describe_signoff),
            job=("signoff", "verify"),
            inputs={"policy": POLICY_PATH, "directory": self.clone()},
            pull=number,
            environ=self.save_event(event),
        )

    def sweep(
        self, event: Event, number: int, *, run: Numbered | None = None, is_valid: bool = True
    ) -> SweepEnd:
        """Run the workflow `run-sweep` for an event.

        Args:
            run: the run that a dispatch has already created.
            is_valid: whether the changelog passed its check, which the job `plan` repeats.
        """
        hub = self.stage.hub
        run = run or hub.add_run(self.policy.sweep.workflow_file, pull=number, by=event.sender)
        with self.stage.cancelling(run):
            end = self._play_jobs(event, number, run, is_valid=is_valid)
        hub.finish_run(run.id, "success" if end.is_good else "failure")
        return end

    def _play_jobs(self, event: Event, number: int, run: Numbered, *, is_valid: bool) -> SweepEnd:
        hub = self.stage.hub
        gate = hub.add_job(run.id, "gate", conclusion=None)
        decision = self._gate(event, run, number)
        hub.finish_job(gate.id, "failure" if decision is None else "success")
        rows: list[RowOutcome] = []
        is_good = decision is not None and not decision["refused"]
        if decision is not None and decision["verdict"] == "run":
            rows, is_good = self._sweep(run, number, decision, is_valid=is_valid)
        elif decision is not None and decision["verdict"] == "stop":
            hub.cancel_others(run.id, number)
        return SweepEnd(run=run.id, decision=decision or {}, rows=tuple(rows), is_good=is_good)

    def _gate(self, event: Event, run: Numbered, number: int) -> dict[str, Any] | None:
        """Return the decision, or None if the action failed. Raises UsageError if the run's folder exists."""
        folder = self._folder(run)
        if folder.exists():  # with the plan and the results of another hub's run
            raise UsageError(
                f"The folder has files of another run {run.id} already.",
                hint="Name another one, or remove it.",
                where=str(folder),
            )
        folder.mkdir(parents=True)
        is_good = self.act(
            "gate",
            StepDisplay("gate: does a sweep start?", lambda answer: [json.loads(answer.out)["sentence"]]),
            job=("run-sweep", "gate"),
            inputs={"policy": f"{self.clone()}/{POLICY_PATH}"},
            workspace=self._folder(run),
            pull=number,
            environ={**self.save_event(event), "GITHUB_RUN_ID": str(run.id)},
        )
        if not is_good:
            return None
        decision: dict[str, Any] = json.loads((self._folder(run) / "decision.json").read_bytes())
        return decision

    def _sweep(
        self, run: Numbered, number: int, decision: Mapping[str, Any], *, is_valid: bool
    ) -> tuple[list[RowOutcome], bool]:
        """Run the jobs of a sweep: plan, canary, rows, collect. Return the rows, and whether every job is good."""
        hub, folder = self.stage.hub, self._folder(run)
        planning = hub.add_job(run.id, f"{self.policy.sweep.job} / plan", conclusion=None)
        head = decision["merge-sha"] or decision["head-sha"]
        measured = self._check_out(head)
        if not (is_valid and self._plan(run, number, head, measured)):
            hub.finish_job(planning.id, "failure")
            return [], False
        plan = folder / "sweep-plan"
        hub.add_artifact(run.id, "sweep-plan", {path.name: path.read_bytes() for path in plan.iterdir()})
        hub.finish_job(planning.id)
        fanout = Fanout(
            hub=hub,
            run=run.id,
            caller=self.policy.sweep.job,
            prepare=lambda job: self.prepare_row(job, measured, folder / "work" / job.id),
            environ=self.make_row_environ,
            folder=folder,
            workers=self.workers,
            show=self.show,
            fail_fast=bool(decision["fail-fast"]),
            runners=parse_runners((measured / self.policy.runners).read_bytes(), self.policy.runners)[0],
        )
        rows = fanout.play(read_row_jobs(plan / CANARY), read_row_jobs(plan / JOBS))
        self.note_rows(number, rows)
        return rows, self._collect(run, number, rows)

    def prepare_row(self, job: RowJob, measured: Path, folder: Path) -> Path:
        """Return the folder in which a row runs: a checkout of its own, as each job has on GitHub."""
        sha = Git(measured).commit("HEAD")
        self._clone_at(sha, folder)
        return folder

    def make_row_environ(self, runner: str) -> dict[str, str]:
        """Return variables for a row on a runner, in addition to those of this process.

        The mark is the play's own, so a launch of the play ends no processes of a real runner of the same name.
        """
        return {RUNNER: runner, MARK: f"play-{os.getpid()}"}

    def note_rows(self, number: int, rows: Sequence[RowOutcome]) -> None:
        """Record how the rows ended."""
        failures = [f"{row.job.name}: {row.words}" for row in rows if row.conclusion == "failure"]
        self.stage.note("runners", _describe_rows(rows), pull=number, shown=failures)

    def _plan(self, run: Numbered, number: int, head: str, measured: Path) -> bool:
        _, base = self.stage.hub.find_commits(number)
        return self.act(
            "plan",
            StepDisplay(
                "plan: turn the changelog's new entries into rows", lambda answer: answer.err.splitlines()
            ),
            StepDisplay("shards: choose a canary and split the rows into job matrices", _describe_index),
            inputs={
                "policy": f"{base}:{POLICY_PATH}",
                "priorities": f"{base}:{self.policy.priorities}",
                "thresholds": f"{base}:{self.policy.eval_thresholds}",
                "clusters": f"{base}:{self.policy.clusters}",
                "directory": str(measured),
                "base-ref": base,
                "head-ref": head,
            },
            workspace=self._folder(run),
            pull=number,
        )

    def _collect(self, run: Numbered, number: int, rows: Sequence[RowOutcome]) -> bool:
        hub, folder = self.stage.hub, self._folder(run)
        collecting = hub.add_job(run.id, f"{self.policy.sweep.job} / collect", conclusion=None)
        plan, artifacts, out = folder / "sweep-plan", folder / "artifacts", folder / "results"
        artifacts.mkdir(exist_ok=True)
        is_whole = all(row.conclusion == "success" for row in rows)
        is_good = self.act(
            "results",
            StepDisplay(
                "collect: compare the results with the plan",
                lambda answer: answer.err.splitlines()[:4],
                int(not is_whole),
            ),
            StepDisplay("compare: set the results against the published ones", describe_all),
            job=("sweep", "collect"),
            inputs={
                "policy": f"{self.clone()}/{POLICY_PATH}",
                "plan-path": str(plan),
                "artifacts-path": str(artifacts),
                "out": str(out),
                "clone": self.clone(),
            },
            pull=number,
            environ={"GITHUB_RUN_ID": str(run.id)},
        )
        for path in sorted(out.iterdir()) if out.is_dir() else ():
            if path.is_dir():
                hub.add_artifact(run.id, path.name, {file.name: file.read_bytes() for file in path.iterdir()})
        is_good = is_good and is_whole
        hub.finish_job(collecting.id, "success" if is_good else "failure")
        self.keep_results(run, number, rows)
        return is_good

    def keep_results(self, run: Numbered, number: int, rows: Sequence[RowOutcome]) -> None:
        """Record the results of a sweep; here the hub's artifacts are enough."""

    def _check_out(self, sha: str) -> Path:
        """Return a checkout of a commit, with the whole history."""
        path = self.stage.folder / "measured" / sha[:12]
        if not path.exists():
            self._clone_at(sha, path)
        return path

    def _clone_at(self, sha: str, path: Path) -> None:
        """Make a checkout completely or not at all, because the user may keep the folder."""
        path.parent.mkdir(parents=True, exist_ok=True)
        source, draft = str(self.stage.hub.git_path), path.with_name(f"{path.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        Git(self.stage.folder).run("clone", "--quiet", "--shared", "--no-checkout", source, str(draft))
        Git(draft).run("checkout", "--quiet", "--detach", sha)
        draft.rename(path)

    def _folder(self, run: Numbered) -> Path:
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
    ) -> bool:
        """Run an action, and return whether every step ended as expected.

        Args:
            displays: a text for each of the action's steps.
            job: infx's own workflow and job that use the action, if the action needs a token.
        """
        token = self._make_token(name, *job) if job else ""
        runner = {"GITHUB_WORKSPACE": str(workspace or ""), "RUNNER_TEMP": str(workspace or "")}
        is_good = True
        for step, display in zip(read_action(name, inputs, token), displays, strict=True):
            if not (is_good or step.is_always):
                continue
            at = Path(step.directory or workspace or self.stage.folder)
            variables = {**runner, **(environ or {}), **step.environ}
            shell = Shell(step=step, at=at, environ=variables, scratch=self.stage.folder)
            called = shell.read_call()
            if called is None:
                continue
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
            is_good = is_good and (answer.code == display.expect or step.may_fail)
        return is_good

    def _make_token(self, action: str, workflow: str, job: str) -> str:
        """Make the token with the permissions that the repository gives to the job that uses an action."""
        permissions = find_permissions(self.workflows, action)
        if permissions is None:
            permissions = read_permissions(workflow, job)
        hub, (publisher, *_) = self.stage.hub, self.policy.publisher
        if publisher == WORKFLOW_LOGIN:
            return hub.workflow_token(permissions)
        return hub.app_token(publisher, permissions)


def read_row_jobs(path: Path) -> list[RowJob]:
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
