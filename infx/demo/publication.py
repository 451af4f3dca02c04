"""Publish the results of a merge in the demo, as the two jobs of the workflow `publish` do."""

from __future__ import annotations

from dataclasses import dataclass

from infx.demo.repository import POLICY
from infx.demo.stage import DemoStage
from infx.demo.steps import PublishedMerge
from infx.demo.workflows import DemoMachines
from infx.play.machines import StepDisplay, describe_all
from infx.publish.handover import hash_handover, parse_handover


@dataclass
class PublishWorkflow:
    """The workflow `publish`, which every merge starts."""

    stage: DemoStage
    machines: DemoMachines

    def publish(self, number: int) -> None:
        """Publish for the newest push to main: a job validates the results, and another job stores them."""
        folder = self.stage.folder / f"publish-{number}"
        folder.mkdir()
        self._run("validate", "check the results of the merge, without a token that writes", number)
        data = (folder / "publish" / "publish.json").read_bytes()
        digest = hash_handover(data)
        self._run("deliver", "store the results that were checked", number, sum=digest)
        self.stage.hub.sync()
        handover = parse_handover(data, "publish.json", digest=digest, repository=self.stage.hub.repository)
        for merge in handover.merges:
            step = len(self.stage.steps) - 1
            self.stage.merges.append(
                PublishedMerge(pull=number, step=step, run=merge.run or 0, rows=merge.rows)
            )
            self.machines.save_sweep(number, "the merge reuses the finished sweep")

    def _run(self, job: str, words: str, number: int, **inputs: str) -> None:
        event = self.machines.save_event(self.stage.last_push("main"))
        self.machines.act(
            "publish",
            StepDisplay(f"publish: {words}", describe_all),
            job=("publish", job),
            inputs={"policy": POLICY, "directory": self.machines.clone(), **inputs},
            workspace=self.stage.folder / f"publish-{number}",
            pull=number,
            environ={**self.stage.dates(), **event},
        )
