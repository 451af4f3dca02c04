"""What GitHub Actions and the runners do in the demo: the project's own actions, one after another, on this laptop.

The jobs are those of `.github/workflows`; which of them run is decided by the gate, here as there.
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
from infx.demo.stage import APP, Answer, DemoStage, RowOutcome, SweepRecord, hub_dates
from infx.git import Git
from infx.hub.state import Event, Run
from infx.matrix.folder import CANARY, JOBS, read_jobs
from infx.phrases import count
from infx.policy.load import parse_policy
from infx.policy.model import Policy
from infx.results.collect import collect

ACTIONS = "Actions"
_PRIORITIES = "configs/ci-priority.yaml"
_CHECK = re.compile(r"(?m)^- (❌|⚠️) (Check [0-9]+ \([^)]+\)): \w+ — (.+)$")
_LINKS = re.compile(r" \((?:\[[^]]*\]\([^)]*\)(?:, )?)+\)")


@dataclass(frozen=True)
class Told:
    """What the demo says of a step, and which lines of its output it shows."""

    words: str
    show: Callable[[Answer], Sequence[str]]


@dataclass
class Machines:
    """show: draws the progress of rows. workers: rows that run at the same time."""

    stage: DemoStage
    show: Show
    workers: int = 3

    def changelog(self, number: int, *, expect: int = 0) -> None:
        """The workflow `changelog`: validate what the pull request appends."""
        words = "changelog: what the branch appends is judged before any GPU is used"
        head = self.stage.hub.state.pulls[number].head_sha
        self._validate(words, number, head, "pr", expect=expect)

    def merge_group(self, number: int) -> None:
        """The workflow `changelog` in the merge queue: what would be merged has canonical links, and nothing is lost."""
        pull = self.stage.hub.state.pulls[number]
        self.stage.hub.compute_merge(pull)
        assert pull.merge_sha is not None
        words = "merge queue: what would be on main is judged once more"
        self._validate(words, number, pull.merge_sha, "merge")

    def _validate(self, words: str, number: int, head: str, stage: str, *, expect: int = 0) -> None:
        base = self.stage.hub.state.pulls[number].base_sha
        inputs = {"policy": f"{base}:{POLICY}", "base-ref": base, "head-ref": head, "stage": stage}
        self._act(
            "changelog",
            Told(words, lambda answer: answer.err.splitlines()),
            inputs={
                **inputs,
                "pr": str(number) if stage == "pr" else "",
                "directory": str(self._measured(head)),
            },
            pull=number,
            expect=expect,
        )

    def reconcile(self, number: int, *, why: str) -> None:
        """The workflow `reconcile`: what the bot says, brought in line with the facts."""

        def show(answer: Answer) -> list[str]:
            lines = (answer.out + answer.err).splitlines()
            return [line for line in lines if not line.startswith("Pull requests:")]

        push = self.stage.hub.app_token(APP, contents="write")
        self._act(
            "reconcile",
            Told(f"reconcile: {why}", show),
            job=("reconcile", "reconcile"),
            inputs={"policy": POLICY, "directory": self._clone(), "pr": str(number), "push-token": push},
            pull=number,
            environ=hub_dates(self.stage),
        )
        self.stage.hub.sync()

    def signoff(self, event: Event, number: int, *, why: str) -> None:
        """The workflow `signoff`: every sign-off of the pull request is read and verified anew."""
        self._act(
            "signoff",
            Told(f"signoff: {why}", _describe_signoff),
            job=("signoff", "verify"),
            inputs={"policy": POLICY, "directory": self._clone()},
            pull=number,
            environ=self._save(event),
        )

    def approve(self, event: Event) -> Run:
        """The workflow `approve-fork`; returns the run that it dispatched."""
        hub = self.stage.hub
        known = set(hub.state.runs)
        self._act(
            "approve",
            Told(
                "approve-fork: is that person allowed to, and is it still the head?",
                lambda answer: [json.loads(answer.out)["words"]],
            ),
            job=("approve-fork", "approve"),
            inputs={"policy": f"{self._clone()}/{POLICY}"},
            pull=event.payload["issue"]["number"],
            environ=self._save(event),
        )
        return next(run for number, run in hub.state.runs.items() if number not in known)

    def sweep(self, event: Event, number: int, *, run: Run | None = None) -> SweepRecord | None:
        """The workflow `run-sweep` for one event. run: the one that a dispatch has already made."""
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
        failed = record is not None and any(row.conclusion != "success" for row in record.rows)
        hub.finish_run(run.id, "failure" if failed or decision["refused"] else "success")
        return record

    def _gate(self, event: Event, run: Run, number: int) -> dict[str, Any]:
        self._folder(run).mkdir(parents=True, exist_ok=True)
        self._act(
            "gate",
            Told("gate: does a sweep start?", lambda answer: [json.loads(answer.out)["sentence"]]),
            job=("run-sweep", "gate"),
            inputs={"policy": f"{self._clone()}/{POLICY}"},
            workspace=self._folder(run),
            pull=number,
            environ={**self._save(event), "GITHUB_RUN_ID": str(run.id)},
        )
        decision: dict[str, Any] = json.loads((self._folder(run) / "decision.json").read_bytes())
        return decision

    def _sweep(self, run: Run, number: int, decision: dict[str, Any]) -> SweepRecord:
        """plan → canary → rows → collect."""
        hub, folder = self.stage.hub, self._folder(run)
        planning = hub.add_job(run.id, "sweep / plan", conclusion=None)
        head = decision["merge-sha"] or decision["head-sha"]
        measured = self._measured(head)
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
        rows = fanout.play(_jobs(plan / CANARY), _jobs(plan / JOBS))
        self.stage.clock.skip_to_next_hour()
        failures = [f"{row.job.name}: {row.words}" for row in rows if row.conclusion == "failure"]
        self.stage.note("runners", _describe_rows(rows), pull=number, shown=failures)
        return self._collect(run, number, rows, policy)

    def _plan(self, run: Run, number: int, head: str, measured: Path) -> None:
        base = self.stage.hub.state.pulls[number].base_sha
        self._act(
            "plan",
            Told("plan: the changelog's new entries as rows", lambda answer: answer.err.splitlines()),
            Told("shards: ids, names, priorities, a canary, and matrices that GitHub takes", _describe_index),
            inputs={
                "policy": f"{base}:{POLICY}",
                "priorities": f"{base}:{_PRIORITIES}",
                "directory": str(measured),
                "base-ref": base,
                "head-ref": head,
            },
            workspace=self._folder(run),
            pull=number,
        )

    def _collect(self, run: Run, number: int, rows: Sequence[RowOutcome], policy: Policy) -> SweepRecord:
        hub, folder = self.stage.hub, self._folder(run)
        collecting = hub.add_job(run.id, "sweep / collect", conclusion=None)
        plan, artifacts, out = folder / "sweep-plan", folder / "artifacts", folder / "results"
        artifacts.mkdir(exist_ok=True)
        is_whole = all(row.conclusion == "success" for row in rows)
        self._act(
            "results",
            Told("collect: what came back, set against the plan", lambda answer: answer.err.splitlines()[:4]),
            job=("sweep", "collect"),
            inputs={
                "policy": f"{self._clone()}/{POLICY}",
                "plan-path": str(plan),
                "artifacts-path": str(artifacts),
                "out": str(out),
            },
            pull=number,
            environ={"GITHUB_RUN_ID": str(run.id)},
            expect=int(not is_whole),
        )
        for path in sorted(out.iterdir()):
            if path.is_dir():
                hub.add_artifact(run.id, path.name, {file.name: file.read_bytes() for file in path.iterdir()})
        hub.finish_job(collecting.id, "success" if is_whole else "failure")
        points = collect(list(_jobs(plan / JOBS)), read_folder(artifacts), policy.results).points
        record = SweepRecord(run=run.id, pull=number, rows=tuple(rows), points=points)
        self.stage.sweeps.append(record)
        return record

    def _stop_others(self, run: Run, number: int) -> None:
        """Entering the group of a sweep cancels the one in it."""
        for other in list(self.stage.hub.state.runs.values()):
            if number in other.pulls and other.id != run.id and other.status != "completed":
                self.stage.hub.cancel_run(other.id)

    def _measured(self, sha: str) -> Path:
        """A checkout of one commit, with all history."""
        path = self.stage.folder / "measured" / sha[:12]
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            git = Git(self.stage.folder)
            git.run("clone", "--quiet", "--shared", "--no-checkout", str(self.stage.hub.git.path), str(path))
            Git(path).run("checkout", "--quiet", "--detach", sha)
        return path

    def _folder(self, run: Run) -> Path:
        return self.stage.folder / f"run-{run.id}"

    def _clone(self) -> str:
        return str(self.stage.clone("infx"))

    def _save(self, event: Event) -> dict[str, str]:
        """What a runner says of the event."""
        path = self.stage.folder / "event.json"
        path.write_text(json.dumps(event.payload))
        return {"GITHUB_EVENT_PATH": str(path), "GITHUB_EVENT_NAME": event.name}

    def _act(
        self,
        name: str,
        *told: Told,
        inputs: Mapping[str, str],
        pull: int,
        job: tuple[str, str] | None = None,
        workspace: Path | None = None,
        environ: Mapping[str, str] | None = None,
        expect: int = 0,
    ) -> None:
        """Play an action. told: of each of its steps. job: the workflow and the job whose token it has."""
        token = self.stage.hub.workflow_token(read_permissions(*job)) if job else ""
        runner = {"GITHUB_WORKSPACE": str(workspace or ""), "RUNNER_TEMP": str(workspace or "")}
        for step, about in zip(read_action(name, inputs, token), told, strict=True):
            at = Path(step.directory or workspace or self.stage.folder)
            variables = {**runner, **(environ or {}), **step.environ}
            shell = Shell(step=step, at=at, environ=variables, scratch=self.stage.folder)
            answer = self.stage.command(
                ACTIONS,
                about.words,
                *shell.read_arguments(),
                at=at,
                pull=pull,
                environ=variables,
                show=about.show,
                expect=expect,
            )
            shell.answer(answer.code, answer.out)


def _jobs(path: Path) -> list[RowJob]:
    with path.open(encoding="utf-8") as lines:
        return list(read_jobs(lines))


def _describe_index(answer: Answer) -> list[str]:
    index = json.loads(answer.out)
    canary = f", canary {index['canary']}" if index["canary"] else ", no canary"
    return [f"{count(index['rows'], 'row')} in {index['shards']} matrix{canary}"]


def _describe_signoff(answer: Answer) -> list[str]:
    """The status, what became of our comments, and in the newest verdict what failed, or else was warned of."""
    told = answer.err.splitlines()
    status = [line for line in told if line.startswith("#")][-1:]
    comments = [line for line in told if line.startswith("PR ") and " comment" in line]
    checks = _CHECK.findall(answer.out.rsplit("\n## ", 1)[-1])
    failed = [check for check in checks if check[0] == "❌"]
    return [*status, *comments, *(_describe_check(*check) for check in failed or checks)]


def _describe_check(mark: str, check: str, reason: str) -> str:
    """Without the links. A warning that somebody has settled needs no reason any more."""
    who = re.search(r"Settled by `([^`]+)`", reason)
    return f"{mark} {check}: " + (f"settled by {who[1]}" if who else _LINKS.sub("", reason))


def _describe_rows(rows: Sequence[RowOutcome]) -> str:
    counts = Counter(row.conclusion for row in rows)
    words = {"success": "passed", "failure": "failed", "cancelled": "were stopped before they began"}
    return "rows: " + ", ".join(f"{counts[name]} {text}" for name, text in words.items() if counts[name])
