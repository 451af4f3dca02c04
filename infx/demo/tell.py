"""How the demo tells its story on a terminal: one line for each thing that happens, and rows as they run."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from infx.bench.jobs import RowJob
from infx.bench.words import describe_layout
from infx.demo.stage import DemoStep, RowOutcome
from infx.phrases import count

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.text import Text

MOST_LINES = 12  # of the output of one command
TABLE = re.compile(r"\S   *\S")  # a line with columns
_COLOURS = {"Actions": "cyan", "runners": "magenta", "GitHub": "yellow"}


class Teller:
    """console: of rich. On a terminal long lines are folded under their beginning, but tables and commands are cut;
    anywhere else every line is whole. names: width of their column.
    """

    def __init__(self, console: Console, names: int = 8) -> None:
        self.console = console
        self.names = names

    def title(self, name: str, words: str) -> None:
        from rich.text import Text

        self.console.print()
        self._print(Text(f"Scene {name}  ", style="bold"), Text(words, style="bold"))
        self.console.print()

    def tell(self, step: DemoStep) -> None:
        from rich.text import Text

        words = Text(step.words)
        if step.command:
            words.append(f"  ({describe_cost(step)})", style="dim")
        self._print(Text(f"  {step.who:<{self.names}} ", style=_COLOURS.get(step.who, "green")), words)
        margin = Text(" " * (self.names + 3))
        if step.command:
            code = Text(f"  → exit {step.code}" if step.code else "", style="bold red")
            self._print(margin, Text(f"$ {step.command}", style="bold"), code, is_cut=True)
        for line in _shorten(step.shown):
            self._print(margin + Text("  "), Text(line, style="dim"), is_cut=bool(TABLE.search(line)))

    def _print(self, first: Text, text: Text, last: Text | None = None, *, is_cut: bool = False) -> None:
        """first: stands before the text, whose later lines begin below its beginning. last: is never cut off."""
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


def describe_cost(step: DemoStep, digits: int = 1) -> str:
    """Of a command: wall time, and API requests if there were any."""
    calls = (
        f", {count(step.reads, 'read')}, {count(step.writes, 'write')}" if step.reads or step.writes else ""
    )
    return f"{step.seconds:.{digits}f} s{calls}"


def _shorten(lines: Sequence[str]) -> list[str]:
    kept = [line for line in lines if line.strip()]
    if len(kept) <= MOST_LINES:
        return kept
    return [*kept[: MOST_LINES - 1], f"… and {count(len(kept) - MOST_LINES + 1, 'more line')}"]


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
