"""The faults that processing finds: it collects all of them before it refuses."""

from __future__ import annotations

from typing import NamedTuple


class RowFault(NamedTuple):
    """A reason why a client's output does not become a good row.

    Attributes:
        rule: name of the broken rule, such as `missing-environment`.
        message: what is wrong, and what to do, in sentences.
        path: the file that has the fault; empty if the environment has it.
    """

    rule: str
    message: str
    path: str = ""


class FaultsError(Exception):
    """Raised when no row can be made. faults: every reason."""

    def __init__(self, faults: list[RowFault]) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults
