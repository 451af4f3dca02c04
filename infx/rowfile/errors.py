"""The error that ends a row, with the exit code of its job's step."""

from __future__ import annotations


class RowError(Exception):
    """A row that cannot run.

    Attributes:
        code: exit code, as for every command of infx: 1 refused, 2 wrong input, 3 GitHub cannot be asked.
    """

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
