"""Several pull requests in one command: what goes wrong with one keeps no other from its turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from infx.apply.writes import WriteOutcome
from infx.errors import InfxError, UnavailableError
from infx.github.errors import RateLimitError


@dataclass
class TurnReport(WriteOutcome):
    """failed: pull requests and what went wrong. left: those that nobody looked at any more, and why. In a dry run
    `done` is what would have been.
    """

    failed: list[tuple[int, InfxError]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    why_left: str = ""

    @property
    def exit_code(self) -> int:
        """The greatest of what went wrong; a write that GitHub or git did not let us make is unavailable, too."""
        codes = [error.exit_code for _, error in self.failed]
        return max([*codes, *(UnavailableError.exit_code for _ in self.refused)], default=0)


def take_turns(
    numbers: Sequence[int],
    work: Callable[[int], None],
    report: TurnReport,
    must_stop: Callable[[], str | None] = lambda: None,
) -> None:
    """One pull request after another, until there is a reason to stop."""
    for index, number in enumerate(numbers):
        if why := must_stop():
            report.left, report.why_left = list(numbers[index:]), why
            break
        try:
            work(number)
        except RateLimitError as error:
            report.failed.append((number, error))
            report.left, report.why_left = list(numbers[index + 1 :]), "GitHub asks to wait longer"
            break
        except InfxError as error:
            report.failed.append((number, error))
