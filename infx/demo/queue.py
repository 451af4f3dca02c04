"""Play the merge queue: three pull requests that append are queued at once, and all are merged without a person's help."""

from __future__ import annotations

from dataclasses import dataclass

from infx.demo import chapters
from infx.demo.people import Person
from infx.demo.publication import PublishWorkflow
from infx.demo.repository import CHANGELOG, render_entry
from infx.demo.reviews import Reviews
from infx.demo.stage import APP, DemoStage
from infx.demo.workflows import DemoMachines
from infx.hub.rules import ACTIONS_APP, QueueRule
from infx.hub.state import Event

FIRST, SECOND, THIRD = 3601, 3602, 3603
KEYS = {
    FIRST: "dsr1-fp4-gb200-dynamo-trt",
    SECOND: "kimik3-fp4-gb300-dynamo-vllm-agentic-dspark-mooncake-dcp8-agg",
    THIRD: "qwen3.5-fp8-h100-sglang-agentic-mtp",
}
WORDS = "Measure again with the new firmware"
_CHECK = "changelog"
_PATIENCE = 360  # minutes; every reading of the demo's clock takes some seconds
_REQUIRED = ((_CHECK, ACTIONS_APP), "infx/sweep", "codeowner-signoff-verify")


@dataclass
class QueueScene:
    """Three authors, a maintainer, and the queue of main."""

    stage: DemoStage
    machines: DemoMachines
    reviews: Reviews
    publication: PublishWorkflow
    mia: Person

    def play(self) -> None:
        """Queue three pull requests at once, and let infx queue those again that GitHub removes."""
        self.stage.hub.add_ruleset(*_REQUIRED, queue=QueueRule(timeout=_PATIENCE))
        self.stage.hub.push_as(self.stage.hub.app_token(APP, contents="write", workflows="write"))
        self.stage.note(self.mia.login, "requires three checks and the merge queue on main")
        for number, author in zip(KEYS, ("cody", "noor", "amy"), strict=True):
            self._open(Person(self.stage, author), number)
        for number in KEYS:
            self._ask(number)
        self._check_first(FIRST)
        self._queue_again(SECOND)
        self._queue_again(THIRD)
        self._check_first(SECOND)
        self._queue_again(THIRD)
        self._check_first(THIRD)
        self.stage.hub.push_as(None)

    def _open(self, author: Person, number: int) -> None:
        """Append an entry, the second with a placeholder as its link; sweep the head, and ask for its reuse."""
        link = "XXX" if number == SECOND else f"https://github.com/acme/bench/pull/{number}"
        text = author.read_file(CHANGELOG) + render_entry(KEYS[number], WORDS, link)
        branch = f"again-{number}"
        self.stage.begin_chapter(number, chapters.SWEPT)
        author.push(branch, {CHANGELOG: text}, WORDS)
        author.open(branch, number, f"{WORDS}: {KEYS[number]}")
        self._check(number)
        self.machines.sweep(author.label(number, "full-sweep-fail-fast"), number)
        self.machines.reconcile(number, why="the sweep has ended")
        author.comment(number, f"/use {self.stage.sweeps[-1].run}")

    def _ask(self, number: int) -> None:
        """Ask for the merge by a comment; the workflow adds the pull request to the queue."""
        self.stage.begin_chapter(number, chapters.PLACEHOLDER if number == SECOND else chapters.QUEUED)
        head = self.stage.hub.state.pulls[number].head_sha
        asked = self.mia.comment(number, f"/merge {head}")
        if number != SECOND:
            self.machines.merge(asked, number, why="everything is green, so the pull request is queued")
            return
        self._wait_for_check(asked, number)

    def _wait_for_check(self, asked: Event, number: int) -> None:
        """Let the workflow make the link canonical, and go on when the pushed head is checked."""
        self.machines.merge(asked, number, why="the link becomes canonical before it is queued", expect=1)
        self._check(number)
        self.machines.merge(asked, number, why="the check of the new head is green")

    def _check(self, number: int) -> None:
        """Run the workflow `changelog` for a head, and report it as a check."""
        self.machines.changelog(number)
        self._report(self.stage.hub.state.pulls[number].head_sha, f"again-{number}")

    def _report(self, sha: str, branch: str) -> None:
        hub = self.stage.hub
        run = hub.add_run("changelog.yml", head_sha=sha, branch=branch, event="merge_group")
        hub.add_job(run.id, _CHECK)
        hub.finish_run(run.id)

    def _check_first(self, number: int) -> None:
        """Check the group of the first entry, which GitHub then merges; those behind that conflict are removed."""
        self.stage.begin_chapter(number, chapters.MERGE)
        hub, seen = self.stage.hub, len(self.stage.hub.state.events)
        hub.work_queue()
        entry = hub.find_entry(number)
        assert entry is not None
        assert entry.group_sha is not None
        self.machines.merge_group(number)
        self._report(entry.group_sha, hub.group_ref(entry).removeprefix("refs/heads/"))
        self.machines.reconcile(number, why="the merge group needs the statuses, too")
        hub.work_queue()
        for event in hub.state.events[seen:]:
            self._tell(event)
        self.publication.publish(number)

    def _tell(self, event: Event) -> None:
        """Note what the queue did."""
        if event.name == "pull_request" and event.action == "dequeued":
            number = event.payload["number"]
            if event.payload["reason"] == "MERGE":
                self.stage.note("GitHub", f"merges #{number} from the queue", pull=number)
            else:
                words = f"removes #{number} from the queue: it conflicts with the entry that was ahead"
                self.stage.note("GitHub", words, pull=number)

    def _queue_again(self, number: int) -> None:
        """Let infx update a pull request that GitHub removed, and queue it again."""
        self.stage.begin_chapter(number, chapters.PUSHED_OUT)
        self.machines.reconcile(number, why="an entry ahead pushed it out, so infx updates the branch")
        self._check(number)
        self.machines.sweep(self.stage.last_event("pull_request", "synchronize"), number)
        self.reviews.verify_again(number, why="the pushed head needs the status, too")
        self.machines.reconcile(number, why="the new head is green, so infx queues it again")
