"""Play three real pull requests from the first push to published results, and three that meet in the merge queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from infx.demo import chapters
from infx.demo.people import Person
from infx.demo.publication import PublishWorkflow
from infx.demo.queue import QueueScene
from infx.demo.repository import (
    ARMS,
    CHANGELOG,
    DISAGG,
    DISAGG_RECIPE,
    MASTER,
    OFFLOAD,
    OFFLOAD_SCRIPT,
    SCRIPT,
    cut_config,
    make_base_files,
    make_recipe_files,
    read_config_text,
    render_deployment_recipe,
    render_entry,
    render_serving_script,
)
from infx.demo.reviews import RECIPES_PULL, Reviews
from infx.demo.stage import DemoStage
from infx.demo.workflows import DemoMachines
from infx.hub.state import Event

OFFLOAD_PULL, ARMS_PULL, DISAGG_PULL = 2996, 3028, 3405
_SECTION = "# DeepSeek-V4.1-Flash"
_LINK = "https://github.com/acme/bench/pull"
_SAME_SETTINGS = {
    3: "compared every setting with the recipe: the same",
    13: "the draft is the published one, in its own precision",
}


@dataclass
class Story:
    """The people of the demo, and the scenes that they play."""

    stage: DemoStage
    machines: DemoMachines

    def __post_init__(self) -> None:
        self.cody, self.noor = Person(self.stage, "cody"), Person(self.stage, "noor")
        self.mia, self.eve = Person(self.stage, "mia"), Person(self.stage, "eve")
        self.amy = Person(self.stage, "amy")
        self.reviews = Reviews(self.stage, self.machines)
        self.publication = PublishWorkflow(self.stage, self.machines)
        self.queue = QueueScene(self.stage, self.machines, self.reviews, self.publication, self.mia)

    def set_the_stage(self) -> None:
        """Create the people, a repository with 26 configurations, and the recipes, already merged."""
        for login, role in (("mia", "admin"), ("cody", "write"), ("noor", "write"), ("amy", "write")):
            self.stage.hub.account(login, role=role)
        self.stage.hub.account("eve")
        self.stage.hub.push("main", make_base_files(), "Benchmarks", by="mia")
        words = "Document two recipes"
        self.stage.hub.push("recipes", make_recipe_files(), words, by="noor")
        self.stage.hub.open_pull("recipes", title=words, by="noor", number=RECIPES_PULL)
        self.stage.hub.merge_pull(RECIPES_PULL, by="mia")

    def scene_a(self) -> None:
        """Add a GB200 offload recipe: an entry with an invalid link, two sweeps, and a conflict in the changelog."""
        branch, number = "dsv41flash-gb200", OFFLOAD_PULL
        self._open_offload(branch, number)
        self.stage.begin_chapter(number, chapters.SWEEPS)
        fixed = self.cody.repair_changelog(branch, number)
        self.machines.changelog(number)
        self.machines.sweep(fixed, number)
        self.machines.reconcile(number, why="the problem is fixed, so its notice is deleted")
        self.cody.preview(branch, number)
        self.machines.sweep(self.cody.label(number, "full-sweep-fail-fast"), number)
        self.machines.reconcile(number, why="a comment links the run's results")
        lower = self.cody.read_file(MASTER, branch=branch).replace(
            "dram-utilization: 0.6", "dram-utilization: 0.4"
        )
        self.machines.sweep(
            self.cody.push(branch, {MASTER: lower}, "Use 0.4 of the DRAM", pull=number), number
        )
        self.machines.reconcile(number, why="the same comment now links the newest run")
        self._sign_off_offload(number)
        self.stage.begin_chapter(number, chapters.CHANGELOG_CONFLICT)
        self._append_entry_on_main("dsr1-fp8-h200-sglang", 2997)
        self.machines.reconcile(number, why="main and the branch both appended to the changelog")
        self.machines.sweep(self.cody.resolve_changelog(branch, number), number)
        self.reviews.verify_again(number, why="the push only merged main, so the sign-off stays valid")
        self.machines.changelog(number)
        self.machines.reconcile(number, why="the conflict is resolved, so its notice is deleted")
        self.reviews.ask_for_reuse(self.cody, number, why="with this request, nothing is missing")
        self._merge(number)

    def _open_offload(self, branch: str, number: int) -> None:
        """Push for the first time: with 0.6 of the DRAM, and an entry with an invalid link."""
        first = read_config_text(OFFLOAD).replace("dram-utilization: 0.4", "dram-utilization: 0.6")
        words = "Add DeepSeek-V4.1-Flash on GB200 with KV offload through Mooncake"
        self.stage.begin_chapter(number, chapters.LINK)
        files = {
            MASTER: _add_to_section(self.cody.read_file(MASTER), first),
            CHANGELOG: self.cody.read_file(CHANGELOG) + render_entry(OFFLOAD, words, "TBD"),
            OFFLOAD_SCRIPT: render_serving_script(5, "3.51"),
        }
        self.cody.push(branch, files, words)
        opened = self.cody.open(branch, number, words)
        self.machines.changelog(number, expect=1)
        self.machines.sweep(opened, number)
        self.machines.reconcile(number, why="greet the author, and report the problem")

    def _sign_off_offload(self, number: int) -> None:
        """Let an owner of another file sign first, then the right owner; an administrator settles the warnings."""
        self.stage.begin_chapter(number, chapters.OTHER_OWNER)
        self.reviews.verify_again(number, why="a sweep has ended, so say whose sign-off is missing")
        self.reviews.sign(self.amy, number, why="amy does not own this file")
        self.reviews.sign(self.noor, number, why="noor owns the file; three checks need human review")
        self.reviews.settle(self.mia, number, _SAME_SETTINGS)

    def _append_entry_on_main(self, key: str, number: int) -> None:
        """Merge another pull request first, which also appends to the changelog."""
        entry = render_entry(key, "Measure again with the new driver", f"{_LINK}/{number}")
        self.noor.push(
            "main", {CHANGELOG: self.noor.read_file(CHANGELOG) + entry}, f"Measure again (#{number})"
        )

    def scene_b(self) -> None:
        """Add two parallelism layouts: two conflicting labels, a conflict that the bot resolves, and a failed row."""
        branch, number = "dsv41flash-arms", ARMS_PULL
        self.stage.begin_chapter(number, chapters.LABELS)
        self._open_arms(branch, number)
        self.cody.label(number, "full-sweep-enabled")
        self.machines.sweep(self.cody.label(number, "full-sweep-fail-fast"), number)
        self.machines.reconcile(number, why="two labels ask for different sweeps")
        self.cody.explain(number)
        self.stage.begin_chapter(number, chapters.BOT_RESOLVES)
        self._append_entry_on_main("qwen3.5-fp8-h100-sglang", 3029)
        self.cody.unlabel(number, "full-sweep-enabled")
        self.stage.note("GitHub", "starts no workflow for a branch that conflicts with main", pull=number)
        self.machines.reconcile(
            number, why="a sweep is requested and only the changelog conflicts, so the bot resolves it"
        )
        self.stage.begin_chapter(number, chapters.MEMORY)
        self.machines.sweep(self.stage.last_event("pull_request", "synchronize"), number)
        self.machines.reconcile(number, why="a row ran out of memory, and the remaining rows were stopped")
        self.stage.begin_chapter(number, chapters.REPAIRED)
        self._repair_arms(branch, number)
        self.machines.reconcile(number, why="every row has run")
        self._sign_off_arms(number)
        self._merge(number)

    def _open_arms(self, branch: str, number: int) -> None:
        words = "Add TEP4 and DEP4 at concurrency 32, 64 and 128"
        master = self.cody.read_file(MASTER)
        entry = render_entry(ARMS, words, f"{_LINK}/XXX")
        files = {
            MASTER: master.replace(cut_config(master, ARMS), read_config_text(ARMS)),
            CHANGELOG: self.cody.read_file(CHANGELOG) + entry,
        }
        self.cody.push(branch, files, words)
        self.machines.sweep(self.cody.open(branch, number, words), number)
        self.machines.changelog(number)

    def _repair_arms(self, branch: str, number: int) -> None:
        """Change the image of this configuration, so that every row runs."""
        master = self.cody.read_file(MASTER, branch=branch)
        before = cut_config(master, ARMS)
        after = before.replace(":v0.27.1", ":v0.27.2")
        words = "Use the image with smaller warm-up buffers"
        pushed = self.cody.push(branch, {MASTER: master.replace(before, after)}, words, pull=number)
        self.machines.changelog(number)
        self.machines.sweep(pushed, number)

    def _sign_off_arms(self, number: int) -> None:
        """Let the right owner leave an item open, then edit the comment; the bot edits its answer."""
        self.stage.begin_chapter(number, chapters.OPEN_ITEM)
        self.reviews.ask_for_reuse(self.cody, number, why="say whose sign-off is missing")
        signed = self.reviews.sign(
            self.noor, number, forgets="Golden acceptance length", why="an open item needs a reason"
        )
        self.reviews.sign_again(
            self.noor,
            number,
            signed,
            words="ticks the item and saves the comment",
            why="the sign-off was edited, so the bot edits its answer",
        )
        self.reviews.settle(self.mia, number, _SAME_SETTINGS)

    def scene_c(self) -> None:
        """Add a disaggregated Kimi-K3 from a fork: an approval, a push that voids it, and a conflict."""
        branch, number, fork = "kimik3-disagg", DISAGG_PULL, "eve/bench"
        words = "Add Kimi-K3 on B300, disaggregated, one prefill and one decode engine"
        script = self.eve.read_file(SCRIPT) + "\n# Kimi-K3 needs a longer warm-up.\n"
        files = {
            MASTER: self.eve.read_file(MASTER) + "\n" + read_config_text(DISAGG),
            CHANGELOG: self.eve.read_file(CHANGELOG) + render_entry(DISAGG, words, "PRLINK_PLACEHOLDER"),
            SCRIPT: script,
            DISAGG_RECIPE: render_deployment_recipe(3, "2.87"),
        }
        self.stage.begin_chapter(number, chapters.FORK_LINK)
        self.eve.push(branch, files, words, repository=fork)
        self.eve.open(branch, number, words, repository=fork)
        self.machines.changelog(number, expect=1)
        self.eve.repair_changelog(branch, number, repository=fork)
        self.machines.changelog(number)
        self.stage.begin_chapter(number, chapters.FORK)
        self.machines.sweep(self.mia.label(number, "full-sweep-enabled"), number)
        self.machines.reconcile(number, why="a fork needs an approval")
        self._approve(number)
        self.machines.reconcile(number, why="the approved revision was measured")
        signed = self.reviews.sign(
            self.noor, number, why="three checks need human review, and no reuse was requested"
        )
        self.stage.begin_chapter(number, chapters.LATER_PUSH)
        later = self.eve.push(
            branch, {SCRIPT: script + "# Or two.\n"}, "Warm up twice", pull=number, repository=fork
        )
        self.machines.sweep(later, number)
        self.reviews.verify_again(number, why="the push changed files, so the sign-off is stale")
        self.machines.reconcile(number, why="the approval was for another commit")
        self._finish_fork(branch, number, fork, signed)

    def _approve(self, number: int) -> None:
        head = self.stage.hub.state.pulls[number].head_sha
        run = self.machines.approve(self.mia.comment(number, f"/approve-sweep {head}"))
        self.machines.sweep(self.stage.last_event("workflow_dispatch", None), number, run=run)

    def _finish_fork(self, branch: str, number: int, fork: str, signed: Event) -> None:
        """Change a script on main: the bot names it, the author resolves the conflict, and mia approves again."""
        self.stage.begin_chapter(number, chapters.SCRIPT_CONFLICT)
        self.mia.push(
            "main", {SCRIPT: self.mia.read_file(SCRIPT) + "\n# One warm-up for all.\n"}, "Move the warm-up"
        )
        self.machines.reconcile(number, why="main changed, and the branch conflicts with it")
        resolved = self.mia.read_file(SCRIPT) + "# Kimi-K3 needs two.\n"
        self.eve.merge_main(branch, number, {SCRIPT: resolved}, repository=fork)
        self.machines.changelog(number)
        self._approve(number)
        self.reviews.sign_again(
            self.noor,
            number,
            signed,
            words="reviews the new changes and signs again",
            why="the sign-off covers the new commit",
        )
        one_point = {14: "this pull request adds one concurrency on purpose"}
        self.reviews.settle(self.mia, number, {**_SAME_SETTINGS, **one_point}, reuse=True)
        self.machines.reconcile(number, why="everything is done, so all notices are deleted")
        self._merge(number)

    def scene_d(self) -> None:
        """Merge three pull requests by the queue: each appends, so those behind conflict with the first."""
        self.queue.play()

    def _merge(self, number: int) -> None:
        """Ask for the merge by a comment; the push of the merge publishes the results."""
        self.stage.begin_chapter(number, chapters.MERGE)
        head = self.stage.hub.state.pulls[number].head_sha
        asked = self.mia.comment(number, f"/merge {head}")
        self.machines.merge(asked, number, why="everything is green, so the pull request is merged")
        self.publication.publish(number)

    def open_another(self) -> tuple[int, str]:
        """Open a pull request for the user to continue by hand, and return its number and branch."""
        key, branch, number = "dsr1-fp8-h200-sglang", "dsr1-again", 3500
        files = {
            CHANGELOG: self.cody.read_file(CHANGELOG) + render_entry(key, "Measure once more", f"{_LINK}/XXX")
        }
        self.stage.hub.push(branch, files, "Measure once more", by="cody")
        self.stage.hub.open_pull(branch, title="Measure once more", by="cody", number=number)
        return number, branch

    @property
    def scenes(self) -> dict[str, Callable[[], None]]:
        """Return the scenes by name, in their order."""
        return {"A": self.scene_a, "B": self.scene_b, "C": self.scene_c, "D": self.scene_d}


def _add_to_section(master: str, text: str) -> str:
    """Insert a configuration at the start of its model's section."""
    lines = master.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith(_SECTION)) + 2
    return "".join([*lines[:at], text, "\n", *lines[at:]])
