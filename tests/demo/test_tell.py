"""What the demo says on a terminal and in a pipe, and what it leaves out."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from infx.demo.stage import DemoStep
from infx.demo.tell import MOST_LINES, Teller

WORDS = "changelog: every push is judged before any GPU is used by anybody"
COMMAND = "infx changelog validate --stage pr --base-ref aaaaaaaaaaaa --head-ref bbbbbbbbbbbb"


def tell(step: DemoStep, *, width: int | None) -> list[str]:
    """width: None for a pipe."""
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=width is not None, color_system=None)
    Teller(console).tell(step)
    return out.getvalue().splitlines()


def step(*shown: str, calls: int = 0) -> DemoStep:
    """A command that was refused."""
    return DemoStep(
        scene="A", who="Actions", words=WORDS, command=COMMAND, code=1, seconds=0.1, reads=calls, shown=shown
    )


def test_a_pipe_gets_whole_lines() -> None:
    shown = (
        "A sentence that is longer than any terminal has columns, as those about labels are. " * 2
    ).strip()
    assert tell(step(shown, calls=2), width=None) == [
        f"  Actions  {WORDS}  (0.1 s, 2 reads, 0 writes)",
        f"           $ {COMMAND}  → exit 1",
        f"             {shown}",
    ]


def test_a_terminal_gets_sentences_folded_and_commands_and_tables_cut() -> None:
    table = "configuration      why            rows of it that will be measured on runners"
    assert tell(step("There is one more thing that has to be said here.", table), width=60) == [
        "  Actions  changelog: every push is judged before any GPU is",
        "           used by anybody  (0.1 s)",
        "           $ infx changelog validate --stage pr -…  → exit 1",
        "             There is one more thing that has to be said",
        "             here.",
        "             configuration      why            rows of it t…",
    ]


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    """Below 40 columns there is no room for the names, and nothing is lost at least."""
    long = "x" * 200
    lines = tell(step(long), width=columns)
    assert "".join(lines).count("x") - COMMAND.count("x") >= 190
    assert columns < 40 or max(map(len, lines)) <= columns


def test_long_output_is_cut_and_says_so() -> None:
    lines = tell(step(*(f"line {number}" for number in range(30))), width=None)
    assert lines[-2:] == [f"             line {MOST_LINES - 2}", "             … and 19 more lines"]
