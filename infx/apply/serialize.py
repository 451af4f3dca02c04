"""Process several pull requests in one command: a failure of one does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from infx.apply.writes import WriteOutcome
from infx.errors import InfxError, UnavailableError
from infx.github.errors import RateLimitError


@dataclass
class TurnReport(WriteOutcome):
    """The outcome of a command on several pull requests; in a dry run `done` holds the planned writes."""

    failed: list[tuple[int, InfxError]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)  # pull requests that were not processed
    why_left: str = ""
    notes: list[str] = field(default_factory=list)  # what else was done, as sentences

    @property
    def exit_code(self) -> int:
        """Return the greatest exit code of the failures; a refused write counts as unavailable."""
        codes = [error.exit_code for _, error in self.failed]
        return max([*codes, *(UnavailableError.exit_code for _ in self.refused)], default=0)


def take_turns(
    numbers: Sequence[int],
    work: Callable[[int], None],
    report: TurnReport,
    must_stop: Callable[[], str | None] = lambda: None,
) -> None:
    """Process pull requests one after another until `must_stop` returns a reason."""
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
