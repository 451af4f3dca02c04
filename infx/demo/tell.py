"""How the demo tells its story on a terminal: one line for each thing that happens, and rows as they run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from infx.demo.stage import RowOutcome, Step
from infx.matrix.jobs import Job

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

MOST_LINES = 12  # of the output of one command
_COLOURS = {"Actions": "cyan", "runners": "magenta", "GitHub": "yellow"}


class Teller:
    """console: of rich; without a terminal it prints plain lines. width: of the column of names."""

    def __init__(self, console: Console, width: int = 8) -> None:
        self.console = console
        self.width = width

    def title(self, name: str, words: str) -> None:
        self.console.print(f"\n[bold]Scene {name}[/]  {words}\n", highlight=False)

    def tell(self, step: Step) -> None:
        from rich.text import Text

        line = Text("  ")
        line.append(f"{step.who:<{self.width}} ", style=_COLOURS.get(step.who, "green"))
        line.append(step.words)
        if step.command:
            calls = f", {step.reads} reads, {step.writes} writes" if step.reads or step.writes else ""
            line.append(f"  ({step.seconds:.1f} s{calls})", style="dim")
        self.console.print(line, overflow="fold")
        margin = " " * (self.width + 3)
        if step.command:
            mark = f"  → exit {step.code}" if step.code else ""
            self._print(f"{margin}$ {step.command}", "bold", mark, "bold red")
        for text in _shorten(step.shown):
            self._print(f"{margin}  {text}", "dim")

    def _print(self, text: str, style: str, more: str = "", more_style: str = "") -> None:
        from rich.text import Text

        line = Text(text, style=style)
        line.append(more, style=more_style)
        self.console.print(line, overflow="ellipsis", no_wrap=True)


def _shorten(lines: Sequence[str]) -> list[str]:
    kept = [line for line in lines if line.strip()]
    if len(kept) <= MOST_LINES:
        return kept
    return [*kept[: MOST_LINES - 1], f"… and {len(kept) - MOST_LINES + 1} more lines"]


class RowProgress:
    """A bar for each sweep, drawn only on a terminal, with the row that is running now."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.progress: Progress | None = None
        self.task: TaskID | None = None
        self.failed = 0
        self.lock = threading.Lock()

    def begin(self, total: int, title: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self.failed = 0
        columns = (
            TextColumn("  {task.description:<26}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[row]}"),
        )
        self.progress = Progress(
            *columns, console=self.console, transient=True, disable=not self.console.is_terminal
        )
        self.task = self.progress.add_task(title, total=total, row="")
        self.progress.start()

    def started(self, job: Job) -> None:
        self._update(0, job.name.rsplit(" | ", 1)[-1])

    def ended(self, outcome: RowOutcome) -> None:
        with self.lock:
            self.failed += outcome.conclusion == "failure"
        self._update(1, f"{self.failed} failed" if self.failed else "")

    def _update(self, advance: int, row: str) -> None:
        if self.progress is not None and self.task is not None:
            self.progress.update(self.task, advance=advance, row=row)

    def end(self) -> None:
        if self.progress is not None:
            self.progress.stop()
