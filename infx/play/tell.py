"""Print a play on a terminal: a line for each step, and a progress bar for the rows of a sweep."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from infx.bench.jobs import RowJob
from infx.bench.words import describe_layout
from infx.phrases import count
from infx.play.steps import PlayStep, RowOutcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.text import Text

MOST_LINES = 12  # shown of a command's output
TABLE = re.compile(r"\S   *\S")  # a line with columns
_COLORS = {"Actions": "cyan", "runners": "magenta", "GitHub": "yellow"}


class Teller:
    """A printer of steps.

    On a terminal, long lines are wrapped and indented, but tables and commands are cut. Elsewhere lines stay whole.
    """

    def __init__(self, console: Console, name_width: int = 8) -> None:
        self.console = console
        self.name_width = name_width

    def print_title(self, name: str, words: str) -> None:
        """Print the title of a scene."""
        from rich.text import Text

        self.console.print()
        self._print(Text(f"Scene {name}  ", style="bold"), Text(words, style="bold"))
        self.console.print()

    def tell(self, step: PlayStep) -> None:
        """Print a step."""
        from rich.text import Text

        words = Text(step.words)
        if step.command:
            words.append(f"  ({describe_cost(step)})", style="dim")
        self._print(Text(f"  {step.who:<{self.name_width}} ", style=_COLORS.get(step.who, "green")), words)
        margin = Text(" " * (self.name_width + 3))
        if step.command:
            code = Text(f"  → exit {step.code}" if step.code else "", style="bold red")
            self._print(margin, Text(f"$ {step.command}", style="bold"), code, is_cut=True)
        for line in _shorten(step.shown):
            self._print(margin + Text("  "), Text(line, style="dim"), is_cut=bool(TABLE.search(line)))

    def _print(self, first: Text, text: Text, last: Text | None = None, *, is_cut: bool = False) -> None:
        """Print `first`, the text with its later lines indented below its start, and `last`, which is never cut."""
        from rich.text import Text

        lines = [text]
        if self.console.is_terminal:
            room = max(16, self.console.width - first.cell_len - (last.cell_len if last else 0))
            if is_cut:
                text.truncate(room, overflow="ellipsis")
            else:
                lines = list(text.wrap(self.console, room))
        for number, line in enumerate(lines):
            before = first if number == 0 else Text(" " * first.cell_len)
            whole = Text.assemble(before, line, last or "")
            whole.rstrip()
            self.console.print(whole, no_wrap=True, overflow="ignore", crop=False)


def describe_cost(step: PlayStep, digits: int = 1) -> str:
    """Return a command's real time, and its API requests if it made any."""
    calls = (
        f", {count(step.reads, 'read')}, {count(step.writes, 'write')}" if step.reads or step.writes else ""
    )
    return f"{step.seconds:.{digits}f} s{calls}"


def _shorten(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and how many more there are."""
    kept = [line for line in lines if line.strip()]
    if len(kept) <= MOST_LINES:
        return kept
    return [*kept[: MOST_LINES - 1], f"… and {count(len(kept) - MOST_LINES + 1, 'more line')}"]


class RowProgress:
    """A progress bar for a sweep, drawn only on a terminal, with the newest running row."""

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

    def started(self, job: RowJob) -> None:
        mark = "e" if job.row.eval_only else "c"
        self._update(0, f"{describe_layout(job.row.recipe)} {mark}{max(job.row.conc)}")

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
