"""Play the workflows that a pull request starts, in the order in which GitHub would start them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infx.hub.state import Event
from infx.phrases import count
from infx.play.hub import PlayHub
from infx.play.machines import Machines
from infx.play.steps import SweepEnd

# The types of `pull_request` that start the sweep's workflow.
_STARTS = ("opened", "reopened", "synchronize", "labeled", "unlabeled", "ready_for_review", "closed")


@dataclass
class PullPlay:
    """A pull request, and the machines that play its workflows."""

    machines: Machines
    number: int

    @property
    def hub(self) -> PlayHub:
        return self.machines.stage.hub

    def play(self) -> bool:
        """Play the newest event, and return whether nothing failed or was refused."""
        events = self.hub.find_events(self.number)
        newest = [event for event in events if event.name == "pull_request" and event.action in _STARTS][-1]
        is_valid = self._check_changelog(newest)
        end = self.machines.sweep(newest, self.number, is_valid=is_valid)
        is_done = self.machines.reconcile(self.number, why="update the bot's comments and statuses")
        if signed := self._find_signoff(events):
            is_done &= self.machines.signoff(signed, self.number, why="a comment signs off")
        self._summarize(end)
        return is_valid and end.is_good and is_done

    def _check_changelog(self, event: Event) -> bool:
        """Run the workflow `changelog` as a run of the hub, because rules may require its check."""
        run = self.hub.add_run("changelog.yml", pull=self.number, by=event.sender)
        job = self.hub.add_job(run.id, "changelog", conclusion=None)
        with self.machines.stage.cancelling(run):
            is_valid = self.machines.changelog(self.number)
        conclusion = "success" if is_valid else "failure"
        self.hub.finish_job(job.id, conclusion)
        self.hub.finish_run(run.id, conclusion)
        return is_valid

    def _find_signoff(self, events: Sequence[Event]) -> Event | None:
        """Return the event of the newest comment of a person that contains the words of a sign-off."""
        phrase = self.machines.policy.comments.greeting.phrase.lower()
        comments = [
            event
            for event in events
            if event.name == "issue_comment" and not event.sender.endswith("[bot]")
            if phrase in str(event.payload["comment"]["body"]).lower()
        ]
        return comments[-1] if comments else None

    def _summarize(self, end: SweepEnd) -> None:
        passed = sum(row.conclusion == "success" for row in end.rows)
        if end.rows:
            words = f"run {end.run}: {passed} of {count(len(end.rows), 'row')} passed"
        elif end.decision.get("verdict") == "run":
            words = f"run {end.run} failed before its rows"
        else:
            words = f"run {end.run} " + ("started no sweep" if end.decision else "failed in the gate")
        self.machines.stage.note("GitHub", words, pull=self.number)
