"""Three real pull requests, played from the first push to the merge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from infx.demo.machines import Machines
from infx.demo.people import Person
from infx.demo.repository import (
    ARMS,
    CHANGELOG,
    DISAGG,
    DISAGG_RECIPE,
    MASTER,
    OFFLOAD,
    OFFLOAD_SCRIPT,
    SCRIPT,
    base_files,
    config_text,
    deployment_recipe,
    entry_text,
    part_of,
    recipe_files,
    serving_script,
)
from infx.demo.reviews import RECIPES_PULL, Reviews
from infx.demo.stage import DemoStage
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
    stage: DemoStage
    machines: Machines

    def __post_init__(self) -> None:
        self.cody, self.noor = Person(self.stage, "cody"), Person(self.stage, "noor")
        self.mia, self.eve = Person(self.stage, "mia"), Person(self.stage, "eve")
        self.amy = Person(self.stage, "amy")
        self.reviews = Reviews(self.stage, self.machines)

    def set_the_stage(self) -> None:
        """People, a repository with 26 configurations, and upstream's recipes, merged long ago."""
        for login, role in (("mia", "admin"), ("cody", "write"), ("noor", "write"), ("amy", "write")):
            self.stage.hub.account(login, role=role)
        self.stage.hub.account("eve")
        self.stage.hub.push("main", base_files(), "Benchmarks", by="mia")
        words = "Document two recipes"
        self.stage.hub.push("recipes", recipe_files(), words, by="noor")
        self.stage.hub.open_pull("recipes", title=words, by="noor", number=RECIPES_PULL)
        self.stage.hub.merge_pull(RECIPES_PULL, by="mia")

    def scene_a(self) -> None:
        """A GB200 offload recipe: a placeholder that nobody knows, two sweeps, and a changelog that moved."""
        branch, number = "dsv41flash-gb200", OFFLOAD_PULL
        self._open_offload(branch, number)
        fixed = self.cody.repair_changelog(branch, number)
        self.machines.changelog(number)
        self.machines.sweep(fixed, number)
        self.machines.reconcile(number, why="the notice has done its work and goes")
        self.cody.preview(branch, number)
        self.machines.sweep(self.cody.label(number, "full-sweep-fail-fast"), number)
        self.machines.reconcile(number, why="one comment for the run")
        lower = self.cody.file(MASTER, branch=branch).replace(
            "dram-utilization: 0.6", "dram-utilization: 0.4"
        )
        self.machines.sweep(
            self.cody.push(branch, {MASTER: lower}, "Use 0.4 of the DRAM", pull=number), number
        )
        self.machines.reconcile(number, why="the same comment follows the newest run")
        self._sign_off_offload(number)
        self._another_entry_on_main("dsr1-fp8-h200-sglang", 2997)
        self.machines.reconcile(number, why="main moved, and both append to the end of one file")
        self.machines.sweep(self.cody.resolve_changelog(branch, number), number)
        self.reviews.look_again(number, why="the push only merged main, so the sign-off still holds")
        self.machines.changelog(number)
        self.machines.reconcile(number, why="nothing is in the way any more")
        self.reviews.ask_for_reuse(self.cody, number, why="nothing is open any more")
        self._merge(number)

    def _open_offload(self, branch: str, number: int) -> None:
        """The first push: 0.6 of the DRAM, and an invented placeholder."""
        first = config_text(OFFLOAD).replace("dram-utilization: 0.4", "dram-utilization: 0.6")
        words = "Add DeepSeek-V4.1-Flash on GB200 with KV offload through Mooncake"
        files = {
            MASTER: _add_to_section(self.cody.file(MASTER), first),
            CHANGELOG: self.cody.file(CHANGELOG) + entry_text(OFFLOAD, words, "TBD"),
            OFFLOAD_SCRIPT: serving_script(5, "3.51"),
        }
        self.cody.push(branch, files, words)
        opened = self.cody.open(branch, number, words)
        self.machines.changelog(number, expect=1)
        self.machines.sweep(opened, number)
        self.machines.reconcile(number, why="one greeting, and what is wrong")

    def _sign_off_offload(self, number: int) -> None:
        """An owner of something else signs; then the right one, and an administrator settles what is for a human."""
        self.reviews.look_again(number, why="a sweep has ended; whose word is missing?")
        self.reviews.sign(self.amy, number, why="amy owns another file")
        self.reviews.sign(self.noor, number, why="noor owns it; three checks are for a human")
        self.reviews.settle(self.mia, number, _SAME_SETTINGS)

    def _another_entry_on_main(self, key: str, number: int) -> None:
        """Somebody else's pull request is merged first, and both append to the end of one file."""
        entry = entry_text(key, "Measure again with the new driver", f"{_LINK}/{number}")
        self.noor.push("main", {CHANGELOG: self.noor.file(CHANGELOG) + entry}, f"Measure again (#{number})")

    def scene_b(self) -> None:
        """Two new parallelism arms: two labels at once, a conflict that the bot resolves, and a point out of memory."""
        branch, number = "dsv41flash-arms", ARMS_PULL
        self._open_arms(branch, number)
        self.cody.label(number, "full-sweep-enabled")
        self.machines.sweep(self.cody.label(number, "full-sweep-fail-fast"), number)
        self.machines.reconcile(number, why="two labels that each start a sweep")
        self.cody.explain(number)
        self._another_entry_on_main("qwen3.5-fp8-h100-sglang", 3029)
        self.cody.unlabel(number, "full-sweep-enabled")
        self.stage.note("GitHub", "starts nothing for a branch that conflicts with main", pull=number)
        self.machines.reconcile(
            number, why="the label waits, and only the changelog conflicts: the bot resolves it"
        )
        self.machines.sweep(self.stage.last_event("pull_request", "synchronize"), number)
        self.machines.reconcile(number, why="one point ran out of memory, and the rest was stopped")
        self._repair_arms(branch, number)
        self.machines.reconcile(number, why="all of it ran")
        self._sign_off_arms(number)
        self._merge(number)

    def _open_arms(self, branch: str, number: int) -> None:
        words = "Add TEP4 and DEP4 at concurrency 32, 64 and 128"
        master = self.cody.file(MASTER)
        entry = entry_text(ARMS, words, f"{_LINK}/XXX")
        files = {
            MASTER: master.replace(part_of(master, ARMS), config_text(ARMS)),
            CHANGELOG: self.cody.file(CHANGELOG) + entry,
        }
        self.cody.push(branch, files, words)
        self.machines.sweep(self.cody.open(branch, number, words), number)
        self.machines.changelog(number)

    def _repair_arms(self, branch: str, number: int) -> None:
        """Another image for this one configuration; then everything runs."""
        master = self.cody.file(MASTER, branch=branch)
        before = part_of(master, ARMS)
        after = before.replace(":v0.27.1", ":v0.27.2")
        words = "Take the image with smaller warm-up buffers"
        pushed = self.cody.push(branch, {MASTER: master.replace(before, after)}, words, pull=number)
        self.machines.changelog(number)
        self.machines.sweep(pushed, number)

    def _sign_off_arms(self, number: int) -> None:
        """The right owner leaves an item open; the comment is corrected, and so is the answer to it."""
        self.reviews.ask_for_reuse(self.cody, number, why="whose word is missing?")
        signed = self.reviews.sign(
            self.noor, number, forgets="Golden acceptance length", why="an open item needs a reason"
        )
        self.reviews.sign_again(
            self.noor,
            number,
            signed,
            words="ticks it and saves the comment",
            why="the answer is edited in place",
        )
        self.reviews.settle(self.mia, number, _SAME_SETTINGS)

    def scene_c(self) -> None:
        """A disaggregated Kimi-K3 from a fork: approved for one commit, voided by a push, told about a conflict."""
        branch, number, fork = "kimik3-disagg", DISAGG_PULL, "eve/bench"
        words = "Add Kimi-K3 on B300, disaggregated, one prefill and one decode engine"
        script = self.eve.file(SCRIPT) + "\n# Kimi-K3 needs a longer warm-up.\n"
        files = {
            MASTER: self.eve.file(MASTER) + "\n" + config_text(DISAGG),
            CHANGELOG: self.eve.file(CHANGELOG) + entry_text(DISAGG, words, "PRLINK_PLACEHOLDER"),
            SCRIPT: script,
            DISAGG_RECIPE: deployment_recipe(3, "2.87"),
        }
        self.eve.push(branch, files, words, repository=fork)
        self.eve.open(branch, number, words, repository=fork)
        self.machines.changelog(number, expect=1)
        self.eve.repair_changelog(branch, number, repository=fork)
        self.machines.changelog(number)
        self.machines.sweep(self.mia.label(number, "full-sweep-enabled"), number)
        self.machines.reconcile(number, why="a fork needs somebody's word")
        self._approve(number)
        self.machines.reconcile(number, why="the approved revision was measured")
        signed = self.reviews.sign(
            self.noor, number, why="three checks are for a human, and no reuse was asked for"
        )
        later = self.eve.push(
            branch, {SCRIPT: script + "# Or two.\n"}, "Warm up twice", pull=number, repository=fork
        )
        self.machines.sweep(later, number)
        self.reviews.look_again(number, why="a push that changes something makes the sign-off stale")
        self.machines.reconcile(number, why="the approval was for another commit")
        self._finish_fork(branch, number, fork, signed)

    def _approve(self, number: int) -> None:
        head = self.stage.hub.state.pulls[number].head_sha
        run = self.machines.approve(self.mia.comment(number, f"/approve-sweep {head}"))
        self.machines.sweep(self.stage.last_event("workflow_dispatch", None), number, run=run)

    def _finish_fork(self, branch: str, number: int, fork: str, signed: Event) -> None:
        """The scripts moved on main: told with the files, resolved by the author, approved again, merged."""
        self.mia.push(
            "main", {SCRIPT: self.mia.file(SCRIPT) + "\n# One warm-up for all.\n"}, "Move the warm-up"
        )
        self.machines.reconcile(number, why="main moved under the branch")
        resolved = self.mia.file(SCRIPT) + "# Kimi-K3 needs two.\n"
        self.eve.merge_main(branch, number, {SCRIPT: resolved}, repository=fork)
        self.machines.changelog(number)
        self._approve(number)
        self.reviews.sign_again(
            self.noor, number, signed, words="reviews the rest and signs again", why="of the new commit"
        )
        one_point = {14: "one concurrency is what was asked for here"}
        self.reviews.settle(self.mia, number, {**_SAME_SETTINGS, **one_point}, reuse=True)
        self.machines.reconcile(number, why="ready")
        self._merge(number)

    def _merge(self, number: int) -> None:
        self.machines.merge_group(number)
        self.mia.merge(number)

    def open_another(self) -> tuple[int, str]:
        """One that is left to whoever goes on by hand: its number and branch."""
        key, branch, number = "dsr1-fp8-h200-sglang", "dsr1-again", 3500
        files = {CHANGELOG: self.cody.file(CHANGELOG) + entry_text(key, "Measure once more", f"{_LINK}/XXX")}
        self.stage.hub.push(branch, files, "Measure once more", by="cody")
        self.stage.hub.open_pull(branch, title="Measure once more", by="cody", number=number)
        return number, branch

    @property
    def scenes(self) -> dict[str, Callable[[], None]]:
        return {"A": self.scene_a, "B": self.scene_b, "C": self.scene_c}


def _add_to_section(master: str, text: str) -> str:
    """At the start of its section, as a person would add it."""
    lines = master.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith(_SECTION)) + 2
    return "".join([*lines[:at], text, "\n", *lines[at:]])
