"""Runs that were read for another decision, so that the decision about reuse does not read them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from infx.gather.reuse_runs import RunReader
from infx.model import Artifact, Job, Run
from infx.signoff.facts import EvidenceRun


@dataclass(frozen=True)
class KnownRuns:
    """Answers about known runs without a request; everything else is requested."""

    github: RunReader
    known: Sequence[EvidenceRun]

    def find_run(self, run_id: int) -> Run | None:
        evidence = self._find(run_id)
        return evidence.run if evidence else self.github.find_run(run_id)

    def jobs(self, run_id: int, *, every_attempt: bool = False) -> list[Job]:
        evidence = self._find(run_id)
        if evidence is not None and evidence.jobs and every_attempt:
            return list(evidence.jobs)
        return self.github.jobs(run_id, every_attempt=every_attempt)

    def _find(self, run_id: int) -> EvidenceRun | None:
        return next((evidence for evidence in self.known if evidence.run.id == run_id), None)

    def runs(
        self,
        *,
        workflow: str | None = None,
        event: str | None = None,
        branch: str | None = None,
        newest: int | None = None,
    ) -> list[Run]:
        return self.github.runs(workflow=workflow, event=event, branch=branch, newest=newest)

    def artifacts(self, run_id: int) -> list[Artifact]:
        return self.github.artifacts(run_id)

    def target_changes(self, number: int) -> list[datetime]:
        return self.github.target_changes(number)
