"""Gather the proof that the current sweep of a head did what was planned.

The rows and the changed workflows come from git. GitHub is asked only before a new success is granted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infx.comments.progress import SweepProgress, SweepState
from infx.comments.status import is_granted
from infx.errors import InfxError, UnavailableError
from infx.evidence.proof import Proof, find_arrival, find_other_targets, find_settler, list_settlers
from infx.evidence.rows import find_gap, find_kind
from infx.evidence.trees import find_rules
from infx.gate.facts import read_labels
from infx.gather.changes import BranchReader
from infx.gather.ports import ReconcileReader
from infx.model import Run
from infx.policy.model import Policy
from infx.reconcile.facts import ReconcileFacts


@dataclass(frozen=True)
class Prover:
    reader: ReconcileReader
    policy: Policy
    branches: BranchReader

    def prove(self, facts: ReconcileFacts, runs: Sequence[Run]) -> Proof | None:
        """Return the proof for the current sweep, or None unless it succeeded.

        Args:
            runs: those started by events of the pull request.
        """
        sweep = facts.sweep
        if sweep is None or sweep.state is not SweepState.DONE:
            return None
        if gap := self._find_gap(facts, sweep):
            return Proof(gap=gap)
        edits = self._find_edits(facts, sweep)
        return Proof(edits=edits, settled_by=self._find_settler(facts, sweep, runs) if edits else None)

    def _find_gap(self, facts: ReconcileFacts, sweep: SweepProgress) -> str | None:
        asked = find_kind(read_labels(facts.pull.labels, self.policy.labels))
        try:
            planned = self.branches.plan(facts.pull.head_sha)
        except UnavailableError:
            raise
        except InfxError as error:
            return f"the head cannot be planned: {error.problems[0].message}".rstrip(".")
        return find_gap(sweep.done, sweep.ids, planned, asked)

    def _find_edits(self, facts: ReconcileFacts, sweep: SweepProgress) -> tuple[str, ...]:
        """Return the workflows and policy files that a person must settle before the sweep counts."""
        own = self.branches.find_edited_rules(sweep.run.head_sha)
        edits = [
            *find_rules(facts.changes.paths or (), self.branches.policy_path),
            *(("unknown files",) if own is None else own),
        ]
        # Other targets need two requests, so they are read only before a new success.
        if not edits and sweep.run.event == "pull_request" and not self._is_granted(facts, sweep):
            owner = facts.pull.base_repository.partition("/")[0]
            others = self.reader.pulls(state="all", head=f"{owner}:{facts.pull.head_ref}")
            edits += find_other_targets(others, facts.pull, sweep.run)
            moved = self.reader.target_changes(facts.pull.number)
            edits += (
                [".github/ of an earlier target"] if any(at >= sweep.run.created_at for at in moved) else []
            )
        return tuple(dict.fromkeys(edits))

    def _is_granted(self, facts: ReconcileFacts, sweep: SweepProgress) -> bool:
        return bool(facts.changes.problems) or is_granted(self.policy, facts.statuses, sweep)

    def _find_settler(self, facts: ReconcileFacts, sweep: SweepProgress, runs: Sequence[Run]) -> str | None:
        """Return who settled the edits after the head arrived; for a fork, after its approved run started."""
        known_runs = [*runs, sweep.run]
        since = sweep.run.created_at if facts.pull.is_fork else find_arrival(known_runs, facts.pull.head_sha)
        if since is None:
            return None
        logins = list_settlers(facts.comments, self.policy)
        people = {login.lower(): self.reader.permission(login) for login in logins}
        author = facts.pull.author.login
        return find_settler(facts.comments, self.policy, author=author, since=since, people=people)
