"""Check what the demo prints on a terminal and in a pipe, and what it cuts."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from infx.play.steps import PlayStep
from infx.play.tell import MOST_LINES, Teller

WORDS = "changelog: every push is judged before any GPU is used by a sweep"
COMMAND = "infx changelog validate --stage pr --base-ref aaaaaaaaaaaa --head-ref bbbbbbbbbbbb"


def tell(step: PlayStep, *, width: int | None) -> list[str]:
    """Return the printed lines of a step; without a width, output goes to a pipe."""
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=width is not None, color_system=None)
    Teller(console).tell(step)
    return out.getvalue().splitlines()


def step(*shown: str, calls: int = 0) -> PlayStep:
    """Return the step of a command that failed."""
    return PlayStep(
        who="Actions", words=WORDS, command=COMMAND, code=1, seconds=0.1, reads=calls, shown=shown
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


def test_a_terminal_wraps_sentences_and_cuts_commands_and_tables() -> None:
    table = "configuration      why            rows of it that will be measured on runners"
    assert tell(step("This sentence is a bit longer than the room that it has.", table), width=60) == [
        "  Actions  changelog: every push is judged before any GPU is",
        "           used by a sweep  (0.1 s)",
        "           $ infx changelog validate --stage pr -…  → exit 1",
        "             This sentence is a bit longer than the room",
        "             that it has.",
        "             configuration      why            rows of it t…",
    ]


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    """Below 40 columns the names do not fit, but the output is still complete."""
    long = "x" * 200
    lines = tell(step(long), width=columns)
    assert "".join(lines).count("x") - COMMAND.count("x") >= 190
    assert columns < 40 or max(map(len, lines)) <= columns


def test_long_output_is_cut_and_the_number_of_cut_lines_is_shown() -> None:
    lines = tell(step(*(f"line {number}" for number in range(30))), width=None)
    assert lines[-2:] == [f"             line {MOST_LINES - 2}", "             … and 19 more lines"]
