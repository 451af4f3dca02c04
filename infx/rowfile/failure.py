"""The first failure of a launch, or of supervised processes: it decides the exit code."""

from __future__ import annotations

BENCHMARK, INFRASTRUCTURE, CANCELLED = "benchmark", "infrastructure", "cancelled"  # causes of a failure
MAX_EVIDENCE = 5  # lines


class Failure:
    """The first failure of a launch.

    Attributes:
        code: exit code.
        cause: BENCHMARK, INFRASTRUCTURE or CANCELLED.
        kind: word for the class of the error.
        message: a sentence.
        evidence: lines of the step's output; none of a benchmark's.
    """

    def __init__(
        self, code: int, cause: str, kind: str, message: str, evidence: list[str] | None = None
    ) -> None:
        self.code = code
        self.cause = cause
        self.kind = kind
        self.message = message
        self.evidence = evidence or []
