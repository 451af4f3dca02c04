"""Sign off in the demo: an owner fills in the checklist, the workflow answers, and a maintainer settles warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from infx.demo.people import Person
from infx.demo.stage import DemoStage
from infx.demo.workflows import DemoMachines
from infx.hub.state import Event

RECIPES_PULL = 2871  # merged before the first scene


@dataclass
class Reviews:
    """The reviews that people give on the stage."""

    stage: DemoStage
    machines: DemoMachines

    def ask_for_reuse(self, who: Person, number: int, *, why: str) -> None:
        """Ask by comment that the merge reuse the results of the newest run."""
        event = who.comment(number, f"/use {self._newest_run(number)}")
        self.machines.signoff(event, number, why=why)

    def sign(self, who: Person, number: int, *, why: str, forgets: str = "") -> Event:
        """Post the checklist with every item ticked, except the item named `forgets`."""
        words = f"signs off, but leaves “{forgets}” open" if forgets else "signs off, with every item ticked"
        event = who.comment(number, self._fill_in(who, number, forgets), words=words)
        self.machines.signoff(event, number, why=why)
        return event

    def sign_again(self, who: Person, number: int, signed: Event, *, words: str, why: str) -> None:
        """Edit an earlier sign-off."""
        event = who.edit(number, signed.payload["comment"]["id"], self._fill_in(who, number), words)
        self.machines.signoff(event, number, why=why)

    def settle(self, who: Person, number: int, reasons: Mapping[int, str], *, reuse: bool = False) -> None:
        """Settle warnings with reasons; `reuse` also asks for the newest run's results in the same comment."""
        lines = [f"/use {self._newest_run(number)}"] if reuse else []
        lines += [f"/settle {check} {reason}" for check, reason in reasons.items()]
        event = who.comment(number, "\n".join(lines))
        self.machines.signoff(event, number, why="check whether all warnings are settled")

    def verify_again(self, number: int, *, why: str) -> None:
        """Run the verification that follows every run of the sweep workflow, even a run without a sweep."""
        self.machines.signoff(self.stage.last_event("workflow_run", "completed"), number, why=why)

    def _fill_in(self, who: Person, number: int, forgets: str = "") -> str:
        web, name = self.stage.hub.web, self.stage.hub.repository
        details = {
            "Sweep:": f"{web}/{name}/actions/runs/{self._newest_run(number)}",
            "Recipe:": f"{web}/{name}/pull/{RECIPES_PULL}",
        }
        lines = []
        for line in who.print_checklist(number).splitlines():
            is_ticked = not forgets or f"**{forgets}.**" not in line
            text = line.replace("- [ ] ", "- [x] ") if is_ticked else line
            lines.append(f"{text} {details[text]}" if text in details else text)
        return "\n".join(lines)

    def _newest_run(self, number: int) -> int:
        return max(sweep.run for sweep in self.stage.sweeps if sweep.pull == number)
