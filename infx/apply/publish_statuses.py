"""Bring everything that infx publishes on one pull request up to date, as the workflows do after an event."""

from __future__ import annotations

from dataclasses import dataclass, replace

from infx.apply.reconcile import Reconciler
from infx.apply.signoff import Verifier
from infx.apply.writes import WriteOutcome
from infx.errors import UnavailableError


@dataclass
class StatusWriter:
    """Publishes comments, statuses and verdicts; never pushes to the branch."""

    reconciler: Reconciler
    verifier: Verifier

    def __post_init__(self) -> None:
        clone = self.reconciler.clone
        if clone is not None:  # the merge itself decides what is pushed
            self.reconciler = replace(self.reconciler, clone=replace(clone, push_token=None))

    def __call__(self, number: int, *, signoff: bool) -> None:
        """Write what is missing. signoff: verify the sign-offs too."""
        report = self.reconciler.run([number])
        for _, error in report.failed:
            raise error
        if report.left:
            raise UnavailableError(f"Pull request {number} was not looked at: {report.why_left}.")
        if signoff:
            self.verifier.verify_and_publish(number, None, WriteOutcome())
