"""The methods of a store of published results; `branch` and `sql` implement them, and `memory` for tests.

Every method is atomic: a killed call has done everything or nothing. Every write may be repeated: the second call
changes nothing. Two callers at once get the result of one call after the other.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from infx.errors import InfxError, UnavailableError
from infx.records import record
from infx.results.series import Newest, Publication, PublicationSummary, Withdrawal


class StoreError(UnavailableError):
    """Raised when a store cannot be read or written."""


class WithdrawnRunError(InfxError):
    """Raised when a run is published that was withdrawn."""

    def __init__(self, withdrawal: Withdrawal) -> None:
        super().__init__(
            f"Run {withdrawal.run} was withdrawn by {withdrawal.by}: {withdrawal.reason}",
            hint="Publish another run; a withdrawal is final.",
        )


class UnknownRunError(InfxError):
    """Raised when a run is withdrawn of which the store has no row."""

    def __init__(self, run: int) -> None:
        super().__init__(
            f"The store has neither a publication of run {run} nor a row that it measured.",
            hint="infx results publications lists the published runs.",
        )


@record
class StoreChange:
    """The numbers of rows that a publication added, replaced, and found as they should be."""

    added: int
    replaced: int
    unchanged: int

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.replaced)


class ResultStore(Protocol):
    """Published rows, the publications that they belong to, and withdrawals."""

    def publish(self, publication: Publication) -> StoreChange:
        """Store a publication; its rows replace stored rows of the same publication and key.

        Raises WithdrawnRunError if the run was withdrawn, and InvalidPublicationError (`lines`) for a value that is not JSON.
        """
        ...

    def withdraw(self, withdrawal: Withdrawal) -> bool:
        """Record that no row of a run is a baseline; return False if the run was already withdrawn.

        Raises UnknownRunError if no publication and no row is the run's.
        """
        ...

    def read_newest(self, series: Collection[str]) -> Newest:
        """Return the newest rows that are not withdrawn of the series with these keys, and of no other series.

        A series without a row has no entry.
        """
        ...

    def list_publications(self) -> tuple[PublicationSummary, ...]:
        """Return all publications, also withdrawn ones, newest first."""
        ...
