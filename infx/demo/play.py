"""Play the demo: start a hub, play the scenes, and render the page."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from infx.cli.inside import call, plain_git
from infx.demo.page import render_page
from infx.demo.repository import POLICY, read_data
from infx.demo.stage import Clock, DemoStage
from infx.demo.steps import DemoStep
from infx.demo.story import Story
from infx.demo.workflows import DemoMachines
from infx.hub.hub import Hub
from infx.page.library import read_library
from infx.phrases import count
from infx.play.fanout import Show
from infx.policy.load import parse_policy
from infx.records import record


@record
class Scene:
    """A part of the story that `infx demo` can play alone."""

    words: str
    play: Callable[[], None]


@dataclass
class Play:
    """A demo on a running hub."""

    hub: Hub
    clock: Clock
    folder: Path
    stage: DemoStage = field(init=False)
    story: Story = field(init=False)

    def begin(self, tell: Callable[[DemoStep], None], show: Show) -> None:
        """Create everything that the first scene needs."""
        self.stage = DemoStage(hub=self.hub, clock=self.clock, folder=self.folder, call=call, tell=tell)
        policy = parse_policy(read_data("policy.yaml").encode(), POLICY)
        self.story = Story(self.stage, DemoMachines(self.stage, show, policy))
        self.story.set_the_stage()

    def scenes(self, only: str | None = None) -> dict[str, Scene]:
        """Return the scenes by name, in their order; `only` selects a single scene."""
        chosen = {name: act for name, act in self.story.scenes.items() if only in {None, name}}
        return {name: self._make_scene(name, act) for name, act in chosen.items()}

    def _make_scene(self, name: str, act: Callable[[], None]) -> Scene:
        def play() -> None:
            self.stage.scene = name
            act()

        words = (act.__doc__ or "").strip().splitlines()[0]
        return Scene(words=words, play=play)

    def page(self) -> str:
        """Return the page of the demo as HTML."""
        words = {name: scene.words for name, scene in self.scenes().items()}
        return render_page(self.stage, words, f"{self.counts()}.", read_library())

    def counts(self) -> str:
        """Return the totals of the demo in a line."""
        steps = self.stage.steps
        commands = [step for step in steps if step.command]
        pulls = len({step.pull for step in steps} - {None})
        rows = sum(row.conclusion != "cancelled" for sweep in self.stage.sweeps for row in sweep.rows)
        reads, writes = (sum(getattr(step, name) for step in commands) for name in ("reads", "writes"))
        return (
            f"{count(pulls, 'pull request')}, {count(len(commands), 'command')}, {count(rows, 'row')}, "
            f"{count(reads, 'API read')}, {count(writes, 'API write')}"
        )

    def explain_next_steps(self, infx: str) -> str:
        """Open a pull request that waits for a label, and return commands to try on it in a second terminal.

        `infx` is the command that calls infx in that terminal.
        """
        number, branch = self.story.open_another()
        labels = f"$GITHUB_API_URL/repos/{self.hub.repository}/issues/{number}/labels"
        lines = [
            f"The hub keeps running at {self.hub.api}; press Ctrl+C to stop it. In a second terminal, type:",
            "",
            f"  export GITHUB_API_URL={self.hub.api} GITHUB_REPOSITORY={self.hub.repository}",
            f"  export GH_TOKEN={self.hub.user_token('mia')}   # mia is an admin",
            f"  git clone {shlex.quote(str(self.hub.git.path))} bench && cd bench",
            f"  {infx} explain --pr {number}",
            f"  {infx} plan --base-ref origin/main --head-ref origin/{branch} --format table",
            f'  curl -s -H "Authorization: token $GH_TOKEN" -d \'["full-sweep-fail-fast"]\' {labels}',
            f"  {infx} explain --pr {number} --format table",
            f"  {infx} reconcile --pr {number} --dry-run --format table",
            f"  {infx} signoff template --signed mia",
        ]
        return "\n" + "\n".join(lines)


@contextmanager
def play(folder: Path) -> Iterator[Play]:
    """Start a hub in a folder and yield a demo that can begin."""
    clock = Clock()
    with plain_git(), Hub(folder / "hub", clock=clock) as hub:
        hub.is_limited = False  # GitHub limits requests per hour; the demo fits hours into less than a minute
        yield Play(hub, clock, folder)
